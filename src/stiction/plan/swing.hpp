// Swing of one foot: a velocity-clamped cubic spline through lift-off, apex and touchdown [ZD15, section 6.1].
//
//   knots t_0 < t_1 < t_2, positions x_0, x_1, x_2; ẋ(t_0), ẋ(t_2) given, ẋ(t_1) such that ẍ is continuous:
//   ẋ_0/h_0 + 2 ẋ_1 (1/h_0 + 1/h_1) + ẋ_2/h_1 = 3 (x_1 - x_0)/h_0² + 3 (x_2 - x_1)/h_1²,   h_k = t_{k+1} - t_k
//   x_1 = (x_0 + x_2)/2 + height ẑ at half of the swing
// Replanning at time t during the swing starts from the position and velocity of the old curve at t, so both stay
// continuous. The apex keeps its time while it is well ahead; otherwise one cubic leads to touchdown.
#pragma once

#include <array>

#include <Eigen/Core>

#include "stiction/base/errors.hpp"

namespace stiction {

/// Position (m), velocity (m/s) and acceleration (m/s²) of a foot.
struct FootState {
  Eigen::Vector3d position = Eigen::Vector3d::Zero();
  Eigen::Vector3d velocity = Eigen::Vector3d::Zero();
  Eigen::Vector3d acceleration = Eigen::Vector3d::Zero();
};

/// To bytes and back (base/archive.hpp).
template <class Archive>
void carry(Archive& archive, FootState& foot) {
  archive(foot.position, foot.velocity, foot.acceleration);
}

/// Cubic spline of one or two pieces with continuous position and velocity (and acceleration at the inner knot).
class SwingCurve {
 public:
  SwingCurve() = default;
  /// From (time, position, velocity) of `start` to those of `end`, passing `height` above the middle of the straight line.
  /// Throws InvalidArgument when end_time <= start_time or a value is not finite.
  SwingCurve(double start_time, const FootState& start, double end_time, const FootState& end, double height);

  /// Leads to a new touchdown from where the foot is at `time`, with position and velocity continuous. Does nothing after the
  /// curve's end or when `end_time` is not after `time`.
  void replan(double time, double end_time, const FootState& end);
  /// State at `time`; outside the swing the state of the nearer end with no acceleration.
  FootState at(double time) const;

  double start_time() const { return knot_[0]; }
  double end_time() const { return knot_[pieces_]; }
  const Eigen::Vector3d& end_position() const { return position_[pieces_]; }

  template <class Archive>
  void carry(Archive& archive) {
    archive(pieces_, apex_time_, height_, knot_);
    if (pieces_ != 1 && pieces_ != 2) throw InvalidArgument("bytes", "those that the same version wrote", "others");
    archive(lift_off_);
    for (Eigen::Vector3d& x : position_) archive(x);
    for (Eigen::Vector3d& v : velocity_) archive(v);
  }

 private:
  void fit(double start_time, const Eigen::Vector3d& x0, const Eigen::Vector3d& v0, double end_time, const FootState& end);

  int pieces_ = 1;
  double apex_time_ = 0.0;
  Eigen::Vector3d lift_off_ = Eigen::Vector3d::Zero();
  double height_ = 0.0;
  std::array<double, 3> knot_{0.0, 1.0, 1.0};
  std::array<Eigen::Vector3d, 3> position_{Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
  std::array<Eigen::Vector3d, 3> velocity_{Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
};

}  // namespace stiction
