// Inverse kinematics of a foot by damped least squares within joint limits.
//
//   minimise |p_d - p(q)| over lower <= q <= upper               step: Δq = Jᵀ (J Jᵀ + λ² I)⁻¹ e,  e = p_d - p(q)
// Levenberg-Marquardt: λ² falls when |e| does and rises otherwise; joints at a limit that the step would leave are frozen and
// the step is recomputed without them. Stopping: |e| <= tolerance (solved); projected gradient |Jᵀe| <= 1e-6 |J| |e|
// or no step that lowers |e| (inaccurate: unreachable, the nearest point found, `distance` is left); iteration_limit.
// Quadratic convergence near a regular solution. Cost per iteration: one evaluation of p, J and a 3 x 3 solve. No allocation.
//
// Velocity and acceleration:  J q̇ = ẋ,   J q̈ = ẍ - J̇ q̇,   J̇ by central differences of J along q̇.
// Of a foot that rolls, p and J are those of the ground under it (leg_kinematics.hpp, rolled_ground), and so are target, ẋ and ẍ.
// Away from singularities (least singular value above 1e-3 m/rad) these are exact, nearer they are damped smoothly
// [Nakamura & Hanafusa 1986].
#pragma once

#include "stiction/plan/leg_kinematics.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction {

struct InverseKinematicsOptions {
  double tolerance = 1e-10;  ///< m
  int max_iterations = 100;
};

struct InverseKinematicsSolution {
  LegVector q;  ///< within limits, always
  Status status = Status::numerical_error;
  double distance = 0.0;  ///< |p_d - p(q)| left (m)
  int iterations = 0;
};

/// Joint positions from a start q0 (clamped to the limits first). Throws InvalidArgument on sizes and non-finite values.
InverseKinematicsSolution inverse_kinematics(const Leg& leg, const Eigen::Vector3d& target, const LegVector& q0,
                                             const InverseKinematicsOptions& options = {}, const FootRoll& roll = {});

/// Joint velocity and acceleration for a foot velocity and acceleration at q.
void joint_rates(const Leg& leg, const LegVector& q, const Eigen::Vector3d& velocity, const Eigen::Vector3d& acceleration, LegVector& v,
                 LegVector& a, const FootRoll& roll = {});
/// The other way round: velocity and acceleration of the foot's centre (m/s, m/s²).
void foot_rates(const Leg& leg, const LegVector& q, const LegVector& v, const LegVector& a, Eigen::Vector3d& velocity,
                Eigen::Vector3d& acceleration);

}  // namespace stiction
