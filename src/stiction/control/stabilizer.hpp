// Balance of roll and pitch by virtual forces that the stance feet press along the contact normals
// ([ZD15] section 6.2, after [Sugihara & Nakamura 2003]: the feet may push, never pull).
//
//   m = I (-kp (φ, θ) - kd (φ̇, θ̇))                               requested moment about the base's x and y axes (N m)
//   minimise |A f - m|² + δ |f|²  over f >= 0,   A_i = ((p_i - c) × n_i)_xy     2 x k
// with p_i the contact points and n_i the unit normals towards the robot, k of them, all in one horizontal frame that turns
// with the base's heading; c the point that balance is asked about (base origin or centre of mass). δ (relative to |A|²)
// picks the smallest forces among equals. The dual has two unknowns: f = (Aᵀy)⁺ where A (Aᵀy)⁺ + δ y = m, a monotone piecewise
// linear equation, solved by Newton's method with a line search; the forces are then polished on the set that presses with
// δ -> 0 (least norm). Departure from the paper: it accumulates each foot's reaction by itself, f = (Aᵀm)⁺ with m = -50 (φ̇, θ̇) in
// the published controller; here the feet are solved together, so the requested moment is produced whenever some set of pushes can
// produce it, else the closest one is.
// Cost O(k) per iteration, a handful of iterations, no allocation up to the largest k seen.
#pragma once

#include <Eigen/Core>

#include "stiction/problem/solution.hpp"

namespace stiction {

struct StabilizerGains {
  Eigen::Vector2d kp = Eigen::Vector2d::Zero();  ///< of roll, pitch
  Eigen::Vector2d kd = Eigen::Vector2d::Zero();  ///< of their rates
  /// Angular inertia I that turns the feedback into a moment (kg m²); identity: the gains are N m per rad and per rad/s.
  Eigen::Matrix2d inertia = Eigen::Matrix2d::Identity();
  /// δ relative to the largest |A_i|². 0: the moment comes first, however large the forces; 1e-2 keeps two feet that stand almost in
  /// line with the centre from pressing hard for the little moment they can make about that line.
  double regularisation = 0.0;
};

/// The published setting, kd = 50 on roll and pitch rate, read as an acceleration (1/s) of a robot with this angular inertia
/// about the x and y axes of the base (kg m²). Read as 50 N m s/rad it would saturate the motors of a 4.8 kg robot at 0.1 rad/s.
StabilizerGains published_stabilizer(const Eigen::Matrix2d& inertia);

/// Tilt of the base against the horizontal.
struct BaseTilt {
  double roll = 0.0, pitch = 0.0;            ///< rad, of R_WB = Rz(yaw) Ry(pitch) Rx(roll)
  double roll_rate = 0.0, pitch_rate = 0.0;  ///< rad/s, angular velocity about the x and y axes of the heading frame Rz(yaw)
};
/// Tilt from the base's orientation and its angular velocity in the base frame (rad/s).
BaseTilt base_tilt(const Eigen::Ref<const Eigen::Matrix3d>& R_WB, const Eigen::Ref<const Eigen::Vector3d>& w_WB_B);

/// Requested moment m (N m, x and y of the heading frame).
Eigen::Vector2d stabilizing_moment(const StabilizerGains& gains, const BaseTilt& tilt);

/// The answer and its scratch, reused between periods.
struct VirtualForces {
  GrowVector force;                                  ///< k, >= 0 (N), along each normal
  Eigen::Vector2d moment = Eigen::Vector2d::Zero();  ///< A f (N m)
  double residual = 0.0;                             ///< |A f - m| (N m): above rounding when no pushes can make m
  Status status = Status::numerical_error;           ///< solved also when the residual is not zero: it is the closest moment
  int iterations = 0;
  GrowMatrix arm;  ///< scratch: A, 2 x k
};

/// Compressive forces for the moment m about `center`; `point` and `normal` are 3 x k. Resizes forces.force to k.
/// `regularisation` as in StabilizerGains. Throws InvalidArgument on sizes and non-finite values.
void compressive_forces(const Eigen::Ref<const Eigen::Matrix3Xd>& point, const Eigen::Ref<const Eigen::Matrix3Xd>& normal,
                        const Eigen::Ref<const Eigen::Vector3d>& center, const Eigen::Vector2d& moment, double regularisation,
                        VirtualForces& forces);

/// tau (nj) += -Σ J_iᵀ n_i f_i: the joint torques whose static reaction at the feet is f. `jacobian` is 3k x nj, the point
/// Jacobians of the feet against the base in the frame of the normals.
void add_virtual_force_torques(const VirtualForces& forces, const Eigen::Ref<const Eigen::Matrix3Xd>& normal,
                               const Eigen::Ref<const Eigen::MatrixXd>& jacobian, Eigen::Ref<Eigen::VectorXd> tau);

/// a (nj) += desired joint acceleration that makes foot i press: J_i a = -(f_i / m_v) n_i, damped least squares per foot with
/// m_v the virtual mass (kg) that a foot carries. For controllers that take accelerations [ZD15, Fig. 5].
void add_virtual_force_accelerations(const VirtualForces& forces, const Eigen::Ref<const Eigen::Matrix3Xd>& normal,
                                     const Eigen::Ref<const Eigen::MatrixXd>& jacobian, double virtual_mass, Eigen::Ref<Eigen::VectorXd> a);

}  // namespace stiction
