// MJCF: what MuJoCo 4.0 compiles limits, actuators, orientations and mesh assets to.
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/dynamics.hpp"

namespace stiction::mjcf_compiler_test {
namespace {

World load(const std::string& content) {
  WorldBuilder builder;
  builder.add_robot_text("<mujoco model=\"m\">" + content + "</mujoco>", {});
  return builder.build();
}

World with_joint(const std::string& attributes, const std::string& rest = "") {
  return load("<worldbody><body name='b'><joint name='j' " + attributes + "/><geom size='1'/></body></worldbody>" + rest);
}

const Joint& j(const World& world) { return world.joints()[world.joint("j")]; }

std::string refusal(const std::string& content) {
  try {
    load(content);
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

TEST(MjcfCompiler, AnEmptyRangeLimitsNothing) {
  const std::string classes = R"(<default><joint range="-90 90"/><motor ctrlrange="-1 1"/></default>)";
  EXPECT_TRUE(std::isinf(j(with_joint(R"(range="0 0" actuatorfrcrange="0 0")", classes)).upper));
  const std::string motor = R"(<actuator><motor joint="j" ctrlrange="0 0"/></actuator>)";
  EXPECT_TRUE(std::isinf(j(with_joint(R"(actuatorfrcrange="0 0")", classes + motor)).effort_limit));
  EXPECT_NEAR(j(with_joint("", classes)).upper, std::numbers::pi / 2.0, 1e-15);
  EXPECT_THROW(with_joint(R"(range="2 1")"), FileError);
  EXPECT_THROW(with_joint(R"(limited="true")"), FileError);
}

TEST(MjcfCompiler, ALimitThatLocksItsJointIsSaid) {
  const World world = with_joint(R"(range="30 30" limited="true")");
  EXPECT_EQ(j(world).lower, j(world).upper);
  EXPECT_NEAR(j(world).upper, std::numbers::pi / 6.0, 1e-15);
  EXPECT_NE(world.warnings().at(0).find("joint 'j' cannot move: lower and upper are both 0.52"), std::string::npos);
  EXPECT_THROW(with_joint(R"(actuatorfrcrange="0 0" actuatorfrclimited="true")"), FileError);
}

TEST(MjcfCompiler, WithoutAutolimitsARangeNeedsItsFlag) {
  const std::string off = R"(<compiler autolimits="false"/>)";
  EXPECT_THROW(with_joint(R"(range="-1 1")", off), FileError);
  EXPECT_THROW(with_joint(R"(actuatorfrcrange="-1 1")", off), FileError);
  EXPECT_THROW(with_joint("", off + R"(<actuator><motor joint="j" ctrlrange="-1 1"/></actuator>)"), FileError);
  EXPECT_EQ(j(with_joint(R"(type="slide" range="-1 1" limited="true")", off)).upper, 1.0);
  EXPECT_TRUE(std::isinf(j(with_joint(R"(type="slide" range="-1 1" limited="false")", off)).upper));
  EXPECT_TRUE(std::isinf(j(with_joint("range='0 0'", off)).upper));
}

TEST(MjcfCompiler, NumbersThatAnElementLeavesOutAreThoseOfItsClass) {
  const World world = load(R"(<default><geom type="box" size="0.1 0.3 0.5" friction="0.4 0.1"/><motor gear="3" ctrlrange="-2 2"/>
      <default class="c"><geom size="0.7 0.8"/></default></default>
    <worldbody><geom size="0.2"/><geom class="c" size="0.2"/><geom type="capsule" fromto="0 0 0 0 0 2" size="" friction=""/>
      <body><joint name="j"/><geom size="1"/></body></worldbody><actuator><motor joint="j" gear=""/></actuator>)");
  const auto g = world.geometries();
  EXPECT_EQ(std::get<Box>(g[0].shape).half_extents, Eigen::Vector3d(0.2, 0.3, 0.5));
  EXPECT_EQ(std::get<Box>(g[1].shape).half_extents, Eigen::Vector3d(0.2, 0.8, 0.5));
  EXPECT_EQ(std::get<Capsule>(g[2].shape).radius, 0.1);
  EXPECT_EQ(std::get<Capsule>(g[2].shape).half_length, 1.0);
  EXPECT_EQ(g[2].friction, 0.4);
  EXPECT_EQ(j(world).effort_limit, 6.0);
}

TEST(MjcfCompiler, WhatSaysNothingMayStandBesideTheEndsOfAGeom) {
  const World world = load(R"(<default><geom quat="1 1 0 0"/></default>
    <worldbody><geom type="capsule" size="0.1" fromto="0 0 0 2 0 0" pos="0 0 0" euler="0 90 0"/></worldbody>)");
  EXPECT_LT((world.geometries()[0].placement.linear().col(2) + Eigen::Vector3d::UnitX()).norm(), 1e-14);
}

TEST(MjcfCompiler, QuaternionsOfAKeyNeedNotBeOfUnitLength) {
  WorldBuilder builder;
  RobotOptions options;
  options.keyframe = "k";
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint type="ball"/><geom size="1"/></body></worldbody>
    <keyframe><key name="k" qpos="0 3 0 0"/></keyframe></mujoco>)",
                         options);
  EXPECT_EQ(builder.build().initial_configuration(), Eigen::Vector4d(1, 0, 0, 0));
}

TEST(MjcfCompiler, AKeyThatTurnsNothingIsNoStart) {
  const std::string file = R"(<mujoco><worldbody><body><freejoint/><geom size="1"/></body></worldbody><keyframe>
    <key name="up" qpos="0 0 1 0 0 0 0"/></keyframe></mujoco>)";
  RobotOptions options;
  WorldBuilder builder;
  EXPECT_NO_THROW(builder.add_robot_text(file, options));
  options.keyframe = "up";
  try {
    builder.add_robot_text(file, options);
    FAIL();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("<text>: line 2, key 'up': qpos[3..6]: the quaternion is zero"));
  }
}

