#include "stiction/plan/planar.hpp"

#include <cmath>
#include <numbers>

namespace stiction {

namespace {

// ∫_0^time R(rate r) dr v, with R the plane rotation.
Eigen::Vector2d integrated_rotation(double rate, double time, const Eigen::Vector2d& v) {
  const double angle = rate * time, half = 0.5 * angle;
  const double sine = angle == 0.0 ? 1.0 : std::sin(angle) / angle;
  const double cosine = half == 0.0 ? 0.0 : std::sin(half) * std::sin(half) / half;  // (1 - cos) / angle
  return time * Eigen::Vector2d(sine * v.x() - cosine * v.y(), cosine * v.x() + sine * v.y());
}

Eigen::Vector2d rotated(double angle, const Eigen::Vector2d& v) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {c * v.x() - s * v.y(), s * v.x() + c * v.y()};
}

}  // namespace

PlanarPose planar_pose(const Eigen::Ref<const Eigen::Vector3d>& p_WB, const Eigen::Ref<const Eigen::Matrix3d>& R_WB) {
  return {p_WB.x(), p_WB.y(), std::atan2(R_WB(1, 0), R_WB(0, 0))};
}

double wrap_angle(double angle) {
  const double wrapped = std::remainder(angle, 2.0 * std::numbers::pi);
  return wrapped <= -std::numbers::pi ? std::numbers::pi : wrapped;
}

PlanarPose advance(const PlanarPose& pose, const PlanarTwist& twist, double time) {
  const Eigen::Vector2d moved = rotated(pose.yaw, integrated_rotation(twist.yaw_rate, time, {twist.vx, twist.vy}));
  return {pose.x + moved.x(), pose.y + moved.y(), pose.yaw + twist.yaw_rate * time};
}

Eigen::Vector3d ground_point_after(const Eigen::Vector3d& point, const PlanarTwist& twist, double time) {
  const Eigen::Vector2d turned = rotated(-twist.yaw_rate * time, point.head<2>());
  const Eigen::Vector2d moved = integrated_rotation(-twist.yaw_rate, time, {twist.vx, twist.vy});
  return {turned.x() - moved.x(), turned.y() - moved.y(), point.z()};
}

Eigen::Vector3d ground_point_velocity(const Eigen::Vector3d& point, const PlanarTwist& twist) {
  return {-twist.vx + twist.yaw_rate * point.y(), -twist.vy - twist.yaw_rate * point.x(), 0.0};
}

Eigen::Vector3d ground_point_acceleration(const Eigen::Vector3d& point, const PlanarTwist& twist) {
  const Eigen::Vector3d velocity = ground_point_velocity(point, twist);
  return {twist.yaw_rate * velocity.y(), -twist.yaw_rate * velocity.x(), 0.0};
}

}  // namespace stiction
