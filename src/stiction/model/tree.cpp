#include "stiction/model/tree.hpp"

#include <cmath>

namespace stiction {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using ConstVector = Eigen::Ref<const Eigen::VectorXd>;
using Part = TreeScratch::Part;

/// R turned by `angle` about its own axis number `axis`.
void turn(int axis, double angle, Matrix3d& R) {
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  const double c = std::cos(angle), s = std::sin(angle);
  const Vector3d first = c * R.col(i) + s * R.col(j);
  R.col(j) = c * R.col(j) - s * R.col(i);
  R.col(i) = first;
}

void set_rotation(const Vector3d& p, const Vector3d& axis, Eigen::Ref<Vector6d> S) {
  S.head<3>() = p.cross(axis);
  S.tail<3>() = axis;
}

Eigen::Quaterniond unit_quaternion(const ConstVector& q, int first) {
  return Eigen::Quaterniond(Eigen::Vector4d(q.segment<4>(first))).normalized();
}

// The joint's own motion: (R, p) from the frame it is placed at to the body's, and S.
void move_joint(const RobotTree::Node& node, const ConstVector& q, Matrix3d& R, Vector3d& p, Matrix6Xd& S) {
  switch (node.plan.kind) {
    case JointKind::revolute: {
      const Vector3d axis = node.aligned >= 0 ? Vector3d(R.col(node.aligned)) : Vector3d(R * node.plan.axis);
      set_rotation(p, axis, S.col(node.v));
      if (node.aligned >= 0) {
        turn(node.aligned, q[node.q], R);
      } else {
        R = R * Eigen::AngleAxisd(q[node.q], node.plan.axis).toRotationMatrix();
      }
      return;
    }
    case JointKind::prismatic: {
      const Vector3d axis = R * node.plan.axis;
      p += q[node.q] * axis;
      S.col(node.v) << axis, Vector3d::Zero();
      return;
    }
    case JointKind::free:
      p += R * q.segment<3>(node.q);
      R = R * unit_quaternion(q, node.q + 3).toRotationMatrix();
      for (int i = 0; i < 3; ++i) S.col(node.v + i) << R.col(i), Vector3d::Zero();
      for (int i = 0; i < 3; ++i) set_rotation(p, R.col(i), S.col(node.v + 3 + i));
      return;
    case JointKind::spherical:
      R = R * unit_quaternion(q, node.q).toRotationMatrix();
      for (int i = 0; i < 3; ++i) set_rotation(p, R.col(i), S.col(node.v + i));
      return;
  }
}

/// V × U.
Vector6d motion_cross(const Vector6d& V, const Vector6d& U) {
  Vector6d out;
  out.head<3>() = V.tail<3>().cross(U.head<3>()) + V.head<3>().cross(U.tail<3>());
  out.tail<3>() = V.tail<3>().cross(U.tail<3>());
  return out;
}

/// V ×* f.
Vector6d force_cross(const Vector6d& V, const Vector6d& f) {
  Vector6d out;
  out.head<3>() = V.tail<3>().cross(f.head<3>());
  out.tail<3>() = V.tail<3>().cross(f.tail<3>()) + V.head<3>().cross(f.head<3>());
  return out;
}

/// I U of the body or composite body.
Vector6d times(const Part& part, const Vector6d& U) {
  Vector6d out;
  out.head<3>() = part.mass * U.head<3>() + U.tail<3>().cross(part.first);
  out.tail<3>() = part.second * U.tail<3>() + part.first.cross(U.head<3>());
  return out;
}

void set_inertia(const Inertial& body, const Matrix3d& R, Part& part) {
  const Vector3d c = part.p + R * body.com;
  part.mass = body.mass;
  part.first = body.mass * c;
  const Matrix3d turned = R * body.inertia;
  part.second.noalias() = turned * R.transpose();
  part.second.noalias() -= part.first * c.transpose();
  part.second.diagonal().array() += part.first.dot(c);
}

void move_part(const RobotTree& tree, std::size_t k, const ConstVector& v, const Vector6d& base, TreeScratch& scratch) {
  const RobotTree::Node& node = tree.nodes[k];
  Part& part = scratch.parts[k];
  Vector6d own = scratch.S.col(node.v) * v[node.v];
  for (int i = 1; i < node.nv; ++i) own += scratch.S.col(node.v + i) * v[node.v + i];
  if (node.plan.parent < 0) {
    part.V = own;
    part.A = base + motion_cross(part.V, own);
  } else {
    const Part& parent = scratch.parts[static_cast<std::size_t>(node.plan.parent)];
    part.V = parent.V + own;
    part.A = parent.A + motion_cross(part.V, own);
  }
}

// Column of M and entry of h of coordinate `column`, then those of its ancestors in the column.
void add_column(const RobotTree& tree, std::size_t k, int column, const TreeScratch& scratch, Eigen::Ref<Eigen::MatrixXd> M) {
  const Vector6d F = times(scratch.parts[k], scratch.S.col(column));
  for (int j = static_cast<int>(k); j >= 0; j = tree.nodes[static_cast<std::size_t>(j)].plan.parent) {
    const RobotTree::Node& node = tree.nodes[static_cast<std::size_t>(j)];
    for (int row = node.v; row < node.v + node.nv; ++row) {
      if (row > column) break;
      M(row, column) = M(column, row) = scratch.S.col(row).dot(F);
    }
  }
}

}  // namespace

