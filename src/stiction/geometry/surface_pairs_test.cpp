#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/geometry/pair_fixture.hpp"
#include "stiction/geometry/surface.hpp"
#include "stiction/geometry/terrain.hpp"

namespace stiction::surface_pairs_test {
namespace {

using Eigen::Isometry3d;
using Eigen::Vector3d;

constexpr double kQuarter = std::numbers::pi / 2;

HeightMap flat_map(double height, int n = 9) {
  HeightMap m;
  m.heights = Eigen::MatrixXd::Constant(n, n, height);
  m.size_x = m.size_y = 2.0;
  m.bottom = -1.0;
  return m;
}

/// Same points (position, normal, gap), whatever their order.
void expect_same(const std::vector<ContactPoint>& expected, const std::vector<ContactPoint>& actual, double tolerance = 1e-9) {
  EXPECT_EQ(expected.size(), actual.size());
  for (const ContactPoint& e : expected) {
    const bool found = std::any_of(actual.begin(), actual.end(), [&](const ContactPoint& a) {
      return (a.p_WC - e.p_WC).norm() < tolerance && (a.n - e.n).norm() < tolerance && std::abs(a.gap - e.gap) < tolerance;
    });
    EXPECT_TRUE(found) << "no point at " << e.p_WC.transpose() << " along " << e.n.transpose() << " with gap " << e.gap;
  }
}

TEST(Surface, InnerEdgesOfAFlatMeshAreNotConvex) {
  const Surface s = make_surface(mesh_box({1, 1, 1}, 4), "mesh");
  EXPECT_EQ(s.convex_vertices.size(), 8u);
  int convex = 0, concave = 0;
  for (const auto& e : s.edges) convex += e.convex, concave += e.concave;
  EXPECT_EQ(convex, 12 * 4);
  EXPECT_EQ(concave, 0);
  std::vector<int> patches = s.patch;
  std::sort(patches.begin(), patches.end());
  EXPECT_EQ(std::unique(patches.begin(), patches.end()) - patches.begin(), 6);
}

TEST(Surface, InsideOutMeshesAreTurned) {
  TriangleMesh m = mesh_box({1, 1, 1});
  for (auto& t : m.triangles) std::swap(t[1], t[2]);
  const Surface s = make_surface(m, "mesh");
  for (const auto& t : s.triangles) EXPECT_GT(t.normal.dot(s.vertex(t.v[0])), 0.0);
}

TEST(Surface, RepeatedTrianglesCountOnce) {
  const TriangleMesh box = mesh_box({1, 1, 1}, 2);
  TriangleMesh repeated = box;
  for (std::size_t i = 0; i < box.triangles.size(); i += 3) {
    const auto& t = box.triangles[i];
    repeated.triangles.emplace_back(t[1], t[2], t[0]);
    repeated.triangles.push_back(t);
  }
  const Surface expected = make_surface(box, "mesh"), s = make_surface(repeated, "mesh");
  EXPECT_EQ(s.triangles.size(), expected.triangles.size());
  EXPECT_EQ(s.edges.size(), expected.edges.size());
  EXPECT_EQ(s.convex_vertices, expected.convex_vertices);
  EXPECT_FALSE(s.open);
}

/// One triangle wound against its neighbours, in an open mesh and in a closed one.
TEST(Surface, TrianglesThatFaceApartAreRefused) {
  const TriangleMesh sheet{{{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}}, {{0, 1, 2}, {0, 3, 2}}};
  TriangleMesh box = mesh_box({1, 1, 1});
  std::swap(box.triangles[5][0], box.triangles[5][1]);
  const auto refusal = [](const TriangleMesh& m) -> std::string {
    try {
      make_surface(m, "floor", true);
    } catch (const InvalidArgument& e) {
      return e.what();
    }
    return "";
  };
  const std::string said = refusal(sheet);
  for (const char* part : {"floor", "triangles 0 and 1", "(1, 1, 0)", "(-1, -1, 0)"}) EXPECT_NE(said.find(part), std::string::npos) << said;
  EXPECT_NE(refusal(box), "");
}

/// Two boxes with an edge in common: four triangles meet there, each box keeps its own.
TEST(Surface, BoxesThatShareAnEdgeStayTwo) {
  TriangleMesh two = mesh_box({1, 1, 1});
  const TriangleMesh other = two;
  for (const auto& v : other.vertices) two.vertices.emplace_back(v + Vector3d(2, 2, 0));
  for (const auto& t : other.triangles) two.triangles.emplace_back(t + Eigen::Vector3i::Constant(static_cast<int>(other.vertices.size())));
  const Surface s = make_surface(two, "mesh");
  EXPECT_FALSE(s.open);
  for (const auto& e : s.edges) EXPECT_TRUE(e.right >= 0);
}

TEST(Surface, QueryFindsWhatBruteForceFinds) {
  const Surface s = make_surface(mesh_box({1, 0.7, 0.4}, 6), "mesh");
  Random random(5);
  std::vector<int> found;
  for (int trial = 0; trial < 200; ++trial) {
    const Vector3d c = random.vector(1.2), h = random.vector(0.5).cwiseAbs();
    s.query(c - h, c + h, found);
    std::vector<int> expected;
    for (int t = 0; t < static_cast<int>(s.triangles.size()); ++t) {
      Eigen::AlignedBox3d box;
      for (int v : s.triangle(t).v) box.extend(s.vertex(v));
      if (box.intersects(Eigen::AlignedBox3d(c - h, c + h))) expected.push_back(t);
    }
    EXPECT_EQ(found, expected);
  }
}

/// Poses over the top face (z = 0.1) of a box of half extents (0.6, 0.5, 0.1).
struct OverTable {
  const char* name;
  Shape shape;
  Isometry3d X;
};
std::vector<OverTable> over_table() {
  const Sphere sphere{0.1};
  const Capsule capsule{0.05, 0.1};
  const Box box{{0.15, 0.1, 0.05}};
  const Cylinder cylinder{0.1, 0.12};
  return {
      {"sphere on face", sphere, pose({0.11, 0.07, 0.201})},
      {"sphere in face", sphere, pose({0.11, 0.07, 0.195})},
      {"sphere off edge", sphere, pose({0.63, 0.07, 0.17})},
      {"sphere off corner", sphere, pose({0.64, 0.54, 0.15})},
      {"capsule lying", capsule, pose({0.1, 0.033, 0.151}, {0, kQuarter, 0})},
      {"capsule tilted", capsule, pose({0.1, 0.033, 0.16}, {0, 1.5, 0.2})},
      {"capsule standing", capsule, pose({0.1, 0.033, 0.249})},
      {"box lying", box, pose({0.1, 0.033, 0.149}, {0, 0, 0.3})},
      {"box over the edge", box, pose({0.55, 0.033, 0.1501}, {0, 0, 0.3})},
      {"box over the corner", box, pose({0.55, 0.45, 0.1501})},
      {"cylinder standing", cylinder, pose({0.1, 0.033, 0.2199}, {0, 0, 0.3})},
      {"cylinder lying", cylinder, pose({0.1, 0.033, 0.201}, {0, kQuarter, 0.2})},
  };
}

TEST(SurfacePairs, MeshBoxGivesTheContactsOfTheBox) {
  const Vector3d table(0.6, 0.5, 0.1);
  for (const auto& [name, shape, X] : over_table()) {
    ShapePair reference(shape, Box{table});
    Random random(2);
    for (int n : {1, 3, 8}) {
      ShapePair mesh(shape, mesh_box(table, n)), turned(mesh_box(table, n), shape);
      for (const Isometry3d& W : {Isometry3d(Isometry3d::Identity()), random.pose(1.0)}) {
        SCOPED_TRACE(::testing::Message() << name << ", " << n << " squares a side");
        const auto expected = reference.contacts(W * X, W, 0.02);
        ASSERT_FALSE(expected.empty());
        expect_same(expected, mesh.contacts(W * X, W, 0.02), 1e-8);
        auto other = turned.contacts(W, W * X, 0.02);
        for (auto& c : other) c.n = -c.n;
        expect_same(expected, other, 1e-8);
      }
    }
  }
}

TEST(SurfacePairs, MeshOnMeshGivesTheContactsOfTheBoxes) {
  const Vector3d table(0.6, 0.5, 0.1), h(0.15, 0.1, 0.05);
  ShapePair boxes(Box{h}, Box{table}), meshes(mesh_box(h, 2), mesh_box(table, 5));
  for (const Isometry3d& X :
       {pose({0.1, 0.033, 0.1499}, {0, 0, 0.3}), pose({0.55, 0.033, 0.1501}, {0, 0, 0.3}), pose({0.55, 0.45, 0.1501})}) {
    expect_same(boxes.contacts(X, Isometry3d::Identity(), 0.02), meshes.contacts(X, Isometry3d::Identity(), 0.02), 1e-8);
  }
}

TEST(SurfacePairs, MeshOnPlaneGivesTheContactsOfTheBox) {
  const Vector3d h(0.15, 0.1, 0.05);
  ShapePair box(Box{h}, HalfSpace{}), mesh(mesh_box(h, 4), HalfSpace{});
  for (const Isometry3d& X : {pose({0, 0, 0.05}), pose({0, 0, 0.06}, {0.1, 0.05, 0.2})}) {
    expect_same(box.contacts(X, Isometry3d::Identity(), 0.05), mesh.contacts(X, Isometry3d::Identity(), 0.05));
  }
}

TEST(SurfacePairs, LargerBoxOnASmallMeshRestsOnItsCorners) {
  const Vector3d h(0.15, 0.1, 0.05), table(0.05, 0.04, 0.1);
  ShapePair boxes(Box{h}, Box{table}), mesh(Box{h}, mesh_box(table, 2));
  const Isometry3d X = pose({0.01, 0.02, 0.1499}, {0, 0, 0.4});
  expect_same(boxes.contacts(X, Isometry3d::Identity(), 0.01), mesh.contacts(X, Isometry3d::Identity(), 0.01));
}

/// Over the plane z = 0.3.
std::vector<std::pair<Shape, Isometry3d>> over_plane() {
  const Vector3d h(0.15, 0.1, 0.05);
  return {
      {Sphere{0.1}, pose({0.01, 0.02, 0.3995})},
      {Capsule{0.05, 0.2}, pose({0.01, 0.02, 0.351}, {kQuarter, 0, 0})},
      {Capsule{0.05, 0.2}, pose({0.01, 0.02, 0.351}, {kQuarter - 0.02, 0, 0})},
      {Box{h}, pose({0.01, 0.02, 0.3499}, {0, 0, 0.3})},
      {Box{h}, pose({0.01, 0.02, 0.36}, {0.1, 0.05, 0.3})},
      {convex_box(h), pose({0.01, 0.02, 0.3499}, {0, 0, 0.3})},
      {mesh_box(h, 3), pose({0.01, 0.02, 0.3499}, {0, 0, 0.3})},
      {Cylinder{0.1, 0.2}, pose({0.01, 0.02, 0.5001})},
      {Cylinder{0.1, 0.2}, pose({0.01, 0.02, 0.405}, {kQuarter - 0.02, 0, 0})},
  };
}

TEST(SurfacePairs, EverythingOnAFlatHeightMapIsAsOnAPlane) {
  for (const auto& [shape, X] : over_plane()) {
    SCOPED_TRACE(shape_name(shape));
    ShapePair plane(shape, HalfSpace{}), map(shape, flat_map(0.3));
    const auto expected = plane.contacts(X, pose({0, 0, 0.3}), 0.01);
    ASSERT_FALSE(expected.empty());
    expect_same(expected, map.contacts(X, Isometry3d::Identity(), 0.01));
  }
}

/// Compliant laws store energy in every point that overlaps: none may come or go at depth.
TEST(SurfacePairs, CylindersDiveIntoAFlatHeightMapAsIntoAPlane) {
  Random random(8);
  for (const Cylinder& shape : {Cylinder{0.05, 0.002}, Cylinder{0.05, 0.02}, Cylinder{0.02, 0.05}}) {
    ShapePair plane(shape, HalfSpace{}), map(shape, flat_map(0.3));
    for (int i = 0; i < 200; ++i) {
      Isometry3d X = random.pose(0.0);
      const double axis = std::abs(X.linear()(2, 2)), reach = axis * shape.half_length + std::sqrt(1.0 - axis * axis) * shape.radius;
      X.translation() = Vector3d(0.013, 0.017, 0.3 + random(-0.9, 1.0) * reach);
      const auto expected = plane.contacts(X, pose({0, 0, 0.3}), 0.01);
      SCOPED_TRACE(::testing::Message() << i << ": " << expected.size());
      expect_same(expected, map.contacts(X, Isometry3d::Identity(), 0.01));
    }
  }
}

/// Corners of a tilted cap that fade bear in front of where they are: not of the far side of what is thinner than that.
TEST(SurfacePairs, CoinsOverAThinPlateAreAsOverAThickOne) {
  Random random(9);
  const double thin = 0.0005;
  for (const double radius : {0.05, 0.1, 0.3}) {
    const Cylinder coin{radius, thin};
    ShapePair thick(coin, mesh_box({1.0, 1.0, 0.5}, 4)), plate(coin, mesh_box({1.0, 1.0, thin}, 4));
    for (int i = 0; i < 300; ++i) {
      Isometry3d X = Isometry3d::Identity();
      X.linear() = (Eigen::AngleAxisd(random(-3.0, 3.0), Vector3d::UnitZ()) * Eigen::AngleAxisd(random(0.0, 0.7), Vector3d::UnitX()) *
                    Eigen::AngleAxisd(random(-3.0, 3.0), Vector3d::UnitZ()))
                       .toRotationMatrix();
      const double axis = std::abs(X.linear()(2, 2)), reach = axis * thin + std::sqrt(1.0 - axis * axis) * radius;
      X.translation() = Vector3d(0.013, 0.017, thin + reach + random(0.0, 5e-4));
      const auto expected = thick.contacts(X, pose({0, 0, thin - 0.5}), 1e-3);
      SCOPED_TRACE(i);
      expect_same(expected, plate.contacts(X, Isometry3d::Identity(), 1e-3));
    }
  }
}

/// Whoever is wholly in the solid, whichever of the two is the first, is pushed out where that is nearest.
TEST(SurfacePairs, EverythingWhollyUnderAFlatHeightMapIsAsUnderAPlane) {
  for (const auto& [shape, X] : over_plane()) {
    ShapePair plane(shape, HalfSpace{}), map(shape, flat_map(0.3)), turned(flat_map(0.3), shape);
    for (const double down : {0.32, 0.45, 0.6}) {
      SCOPED_TRACE(::testing::Message() << shape_name(shape) << ' ' << down);
      const Isometry3d deep = pose({0, 0, -down}) * X;
      const auto expected = plane.contacts(deep, pose({0, 0, 0.3}), 0.01);
      ASSERT_FALSE(expected.empty());
      expect_same(expected, map.contacts(deep, Isometry3d::Identity(), 0.01));
      expect_same(expected, turned.contacts(Isometry3d::Identity(), deep, 0.01));
    }
    EXPECT_TRUE(map.contacts(pose({0, 0, -2.0}) * X, Isometry3d::Identity(), 0.01).empty());
    EXPECT_TRUE(map.contacts(pose({0, 0, 0.5}) * X, Isometry3d::Identity(), 0.01).empty());
    EXPECT_TRUE(map.contacts(pose({1.5, 0, -0.5}) * X, Isometry3d::Identity(), 0.01).empty());
  }
}

/// Corners exactly over vertices, edges and diagonals of the map (spacing 1/4, scaled so that its lines are not round numbers).
TEST(SurfacePairs, NoPointIsLostBetweenTriangles) {
  for (double size : {2.0, 2.2, 1.7}) {
    HeightMap m = flat_map(0.3);
    m.size_x = m.size_y = size;
    const double cell = size / 8.0;
    for (const Shape& shape : {Shape(Box{{cell, cell, 0.05}}), Shape(Capsule{0.05, cell}), convex_box({cell, 2.0 * cell, 0.05}),
                               Shape(mesh_box({cell, cell, 0.05})), Shape(Cylinder{cell, 0.05})}) {
      ShapePair plane(shape, HalfSpace{}), map(shape, m);
      const bool capsule = std::holds_alternative<Capsule>(shape);
      for (double gap : {-1e-4, 0.0, 1e-4}) {
        for (int i = 0; i < 16; ++i) {
          const int row = i / 4, column = i % 4;
          const Vector3d p(cell * column / 2.0, cell * row / 2.0, 0.35 + gap);
          for (double yaw : {0.0, 0.5 * kQuarter}) {
            const Isometry3d X = pose({0, 0, 0}, {0, 0, yaw}) * (capsule ? pose({0, 0, 0}, {kQuarter, 0, 0}) : Isometry3d::Identity());
            const Isometry3d at = pose(p) * X;
            SCOPED_TRACE(::testing::Message() << shape_name(shape) << ' ' << i << ' ' << yaw << ' ' << gap << ' ' << size);
            expect_same(plane.contacts(at, pose({0, 0, 0.3}), 0.01), map.contacts(at, Isometry3d::Identity(), 0.01), 1e-8);
          }
        }
      }
    }
  }
}

/// Distances of nothing but rounding have either sign.
TEST(SurfacePairs, NothingThatJustTouchesATiltedSurfaceIsLost) {
  constexpr double kSlope = 0.3, kRadius = 0.1;
  HeightMap slope = flat_map(0.0, 41);
  slope.size_x = 12.0;
  for (int row = 0; row < 41; ++row) slope.heights.row(row).setConstant(-std::tan(kSlope) * (0.3 * row - 6.0));
  slope.bottom = -9.0;
  const Isometry3d tilt = pose({0, 0, 0}, {0, kSlope, 0});
  for (const Shape& ground : {Shape(slope), Shape(mesh_box({12.0, 2.0, 1.0}, 8))}) {
    const bool map = std::holds_alternative<HeightMap>(ground);
    for (const Shape& shape : {Shape(Sphere{kRadius}), Shape(Capsule{kRadius, 0.2}), Shape(Cylinder{kRadius, 0.1}),
                               Shape(Box{{0.1, 0.1, 0.1}}), convex_box({0.1, 0.1, 0.1}), Shape(mesh_box({0.1, 0.1, 0.1}))}) {
      const bool rolls = std::holds_alternative<Capsule>(shape) || std::holds_alternative<Cylinder>(shape);
      ShapePair pair(shape, ground);
      Random random(1);
      int lost = 0;
      for (int i = 0; i < 400; ++i) {
        const double gap = std::array{0.0, 1e-17, 1e-16, -1e-16}[static_cast<std::size_t>(i) % 4];
        const Isometry3d turned =
            rolls ? pose({0, 0, 0}, {0, random(-3, 3), 0}) * pose({0, 0, 0}, {kQuarter, 0, 0}) : Isometry3d::Identity();
        const Isometry3d X = tilt * pose({random(-3, 3), 0, kRadius + gap}) * turned;
        lost += pair.contacts(X, map ? Isometry3d::Identity() : tilt * pose({0, 0, -1}), 1e-5).empty();
      }
      EXPECT_EQ(lost, 0) << shape_name(shape) << " on a " << shape_name(ground);
    }
  }
}

/// Smooth ground of a micrometre bends by more than one plane may, though no two triangles side by side do.
TEST(SurfacePairs, ContactsOnNearlyFlatGroundHaveNamesOfTheirOwn) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    TerrainOptions options;
    options.kind = TerrainKind::hills;
    options.seed = seed;
    options.size_x = options.size_y = 2.0;
    options.height = 1e-6;
    const BodyShape ground = make_terrain(options);
    ShapePair pair(Box{{0.1, 0.1, 0.1}}, ground.shape);
    std::vector<std::uint64_t> ids;
    const double z = terrain_height(ground.shape, 0.0, 0.0).value() + 0.1 - 1e-4;
    for (const ContactPoint& c : pair.contacts(pose({0, 0, z}), Isometry3d::Identity(), 1e-3)) ids.push_back(c.id);
    EXPECT_GE(ids.size(), 4u);
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end()) << seed;
  }
}

