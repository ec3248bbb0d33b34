#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/tree.hpp"

namespace stiction {

namespace {

using Matrix6d = Eigen::Matrix<double, 6, 6>;
using Columns = Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, 6>;
using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;

/// Unit motions of a joint in its own frame, linear above angular.
Columns motions(const JointPlan& plan) {
  switch (plan.kind) {
    case JointKind::revolute:
      return (Columns(6, 1) << Eigen::Vector3d::Zero(), plan.axis).finished();
    case JointKind::prismatic:
      return (Columns(6, 1) << plan.axis, Eigen::Vector3d::Zero()).finished();
    case JointKind::spherical:
      return Matrix6d::Identity().rightCols<3>();
    case JointKind::free:
      return Matrix6d::Identity();
  }
  return Matrix6d::Identity();
}

/// Pose of a joint's frame in its parent's, somewhere in its range: 1-dof joints are moved away from the start, where axes may line up by
/// chance.
Eigen::Isometry3d somewhere(const RobotParts& parts, std::size_t k) {
  const JointPlan& plan = parts.plans[k];
  const Joint& joint = parts.joints[k];
  Eigen::Isometry3d X = plan.placement;
  if (joint.nv == 1) {
    const double q = parts.q0[joint.q] + 0.3 + 0.1 * std::sin(1.0 + static_cast<double>(k));
    plan.kind == JointKind::revolute ? X.rotate(Eigen::AngleAxisd(q, plan.axis)) : X.translate(q * plan.axis);
    return X;
  }
  if (plan.kind == JointKind::free) X.translate(Eigen::Vector3d(parts.q0.segment<3>(joint.q)));
  X.rotate(Eigen::Quaterniond(Eigen::Vector4d(parts.q0.segment<4>(joint.q + joint.nq - 4))));
  return X;
}

/// About the body's origin, linear above angular.
Matrix6d spatial_inertia(const Inertial& body) {
  const Eigen::Matrix3d c = cross_matrix(body.com);
  Matrix6d I;
  I << body.mass * Eigen::Matrix3d::Identity(), -body.mass * c, body.mass * c, body.inertia - body.mass * c * c;
  return I;
}

/// Forces in the frame at X, seen from the frame that X is given in.
Matrix6d force_transform(const Eigen::Isometry3d& X) {
  const Eigen::Matrix3d R = X.linear();
  Matrix6d F;
  F << R, Eigen::Matrix3d::Zero(), cross_matrix(X.translation()) * R, R;
  return F;
}

/// Whether D has a Cholesky pivot that vanishes: below 1e-10 of what is on the diagonal of `whole`.
bool is_singular(Square D, const Square& whole) {
  for (Eigen::Index j = 0; j < D.rows(); ++j) {
    const double pivot = D(j, j) - D.row(j).head(j).squaredNorm();
    if (!(pivot > 1e-10 * whole(j, j))) return true;
    D(j, j) = std::sqrt(pivot);
    const Eigen::Index below = D.rows() - j - 1;
    D.col(j).tail(below) -= D.bottomLeftCorner(below, j) * D.row(j).head(j).transpose();
    D.col(j).tail(below) /= D(j, j);
  }
  return false;
}

// M is positive definite when the inertia that each joint sees is, with all joints beyond it free (Featherstone, Rigid Body Dynamics
// Algorithms, 7.3):
//   D_i = S_iᵀ A_i S_i + armature,   A_i = I_i + Σ X (A_c - A_c S_c D_c⁻¹ S_cᵀ A_c) Xᵀ over its children c
// O(n), and D_i is measured by what joint i sees with its children's joints held, the sum before its subtraction, so that a long chain
// is not called singular for being long.
void require_positive_definite(const RobotParts& parts) {
  std::vector<Matrix6d> inertia, held;
  for (const JointPlan& plan : parts.plans) {
    inertia.push_back(spatial_inertia(plan.inertial));
  }
  held = inertia;
  for (std::size_t k = parts.plans.size(); k-- > 0;) {
    const JointPlan& plan = parts.plans[k];
    const Columns S = motions(plan), U = inertia[k] * S;
    const Square armature = plan.armature * Square::Identity(S.cols(), S.cols());
    const Square D = S.transpose() * U + armature;
    if (is_singular(D, S.transpose() * held[k] * S + armature)) {
      throw FileError(
          parts.robot.file, plan.place,
          fmt::format("the inertia seen by joint '{}' is not positive: the robot's mass matrix is singular{}", parts.joints[k].name,
                      plan.inertial.mass == 0.0 ? "; it moves a link without mass, and nothing that has any" : ""));
    }
    if (plan.parent < 0) continue;
    const Matrix6d F = force_transform(somewhere(parts, k));
    const auto parent = static_cast<std::size_t>(plan.parent);
    held[parent] += F * inertia[k] * F.transpose();
    inertia[parent] += F * (inertia[k] - U * D.llt().solve(U.transpose())) * F.transpose();
  }
}

}  // namespace

std::shared_ptr<const RobotTree> build_tree(const RobotParts& parts) {
  require_positive_definite(parts);
  auto tree = std::make_shared<RobotTree>();
  for (std::size_t k = 0; k < parts.plans.size(); ++k) {
    const Joint& joint = parts.joints[k];
    RobotTree::Node& node = tree->nodes.emplace_back();
    node.plan = parts.plans[k];
    node.q = joint.q;
    node.v = joint.v;
    node.nv = joint.nv;
    for (int axis = 0; axis < 3; ++axis) {
      if (node.plan.axis == Eigen::Vector3d::Unit(axis)) node.aligned = axis;
    }
    const Inertial& body = node.plan.inertial;
    node.upright = node.plan.placement.linear() == Eigen::Matrix3d::Identity();
    node.massless = body.mass == 0.0 && body.inertia.isZero(0.0);
    for (int c = 0; c < node.nv; ++c) {
      const RobotTree::Node* parent = node.plan.parent < 0 ? nullptr : &tree->nodes[node.plan.parent];
      tree->before.push_back(c > 0 ? node.v + c - 1 : parent != nullptr ? parent->v + parent->nv - 1 : -1);
    }
  }
  return tree;
}

}  // namespace stiction
