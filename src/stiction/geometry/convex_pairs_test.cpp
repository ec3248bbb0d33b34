#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/geometry/pair_fixture.hpp"

namespace stiction::convex_pairs_test {
namespace {

using Eigen::Isometry3d;
using Eigen::Vector3d;

constexpr double kExact = 1e-9;

/// Expected contacts of A over B along world z at core height, before the whole scene is moved by a random pose.
struct Stack {
  const char* name;
  Shape a, b;
  Isometry3d X_A, X_B;
  double touching;  ///< z offset of A at which the two touch
  int count;        ///< contact points
};

std::vector<Stack> stacks() {
  const double q = std::numbers::pi / 2, h45 = std::numbers::pi / 4;
  const Vector3d h(0.3, 0.2, 0.1);
  const Isometry3d I = Isometry3d::Identity();
  const Isometry3d lying = pose({0, 0, 0}, {q, 0, 0});  // axis along y
  const Isometry3d aside = pose({0.01, 0.02, 0}, {0, 0, 0.1});
  const Sphere sphere{0.1};
  const Capsule capsule{0.05, 0.2};
  const Cylinder cylinder{0.1, 0.15};
  const Box box{h};
  const Shape hull = convex_box(h);
  const HalfSpace plane;
  const double diagonal = std::hypot(0.2, 0.1);
  const double tilt = std::atan2(0.2, 0.1);  // turns the box about x until an edge is lowest
  return {
      {"sphere on plane", sphere, plane, I, I, 0.1, 1},
      {"box on plane", box, plane, aside, I, 0.1, 4},
      {"box on its edge on plane", box, plane, pose({0, 0, 0}, {tilt, 0, 0}), I, diagonal, 2},
      {"capsule lying on plane", capsule, plane, lying, I, 0.05, 2},
      {"capsule standing on plane", capsule, plane, I, I, 0.25, 1},
      {"cylinder standing on plane", cylinder, plane, I, I, 0.15, 6},
      {"cylinder upside down on plane", cylinder, plane, pose({0, 0, 0}, {2 * q, 0, 0}), I, 0.15, 6},
      {"cylinder lying on plane", cylinder, plane, lying, I, 0.1, 2},
      {"hull on plane", hull, plane, aside, I, 0.1, 4},
      {"sphere on sphere", sphere, sphere, I, I, 0.2, 1},
      {"sphere on capsule end", sphere, capsule, I, I, 0.35, 1},
      {"sphere on box", sphere, box, aside, I, 0.2, 1},
      {"sphere on cylinder cap", sphere, cylinder, aside, I, 0.25, 1},
      {"sphere on cylinder side", sphere, cylinder, I, lying, 0.2, 1},
      {"sphere on hull", sphere, hull, aside, I, 0.2, 1},
      {"capsule along capsule", capsule, capsule, pose({0, 0.1, 0}, {q, 0, 0}), lying, 0.1, 2},
      {"capsule across capsule", capsule, capsule, pose({0, 0, 0}, {q, 0, 0}), pose({0, 0, 0}, {0, q, 0}), 0.1, 1},
      {"capsule lying on box", capsule, box, pose({0, 0.05, 0}, {q, 0, 0}), I, 0.15, 2},
      {"capsule standing on box", capsule, box, aside, I, 0.35, 1},
      {"capsule lying on hull", capsule, hull, lying, I, 0.15, 2},
      {"capsule lying on cylinder cap", capsule, cylinder, lying, I, 0.2, 2},
      {"capsule along cylinder", capsule, cylinder, lying, lying, 0.15, 2},
      {"box on box", box, box, aside, I, 0.2, -1},
      {"box on box, same place", box, box, I, I, 0.2, 4},
      {"box on hull", box, hull, I, I, 0.2, 4},
      {"hull on hull", hull, hull, pose({0.1, 0.05, 0}), I, 0.2, 4},
      {"cylinder standing on box", cylinder, box, aside, I, 0.25, 6},
      {"cylinder lying on box", cylinder, box, pose({0, 0, 0}, {q, 0, 0}), I, 0.2, 2},
      {"cylinder standing on hull", cylinder, hull, aside, I, 0.25, 6},
      {"cylinder on cylinder", cylinder, cylinder, pose({0.001, 0, 0}), I, 0.3, -1},
      {"cylinder along cylinder", cylinder, cylinder, pose({0, 0.1, 0}, {q, 0, 0}), lying, 0.2, 2},
      {"cylinder across cylinder", cylinder, cylinder, lying, pose({0, 0, 0}, {0, q, 0}), 0.2, 1},
      {"box corner on box", Box{{0.1, 0.1, 0.1}}, box,
       pose({0, 0, 0}, Vector3d(std::acos(1.0 / std::sqrt(3.0)) * Vector3d(1, -1, 0).normalized())), I, 0.1 + 0.1 * std::sqrt(3.0), 1},
      {"box edge across box edge", Box{{0.1, 0.1, 0.1}}, Box{{0.1, 0.1, 0.1}}, pose({0, 0, 0}, {h45, 0, 0}), pose({0, 0, 0}, {0, h45, 0}),
       0.2 * std::sqrt(2.0), 1},
      {"hull edge across box edge", convex_box({0.1, 0.1, 0.1}), Box{{0.1, 0.1, 0.1}}, pose({0, 0, 0}, {h45, 0, 0}),
       pose({0, 0, 0}, {0, h45, 0}), 0.2 * std::sqrt(2.0), 1},
  };
}

TEST(ConvexPairs, StacksHaveTheirGapNormalAndCount) {
  Random random(1);
  for (const Stack& s : stacks()) {
    ShapePair pair(s.a, s.b), swapped(s.b, s.a);
    for (double gap : {-1e-2, -1e-4, -1e-9, 0.0, 1e-9, 1e-4, 1e-2}) {
      for (int trial = 0; trial < 3; ++trial) {
        const Isometry3d X = trial == 0 ? Isometry3d::Identity() : random.pose(0.5);
        Isometry3d X_A = s.X_A;
        X_A.translation().z() += s.touching + gap;
        const auto contacts = pair.contacts(X * X_A, X * s.X_B, 0.0101);
        SCOPED_TRACE(::testing::Message() << s.name << ", gap " << gap << ", trial " << trial);
        ASSERT_FALSE(contacts.empty());
        if (s.count > 0) {
          EXPECT_EQ(static_cast<int>(contacts.size()), s.count);
        }
        const double sign = is_fixed_shape(s.a) ? -1.0 : 1.0;
        for (const ContactPoint& c : contacts) {
          EXPECT_NEAR(c.gap, gap, kExact);
          EXPECT_LT((c.n - sign * X.linear().col(2)).norm(), kExact);
          EXPECT_NEAR(std::abs(c.R_WC().determinant() - 1.0), 0.0, 1e-12);
        }
        const auto other = swapped.contacts(X * s.X_B, X * X_A, 0.0101);
        ASSERT_EQ(other.size(), contacts.size());
        const double turned = is_fixed_shape(s.b) ? 1.0 : -1.0;
        EXPECT_NEAR(deepest(other).gap, gap, kExact);
        EXPECT_LT((deepest(other).n - turned * deepest(contacts).n).norm(), kExact);
      }
    }
  }
}

TEST(ConvexPairs, SphereBesideCapsule) {
  ShapePair pair(Sphere{0.1}, Capsule{0.05, 0.2});
  const auto& c = pair.contacts(pose({0.12, 0.16, 0.1}), Isometry3d::Identity(), 1.0);
  ASSERT_EQ(c.size(), 1u);
  EXPECT_NEAR(c[0].gap, 0.05, kExact);
  EXPECT_LT((c[0].n - Vector3d(0.6, 0.8, 0.0)).norm(), kExact);
  EXPECT_LT((c[0].p_WC - Vector3d(0.6 * 0.075, 0.8 * 0.075, 0.1)).norm(), kExact);
}

TEST(ConvexPairs, SphereInsideBoxLeavesThroughTheNearestFace) {
  ShapePair pair(Sphere{0.05}, Box{{0.3, 0.2, 0.1}});
  const auto& c = pair.contacts(pose({0.0, 0.17, 0.01}), Isometry3d::Identity(), 0.0);
  ASSERT_EQ(c.size(), 1u);
  EXPECT_NEAR(c[0].gap, -0.08, kExact);
  EXPECT_LT((c[0].n - Vector3d::UnitY()).norm(), kExact);
}

TEST(ConvexPairs, SphereAtABoxCorner) {
  ShapePair pair(Sphere{0.05}, Box{{0.3, 0.2, 0.1}});
  const Vector3d d = Vector3d(1, 2, 2) / 3.0;
  const auto& c = pair.contacts(pose(Vector3d(0.3, 0.2, 0.1) + 0.06 * d), Isometry3d::Identity(), 0.1);
  ASSERT_EQ(c.size(), 1u);
  EXPECT_NEAR(c[0].gap, 0.01, kExact);
  EXPECT_LT((c[0].n - d).norm(), kExact);
}

TEST(ConvexPairs, TiltedBoxCornersHaveTheirOwnHeights) {
  ShapePair pair(Box{{0.3, 0.2, 0.1}}, HalfSpace{});
  const Isometry3d X = pose({0.1, 0.2, 0.15}, {0.1, -0.05, 0.3});
  const auto& contacts = pair.contacts(X, Isometry3d::Identity(), 0.5);
  ASSERT_EQ(contacts.size(), 4u);
  for (const auto& c : contacts) {
    EXPECT_NEAR(c.p_WC.z(), 0.0, 1e-15);
    const Vector3d corner = X.inverse() * Vector3d(c.p_WC.x(), c.p_WC.y(), c.gap);
    EXPECT_LT((corner.cwiseAbs() - Vector3d(0.3, 0.2, 0.1)).norm(), 1e-12);
  }
  // Only the corners within the margin.
  EXPECT_EQ(pair.contacts(X, Isometry3d::Identity(), deepest(contacts).gap + 1e-6).size(), 1u);
}

// The face may be either's: the contacts of a tilted box lie in one plane square to the normal, of what is static in its surface.
TEST(ConvexPairs, PointsOfAFaceLieInOnePlane) {
  const Shape box = Box{{0.3, 0.2, 0.1}}, floor = Box{{2.0, 2.0, 0.5}};
  const Isometry3d X = pose({0.1, 0.2, 0.1}, {1e-6, -2e-6, 0.3}), X_floor = pose({0, 0, -0.5});
  for (const bool swapped : {false, true}) {
    ShapePair pair(swapped ? floor : box, swapped ? box : floor);
    const auto& contacts = pair.contacts(swapped ? X_floor : X, swapped ? X : X_floor, 0.01);
    ASSERT_EQ(contacts.size(), 4u);
    const ContactPoint& least = deepest(contacts);
    EXPECT_LT(least.gap, -1e-7);
    for (const auto& c : contacts) {
      EXPECT_NEAR(c.n.dot(c.p_WC - least.p_WC), 0.0, 1e-16);
      EXPECT_TRUE(&c == &least || c.gap > least.gap + 1e-7);
    }
  }
}

/// Area of the overlap from the contact points, sorted around their middle.
double area(const std::vector<ContactPoint>& contacts) {
  Vector3d middle = Vector3d::Zero();
  for (const auto& c : contacts) middle += c.p_WC / static_cast<double>(contacts.size());
  std::vector<Vector3d> p;
  for (const auto& c : contacts) p.push_back(c.p_WC - middle);
  std::sort(p.begin(), p.end(), [](const Vector3d& a, const Vector3d& b) { return std::atan2(a.y(), a.x()) < std::atan2(b.y(), b.x()); });
  double sum = 0.0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += 0.5 * p[i].cross(p[(i + 1) % p.size()]).z();
  return sum;
}

TEST(ConvexPairs, BoxOnBoxOverlapPolygons) {
  const Vector3d h(0.5, 0.5, 0.1);
  for (const Shape& a : {Shape(Box{h}), convex_box(h)}) {
    for (const Shape& b : {Shape(Box{h}), convex_box(h)}) {
      ShapePair pair(a, b);
      const auto octagon = pair.contacts(pose({0, 0, 0.2}, {0, 0, std::numbers::pi / 4}), Isometry3d::Identity(), 1e-3);
      EXPECT_EQ(octagon.size(), 8u);
      EXPECT_NEAR(area(octagon), 2.0 * (std::sqrt(2.0) - 1.0), 1e-9);
      const auto shifted = pair.contacts(pose({0.6, 0.3, 0.2}), Isometry3d::Identity(), 1e-3);
      EXPECT_EQ(shifted.size(), 4u);
      EXPECT_NEAR(area(shifted), 0.4 * 0.7, 1e-12);
      const auto corner_cut = pair.contacts(pose({0.9, 0, 0.2}, {0, 0, std::numbers::pi / 4}), Isometry3d::Identity(), 1e-3);
      EXPECT_EQ(corner_cut.size(), 3u);
      const double reach = 0.5 * std::sqrt(2.0) - 0.4;
      EXPECT_NEAR(area(corner_cut), reach * reach, 1e-12);
    }
  }
  ShapePair small(Box{{0.1, 0.1, 0.1}}, Box{h});
  EXPECT_NEAR(area(small.contacts(pose({0.2, 0.1, 0.2}, {0, 0, 0.3}), Isometry3d::Identity(), 1e-3)), 0.04, 1e-12);
}

/// Its lowest point beside a fixed one of the rim: on it, and a rounding to either side.
TEST(ConvexPairs, ATiltedCylinderRestsOnItsRimHoweverItIsTurnedAboutItsAxis) {
  for (const Shape& ground : {Shape(HalfSpace{}), Shape(Box{{1, 1, 1}})}) {
    ShapePair pair(Cylinder{0.1, 0.1}, ground);
    const Isometry3d X_ground = pose({0, 0, std::holds_alternative<HalfSpace>(ground) ? 0.0 : -1.0});
    for (double tilt : {1e-7, 1e-3, 0.1, 0.5, 0.6, 1.0, -0.5}) {
      const double bottom = 0.1 * (std::abs(std::sin(tilt)) + std::cos(tilt));
      for (int point = 0; point < 16; ++point) {
        for (double off : {0.0, 1e-17, -1e-17, 1e-12, -1e-12, 1e-3, -1e-3}) {
          const Isometry3d X = pose({0, 0, bottom - 1e-4}, {0, tilt, 0}) * pose({0, 0, 0}, {0, 0, point * std::numbers::pi / 8 + off});
          double least = 1.0;
          for (const ContactPoint& c : pair.contacts(X, X_ground, 1e-3)) least = std::min(least, c.gap);
          ASSERT_NEAR(least, -1e-4, 1e-7) << shape_name(ground) << ' ' << tilt << ' ' << point << ' ' << off;
        }
      }
    }
  }
}

TEST(ConvexPairs, TiltedCylinderTouchesAtItsLowestRimPoint) {
  ShapePair pair(Cylinder{0.1, 0.2}, HalfSpace{});
  for (double tilt : {1e-6, 1e-3, 0.1, 0.6, 1.0, 1.5}) {
    const double height = 0.2 * std::cos(tilt) + 0.1 * std::sin(tilt);
    const auto& contacts = pair.contacts(pose({0, 0, height + 0.003}, tilt * Vector3d(0.6, 0.8, 0.0)), Isometry3d::Identity(), 0.01);
    ASSERT_FALSE(contacts.empty());
    EXPECT_NEAR(deepest(contacts).gap, 0.003, 1e-12) << tilt;
  }
}

/// A cylinder (radius 0.15, half length 0.1) on a half-space and on a box whose tops are z = 0, overlapping by `depth`.
struct SunkCylinder {
  static constexpr double kRadius = 0.15, kHalf = 0.1;
  explicit SunkCylinder(bool on_box)
      : pair(Cylinder{kRadius, kHalf}, on_box ? Shape(Box{{2, 2, 0.5}}) : Shape(HalfSpace{})), ground(pose({0, 0, on_box ? -0.5 : 0.0})) {}

