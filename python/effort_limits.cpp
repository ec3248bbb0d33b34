#include "effort_limits.hpp"

#include <cmath>

#include "stiction/drive/joint_drives.hpp"

namespace stiction::python {

Eigen::VectorXd effort_limits(const World& world) {
  Eigen::VectorXd limits = Eigen::VectorXd::Constant(world.nv(), kInfinity);
  for (const Joint& joint : world.joints()) {
    if (joint.actuated) limits.segment(joint.v, joint.nv).setConstant(motor_limit(joint));
  }
  return limits;
}

int limit_efforts(const Eigen::VectorXd& limits, Eigen::VectorXd& tau) {
  int cut = 0;
  for (Eigen::Index i = 0; i < tau.size(); ++i) {
    if (!(std::abs(tau[i]) > limits[i])) continue;
    tau[i] = std::copysign(limits[i], tau[i]);
    ++cut;
  }
  return cut;
}

}  // namespace stiction::python
