// A convex shape placed in the world: a polytope core or a cylinder, rounded by a radius.
//
//   shape = core ⊕ ball(radius):  sphere = point, capsule = segment, box, hull (radius 0); cylinder (radius 0)
//
// Signed distances are those of the cores minus both radii, so rounded shapes stay exact as long as their cores are apart.
#pragma once

#include <Eigen/Geometry>

#include "stiction/geometry/polytope.hpp"

namespace coal {
class ShapeBase;
}

namespace stiction {

struct Convex {
  const Polytope* core = nullptr;  ///< null for a cylinder
  double cylinder_radius = 0.0, cylinder_half = 0.0;
  double radius = 0.0;  ///< rounding
  const coal::ShapeBase* coal_shape = nullptr;
  Eigen::Isometry3d X = Eigen::Isometry3d::Identity();

  bool is_cylinder() const { return core == nullptr; }
  bool is_rod() const { return is_cylinder() || core->size() == 2; }         ///< round about a segment: a cylinder or a capsule
  double round() const { return is_cylinder() ? cylinder_radius : radius; }  ///< of a rod: radius of its side
  double half_length() const { return is_cylinder() ? cylinder_half : core->vertex(1).z(); }  ///< of a rod's axis
  Eigen::Vector3d center() const { return X.translation(); }
  Eigen::Vector3d axis() const { return X.linear().col(2); }
  Eigen::Vector3d world(int vertex) const { return X * core->vertex(vertex); }
};

struct SupportPoint {
  Eigen::Vector3d point;
  int vertex = -1;  ///< of a polytope
};

/// Point of the core farthest along `direction` (world); `hint` is a vertex to climb from.
SupportPoint support(const Convex& shape, const Eigen::Vector3d& direction, int hint = 0);

}  // namespace stiction
