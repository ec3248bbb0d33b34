#include "stiction/geometry/collision_scene.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/geometry/pair_fixture.hpp"

namespace stiction::collision_scene_test {
namespace {

using Eigen::Isometry3d;
using Eigen::Vector3d;

SceneGeometry geometry(std::string name, int body, Shape shape, const Isometry3d& X = Isometry3d::Identity()) {
  SceneGeometry g;
  g.name = std::move(name);
  g.body = body;
  g.shape = std::move(shape);
  g.placement = X;
  return g;
}

std::string message_of(std::vector<SceneGeometry> geometries) {
  try {
    CollisionScene scene(std::move(geometries));
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "no error";
}

/// Every convex shape, several of each, over a plane, a table and a rough height map.
CollisionScene crowd() {
  std::vector<SceneGeometry> g;
  Random random(9);
  g.push_back(geometry("ground", -1, HalfSpace{}));
  g.push_back(geometry("table", -1, Box{{0.5, 0.5, 0.1}}, pose({2, 0, 0.1})));
  HeightMap m;
  m.heights.resize(17, 17);
  for (Eigen::Index i = 0; i < m.heights.size(); ++i) m.heights.data()[i] = random(0.1, 0.2);
  m.size_x = m.size_y = 2.0;
  g.push_back(geometry("hills", -1, m, pose({-2, 0, 0})));
  const std::vector<Shape> shapes{Sphere{0.1},         Capsule{0.05, 0.1},          Box{{0.1, 0.08, 0.06}},
                                  Cylinder{0.08, 0.1}, convex_box({0.1, 0.1, 0.1}), Shape(mesh_box({0.1, 0.1, 0.1}, 2))};
  for (int i = 0; i < 60; ++i) g.push_back(geometry("body", i, shapes[static_cast<std::size_t>(i) % shapes.size()]));
  return CollisionScene(std::move(g));
}

std::vector<Isometry3d> crowd_poses(unsigned seed) {
  Random random(seed);
  std::vector<Isometry3d> poses;
  for (int i = 0; i < 60; ++i) {
    poses.push_back(random.pose(0.0));
    poses.back().translation() = Vector3d(random(-2.8, 2.6), random(-0.6, 0.6), random(0.05, 0.35));
  }
  return poses;
}

bool same_bits(const ContactPoint& x, const ContactPoint& y) {
  return x.geometry_a == y.geometry_a && x.geometry_b == y.geometry_b && x.p_WC == y.p_WC && x.n == y.n && x.t1 == y.t1 && x.gap == y.gap &&
         x.id == y.id;
}

TEST(ContactFrame, RightHandedAndWorldAlignedOnTheGround) {
  Vector3d t1, t2;
  contact_tangents(Vector3d::UnitZ(), t1, t2);
  EXPECT_EQ(t1, Vector3d::UnitX());
  EXPECT_EQ(t2, Vector3d::UnitY());
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const Vector3d n = random.vector(1.0).normalized();
    contact_tangents(n, t1, t2);
    Eigen::Matrix3d R;
    R << n, t1, t2;
    EXPECT_LT((R.transpose() * R - Eigen::Matrix3d::Identity()).norm(), 1e-14);
    EXPECT_GT(R.determinant(), 0.0);
  }
}

TEST(CollisionScene, BadGeometriesAreNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(message_of({geometry("foot", 0, Sphere{0.0})}).find("geometry 'foot'.radius"), std::string::npos);
  EXPECT_NE(message_of({geometry("foot", 0, Sphere{nan})}).find("geometry 'foot'.radius"), std::string::npos);
  EXPECT_NE(message_of({geometry("shell", 0, ConvexMesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, {}})}).find("'shell'"),
            std::string::npos);
  EXPECT_NE(message_of({geometry("line", 0, TriangleMesh{{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {{0, 1, 2}}})}).find("triangle with area"),
            std::string::npos);
  EXPECT_NE(message_of({geometry("sky", 3, HalfSpace{})}).find("fixed body"), std::string::npos);
  SceneGeometry slippery = geometry("ice", 0, Sphere{0.1});
  slippery.friction = nan;
  EXPECT_NE(message_of({slippery}).find("'ice'.friction"), std::string::npos);
  EXPECT_THROW(CollisionScene({geometry("mesh", 0, MeshFile{"no_such_file.stl"})}), FileError);
}

TEST(CollisionScene, BadPosesAreRefusedAndChangeNothing) {
  CollisionScene scene({geometry("ball", 0, Sphere{0.1}), geometry("ground", -1, HalfSpace{})});
  std::vector<Isometry3d> poses{pose({0, 0, 0.1})};
  scene.update_poses(poses);
  for (int k = 0; k < 3; ++k) {
    auto bad = poses;
    if (k == 0) bad[0].translation().y() = std::numeric_limits<double>::quiet_NaN();
    if (k == 1) bad[0].linear()(1, 2) = std::numeric_limits<double>::infinity();
    if (k == 2) bad[0].linear() *= 1.1;
    EXPECT_THROW(scene.update_poses(bad), InvalidArgument);
  }
  auto mirrored = poses;
  mirrored[0].linear()(1, 1) = -1.0;
  try {
    scene.update_poses(mirrored);
    ADD_FAILURE() << "a reflection was taken";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "X_WB[0].rotation: expected a rotation matrix, got a reflection, determinant -1");
  }
  EXPECT_THROW(scene.update_poses({}), InvalidArgument);
  std::vector<ContactPoint> contacts;
  EXPECT_THROW(scene.detect(std::numeric_limits<double>::quiet_NaN(), contacts), InvalidArgument);
  EXPECT_THROW(scene.detect(-1.0, contacts), InvalidArgument);
  scene.detect(0.0, contacts);
  ASSERT_EQ(contacts.size(), 1u);
  EXPECT_EQ(contacts[0].gap, 0.0);
}

TEST(CollisionScene, WhichPairsAreTested) {
  CollisionScene scene({geometry("ground", -1, HalfSpace{}), geometry("wall", -1, Box{{1, 1, 1}}), geometry("a1", 0, Sphere{0.1}),
                        geometry("a2", 0, Sphere{0.1}), geometry("b", 1, Sphere{0.1}), geometry("c", 2, Sphere{0.1})});
  const std::vector<Isometry3d> poses(3, Isometry3d::Identity());
  scene.update_poses(poses);
  const auto pairs = [&] {
    std::vector<ContactPoint> contacts;
    scene.detect(0.01, contacts);
    std::set<std::pair<int, int>> found;
    for (const auto& c : contacts) found.emplace(c.geometry_a, c.geometry_b);
    return found;
  };
  // A is the moving one, or the lower index.
  const std::set<std::pair<int, int>> all{{2, 0}, {3, 0}, {4, 0}, {5, 0}, {2, 1}, {3, 1}, {4, 1},
                                          {5, 1}, {2, 4}, {3, 4}, {2, 5}, {3, 5}, {4, 5}};
  EXPECT_EQ(pairs(), all);
  enum { ground, wall, a1, a2, b, c };
  scene.disable_geometries(a1, b);
  scene.disable_geometries(b, a2);
  scene.disable_geometries(c, ground);
  scene.disable_geometries(c, wall);
  EXPECT_EQ(pairs(), (std::set<std::pair<int, int>>{{2, 0}, {3, 0}, {4, 0}, {2, 1}, {3, 1}, {4, 1}, {2, 5}, {3, 5}, {4, 5}}));
  EXPECT_THROW(scene.disable_geometries(0, 6), InvalidArgument);
}

TEST(CollisionScene, FlagsGroupsAndDeclaredPairs) {
  SceneGeometry a = geometry("a", 0, Sphere{0.1}), b = geometry("b", 1, Sphere{0.1}), c = geometry("c", 2, Sphere{0.1});
  SceneGeometry d = geometry("d", 3, Sphere{0.1}), same = geometry("same", 0, Sphere{0.1});
  a.type = 2;
  b.mask = 2;
  b.type = 4;
  c.type = c.mask = 8;
  d.type = d.mask = 8;
  CollisionScene scene({a, b, c, d, same});
  const auto pairs = [&] {
    std::set<std::pair<int, int>> found;
    for (int i = 0; i < 5; ++i) {
      for (int j = i + 1; j < 5; ++j) {
        if (scene.may_collide(i, j)) found.emplace(i, j);
      }
    }
    return found;
  };
  EXPECT_EQ(pairs(), (std::set<std::pair<int, int>>{{0, 1}, {2, 3}}));  // a's type 2 meets b's mask 2; `same` (1, 1) meets none
  c.group = d.group = 5;
  scene = CollisionScene({a, b, c, d, same});
  EXPECT_EQ(pairs(), (std::set<std::pair<int, int>>{{0, 1}}));
  scene.disable_geometries(2, 3);
  scene.declare_pair(3, 2);
  scene.declare_pair(0, 4);  // of one body
  scene.declare_pair(0, 3);
  EXPECT_EQ(pairs(), (std::set<std::pair<int, int>>{{0, 1}, {0, 3}, {2, 3}}));
  scene.update_poses(std::vector<Isometry3d>(4, Isometry3d::Identity()));
  std::vector<ContactPoint> contacts;
  scene.detect(0.0, contacts);
  std::set<std::pair<int, int>> detected;
  for (const ContactPoint& p : contacts) detected.emplace(p.geometry_a, p.geometry_b);
  EXPECT_EQ(detected, pairs());
}

// As links of MuJoCo's robots are flagged: they meet the ground and no other link, unless a pair is declared.
TEST(CollisionScene, WhatMeetsTheGroundAloneMeetsADeclaredPartner) {
  SceneGeometry a = geometry("a", 0, Sphere{0.1}), b = geometry("b", 1, Sphere{0.1}), c = geometry("c", 2, Sphere{0.1});
  a.mask = b.mask = c.mask = 0;
  CollisionScene scene({geometry("ground", -1, HalfSpace{}), a, b, c});
  const auto pairs = [&] {
    scene.update_poses(std::vector<Isometry3d>(3, Isometry3d::Identity()));
    std::vector<ContactPoint> contacts;
    scene.detect(0.0, contacts);
    std::set<std::pair<int, int>> found;
    for (const ContactPoint& p : contacts) found.insert(std::minmax({p.geometry_a, p.geometry_b}));
    return found;
  };
  const std::set<std::pair<int, int>> ground{{0, 1}, {0, 2}, {0, 3}};
  EXPECT_EQ(pairs(), ground);
  scene.declare_pair(1, 3);
  std::set<std::pair<int, int>> more = ground;
  more.emplace(1, 3);
  EXPECT_EQ(pairs(), more);
}

TEST(CollisionScene, GapOfAPairIsThatOfItsContactPoints) {
  CollisionScene scene({geometry("a", 0, Sphere{0.1}), geometry("b", 1, Box{{0.1, 0.2, 0.3}}), geometry("ground", -1, HalfSpace{})});
  std::vector<Isometry3d> poses(2, Isometry3d::Identity());
  poses[0].translation().y() = 0.35;
  scene.update_poses(poses);
  scene.disable_geometries(0, 1);  // asked for by name, so it is told
  EXPECT_NEAR(scene.gap(0, 1, 0.1), 0.05, 1e-12);
  EXPECT_NEAR(scene.gap(1, 0, 0.1), 0.05, 1e-12);
  EXPECT_TRUE(std::isinf(scene.gap(0, 1, 0.01)));
  EXPECT_NEAR(scene.gap(2, 1, 0.0), -0.3, 1e-12);
  EXPECT_TRUE(std::isinf(scene.gap(2, 2, 0.0)));
  EXPECT_THROW(scene.gap(0, 3, 0.0), InvalidArgument);
}

TEST(CollisionScene, APairIsFrictionlessWhenBothAre) {
  SceneGeometry ball = geometry("ball", 0, Sphere{0.1}), ground = geometry("ground", -1, HalfSpace{});
  ball.frictionless = true;
  const auto mu = [&] {
    CollisionScene scene({ball, ground});
    scene.update_poses(std::vector<Isometry3d>{Isometry3d::Identity()});
    std::vector<ContactPoint> contacts;
    scene.detect(0.0, contacts);
    return contacts.at(0).mu;
  };
  EXPECT_EQ(mu(), 1.0);
  ground.frictionless = true;
  EXPECT_EQ(mu(), 0.0);
}

TEST(CollisionScene, MaterialsOfAPair) {
  SceneGeometry ball = geometry("ball", 0, Sphere{0.1}), ground = geometry("ground", -1, HalfSpace{});
  ball.friction = std::numeric_limits<double>::infinity();
  ball.restitution = 0.5;
  ground.friction = 0.3;
  CollisionScene scene({ball, ground});
  scene.update_poses(std::vector<Isometry3d>{Isometry3d::Identity()});
  std::vector<ContactPoint> contacts;
  scene.detect(0.0, contacts);
  EXPECT_EQ(contacts[0].mu, 0.3);
  EXPECT_EQ(contacts[0].restitution, 0.5);
  scene.set_pair_material(1, 0, 0.9, 0.1);
  scene.detect(0.0, contacts);
  EXPECT_EQ(contacts[0].mu, 0.9);
  EXPECT_EQ(contacts[0].restitution, 0.1);
  EXPECT_THROW(scene.set_pair_material(0, 1, -0.1, 0.0), InvalidArgument);
  EXPECT_THROW(scene.set_pair_material(0, 1, 0.1, 1.5), InvalidArgument);
}

TEST(CollisionScene, IdsAreUniqueAndOutliveSmallMotions) {
  CollisionScene scene = crowd();
  std::vector<ContactPoint> before, after;
  int kept = 0, all = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    auto poses = crowd_poses(seed);
    scene.update_poses(poses);
    scene.detect(0.01, before);
    std::set<std::uint64_t> ids;
    for (const auto& c : before) ids.insert(c.id);
    EXPECT_EQ(ids.size(), before.size());
    Random random(seed + 100);
    for (auto& X : poses) X = moved(X, random.vector(1e-6), random.vector(1e-6), 1.0);
    scene.update_poses(poses);
    scene.detect(0.01, after);
    for (const auto& c : before) {
      const auto it = std::find_if(after.begin(), after.end(), [&](const ContactPoint& x) { return x.id == c.id; });
      ++all;
      if (it == after.end()) continue;
      ++kept;
      EXPECT_LT((it->p_WC - c.p_WC).norm(), 1e-3);
      EXPECT_NEAR(it->gap, c.gap, 2e-5);
    }
  }
  EXPECT_GT(all, 300);
  EXPECT_GT(kept, 0.99 * all);
}

