#include "stiction/model/robot_model.hpp"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/world_impl.hpp"

namespace stiction {

namespace {

pinocchio::SE3 se3(const Eigen::Isometry3d& X) { return {X.linear(), X.translation()}; }

template <class X, class Y, class Z, class Unaligned>
pinocchio::JointModel along(const Eigen::Vector3d& axis) {
  if (axis == Eigen::Vector3d::UnitX()) return X();
  if (axis == Eigen::Vector3d::UnitY()) return Y();
  if (axis == Eigen::Vector3d::UnitZ()) return Z();
  return Unaligned(axis);
}

pinocchio::JointModel joint_model(const JointPlan& plan) {
  using namespace pinocchio;
  switch (plan.kind) {
    case JointKind::revolute:
      return along<JointModelRX, JointModelRY, JointModelRZ, JointModelRevoluteUnaligned>(plan.axis);
    case JointKind::prismatic:
      return along<JointModelPX, JointModelPY, JointModelPZ, JointModelPrismaticUnaligned>(plan.axis);
    case JointKind::spherical:
      return JointModelSpherical();
    case JointKind::free:
      return JointModelFreeFlyer();
  }
  return JointModelFreeFlyer();
}

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
pinocchio::SE3 somewhere(const RobotParts& parts, std::size_t k) {
  const JointPlan& plan = parts.plans[k];
  const Joint& joint = parts.joints[k];
  Eigen::Isometry3d X = plan.placement;
  if (joint.nv == 1) {
    const double q = parts.q0[joint.q] + 0.3 + 0.1 * std::sin(1.0 + static_cast<double>(k));
    plan.kind == JointKind::revolute ? X.rotate(Eigen::AngleAxisd(q, plan.axis)) : X.translate(q * plan.axis);
    return se3(X);
  }
  if (plan.kind == JointKind::free) X.translate(Eigen::Vector3d(parts.q0.segment<3>(joint.q)));
  X.rotate(Eigen::Quaterniond(Eigen::Vector4d(parts.q0.segment<4>(joint.q + joint.nq - 4))));
  return se3(X);
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
    inertia.push_back(pinocchio::Inertia(plan.inertial.mass, plan.inertial.com, plan.inertial.inertia).matrix());
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
          fmt::format("the inertia seen by joint '{}' is not positive: the robot's mass matrix is singular", parts.joints[k].name));
    }
    if (plan.parent < 0) continue;
    const Matrix6d F = somewhere(parts, k).toDualActionMatrix();
    const auto parent = static_cast<std::size_t>(plan.parent);
    held[parent] += F * inertia[k] * F.transpose();
    inertia[parent] += F * (inertia[k] - U * D.llt().solve(U.transpose())) * F.transpose();
  }
}

}  // namespace

std::shared_ptr<const RobotModel> build_robot_model(const RobotParts& parts) {
  require_positive_definite(parts);
  auto robot = std::make_shared<RobotModel>();
  pinocchio::Model& model = robot->model;
  model.name = parts.robot.name;
  for (std::size_t k = 0; k < parts.plans.size(); ++k) {
    const JointPlan& plan = parts.plans[k];
    const auto parent = static_cast<pinocchio::JointIndex>(plan.parent + 1);
    const pinocchio::JointIndex id = model.addJoint(parent, joint_model(plan), se3(plan.placement), parts.joints[k].name);
    model.appendBodyToJoint(id, pinocchio::Inertia(plan.inertial.mass, plan.inertial.com, plan.inertial.inertia),
                            pinocchio::SE3::Identity());
    model.armature.segment(parts.joints[k].v, parts.joints[k].nv).setConstant(plan.armature);
  }
  return robot;
}

std::shared_ptr<const RobotModel> with_gravity(const RobotModel& model, const Eigen::Vector3d& gravity) {
  auto copy = std::make_shared<RobotModel>(model);
  copy->model.gravity.linear(gravity);
  return copy;
}

std::unique_ptr<pinocchio::Data> make_scratch(const pinocchio::Model& model) {
  using pinocchio::Data;
  auto data = std::make_unique<Data>();
  const auto n = static_cast<std::size_t>(model.njoints);
  for (const pinocchio::JointModel& joint : model.joints) data->joints.push_back(joint.createData());
  data->liMi.assign(n, pinocchio::SE3::Identity());
  data->oMi.assign(n, pinocchio::SE3::Identity());
  data->v.assign(n, pinocchio::Motion::Zero());
  data->a_gf.assign(n, pinocchio::Motion::Zero());
  data->f.assign(n, pinocchio::Force::Zero());
  data->oYcrb.assign(n, pinocchio::Inertia::Zero());
  data->nle.setZero(model.nv);
  data->M.setZero(model.nv, model.nv);
  data->J.setZero(6, model.nv);
  data->Ag.setZero(6, model.nv);
  data->mass.assign(1, 0.0);
  data->com.assign(1, Eigen::Vector3d::Zero());
  data->nvSubtree.assign(n, 0);
  for (std::size_t i = n; i-- > 1;) {
    data->nvSubtree[i] += model.nvs[i];
    data->nvSubtree[model.parents[i]] += data->nvSubtree[i];
  }
  return data;
}

}  // namespace stiction
