#include "stiction/plan/swing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

constexpr double kNearApex = 0.2;  // of half the swing: closer than this the apex is left out, for a bounded acceleration

// Cubic with these ends over h seconds, at the fraction s in [0, 1].
FootState hermite(const Eigen::Vector3d& x0, const Eigen::Vector3d& v0, const Eigen::Vector3d& x1, const Eigen::Vector3d& v1, double h,
                  double s) {
  const double s2 = s * s, s3 = s2 * s;
  const Eigen::Vector3d d = x1 - x0;
  FootState state;
  state.position = x0 + (3.0 * s2 - 2.0 * s3) * d + h * ((s - 2.0 * s2 + s3) * v0 + (s3 - s2) * v1);
  state.velocity = (6.0 * (s - s2) / h) * d + (1.0 - 4.0 * s + 3.0 * s2) * v0 + (3.0 * s2 - 2.0 * s) * v1;
  state.acceleration = (6.0 - 12.0 * s) / (h * h) * d + ((6.0 * s - 4.0) * v0 + (6.0 * s - 2.0) * v1) / h;
  return state;
}

// Velocity at the middle knot that makes the acceleration continuous there.
Eigen::Vector3d middle_velocity(const std::array<double, 3>& t, const std::array<Eigen::Vector3d, 3>& x, const Eigen::Vector3d& v0,
                                const Eigen::Vector3d& v2) {
  const double h0 = t[1] - t[0], h1 = t[2] - t[1];
  const Eigen::Vector3d slopes = 3.0 * (x[1] - x[0]) / (h0 * h0) + 3.0 * (x[2] - x[1]) / (h1 * h1);
  return (slopes - v0 / h0 - v2 / h1) / (2.0 / h0 + 2.0 / h1);
}

}  // namespace

SwingCurve::SwingCurve(double start_time, const FootState& start, double end_time, const FootState& end, double height)
    : apex_time_(0.5 * (start_time + end_time)), lift_off_(start.position), height_(height) {
  if (!(end_time > start_time)) {
    throw InvalidArgument("end_time", fmt::format("a time after the start, {}", start_time), fmt::format("{}", end_time));
  }
  require_finite("start_time, end_time", Eigen::Vector2d(start_time, end_time));
  require_finite("start.position", start.position);
  require_finite("start.velocity", start.velocity);
  require_finite("end.position", end.position);
  require_finite("end.velocity", end.velocity);
  require_finite("height", Eigen::Matrix<double, 1, 1>(height));
  fit(start_time, start.position, start.velocity, end_time, end);
}

void SwingCurve::fit(double start_time, const Eigen::Vector3d& x0, const Eigen::Vector3d& v0, double end_time, const FootState& end) {
  const bool apex_ahead = apex_time_ - start_time > kNearApex * (end_time - apex_time_);
  pieces_ = apex_ahead ? 2 : 1;
  position_[0] = x0;
  velocity_[0] = v0;
  knot_[0] = start_time;
  if (apex_ahead) {
    knot_ = {start_time, apex_time_, end_time};
    position_[1] = 0.5 * (lift_off_ + end.position) + height_ * Eigen::Vector3d::UnitZ();
    position_[2] = end.position;
    velocity_[2] = end.velocity;
    velocity_[1] = middle_velocity(knot_, position_, v0, end.velocity);
  } else {
    knot_[1] = end_time;
    position_[1] = end.position;
    velocity_[1] = end.velocity;
  }
}

void SwingCurve::replan(double time, double end_time, const FootState& end) {
  if (time >= this->end_time() || !(end_time > time)) return;
  const double from = std::max(time, start_time());
  const FootState now = at(from);
  if (time <= start_time()) apex_time_ = 0.5 * (start_time() + end_time);
  fit(from, now.position, now.velocity, end_time, end);
}

FootState SwingCurve::at(double time) const {
  const bool outside = time < start_time() || time > end_time();
  const double t = std::clamp(time, start_time(), end_time());
  const std::size_t k = pieces_ == 2 && t >= knot_[1] ? 1 : 0;
  const double h = knot_[k + 1] - knot_[k];
  FootState state = hermite(position_[k], velocity_[k], position_[k + 1], velocity_[k + 1], h, (t - knot_[k]) / h);
  if (outside) state.acceleration.setZero();
  return state;
}

}  // namespace stiction
