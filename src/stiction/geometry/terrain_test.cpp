// Ground by its closed forms: gaps on slopes and stairs, heights, and the friction of the patch that a point lies on.
#include "stiction/geometry/terrain.hpp"

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/geometry/collision_scene.hpp"

namespace stiction::terrain_test {
namespace {

using Eigen::Isometry3d;
using Eigen::Vector3d;

constexpr double kRadius = 0.05, kMargin = 0.2;

/// A ball of friction 0.9 above ground, which has `mu` where it has no patches.
class BallOnGround {
 public:
  explicit BallOnGround(const TerrainOptions& options, const Isometry3d& X = Isometry3d::Identity()) : ground_(make_terrain(options)) {
    SceneGeometry ball, ground;
    ball.name = "ball";
    ball.body = 0;
    ball.shape = Sphere{kRadius};
    ball.friction = 0.9;
    ground.name = "ground";
    ground.body = 1;
    ground.fixed = true;
    ground.shape = ground_.shape;
    ground.patches = ground_.patches;
    scene_.emplace(std::vector{ball, ground});
    poses_ = {Isometry3d::Identity(), X};
  }

  const std::vector<ContactPoint>& at(const Vector3d& p_W) {
    poses_[0].translation() = p_W;
    scene_->update_poses(poses_);
    scene_->detect(kMargin, contacts_);
    return contacts_;
  }
  double gap(const Vector3d& p_W) {
    double least = kMargin;
    for (const ContactPoint& c : at(p_W)) least = std::min(least, c.gap);
    return least;
  }
  const BodyShape& ground() const { return ground_; }

