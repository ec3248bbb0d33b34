// Shapes over the borders of open surfaces, judged by brute force. A shape comes from beside the surface, or from its front, until it
// touches the border, and goes on by `depth`: it is free again after `depth` the way it came, so that no contact is deeper.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include <coal/BVH/BVH_model.h>
#include <coal/distance.h>

#include "stiction/geometry/closest.hpp"
#include "stiction/geometry/collider.hpp"
#include "stiction/geometry/random_surfaces.hpp"
#include "stiction/geometry/terrain.hpp"

namespace stiction::surface_borders_test {
namespace {

using Eigen::Isometry3d;
using Eigen::Vector3d;

int poses_to_try(int quick) {
  const char* wanted = std::getenv("STICTION_GEOMETRY_PAIRS");
  return wanted == nullptr ? quick : std::max(std::atoi(wanted), quick);
}

/// A surface, and Coal's tree of its triangles.
struct Sheet {
  Surface s;
  std::vector<int> border;  ///< edges
  coal::BVHModel<coal::OBBRSS> tree;

  explicit Sheet(const Shape& shape) : s(surface_of(shape)) {
    for (int k = 0; k < static_cast<int>(s.edges.size()); ++k) {
      if (s.edge(k).right < 0) border.push_back(k);
    }
    std::vector<coal::Triangle> indices;
    for (const auto& t : s.triangles)
      indices.emplace_back(static_cast<unsigned>(t.v[0]), static_cast<unsigned>(t.v[1]), static_cast<unsigned>(t.v[2]));
    tree.beginModel();
    tree.addSubModel(s.vertices, indices);
    tree.endModel();
  }
  /// Distance of a convex shape, and the point of the surface nearest to it.
  double distance(const coal::ShapeBase& shape, const Isometry3d& X, Vector3d& on_surface) const {
    coal::DistanceRequest request(true, false);
    coal::DistanceResult result;
    const double d = coal::distance(&tree, coal::Transform3s::Identity(), &shape, {X.linear(), X.translation()}, request, result);
    on_surface = result.nearest_points[0];
    return d;
  }
  double to_border(const Vector3d& p) const {
    double least = std::numeric_limits<double>::infinity();
    for (int k : border) {
      const Vector3d &a = s.vertex(s.edge(k).a), &b = s.vertex(s.edge(k).b);
      least = std::min(least, (p - a - closest_on_segment(p, a, b) * (b - a)).norm());
    }
    return least;
  }
  double to_surface(const Vector3d& p) const {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& t : s.triangles)
      least = std::min(least, (p - closest_on_triangle(p, s.vertex(t.v[0]), s.vertex(t.v[1]), s.vertex(t.v[2])).point).norm());
    return least;
  }
};

Shape terrain(TerrainKind kind, unsigned seed) {
  TerrainOptions o;
  o.kind = kind;
  o.seed = seed;
  o.size_x = o.size_y = 1.0;
  o.height = 0.05;
  o.cell = 0.1;
  return make_terrain(o).shape;
}

/// 0: box, 1: sphere, 2: capsule, 3: cylinder, 4: hull, 5: a box as a mesh.
struct Shaped {
  Shape shape, convex;  ///< the latter for Coal
};
Shaped random_shape(Random& random, int kind) {
  const Vector3d h(random(0.03, 0.15), random(0.03, 0.15), random(0.03, 0.15));
  Shape convex = Box{h};
  if (kind == 1) convex = Sphere{h.x()};
  if (kind == 2) convex = Capsule{h.x(), h.y()};
  if (kind == 3) convex = Cylinder{h.x(), h.y()};
  if (kind == 4) {
    ConvexMesh hull;
    for (int i = 0; i < 20; ++i) hull.vertices.push_back(random.vector(1.0).normalized().cwiseProduct(h));
    convex = hull;
  }
  return {kind == 5 ? Shape(mesh_box(h, 2)) : convex, convex};
}

struct Tally {
  int tried = 0, missed = 0, too_deep = 0, off = 0;
  double deepest = 0.0;
};

constexpr double kMargin = 0.01;
constexpr double kClose = 2e-5;  // m, well above GJK's tolerance in Coal

void run(const char* what, const std::function<Shape(Random&)>& ground, int poses) {
  Random random(77);
  Tally total;
  for (int kind = 0; kind < 6; ++kind) {
    Tally t;
    for (int sheets = 0; t.tried < poses && sheets < 10 * poses; ++sheets) {
      const Shape under = ground(random);
      const Sheet sheet(under);
      const Shaped shaped = random_shape(random, kind);
      const Collider collider = make_collider(shaped.convex, "shape");
      ShapePair pair(shaped.shape, under);
      for (int i = 0; i < 4; ++i) {
        const Surface::Edge& edge =
            sheet.s.edge(sheet.border[static_cast<std::size_t>(pick(random, static_cast<int>(sheet.border.size())))]);
        const double angle = random(-0.2, 1.2);  // rad, to the front of the surface
        const Vector3d d =
            (-std::cos(angle) * edge.into_left + std::sin(angle) * sheet.s.triangle(edge.left).normal + random(-0.5, 0.5) * edge.along)
                .normalized();
        const Vector3d on = sheet.s.vertex(edge.a) + random(0.0, 1.0) * (sheet.s.vertex(edge.b) - sheet.s.vertex(edge.a));
        Isometry3d X = random.pose(0.0);
        if (i == 0) X.linear() = Eigen::AngleAxisd(random(0.0, 3.0), Vector3d::UnitZ()).toRotationMatrix();
        if (i == 1) X.linear().setIdentity();
        X.translation() = on + 2.0 * d + random(-0.1, 0.1) * edge.along.cross(d);
        Vector3d nearest = Vector3d::Zero();
        double distance = sheet.distance(*collider.coal_shape, X, nearest);
        for (int k = 0; k < 60 && distance > kClose && distance < 4.0; ++k) {
          X.translation() -= (distance - 0.5 * kClose) * d;
          distance = sheet.distance(*collider.coal_shape, X, nearest);
        }
        if (std::abs(distance) > kClose || sheet.to_border(nearest) > 2.0 * kClose) continue;  // missed, or touched elsewhere
        const double depth = i % 2 == 0 ? 0.003 : std::pow(10.0, random(-4.0, -1.6));
        X.translation() -= depth * d;
        const auto& contacts = pair.contacts(X, Isometry3d::Identity(), kMargin);
        ++t.tried;
        const double gap = contacts.empty() ? kMargin : deepest(contacts).gap;
        t.missed += gap > 1e-6;
        if (gap < -depth - 1e-5 - 0.02 * depth) {
          ++t.too_deep;
          t.deepest = std::max(t.deepest, -gap / depth);
        }
        for (const auto& c : contacts) t.off += c.gap < 0.0 && sheet.to_surface(c.p_WC - 0.5 * c.gap * c.n) > 1e-7 - std::sqrt(3.0) * c.gap;
      }
    }
    std::printf("%-8s kind %d: %4d poses, %d missed, %d too deep (up to %.1f times), %d points off the surface\n", what, kind, t.tried,
                t.missed, t.too_deep, t.deepest, t.off);
    total.tried += t.tried, total.missed += t.missed, total.too_deep += t.too_deep, total.off += t.off;
  }
  EXPECT_EQ(total.off, 0);
  EXPECT_LE(total.missed, total.tried / 50);
  EXPECT_LE(total.too_deep, total.tried / 50);  // what is left open: see the room's README
}

TEST(SurfaceBorders, Facets) {
  run(
      "facets", [](Random& random) { return terrain(TerrainKind::facets, 1 + static_cast<unsigned>(pick(random, 20))); }, poses_to_try(60));
}
TEST(SurfaceBorders, Stairs) {
  run(
      "stairs", [](Random&) { return terrain(TerrainKind::stairs, 1); }, poses_to_try(60));
}
TEST(SurfaceBorders, OpenMeshes) {
  run(
      "sheets", [](Random& random) { return random_surface(random, 1); }, poses_to_try(60));
}

}  // namespace
}  // namespace stiction::surface_borders_test
