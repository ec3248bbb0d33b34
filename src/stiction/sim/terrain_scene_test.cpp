// Ground from scene files: what is dropped on it comes to rest on it and is never inside it; compliant ground gives way by m g/k.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/geometry/terrain.hpp"
#include "stiction/sim/scene.hpp"
#include "stiction/sim/simulation.hpp"
#include "test_paths.hpp"

namespace stiction::terrain_scene_test {
namespace {

constexpr double kMass = 0.5, kRadius = 0.04;

/// A scene of a test, gone with it.
class SceneFile {
 public:
  explicit SceneFile(const std::string& content) {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();  // tests run side by side
    path_ = std::filesystem::path(testing::TempDir()) / ("stiction_terrain_" + test + ".toml");
    std::ofstream(path_) << content;
  }
  ~SceneFile() { std::filesystem::remove(path_); }
  SceneFile(const SceneFile&) = delete;
  SceneFile& operator=(const SceneFile&) = delete;
  Scene load() const { return load_scene(path_.string()); }

 private:
  std::filesystem::path path_;
};

std::string dropped(const std::string& shape, const std::string& ground) {
  return "[simulation]\ndt = 0.002\n[[terrain]]\nsize = [1.0, 0.8]\n" + ground +
         "\n[[body]]\nname = \"body\"\nmass = 0.5\nposition = [0.07, 0.03, 0.7]\n" + shape + "\n";
}
const char* kBall = "shape = \"sphere\"\nradius = 0.04";
// Four feet: it does not roll.
const char* kStool =
    "com = [0, 0, 0]\ninertia = [[2e-4, 0, 0], [0, 2e-4, 0], [0, 0, 2e-4]]\nshapes = ["
    "{ shape = \"sphere\", radius = 0.04, position = [0.05, 0.05, 0] }, { shape = \"sphere\", radius = 0.04, position = [-0.05, 0.05, 0] "
    "}, "
    "{ shape = \"sphere\", radius = 0.04, position = [0.05, -0.05, 0] }, { shape = \"sphere\", radius = 0.04, position = [-0.05, -0.05, 0] "
    "}]";

const char* kGrounds[] = {"kind = \"flat\"",
                          "kind = \"slope\"\nslope = 0.3",
                          "kind = \"stairs\"\nrise = 0.06\nrun = 0.2",
                          "kind = \"hills\"\nseed = 3",
                          "kind = \"rough\"\nseed = 3\ncell = 0.1",
                          "kind = \"facets\"\nseed = 3\ncell = 0.1"};

/// Runs it; the least gap (m) of any step is left in `least`.
State run(const Scene& scene, double duration, double& least) {
  Simulation simulation(scene);
  least = 1.0;
  const Observer watch = [&](const StepTaken& step) {
    for (const ContactPoint& c : step.stepper.contacts()) least = std::min(least, c.gap);
  };
  const RunSummary summary = simulation.run({.duration = duration, .observers = {watch}});
  EXPECT_EQ(summary.stop, Stop::duration);
  return simulation.state();
}

TEST(TerrainScene, ASeedHasNoSignAndNoFraction) {
  for (const char* seed : {"-1", "1.5", "\"3\""}) {
    EXPECT_THROW(SceneFile(dropped(kStool, (std::string("kind = \"hills\"\nseed = ") + seed).c_str())).load(), FileError) << seed;
  }
}

TEST(TerrainScene, WhatIsDroppedComesToRestOnEveryKindOfGround) {
  for (const char* ground : kGrounds) {
    SCOPED_TRACE(ground);
    const Scene scene = SceneFile(dropped(kStool, ground)).load();
    double least = 0.0;
    const State end = run(scene, 2.0, least);
    EXPECT_LT(end.v.norm(), 1e-6);
    EXPECT_GT(least, -1e-3);  // what a step of 2 ms at 3 m/s turns a foot by while another one lands
    // A foot's centre is no nearer to any point of the ground than its radius, but for the penetration that stays by design.
    const Body& body = scene.world.bodies()[0];
    ASSERT_EQ(body.name, "body");
    const BodyShape& surface = [&] {
      static BodyShape out;
      for (const CollisionGeometry& g : scene.world.geometries()) {
        if (!std::holds_alternative<Sphere>(g.shape)) out.shape = g.shape;
      }
      return out;
    }();
    const Eigen::Quaterniond R(Eigen::Vector4d(end.q.segment<4>(3)));
    int standing = 0;
    for (const double x : {0.05, -0.05}) {
      for (const double y : {0.05, -0.05}) {
        const Eigen::Vector3d foot = end.q.head<3>() + R * Eigen::Vector3d(x, y, 0.0);
        double nearest = 1.0;
        for (int i = -60; i <= 60; ++i) {
          for (int j = -60; j <= 60; ++j) {
            const double px = foot.x() + i * 1e-3, py = foot.y() + j * 1e-3;
            const std::optional<double> z = terrain_height(surface.shape, px, py);
            if (z) nearest = std::min(nearest, (Eigen::Vector3d(px, py, *z) - foot).norm());
          }
        }
        EXPECT_GT(nearest, kRadius - 5e-6);
        standing += nearest < kRadius + 1e-3 ? 1 : 0;
      }
    }
    EXPECT_GE(standing, 2);
  }
}

TEST(TerrainScene, ABallIsNeverInsideTheGround) {
  for (const char* ground : kGrounds) {
    SCOPED_TRACE(ground);
    double least = 0.0;
    run(SceneFile(dropped(kBall, ground)).load(), 1.0, least);
    EXPECT_GT(least, -1e-4);
  }
}

TEST(TerrainScene, ABallRollsDownASlope) {
  const double slope = 0.3;
  const std::string place = "shape = \"sphere\"\nradius = 0.04";
  Scene scene = SceneFile(dropped(place, "kind = \"slope\"\nslope = 0.3\nfriction = 0.8")).load();
  // On the slope already: the surface is at z = (x + 0.5) tan.
  scene.start.q[2] = (scene.start.q[0] + 0.5) * std::tan(slope) + kRadius / std::cos(slope);
  double least = 0.0;
  const State end = run(scene, 0.2, least);
  EXPECT_NEAR(end.v.head<3>().norm(), 5.0 / 7.0 * 9.81 * std::sin(slope) * 0.2, 1e-9);
}

TEST(TerrainScene, FrictionOfAPatchHoldsOrLetsSlide) {
  for (const auto& [friction, slides] : {std::pair{"[0.1, 0.2]", true}, std::pair{"[0.4, 0.9]", false}}) {
    const Scene scene = SceneFile(dropped(kStool, std::string("kind = \"slope\"\nslope = 0.3\nfriction = ") + friction)).load();
    double least = 0.0;
    EXPECT_EQ(run(scene, 0.8, least).v.norm() > 0.1, slides) << friction;  // tan 0.3 = 0.31
  }
}

TEST(TerrainScene, CompliantGroundGivesWayByWeightOverStiffness) {
  const Scene scene = SceneFile(dropped(kBall, "kind = \"flat\"") +
                                "[[pair]]\na = \"terrain\"\nlaw = \"linear_penalty\"\nstiffness = 2e3\ndamping = 40.0\n")
                          .load();
  double least = 0.0;
  const State end = run(scene, 3.0, least);
  EXPECT_NEAR(end.q[2], kRadius - kMass * 9.81 / 2e3, 1e-8);
}

TEST(TerrainScene, NumbersThatSayNothingAreRefusedByTheirKey) {
  for (const auto& [ground, said] : {std::pair{"kind = \"flat\"\nrise = 0.1", "terrain[0].rise: expected no such number for flat, got 0.1"},
                                     {"kind = \"stairs\"\nslope = 0.1", "terrain[0].slope: expected no such number for stairs, got 0.1"}}) {
    try {
      SceneFile(dropped(kBall, ground)).load();
      ADD_FAILURE() << ground;
    } catch (const FileError& error) {
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace stiction::terrain_scene_test
