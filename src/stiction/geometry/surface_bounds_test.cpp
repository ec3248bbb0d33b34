// What a far look leaves out of a surface: the bounds of normals by which it does, that no contact is lost, and how little is left.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "stiction/geometry/collider.hpp"
#include "stiction/geometry/random_surfaces.hpp"
#include "stiction/geometry/surface_features.hpp"
#include "stiction/geometry/surface_pairs.hpp"
#include "stiction/geometry/terrain.hpp"

namespace stiction::surface_bounds_test {
namespace {

using Eigen::Isometry3d;
using Eigen::Vector3d;

ConvexMesh hull(Random& random, int corners, double size) {
  ConvexMesh m;
  const Vector3d half = size * Vector3d(random(0.3, 1.0), random(0.3, 1.0), random(0.3, 1.0));
  for (int i = 0; i < corners; ++i) m.vertices.push_back(random.vector(1.0).normalized().cwiseProduct(half));
  return m;
}

Shape hills(double size, double height, std::uint64_t seed = 1) {
  TerrainOptions o;
  o.seed = seed;
  o.size_x = o.size_y = size;
  o.height = height;
  return make_terrain(o).shape;
}

Shape any_surface(Random& random, int trial) {
  return trial % 5 < 4 ? random_surface(random, trial % 5) : hills(0.6, random(0.01, 0.1), 1 + static_cast<unsigned>(trial));
}

double angle_between(const Vector3d& a, const Vector3d& b) { return std::atan2(a.cross(b).norm(), a.dot(b)); }

/// Directions tried one by one.
TEST(SurfaceBounds, HoldEveryNormalOfAVertexAndOfATriangle) {
  Random random(5);
  int vertices = 0, triangles = 0, normals = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const Surface s = surface_of(any_surface(random, trial));
    const auto expect_leaning = [&](const Surface::Triangle& t, const Vector3d& n) {
      ++normals;
      EXPECT_LE(angle_between(n, t.normal), std::atan(t.lean)) << trial;
    };
    for (const auto& t : s.triangles) {
      if (std::isinf(t.lean)) continue;
      ++triangles;
      for (std::size_t k = 0; k < 3; ++k) {
        const Surface::Edge& e = s.edge(t.edge[k]);
        const int v = t.v[k];
        for (int i = 0; i < 30; ++i) {
          const Vector3d any = random.vector(1.0), square = (any - any.dot(e.along) * e.along).normalized();
          if (e.convex && in_edge_cone(e, square, kStrict)) expect_leaning(t, square);
          const Vector3d near = (t.normal + random(0.0, 1.0) * any).normalized();
          if (s.vertex_convex[v] != 0 && in_vertex_cone(s, v, near, kStrict)) expect_leaning(t, near);
        }
      }
    }
    for (const int v : s.convex_vertices) {
      if (!(s.vertex_spread[v] < std::numbers::pi)) continue;
      ++vertices;
      for (int i = 0; i < 100; ++i) {
        const Vector3d n = (s.vertex_normal[v].normalized() + random(0.0, 2.0) * random.vector(1.0)).normalized();
        if (!in_vertex_cone(s, v, n, kStrict)) continue;
        EXPECT_LE(angle_between(n, s.vertex_normal[v]), s.vertex_spread[v]);
      }
    }
  }
  EXPECT_GT(vertices, 500);
  EXPECT_GT(triangles, 2000);
  EXPECT_GT(normals, 10000);
}

/// An edge between faces that make an angle, and the corner of a cube, by hand.
TEST(SurfaceBounds, AreThoseOfARoofAndOfACube) {
  TriangleMesh roof;
  const double slope = 0.3;
  roof.vertices = {{-1, -1, -std::tan(slope)}, {-1, 1, -std::tan(slope)}, {0, -1, 0}, {0, 1, 0},
                   {1, -1, -std::tan(slope)},  {1, 1, -std::tan(slope)}};
  roof.triangles = {{0, 2, 3}, {0, 3, 1}, {2, 4, 5}, {2, 5, 3}};
  for (const auto& t : make_surface(roof, "roof").triangles) EXPECT_TRUE(std::isinf(t.lean)) << "each has a side on the border";
  const Surface cube = make_surface(mesh_box({1, 1, 1}), "cube");
  for (const int v : cube.convex_vertices) EXPECT_NEAR(cube.vertex_spread[v], std::acos(1.0 / std::sqrt(3.0)), 0.01);
  for (const auto& t : cube.triangles) EXPECT_TRUE(std::isinf(t.lean)) << "the next face is square to it";
  HeightMap ridge;  // along y, between two slopes
  ridge.heights = Eigen::MatrixXd::Zero(5, 6);
  for (int i = 0; i < 5; ++i) ridge.heights.row(i).setConstant(-0.25 * std::tan(slope) * std::abs(i - 2));
  ridge.size_x = 1.0;
  ridge.size_y = 1.25;
  ridge.bottom = -1.0;
  const Surface s = make_surface(ridge, "ridge");
  std::array<int, 2> inner{};  // without and with a side on the ridge
  for (const auto& t : s.triangles) {
    if (std::abs(t.center.x()) > 0.25 || std::abs(t.center.y()) > 0.37) continue;
    const auto on_ridge = std::ranges::count_if(t.v, [&](int v) { return s.vertex(v).x() == 0.0; });
    ++inner[on_ridge == 2];
    EXPECT_NEAR(std::atan(t.lean), on_ridge == 2 ? 2.0 * slope : 0.0, 1e-4) << "from one slope to the other";
  }
  EXPECT_EQ(inner[0], 6);
  EXPECT_EQ(inner[1], 6);
}

/// Nothing known of any normal.
Surface without_bounds(Surface s) {
  for (auto& t : s.triangles) t.lean = std::numeric_limits<double>::infinity();
  for (auto& spread : s.vertex_spread) spread = std::numbers::pi;
  for (auto& e : s.edges) e.spread = std::max(e.spread, 0.5 * std::numbers::pi);
  return s;
}

TEST(SurfaceBounds, LoseNoContact) {
  Random random(23);
  SurfaceScratch scratch;
  std::size_t contacts = 0, deep = 0;
  for (int trial = 0; trial < 25; ++trial) {
    const Surface s = surface_of(any_surface(random, trial)), all = without_bounds(s);
    for (const Shape& shape : {Shape(Sphere{0.1}), Shape(Capsule{0.05, 0.1}), Shape(Box{{0.1, 0.07, 0.05}}), Shape(Cylinder{0.07, 0.08}),
                               Shape(hull(random, 14, 0.15)), Shape(hull(random, 100, 0.15))}) {
      Collider c = make_collider(shape, "shape");
      for (int k = 0; k < 6; ++k) {
        Isometry3d X = random.pose(0.0);
        if (k == 0) X.linear().setIdentity();
        X.translation() = random.vector(0.5);
        c.place(X, Isometry3d::Identity());
        const double margin = k < 2 ? random(0.0, 0.05) : random(0.0, 0.8);
        std::vector<RawContact> found, expected;
        ContactSink sink{found, margin, false}, whole{expected, margin, false};
        collide_convex_surface(c.convex, {&s, Isometry3d::Identity()}, scratch, sink);
        collide_convex_surface(c.convex, {&all, Isometry3d::Identity()}, scratch, whole);
        ASSERT_EQ(found.size(), expected.size()) << shape_name(shape) << ", trial " << trial << ", margin " << margin;
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(found[i].feature, expected[i].feature);
          EXPECT_EQ(found[i].gap, expected[i].gap);
          EXPECT_EQ(found[i].p, expected[i].p);
          EXPECT_EQ(found[i].n, expected[i].n);
          deep += found[i].gap < 0.0;
        }
        contacts += found.size();
      }
    }
  }
  EXPECT_GT(contacts, 3000u);
  EXPECT_GT(deep, 300u);
}