TEST(MjcfCompiler, ArmatureAndDampingOfActuatorsCountThroughTheirGears) {
  const World world = with_joint(R"(armature="1" damping="2")", R"(<default><general armature="0.5"/></default><actuator>
    <motor joint="j" gear="-3" damping="4"/><position jointinparent="j" gear="2" kp="1" armature="7"/></actuator>)");
  EXPECT_DOUBLE_EQ(j(world).armature, 1.0 + 9.0 * 0.5 + 4.0 * 7.0);
  EXPECT_DOUBLE_EQ(j(world).damping, 2.0 + 9.0 * 4.0);
  EXPECT_EQ(world.warnings().size(), 1u);  // of <position>
}

// Defaults of all actuators are one: a <position> there sets the gain of a <general>.
TEST(MjcfCompiler, AGeneralActuatorOfAPositionsClassIsNoMotor) {
  const World world =
      with_joint("", R"(<default><position kp="100"/></default><actuator><general joint="j" ctrlrange="-1 1"/></actuator>)");
  EXPECT_TRUE(std::isinf(j(world).effort_limit));
  EXPECT_THAT(world.warnings(), testing::ElementsAre(testing::HasSubstr("another kind of actuator (<general>) is left out")));
  EXPECT_EQ(j(with_joint("", R"(<actuator><motor joint="j" gear="0"/></actuator>)")).effort_limit, 0.0);
}

TEST(MjcfCompiler, WhatMuJoCoRefusesIsRefused) {
  const auto body = [](const std::string& geom) { return "<worldbody><body><joint/><geom " + geom + "/></body></worldbody>"; };
  EXPECT_THAT(refusal(R"(<compiler angle="degrees"/>)" + body("size='1'")), testing::HasSubstr("expected degree or radian"));
  EXPECT_THAT(refusal(body(R"(size="1" quat="1 0 1 0" euler="10 20 30")")), testing::HasSubstr("more than one orientation"));
  EXPECT_THAT(refusal(body(R"(size="1" fromto="0 0 0 1 0 0")")), testing::HasSubstr("fromto: expected a capsule"));
  EXPECT_THAT(refusal(body(R"(size="1" condim="2")")), testing::HasSubstr(R"(condim="2": expected 1, 3, 4 or 6)"));
  EXPECT_THAT(refusal("<worldbody><joint/><geom size='1'/></worldbody>"), testing::HasSubstr("put it into a body"));
  EXPECT_EQ(load(body(R"(size="1" contype="-1")")).geometries().size(), 1u);
}

