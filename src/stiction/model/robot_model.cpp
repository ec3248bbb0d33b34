#include "stiction/model/robot_model.hpp"

#include <cmath>

#include <fmt/format.h>
#include <pinocchio/algorithm/crba.hpp>

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

/// Index of the first coordinate whose Cholesky pivot vanishes (below 1e-10 of its diagonal entry), -1 when M is positive definite.
int vanishing_pivot(Eigen::MatrixXd M) {
  for (Eigen::Index j = 0; j < M.rows(); ++j) {
    const double diagonal = M(j, j);
    const double pivot = diagonal - M.row(j).head(j).squaredNorm();
    if (!(pivot > 1e-10 * diagonal)) return static_cast<int>(j);
    M(j, j) = std::sqrt(pivot);
    const Eigen::Index below = M.rows() - j - 1;
    M.col(j).tail(below) -= M.bottomLeftCorner(below, j) * M.row(j).head(j).transpose();
    M.col(j).tail(below) /= M(j, j);
  }
  return -1;
}

void require_positive_definite(const pinocchio::Model& model, const RobotParts& parts) {
  pinocchio::Data data(model);
  Eigen::VectorXd q = parts.q0;
  for (std::size_t k = 0; k < parts.joints.size(); ++k) {  // away from the start, where axes may line up by chance
    const Joint& joint = parts.joints[k];
    if (joint.nv == 1) q[joint.q] += 0.3 + 0.1 * std::sin(1.0 + static_cast<double>(k));
  }
  const Eigen::Ref<const Eigen::VectorXd> q_ref(q);
  pinocchio::crba(model, data, q_ref, pinocchio::Convention::WORLD);
  data.M.triangularView<Eigen::StrictlyLower>() = data.M.transpose();
  const int bad = vanishing_pivot(data.M);
  if (bad < 0) return;
  std::size_t k = 0;
  while (parts.joints[k].v + parts.joints[k].nv <= bad) ++k;
  throw FileError(parts.robot.file, parts.plans[k].place,
                  fmt::format("the inertia seen by joint '{}' is not positive: the robot's mass matrix is singular", parts.joints[k].name));
}

}  // namespace

std::shared_ptr<const RobotModel> build_robot_model(const RobotParts& parts) {
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
  require_positive_definite(model, parts);
  return robot;
}

std::shared_ptr<const RobotModel> with_gravity(const RobotModel& model, const Eigen::Vector3d& gravity) {
  auto copy = std::make_shared<RobotModel>(model);
  copy->model.gravity.linear(gravity);
  return copy;
}

}  // namespace stiction
