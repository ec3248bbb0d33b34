#include "stiction/forward/position_shift.hpp"

#include <algorithm>
#include <utility>

#include "stiction/forward/free_motion.hpp"
#include "stiction/forward/runge_kutta.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;

constexpr double kAtLimit = 1e-9;  // of the step's impulses, the usual tolerance of its solve: nearer to a bound is at it

/// What the shift turns a floating tree by as one (rad/s, axes of its root): the angular velocity that it would have, locked, with the same
/// angular momentum about its centre of mass. M: of the tree.
template <class Matrix, class Vector>
Vector3d turn_as_one(const Matrix& M, const Vector& delta) {
  const Vector6d momentum = M.template topRows<6>().lazyProduct(delta);
  const Eigen::Matrix<double, 6, 6> all = M.template topLeftCorner<6, 6>();
  const Eigen::Matrix3d locked = all.bottomRightCorner<3, 3>() - all.bottomLeftCorner<3, 3>() * all.topRightCorner<3, 3>() / all(0, 0);
  return locked.ldlt().solve(momentum.tail<3>() - center_of(all).cross(Vector3d(momentum.head<3>())));
}

}  // namespace

bool is_held(const ProblemView& p, const Solution& s, int row) {
  if (is_bilateral(p, row)) return true;
  const double slack = std::max(kAtLimit, s.certificate.worst()) * s.certificate.impulse_scale, impulse = s.bounded_impulses[row];
  return row_kind(p, row) == RowKind::motor && impulse > p.lo[row] + slack && impulse < p.hi[row] - slack;
}

PositionShift::PositionShift(const World& world) : u_(world.bodies().size(), Vector6d::Zero()), to_(world) {
  for (KinematicTree& tree : kinematic_trees(world)) {
    if (!tree.is_free || tree.joints.size() > 1) jointed_.push_back(std::move(tree));
  }
  moves_.resize(jointed_.size());
  held_.dt = 1.0;  // impulses are all that is asked for
  held_.v.setZero(world.nv());
  held_.impulse.setZero(world.nv());
  held_.M.reset(world.block_sizes());
  held_.J.reset(3, held_.M.sizes());
  held_.J_b.reset(1, held_.M.sizes());
}

bool PositionShift::turns_joints(const Eigen::Ref<const Eigen::VectorXd>& delta) const {
  return std::ranges::any_of(jointed_, [&](const KinematicTree& tree) { return !delta.segment(tree.first, tree.size).isZero(0.0); });
}

// u of the bodies of a tree.
void PositionShift::carry_along(const World& world, double h, const WorldData& from, const Eigen::Ref<const Eigen::VectorXd>& delta,
                                const KinematicTree& tree, const Eigen::VectorXd& v) {
  Vector3d mean = Vector3d::Zero();
  double mass = 0.0;
  for (const int b : tree.bodies) {
    const Body& body = world.bodies()[b];
    const Vector6d V = body_velocity(world, from, b, v);
    u_[b] << center_velocity(body, from.X_WB[b], V), from.X_WB[b].linear().transpose() * V.tail<3>();
    mean += body.mass * u_[b].head<3>();
    mass += body.mass;
  }
  if (!tree.is_free) return;
  mean /= mass;
  const Vector3d turn =
      h * (from.X_WB[tree.bodies.front()].linear() * turn_as_one(inertia_of(from, tree), delta.segment(tree.first, tree.size)));
  const double angle = turn.norm();
  if (!(angle > 0.0)) return;
  const Eigen::Matrix3d R = Eigen::AngleAxisd(angle, turn / angle).toRotationMatrix();
  for (const int b : tree.bodies) u_[b].head<3>() = mean + R * (u_[b].head<3>() - mean);
}

// The rows of the step that hold, at the rates that they have.
void PositionShift::list_rows(const SolvedStep& step, const Eigen::VectorXd& v) {
  held_.J_b.reset(1, held_.M.sizes());
  row_of_step_.clear();
  const int most = step.problem == nullptr ? 0 : step.problem->bounded_rows();
  for (int row = 0; row < most; ++row) {
    if (!is_held(*step.problem, *step.solution, row) || compliance(*step.problem, row) > 0.0) continue;
    held_.J_b.append_group(step.problem->J_b, row);
    row_of_step_.push_back(row);
  }
  const Eigen::Index m = std::ssize(row_of_step_);
  held_.b.setZero(m);
  for (int j = 0; j < m; ++j) held_.J_b.add_group_product(j, v, held_.b.segment<1>(j));
  held_.lo.resize(m);
  held_.lo.setConstant(-kInfinity);
  held_.hi.resize(m);
  held_.hi.setConstant(kInfinity);
}

