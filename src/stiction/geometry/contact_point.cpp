#include "stiction/geometry/contact_point.hpp"

#include <cmath>

#include <Eigen/Geometry>

namespace stiction {

void contact_tangents(const Eigen::Vector3d& n, Eigen::Vector3d& t1, Eigen::Vector3d& t2) {
  const int axis = std::abs(n.x()) <= 0.9 ? 0 : 1;
  t1 = (Eigen::Vector3d::Unit(axis) - n[axis] * n).normalized();
  t2 = n.cross(t1);
}

}  // namespace stiction
