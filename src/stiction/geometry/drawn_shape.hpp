// Collision shapes as a viewer draws them: primitives by their sizes, everything else by its triangles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Geometry>

#include "stiction/model/shape.hpp"
#include "stiction/model/world.hpp"

namespace stiction {

struct DrawnShape {
  std::string name;
  int body = 0;                                                 ///< index into World::bodies
  Eigen::Isometry3d placement = Eigen::Isometry3d::Identity();  ///< shape frame in the body frame
  std::string_view kind;                                        ///< sphere, box, capsule, cylinder, plane or mesh
  /// Sphere: radius, 0, 0; box: edge lengths; capsule and cylinder, axis z: radius, length of the cylindrical part, 0; else zero (m).
  Eigen::Vector3d size = Eigen::Vector3d::Zero();
  TriangleMesh mesh;  ///< of a mesh: what collides, so the hull where the hull collides
};

/// One per geometry of the world, in its order. Loads mesh files and builds hulls; throws as `CollisionScene` does.
std::vector<DrawnShape> drawn_shapes(const World& world);

}  // namespace stiction
