#include "stiction/geometry/drawn_shape.hpp"

#include "stiction/geometry/collider.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;

TriangleMesh triangles_of(const Polytope& hull) {
  TriangleMesh out{hull.vertices, {}};
  for (int f = 0; f < static_cast<int>(hull.faces.size()); ++f) {
    const auto loop = hull.face_loop(f);
    for (std::size_t i = 2; i < loop.size(); ++i) out.triangles.emplace_back(loop[0], loop[i - 1], loop[i]);
  }
  return out;
}

TriangleMesh triangles_of(const Surface& surface) {
  TriangleMesh out{surface.vertices, {}};
  for (const Surface::Triangle& t : surface.triangles) out.triangles.emplace_back(t.v[0], t.v[1], t.v[2]);
  return out;
}

struct Describe {
  DrawnShape& out;
  const std::string& name;

  void operator()(const Sphere& s) const { describe("sphere", {s.radius, 0.0, 0.0}); }
  void operator()(const Box& s) const { describe("box", 2.0 * s.half_extents); }
  void operator()(const Capsule& s) const { describe("capsule", {s.radius, 2.0 * s.half_length, 0.0}); }
  void operator()(const Cylinder& s) const { describe("cylinder", {s.radius, 2.0 * s.half_length, 0.0}); }
  void operator()(const HalfSpace&) const { describe("plane", Vector3d::Zero()); }
  template <class Mesh>
  void operator()(const Mesh& shape) const {
    const Collider collider = make_collider(shape, name);
    describe("mesh", Vector3d::Zero());
    out.mesh = collider.core ? triangles_of(*collider.core) : triangles_of(*collider.surface);
  }

 private:
  void describe(std::string_view kind, const Vector3d& size) const {
    out.kind = kind;
    out.size = size;
  }
};

}  // namespace

std::vector<DrawnShape> drawn_shapes(const World& world) {
  std::vector<DrawnShape> out;
  for (const CollisionGeometry& g : world.geometries()) {
    DrawnShape& drawn = out.emplace_back();
    drawn.name = g.name;
    drawn.body = g.body;
    drawn.placement = g.placement;
    std::visit(Describe{drawn, g.name}, g.shape);
  }
  return out;
}

}  // namespace stiction
