#include "effort_limits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction::python {

Eigen::VectorXd effort_limits(const World& world) {
  Eigen::VectorXd limits = Eigen::VectorXd::Constant(world.nv(), std::numeric_limits<double>::infinity());
  for (const Joint& joint : world.joints()) {
    if (joint.actuated && joint.effort_limit > 0.0) limits.segment(joint.v, joint.nv).setConstant(joint.effort_limit);
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
