#include "stiction/base/rotation.hpp"

#include <cmath>

#include <Eigen/Geometry>

namespace stiction {

Eigen::Matrix3d rotation_of_z(const Eigen::Vector3d& direction) {
  const Eigen::Vector3d across = Eigen::Vector3d::UnitZ().cross(direction);
  const double sine = across.norm();
  const Eigen::Vector3d axis = sine < 1e-10 ? Eigen::Vector3d::UnitX() : Eigen::Vector3d(across / sine);
  return Eigen::AngleAxisd(std::atan2(sine, direction.z()), axis).toRotationMatrix();
}

}  // namespace stiction