TEST(CollisionScene, SamePosesSameBitsWhateverCameBefore) {
  CollisionScene one = crowd(), two = crowd();
  std::vector<ContactPoint> a, b;
  for (unsigned seed = 0; seed < 5; ++seed) {
    two.update_poses(crowd_poses(seed));
    two.detect(0.02, b);
  }
  one.update_poses(crowd_poses(3));
  two.update_poses(crowd_poses(3));
  one.detect(0.01, a);
  two.detect(0.01, b);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same_bits(a[i], b[i])) << i;
}

TEST(CollisionScene, EveryPointIsFiniteAndWithinTheMargin) {
  CollisionScene scene = crowd();
  std::vector<ContactPoint> contacts;
  for (unsigned seed = 0; seed < 50; ++seed) {
    scene.update_poses(crowd_poses(seed));
    scene.detect(0.01, contacts);
    for (const auto& c : contacts) {
      EXPECT_TRUE(c.p_WC.allFinite() && c.n.allFinite());
      EXPECT_NEAR(c.n.norm(), 1.0, 1e-12);
      EXPECT_LE(c.gap, 0.01);
      EXPECT_GT(c.gap, -0.5) << shape_name(scene.geometries()[c.geometry_a].shape) << " on "
                             << shape_name(scene.geometries()[c.geometry_b].shape) << ", seed " << seed;
    }
  }
}

