// What the table of drives claims: which are stable at long steps, and that a robot on its feet is borne by the right forces there.
#include "stiction/experiments/feedback.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace stiction::feedback_test {
namespace {

TEST(LargestStableStep, DoublesThenBisects) {
  std::vector<double> tried;
  const auto stable_below = [&](double limit) {
    return [&tried, limit](double h) -> std::optional<TrackingRun> {
      tried.push_back(h);
      return h <= limit ? std::optional(TrackingRun{h, 0.0}) : std::nullopt;
    };
  };
  const LargestStep found = largest_stable_step(stable_below(0.0113), 10);
  EXPECT_NEAR(found.h, 0.0113, 0.008 / (1 << 10));
  EXPECT_LE(found.h, 0.0113);
  EXPECT_EQ(found.run.error, found.h);
  EXPECT_EQ(tried.size(), 5U + 10U);
  EXPECT_EQ(largest_stable_step(stable_below(1.0), 10).h, kLongestControlStep);
  EXPECT_NEAR(largest_stable_step(stable_below(3e-4), 10).h, 3e-4, 2.5e-4 / (1 << 10));
  EXPECT_EQ(largest_stable_step(stable_below(0.0), 10).h, 0.0);
}

class Feedback : public testing::Test {
 protected:
  static void SetUpTestSuite() { report() = run_feedback({.quick = true}); }
  static ExperimentReport& report() {
    static ExperimentReport report;
    return report;
  }
  static const ExperimentRow& row(const std::string& example, const std::string& setting, const std::string& quantity) {
    for (const ExperimentRow& row : report().rows) {
      if (row.example == example && row.setting == setting && row.quantity == quantity) return row;
    }
    throw std::runtime_error("no row " + example + ", " + setting + ", " + quantity);
  }
};

// Towards the target of a step's start it lags by a step: 0.098 rad, as Drake's PD (0.095; 0.011 towards that of its end, as the servo).
// The chord of the wanted path is A ω² h²/12 = 0.0041 rad off on average over its steps, times 2/π for the mean of |sin|.
TEST_F(Feedback, TheArmAsAConstraintIsOffByTheChordAlone) {
  EXPECT_EQ(row("UR10", "ID as constraint", "largest stable step").ours.back(), 0.1);
  EXPECT_NEAR(row("UR10", "ID as constraint", "mean error there").ours.back(), 0.5 * M_PI * M_PI * 0.01 / 12.0 * 2.0 / M_PI, 2e-4);
}

TEST_F(Feedback, DrivesOfTheNextStepAreStableWhereThoseOfTheLastAreNot) {
  EXPECT_EQ(row("UR10", "servo", "largest stable step").ours.back(), 0.1);
  EXPECT_LT(row("UR10", "PD", "largest stable step").ours.back(), 0.004);
  EXPECT_EQ(row("quadruped, trot", "servo", "largest stable step").ours.back(), 0.1);
  EXPECT_LT(row("quadruped, trot", "PD", "largest stable step").ours.back(), 0.008);
}

// The weight over a run that ends as low as it began; every step solved, none at `acceptable`.
TEST_F(Feedback, FeetBearTheWeightAtEveryStep) {
  for (const char* setting : {"ID as constraint, every joint a sinusoid", "ID as constraint, trot", "ID as constraint, trot, feet roll",
                              "ID as constraint, trot, feet roll, parts of 1 ms"}) {
    const ExperimentRow& force = row("quadruped", setting, "mean vertical force");
    ASSERT_EQ(force.ours.size(), report().steps.size()) << setting;
    for (std::size_t k = 0; k < force.ours.size(); ++k) EXPECT_LT(force.error(k), 0.01) << setting << k;
    for (const double missed : row("quadruped", setting, "steps not at 1e-9").ours) EXPECT_EQ(missed, 0.0) << setting;
  }
}

// The problem that the paper leaves open. Control once in 0.1 s: feet slip as far as under control at 4 ms, less than half a percent of the
// way where they roll, and bear what they bear in the run of short steps.
TEST_F(Feedback, PartsOfLongStepsDoNotSkate) {
  const ExperimentRow& published = row("quadruped", "ID as constraint, trot, parts of 1 ms", "slip per foot");
  const std::string rolls = "ID as constraint, trot, feet roll, parts of 1 ms";
  const ExperimentRow &share = row("quadruped", rolls, "slip over way"),
                      &whole = row("quadruped", "ID as constraint, trot", "slip over way");
  for (std::size_t k = 0; k < report().steps.size(); ++k) {
    EXPECT_LT(published.error(k), 0.05) << k;
    EXPECT_LT(share.ours[k], 0.005) << k;
  }
  EXPECT_GT(whole.ours[0], 1.0);  // in one part a step of 0.1 s skates
  EXPECT_LT(row("quadruped", rolls, "force, mean |difference|").ours[0], 0.02);
  EXPECT_LT(row("quadruped", rolls, "mean joint error").ours[0], 1e-4);
}

}  // namespace
}  // namespace stiction::feedback_test
