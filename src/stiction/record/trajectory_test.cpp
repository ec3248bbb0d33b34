// What a trajectory says against what is known of the run; that the file says the same is tested where it is read
// (python/tests/test_view.py).
#include "stiction/record/trajectory.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "stiction/problem/contact_mode.hpp"
#include "stiction/record/coordinate_names.hpp"

namespace stiction::trajectory_test {
namespace {

using Eigen::Vector3d;

constexpr double kMass = 2.0, kGravity = 9.81, kSlope = 0.3;

/// A box on a slope that is steep enough to turn the contact frames, and not steep enough to slide.
World box_on_slope() {
  const Eigen::Isometry3d tilt(Eigen::AngleAxisd(kSlope, Vector3d::UnitY()));
  WorldBuilder builder;
  builder.add_static_body({"slope", tilt, {{HalfSpace{}, Eigen::Isometry3d::Identity()}}});
  FreeBody box;
  box.name = "box";
  box.mass = kMass;
  box.inertia = solid_inertia(Box{{0.1, 0.1, 0.05}}, kMass);
  box.pose = tilt * Eigen::Translation3d(0, 0, 0.05);
  box.shapes = {{Box{{0.1, 0.1, 0.05}}, Eigen::Isometry3d::Identity()}};
  builder.add_free_body(box);
  return builder.build();
}

TEST(Trajectory, ForcesOfAStepCarryTheWeight) {
  const World world = box_on_slope();
  StepOptions options;
  options.assemble.dt = 0.01;
  options.contact.law = options.assemble.law = Law::coulomb_cone;
  Stepper stepper(world, make_scene(world, 0.8), options);
  State state = initial_state(world);
  Trajectory trajectory;
  trajectory.add(state);
  for (int k = 0; k < 5; ++k) {
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(6);
    const StepReport report = stepper.step(none, state);
    ASSERT_TRUE(report.accepted);
    trajectory.add(state, stepper, report, none);
    EXPECT_EQ(*std::ranges::max_element(report.certificate), report.residual);
  }
  ASSERT_EQ(trajectory.certificate.size(), 6 * kResiduals.size());
  ASSERT_EQ(trajectory.contact_offsets, (std::vector<std::int64_t>{0, 0, 4, 8, 12, 16, 20}));
  EXPECT_EQ(trajectory.time.size(), 6U);
  EXPECT_EQ(trajectory.q.size(), 6U * 7U);
  for (std::size_t step = 0; step < 5; ++step) {
    Vector3d sum = Vector3d::Zero();
    for (std::size_t i = 4 * step; i < 4 * step + 4; ++i) {
      const double sign = trajectory.contact_bodies[2 * i] == world.body("box") ? 1.0 : -1.0;
      sum += sign * Eigen::Map<const Vector3d>(&trajectory.contact_forces[3 * i]);
      EXPECT_LT(std::abs(trajectory.contact_gaps[i]), 1e-9);
      EXPECT_EQ(trajectory.contact_modes[i], static_cast<int>(ContactMode::stick));
      const Eigen::Matrix3d frame = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(&trajectory.contact_frames[9 * i]);
      EXPECT_NEAR(std::abs(frame.col(0).dot(Vector3d(std::sin(kSlope), 0, std::cos(kSlope)))), 1.0, 1e-12);
      EXPECT_LT((frame * Eigen::Map<const Vector3d>(&trajectory.contact_impulses[3 * i]) -
                 options.assemble.dt * Eigen::Map<const Vector3d>(&trajectory.contact_forces[3 * i]))
                    .norm(),
                1e-15);
    }
    EXPECT_LT((sum - Vector3d(0, 0, kMass * kGravity)).norm(), 1e-9) << sum.transpose();
  }
}

TEST(CoordinateNames, FollowTheState) {
  const World world = box_on_slope();
  EXPECT_EQ(position_names(world), (std::vector<std::string>{"box.x", "box.y", "box.z", "box.qx", "box.qy", "box.qz", "box.qw"}));
  EXPECT_EQ(velocity_names(world), (std::vector<std::string>{"box.vx", "box.vy", "box.vz", "box.wx", "box.wy", "box.wz"}));
}

constexpr const char* kArm = R"(<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="elbow" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 1 0"/></joint></robot>)";

/// A robot that shares one link with kArm, its floating root.
constexpr const char* kCart = R"(<robot name="cart"><link name="base"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="wheel"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="axle" type="continuous"><parent link="base"/><child link="wheel"/><axis xyz="0 1 0"/></joint></robot>)";

FreeBody ball(const char* name) {
  FreeBody out;
  out.name = name;
  out.mass = 1.0;
  out.inertia = Eigen::Matrix3d::Identity();
  return out;
}

/// All names differ, and the world finds each body by its own.
void expect_found_by_name(const World& world) {
  const std::vector<std::string> names = body_names(world);
  for (std::size_t b = 0; b < names.size(); ++b) EXPECT_EQ(world.body(names[b]), static_cast<int>(b)) << names[b];
  for (std::vector<std::string> all : {names, position_names(world), velocity_names(world)}) {
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  }
}

TEST(CoordinateNames, SeveralRobotsAreToldApart) {
  WorldBuilder builder;
  RobotOptions options;
  options.name = "left";
  builder.add_robot_text(kArm, options);
  EXPECT_EQ(position_names(builder.build()), (std::vector<std::string>{"elbow"}));
  EXPECT_EQ(body_names(builder.build()), (std::vector<std::string>{"base", "tip"}));
  options.name = "right";
  builder.add_robot_text(kArm, options);
  EXPECT_EQ(velocity_names(builder.build()), (std::vector<std::string>{"left/elbow", "right/elbow"}));
  EXPECT_EQ(body_names(builder.build()), (std::vector<std::string>{"left/base", "left/tip", "right/base", "right/tip"}));
  expect_found_by_name(builder.build());
}

TEST(CoordinateNames, OnlyWhatSeveralHaveIsQualified) {
  WorldBuilder builder;
  RobotOptions options;
  builder.add_robot_text(kArm, options);
  options.base = BaseKind::floating;
  builder.add_robot_text(kCart, options);
  const World world = builder.build();
  EXPECT_EQ(body_names(world), (std::vector<std::string>{"arm/base", "tip", "cart/base", "wheel"}));
  EXPECT_EQ(velocity_names(world), (std::vector<std::string>{"elbow", "cart/base.vx", "cart/base.vy", "cart/base.vz", "cart/base.wx",
                                                             "cart/base.wy", "cart/base.wz", "axle"}));
  expect_found_by_name(world);
}

TEST(CoordinateNames, ABodyKeepsTheNameThatARobotHasToo) {
  for (const bool first : {false, true}) {
    WorldBuilder builder;
    if (first) builder.add_free_body(ball("base"));
    RobotOptions options;
    options.base = BaseKind::floating;
    builder.add_robot_text(kCart, options);
    if (!first) builder.add_free_body(ball("base"));
    builder.add_static_body({"wheel", Eigen::Isometry3d::Identity(), {}});
    const World world = builder.build();
    const std::vector<std::string> names = position_names(world);
    EXPECT_EQ(std::ranges::count(names, "base.x"), 1);
    EXPECT_EQ(std::ranges::count(names, "cart/base.x"), 1);
    EXPECT_EQ(std::ranges::count(names, "axle"), 1);  // no other joint is called so
    EXPECT_EQ(body_names(world)[world.body("cart/wheel")], "cart/wheel");
    expect_found_by_name(world);
  }
}

// The second robot's "tip" is no body of its own, but a link by which World::body finds one.
TEST(CoordinateNames, ALinkOfTheNameCountsToo) {
  constexpr const char* kTool = R"(<robot name="tool"><link name="grip"/><link name="tip"/>
<joint name="weld" type="fixed"><parent link="grip"/><child link="tip"/></joint></robot>)";
  WorldBuilder builder;
  builder.add_robot_text(kArm);
  builder.add_robot_text(kTool);
  const World world = builder.build();
  EXPECT_EQ(body_names(world), (std::vector<std::string>{"base", "arm/tip", "grip"}));
  expect_found_by_name(world);
}

TEST(CoordinateNames, ARobotThatIsCutHasEachNameOnce) {
  WorldBuilder builder;
  RobotOptions options;
  options.base = BaseKind::floating;
  options.coordinates = Coordinates::maximal;
  builder.add_robot_text(kCart, options);
  options.name = "other";
  builder.add_robot_text(kCart, options);
  expect_found_by_name(builder.build());
}

}  // namespace
}  // namespace stiction::trajectory_test