// Drives that would give more than their limits give what is left of them. False: there are none.
bool PositionShift::release(const SolvedStep& step) {
  const auto bounded = [&](int row) { return !is_bilateral(*step.problem, row); };
  if (std::ranges::none_of(row_of_step_, bounded)) return false;
  beta_.setZero(std::ssize(row_of_step_));
  none_.resize(0);
  recover_bilateral(held_, reduction_, reduction_.v_free, none_, beta_, none_);
  bool any = false;
  for (int j = 0; j < std::ssize(row_of_step_); ++j) {
    const int row = row_of_step_[j];
    if (!bounded(row) || held_.hi[j] == 0.0) continue;
    const double given = step.solution->bounded_impulses[row],
                 most = std::clamp(given + beta_[j], step.problem->lo[row], step.problem->hi[row]);
    if (most == given + beta_[j]) continue;
    const Eigen::Matrix<double, 1, 1> left(most - given);
    held_.J_b.add_group_transposed(j, left, held_.impulse);
    held_.lo[j] = held_.hi[j] = 0.0;
    any = true;
  }
  return any;
}

double PositionShift::apply(const World& world, double h, const WorldData& from, const Eigen::Ref<const Eigen::VectorXd>& axes,
                            Eigen::Ref<Eigen::VectorXd> delta, PhasePoint& x, const SolvedStep& step) {
  turn_to_world(world, axes, delta);
  turn_to_body(world, x.q, delta);
  for (std::size_t k = 0; k < jointed_.size(); ++k) {
    const KinematicTree& tree = jointed_[k];
    moves_[k] = delta.segment(tree.first, tree.size).isZero(0.0) ? 0 : 1;
    if (moves_[k] != 0) carry_along(world, h, from, delta, tree, x.v);
  }
  const bool any = std::ranges::find(moves_, 1) != moves_.end();
  if (any) list_rows(step, x.v);
  move(world, &from.M, h, delta, x.q, x.v);
  if (!any) return 0.0;
  update(world, x.q, x.v, to_);
  held_.M = to_.M;
  held_.M.multiply(x.v, held_.impulse);
  for (std::size_t k = 0; k < jointed_.size(); ++k) {
    if (moves_[k] == 0) continue;
    held_.impulse.segment(jointed_[k].first, jointed_[k].size).setZero();
    for (const int b : jointed_[k].bodies) {
      const Body& body = world.bodies()[b];
      const Eigen::Isometry3d& X = to_.X_WB[b];
      add_wrench(world, to_, b, X * body.com, body.mass * u_[b].head<3>(), X.linear() * (body.inertia * u_[b].tail<3>()), held_.impulse);
    }
    for (const int j : jointed_[k].joints) {
      const Joint& joint = world.joints()[j];
      held_.impulse.segment(joint.v, joint.nv) += joint.armature * x.v.segment(joint.v, joint.nv);
    }
  }
  do {
    reduce(held_, reduction_, {.velocity_before = false});
  } while (release(step));
  // What loops join with what the shift moves is moved by it.
  const auto is_loop = [&](int row) { return row_kind(*step.problem, row) == RowKind::equality; };
  const bool all = std::ranges::any_of(row_of_step_, is_loop);
  double most = 0.0;
  for (std::size_t k = 0; k < jointed_.size(); ++k) {
    const KinematicTree& tree = jointed_[k];
    if (moves_[k] == 0 && !all) continue;
    const auto after = reduction_.v_free.segment(tree.first, tree.size);
    auto v = x.v.segment(tree.first, tree.size);
    const int joints = tree.size - (tree.is_free ? 6 : 0);
    most = std::max(most, (after - v).tail(joints).lpNorm<Eigen::Infinity>());
    v = after;
  }
  if (all) x.v = reduction_.v_free;
  return most;
}

}  // namespace stiction
