// Motion of the base in the plane: poses, twists, and how a point fixed to the ground moves as seen from the base.
//
//   ẋ = -v - ω ẑ × x                                             x in the base frame, (v, ω) the base's twist in that frame
//   x(s) = R(-ω s) x(0) - W(s) v,   W(s) = ∫_0^s R(-ω r) dr      its exact flow for a constant twist
#pragma once

#include <Eigen/Core>

namespace stiction {

/// Pose of the base on the ground, in the world frame.
struct PlanarPose {
  double x = 0.0, y = 0.0;  ///< m
  double yaw = 0.0;         ///< rad
};

/// Velocity of the base in its own frame: forward, to the left, turning left. (ẋ, ẏ, θ̇ of [ZD15, section 6.1].)
struct PlanarTwist {
  double vx = 0.0, vy = 0.0;  ///< m/s
  double yaw_rate = 0.0;      ///< rad/s
};

/// Yaw, x and y of a base: R_WB's first axis projected on the ground gives the heading.
PlanarPose planar_pose(const Eigen::Ref<const Eigen::Vector3d>& p_WB, const Eigen::Ref<const Eigen::Matrix3d>& R_WB);
/// Angle in (-π, π].
double wrap_angle(double angle);
/// The pose after moving with a constant twist for `time` seconds (negative: before).
PlanarPose advance(const PlanarPose& pose, const PlanarTwist& twist, double time);

/// Where a point on the ground (base frame, z kept) is after `time` seconds of the twist; negative: where it was.
Eigen::Vector3d ground_point_after(const Eigen::Vector3d& point, const PlanarTwist& twist, double time);
/// Velocity of that point in the base frame (m/s).
Eigen::Vector3d ground_point_velocity(const Eigen::Vector3d& point, const PlanarTwist& twist);
/// Its acceleration under a constant twist (m/s²).
Eigen::Vector3d ground_point_acceleration(const Eigen::Vector3d& point, const PlanarTwist& twist);

}  // namespace stiction
