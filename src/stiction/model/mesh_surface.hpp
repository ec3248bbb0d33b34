// Triangles of meshes: of a file, read with Coal, or of the hull of points, from Qhull.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stiction/model/shape.hpp"

namespace stiction {

/// The triangles of a file, counter-clockwise from outside as it has them. Throws FileError.
TriangleMesh load_mesh(const MeshFile& file);
/// Triangles of the hull of the points, counter-clockwise from outside. Throws InvalidArgument naming `argument`.
TriangleMesh hull_triangles(const std::vector<Eigen::Vector3d>& points, std::string_view argument);
/// Triangles of a mesh, counter-clockwise from outside: of a file's those in the file. Nothing for other shapes. Throws as the two above.
std::optional<TriangleMesh> surface_of_mesh(const Shape& shape, std::string_view argument);

}  // namespace stiction