// The points of a pair are those within its own margin: what is fast elsewhere adds none.
TEST(CollisionScene, BodiesHaveMarginsOfTheirOwn) {
  CollisionScene scene = crowd();
  scene.update_poses(crowd_poses(3));
  const double margin = 0.01;
  std::vector<double> own(60);
  Random random(4);
  for (double& m : own) m = random(0.0, 1.0) < 0.1 ? 0.5 : random(0.0, 0.02);
  std::vector<ContactPoint> by_body, wide, narrow;
  scene.detect(margin, own, by_body);
  scene.detect(margin + 1.0, wide);
  scene.detect(margin, narrow);
  const auto of_body = [&](int body) { return body < 0 ? 0.0 : own[static_cast<std::size_t>(body)]; };
  std::set<std::pair<int, int>> pairs, expected;
  for (const ContactPoint& c : by_body) {
    EXPECT_LE(c.gap, margin + of_body(c.body_a) + of_body(c.body_b));
    pairs.emplace(c.geometry_a, c.geometry_b);
  }
  for (const ContactPoint& c : wide) {
    if (c.gap <= margin + of_body(c.body_a) + of_body(c.body_b)) expected.emplace(c.geometry_a, c.geometry_b);
  }
  EXPECT_EQ(pairs, expected);
  EXPECT_GT(by_body.size(), narrow.size());
  EXPECT_LT(2 * by_body.size(), wide.size());
  own.pop_back();
  EXPECT_THROW(scene.detect(margin, own, by_body), InvalidArgument);
  own.push_back(-1.0);
  EXPECT_THROW(scene.detect(margin, own, by_body), InvalidArgument);
}

TEST(CollisionScene, NothingIsAllocatedAfterWarmUp) {
  if (!allocations_are_counted()) GTEST_SKIP() << "allocations are not counted in this build";
  CollisionScene scene = crowd();
  std::vector<ContactPoint> contacts;
  std::vector<std::vector<Isometry3d>> poses;
  for (unsigned seed = 0; seed < 20; ++seed) poses.push_back(crowd_poses(seed));
  const auto run = [&] {
    for (const auto& p : poses) {
      scene.update_poses(p);
      scene.detect(0.01, contacts);
    }
  };
  run();
  const std::size_t before = allocation_count();
  run();
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace stiction::collision_scene_test
