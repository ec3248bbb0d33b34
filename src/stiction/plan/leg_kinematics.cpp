#include "stiction/plan/leg_kinematics.hpp"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <Eigen/Geometry>

#include "stiction/base/errors.hpp"

namespace stiction {

void SerialChain::operator()(const LegVector& q, Eigen::Vector3d& position, LegJacobian& jacobian) const {
  const std::size_t m = joints.size();
  require_size("q", q.size(), static_cast<Eigen::Index>(m));
  std::array<Eigen::Vector3d, kMaxLegJoints> origin, axis;  // in the base frame
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
  Eigen::Vector3d p = Eigen::Vector3d::Zero();
  for (std::size_t i = 0; i < m; ++i) {
    const ChainJoint& joint = joints[i];
    const double qi = q[static_cast<Eigen::Index>(i)];
    p += R * joint.translation;
    R = (R * joint.rotation).eval();
    origin[i] = p;
    axis[i] = R * joint.axis;
    if (joint.revolute) {
      R = (R * Eigen::AngleAxisd(qi, joint.axis)).eval();
    } else {
      p += qi * axis[i];
    }
  }
  position = p + R * foot_offset;
  jacobian.resize(3, static_cast<Eigen::Index>(m));
  for (std::size_t i = 0; i < m; ++i) {
    jacobian.col(static_cast<Eigen::Index>(i)) = joints[i].revolute ? Eigen::Vector3d(axis[i].cross(position - origin[i])) : axis[i];
  }
}

void SerialChain::turn(const LegVector& q, Eigen::Matrix3d& rotation, LegJacobian& angular) const {
  const std::size_t m = joints.size();
  require_size("q", q.size(), static_cast<Eigen::Index>(m));
  angular.setZero(3, static_cast<Eigen::Index>(m));
  rotation.setIdentity();
  for (std::size_t i = 0; i < m; ++i) {
    const ChainJoint& joint = joints[i];
    const auto column = static_cast<Eigen::Index>(i);
    rotation = (rotation * joint.rotation).eval();
    if (!joint.revolute) continue;
    angular.col(column) = rotation * joint.axis;
    rotation = (rotation * Eigen::AngleAxisd(q[column], joint.axis)).eval();
  }
}

void rolled_ground(const Leg& leg, const FootRoll& roll, const LegVector& q, Eigen::Vector3d& point, LegJacobian& jacobian) {
  leg.kinematics(q, point, jacobian);
  if (roll.radius == 0.0) return;
  Eigen::Matrix3d R;
  LegJacobian W;
  leg.rotation(q, R, W);
  const Eigen::AngleAxisd turned(R * roll.from.transpose());
  const Eigen::Vector3d up = roll.radius * Eigen::Vector3d::UnitZ();
  point -= turned.angle() * turned.axis().cross(up);
  for (Eigen::Index i = 0; i < W.cols(); ++i) jacobian.col(i) -= Eigen::Vector3d(W.col(i)).cross(up);
}

void validate(const SerialChain& chain) {
  if (chain.joints.empty() || chain.joints.size() > static_cast<std::size_t>(kMaxLegJoints)) {
    throw InvalidArgument("joints", fmt::format("1 to {} joints", kMaxLegJoints), fmt::format("{}", chain.joints.size()));
  }
  require_finite("foot_offset", chain.foot_offset);
  for (std::size_t i = 0; i < chain.joints.size(); ++i) {
    const ChainJoint& joint = chain.joints[i];
    require_finite(fmt::format("joints[{}].translation", i), joint.translation);
    require_finite(fmt::format("joints[{}].rotation", i), joint.rotation);
    if (!(std::abs(joint.axis.norm() - 1.0) < 1e-9)) {
      throw InvalidArgument(fmt::format("joints[{}].axis", i), "a unit vector", fmt::format("length {}", joint.axis.norm()));
    }
    if (!joint.rotation.isUnitary(1e-9) || joint.rotation.determinant() < 0.0) {
      throw InvalidArgument(fmt::format("joints[{}].rotation", i), "a rotation matrix", "one that is not orthonormal and right-handed");
    }
  }
}

namespace {

// One leg of links: front or hind, left or right. Hind legs point backwards and right legs mirror the left ones.
Leg links_leg(bool front, bool left, int first_joint) {
  const double sx = front ? 1.0 : -1.0, sy = left ? 1.0 : -1.0;
  const Eigen::Vector3d x = sx * Eigen::Vector3d::UnitX(), y = sy * Eigen::Vector3d::UnitY();
  SerialChain chain;
  chain.joints = {{Eigen::Vector3d(0.10 * sx, 0.06 * sy, 0.0), Eigen::Matrix3d::Identity(), x, true},
                  {Eigen::Vector3d(0.05 * sx, 0.0, 0.0), Eigen::Matrix3d::Identity(), y, true},
                  {Eigen::Vector3d(0.10 * sx, 0.0, 0.0), Eigen::Matrix3d::Identity(), y, true}};
  chain.foot_offset << 0.10 * sx, 0.0, 0.0;
  Leg leg;
  leg.joints = {first_joint, first_joint + 1, first_joint + 2};
  leg.rotation = [chain](const LegVector& q, Eigen::Matrix3d& R, LegJacobian& W) { chain.turn(q, R, W); };
  leg.kinematics = std::move(chain);
  const bool bends_positive = front == left;
  leg.lower = Eigen::Vector3d(-1.57, -2.1, bends_positive ? -0.1 : -2.7);
  leg.upper = Eigen::Vector3d(1.57, 2.1, bends_positive ? 2.7 : 0.1);
  return leg;
}

}  // namespace

std::vector<Leg> links_legs() {
  return {links_leg(true, true, 0), links_leg(true, false, 6), links_leg(false, true, 3), links_leg(false, false, 9)};
}

Eigen::VectorXd links_standing_posture() {
  const Eigen::Vector3d leg(0.3927, 0.7854, 1.5708);
  Eigen::VectorXd q(12);
  q << leg, -leg, -leg, leg;
  return q;
}

}  // namespace stiction
