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

TEST(CoordinateNames, SeveralRobotsAreToldApart) {
  constexpr const char* kArm = R"(<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="elbow" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 1 0"/></joint></robot>)";
  WorldBuilder builder;
  RobotOptions options;
  options.name = "left";
  builder.add_robot_text(kArm, options);
  EXPECT_EQ(position_names(builder.build()), (std::vector<std::string>{"elbow"}));
  options.name = "right";
  builder.add_robot_text(kArm, options);
  EXPECT_EQ(velocity_names(builder.build()), (std::vector<std::string>{"left/elbow", "right/elbow"}));
}

}  // namespace
}  // namespace stiction::trajectory_test
