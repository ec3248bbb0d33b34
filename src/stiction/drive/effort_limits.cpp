#include "stiction/drive/effort_limits.hpp"

#include "stiction/drive/joint_drives.hpp"

namespace stiction {

Eigen::VectorXd effort_limits(const World& world) {
  Eigen::VectorXd limits = Eigen::VectorXd::Constant(world.nv(), kInfinity);
  for (const Joint& joint : world.joints()) {
    if (joint.actuated) limits.segment(joint.v, joint.nv).setConstant(motor_limit(joint));
  }
  return limits;
}

}  // namespace stiction
