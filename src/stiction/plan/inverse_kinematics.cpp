#include "stiction/plan/inverse_kinematics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

constexpr double kLargestStep = 0.5;      // rad or m per iteration, so that far targets do not throw the leg about
constexpr double kInitialDamping = 1e-4;  // λ² relative to trace(J Jᵀ)
constexpr double kLeastDamping = 1e-14;   // keeps J Jᵀ + λ² I factorisable at a singularity
constexpr double kLargestDamping = 1e8;   // no smaller step can lower the distance in double precision
constexpr double kStationary = 1e-6;      // of |J| |e|: a step from there lowers |e| by about 1e-12 of itself
constexpr double kSingular = 1e-3;        // m/rad: a foot that moves less than this per rad of the joints has its rates damped
constexpr double kDifference = 1e-5;      // rad, of the central difference for J̇: truncation and rounding are both near 1e-11 of it
using Frozen = std::array<bool, kMaxLegJoints>;

// True when moving joint i in this direction leaves its limits at once.
bool blocked(const Leg& leg, const LegVector& q, Eigen::Index i, double direction) {
  return (direction > 0.0 && q[i] >= leg.upper[i]) || (direction < 0.0 && q[i] <= leg.lower[i]);
}

// |Jᵀe| over the joints that may move along it.
double projected_gradient(const Leg& leg, const LegVector& q, const LegJacobian& J, const Eigen::Vector3d& e) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    const double g = J.col(i).dot(e);
    if (!blocked(leg, q, i, g)) sum += g * g;
  }
  return std::sqrt(sum);
}

// Jᵀ (J Jᵀ + λ² I)⁻¹ e over the joints that are not frozen.
LegVector damped_step(const LegJacobian& J, const Eigen::Vector3d& e, double lambda2, const Frozen& frozen) {
  Eigen::Matrix3d A = lambda2 * Eigen::Matrix3d::Identity();
  for (Eigen::Index i = 0; i < J.cols(); ++i) {
    if (!frozen[i]) A += J.col(i) * J.col(i).transpose();
  }
  const Eigen::Vector3d w = A.ldlt().solve(e);
  LegVector step(J.cols());
  for (Eigen::Index i = 0; i < J.cols(); ++i) step[i] = frozen[i] ? 0.0 : J.col(i).dot(w);
  return step;
}

// The damped step whose joints at a limit do not push through it; cut to kLargestStep.
LegVector feasible_step(const Leg& leg, const LegVector& q, const LegJacobian& J, const Eigen::Vector3d& e, double lambda2) {
  Frozen frozen{};
  LegVector step;
  for (Eigen::Index pass = 0; pass <= q.size(); ++pass) {
    step = damped_step(J, e, lambda2, frozen);
    bool changed = false;
    for (Eigen::Index i = 0; i < q.size(); ++i) {
      if (frozen[i] || !blocked(leg, q, i, step[i])) continue;
      frozen[i] = changed = true;
    }
    if (!changed) break;
  }
  const double largest = step.cwiseAbs().maxCoeff();
  if (largest > kLargestStep) step *= kLargestStep / largest;
  return step;
}

LegVector clamped(const Leg& leg, const LegVector& q) { return q.cwiseMax(leg.lower).cwiseMin(leg.upper); }

void require_leg(const Leg& leg, const LegVector& q) {
  require_size("leg.lower", leg.lower.size(), q.size());
  require_size("leg.upper", leg.upper.size(), q.size());
  if (!leg.kinematics) throw InvalidArgument("leg.kinematics", "a function", "none");
}