TEST(SurfacePairs, SphereInAValleyTouchesBothSides) {
  HeightMap m = flat_map(0.0, 3);
  m.heights.row(0).setConstant(1.0);
  m.heights.row(2).setConstant(1.0);  // z = |x|
  ShapePair pair(Sphere{0.1}, m);
  for (double gap : {0.001, 0.0, -0.001}) {
    const auto& contacts = pair.contacts(pose({0, 0.1, std::sqrt(2.0) * (0.1 + gap)}), Isometry3d::Identity(), 0.01);
    ASSERT_EQ(contacts.size(), 2u) << gap;
    for (const auto& c : contacts) {
      EXPECT_NEAR(c.gap, gap, 1e-12);
      EXPECT_NEAR(c.n.z(), std::sqrt(0.5), 1e-12);
    }
    EXPECT_NEAR(contacts[0].n.x() + contacts[1].n.x(), 0.0, 1e-12);
  }
}

TEST(SurfacePairs, CornerInAValleyIsHeldByBothSides) {
  HeightMap m = flat_map(0.0, 3);
  m.heights.row(0).setConstant(1.0);
  m.heights.row(2).setConstant(1.0);
  ConvexMesh spike;
  spike.vertices = {{0, 0, 0}, {0.02, 0.02, 0.2}, {-0.02, 0.02, 0.2}, {-0.02, -0.02, 0.2}, {0.02, -0.02, 0.2}};
  ShapePair pair(spike, m);
  for (double depth : {-1e-3, 1e-5, 1e-3}) {
    const auto& contacts = pair.contacts(pose({0, 0.1, -depth}), Isometry3d::Identity(), 0.002);
    ASSERT_EQ(contacts.size(), 2u) << depth;
    for (const auto& c : contacts) EXPECT_NEAR(c.gap, -depth * std::sqrt(0.5), 1e-12);
  }
}

