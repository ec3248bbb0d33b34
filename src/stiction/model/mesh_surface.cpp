#include "stiction/model/mesh_surface.hpp"

#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include <coal/BVH/BVH_model.h>
#include <coal/mesh_loader/loader.h>
#include <coal/shape/convex.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/files.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;

/// Qhull gives up on points in a plane without a word that can be caught, so they are refused before it sees them.
void require_volume(const std::vector<Vector3d>& points, std::string_view argument) {
  const Eigen::Map<const Eigen::Matrix3Xd> all(points.data()->data(), 3, static_cast<Eigen::Index>(points.size()));
  const Eigen::Matrix3Xd spread = all.colwise() - all.rowwise().mean();
  const Vector3d extents =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(spread * spread.transpose()).eigenvalues().cwiseMax(0.0).cwiseSqrt();
  if (!(extents[0] > 1e-7 * extents[2])) {
    throw InvalidArgument(argument, "points whose hull has a volume", fmt::format("{} points in a plane", points.size()));
  }
}

/// What Coal says of a file in a line, without the place in its own code, the file's name and hints.
std::string reason_of(const std::string& said) {
  const std::size_t message = said.find("message: ");
  std::istringstream lines(message == std::string::npos ? said : said.substr(message + 9));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("Could not load resource") || line.starts_with("Hint")) continue;
    out += (out.empty() ? "" : "; ") + line;
  }
  return out.empty() ? "Coal does not say why" : out;
}

}  // namespace

TriangleMesh hull_triangles(const std::vector<Vector3d>& points, std::string_view argument) {
  require_volume(points, argument);
  auto shared = std::make_shared<std::vector<coal::Vec3s>>(points.begin(), points.end());
  const auto count = static_cast<unsigned>(points.size());
  std::unique_ptr<coal::ConvexBase> hull;
  try {
    hull.reset(coal::ConvexBase::convexHull(shared, count, true));
  } catch (const std::exception&) {
    // A large flat face is cut into a fan, with more neighbours to its hub than Coal counts; joggled points are not cut so.
    try {
      hull.reset(coal::ConvexBase::convexHull(shared, count, true, "QJ"));
    } catch (const std::exception& e) {
      throw InvalidArgument(argument, "points that have a hull with at most 254 edges at each (more of them: a mesh with convex=False)",
                            fmt::format("{} points ({})", points.size(), reason_of(e.what())));
    }
  }
  const auto* convex = dynamic_cast<const coal::Convex<coal::Triangle>*>(hull.get());
  if (convex == nullptr) throw InvalidArgument(argument, "points whose hull has triangles", "a hull without");
  TriangleMesh mesh;
  mesh.vertices.assign(convex->points->begin(), convex->points->begin() + convex->num_points);
  Vector3d middle = Vector3d::Zero();
  for (const auto& v : mesh.vertices) middle += v / static_cast<double>(mesh.vertices.size());
  for (unsigned i = 0; i < convex->num_polygons; ++i) {
    const coal::Triangle& t = (*convex->polygons)[i];
    Eigen::Vector3i tri(static_cast<int>(t[0]), static_cast<int>(t[1]), static_cast<int>(t[2]));
    const auto at = [&](int k) -> const Vector3d& { return mesh.vertices[tri[k]]; };
    if ((at(1) - at(0)).cross(at(2) - at(0)).dot(at(0) - middle) < 0.0) std::swap(tri[1], tri[2]);
    mesh.triangles.push_back(tri);
  }
  return mesh;
}

TriangleMesh load_mesh(const MeshFile& file) {
  require_file(file.path);
  std::shared_ptr<coal::BVHModelBase> model;
  try {
    coal::MeshLoader loader(coal::BV_AABB);
    model = loader.load(file.path, file.scale);
  } catch (const std::exception& e) {
    throw FileError(file.path, "", fmt::format("cannot be read as a mesh: {}", reason_of(e.what())));
  }
  TriangleMesh mesh;
  if (model && model->vertices) mesh.vertices.assign(model->vertices->begin(), model->vertices->begin() + model->num_vertices);
  const bool mirrored = file.scale.prod() < 0.0;
  for (unsigned i = 0; model && model->tri_indices && i < model->num_tris; ++i) {
    const coal::Triangle& t = (*model->tri_indices)[i];
    mesh.triangles.emplace_back(static_cast<int>(t[0]), static_cast<int>(t[mirrored ? 2 : 1]), static_cast<int>(t[mirrored ? 1 : 2]));
  }
  if (mesh.triangles.empty()) throw FileError(file.path, "", "no triangles");
  for (const auto& v : mesh.vertices) {
    if (!v.allFinite()) throw FileError(file.path, "", "a vertex that is not finite");
  }
  return mesh;
}

std::optional<TriangleMesh> surface_of_mesh(const Shape& shape, std::string_view argument) {
  if (const auto* file = std::get_if<MeshFile>(&shape)) return load_mesh(*file);
  if (const auto* mesh = std::get_if<TriangleMesh>(&shape)) return *mesh;
  const auto* hull = std::get_if<ConvexMesh>(&shape);
  if (hull == nullptr) return std::nullopt;
  return hull->faces.empty() ? hull_triangles(hull->vertices, argument) : TriangleMesh{hull->vertices, hull->faces};
}

}  // namespace stiction