// J⁺ rhs, damped along directions whose singular value is below kSingular.
LegVector solve_rates(const LegJacobian& J, const Eigen::Vector3d& rhs) {
  Eigen::Matrix3d A = J.lazyProduct(J.transpose());
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> eigen(A);
  Eigen::Vector3d w = Eigen::Vector3d::Zero();
  constexpr double limit = kSingular * kSingular;
  for (int i = 0; i < 3; ++i) {
    const double sigma2 = std::max(0.0, eigen.eigenvalues()[i]);
    const double damping = sigma2 < limit ? limit - sigma2 : 0.0;
    if (sigma2 + damping > 0.0) w += eigen.eigenvectors().col(i) * (eigen.eigenvectors().col(i).dot(rhs) / (sigma2 + damping));
  }
  return J.transpose().lazyProduct(w);
}

// J̇ q̇ by a central difference along q̇.
Eigen::Vector3d jacobian_drift(const Leg& leg, const FootRoll& roll, const LegVector& q, const LegVector& v) {
  const double fastest = v.cwiseAbs().maxCoeff();
  if (fastest * fastest == 0.0) return Eigen::Vector3d::Zero();  // it goes with the square of q̇
  const double step = kDifference / fastest;
  Eigen::Vector3d position;
  LegJacobian after, before;
  rolled_ground(leg, roll, q + step * v, position, after);
  rolled_ground(leg, roll, q - step * v, position, before);
  return (after - before).lazyProduct(v) / (2.0 * step);
}

}  // namespace

InverseKinematicsSolution inverse_kinematics(const Leg& leg, const Eigen::Vector3d& target, const LegVector& q0,
                                             const InverseKinematicsOptions& options, const FootRoll& roll) {
  require_leg(leg, q0);
  require_positive("tolerance", options.tolerance);
  require_finite("target", target);
  require_finite("q0", q0);
  InverseKinematicsSolution solution;
  solution.q = clamped(leg, q0);
  Eigen::Vector3d position;
  LegJacobian J;
  rolled_ground(leg, roll, solution.q, position, J);
  Eigen::Vector3d error = target - position;
  solution.distance = error.norm();
  double damping = kInitialDamping;
  for (solution.iterations = 0;; ++solution.iterations) {
    solution.status = Status::solved;
    if (solution.distance <= options.tolerance) return solution;
    solution.status = Status::inaccurate;
    if (projected_gradient(leg, solution.q, J, error) <= kStationary * J.norm() * solution.distance) return solution;
    if (damping > kLargestDamping) return solution;
    solution.status = Status::iteration_limit;
    if (solution.iterations >= options.max_iterations) return solution;

    const LegVector trial = clamped(leg, solution.q + feasible_step(leg, solution.q, J, error, damping * J.squaredNorm()));
    Eigen::Vector3d trial_position;
    LegJacobian trial_J;
    rolled_ground(leg, roll, trial, trial_position, trial_J);
    const double distance = (target - trial_position).norm();
    if (!(distance < solution.distance)) {
      damping *= 10.0;
      continue;
    }
    solution.q = trial;
    solution.distance = distance;
    error = target - trial_position;
    J = trial_J;
    damping = std::max(kLeastDamping, 0.01 * damping);
  }
}

void joint_rates(const Leg& leg, const LegVector& q, const Eigen::Vector3d& velocity, const Eigen::Vector3d& acceleration, LegVector& v,
                 LegVector& a, const FootRoll& roll) {
  require_leg(leg, q);
  require_finite("velocity", velocity);
  require_finite("acceleration", acceleration);
  Eigen::Vector3d position;
  LegJacobian J;
  rolled_ground(leg, roll, q, position, J);
  v = solve_rates(J, velocity);
  const Eigen::Vector3d drift = jacobian_drift(leg, roll, q, v);
  a = solve_rates(J, acceleration - drift);
}

void foot_rates(const Leg& leg, const LegVector& q, const LegVector& v, const LegVector& a, Eigen::Vector3d& velocity,
                Eigen::Vector3d& acceleration) {
  require_leg(leg, q);
  Eigen::Vector3d position;
  LegJacobian J;
  leg.kinematics(q, position, J);
  velocity = J.lazyProduct(v);
  acceleration = J.lazyProduct(a) + jacobian_drift(leg, {}, q, v);
}

}  // namespace stiction
