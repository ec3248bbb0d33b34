// Kinematics of a leg as plain data: foot position in the base frame and its Jacobian from the leg's own joint positions.
//
//   p(q) and J(q) = ∂p/∂q                                        3 and 3 x m, m <= kMaxLegJoints joints
//   R(q) and W(q), ω = W q̇                                       of the foot's turn, for feet that roll
// Either a `SerialChain` of revolute and prismatic joints (URDF's convention: fixed placement, then motion about the
// axis), or any function of the same form, for instance over a rigid-body library.
#pragma once

#include <functional>
#include <vector>

#include <Eigen/Core>

namespace stiction {

inline constexpr int kMaxLegJoints = 8;
using LegVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMaxLegJoints, 1>;
using LegJacobian = Eigen::Matrix<double, 3, Eigen::Dynamic, 0, 3, kMaxLegJoints>;

/// Writes the foot position (base frame, m) and resizes and writes the Jacobian (3 x m) at q (m). Must not allocate in a control loop.
using LegKinematics = std::function<void(const LegVector& q, Eigen::Vector3d& position, LegJacobian& jacobian)>;

/// Writes the rotation R of the foot in the base frame, and resizes and writes the Jacobian W (3 x m) of its angular velocity, at q (m).
using LegRotation = std::function<void(const LegVector& q, Eigen::Matrix3d& rotation, LegJacobian& angular)>;

struct ChainJoint {
  Eigen::Vector3d translation = Eigen::Vector3d::Zero();  ///< origin in the parent joint's frame (the base for the first), m
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();  ///< unit, in the joint's frame
  bool revolute = true;                             ///< otherwise prismatic along the axis
};

struct SerialChain {
  std::vector<ChainJoint> joints;                         ///< from the base to the foot
  Eigen::Vector3d foot_offset = Eigen::Vector3d::Zero();  ///< foot in the last joint's frame (m)

  /// Same form as LegKinematics. Throws InvalidArgument when q has another size.
  void operator()(const LegVector& q, Eigen::Vector3d& position, LegJacobian& jacobian) const;
  /// Same form as LegRotation.
  void turn(const LegVector& q, Eigen::Matrix3d& rotation, LegJacobian& angular) const;
};
/// Unit axes, rotations, 1 to kMaxLegJoints joints. Throws InvalidArgument.
void validate(const SerialChain& chain);

/// One leg of a robot.
struct Leg {
  std::vector<int> joints;  ///< places of its joints in the robot's vector of actuated joints, from base to foot
  LegKinematics kinematics;
  LegVector lower, upper;     ///< joint limits, infinity allowed
  LegRotation rotation = {};  ///< asked for where feet roll
};

/// A foot whose sphere rolls on level ground, z of the base frame upwards, since it was turned as `from` (base frame).
struct FootRoll {
  double radius = 0.0;  ///< m; 0: a point, which turns on the spot
  Eigen::Matrix3d from = Eigen::Matrix3d::Identity();
};

/// Where the ground under the foot's centre then is now, at the height of the centre, and its Jacobian:
///   p - r φ x ẑ,  φ = log(R fromᵀ)          and          J - r [W x ẑ], exact at φ = 0
/// Rolling keeps this point on the ground: p moves over it by r φ x ẑ, as ω x r ẑ is the velocity of the centre of a rolling sphere.
void rolled_ground(const Leg& leg, const FootRoll& roll, const LegVector& q, Eigen::Vector3d& point, LegJacobian& jacobian);

/// The legs LF, RF, LH, RH of the quadruped of [ZD15] ("links") as in models/links.urdf. Their joints are numbered in
/// alphabetical order of the joints' names, which is how URDF readers list siblings: LF 0-2, LH 3-5, RF 6-8, RH 9-11.
std::vector<Leg> links_legs();
/// Published standing posture in the same order (12): hip, thigh, shank = ±(0.3927, 0.7854, 1.5708) rad.
Eigen::VectorXd links_standing_posture();

}  // namespace stiction
