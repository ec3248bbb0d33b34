#include "stiction/geometry/collider.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include <coal/BVH/BVH_model.h>
#include <coal/mesh_loader/loader.h>
#include <coal/shape/convex.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/files.hpp"
#include "stiction/base/three.hpp"

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

/// Triangles of the hull of the points, counter-clockwise from outside.
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
      throw InvalidArgument(argument, "points that Qhull finds a hull of", fmt::format("{} points ({})", points.size(), e.what()));
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

std::shared_ptr<coal::ShapeBase> coal_convex(const Polytope& p, std::string_view argument) {
  auto points = std::make_shared<std::vector<coal::Vec3s>>(p.vertices.begin(), p.vertices.end());
  auto triangles = std::make_shared<std::vector<coal::Triangle>>();
  for (int f = 0; f < static_cast<int>(p.faces.size()); ++f) {
    const auto loop = p.face_loop(f);
    // Cut in a zigzag, so that no vertex gets many neighbours.
    for (std::size_t left = 0, right = loop.size() - 1; right - left > 1;) {
      const bool from_left = (left + right) % 2 == loop.size() % 2;
      const std::size_t middle = from_left ? left + 1 : right - 1;
      triangles->emplace_back(static_cast<unsigned>(loop[left]), static_cast<unsigned>(loop[middle]), static_cast<unsigned>(loop[right]));
      from_left ? ++left : --right;
    }
  }
  try {
    return std::make_shared<coal::Convex<coal::Triangle>>(points, static_cast<unsigned>(points->size()), triangles,
                                                          static_cast<unsigned>(triangles->size()));
  } catch (const std::exception& e) {
    throw InvalidArgument(argument, "a hull that Coal accepts", e.what());
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

struct Maker {
  std::string_view argument;
  bool one_side = false;

  static double farthest(const std::vector<Vector3d>& vertices) {
    double most = 0.0;
    for (const Vector3d& v : vertices) most = std::max(most, v.norm());
    return most;
  }
  static Collider convex(Collider::Kind kind, Polytope core, double radius, std::shared_ptr<coal::ShapeBase> shape) {
    Collider c;
    c.kind = kind;
    c.reach = radius + farthest(core.vertices);
    c.box_center = core.box_center;
    c.box_half = core.box_half + Vector3d::Constant(radius);
    c.core = std::make_shared<const Polytope>(std::move(core));
    c.coal_shape = std::move(shape);
    c.convex.core = c.core.get();
    c.convex.radius = radius;
    c.convex.coal_shape = c.coal_shape.get();
    return c;
  }
  static Collider surface(Surface s, double reach) {
    Collider c;
    c.reach = reach;
    c.kind = Collider::Kind::surface;
    c.box_center = s.box_center;
    c.box_half = s.box_half;
    c.surface = std::make_shared<const Surface>(std::move(s));
    c.placed.surface = c.surface.get();
    return c;
  }
  Collider hull(const TriangleMesh& mesh) const {
    Polytope core = make_polytope(mesh.vertices, mesh.triangles, argument);
    auto shape = coal_convex(core, argument);
    Collider c = convex(Collider::Kind::hull, std::move(core), 0.0, std::move(shape));
    c.reach = farthest(mesh.vertices);  // those within the flat faces of the core too
    return c;
  }

  Collider operator()(const Sphere& s) const {
    return convex(Collider::Kind::sphere, make_point(), s.radius, std::make_shared<coal::Sphere>(s.radius));
  }
  Collider operator()(const Capsule& s) const {
    return convex(Collider::Kind::capsule, make_segment(s.half_length), s.radius,
                  std::make_shared<coal::Capsule>(s.radius, 2.0 * s.half_length));
  }
  Collider operator()(const Box& s) const {
    return convex(Collider::Kind::box, make_box(s.half_extents), 0.0, std::make_shared<coal::Box>(2.0 * s.half_extents));
  }
  Collider operator()(const Cylinder& s) const {
    Collider c;
    c.kind = Collider::Kind::cylinder;
    c.box_half = {s.radius, s.radius, s.half_length};
    c.reach = std::hypot(s.radius, s.half_length);
    c.coal_shape = std::make_shared<coal::Cylinder>(s.radius, 2.0 * s.half_length);
    c.convex.cylinder_radius = s.radius;
    c.convex.cylinder_half = s.half_length;
    c.convex.coal_shape = c.coal_shape.get();
    return c;
  }
  Collider operator()(const HalfSpace&) const {
    Collider c;
    c.kind = Collider::Kind::half_space;
    return c;
  }
  Collider operator()(const ConvexMesh& s) const {
    return hull(s.faces.empty() ? hull_triangles(s.vertices, argument) : TriangleMesh{s.vertices, s.faces});
  }
  Collider operator()(const TriangleMesh& s) const { return surface(make_surface(s, argument, one_side), farthest(s.vertices)); }
  Collider operator()(const HeightMap& s) const {
    const double height = std::max(s.heights.cwiseAbs().maxCoeff(), std::abs(s.bottom));
    return surface(make_surface(s, argument), Vector3d(0.5 * s.size_x, 0.5 * s.size_y, height).norm());
  }
  Collider operator()(const MeshFile& s) const {
    const TriangleMesh mesh = load_mesh(s);
    if (s.convex) return hull(hull_triangles(mesh.vertices, argument));
    return surface(make_surface(mesh, fmt::format("{} ({})", argument, s.path), one_side), farthest(mesh.vertices));
  }
};

}  // namespace

namespace {

struct Placing {
  const Eigen::Isometry3d &X_WB, &X_BG;
  const Collider& collider;
  Eigen::Isometry3d& X_WG;
  double *lower, *upper;

  STICTION_INLINE void run() const {
    const three::Columns R_WB = three::rotation(X_WB), R = three::times(R_WB, X_BG.data(), 4);
    const Four p = three::times(R_WB, X_BG.data() + 12) + three::load(X_WB.data() + 12);
    three::set_pose(R, p, X_WG);
    const Four center = p + three::times(R, collider.box_center.data());
    // The cores' rounding is a ball, whatever the rotation.
    const double round = collider.convex.radius;
    Four half{round, round, round, 0.0};
    for (int j = 0; j < 3; ++j) half += magnitude(R.column[j] * (collider.box_half[j] - round));
    three::store(center - half, lower);
    three::store(center + half, upper);
  }
};

void place_narrow(const Placing& placing) { placing.run(); }
STICTION_WIDE void place_wide(const Placing& placing) { placing.run(); }

}  // namespace

void Collider::place(const Eigen::Isometry3d& X_WB, const Eigen::Isometry3d& X_BG) {
  if (kind == Kind::half_space) {
    const Eigen::Isometry3d X = X_WB * X_BG;
    plane.n = X.linear().col(2);
    plane.offset = plane.n.dot(X.translation());
    return;
  }
  (wide_vectors() ? place_wide
                  : place_narrow)({X_WB, X_BG, *this, kind == Kind::surface ? placed.X : convex.X, lower.data(), upper.data()});
}

std::optional<TriangleMesh> surface_of_mesh(const Shape& shape, std::string_view argument) {
  if (const auto* file = std::get_if<MeshFile>(&shape)) return load_mesh(*file);
  if (const auto* mesh = std::get_if<TriangleMesh>(&shape)) return *mesh;
  const auto* hull = std::get_if<ConvexMesh>(&shape);
  if (hull == nullptr) return std::nullopt;
  return hull->faces.empty() ? hull_triangles(hull->vertices, argument) : TriangleMesh{hull->vertices, hull->faces};
}

Collider make_collider(const Shape& shape, std::string_view argument, bool one_side) {
  validate(shape, argument);
  return std::visit(Maker{argument, one_side}, shape);
}

}  // namespace stiction