TreeScratch::TreeScratch(const RobotTree& tree) : parts(tree.nodes.size()) {
  const RobotTree::Node& last = tree.nodes.back();
  S.setZero(6, last.v + last.nv);
}

void place(const RobotTree& tree, const ConstVector& q, TreeScratch& scratch, Eigen::Isometry3d* X_WB, Matrix6Xd& J_W) {
  Vector3d reference = Vector3d::Zero();  // of the first body's origin, once it is known
  for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
    const RobotTree::Node& node = tree.nodes[k];
    Matrix3d R = node.plan.placement.linear();
    Vector3d p = node.plan.placement.translation();
    if (node.plan.parent >= 0) {
      const auto parent = static_cast<std::size_t>(node.plan.parent);
      const Matrix3d R_parent = X_WB[parent].linear();
      R = R_parent * R;
      p = scratch.parts[parent].p + R_parent * p;
    } else {
      if (k == 0) {
        reference = p;
        if (node.plan.kind == JointKind::free) reference += R * q.segment<3>(node.q);
      }
      p -= reference;
    }
    move_joint(node, q, R, p, scratch.S);
    scratch.parts[k].p = p;
    X_WB[k].linear() = R;
    X_WB[k].translation() = reference + p;
  }
  J_W = scratch.S;
  for (Eigen::Index c = 0; c < J_W.cols(); ++c) J_W.col(c).head<3>() += reference.cross(Vector3d(J_W.col(c).tail<3>()));
}

void add_dynamics(const RobotTree& tree, const ConstVector& v, const Vector3d& gravity, TreeScratch& scratch, const Eigen::Isometry3d* X_WB,
                  Vector6d* V_WB, Eigen::Ref<Eigen::MatrixXd> M, Eigen::Ref<Eigen::VectorXd> h) {
  Vector6d base = Vector6d::Zero();
  base.head<3>() = -gravity;
  for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
    Part& part = scratch.parts[k];
    move_part(tree, k, v, base, scratch);
    set_inertia(tree.nodes[k].plan.inertial, X_WB[k].linear(), part);
    part.f = times(part, part.A) + force_cross(part.V, times(part, part.V));
    V_WB[k].head<3>() = part.V.head<3>() + part.V.tail<3>().cross(part.p);
    V_WB[k].tail<3>() = part.V.tail<3>();
  }
  for (std::size_t k = tree.nodes.size(); k-- > 0;) {
    const RobotTree::Node& node = tree.nodes[k];
    const Part& part = scratch.parts[k];
    for (int column = node.v; column < node.v + node.nv; ++column) {
      h[column] = scratch.S.col(column).dot(part.f);
      add_column(tree, k, column, scratch, M);
      M(column, column) += node.plan.armature;
    }
    if (node.plan.parent < 0) continue;
    Part& parent = scratch.parts[static_cast<std::size_t>(node.plan.parent)];
    parent.f += part.f;
    parent.mass += part.mass;
    parent.first += part.first;
    parent.second += part.second;
  }
}

}  // namespace stiction
