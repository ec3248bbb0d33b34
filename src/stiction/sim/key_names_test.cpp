#include "stiction/sim/key_names.hpp"

#include <gtest/gtest.h>

namespace stiction::key_names_test {
namespace {

TEST(KeyNames, OfRobotsAndDrivesAreThoseOfTheScene) {
  EXPECT_EQ(by_keys_of_robots("options.joints['a.b'].position: expected x, got y"), "joints['a.b']: expected x, got y");
  EXPECT_EQ(by_keys_of_robots("options.joints['j'].damping: expected x"), "joint_settings['j'].damping: expected x");
  EXPECT_EQ(by_keys_of_robots("options.joints: expected x, got 'options.cut'"), "joints, joint_settings: expected x, got 'options.cut'");
  EXPECT_EQ(by_keys_of_robots("options.cut: expected none"), "cut: expected none");
  EXPECT_EQ(by_keys_of_robots("options.coordinates: expected none (options.joints sets them)"),
            "coordinates: expected none (joint_settings sets them)");
  EXPECT_EQ(by_keys_of_robots("joints: options."), "joints: options.");
  EXPECT_EQ(by_keys_of_drives("drives.velocity[2].most: expected finite and -least, beside a no-load speed, got inf"),
            "limit: expected a finite number beside no_load, got inf");
  EXPECT_EQ(by_keys_of_drives("drives.velocity[0].v: expected x"), "joints: expected x");
  EXPECT_EQ(by_keys_of_drives("drives.velocity[0].velocity: expected x"), "velocity: expected x");
  EXPECT_EQ(by_keys_of_drives("drives.servos[10].kd: expected x"), "kd: expected x");
  EXPECT_EQ(by_keys_of_drives("drives.rows[0].terms[1].v: expected x"), "joints: expected x");
}

}  // namespace
}  // namespace stiction::key_names_test
