// A shape made ready to collide: polytope core, cylinder, surface or half-space, with what Coal needs of it.
#pragma once

#include <memory>
#include <string_view>

#include "stiction/geometry/convex_pairs.hpp"
#include "stiction/geometry/surface_pairs.hpp"

namespace stiction {

struct Collider {
  enum class Kind { sphere, capsule, box, hull, cylinder, half_space, surface };

  Kind kind = Kind::sphere;
  std::shared_ptr<const Polytope> core;
  std::shared_ptr<const coal::ShapeBase> coal_shape;
  std::shared_ptr<const Surface> surface;
  Convex convex;         ///< placed in the world; unused by half-spaces and surfaces
  PlacedSurface placed;  ///< a surface placed in the world
  Plane3 plane;          ///< a half-space placed in the world
  Eigen::Vector3d box_center = Eigen::Vector3d::Zero(), box_half = Eigen::Vector3d::Zero();  ///< in the shape's frame
  double reach = 0.0;  ///< m, of the farthest point from the shape's origin; 0 for a half-space
  Eigen::Vector3d lower = Eigen::Vector3d::Zero(), upper = Eigen::Vector3d::Zero();  ///< in the world

  bool is_convex() const { return kind != Kind::half_space && kind != Kind::surface; }
  /// At X_WB X_BG.
  void place(const Eigen::Isometry3d& X_WB, const Eigen::Isometry3d& X_BG);
};

/// Loads and checks the shape. Throws InvalidArgument naming `argument`, FileError for a mesh file. `one_side`: see make_surface.
Collider make_collider(const Shape& shape, std::string_view argument, bool one_side = false);

}  // namespace stiction
