#include "stiction/forward/position_shift.hpp"

#include <algorithm>
#include <utility>

#include "stiction/forward/block_cholesky.hpp"
#include "stiction/forward/free_motion.hpp"
#include "stiction/forward/runge_kutta.hpp"

namespace stiction {

PositionShift::PositionShift(const World& world) : u_(world.bodies().size(), Vector6d::Zero()), to_(world) {
  for (KinematicTree& tree : kinematic_trees(world)) {
    if (!tree.is_free || tree.joints.size() > 1) jointed_.push_back(std::move(tree));
  }
  moves_.resize(jointed_.size());
  momentum_.setZero(world.nv());
  factors_.reset(world.block_sizes());
}

bool PositionShift::turns_joints(const Eigen::Ref<const Eigen::VectorXd>& delta) const {
  return std::ranges::any_of(jointed_, [&](const KinematicTree& tree) { return !delta.segment(tree.first, tree.size).isZero(0.0); });
}

void PositionShift::apply(const World& world, double h, const WorldData& from, const Eigen::Ref<const Eigen::VectorXd>& axes,
                          Eigen::Ref<Eigen::VectorXd> delta, PhasePoint& x) {
  turn_to_world(world, axes, delta);
  turn_to_body(world, x.q, delta);
  momentum_.setZero();
  for (std::size_t k = 0; k < jointed_.size(); ++k) {
    const KinematicTree& tree = jointed_[k];
    moves_[k] = delta.segment(tree.first, tree.size).isZero(0.0) ? 0 : 1;
    if (moves_[k] == 0) continue;
    for (const int b : tree.bodies) {
      const Vector6d V = body_velocity(world, from, b, x.v);
      u_[b] << center_velocity(world.bodies()[b], from.X_WB[b], V), from.X_WB[b].linear().transpose() * V.tail<3>();
    }
    for (const int j : tree.joints) {
      const Joint& joint = world.joints()[j];
      momentum_.segment(joint.v, joint.nv) = joint.armature * x.v.segment(joint.v, joint.nv);
    }
  }
  move(world, &from.M, h, delta, x.q, x.v);
  if (std::ranges::find(moves_, 1) == moves_.end()) return;
  update(world, x.q, x.v, to_);
  for (std::size_t k = 0; k < jointed_.size(); ++k) {
    if (moves_[k] == 0) continue;
    for (const int b : jointed_[k].bodies) {
      const Body& body = world.bodies()[b];
      const Eigen::Isometry3d& X = to_.X_WB[b];
      add_wrench(world, to_, b, X * body.com, body.mass * u_[b].head<3>(), X.linear() * (body.inertia * u_[b].tail<3>()), momentum_);
    }
  }
  factors_ = to_.M;
  factor_in_place(factors_);
  whiten(factors_, momentum_);
  unwhiten(factors_, momentum_);
  for (std::size_t k = 0; k < jointed_.size(); ++k) {
    if (moves_[k] != 0) x.v.segment(jointed_[k].first, jointed_[k].size) = momentum_.segment(jointed_[k].first, jointed_[k].size);
  }
}

}  // namespace stiction
