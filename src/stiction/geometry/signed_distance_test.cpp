// Random poses of every pair of convex shapes: against Coal's distance, and the derivative that the solvers rely on.
#include <gtest/gtest.h>

#include <coal/distance.h>

#include "stiction/geometry/collider.hpp"
#include "stiction/geometry/pair_fixture.hpp"

namespace stiction::signed_distance_test {
namespace {

using Eigen::Isometry3d;
using Eigen::Vector3d;

Shape random_hull(unsigned seed, int points) {
  Random random(seed);
  ConvexMesh m;
  for (int i = 0; i < points; ++i) m.vertices.push_back(random.vector(1.0).normalized().cwiseProduct(Vector3d(0.15, 0.1, 0.2)));
  return m;
}

std::vector<std::pair<const char*, Shape>> shapes() {
  return {{"sphere", Sphere{0.1}},           {"capsule", Capsule{0.05, 0.15}}, {"box", Box{{0.1, 0.15, 0.05}}},
          {"cylinder", Cylinder{0.1, 0.08}}, {"hull", random_hull(3, 12)},     {"big hull", random_hull(4, 200)}};
}

/// Pose of A near B such that gaps between -0.03 and 0.05 come up.
Isometry3d near_pose(Random& random, double size) {
  Isometry3d X = random.pose(0.0);
  X.translation() = random.vector(1.0).normalized() * random(0.7 * size, 1.2 * size);
  return X;
}

TEST(SignedDistance, AgreesWithCoalOnRandomPoses) {
  Random random(7);
  int apart = 0, penetrating = 0;
  for (const auto& [name_a, a] : shapes()) {
    for (const auto& [name_b, b] : shapes()) {
      ShapePair pair(a, b);
      const Collider ca = make_collider(a, "a"), cb = make_collider(b, "b");
      for (int trial = 0; trial < 300; ++trial) {
        const Isometry3d X_A = near_pose(random, 0.25), X_B = random.pose(0.1);
        const auto& contacts = pair.contacts(X_B * X_A, X_B, 1.0);
        SCOPED_TRACE(::testing::Message() << name_a << " on " << name_b << ", trial " << trial);
        ASSERT_FALSE(contacts.empty());
        coal::DistanceRequest request(true, true);
        coal::DistanceResult result;
        const Isometry3d X_WA = X_B * X_A;
        const double reference = coal::distance(ca.coal_shape.get(), {X_WA.linear(), X_WA.translation()}, cb.coal_shape.get(),
                                                {X_B.linear(), X_B.translation()}, request, result);
        const double gap = deepest(contacts).gap;
        if (reference > 1e-5) {
          ++apart;
          EXPECT_NEAR(gap, reference, 3e-6);
          EXPECT_LT((deepest(contacts).n + result.normal).norm(), 0.02);
        } else if (reference < -1e-5 && reference > -0.04) {
          ++penetrating;
          // Another local minimum of depth may be found, but never a deeper one than EPA's.
          EXPECT_GT(gap, reference - 3e-6);
          EXPECT_LT(gap, 0.0);
        }
      }
    }
  }
  EXPECT_GT(apart, 2000);
  EXPECT_GT(penetrating, 1000);
}

/// dφ/dt = n · (v_A - v_B) at the contact point, by central differences along random motions.
TEST(SignedDistance, DerivativeIsTheNormalVelocity) {
  Random random(11);
  constexpr double h = 1e-6;
  int checked = 0;
  auto all = shapes();
  all.emplace_back("plane", HalfSpace{});
  for (const auto& [name_a, a] : shapes()) {
    for (const auto& [name_b, b] : all) {
      ShapePair pair(a, b);
      for (int trial = 0; trial < 60; ++trial) {
        const bool plane = std::holds_alternative<HalfSpace>(b);
        const Isometry3d X_B = random.pose(0.1), X_A = X_B * near_pose(random, plane ? 0.15 : 0.22);
        const std::vector<ContactPoint> contacts = pair.contacts(X_A, X_B, 1.0);
        if (contacts.empty()) continue;
        const ContactPoint& c = deepest(contacts);
        if (c.gap < -0.04) continue;
        const Vector3d v = random.vector(1.0), w = random.vector(1.0);
        const double ahead = deepest(pair.contacts(moved(X_A, v, w, h), X_B, 1.0)).gap;
        const double behind = deepest(pair.contacts(moved(X_A, v, w, -h), X_B, 1.0)).gap;
        SCOPED_TRACE(::testing::Message() << name_a << " on " << name_b << ", trial " << trial << ", gap " << c.gap);
        // A change of nearest features within the step leaves the two one-sided differences apart; those are skipped.
        if (std::abs(ahead + behind - 2.0 * c.gap) > 1e-9) continue;
        ++checked;
        EXPECT_NEAR((ahead - behind) / (2.0 * h), c.n.dot(v + w.cross(c.p_WC + 0.5 * c.gap * c.n)), 2e-6);
      }
    }
  }
  EXPECT_GT(checked, 1400);
}

}  // namespace
}  // namespace stiction::signed_distance_test