 private:
  BodyShape ground_;
  std::optional<CollisionScene> scene_;
  std::vector<Isometry3d> poses_;
  std::vector<ContactPoint> contacts_;
};

TEST(Terrain, TheSameSeedGivesTheSameGround) {
  for (const TerrainKind kind : kTerrainKinds) {
    SCOPED_TRACE(to_string(kind));
    TerrainOptions options{.kind = kind, .seed = 5, .cell = 0.1, .friction = std::array{0.1, 1.5}};
    const BodyShape first = make_terrain(options), again = make_terrain(options);
    const auto same = [](const Shape& a, const Shape& b) {
      const auto* map = std::get_if<HeightMap>(&a);
      return map != nullptr ? map->heights == std::get<HeightMap>(b).heights
                            : std::get<TriangleMesh>(a).vertices == std::get<TriangleMesh>(b).vertices;
    };
    EXPECT_TRUE(same(first.shape, again.shape));
    EXPECT_EQ(first.patches.mu, again.patches.mu);
    options.seed = 6;
    const BodyShape other = make_terrain(options);
    const bool is_drawn = kind == TerrainKind::hills || kind == TerrainKind::rough || kind == TerrainKind::facets;
    EXPECT_EQ(same(first.shape, other.shape), !is_drawn);
    EXPECT_NE(first.patches.mu, other.patches.mu);
    options.friction = std::array{0.3, 0.3};
    EXPECT_TRUE(same(make_terrain(options).shape, other.shape));  // friction does not move the ground
    EXPECT_EQ(make_terrain(options).friction, 0.3);
  }
}

TEST(Terrain, HillsAreThoseOfTheirPaper) {
  const HeightMap map = std::get<HeightMap>(make_terrain({}).shape);
  EXPECT_EQ(map.heights.rows(), 151);
  EXPECT_EQ(map.heights.cols(), 151);
  EXPECT_EQ(map.heights.minCoeff(), 0.0);
  EXPECT_NEAR(map.heights.maxCoeff(), 0.03, 1e-15);
}

TEST(Terrain, FrictionIsUniformAndThatOfThePatchUnderTheContact) {
  Isometry3d X = Isometry3d::Identity();
  X.translation() << 0.4, -0.2, 0.1;
  X.linear() = Eigen::AngleAxisd(0.7, Vector3d::UnitZ()).toRotationMatrix();
  for (const TerrainKind kind : {TerrainKind::flat, TerrainKind::stairs, TerrainKind::hills, TerrainKind::facets}) {
    SCOPED_TRACE(to_string(kind));
    BallOnGround scene({.kind = kind, .cell = 0.1, .friction = std::array{0.1, 1.5}}, X);
    const Eigen::MatrixXd& mu = scene.ground().patches.mu;
    ASSERT_EQ(mu.rows(), 12);
    ASSERT_EQ(mu.cols(), 12);
    EXPECT_GE(mu.minCoeff(), 0.1);
    EXPECT_LE(mu.maxCoeff(), 1.5);
    EXPECT_NEAR(mu.mean(), 0.8, 4.0 * 1.4 / std::sqrt(12.0 * 144.0));  // four standard deviations of the mean of 144
    for (const auto& [i, j] : {std::pair{0, 0}, std::pair{3, 7}, std::pair{11, 2}, std::pair{8, 11}}) {
      const double x = 0.25 * i - 1.375, y = 0.25 * j - 1.375;
      const double z = *terrain_height(scene.ground().shape, x, y);
      const auto& contacts = scene.at(X * Vector3d(x, y, z + kRadius));
      ASSERT_FALSE(contacts.empty());
      for (const ContactPoint& c : contacts) {
        const Vector3d p = X.inverse() * c.p_WC;  // a neighbour's, where the ground is steep
        // Risers stand where patches meet.
        if (std::ranges::any_of(p.head<2>(), [](double s) { return std::abs(std::remainder(s, 0.25)) < 1e-12; })) continue;
        const auto at = [](double s) { return std::clamp(static_cast<int>(std::floor((s + 1.5) / 0.25)), 0, 11); };
        EXPECT_EQ(c.mu, std::min(0.9, mu(at(p.x()), at(p.y()))));
      }
    }
  }
}

TEST(Terrain, GapsOnASlope) {
  const double slope = 0.3;
  BallOnGround scene({.kind = TerrainKind::slope, .size_x = 2.0, .size_y = 1.0, .slope = slope});
  for (const Vector3d& p : {Vector3d(0.0, 0.0, 0.4), Vector3d(-0.7, 0.3, 0.2), Vector3d(0.5, -0.4, 0.5), Vector3d(0.1, 0.1, 0.36)}) {
    const double above = p.z() - (p.x() + 1.0) * std::tan(slope);
    EXPECT_NEAR(scene.gap(p), above * std::cos(slope) - kRadius, 1e-12);
    EXPECT_NEAR(*terrain_height(scene.ground().shape, p.x(), p.y()), p.z() - above, 1e-12);
  }
}

TEST(Terrain, GapsOnStairs) {
  const double rise = 0.15, run = 0.3;  // risers at x = -0.7, -0.4, ..., 0.8
  BallOnGround scene({.kind = TerrainKind::stairs, .size_x = 2.0, .size_y = 1.0, .rise = rise, .run = run});
  EXPECT_NEAR(scene.gap({-0.9, 0.2, 0.12}), 0.12 - kRadius, 1e-12);                            // the first tread
  EXPECT_NEAR(scene.gap({-0.55, 0.0, rise + 0.11}), 0.11 - kRadius, 1e-12);                    // the second
  EXPECT_NEAR(scene.gap({-0.76, 0.0, 0.1}), 0.06 - kRadius, 1e-12);                            // before its riser
  EXPECT_NEAR(scene.gap({-0.73, 0.1, rise + 0.04}), std::hypot(0.03, 0.04) - kRadius, 1e-12);  // at its edge
  EXPECT_NEAR(scene.gap({0.9, 0.0, 6.0 * rise + 0.07}), 0.07 - kRadius, 1e-12);                // the last tread reaches to the end
  EXPECT_NEAR(scene.gap({-0.55, 0.0, rise + kRadius - 1e-4}), -1e-4, 1e-12);                   // 0.1 mm deep
  EXPECT_NEAR(*terrain_height(scene.ground().shape, -0.55, 0.0), rise, 1e-15);
  EXPECT_FALSE(terrain_height(scene.ground().shape, 1.1, 0.0));
}

TEST(Terrain, HeightsOfSampledGroundAreThoseOfItsTriangles) {
  for (const TerrainKind kind : {TerrainKind::hills, TerrainKind::rough, TerrainKind::facets}) {
    SCOPED_TRACE(to_string(kind));
    BallOnGround scene({.kind = kind, .size_x = 1.0, .size_y = 1.0, .height = 0.02, .cell = 0.1});
    const Shape& shape = scene.ground().shape;
    // Where the ball's lowest point is h above the ground, its gap is h at most and, on the steepest of these triangles, h cos - r(1 -
    // cos).
    const double steepest = std::atan(0.02 / 0.04), h = 0.01;
    for (const auto& [x, y] : {std::pair{0.031, -0.272}, std::pair{-0.333, 0.118}, std::pair{0.205, 0.404}}) {
      const double z = *terrain_height(shape, x, y), gap = scene.gap({x, y, z + kRadius + h});
      EXPECT_LE(gap, h);
      EXPECT_GE(gap, h * std::cos(steepest) - kRadius * (1.0 - std::cos(steepest)));
    }
  }
}

TEST(Terrain, RefusesWhatMakesNoGround) {
  const auto refused = [](const TerrainOptions& options, const char* argument) {
    try {
      make_terrain(options);
      ADD_FAILURE() << argument;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(argument), std::string::npos) << error.what();
    }
  };
  refused({.size_x = 0.0}, "size_x");
  refused({.cell = -1.0}, "cell");
  refused({.cell = 1e-5}, "cell");
  refused({.kind = TerrainKind::slope, .slope = 1.6}, "slope");
  refused({.friction = std::array{0.5, 0.1}}, "friction");
  EXPECT_THROW(terrain_kind_from_string("swamp"), InvalidArgument);
}

}  // namespace
}  // namespace stiction::terrain_test
