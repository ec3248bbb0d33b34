#include "stiction/plan/planar.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

namespace stiction::planar_test {
namespace {

Eigen::Vector3d in_world(const PlanarPose& pose, const Eigen::Vector3d& point) {
  return Eigen::AngleAxisd(pose.yaw, Eigen::Vector3d::UnitZ()) * point + Eigen::Vector3d(pose.x, pose.y, 0.0);
}

TEST(Planar, AGroundPointStaysWhereItIsInTheWorld) {
  const PlanarPose start{0.3, -0.2, 0.7};
  const Eigen::Vector3d point(0.12, 0.10, -0.14);
  for (const PlanarTwist& twist :
       {PlanarTwist{0.2, 0.05, 0.5}, PlanarTwist{0.2, -0.05, 0.0}, PlanarTwist{0.1, 0.0, 1e-9}, PlanarTwist{0, 0, -2}}) {
    for (const double time : {-0.4, 1e-3, 0.5, 3.0}) {
      const Eigen::Vector3d moved = ground_point_after(point, twist, time);
      EXPECT_LT((in_world(advance(start, twist, time), moved) - in_world(start, point)).norm(), 1e-15 * 10);
    }
  }
}

// A constant twist runs a circle of radius v/ω.
TEST(Planar, ConstantTwistRunsACircle) {
  const PlanarPose end = advance({}, {0.2, 0.0, 0.5}, std::numbers::pi / 0.5);
  EXPECT_NEAR(end.x, 0.0, 1e-15);
  EXPECT_NEAR(end.y, 2.0 * 0.4, 1e-15);
  EXPECT_NEAR(end.yaw, std::numbers::pi, 1e-15);
}

TEST(Planar, VelocityAndAccelerationAreDerivatives) {
  const PlanarTwist twist{0.2, -0.05, 0.5};
  const Eigen::Vector3d point(0.12, 0.10, -0.14);
  const double h = 1e-4;
  const Eigen::Vector3d before = ground_point_after(point, twist, -h), after = ground_point_after(point, twist, h);
  EXPECT_LT(((after - before) / (2.0 * h) - ground_point_velocity(point, twist)).norm(), 1e-9);
  EXPECT_LT(((after - 2.0 * point + before) / (h * h) - ground_point_acceleration(point, twist)).norm(), 1e-7);
}

TEST(Planar, AnglesWrapToTheHalfOpenCircle) {
  EXPECT_NEAR(wrap_angle(3.5 * std::numbers::pi), -0.5 * std::numbers::pi, 1e-14);
  EXPECT_EQ(wrap_angle(-std::numbers::pi), std::numbers::pi);
  EXPECT_EQ(wrap_angle(0.25), 0.25);
}

TEST(Planar, PoseOfATiltedBaseKeepsItsHeading) {
  const Eigen::Matrix3d R = (Eigen::AngleAxisd(1.2, Eigen::Vector3d::UnitZ()) * Eigen::AngleAxisd(0.3, Eigen::Vector3d::UnitY()) *
                             Eigen::AngleAxisd(-0.2, Eigen::Vector3d::UnitX()))
                                .toRotationMatrix();
  const PlanarPose pose = planar_pose(Eigen::Vector3d(1.0, 2.0, 3.0), R);
  EXPECT_NEAR(pose.yaw, 1.2, 1e-14);
  EXPECT_EQ(pose.x, 1.0);
  EXPECT_EQ(pose.y, 2.0);
}

}  // namespace
}  // namespace stiction::planar_test
