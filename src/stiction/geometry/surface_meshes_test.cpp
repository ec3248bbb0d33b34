// Concave meshes on concave meshes: rings that hang in each other, saddle on saddle.
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <set>

#include <gtest/gtest.h>

#include "stiction/geometry/random_surfaces.hpp"

namespace stiction::surface_meshes_test {
namespace {

using Eigen::Isometry3d;
using Eigen::Vector3d;

constexpr double kQuarter = std::numbers::pi / 2;
constexpr double kRing = 0.1, kTube = 0.03;
constexpr int kAround = 24, kAcross = 12;

/// About z: circle of radius kRing, tube of radius kTube. `single`: in single precision, as a file may give it; its quadrangles are flat to
/// that only.
TriangleMesh ring_mesh(bool single = false) {
  TriangleMesh m;
  const auto rounded = [&](double x) { return single ? static_cast<double>(static_cast<float>(x)) : x; };
  for (int i = 0; i < kAround; ++i) {
    for (int j = 0; j < kAcross; ++j) {
      const double a = 2.0 * std::numbers::pi * i / kAround, b = 2.0 * std::numbers::pi * j / kAcross, r = kRing + kTube * std::cos(b);
      m.vertices.emplace_back(rounded(r * std::cos(a)), rounded(r * std::sin(a)), rounded(kTube * std::sin(b)));
    }
  }
  const auto at = [](int i, int j) { return i % kAround * kAcross + j % kAcross; };
  for (int i = 0; i < kAround; ++i) {
    for (int j = 0; j < kAcross; ++j) {
      m.triangles.emplace_back(at(i, j), at(i + 1, j), at(i + 1, j + 1));
      m.triangles.emplace_back(at(i, j), at(i + 1, j + 1), at(i, j + 1));
    }
  }
  return m;
}

/// A ring in the plane of x and z, and one in that of y and z that hangs in it `overlap` deep; both turned about their own axes.
Isometry3d upper(double turn = 0.0) { return pose({0, 0, 0}, {kQuarter, 0, 0}) * pose({0, 0, 0}, {0, 0, turn}); }
Isometry3d lower(double overlap, double turn = 0.0, double x = 0.0, double y = 0.0) {
  return pose({x, y, 2.0 * (kTube - kRing) - overlap}, {0, kQuarter, 0}) * pose({0, 0, 0}, {0, 0, turn});
}

/// A small thing anywhere in the tube is pushed out of it, in the hole or beside the ring it is free.
TEST(SurfaceMeshes, WhatLiesWhollyInARingIsPushedOut) {
  constexpr double kSmall = 0.002;
  const double sagitta =
      kTube * (1.0 - std::cos(std::numbers::pi / kAcross)) + (kRing + kTube) * (1.0 - std::cos(std::numbers::pi / kAround));
  ShapePair ball(Sphere{kSmall}, ring_mesh()), mesh(mesh_box(Vector3d::Constant(kSmall)), ring_mesh());
  Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const double a = random(-3.2, 3.2), b = random(-3.2, 3.2), off = random(0.0, 0.09);
    const double r = kRing + off * std::cos(b);
    const Isometry3d X = pose({r * std::cos(a), r * std::sin(a), off * std::sin(b)}), W = random.pose(1.0);
    SCOPED_TRACE(::testing::Message() << a << ' ' << b << ' ' << off);
    if (off > kTube + 2.0 * kSmall) {
      EXPECT_TRUE(ball.contacts(W * X, W, 0.0).empty());
      EXPECT_TRUE(mesh.contacts(W * X, W, 0.0).empty());
    } else if (off < kTube - sagitta) {
      const auto& contacts = ball.contacts(W * X, W, 0.0);
      ASSERT_FALSE(contacts.empty());
      EXPECT_NEAR(deepest(contacts).gap, off - kTube - kSmall, sagitta);
      EXPECT_FALSE(mesh.contacts(W * X, W, 0.0).empty());
    }
  }
}

/// Corner on corner of two polygons: each of the four pairs of edges there holds, along the normal that both are square to.
TEST(SurfaceMeshes, RingsHangCornerOnCorner) {
  ShapePair pair(ring_mesh(), ring_mesh());
  const double slope = std::tan(std::numbers::pi / kAround), along = 1.0 / std::sqrt(1.0 + 2.0 * slope * slope);
  for (const double overlap : {-1e-3, -1e-6, 0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 8e-3, 15e-3}) {
    for (const double off : {0.0, 1e-9}) {
      const auto& contacts = pair.contacts(upper(), lower(overlap, 0.0, off, 0.7 * off), 0.005);
      SCOPED_TRACE(::testing::Message() << overlap << " deep, " << off << " aside");
      if (off > std::abs(overlap)) continue;  // only the nearest pair crosses
      ASSERT_GE(contacts.size(), 4u);
      EXPECT_NEAR(deepest(contacts).gap, -overlap * along, 1e-9);
      // Deeper than some 5 mm the next edges hold, too.
      const auto holds = [&](const auto& c) {
        return std::abs(c.gap + overlap * along) < 1e-9 && std::abs(std::abs(c.n.z()) - along) < 1e-9;
      };
      EXPECT_EQ(std::count_if(contacts.begin(), contacts.end(), holds), 4);
    }
  }
}

/// A signed distance changes by no more than the motion; so does the least gap.
TEST(SurfaceMeshes, DepthIsContinuousAsRingsSink) {
  const char* wanted = std::getenv("STICTION_GEOMETRY_PAIRS");
  const int motions = wanted == nullptr ? 20 : std::max(20, std::atoi(wanted) / 50);
  constexpr double kStep = 5e-5, kDepth = 5e-3, kMargin = 2e-3;
  ShapePair pair(ring_mesh(), ring_mesh());
  Random random(3);
  int steps = 0, jumps = 0;
  double worst = 0.0;
  for (int m = 0; m < motions; ++m) {
    const Isometry3d X = upper(random(0.0, 1.0));
    Isometry3d Y = lower(-0.005, random(0.0, 1.0), random(-0.02, 0.02), random(-0.02, 0.02));
    const Vector3d way = Vector3d(random(-0.5, 0.5), random(-0.5, 0.5), -1.0).normalized();
    double before = kMargin;
    for (int i = 0; i < 400 && before > -kDepth; ++i) {
      Y.translation() += kStep * way;
      const auto& contacts = pair.contacts(X, Y, kMargin);
      const double gap = contacts.empty() ? kMargin : deepest(contacts).gap;
      ++steps;
      if (i > 0 && std::abs(gap - before) > kStep + 1e-9) {
        ++jumps, worst = std::max(worst, std::abs(gap - before));
        ADD_FAILURE() << "motion " << m << ", step " << i << ": from " << before << " to " << gap;
      }
      before = gap;
    }
    EXPECT_LE(before, -kDepth) << m;
  }
  std::printf("%d steps, %d jumps, the largest of %g m\n", steps, jumps, worst);
}

/// The same, of convex shapes that sink into the tube along its normal, to beyond a third of its thickness.
TEST(SurfaceMeshes, DepthIsContinuousAsShapesSinkIntoARing) {
  const char* wanted = std::getenv("STICTION_GEOMETRY_PAIRS");
  const int motions = wanted == nullptr ? 60 : std::max(60, std::atoi(wanted) / 10);
  constexpr double kStep = 1e-4, kDepth = 0.011, kMargin = 2e-3;
  Random random(5);
  for (const Shape& shape :
       {Shape(Sphere{0.02}), Shape(Capsule{0.015, 0.03}), Shape(Box{{0.02, 0.025, 0.015}}), Shape(Cylinder{0.02, 0.025})}) {
    ShapePair pair(shape, ring_mesh());
    int steps = 0, jumps = 0;
    double worst = 0.0;
    for (int m = 0; m < motions; ++m) {
      const double a = random(0.0, 2.0 * std::numbers::pi), b = random(0.0, 2.0 * std::numbers::pi);
      const Vector3d out(std::cos(a) * std::cos(b), std::sin(a) * std::cos(b), std::sin(b));
      Isometry3d X = random.pose(0.0);
      X.translation() = kRing * Vector3d(std::cos(a), std::sin(a), 0.0) + 0.1 * out;
      double before = kMargin;
      for (int i = 0; i < 900 && before > -kDepth; ++i) {
        X.translation() -= kStep * out;
        const auto& contacts = pair.contacts(X, Isometry3d::Identity(), kMargin);
        const double gap = contacts.empty() ? kMargin : deepest(contacts).gap;
        ++steps;
        if (i > 0 && std::abs(gap - before) > kStep + 1e-9) {
          ++jumps, worst = std::max(worst, std::abs(gap - before));
        }
        before = gap;
      }
    }
    std::printf("%s: %d steps, %d jumps, the largest of %g m\n", std::string(shape_name(shape)).c_str(), steps, jumps, worst);
    EXPECT_LE(jumps, steps / 2000);  // what is left open: see the room's README
    EXPECT_LT(worst, 4e-3);
  }
}

/// Two triangles of one quadrangle share its name: a corner over both is one contact.
TEST(SurfaceMeshes, NoTwoContactsShareAnId) {
  const TriangleMesh ring = ring_mesh(true);
  Random random(1);
  int touching = 0;
  ShapePair rings(ring, ring), star(ring, star_mesh(random, 2, 0.08, 0.7)), disc(Cylinder{0.03, 0.02}, ring),
      box(Box{{0.03, 0.02, 0.02}}, ring);
  for (ShapePair* pair : {&rings, &star, &disc, &box}) {
    for (int trial = 0; trial < 1000; ++trial) {
      Isometry3d X = random.pose(0.0), Y = random.pose(0.0);
      const Vector3d on(kRing * std::cos(trial), kRing * std::sin(trial), 0.0);
      if (pair == &rings || pair == &star) {
        X.translation() = 0.13 * random.vector(1.0).normalized();
      } else {
        X.translation() = Y * (on + 0.04 * random.vector(1.0).normalized());
      }
      std::set<std::uint64_t> ids;
      const auto& contacts = pair->contacts(X, Y, 0.005);
      touching += contacts.size() > 1;
      for (const auto& c : contacts) EXPECT_TRUE(ids.insert(c.id).second) << trial << ", gap " << c.gap;
    }
  }
  EXPECT_GT(touching, 1000);
}

}  // namespace
}  // namespace stiction::surface_meshes_test
