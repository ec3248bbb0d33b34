#include "stiction/model/tree.hpp"

#include <cmath>

namespace stiction {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using ConstVector = Eigen::Ref<const Eigen::VectorXd>;
using Part = TreeScratch::Part;

/// A x: inlined, where a function is called for the product of Eigen.
[[gnu::always_inline]] inline Vector3d times(const Matrix3d& A, const Vector3d& x) {
  return x[0] * A.col(0) + x[1] * A.col(1) + x[2] * A.col(2);
}

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
SpatialVector motion_cross(const SpatialVector& V, const SpatialVector& U) {
  return {V.angular.cross(U.linear) + V.linear.cross(U.angular), V.angular.cross(U.angular)};
}

/// V ×* f.
SpatialVector force_cross(const SpatialVector& V, const SpatialVector& f) {
  return {V.angular.cross(f.linear), V.angular.cross(f.angular) + V.linear.cross(f.linear)};
}

/// I U of the body or composite body.
SpatialVector times(const Part& part, const SpatialVector& U) {
  return {part.mass * U.linear + U.angular.cross(part.first), times(part.second, U.angular) + part.first.cross(U.linear)};
}

SpatialVector unit_motion(const TreeScratch& scratch, int column) {
  return {scratch.S.col(column).head<3>(), scratch.S.col(column).tail<3>()};
}

/// c cᵀ and R I Rᵀ are symmetric: half of each is computed.
void set_inertia(const Inertial& body, const Matrix3d& R, Part& part) {
  const Vector3d c = part.p + times(R, body.com);
  part.mass = body.mass;
  part.first = body.mass * c;
  Matrix3d turned;
  for (int j = 0; j < 3; ++j) turned.col(j) = times(R, body.inertia.col(j));
  const auto set = [&](int i, int j, double diagonal) {
    part.second(i, j) = part.second(j, i) = turned.row(i).dot(R.row(j)) - part.first[i] * c[j] + diagonal;
  };
  const double square = part.first.dot(c);
  set(0, 0, square);
  set(1, 1, square);
  set(2, 2, square);
  set(1, 0, 0.0);
  set(2, 0, 0.0);
  set(2, 1, 0.0);
}

void clear_inertia(Part& part) {
  part.mass = 0.0;
  part.first.setZero();
  part.second.setZero();
}

void move_part(const RobotTree& tree, std::size_t k, const ConstVector& v, const Vector3d& gravity, TreeScratch& scratch) {
  const RobotTree::Node& node = tree.nodes[k];
  Part& part = scratch.parts[k];
  SpatialVector own{Vector3d::Zero(), Vector3d::Zero()};
  for (int c = node.v; c < node.v + node.nv; ++c) {
    own.linear += scratch.S.col(c).head<3>() * v[c];
    own.angular += scratch.S.col(c).tail<3>() * v[c];
  }
  if (node.plan.parent < 0) {
    part.V = own;
    part.A = {-gravity, Vector3d::Zero()};
  } else {
    const Part& parent = scratch.parts[node.plan.parent];
    part.V = parent.V;
    part.V += own;
    part.A = parent.A;
  }
  part.A += motion_cross(part.V, own);
}

// Column of M and entry of h of a coordinate of node k, then those of its ancestors in the column.
void add_column(const RobotTree& tree, std::size_t k, int column, const TreeScratch& scratch, Eigen::Ref<Eigen::MatrixXd>& M,
                Eigen::Ref<Eigen::VectorXd>& h) {
  const Part& part = scratch.parts[k];
  const SpatialVector s = unit_motion(scratch, column), F = times(part, s);
  h[column] = s.linear.dot(part.f.linear) + s.angular.dot(part.f.angular);
  for (int j = static_cast<int>(k); j >= 0; j = tree.nodes[j].plan.parent) {
    const RobotTree::Node& node = tree.nodes[j];
    for (int row = node.v; row < node.v + node.nv && row <= column; ++row) {
      M(row, column) = M(column, row) = scratch.S.col(row).head<3>().dot(F.linear) + scratch.S.col(row).tail<3>().dot(F.angular);
    }
  }
  M(column, column) += tree.nodes[k].plan.armature;
}

/// The velocity of a free joint is in axes that turn: its armature's momentum a v has the rate a (dv/dt + ω × v).
void add_turning_armature(const RobotTree::Node& node, const ConstVector& v, Eigen::Ref<Eigen::VectorXd>& h) {
  h.segment<3>(node.v) += node.plan.armature * v.segment<3>(node.v + 3).cross(v.segment<3>(node.v));
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
    Matrix3d R;
    Vector3d p = node.plan.placement.translation();
    if (node.plan.parent >= 0) {
      const auto parent = static_cast<std::size_t>(node.plan.parent);
      R = X_WB[parent].linear();
      p = scratch.parts[parent].p + R * p;
      if (!node.upright) R = R * node.plan.placement.linear();
    } else {
      R = node.plan.placement.linear();
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
  J_W.resize(6, scratch.S.cols());
  for (int c = 0; c < J_W.cols(); ++c) {
    const SpatialVector s = unit_motion(scratch, c);
    J_W.col(c).head<3>() = s.linear + reference.cross(s.angular);
    J_W.col(c).tail<3>() = s.angular;
  }
}

void add_dynamics(const RobotTree& tree, const ConstVector& v, const Vector3d& gravity, TreeScratch& scratch, const Eigen::Isometry3d* X_WB,
                  Vector6d* V_WB, Eigen::Ref<Eigen::MatrixXd> M, Eigen::Ref<Eigen::VectorXd> h) {
  for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
    const RobotTree::Node& node = tree.nodes[k];
    Part& part = scratch.parts[k];
    move_part(tree, k, v, gravity, scratch);
    V_WB[k].head<3>() = part.V.linear + part.V.angular.cross(part.p);
    V_WB[k].tail<3>() = part.V.angular;
    if (node.massless) {
      clear_inertia(part);
      part.f = {Vector3d::Zero(), Vector3d::Zero()};
    } else {
      set_inertia(node.plan.inertial, X_WB[k].linear(), part);
      part.f = force_cross(part.V, times(part, part.V));
      part.f += times(part, part.A);
    }
  }
  for (std::size_t k = tree.nodes.size(); k-- > 0;) {
    const RobotTree::Node& node = tree.nodes[k];
    const Part& part = scratch.parts[k];
    for (int column = node.v; column < node.v + node.nv; ++column) add_column(tree, k, column, scratch, M, h);
    if (node.plan.kind == JointKind::free) add_turning_armature(node, v, h);
    if (node.plan.parent < 0) continue;
    Part& parent = scratch.parts[node.plan.parent];
    parent.f += part.f;
    parent.mass += part.mass;
    parent.first += part.first;
    parent.second += part.second;
  }
}

}  // namespace stiction