  static Isometry3d at(double depth, double tilt, double heading, double spin) {
    const double height = kRadius * std::abs(std::sin(tilt)) + kHalf * std::abs(std::cos(tilt)) - depth;
    return pose({0, 0, height}, tilt * Vector3d(std::cos(heading), std::sin(heading), 0)) * pose({0, 0, 0}, {0, 0, spin});
  }
  double sum_of_depths(const Isometry3d& X) {
    double sum = 0.0;
    for (const ContactPoint& c : pair.contacts(X, ground, 1e-3)) sum += std::max(0.0, -c.gap);
    return sum;
  }
  /// Elastic energy at stiffness 1 N/m.
  double energy(const Isometry3d& X) {
    double sum = 0.0;
    for (const ContactPoint& c : pair.contacts(X, ground, 1e-3)) sum += 0.5 * std::pow(std::max(0.0, -c.gap), 2);
    return sum;
  }

  ShapePair pair;
  Isometry3d ground;
};

/// Each of at most 14 points rises by no more than its lever, twice the body's reach, times the turn.
void expect_steady_depths(SunkCylinder& sunk, double from, double to, const std::function<Isometry3d(double)>& at) {
  constexpr double kTurn = 1e-4;
  const double bound = 14 * 2.0 * std::hypot(SunkCylinder::kRadius, SunkCylinder::kHalf) * kTurn;
  double last = sunk.sum_of_depths(at(from));
  for (double angle = from + kTurn; angle < to; angle += kTurn) {
    const double sum = sunk.sum_of_depths(at(angle));
    ASSERT_LT(std::abs(sum - last), bound) << angle;
    last = sum;
  }
}

TEST(ConvexPairs, WhatACylinderOverlapsByIsContinuousInItsTiltAndSpin) {
  for (const bool on_box : {false, true}) {
    SunkCylinder sunk(on_box);
    for (const double depth : {1e-3, 5e-3, 0.02}) {
      for (const double spin : {0.0, 0.2}) {
        SCOPED_TRACE(fmt::format("box {}, depth {}, tilt at spin {}", on_box, depth, spin));
        expect_steady_depths(sunk, 0.01, 1.7, [&](double tilt) { return SunkCylinder::at(depth, tilt, 0.3, spin); });
      }
      for (const double tilt : {0.1, 0.66, 1.2, std::numbers::pi / 2}) {
        SCOPED_TRACE(fmt::format("box {}, depth {}, spin at tilt {}", on_box, depth, tilt));
        expect_steady_depths(sunk, 0.0, 0.7, [&](double spin) { return SunkCylinder::at(depth, tilt, 0.3, spin); });
      }
    }
  }
}

TEST(ConvexPairs, ACylinderOverlapsAHalfSpaceAndABoxByTheSame) {
  SunkCylinder on_plane(false), on_box(true);
  Random random(11);
  for (int trial = 0; trial < 2000; ++trial) {
    const Isometry3d X = SunkCylinder::at(random(0.0, 0.05), random(0.01, 3.1), random(0.0, 6.0), random(0.0, 6.0));
    ASSERT_NEAR(on_plane.sum_of_depths(X), on_box.sum_of_depths(X), 1e-7) << trial;
  }
}

/// Forces are minus the gradient of the elastic energy: what a compliant law does on a closed way is nothing.
TEST(ConvexPairs, ForcesOfACylinderThatOverlapsHaveAPotential) {
  constexpr double kStep = 1e-6;
  for (const bool on_box : {false, true}) {
    SunkCylinder sunk(on_box);
    Random random(12);
    for (int trial = 0; trial < 2000; ++trial) {
      const Isometry3d X = SunkCylinder::at(random(0.001, 0.04), random(0.01, 3.1), random(0.0, 6.0), random(0.0, 6.0));
      const Vector3d v = random.vector(0.3), w = random.vector(1.0);
      double power = 0.0;
      for (const ContactPoint& c : sunk.pair.contacts(X, sunk.ground, 1e-3)) power += std::min(0.0, c.gap) * c.n.dot(v + w.cross(c.p_WC));
      const double rate = (sunk.energy(moved(X, v, w, kStep)) - sunk.energy(moved(X, v, w, -kStep))) / (2.0 * kStep);
      ASSERT_NEAR(rate, power, 1e-6) << on_box << ' ' << trial;
    }
  }
}

/// Up to a tenth of its radius deep.
TEST(ConvexPairs, ALyingCylinderRollsOnTheSameTwoPoints) {
  for (const bool on_box : {false, true}) {
    SunkCylinder sunk(on_box);
    for (const double depth : {0.0, 1e-6, 1e-3, 0.1 * SunkCylinder::kRadius}) {
      std::vector<std::uint64_t> ids;
      for (double spin = 0.0; spin < 6.3; spin += 0.01) {
        const auto& contacts = sunk.pair.contacts(SunkCylinder::at(depth, std::numbers::pi / 2, 0.3, spin), sunk.ground, 1e-3);
        ASSERT_EQ(contacts.size(), 2u) << on_box << ' ' << depth << ' ' << spin;
        if (ids.empty()) ids = {contacts[0].id, contacts[1].id};
        ASSERT_EQ(contacts[0].id, ids[0]);
        ASSERT_EQ(contacts[1].id, ids[1]);
      }
    }
  }
}

/// 1 kg on springs of 3e4 N/m without friction or damping, by symplectic Euler: what leaves the ground has the energy with which it came.
TEST(ConvexPairs, ACylinderThrownOnSpringsKeepsItsEnergy) {
  constexpr double kStiffness = 3e4, kStep = 2e-5, kHeight = 0.3;
  const double r = SunkCylinder::kRadius, across = 0.25 * r * r + SunkCylinder::kHalf * SunkCylinder::kHalf / 3.0;
  const Vector3d inertia(across, across, 0.5 * r * r);
  for (const bool on_box : {false, true}) {
    SunkCylinder sunk(on_box);
    Random random(13);
    for (int trial = 0; trial < 10; ++trial) {
      Isometry3d X = random.pose(0.0);
      X.translation() = Vector3d(0, 0, kHeight);
      Vector3d v(0, 0, -4.0), momentum = X.linear() * inertia.cwiseProduct(random.vector(15.0));
      const auto spin = [&] { return Vector3d(X.linear() * (X.linear().transpose() * momentum).cwiseQuotient(inertia)); };
      const auto energy = [&] { return 0.5 * v.squaredNorm() + 0.5 * momentum.dot(spin()) + kStiffness * sunk.energy(X); };
      const double before = energy();
      for (int step = 0; step < 10000 && X.translation().z() <= kHeight; ++step) {
        for (const ContactPoint& c : sunk.pair.contacts(X, sunk.ground, 0.0)) {
          const Vector3d impulse = -kStep * kStiffness * std::min(0.0, c.gap) * c.n;
          v += impulse;
          momentum += (c.p_WC - X.translation()).cross(impulse);
        }
        const Isometry3d turned = moved(pose({0, 0, 0}), Vector3d::Zero(), spin(), kStep);
        X.linear() = turned.linear() * X.linear();
        X.translation() += kStep * v;
      }
      EXPECT_NEAR(energy(), before, 0.01 * before) << on_box << ' ' << trial;
    }
  }
}

/// Between parallel and across, the ends of the stretch that two rods share stand by the point where they cross.
TEST(ConvexPairs, RodsThatCrossAtASmallAngleMeetAtTheirEndsToo) {
  constexpr double kRadius = 0.05, kHalf = 0.4, kLog = 0.06;
  const Isometry3d lying = pose({0, 0, 0}, {0, 0.5 * std::numbers::pi, 0});
  for (const Shape& rod : {Shape(Capsule{kRadius, kHalf}), Shape(Cylinder{kRadius, kHalf})}) {
    for (const Shape& log : {Shape(Capsule{kLog, 1.0}), Shape(Cylinder{kLog, 1.0})}) {
      ShapePair pair(rod, log), turned(log, rod);
      for (const double angle : {2e-3, 0.01, 0.05, 0.09}) {
        const Isometry3d X = pose({0, 0, kRadius + kLog}, {0, 0, angle}) * lying;
        const double open = std::hypot(kRadius + kLog, kHalf * std::sin(angle)) - kRadius - kLog;
        for (const bool first : {true, false}) {
          const auto& contacts = first ? pair.contacts(X, lying, 0.02) : turned.contacts(lying, X, 0.02);
          ASSERT_EQ(contacts.size(), 3U) << shape_name(rod) << " on " << shape_name(log) << ' ' << angle;
          for (const ContactPoint& c : contacts) {
            const bool end = std::abs(c.p_WC.x()) > 0.1;
            EXPECT_NEAR(c.gap, end ? open : 0.0, end ? 1e-2 * open + 1e-9 : 1e-9)
                << shape_name(rod) << " on " << shape_name(log) << ' ' << angle;
            EXPECT_NEAR(std::abs(c.p_WC.x()), end ? kHalf : 0.0, 2e-3);
            EXPECT_GT((first ? 1.0 : -1.0) * c.n.z(), 0.9);
          }
        }
      }
    }
  }
}

/// A line along the edge of a block, turned against it by anything from nothing: what bears is both ends of the stretch that they share,
/// the gaps those between the end of a rod's axis and the edge, or between the two edges and what their faces leave, of the order of the
/// turn.
TEST(ConvexPairs, ALineAlongAnEdgeMeetsItAtBothEndsHoweverItIsTurned) {
  constexpr double kRadius = 0.1, kHalf = 0.1, kSide = 0.07;
  const Isometry3d lying = pose({0, 0, 0}, {-0.5 * std::numbers::pi, 0, 0});  // axis along y
  const Isometry3d block = pose({0.2, 0, -0.05});                             // its edge along y through the origin
  const Shape sharp = Box{{kSide, kHalf, kSide}}, hull = convex_box({kSide, kHalf, kSide});
  for (const Shape& bed : {Shape(Box{{0.2, 1.0, 0.05}}), convex_box({0.2, 1.0, 0.05})}) {
    for (const Shape& line : {Shape(Capsule{kRadius, kHalf}), Shape(Cylinder{kRadius, kHalf}), sharp, hull}) {
      const bool rod = std::holds_alternative<Capsule>(line) || std::holds_alternative<Cylinder>(line);
      ShapePair pair(line, bed), turned(bed, line);
      for (const double lean : {0.2, 0.7, 1.3}) {
        const Vector3d out(-std::sin(lean), 0.0, std::cos(lean));
        const double reach = rod ? kRadius : std::sqrt(2.0) * kSide;
        for (const double open : {2e-5, 1e-3}) {
          for (const double yaw : {0.0, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 0.02}) {
            if (!rod && yaw > 1e-5) continue;  // edges then meet along the normal of one's face, which is no way to the other's end
            const Isometry3d X =
                pose((reach + open) * out, {0, 0, yaw}) * (rod ? lying : pose({0, 0, 0}, {0, 0.25 * std::numbers::pi - lean, 0}));
            for (const bool first : {true, false}) {
              const auto& contacts = first ? pair.contacts(X, block, 0.02) : turned.contacts(block, X, 0.02);
              const std::string what = fmt::format("{} on {} {} {} {}", shape_name(line), shape_name(bed), lean, open, yaw);
              for (const double end : {-kHalf, kHalf}) {
                ASSERT_FALSE(contacts.empty()) << what;
                const auto to_end = [&](const ContactPoint& c) { return std::abs(c.p_WC.y() - end); };
                const ContactPoint& c = *std::ranges::min_element(contacts, {}, to_end);
                ASSERT_LT(to_end(c), 3e-3) << what;  // where the lines cross nearer to their ends than a hundredth, that is the end
                const Vector3d axis_end = X * (rod ? Vector3d(0, 0, end) : Vector3d(0, end, 0));
                const double aside = std::abs(yaw) * kHalf;
                const double gap = rod ? std::hypot(axis_end.x(), axis_end.z()) - kRadius : open;
                EXPECT_NEAR(c.gap, gap, rod ? 1e-9 + aside * aside / kRadius + 2.0 * yaw * open : 1e-9 + 20.0 * aside) << what;
              }
              EXPECT_LE(contacts.size(), 3U) << what;
            }
          }
        }
      }
    }
  }
}

TEST(ConvexPairs, ManyVerticesOnAPlaneAreThinned) {
  ConvexMesh disc;
  for (int i = 0; i < 100; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / 100;
    for (double z : {-0.1, 0.1}) disc.vertices.emplace_back(std::cos(angle), std::sin(angle), z);
  }
  ShapePair pair(disc, HalfSpace{});
  const auto& contacts = pair.contacts(pose({0, 0, 0.1}), Isometry3d::Identity(), 0.01);
  EXPECT_LE(contacts.size(), 16u);
  EXPECT_GT(area(contacts), 0.9 * std::numbers::pi);
}

// A puck stands on the ring inside its chamfer; the ring outside is within the margin, 1 mm above the ground.
TEST(ConvexPairs, TheRingThatBearsIsKeptBesideAWiderOneThatIsOpen) {
  constexpr int kSides = 24;
  constexpr double kChamfer = 1e-3;
  ConvexMesh puck;
  for (int i = 0; i < kSides; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / kSides;
    for (const auto& [r, z] : {std::pair(0.1 - kChamfer, 0.0), std::pair(0.1, kChamfer), std::pair(0.1, 0.06)})
      puck.vertices.emplace_back(r * std::cos(angle), r * std::sin(angle), z);
  }
  ShapePair pair(puck, HalfSpace{});
  const auto& contacts = pair.contacts(Isometry3d::Identity(), Isometry3d::Identity(), 0.01);
  std::vector<ContactPoint> bearing;
  for (const auto& c : contacts) {
    if (std::abs(c.gap) < kExact) bearing.push_back(c);
  }
  EXPECT_LE(contacts.size(), 16u);
  EXPECT_LT(bearing.size(), contacts.size());
  EXPECT_GT(area(bearing), 0.85 * std::numbers::pi * 0.1 * 0.1);  // an octagon in it has 0.88
}

/// A sole of vertices on a bowl of this height, 0.1 m x 0.05 m half wide, under four corners 5 cm higher.
ConvexMesh domed_sole(int count, double height) {
  ConvexMesh sole;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  for (int i = 0; i < count; ++i) {
    const double x = number(random), y = number(random);
    sole.vertices.emplace_back(0.1 * x, 0.05 * y, height * (x * x + y * y));
  }
  for (double x : {-0.1, 0.1}) {
    for (double y : {-0.05, 0.05}) sole.vertices.emplace_back(x, y, 0.05);
  }
  return sole;
}

/// Whether p (in the plane) is a convex combination of points: no line through it has all of them on one side.
bool within(const Vector3d& p, const std::vector<ContactPoint>& points) {
  for (int k = 0; k < 3600; ++k) {
    const Vector3d way(std::cos(k * std::numbers::pi / 1800), std::sin(k * std::numbers::pi / 1800), 0.0);
    if (std::ranges::all_of(points, [&](const ContactPoint& c) { return way.dot(c.p_WC - p) < -1e-6; })) return false;
  }
  return true;
}

// However deep it is and however far the margin reaches, what is dropped is open or bears nothing that the kept ones cannot.
TEST(ConvexPairs, TheKeptPointsBearWhatAllThatTouchCan) {
  ShapePair pair(domed_sole(24, 2e-4), HalfSpace{});
  for (const double depth : {0.0, 2e-5, 5e-5, 1e-4}) {
    for (const double tilt : {0.0, 3e-4, 1e-3}) {
      const Isometry3d X = pose({0, 0, -depth}, tilt * Vector3d(0.6, 0.8, 0.0));
      std::vector<ContactPoint> touching;
      double deepest = 0.0;
      for (const Vector3d& v : domed_sole(24, 2e-4).vertices) {
        ContactPoint c;
        c.p_WC = X * v;
        c.gap = c.p_WC.z();
        deepest = std::min(deepest, c.gap);
        if (c.gap <= 0.0) touching.push_back(c);
      }
      for (const double margin : {1e-6, 1e-4, 1e-3, 1e-2}) {
        std::vector<ContactPoint> kept;
        const auto& contacts = pair.contacts(X, Isometry3d::Identity(), margin);
        EXPECT_LE(contacts.size(), 16u);
        double least = 0.0;
        for (const ContactPoint& c : contacts) {
          least = std::min(least, c.gap);
          if (c.gap <= 1e-6) kept.push_back(c);
        }
        EXPECT_NEAR(least, deepest, 1e-15);
        for (const ContactPoint& c : touching) EXPECT_TRUE(within(c.p_WC, kept)) << depth << " " << tilt << " " << margin;
      }
    }
  }
}

/// What stands on a tile and is on its way to the next, laid flush: the side of that one is no wall, that of one that rises is.
TEST(ConvexPairs, TheNextTileIsNoWall) {
  Random random(4);
  const Vector3d h(0.1, 0.1, 0.1);
  const Isometry3d lying = pose({0, 0, 0}, {0, 0.5 * std::numbers::pi, 0});
  struct Slider {
    const char* name;
    Shape shape;
    Isometry3d X;  // in its own place, 0.1 m over the tile and to the front
  };
  const Slider sliders[] = {
      {"box", Box{h}, Isometry3d::Identity()},
      {"turned box", Box{h / std::sqrt(2.0)}, pose({0, 0, 0.1 / std::sqrt(2.0) - 0.1}, {0, 0, 0.25 * std::numbers::pi})},
      {"hull", convex_box(h), Isometry3d::Identity()},
      {"standing cylinder", Cylinder{0.1, 0.1}, Isometry3d::Identity()},
      {"lying cylinder", Cylinder{0.1, 0.1}, lying},
      {"lying capsule", Capsule{0.05, 0.05}, pose({0, 0, -0.05}, {0, 0.5 * std::numbers::pi, 0})}};
  for (const Slider& slider : sliders) {
    for (const Shape& tile : {Shape(Box{{0.5, 0.4, 0.2}}), convex_box({0.5, 0.4, 0.2})}) {
      ShapePair pair(slider.shape, tile);
      for (const double rise : {0.0, 1e-16, -1e-12, 1e-7, -1e-6, 0.03}) {  // of the tile
        const Isometry3d W = random.pose(1.0);
        const Isometry3d X_B = W * pose({0.5 + 0.1 + 2e-3, 0.05, -0.2 + rise});
        const auto& contacts = pair.contacts(W * pose({0, 0, 0.1}) * slider.X, X_B, 0.01);
        SCOPED_TRACE(::testing::Message() << slider.name << ", the tile " << rise << " higher");
        EXPECT_EQ(contacts.empty(), rise < 0.03);
        for (const auto& c : contacts) EXPECT_GT(std::abs(c.n.dot(W.linear().col(0))), 0.9);
      }
    }
  }
}

}  // namespace
}  // namespace stiction::convex_pairs_test
