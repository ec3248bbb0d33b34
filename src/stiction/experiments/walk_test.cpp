// The walk of [D14]: methods for one problem walk one way.
#include "stiction/experiments/walk.hpp"

#include <gtest/gtest.h>

namespace stiction::walk_test {
namespace {

// Signorini's condition under viscous friction has one motion, so both methods' distances are equal to the tolerance of the solves.
TEST(Walk, LemkeAndPivotingWalkTheSameWay) {
  constexpr double kDuration = 0.1;
  const WalkSetting lemke{"", Law::viscous, Solver::lemke, Scheme::event_driven, 0.0},
      ppm{"", Law::viscous, Solver::ppm, Scheme::event_driven, 0.0};
  const WalkRun a = walk(lemke, kDuration), b = walk(ppm, kDuration);
  EXPECT_EQ(a.failure, "");
  EXPECT_EQ(b.failure, "");
  EXPECT_NEAR(a.walked, kDuration, 1e-12);
  EXPECT_GT(a.contacts.maximum(), 0.0);
  EXPECT_GT(a.distance, 1e-6);
  EXPECT_NEAR(a.distance, b.distance, 1e-7);
}

}  // namespace
}  // namespace stiction::walk_test
