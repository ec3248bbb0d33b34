#include "stiction/model/cut_joints.hpp"

#include <cmath>
#include <numbers>

#include "stiction/base/errors.hpp"
#include "stiction/model/equality_error.hpp"
#include "stiction/model/world_impl.hpp"

namespace stiction {

namespace {

using ConstVector = Eigen::Ref<const Eigen::VectorXd>;

const Equality& rows_of(const World& world, const CutJoint& cut) { return world.equalities()[cut.equality]; }

/// The joint's frames, fixed to child and parent, in the world.
struct Frames {
  Eigen::Isometry3d child, parent;
  Eigen::Vector3d axis;
};

Frames frames_of(const World& world, const WorldData& data, const CutJoint& cut) {
  const Equality& rows = rows_of(world, cut);
  Frames f{data.X_WB[cut.joint.body] * rows.X_AF, data.X_WB[cut.parent] * rows.X_BF, {}};
  f.axis = f.parent.linear() * rows.axis;
  return f;
}

/// A force or torque of 1 along the axis.
Vector6d unit_wrench(const CutJoint& cut, const Frames& f) {
  Vector6d wrench = Vector6d::Zero();
  (cut.joint.kind == JointKind::prismatic ? wrench.head<3>() : wrench.tail<3>()) = f.axis;
  return wrench;
}

Vector6d relative_motion(const WorldData& data, std::span<const Vector6d> V_WB, const CutJoint& cut, const Frames& f) {
  const Vector6d &a = V_WB[cut.joint.body], &b = V_WB[cut.parent];
  const auto at = [&](const Vector6d& V, int body) {
    return Eigen::Vector3d(V.head<3>() + V.tail<3>().cross(f.child.translation() - data.X_WB[body].translation()));
  };
  Vector6d motion;
  motion << at(a, cut.joint.body) - at(b, cut.parent), a.tail<3>() - b.tail<3>();
  return motion;
}

bool is_cut(const World& uncut, const Joint& joint, int its_uncut) { return joint.kind != uncut.joints()[its_uncut].kind; }

}  // namespace

double cut_position(const World& world, const WorldData& data, const CutJoint& cut) {
  const Frames f = frames_of(world, data, cut);
  if (cut.joint.kind == JointKind::prismatic) return f.axis.dot(f.child.translation() - f.parent.translation());
  const Eigen::Quaterniond turn(f.parent.linear().transpose() * f.child.linear());
  const double angle = 2.0 * std::atan2(rows_of(world, cut).axis.dot(turn.vec()), turn.w());
  const double middle = 0.5 * (cut.joint.lower + cut.joint.upper);
  const double off = std::remainder(angle - (std::isfinite(middle) ? middle : 0.0), 2.0 * std::numbers::pi);
  return off + (std::isfinite(middle) ? middle : 0.0);
}

double cut_rate(const World& world, const WorldData& data, std::span<const Vector6d> V_WB, const CutJoint& cut) {
  const Frames f = frames_of(world, data, cut);
  return unit_wrench(cut, f).dot(relative_motion(data, V_WB, cut, f));
}

void add_cut_row(const World& world, const WorldData& data, const CutJoint& cut, bool child, double sign,
                 Eigen::Ref<Eigen::RowVectorXd> row) {
  const Frames f = frames_of(world, data, cut);
  add_wrench_row(world, data, child ? cut.joint.body : cut.parent, f.child.translation(), sign * unit_wrench(cut, f), row);
}

void to_uncut(const World& world, const WorldData& data, const ConstVector& q, const ConstVector& v, Eigen::Ref<Eigen::VectorXd> q_uncut,
              Eigen::Ref<Eigen::VectorXd> v_uncut) {
  const World uncut = world.uncut();
  require_size("q_uncut", q_uncut.size(), uncut.nq());
  require_size("v_uncut", v_uncut.size(), uncut.nv());
  const bool same = world.cuts().empty();
  for (std::size_t j = 0; j < world.joints().size(); ++j) {
    const Joint& joint = world.joints()[j];
    const int its_uncut = same ? static_cast<int>(j) : world.impl().uncut_joint[j];
    if (is_cut(uncut, joint, its_uncut)) continue;
    const Joint& to = uncut.joints()[its_uncut];
    q_uncut.segment(to.q, to.nq) = q.segment(joint.q, joint.nq);
    v_uncut.segment(to.v, to.nv) = v.segment(joint.v, joint.nv);
  }
  for (const CutJoint& cut : world.cuts()) {
    const Frames f = frames_of(world, data, cut);
    if (cut.joint.kind == JointKind::spherical) {
      const Eigen::Quaterniond turn(f.parent.linear().transpose() * f.child.linear());
      q_uncut.segment<4>(cut.joint.q) = turn.coeffs();
      v_uncut.segment<3>(cut.joint.v) = f.child.linear().transpose() * relative_motion(data, data.V_WB, cut, f).tail<3>();
    } else {
      q_uncut[cut.joint.q] = cut_position(world, data, cut);
      v_uncut[cut.joint.v] = cut_rate(world, data, data.V_WB, cut);
    }
  }
}

void from_uncut(const World& world, const WorldData& data, const ConstVector& q_uncut, const ConstVector& v_uncut,
                Eigen::Ref<Eigen::VectorXd> q, Eigen::Ref<Eigen::VectorXd> v) {
  const World uncut = world.uncut();
  require_size("q", q.size(), world.nq());
  require_size("v", v.size(), world.nv());
  const bool same = world.cuts().empty();
  for (std::size_t j = 0; j < world.joints().size(); ++j) {
    const Joint& joint = world.joints()[j];
    const int its_uncut = same ? static_cast<int>(j) : world.impl().uncut_joint[j];
    const Joint& from = uncut.joints()[its_uncut];
    if (!is_cut(uncut, joint, its_uncut)) {
      q.segment(joint.q, joint.nq) = q_uncut.segment(from.q, from.nq);
      v.segment(joint.v, joint.nv) = v_uncut.segment(from.v, from.nv);
      continue;
    }
    const Eigen::Isometry3d& X = data.X_WB[from.body];
    const Vector6d& V = data.V_WB[from.body];
    q.segment<7>(joint.q) << X.translation(), Eigen::Quaterniond(X.linear()).normalized().coeffs();
    v.segment<6>(joint.v) << X.linear().transpose() * V.head<3>(), X.linear().transpose() * V.tail<3>();
  }
}

void add_uncut_forces(const World& world, const WorldData& data, const ConstVector& tau_uncut, Eigen::Ref<Eigen::VectorXd> tau) {
  const World uncut = world.uncut();
  require_size("tau_uncut", tau_uncut.size(), uncut.nv());
  require_size("tau", tau.size(), world.nv());
  const bool same = world.cuts().empty();
  for (std::size_t j = 0; j < world.joints().size(); ++j) {
    const Joint& joint = world.joints()[j];
    const int its_uncut = same ? static_cast<int>(j) : world.impl().uncut_joint[j];
    const Joint& from = uncut.joints()[its_uncut];
    if (!is_cut(uncut, joint, its_uncut)) tau.segment(joint.v, joint.nv) += tau_uncut.segment(from.v, from.nv);
  }
  for (const CutJoint& cut : world.cuts()) {
    const Frames f = frames_of(world, data, cut);
    Vector6d wrench = Vector6d::Zero();
    if (cut.joint.kind == JointKind::spherical) {
      wrench.tail<3>() = f.child.linear() * tau_uncut.segment<3>(cut.joint.v);
    } else {
      wrench = tau_uncut[cut.joint.v] * unit_wrench(cut, f);
    }
    const Eigen::Vector3d p = f.child.translation();
    add_wrench(world, data, cut.joint.body, p, wrench.head<3>(), wrench.tail<3>(), tau);
    add_wrench(world, data, cut.parent, p, -wrench.head<3>(), -wrench.tail<3>(), tau);
  }
}

}  // namespace stiction
