#pragma once

#include <Eigen/Core>

namespace stiction {

/// The shortest rotation that takes z to a unit vector; about x where that is -z.
Eigen::Matrix3d rotation_of_z(const Eigen::Vector3d& direction);

}  // namespace stiction