TEST(SurfacePairs, BumpHoldsABoxInTheMiddle) {
  HeightMap m = flat_map(0.0, 5);
  m.heights(2, 2) = 0.2;  // a pyramid
  ShapePair pair(Box{{0.3, 0.3, 0.1}}, m), sphere(Sphere{0.1}, m);
  for (double gap : {0.003, 0.0, -0.003}) {
    const auto& contacts = pair.contacts(pose({0.05, 0.02, 0.3 + gap}), Isometry3d::Identity(), 0.01);
    ASSERT_EQ(contacts.size(), 1u);
    EXPECT_NEAR(contacts[0].gap, gap, 1e-12);
    EXPECT_LT((contacts[0].n - Vector3d::UnitZ()).norm(), 1e-12);
    EXPECT_LT((contacts[0].p_WC - Vector3d(0, 0, 0.2)).norm(), 1e-12);
  }
  const auto& top = sphere.contacts(pose({0, 0, 0.305}), Isometry3d::Identity(), 0.01);
  ASSERT_EQ(top.size(), 1u);
  EXPECT_NEAR(top[0].gap, 0.005, 1e-12);
}

TEST(SurfacePairs, RidgeHoldsABoxByTheCrossings) {
  HeightMap m = flat_map(0.0, 3);
  m.heights.row(1).setConstant(0.3);  // roof with its ridge along y
  ShapePair box(Box{{0.2, 0.1, 0.05}}, m), capsule(Capsule{0.05, 0.2}, m), cylinder(Cylinder{0.05, 0.2}, m);
  const auto& contacts = box.contacts(pose({0.02, 0.1, 0.351}), Isometry3d::Identity(), 0.01);
  ASSERT_EQ(contacts.size(), 2u);
  for (const auto& c : contacts) {
    EXPECT_NEAR(c.gap, 0.001, 1e-12);
    EXPECT_LT((c.n - Vector3d::UnitZ()).norm(), 1e-12);
    EXPECT_NEAR(std::abs(c.p_WC.y() - 0.1), 0.1, 1e-12);
  }
  for (ShapePair* pair : {&capsule, &cylinder}) {
    const auto& one = pair->contacts(pose({0.02, 0.1, 0.351}, {0, kQuarter, 0}), Isometry3d::Identity(), 0.01);
    ASSERT_EQ(one.size(), 1u);
    EXPECT_NEAR(one[0].gap, 0.001, 1e-12);
    EXPECT_LT((one[0].n - Vector3d::UnitZ()).norm(), 1e-12);
    EXPECT_NEAR(one[0].p_WC.x(), 0.0, 1e-12);
  }
}

