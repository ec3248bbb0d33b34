#include "stiction/plan/gait.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"

namespace stiction::gait_test {
namespace {

constexpr int kLF = 0, kRF = 1, kLH = 2, kRH = 3;

// T = 0.3, duty 0.75: LF and RH swing in phase [0, 0.25), RF and LH in [0.5, 0.75).
struct Row {
  double t;
  bool lf, rf;                      // stance
  double lf_touchdown, lf_liftoff;  // s until
};
TEST(Gait, PublishedTrotAtExactTimes) {
  const GaitParameters gait = published_trot();
  const Row table[] = {
      {0.0, false, true, 0.075, 0.300},   {0.0375, false, true, 0.0375, 0.2625}, {0.075, true, true, 0.300, 0.225},
      {0.1, true, true, 0.275, 0.200},    {0.150, true, false, 0.225, 0.150},    {0.2, true, false, 0.175, 0.100},
      {0.225, true, true, 0.150, 0.075},  {0.299, true, true, 0.076, 0.001},     {0.3, false, true, 0.075, 0.300},
      {0.375, true, true, 0.300, 0.225},  {0.45, true, false, 0.225, 0.150},     {29.7, false, true, 0.075, 0.300},
      {29.85, true, false, 0.225, 0.150},
  };
  for (const Row& row : table) {
    SCOPED_TRACE(row.t);
    for (const int leg : {kLF, kRH}) {
      EXPECT_EQ(in_stance(gait, leg, row.t), row.lf);
      EXPECT_NEAR(time_to_touchdown(gait, leg, row.t), row.lf_touchdown, 1e-9);
      EXPECT_NEAR(time_to_liftoff(gait, leg, row.t), row.lf_liftoff, 1e-9);
    }
    for (const int leg : {kRF, kLH}) EXPECT_EQ(in_stance(gait, leg, row.t), row.rf);
  }
}

TEST(Gait, PhasesCountFromTheLastTouchdown) {
  const GaitParameters gait = published_trot();
  EXPECT_NEAR(phase(gait, 0.4), 1.0 / 3.0, 1e-12);
  EXPECT_NEAR(phase(gait, -0.1), 2.0 / 3.0, 1e-12);
  EXPECT_NEAR(leg_phase(gait, kRF, 0.0), 0.25, 1e-12);
}

// Over one period at 1 ms: 75 ticks of each leg's swing, never fewer than two feet down, 150 ticks with all four.
TEST(Gait, EveryMillisecondOfManyPeriodsHasTheSameCount) {
  const GaitParameters gait = published_trot();
  for (int cycle = 0; cycle < 100; ++cycle) {
    int swing[4] = {0, 0, 0, 0}, all = 0;
    for (int k = 0; k < 300; ++k) {
      const double t = 0.001 * (300 * cycle + k);
      int down = 0;
      for (int leg = 0; leg < 4; ++leg) {
        down += in_stance(gait, leg, t) ? 1 : 0;
        swing[leg] += in_stance(gait, leg, t) ? 0 : 1;
      }
      EXPECT_GE(down, 2);
      all += down == 4 ? 1 : 0;
    }
    EXPECT_EQ(all, 150);
    for (const int ticks : swing) EXPECT_EQ(ticks, 75);
  }
}

TEST(Gait, SixLegsAndALegThatNeverSwings) {
  GaitParameters gait;
  gait.period = 1.0;
  gait.duty_factor = {0.5, 0.5, 0.5, 0.5, 0.5, 1.0};
  gait.touchdown = {0.0, 0.5, 0.0, 0.5, 0.0, 0.5};
  validate(gait);
  EXPECT_TRUE(in_stance(gait, 0, 0.25));
  EXPECT_FALSE(in_stance(gait, 1, 0.25));
  for (double t = 0.0; t < 2.0; t += 0.05) EXPECT_TRUE(in_stance(gait, 5, t));
  EXPECT_TRUE(std::isinf(time_to_liftoff(gait, 5, 0.3)));
  EXPECT_TRUE(std::isinf(time_to_touchdown(gait, 5, 0.3)));
}

TEST(Gait, RefusesBadParameters) {
  GaitParameters gait = published_trot();
  gait.duty_factor[2] = 0.0;
  EXPECT_THROW(validate(gait), InvalidArgument);
  gait = published_trot();
  gait.touchdown[1] = 1.0;
  EXPECT_THROW(validate(gait), InvalidArgument);
  gait = published_trot();
  gait.period = std::nan("");
  EXPECT_THROW(validate(gait), InvalidArgument);
  gait = published_trot();
  gait.duty_factor.pop_back();
  EXPECT_THROW(validate(gait), InvalidArgument);
}

}  // namespace
}  // namespace stiction::gait_test
