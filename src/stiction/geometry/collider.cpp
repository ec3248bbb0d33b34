#include "stiction/geometry/collider.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <coal/shape/convex.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/three.hpp"
#include "stiction/model/mesh_surface.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;

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

Collider make_collider(const Shape& shape, std::string_view argument, bool one_side) {
  validate(shape, argument);
  return std::visit(Maker{argument, one_side}, shape);
}

}  // namespace stiction
