// Real robots let go with all their collision shapes on: no body moves farther than its speed and the correction of positions allow, energy
// does not rise beyond a stated bound, no run ends. The robots are those that were thrown away or stopped a run once; docs/drop.md has all.
#include <utility>

#include <gtest/gtest.h>

#include "stiction/experiments/drop.hpp"
#include "test_paths.hpp"

namespace stiction::drop_test {
namespace {

struct Case {
  const char *name, *file;
  double clear, high;  // s, from 1 mm and from 1.2 m above the ground; 0: left out. The whole second is in docs/drop.md
};

class Dropped : public testing::TestWithParam<Case> {};

void expect_sense(const DropResult& r, double duration) {
  EXPECT_EQ(r.run.stop, Stop::duration) << r.run.status();
  EXPECT_NEAR(r.time, duration, 1e-9);
  EXPECT_LE(r.run.worst_residual, 1e-6);
  EXPECT_EQ(r.run.corrections_refused, 0);
  EXPECT_LT(r.jump, 1e-3) << "m beyond speed and correction";  // paths of links that spin at 100 rad/s bend by this in 1 ms
  EXPECT_LT(r.energy_rise, 0.05 * r.energy_scale);             // J; overlaps of the start lift the robot while they are undone
  EXPECT_LT(r.height_end, r.height_start + r.run.penetration_start);
}

TEST_P(Dropped, EveryStepMakesSense) {
  const Case& c = GetParam();
  const std::string folder = EXAMPLE_ROBOT_DATA;
  for (const auto& [clearance, duration] : {std::pair{1e-3, c.clear}, std::pair{1.2, c.high}}) {
    if (duration == 0.0) continue;
    DropOptions options;
    options.clearance = clearance;
    options.duration = duration;
    expect_sense(drop(folder + c.file, options), duration);
  }
}

INSTANTIATE_TEST_SUITE_P(Robots, Dropped,
                         testing::Values(Case{"anymal", "/anymal_b_simple_description/robots/anymal.urdf", 0.6, 0.6},
                                         Case{"ur5", "/ur_description/urdf/ur5_gripper.urdf", 0.6, 0.6},
                                         Case{"talos", "/talos_data/robots/talos_reduced.urdf", 0.05, 0.1},
                                         Case{"tiago", "/tiago_description/robots/tiago.urdf", 0.0, 0.1},
                                         Case{"centauro", "/centauro_description/urdf/centauro.urdf", 0.1, 0.1}),
                         [](const auto& instance) { return std::string(instance.param.name); });

// Links that creep, bear next to nothing or are held by more limits and contacts than there are freedoms: solutions that are met to 1e-7
// far from where they are.
class Settles : public testing::TestWithParam<Case> {};

TEST_P(Settles, EveryStepMeetsTheTolerance) {
  const Case& c = GetParam();
  DropOptions options;
  options.clearance = c.high > 0.0 ? 1.2 : 1e-3;
  options.duration = c.high > 0.0 ? c.high : c.clear;
  const DropResult r = drop(std::string(EXAMPLE_ROBOT_DATA) + c.file, options);
  EXPECT_EQ(r.run.stop, Stop::duration);
  EXPECT_EQ(r.run.at_acceptable, 0) << "worst residual " << r.run.worst_residual;
  EXPECT_LE(r.run.worst_residual, 1e-9);
  EXPECT_EQ(r.run.retried, 0);
  EXPECT_EQ(r.run.halved, 0);
}

INSTANTIATE_TEST_SUITE_P(Robots, Settles,
                         testing::Values(Case{"hyq", "/hyq_description/robots/hyq_no_sensors.urdf", 0.6, 0.0},
                                         Case{"laikago", "/laikago_description/urdf/laikago.urdf", 0.0, 0.9},
                                         Case{"allegro", "/allegro_hand_description/urdf/allegro_right_hand.urdf", 0.55, 0.0},
                                         Case{"bolt", "/bolt_description/robots/bolt.urdf", 1.0, 0.0}),
                         [](const auto& instance) { return std::string(instance.param.name); });

// What the measures are worth: a free fall has no jump and keeps its energy, and the height is g t (t + h)/2 less.
TEST(Drop, FreeFallIsMeasuredAsSuch) {
  DropOptions options;
  options.clearance = 10.0;
  options.duration = 0.5;
  const DropResult r = drop(EXAMPLE_ROBOT_DATA "/solo_description/robots/solo12.urdf", options);
  EXPECT_EQ(r.run.status(), "solved");
  EXPECT_NEAR(r.height_start - r.height_end, 0.5 * 9.81 * 0.5 * 0.501, 1e-9);
  EXPECT_LT(r.jump, 1e-9);
  EXPECT_NEAR(r.fastest, 9.81 * 0.5, 1e-9);
  EXPECT_LT(r.energy_rise, 1e-9);
}

}  // namespace
}  // namespace stiction::drop_test