/// A hull of 500 corners, 30 cm long, half a metre over hills of 2 cm cells, looked at as far as 70 cm, as what moves at 35 m/s in a step
/// of 10 ms is. Most of the ten thousand triangles and edges face past it: few of them are tried with its clusters of vertices and its
/// edges.
TEST(SurfaceBounds, OfAFarLookLeaveLittleToTry) {
  Random random(3);
  const Surface s = surface_of(hills(3.0, 0.03));
  Collider c = make_collider(hull(random, 500, 0.15), "hull");
  c.place(pose({0.1, 0.2, 0.5}), Isometry3d::Identity());
  SurfaceScratch scratch;
  std::vector<RawContact> found;
  ContactSink sink{found, 0.7, false};
  collide_convex_surface(c.convex, {&s, Isometry3d::Identity()}, scratch, sink);
  std::printf("%zu triangles, %zu with a cluster, %zu of %zu edges, %zu contacts\n", scratch.triangles.size(),
              scratch.reach.triangles.size(), scratch.near_edges.size(), scratch.convex_edges.size(), found.size());
  EXPECT_GT(scratch.triangles.size(), 8000u);
  EXPECT_GT(found.size(), 0u);
  EXPECT_LT(scratch.reach.triangles.size(), 3 * scratch.triangles.size());
  EXPECT_LT(5 * scratch.near_edges.size(), scratch.convex_edges.size());
}

}  // namespace
}  // namespace stiction::surface_bounds_test
