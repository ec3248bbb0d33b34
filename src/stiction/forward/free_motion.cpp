#include "stiction/forward/free_motion.hpp"

#include "stiction/model/dynamics.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

Eigen::Quaterniond rotation(const Joint& joint, const Eigen::Ref<const VectorXd>& q) {
  return Eigen::Quaterniond(Eigen::Vector4d(q.segment<4>(joint.q + 3)));
}

}  // namespace

void add_convective(const World& world, ContactProblem& p) {
  for (const Joint& joint : world.joints()) {
    if (joint.kind != JointKind::free) continue;
    const Vector3d v = p.v.segment<3>(joint.v), omega = p.v.segment<3>(joint.v + 3), c = p.dt * omega.cross(v);
    const int first = p.M.offset(joint.block);
    p.impulse.segment(first, p.M.block_size(joint.block)).noalias() += p.M.block(joint.block).middleCols<3>(joint.v - first).lazyProduct(c);
  }
}

void move(const World& world, double h, Eigen::Ref<VectorXd> v_path, Eigen::Ref<VectorXd> q, Eigen::Ref<VectorXd> v) {
  for (const Joint& joint : world.joints()) {
    if (joint.kind != JointKind::free) continue;
    const Eigen::Quaterniond R = rotation(joint, q);
    q.segment<3>(joint.q) += h * (R * Vector3d(v_path.segment<3>(joint.v)));
    v_path.segment<3>(joint.v).setZero();  // `integrate` would bend the path by the spin
    v.segment<3>(joint.v) = R * Vector3d(v.segment<3>(joint.v));
  }
  integrate(world, q, v_path, h, q);
  for (const Joint& joint : world.joints()) {
    if (joint.kind == JointKind::free) v.segment<3>(joint.v) = rotation(joint, q).inverse() * Vector3d(v.segment<3>(joint.v));
  }
}

}  // namespace stiction
