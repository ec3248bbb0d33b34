// Shapes of collision geometry, described without any collision library. Lengths in metres; each shape is placed by the frame it
// belongs to (`CollisionGeometry::placement`), about whose origin it is centred unless said otherwise.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <Eigen/Core>

#include "stiction/base/eigen_layout.hpp"

namespace stiction {

struct Sphere {
  double radius = 0.0;
};

struct Box {
  Eigen::Vector3d half_extents = Eigen::Vector3d::Zero();
};

/// Axis along z; the cylindrical part spans |z| <= half_length, the caps add the radius at both ends.
struct Capsule {
  double radius = 0.0;
  double half_length = 0.0;
};

/// Axis along z, |z| <= half_length.
struct Cylinder {
  double radius = 0.0;
  double half_length = 0.0;
};

/// Solid z <= 0; the outward normal is +z.
struct HalfSpace {};

/// Convex polyhedron. `faces` are triangles of indices into `vertices`, counter-clockwise from outside; when empty, the hull of
/// the vertices is taken.
struct ConvexMesh {
  std::vector<Eigen::Vector3d> vertices;
  std::vector<Eigen::Vector3i> faces;
};

/// Surface mesh, triangles counter-clockwise from outside.
struct TriangleMesh {
  std::vector<Eigen::Vector3d> vertices;
  std::vector<Eigen::Vector3i> triangles;
};

/// Solid below z = heights(i, j), sampled on a regular grid: x_i = -size_x/2 + i size_x/(rows - 1),
/// y_j = -size_y/2 + j size_y/(cols - 1); rows are samples along x, columns samples along y. The solid ends at z = bottom.
struct HeightMap {
  Eigen::MatrixXd heights;
  double size_x = 0.0;
  double size_y = 0.0;
  double bottom = 0.0;  ///< at or below every height
};

/// A mesh still in its file (STL, OBJ, DAE); vertices are multiplied by `scale` before use.
struct MeshFile {
  std::string path;
  Eigen::Vector3d scale = Eigen::Vector3d::Ones();  ///< finite, not zero; negative mirrors
  bool convex = true;                               ///< collide its convex hull; otherwise its triangles
};

/// Friction by place: mu(i, j) is that of patch (i, j) of a grid over size_x by size_y (m) about the shape's origin, rows along its x,
/// columns along its y; beyond it, that of the nearest patch. Without patches: none.
struct FrictionPatches {
  Eigen::MatrixXd mu;  ///< >= 0, infinity allowed
  double size_x = 0.0, size_y = 0.0;

  bool empty() const { return mu.size() == 0; }
  /// At a point in the shape's frame; there are patches.
  double at(const Eigen::Vector3d& p) const;
};

/// Throws InvalidArgument naming `argument` and the member; no patches are fine.
void validate(const FrictionPatches& patches, std::string_view argument);

using Shape = std::variant<Sphere, Box, Capsule, Cylinder, HalfSpace, ConvexMesh, TriangleMesh, HeightMap, MeshFile>;

/// "sphere", "box", ...
std::string_view shape_name(const Shape& shape);

/// Sizes finite and positive, meshes with indices in range, height maps of 2 x 2 samples or more; whether a mesh file exists is
/// not looked at. Throws InvalidArgument naming `argument` and the member.
void validate(const Shape& shape, std::string_view argument);

}  // namespace stiction
