// Drives that a scene file asks for, against closed forms, and errors that name line and key.
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/sim/scene.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction::scene_drives_test {
namespace {

constexpr double kStep = 0.01;

/// Two shafts about x, of 0.02 and 0.05 kg m², without gravity.
class SceneDrives : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "shafts.xml") << R"(<mujoco><worldbody>
      <body><joint name="one" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="0.02 0.02 0.02"/></body>
      <body pos="0 1 0"><joint name="two" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="0.05 0.05 0.05"/></body>
      </worldbody><actuator><motor joint="one"/></actuator></mujoco>)";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Scene scene(const std::string& drives) const {
    std::ofstream(folder_ / "scene.toml") << "[simulation]\ndt = 0.01\ngravity = [0, 0, 0]\n[[robot]]\nfile = \"shafts.xml\"\n" << drives;
    return load_scene((folder_ / "scene.toml").string());
  }
  static Eigen::VectorXd velocities(const Scene& scene, int steps) {
    Simulation simulation(scene);
    EXPECT_EQ(simulation.run({.duration = steps * kStep}).stop, Stop::duration);
    return simulation.state().v;
  }
  std::string error(const std::string& drives) const {
    try {
      static_cast<void>(scene(drives));
    } catch (const FileError& refusal) {
      return refusal.what();
    }
    return "";
  }

 private:
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  (std::string("stiction_drives_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

// A motor of 0.4 N m and 8 rad/s turns shaft two through a belt 1 : 2: implicit steps of I ω' = 0.4 (1 - ω/8), I = 0.02 + 0.05/4.
TEST_F(SceneDrives, AMotorWithATorqueSpeedLineTurnsABelt) {
  const Scene belt = scene(
      "[[drive]]\njoints = [\"one\"]\nvelocity = 100.0\nlimit = 0.4\nno_load = 8.0\n"
      "[[coupled]]\njoints = { one = 1.0, two = -2.0 }\n");
  double w = 0.0;
  const double inertia = 0.02 + 0.05 / 4.0;
  for (int k = 0; k < 30; ++k) w = (inertia * w + kStep * 0.4) / (inertia + kStep * 0.4 / 8.0);
  const Eigen::VectorXd v = velocities(belt, 30);
  EXPECT_NEAR(v[0], w, 1e-10);
  EXPECT_NEAR(v[1], 0.5 * w, 1e-10);
}

// A servo far from its goal pushes with its limit.
TEST_F(SceneDrives, AServoPushesWithItsLimit) {
  const Scene servo = scene("[[drive]]\nposition = 3.0\nkp = 50.0\nkd = 0.5\nlimit = 0.1\n");  // of all driven joints: one
  const Eigen::VectorXd v = velocities(servo, 10);
  EXPECT_NEAR(v[0], 10 * kStep * 0.1 / 0.02, 1e-10);
  EXPECT_EQ(v[1], 0.0);
}

TEST_F(SceneDrives, ErrorsNameTheKey) {
  EXPECT_THAT(error("[[drive]]\njoints = [\"three\"]\nvelocity = 1.0\n"), testing::HasSubstr("line 7, drive[0].joints: expected the name"));
  EXPECT_THAT(error("[[drive]]\nlimit = 1.0\n"), testing::HasSubstr("drive[0].velocity: missing"));
  EXPECT_THAT(error("[[drive]]\nposition = 1.0\nno_load = 1.0\n"), testing::HasSubstr("drive[0].no_load: expected none"));
  EXPECT_THAT(error("[[drive]]\nvelocity = 1.0\nkd = 1.0\n"), testing::HasSubstr("drive[0].kd: expected none"));
  EXPECT_THAT(error("[[drive]]\nvelocity = 1.0\nlimit = -1.0\n"), testing::HasSubstr("line 8, drive[0].limit: expected a number >= 0"));
  EXPECT_THAT(error("[[drive]]\nposition = 1.0\nkp = 1.0\nlimit = -1.0\n"), testing::HasSubstr("drive[0].limit: expected a number >= 0"));
  EXPECT_THAT(error("[[drive]]\nposition = 1.0\n"), testing::HasSubstr("drive[0].position: expected kp or kd"));
  EXPECT_THAT(error("[[coupled]]\njoints = { one = 1.0 }\nlimit = -1.0\n"), testing::HasSubstr("coupled[0].limit: expected a number >= 0"));
  EXPECT_THAT(error("[[coupled]]\nvelocity = 1.0\n"), testing::HasSubstr("coupled[0]: joints: expected one or more, got none"));
  EXPECT_THAT(error("[[drive]]\njoints = []\nvelocity = 1.0\n"),
              testing::HasSubstr("drive[0].velocity: expected joints to drive, got none"));
  EXPECT_THAT(error("[[drive]]\njoints = []\nposition = 1.0\nkp = 1.0\n"), testing::HasSubstr("drive[0].position: expected joints"));
  EXPECT_THAT(error("[[coupled]]\njoints = { one = 1.0 }\nspeed = 2.0\n"), testing::HasSubstr("coupled[0].speed"));
}

}  // namespace
}  // namespace stiction::scene_drives_test
