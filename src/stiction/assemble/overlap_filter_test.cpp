// Arms made for the purpose: which of their links overlap, and how deep, is known beforehand.
#include "stiction/assemble/overlap_filter.hpp"

#include <gmock/gmock.h>

#include "stiction/assemble/assemble.hpp"
#include "stiction/model/dynamics.hpp"

namespace stiction::overlap_filter_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string body(const std::string& name, const std::string& joint, const std::string& geom, const std::string& children = "") {
  return "<body name='" + name + "'>" + joint + "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>" + geom + children + "</body>";
}

std::string ball(double x, double radius) { return "<geom size='" + std::to_string(radius) + "' pos='" + std::to_string(x) + " 0 0'/>"; }

/// base (radius 1 at the origin) - arm (turns about z) - hand (turns about z through `x`, sphere of this radius there). Nothing but the
/// base and the hand may overlap; they do by 1 + radius - x in every pose.
std::string rigid_arm(double x, double radius) {
  const std::string hinge = "<joint axis='0 0 1'/>";
  const std::string hand = body("hand", "<joint axis='0 0 1' pos='" + std::to_string(x) + " 0 0'/>", ball(x, radius));
  return "<mujoco model='arm'><worldbody><geom name='floor' type='plane' size='1 1 1'/>" +
         body("base", "<freejoint/>", ball(0, 1), body("arm", hinge, "", hand)) + "</worldbody></mujoco>";
}

/// The hand slides away from the base by up to 2 m: at the start it overlaps by 1 + radius - x.
std::string sliding_arm(double x, double radius) {
  const std::string slide = "<joint type='slide' axis='1 0 0' range='0 2' limited='true'/>";
  return "<mujoco model='slider'><worldbody>" +
         body("base", "<freejoint/>", ball(0, 1), body("arm", "<joint axis='0 0 1'/>", "", body("hand", slide, ball(x, radius)))) +
         "</worldbody></mujoco>";
}

World load(const std::string& text, const RobotOptions& options = {}) {
  WorldBuilder builder;
  builder.add_robot_text(text, options);
  return builder.build();
}

/// The world's geometries with its flags and exclusions, unfiltered.
CollisionScene unfiltered(const std::string& text) {
  RobotOptions options;
  options.filter_overlaps = false;
  return make_scene(load(text, options), 0.5);
}

std::vector<std::string> warnings(const std::string& text, const RobotOptions& options = {}) {
  return make_scene(load(text, options), 0.5).warnings;
}

TEST(OverlapFilter, LinksThatNothingSeparatesAreFound) {
  const std::string text = rigid_arm(1.2, 0.5);
  CollisionScene scene = unfiltered(text);
  const auto found = find_overlaps(load(text), scene);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].depth, 0.3, 1e-12);
  EXPECT_TRUE(found[0].always);
  EXPECT_THAT(warnings(text), ElementsAre("arm: links that touch in nearly every pose do not collide: base - hand (300.0 mm)"));
}

TEST(OverlapFilter, FlushLinksAreFoundThoughTheyDoNotOverlap) {
  EXPECT_THAT(warnings(rigid_arm(1.5, 0.5)), ElementsAre("arm: links that touch in nearly every pose do not collide: base - hand"));
  EXPECT_THAT(warnings(rigid_arm(1.502, 0.5)), IsEmpty());  // 2 mm apart
}

TEST(OverlapFilter, DeepOverlapAtTheStartIsLeftOutAndShallowIsNot) {
  EXPECT_THAT(warnings(sliding_arm(1.49, 0.5)),
              ElementsAre("slider: links that overlap at the start do not collide: base - hand (10.0 mm)"));
  EXPECT_THAT(warnings(sliding_arm(1.4995, 0.5)), IsEmpty());
}

TEST(OverlapFilter, WhatIsFoundNoLongerCollides) {
  const World world = load(rigid_arm(1.2, 0.5));
  CollisionScene scene = make_scene(world, 0.5);
  WorldData data(world);
  update_kinematics(world, world.initial_configuration(), data);
  scene.update_poses(data.X_WB);
  std::vector<ContactPoint> contacts;
  scene.detect(0.0, contacts);
  ASSERT_EQ(contacts.size(), 2u);  // both with the floor, which is no link of the robot's
  for (const ContactPoint& c : contacts) EXPECT_EQ(c.geometry_b, 0);
}

TEST(OverlapFilter, CanBeTurnedOffAndSoCanSelfCollision) {
  RobotOptions options;
  options.filter_overlaps = false;
  EXPECT_THAT(warnings(rigid_arm(1.2, 0.5), options), IsEmpty());
  EXPECT_TRUE(make_scene(load(rigid_arm(1.2, 0.5), options), 0.5).may_collide(1, 2));
  options.self_collision = false;
  const CollisionScene scene = make_scene(load(rigid_arm(1.2, 0.5), options), 0.5);
  EXPECT_FALSE(scene.may_collide(1, 2));
  EXPECT_TRUE(scene.may_collide(0, 1));
  EXPECT_TRUE(scene.may_collide(0, 2));
}

TEST(OverlapFilter, DeclaredPairsStay) {
  std::string named = rigid_arm(1.2, 0.5);
  named.replace(named.find("<geom size='1.0"), 5, "<geom name='b'");
  named.replace(named.find("<geom size='0.5"), 5, "<geom name='h'");
  named.replace(named.find("</worldbody>"), 12, "</worldbody><contact><pair geom1='b' geom2='h' friction='0.7'/></contact>");
  EXPECT_THAT(warnings(named), IsEmpty());
  EXPECT_TRUE(make_scene(load(named), 0.5).may_collide(1, 2));
}

TEST(OverlapFilter, OtherRobotsAreNotItsLinks) {
  WorldBuilder builder;
  RobotOptions options;
  builder.add_robot_text(rigid_arm(1.7, 0.5), options);
  options.name = "second";
  builder.add_robot_text(rigid_arm(1.7, 0.5), options);  // at the same place
  const CollisionScene scene = make_scene(builder.build(), 0.5);
  EXPECT_THAT(scene.warnings, IsEmpty());
  EXPECT_TRUE(scene.may_collide(1, 4));
}

TEST(OverlapFilter, IsTheSameEveryTime) {
  const std::string text = sliding_arm(1.2, 0.5);
  EXPECT_EQ(warnings(text), warnings(text));
}

}  // namespace
}  // namespace stiction::overlap_filter_test
