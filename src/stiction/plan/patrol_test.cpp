#include "stiction/plan/patrol.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"

namespace stiction::patrol_test {
namespace {

PatrolParameters without_ramps() {
  PatrolParameters parameters = published_patrol();
  parameters.acceleration.setConstant(std::numeric_limits<double>::infinity());
  return parameters;
}

TEST(Patrol, SwitchesWithinTheTolerance) {
  Patrol patrol(without_ramps());
  patrol.update(0.0, {0.0, 0.0, 0.0});  // starts on the first way-point
  EXPECT_EQ(patrol.reached(), 1);
  patrol.update(0.1, {0.149, 0.0, 0.0});
  EXPECT_EQ(patrol.reached(), 1);
  patrol.update(0.2, {0.15, 0.0, 0.0});
  EXPECT_EQ(patrol.reached(), 2);
  patrol.update(0.3, {0.0, 0.2, 0.0});
  EXPECT_EQ(patrol.reached(), 3);
  patrol.update(0.4, {0.0, -0.2, 0.0});
  EXPECT_EQ(patrol.reached(), 4);
  patrol.update(0.5, {-0.2, 0.0, 0.0});
  EXPECT_EQ(patrol.reached(), 5);
}

TEST(Patrol, CommandsStayWithinTheirLimitsAndPointAtTheTarget) {
  Patrol patrol(without_ramps());
  PlanarTwist twist = patrol.update(0.0, {0.0, 0.0, 0.0});  // next way-point straight ahead
  EXPECT_NEAR(twist.vx, 0.2, 1e-15);
  EXPECT_NEAR(twist.vy, 0.0, 1e-15);
  EXPECT_NEAR(twist.yaw_rate, 0.0, 1e-15);
  twist = patrol.update(0.1, {0.0, 0.0, std::numbers::pi / 2});  // it lies to the right: turn on the spot
  EXPECT_EQ(twist.vx, 0.0);
  EXPECT_EQ(twist.vy, 0.0);
  EXPECT_EQ(twist.yaw_rate, -0.5);
  twist = patrol.update(0.2, {0.0, 0.0, -0.5});  // ahead and left: all at once
  EXPECT_GT(twist.vx, 0.0);
  EXPECT_EQ(twist.vy, 0.05);
  EXPECT_EQ(twist.yaw_rate, 0.5);
}

TEST(Patrol, AccelerationIsBounded) {
  PatrolParameters parameters = published_patrol();
  Patrol patrol(parameters);
  PlanarTwist last = patrol.update(0.0, {});
  EXPECT_EQ(last.vx, 0.0);
  for (int k = 1; k < 400; ++k) {
    const PlanarTwist twist = patrol.update(0.001 * k, {0.0, 0.0, k < 300 ? 0.0 : 2.0});
    EXPECT_LE(std::abs(twist.vx - last.vx), 0.001 * parameters.acceleration.x() + 1e-15);
    EXPECT_LE(std::abs(twist.yaw_rate - last.yaw_rate), 0.001 * parameters.acceleration.z() + 1e-15);
    if (k == 299) {
      EXPECT_EQ(twist.vx, 0.2);
    }
    last = twist;
  }
}

// A base that does exactly what it is told walks the whole published patrol within the published 30 s.
TEST(Patrol, APerfectBaseWalksAllWayPoints) {
  Patrol patrol(published_patrol());
  PlanarPose pose;
  double reached_all = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 30000; ++k) {
    pose = advance(pose, patrol.update(0.001 * k, pose), 0.001);
    if (patrol.reached() >= 6 && std::isinf(reached_all)) reached_all = 0.001 * k;  // all five and back at the first
  }
  EXPECT_LT(reached_all, 30.0);
  EXPECT_LT(std::hypot(pose.x, pose.y), 0.5);
}

TEST(Patrol, OneReachedWayPointDoesNotHang) {
  PatrolParameters parameters = published_patrol();
  parameters.waypoints = {{0.0, 0.0}, {0.01, 0.0}};
  Patrol patrol(parameters);
  EXPECT_NO_THROW(patrol.update(0.0, {}));
  EXPECT_EQ(patrol.reached(), 2);
}

TEST(Patrol, RefusesBadInput) {
  EXPECT_THROW(Patrol{PatrolParameters{}}, InvalidArgument);
  PatrolParameters parameters = published_patrol();
  parameters.forward = std::nan("");
  EXPECT_THROW(Patrol{parameters}, InvalidArgument);
  Patrol patrol(published_patrol());
  patrol.update(1.0, {});
  EXPECT_THROW(patrol.update(0.5, {}), InvalidArgument);
  EXPECT_THROW(patrol.update(2.0, {std::nan(""), 0.0, 0.0}), InvalidArgument);
}

}  // namespace
}  // namespace stiction::patrol_test
