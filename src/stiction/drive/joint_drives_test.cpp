#include "stiction/drive/joint_drives.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/drive/effort_limits.hpp"

namespace stiction::joint_drives_test {
namespace {

/// A floating body of six coordinates that carries a hinge: coordinates 0 to 5 and 6.
World flying_hinge() {
  WorldBuilder builder;
  builder.add_robot_text(R"(<mujoco><worldbody><body><freejoint/><geom size="0.1" mass="2"/>
      <body><joint name="hinge" type="hinge" axis="0 0 1"/><geom pos="1 0 0" size="0.1" mass="1"/></body></body></worldbody></mujoco>)");
  return builder.build();
}

std::string refusal(const Drives& drives) {
  try {
    validate(flying_hinge(), drives);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(Drives, JointsAreFoundByTheirCoordinate) {
  const World world = flying_hinge();
  ASSERT_NE(joint_at(world, 6), nullptr);
  EXPECT_EQ(joint_at(world, 6)->name, "hinge");
  EXPECT_EQ(joint_at(world, 7), nullptr);
  EXPECT_EQ(joint_at(world, 3), nullptr);
  EXPECT_EQ(joint_at(world, -1), nullptr);
}

// A joint that is driven although its file names no effort has no limit; one that nothing drives neither.
TEST(Drives, LimitsOfEffortAreThoseOfTheFilesWhereTheyNameOne) {
  const auto limits = [](std::optional<double> effort, const std::vector<std::string>& actuated) {
    WorldBuilder builder;
    RobotOptions options;
    options.actuated = actuated;
    options.joints["hinge"].effort_limit = effort;
    builder.add_robot_text(R"(<mujoco><worldbody><body><joint name="hinge"/><geom size="0.1" pos="1 0 0"/></body></worldbody></mujoco>)",
                           options);
    return effort_limits(builder.build())[0];
  };
  EXPECT_EQ(limits(3.0, {"hinge"}), 3.0);
  EXPECT_EQ(limits(0.0, {"hinge"}), kInfinity);
  EXPECT_EQ(limits(3.0, {}), kInfinity);
}

TEST(Drives, RefusalsNameWhatIsWrong) {
  EXPECT_EQ(refusal({{{6, 1.0, -2.0, 2.0}}, {{6, 1.0, 0.0, 10.0, 1.0}}}), "");
  EXPECT_THAT(refusal({{{0, 1.0}}, {}}), testing::StartsWith("drives.velocity[0].v: "));
  EXPECT_THAT(refusal({{{9, 1.0}}, {}}), testing::StartsWith("drives.velocity[0].v: "));
  EXPECT_THAT(refusal({{{6, NAN}}, {}}), testing::StartsWith("drives.velocity[0].velocity: "));
  EXPECT_THAT(refusal({{{6, 1.0, 0.5, 2.0}}, {}}), testing::StartsWith("drives.velocity[0].least: "));
  EXPECT_THAT(refusal({{{6, 1.0, -1.0, NAN}}, {}}), testing::StartsWith("drives.velocity[0].most: "));
  EXPECT_THAT(refusal({{{6, 1.0}, {6, 2.0}}, {}}), testing::StartsWith("drives.velocity[1].v: "));
  EXPECT_THAT(refusal({{}, {{6, 1.0, 0.0, -1.0, 0.0}}}), testing::StartsWith("drives.servos[0].kp: "));
  EXPECT_THAT(refusal({{}, {{6, 1.0, 0.0, 1.0, INFINITY}}}), testing::StartsWith("drives.servos[0].kd: "));
  EXPECT_THAT(refusal({{}, {{6, NAN, 0.0, 1.0, 1.0}}}), testing::StartsWith("drives.servos[0].position: "));
  EXPECT_THAT(refusal({{}, {{6, 0.0, 0.0, 1.0, 1.0, 0.0}}}), testing::StartsWith("drives.servos[0].limit: "));
  EXPECT_THAT(refusal({{}, {{6, 0.0, 0.0, 1.0, 1.0, 2.0}, {6, 0.0, 0.0, 1.0, 1.0, 2.0}}}), testing::StartsWith("drives.servos[1].v: "));
  EXPECT_THAT(refusal({{{6, 1.0, -2.0, 2.0, 0.0}}, {}}), testing::StartsWith("drives.velocity[0].no_load: "));
  EXPECT_THAT(refusal({{{6, 1.0, -1.0, 2.0, 3.0}}, {}}), testing::StartsWith("drives.velocity[0].most: "));
  EXPECT_THAT(refusal({{}, {}, {{{}}}}), testing::StartsWith("drives.rows[0].terms: "));
  EXPECT_THAT(refusal({{}, {}, {{{{6, 1.0}, {6, 2.0}}}}}), testing::StartsWith("drives.rows[0].terms[1].v: "));
  EXPECT_THAT(refusal({{}, {}, {{{{6, INFINITY}}}}}), testing::StartsWith("drives.rows[0].terms[0].factor: "));
  EXPECT_THAT(refusal({{}, {}, {{{{6, 1.0}}, 0.0, 1.0, 2.0}}}), testing::StartsWith("drives.rows[0].least: "));
}

}  // namespace
}  // namespace stiction::joint_drives_test
