// Effort limits of the driven joints: torques beyond them are cut, and counted.
#pragma once

#include "stiction/model/world.hpp"

namespace stiction::python {

/// (nv) largest |tau| (N m or N); infinite where nothing drives, or where a joint is driven although its file says 0.
Eigen::VectorXd effort_limits(const World& world);

/// Cuts tau in place; how many entries were beyond their limit.
int limit_efforts(const Eigen::VectorXd& limits, Eigen::VectorXd& tau);

}  // namespace stiction::python
