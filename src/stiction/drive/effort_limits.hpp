// Effort limits of the driven joints, to which torques are cut.
#pragma once

#include "stiction/model/world.hpp"

namespace stiction {

/// (nv) largest |tau| (N m or N), `motor_limit` of the driven joints; infinite where nothing drives.
Eigen::VectorXd effort_limits(const World& world);

}  // namespace stiction