// Heights -0.6 |y|: a ridge along x of forty segments.
HeightMap roof() {
  HeightMap m = flat_map(0.0, 41);
  for (int j = 0; j < 41; ++j) m.heights.col(j).setConstant(-0.6 * std::abs(j - 20) / 20.0);
  return m;
}

TEST(SurfacePairs, RidgeHoldsADiscAtAnyTilt) {
  ShapePair disc(Cylinder{0.1, 0.025}, roof());
  for (const double tilt : {0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3}) {
    const auto& contacts = disc.contacts(pose({0.013, 0.013, 0.024}, {0, tilt, 0}), Isometry3d::Identity(), 0.01);
    ASSERT_FALSE(contacts.empty()) << tilt;
    EXPECT_NEAR(deepest(contacts).gap, -0.001, 0.11 * tilt + 1e-9) << tilt;
  }
}

TEST(SurfacePairs, RidgeOfSegmentsHoldsABoxAtAnyDepth) {
  ShapePair box(Box{{0.1, 0.1, 0.025}}, roof());
  const Eigen::Quaterniond turn(2.953470e-01, -4.287304e-04, 9.266394e-04, 9.553895e-01);
  Isometry3d X = Isometry3d::Identity();
  X.linear() = turn.normalized().toRotationMatrix();
  for (int k = -10; k < 40; ++k) {  // 1 mm apart to 4 mm deep
    X.translation() = Vector3d(2.584501e-02, 3.563174e-02, 2.496188e-02 - 1e-4 * k);
    const auto& contacts = box.contacts(X, Isometry3d::Identity(), 0.01);
    std::vector<double> along;  // where the ridge leaves the box; the corner over a slope is 6 to 1.5 mm apart
    for (const auto& c : contacts) {
      if (c.n.z() < 0.99) continue;
      along.push_back(c.p_WC.x());
      EXPECT_NEAR(c.gap, -1e-4 * k, 1e-4) << k;
    }
    ASSERT_EQ(along.size(), 2u) << k;
    EXPECT_NEAR(std::abs(along[0] - along[1]), 0.222, 1e-3) << k;
  }
}

