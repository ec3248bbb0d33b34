// Contacts of every pair of convex shapes in poses that are random, touching, deep, coincident or aligned, of sizes from 1 mm to 10 m,
// against signed distances that share nothing with ours: Coal's, and the greatest separation over sampled directions, which decides
// where the two differ. STICTION_GEOMETRY_PAIRS=15000 tries that many poses instead of the few of a quick run.
#include <cstdlib>

#include <gtest/gtest.h>

#include <coal/distance.h>
#include <coal/shape/convex.h>

#include "stiction/geometry/collider.hpp"
#include "stiction/geometry/reference_shapes.hpp"

namespace stiction::reference_test {
namespace {

using Eigen::Isometry3d;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using reference::Placed;
using reference::Solid;

int pairs_to_try(int quick) {
  const char* wanted = std::getenv("STICTION_GEOMETRY_PAIRS");
  return wanted == nullptr ? quick : std::max(std::atoi(wanted), quick);
}

/// A shape with extents of `size` times 1, or one of them 1/10 or 1/300.
Shape random_shape(Random& random, int kind, double size) {
  const auto extent = [&] {
    constexpr std::array<double, 5> kThin{1.0, 1.0, 1.0, 0.1, 1.0 / 300.0};
    return size * random(0.5, 1.0) * kThin[pick(random, 5)];
  };
  const double x = extent(), y = extent(), z = extent();
  if (kind == 0) return Sphere{x};
  if (kind == 1) return Box{{x, y, z}};
  if (kind == 2) return Capsule{x, y};
  if (kind == 3) return Cylinder{x, y};
  if (kind == 4) return convex_box({x, y, z});
  ConvexMesh mesh;
  for (int i = 0; i < 14; ++i) mesh.vertices.push_back(random.vector(1.0).normalized().cwiseProduct(Vector3d(x, y, z)));
  return mesh;
}

/// Any rotation, one that maps axes to axes, or almost one.
Matrix3d random_rotation(Random& random) {
  const int kind = pick(random, 4);
  if (kind == 0) return random.pose(0.0).linear();
  Matrix3d R = Matrix3d::Identity();
  for (int i = 0; i < 3; ++i) R = R * Eigen::AngleAxisd(0.5 * std::numbers::pi * pick(random, 4), Vector3d::Unit(i)).toRotationMatrix();
  if (kind == 1) R = R.array().round().matrix();
  if (kind == 3) R = R * Eigen::AngleAxisd(std::pow(10.0, random(-10.0, -2.0)), random.vector(1.0).normalized()).toRotationMatrix();
  return R;
}

/// Places A so that the two are `gap` apart along d; the signed distance is never less.
Isometry3d apart_along(const Solid& a, const Placed& b, const Matrix3d& R, const Vector3d& d, double gap) {
  Isometry3d X = Isometry3d::Identity();
  X.linear() = R;
  X.translation() = b.X.translation();
  X.translation() += (gap + b.support(d) + Placed{a, X}.support(-d)) * d;
  return X;
}

struct Case {
  Isometry3d X_A = Isometry3d::Identity(), X_B = Isometry3d::Identity();
  const char* kind = "";
};

Case random_case(Random& random, const Solid& a, const Solid& b) {
  Case c;
  c.X_B = random.pose(0.3);
  if (pick(random, 2) == 0) c.X_B.linear() = Matrix3d::Identity();
  const Matrix3d R = c.X_B.linear() * random_rotation(random);
  const double size = std::min(a.size, b.size);
  const int kind = pick(random, 7);
  if (kind == 6) {  // one in the other
    c.kind = "coincident";
    c.X_A.linear() = R;
    c.X_A.translation() = c.X_B.translation();
    if (pick(random, 2) == 0) c.X_A.translation() += 0.3 * size * c.X_B.linear().col(pick(random, 3));
    return c;
  }
  const Vector3d d = pick(random, 2) == 0 ? Vector3d(random.vector(1.0).normalized()) : Vector3d(c.X_B.linear().col(pick(random, 3)));
  constexpr std::array<const char*, 6> kNames{"apart", "near", "touching", "touching", "shallow", "deep"};
  const std::array<double, 6> gaps{
      random(0.1, 1.0) * size,  std::pow(10.0, random(-9.0, -2.0)) * size, 0.0, 0.0, -std::pow(10.0, random(-9.0, -2.0)) * size,
      -random(0.02, 0.5) * size};
  c.kind = kNames[kind];
  c.X_A = apart_along(a, {b, c.X_B}, R, d, gaps[kind]);
  // Past the middle of a face, too: the witness points then lie beside it.
  const Vector3d aside = d.unitOrthogonal(), other = d.cross(aside);
  if (pick(random, 2) == 0) c.X_A.translation() += random(-1.0, 1.0) * b.size * aside + random(-1.0, 1.0) * b.size * other;
  return c;
}

double coal_distance(const Collider& a, const Collider& b, const Isometry3d& X_A, const Isometry3d& X_B) {
  coal::DistanceRequest request(true, true);
  coal::DistanceResult result;
  return coal::distance(a.coal_shape.get(), {X_A.linear(), X_A.translation()}, b.coal_shape.get(), {X_B.linear(), X_B.translation()},
                        request, result);
}

struct Tally {
  int tried = 0, no_contact = 0, too_deep = 0, too_shallow = 0, off_surface = 0, other_way_out = 0, coal_off = 0;
  void print() const {
    std::printf(
        "%d pairs: %d without contact, %d too deep, %d too shallow, %d with witness points off a surface; another way out up to 2.5 %% "
        "deeper in %d; Coal off by 20 um and 2 %% in %d\n",
        tried, no_contact, too_deep, too_shallow, off_surface, other_way_out, coal_off);
  }
};

/// The deepest contact against the greatest separation found by sampling: as deep to 1e-6 of the size, or 2.5 % of the depth where another
/// local minimum of depth is as good as taken; never shallower than its own normal proves; its two points on the two surfaces.
void expect_signed_distance(const Placed& a, const Placed& b, const ContactPoint& deepest, double sampled, Tally& t) {
  const double size = std::min(a.solid.size, b.solid.size), both = a.solid.size + b.solid.size;
  const double proven = reference::separation(a, b, deepest.n), shortfall = sampled - deepest.gap;
  if (shortfall > 1e-6 * size + 0.025 * std::max(0.0, -sampled)) {
    ++t.too_deep;
    ADD_FAILURE() << "too deep: gap " << deepest.gap << ", sampled " << sampled;
  } else if (shortfall > 1e-6 * size) {
    ++t.other_way_out;
  }
  if (deepest.gap > std::max(sampled, proven) + 1e-9 * both) {
    ++t.too_shallow;
    ADD_FAILURE() << "too shallow: gap " << deepest.gap << ", sampled " << sampled << ", its normal proves " << proven;
  }
  const double on_a = a.to_surface(deepest.p_WC + 0.5 * deepest.gap * deepest.n);
  const double on_b = b.to_surface(deepest.p_WC - 0.5 * deepest.gap * deepest.n);
  if (std::max(std::abs(on_a), std::abs(on_b)) > 1e-7 * both) {
    ++t.off_surface;
    ADD_FAILURE() << "its points are off the surfaces by " << on_a << " and " << on_b << ", gap " << deepest.gap;
  }
}

TEST(Reference, ConvexPairsHaveTheirSignedDistance) {
  Random random(5);
  Tally t;
  const int wanted = pairs_to_try(1000);
  for (t.tried = 0; t.tried < wanted; ++t.tried) {
    const int kind_a = pick(random, 6), kind_b = pick(random, 6);
    const double scale = std::pow(10.0, random(-3.0, 1.0));
    const Solid a(random_shape(random, kind_a, scale)), b(random_shape(random, kind_b, scale * std::pow(10.0, random(-1.0, 1.0))));
    const Case c = random_case(random, a, b);
    SCOPED_TRACE(::testing::Message() << shape_name(a.shape) << " and " << shape_name(b.shape) << ", " << c.kind << ", number " << t.tried);
    ShapePair pair(a.shape, b.shape);
    const auto& contacts = pair.contacts(c.X_A, c.X_B, 10.0 * (a.size + b.size));
    if (contacts.empty()) {
      ++t.no_contact;
      ADD_FAILURE() << "no contact";
      continue;
    }
    const Placed at{a, c.X_A}, bt{b, c.X_B};
    const double sampled = reference::signed_distance(at, bt, random);
    expect_signed_distance(at, bt, deepest(contacts), sampled, t);
    const double coal = coal_distance(make_collider(a.shape, "a"), make_collider(b.shape, "b"), c.X_A, c.X_B);
    if (std::abs(coal - sampled) > 2e-5 && std::abs(coal - sampled) > 0.02 * std::abs(sampled)) ++t.coal_off;
  }
  t.print();
  EXPECT_LT(t.other_way_out, 0.005 * t.tried);
  EXPECT_LT(t.coal_off, 0.02 * t.tried);  // the two references vouch for each other
}

/// s(n) is known for the one normal a half-space has.
TEST(Reference, ConvexShapesHaveTheirHeightOverAPlane) {
  Random random(6);
  const int wanted = pairs_to_try(1000);
  for (int i = 0; i < wanted; ++i) {
    const Solid a(random_shape(random, pick(random, 6), std::pow(10.0, random(-3.0, 1.0))));
    Isometry3d X_A = random.pose(0.3), X_B = random.pose(0.3);
    X_A.linear() = X_B.linear() * random_rotation(random);
    const Placed at{a, X_A};
    const Vector3d up = X_B.linear().col(2);
    const double gap = pick(random, 3) == 0 ? 0.0 : random(-1.0, 1.0) * a.size;
    X_A.translation() += (gap - up.dot(-X_B.translation()) + at.support(-up)) * up;
    ShapePair pair(a.shape, HalfSpace{});
    const auto& contacts = pair.contacts(X_A, X_B, 10.0 * a.size);
    SCOPED_TRACE(::testing::Message() << shape_name(a.shape) << " on a plane, number " << i);
    ASSERT_FALSE(contacts.empty());
    const ContactPoint& most = deepest(contacts);
    EXPECT_NEAR(most.gap, gap, 1e-12 + 1e-9 * a.size);
    EXPECT_NEAR(up.dot(most.p_WC - X_B.translation()), 0.0, 1e-12 * (1.0 + a.size));
    EXPECT_NEAR((Placed{a, X_A}.to_surface(most.p_WC + most.gap * most.n)), 0.0, 1e-7 * a.size);
  }
}

/// Two cylinders that lie on a floor and touch side by side: EPA gave a direction along which they are 16.6 cm deep.
TEST(Reference, CylindersLyingBesideEachOtherTouch) {
  const Solid cylinder(Cylinder{0.1, 0.125});
  Isometry3d X_A = Isometry3d::Identity(), X_B = X_A;
  X_A.linear() = Eigen::Quaterniond(.6160959629384285, .6160958743787432, .34702392857727354, -.34702453950586526).toRotationMatrix();
  X_A.translation() = Vector3d(.8500000898399456, .7175495000973893, .09999993335791389);
  X_B.linear() = Eigen::Quaterniond(-.6987588837614205, .6995564863235451, .10308698059006113, -.10830429003494611).toRotationMatrix();
  X_B.translation() = Vector3d(.6175190522744675, .7008288919113694, .0999986223886973);
  ShapePair pair(cylinder.shape, cylinder.shape);
  const auto& contacts = pair.contacts(X_A, X_B, 0.1);
  ASSERT_FALSE(contacts.empty());
  Random random(1);
  Tally t;
  const double sampled = reference::signed_distance({cylinder, X_A}, {cylinder, X_B}, random);
  EXPECT_NEAR(sampled, 0.0, 1e-5);
  expect_signed_distance({cylinder, X_A}, {cylinder, X_B}, deepest(contacts), sampled, t);
}

TEST(Reference, CoincidentCapsulesPushEachOtherOutSideways) {
  const double angle = 0.3;
  for (const Isometry3d& X_A :
       {pose({0, 0, 0}), pose({0, 0, 0.1}), pose({0, 0, 0}, {0, 0, angle}), pose({0, 0, 1e-16}), pose({0, 0, 0}, {0, 2.0, 0})}) {
    ShapePair pair(Capsule{0.05, 0.15}, Capsule{0.05, 0.15});
    const auto& contacts = pair.contacts(X_A, Isometry3d::Identity(), 0.01);
    ASSERT_FALSE(contacts.empty());
    for (const ContactPoint& c : contacts) {
      EXPECT_NEAR(c.gap, -0.1, 1e-12);
      EXPECT_NEAR(c.n.z(), 0.0, 1e-12);
      EXPECT_NEAR(c.n.dot(X_A.linear().col(2)), 0.0, 1e-12);
    }
  }
}

}  // namespace
}  // namespace stiction::reference_test
