#include "stiction/plan/patrol.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

constexpr double kDistanceGain = 4.0;    // k_d (1/s): full published speed to 5 cm from a way-point
constexpr double kHeadingGain = 2.0;     // k_θ (1/s): full published turn to 14° from its bearing
constexpr double kTurnInPlace = 0.7854;  // rad: a way-point farther aside is turned to on the spot

// Follows `wanted` at no more than rate * dt.
double approach(double current, double wanted, double rate, double dt) {
  if (std::isinf(rate)) return wanted;
  return std::clamp(wanted, current - rate * dt, current + rate * dt);
}

PlanarTwist wanted_twist(const PatrolParameters& parameters, const PlanarPose& pose, const Eigen::Vector2d& waypoint) {
  const Eigen::Vector2d away = waypoint - Eigen::Vector2d(pose.x, pose.y);
  const double distance = away.norm();
  const double bearing = wrap_angle(std::atan2(away.y(), away.x()) - pose.yaw);
  PlanarTwist twist;
  twist.yaw_rate = std::clamp(kHeadingGain * bearing, -parameters.turn, parameters.turn);
  if (std::abs(bearing) >= kTurnInPlace) return twist;
  const double speed = kDistanceGain * distance;
  twist.vx = std::clamp(speed * std::cos(bearing), 0.0, parameters.forward);
  twist.vy = std::clamp(speed * std::sin(bearing), -parameters.strafe, parameters.strafe);
  return twist;
}

}  // namespace

PatrolParameters published_patrol() {
  PatrolParameters parameters;
  parameters.waypoints = {{0.0, 0.0}, {0.25, 0.0}, {0.0, 0.25}, {0.0, -0.25}, {-0.25, 0.0}};
  return parameters;
}

void validate(const PatrolParameters& parameters) {
  if (parameters.waypoints.empty()) throw InvalidArgument("waypoints", "at least one point", "none");
  for (std::size_t i = 0; i < parameters.waypoints.size(); ++i) require_finite(fmt::format("waypoints[{}]", i), parameters.waypoints[i]);
  require_nonnegative("tolerance, forward, strafe, turn",
                      Eigen::Vector4d(parameters.tolerance, parameters.forward, parameters.strafe, parameters.turn));
  require_nonnegative("acceleration", parameters.acceleration, true);
}

Patrol::Patrol(PatrolParameters parameters) : parameters_(std::move(parameters)) { validate(parameters_); }

void Patrol::reset() {
  target_ = reached_ = 0;
  started_ = false;
  command_ = {};
}

PlanarTwist Patrol::update(double t, const PlanarPose& pose) {
  require_finite("pose", Eigen::Vector3d(pose.x, pose.y, pose.yaw));
  if (!std::isfinite(t) || (started_ && t < time_))
    throw InvalidArgument("t", fmt::format("a time not before {}", time_), fmt::format("{}", t));
  const double dt = started_ ? t - time_ : 0.0;
  started_ = true;
  time_ = t;

  const int count = static_cast<int>(parameters_.waypoints.size());
  const auto distance = [&] { return (parameters_.waypoints[target_] - Eigen::Vector2d(pose.x, pose.y)).norm(); };
  for (int passed = 0; passed < count && distance() <= parameters_.tolerance; ++passed) {
    target_ = (target_ + 1) % count;
    ++reached_;
  }
  const PlanarTwist wanted = wanted_twist(parameters_, pose, parameters_.waypoints[target_]);
  command_.vx = approach(command_.vx, wanted.vx, parameters_.acceleration.x(), dt);
  command_.vy = approach(command_.vy, wanted.vy, parameters_.acceleration.y(), dt);
  command_.yaw_rate = approach(command_.yaw_rate, wanted.yaw_rate, parameters_.acceleration.z(), dt);
  return command_;
}

}  // namespace stiction