TEST(SurfacePairs, SlidingOverInnerEdgesKeepsNormalsAndIds) {
  ShapePair pair(Box{{0.1, 0.08, 0.05}}, mesh_box({1, 1, 0.1}, 10));
  std::vector<std::uint64_t> ids;
  for (int i = 0; i <= 200; ++i) {
    const auto& contacts = pair.contacts(pose({-0.4 + 0.004 * i, 0.01, 0.1499}, {0, 0, 0.1}), Isometry3d::Identity(), 0.01);
    ASSERT_EQ(contacts.size(), 4u) << i;
    std::vector<std::uint64_t> now;
    for (const auto& c : contacts) {
      EXPECT_LT((c.n - Vector3d::UnitZ()).norm(), 1e-12);
      EXPECT_NEAR(c.gap, -0.0001, 1e-12);
      now.push_back(c.id);
    }
    std::sort(now.begin(), now.end());
    if (i > 0) {
      EXPECT_EQ(now, ids);
    }
    ids = now;
  }
}

/// dφ/dt = n · relative velocity, for every point of shapes on a rough height map.
TEST(SurfacePairs, DerivativeIsTheNormalVelocity) {
  Random random(21);
  HeightMap m = flat_map(0.0, 9);
  for (Eigen::Index i = 0; i < m.heights.size(); ++i) m.heights.data()[i] = random(-0.1, 0.1);
  constexpr double h = 1e-7;
  int checked = 0;
  for (const Shape& shape : {Shape(Sphere{0.15}), Shape(Capsule{0.05, 0.2}), Shape(Box{{0.15, 0.1, 0.1}}), convex_box({0.1, 0.1, 0.2}),
                             Shape(mesh_box({0.15, 0.1, 0.1}))}) {
    ShapePair pair(shape, m);
    for (int trial = 0; trial < 100; ++trial) {
      Isometry3d X = random.pose(0.3);
      X.translation().z() = random(0.12, 0.25);
      const std::vector<ContactPoint> now = pair.contacts(X, Isometry3d::Identity(), 0.02);
      const Vector3d v = random.vector(1.0), w = random.vector(1.0);
      const std::vector<ContactPoint> ahead = pair.contacts(moved(X, v, w, h), Isometry3d::Identity(), 0.021);
      const std::vector<ContactPoint> behind = pair.contacts(moved(X, v, w, -h), Isometry3d::Identity(), 0.021);
      for (const auto& c : now) {
        const auto same = [&](const ContactPoint& x) { return x.id == c.id; };
        const auto a = std::find_if(ahead.begin(), ahead.end(), same), b = std::find_if(behind.begin(), behind.end(), same);
        if (a == ahead.end() || b == behind.end()) continue;
        ++checked;
        EXPECT_NEAR((a->gap - b->gap) / (2.0 * h), c.n.dot(v + w.cross(c.p_WC + 0.5 * c.gap * c.n)), 1e-5)
            << shape_name(shape) << ", trial " << trial << ", gap " << c.gap;
      }
    }
  }
  EXPECT_GT(checked, 500);
}

}  // namespace
}  // namespace stiction::surface_pairs_test