// v -> S Rᵀ (v - p), R a quarter turn about z: x of the geom is y of the file.
TEST(MjcfCompiler, ReferenceOfAMesh) {
  const World world =
      load(R"(<asset><mesh name="m" vertex="1 2 3 2 2 3 1 3 3 1 2 4" refpos="1 2 2" refquat="1 0 0 1" scale="2 3 4"/></asset>
    <worldbody><body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="mesh" mesh="m"/></body></worldbody>)");
  const auto& hull = std::get<ConvexMesh>(world.geometries()[0].shape);
  const std::vector<Eigen::Vector3d> expected = {{0, 0, 4}, {0, -3, 4}, {2, 0, 4}, {0, 0, 8}};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_LT((hull.vertices[i] - expected[i]).norm(), 1e-14) << i;
}

/// An L, extruded, moved by its asset and its geom, welded to a ball of 1 kg.
std::string weighed_mesh(const std::string& inertia) {
  return "<asset><mesh name='m' " + inertia + R"( scale="0.1 0.1 -0.1" refpos="1 2 3" refquat="1 1 0 0"
    vertex="0 0 0 3 0 0 3 1 0 1 1 0 1 4 0 0 4 0 0 0 1 3 0 1 3 1 1 1 1 1 1 4 1 0 4 1"
    face="0 2 1 0 3 2 0 4 3 0 5 4 6 7 8 6 8 9 6 9 10 6 10 11 0 1 7 0 7 6 1 2 8 1 8 7 2 3 9 2 9 8 3 4 10 3 10 9 4 5 11 4 11 10 5 0 6 5 6 11"/>
    </asset><worldbody><body name="b"><joint/><geom type="mesh" mesh="m" pos="1 0 0" euler="0 0 30" density="500"/>
    <geom type="sphere" size="0.1" mass="1"/></body></worldbody>)";
}

TEST(MjcfCompiler, AMeshWeighsByItsInertia) {
  struct Compiled {
    const char* inertia;
    double mass;
    Eigen::Vector3d com, diagonal, products;  ///< products xy, xz, yz
  };
  const Compiled mujoco[] = {
      {"",
       4.393698597000481,
       {0.8743275953817713, -0.16412589267920213, -0.04093783049545881},
       {0.09248604539147484, 1.0571736910874316, 1.053689174353214},
       {0.17724643584646907, 0.060131303993883625, -0.0007363766372969645}},
      {"inertia='convex'",
       5.5,
       {0.9362004618869895, -0.16805065077408968, -0.027272727272727258},
       {0.10168283907370804, 1.1504226301548268, 1.1412872874103515},
       {0.18188678542689485, 0.0434753752831796, 0.0014816449741970354}},
      {"inertia='exact'",
       4.0,
       {0.84375, -0.1623797632095822, -0.0375},
       {0.09040625, 1.01321875, 1.010875},
       {0.1750995113276668, 0.05517788105676693, -0.0006189881604790585}},
      {"inertia='shell'",
       131.0,
       {1.1197176542129177, -0.21294523376331487, -0.04580152671755724},
       {2.638987889245772, 4.301577190172476, 2.6195167333622384},
       {-0.14499759556375746, 0.6812131275608279, 0.3536332969032339}},
  };
  for (const Compiled& m : mujoco) {
    const World world = load(weighed_mesh(m.inertia));
    const Body& b = world.bodies()[world.body("b")];
    EXPECT_NEAR(b.mass, m.mass, 1e-9 * m.mass) << m.inertia;
    EXPECT_LT((b.com - m.com).norm(), 1e-9) << m.inertia << b.com.transpose();
    EXPECT_LT((b.inertia.diagonal() - m.diagonal).norm(), 1e-8) << m.inertia << "\n" << b.inertia;
    EXPECT_LT((Eigen::Vector3d(b.inertia(0, 1), b.inertia(0, 2), b.inertia(1, 2)) - m.products).norm(), 1e-8) << m.inertia;
  }
}

TEST(MjcfCompiler, MeshesThatStandStillNeedNoMass) {
  const std::string file = R"(<asset><mesh name="m" file="nowhere.stl"/></asset><worldbody><body name="base">
    <geom type="mesh" mesh="m" contype="0" conaffinity="0"/><body><joint/><geom size="1"/></body></body></worldbody>)";
  EXPECT_EQ(load(file).joints().size(), 1u);
  EXPECT_THAT(refusal(R"(<compiler settotalmass="1"/>)" + file), testing::HasSubstr("'nowhere.stl' is not found"));
}

}  // namespace
}  // namespace stiction::mjcf_compiler_test
