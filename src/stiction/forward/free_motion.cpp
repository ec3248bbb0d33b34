#include "stiction/forward/free_motion.hpp"

#include "stiction/model/dynamics.hpp"
#include "stiction/model/single_body.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

Eigen::Quaterniond rotation(const Joint& joint, const Eigen::Ref<const VectorXd>& q) {
  return Eigen::Quaterniond(Eigen::Vector4d(q.segment<4>(joint.q + 3)));
}

constexpr int kMostNewton = 10;              // from ω it converges quadratically wherever h |ω| < 1, in two to four
constexpr double kMomentumRounding = 1e-15;  // of |Iω|: below, the midpoint is as exact as its equation

/// m - ω for the midpoint m = (ω + ω')/2 of rotation under a torque τ: I m + (h/2) m × I m = I ω + (h/2) τ.
Vector3d to_midpoint(const Eigen::Matrix3d& I, const Vector3d& omega, double h, const Vector3d& torque = Vector3d::Zero()) {
  const Vector3d momentum = I * omega + 0.5 * h * torque;
  Vector3d m = omega;
  for (int k = 0; k < kMostNewton; ++k) {
    const Vector3d Im = I * m, residual = (Im - momentum) + 0.5 * h * m.cross(Im);
    if (residual.squaredNorm() <= kMomentumRounding * kMomentumRounding * momentum.squaredNorm()) break;
    Eigen::Matrix3d slope = I;
    for (int j = 0; j < 3; ++j) slope.col(j) += 0.5 * h * (Vector3d::Unit(j).cross(Im) + m.cross(Vector3d(I.col(j))));
    m -= slope.inverse() * residual;
  }
  return m - omega;
}

/// Of a floating tree with its joints locked, about its centre of mass, in the axes of its root.
Eigen::Matrix3d locked_inertia(const BlockDiagonal& M, const Joint& root) {
  const int first = root.v - M.offset(root.block);
  const Eigen::Matrix<double, 6, 6> all = M.block(root.block).block<6, 6>(first, first);
  return all.bottomRightCorner<3, 3>() - all.bottomLeftCorner<3, 3>() * all.topRightCorner<3, 3>() / all(0, 0);
}

/// I (ω' - ω) + h ω × Iω.
Vector3d implicit_part(const Eigen::Matrix3d& I, const Vector3d& omega, double h) {
  return 2.0 * (I * to_midpoint(I, omega, h)) + h * omega.cross(Vector3d(I * omega));
}

}  // namespace

Vector3d steady_point(const World& world, const BlockDiagonal& M, const Joint& base) {
  if (base.robot < 0) return world.bodies()[base.body].com;
  const int first = base.v - M.offset(base.block);
  return center_of(M.block(base.block).block<6, 6>(first, first));
}

Vector3d gyroscopic_impulse(const BlockDiagonal& M, const Joint& base, const Vector3d& omega, double h) {
  return implicit_part(locked_inertia(M, base), omega, h);
}

Vector3d gyroscopic_impulse(const BlockDiagonal& M, const Joint& ball, const Vector3d& omega, const Vector3d& force, double h) {
  const int first = ball.v - M.offset(ball.block);
  const Eigen::Matrix3d I = M.block(ball.block).block<3, 3>(first, first);
  const Vector3d torque = force + omega.cross(Vector3d(I * omega));
  return 2.0 * (I * to_midpoint(I, omega, h, torque)) - h * force;
}

void add_convective(const World& world, const Eigen::Ref<const VectorXd>& tau, const Eigen::Ref<const VectorXd>& bias, ContactProblem& p) {
  for (const Joint& joint : world.joints()) {
    if (joint.kind == JointKind::spherical && joins_one_body(world, joint)) {
      p.impulse.segment<3>(joint.v) +=
          gyroscopic_impulse(p.M, joint, p.v.segment<3>(joint.v), tau.segment<3>(joint.v) - bias.segment<3>(joint.v), p.dt);
    }
    if (joint.kind != JointKind::free) continue;
    const Vector3d omega = p.v.segment<3>(joint.v + 3), v = p.v.segment<3>(joint.v) + omega.cross(steady_point(world, p.M, joint)),
                   c = p.dt * omega.cross(v);
    const int first = p.M.offset(joint.block);
    p.impulse.segment(first, p.M.block_size(joint.block)).noalias() += p.M.block(joint.block).middleCols<3>(joint.v - first).lazyProduct(c);
    p.impulse.segment<3>(joint.v + 3) +=
        joint.robot < 0 ? implicit_part(world.bodies()[joint.body].inertia, omega, p.dt) : gyroscopic_impulse(p.M, joint, omega, p.dt);
  }
}

void move(const World& world, const BlockDiagonal* M, double h, Eigen::Ref<VectorXd> v_path, Eigen::Ref<VectorXd> q,
          Eigen::Ref<VectorXd> v) {
  const auto point = [&](const Joint& joint) -> Vector3d {
    return M == nullptr ? Vector3d(0.0, 0.0, 0.0) : steady_point(world, *M, joint);
  };
  for (const Joint& joint : world.joints()) {
    if (joint.kind != JointKind::free) continue;
    const Eigen::Quaterniond R = rotation(joint, q);
    const Vector3d c = point(joint);
    q.segment<3>(joint.q) += h * (R * Vector3d(v_path.segment<3>(joint.v)));
    v_path.segment<3>(joint.v).setZero();  // `integrate` would bend the path by the spin
    v.segment<3>(joint.v) = R * (v.segment<3>(joint.v) + Vector3d(v.segment<3>(joint.v + 3)).cross(c));
  }
  integrate(world, q, v_path, h, q);
  for (const Joint& joint : world.joints()) {
    if (joint.kind != JointKind::free) continue;
    const Vector3d v_c = v.segment<3>(joint.v), omega = v.segment<3>(joint.v + 3);
    v.segment<3>(joint.v) = rotation(joint, q).inverse() * v_c - omega.cross(point(joint));
  }
}

}  // namespace stiction
