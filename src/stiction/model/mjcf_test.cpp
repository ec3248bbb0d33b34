// MJCF: what the file means, in closed form, and Pinocchio's own reader as a second opinion (reference_test.cpp).
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/dynamics.hpp"

namespace stiction {
namespace {

World load(const std::string& content, const RobotOptions& options = {}) {
  WorldBuilder builder;
  builder.add_robot_text("<mujoco model=\"m\">" + content + "</mujoco>", options);
  return builder.build();
}

const Joint& joint(const World& world, const char* name) { return world.joints()[static_cast<std::size_t>(world.joint(name))]; }
const Body& body(const World& world, const char* name) { return world.bodies()[static_cast<std::size_t>(world.body(name))]; }

Eigen::Isometry3d placement(const World& world, const char* link, const Eigen::VectorXd& q) {
  WorldData data(world);
  update_kinematics(world, q, data);
  return link_pose(world, data, world.link(link));
}

TEST(Mjcf, InertiaOfABodyComesFromItsGeoms) {
  const World world = load(R"(<worldbody><body name="b"><freejoint/>
    <geom type="box" size="0.1 0.2 0.3" density="500"/>
    <geom type="sphere" size="0.1" pos="0 0 0.5" mass="2"/></body></worldbody>)");
  const double box = 500.0 * 0.048, ball = 2.0, arm = 0.5;
  const Body& b = body(world, "b");
  EXPECT_NEAR(b.mass, box + ball, 1e-12);
  EXPECT_NEAR(b.com.z(), ball * arm / (box + ball), 1e-14);
  const double xx = box / 3.0 * (0.04 + 0.09) + 0.4 * ball * 0.01 + box * ball / (box + ball) * arm * arm;
  EXPECT_NEAR(b.inertia(0, 0), xx, 1e-13);
  EXPECT_NEAR(b.inertia(2, 2), box / 3.0 * (0.01 + 0.04) + 0.4 * ball * 0.01, 1e-13);
}

TEST(Mjcf, AnglesAreDegreesUnlessToldOtherwise) {
  const char* body = R"(<worldbody><body name="a"><joint name="j" range="-90 45"/><geom size="1"/></body></worldbody>)";
  EXPECT_NEAR(joint(load(body), "j").lower, -M_PI_2, 1e-15);
  EXPECT_NEAR(joint(load(body), "j").upper, M_PI_4, 1e-15);
  EXPECT_EQ(joint(load(std::string(R"(<compiler angle="radian"/>)") + body), "j").upper, 45.0);
  EXPECT_TRUE(std::isinf(joint(load(std::string(R"(<compiler autolimits="false"/>)") + body), "j").upper));
}

TEST(Mjcf, DefaultClassesReachElements) {
  const World world = load(R"(<default><joint damping="1" frictionloss="0.1"/><geom friction="0.7"/>
      <default class="leg"><joint damping="2" axis="1 0 0"/><default class="knee"><joint armature="0.05"/></default></default></default>
    <worldbody>
      <body name="a"><joint name="plain"/><geom name="ga" size="0.1"/>
        <body name="b" childclass="leg" pos="0 0 1"><joint name="hip"/><geom name="gb" size="0.1" friction="0.3"/>
          <body name="c"><joint name="knee" class="knee"/><geom size="0.1"/></body></body></body></worldbody>)");
  EXPECT_EQ(joint(world, "plain").damping, 1.0);
  EXPECT_EQ(joint(world, "hip").damping, 2.0);
  EXPECT_EQ(joint(world, "knee").damping, 2.0);
  EXPECT_EQ(joint(world, "knee").dry_friction, 0.1);
  EXPECT_EQ(joint(world, "knee").armature, 0.05);
  EXPECT_EQ(joint(world, "hip").armature, 0.0);
  EXPECT_EQ(world.geometries()[0].friction, 0.7);
  EXPECT_EQ(world.geometries()[1].friction, 0.3);
}

// Two hinges in one body, with anchors: the second turns about an axis that the first has moved.
TEST(Mjcf, JointsOfOneBodyActInTurnAboutTheirAnchors) {
  const World world = load(R"(<worldbody><body name="b" pos="1 0 0"><geom size="0.1"/>
      <joint name="z" axis="0 0 1" pos="-1 0 0"/><joint name="y" axis="0 1 0" pos="0 0 -0.5"/></body></worldbody>)");
  ASSERT_EQ(world.nv(), 2);
  const double a = 0.6, b = -0.8;
  const auto about = [](const Eigen::Vector3d& anchor, const Eigen::Vector3d& axis, double angle) {
    Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
    X.translate(anchor).rotate(Eigen::AngleAxisd(angle, axis)).translate(-anchor);
    return X;
  };
  Eigen::Isometry3d expected = Eigen::Isometry3d::Identity();
  expected.translate(Eigen::Vector3d(1, 0, 0));
  expected = expected * about({-1, 0, 0}, Eigen::Vector3d::UnitZ(), a) * about({0, 0, -0.5}, Eigen::Vector3d::UnitY(), b);
  EXPECT_TRUE(placement(world, "b", Eigen::Vector2d(a, b)).isApprox(expected, 1e-14));
}

TEST(Mjcf, ReferenceShiftsTheZero) {
  const World world = load(R"(<worldbody><body name="b" pos="1 0 0"><joint axis="0 0 2" ref="30" pos="0.5 0 0"/><geom size="1"/>
      <body name="c" pos="0 0 1"><joint type="slide" axis="1 0 0" ref="0.2"/><geom size="1"/></body></body></worldbody>)");
  const Eigen::Isometry3d X = placement(world, "c", Eigen::Vector2d(M_PI / 6.0, 0.2));
  EXPECT_LT((X.translation() - Eigen::Vector3d(1, 0, 1)).norm(), 1e-14);
  EXPECT_TRUE(X.linear().isIdentity(1e-14));
}

TEST(Mjcf, OrientationsInEveryNotation) {
  const Eigen::Matrix3d expected = Eigen::AngleAxisd(M_PI_2, Eigen::Vector3d::UnitZ()).toRotationMatrix();
  for (const char* notation : {R"(quat="1 0 0 1")", R"(axisangle="0 0 3 90")", R"(euler="0 0 90")", R"(xyaxes="0 2 0 -1 1 0")"}) {
    const World world = load(std::string("<worldbody><body name=\"b\" ") + notation + "><joint/><geom size=\"1\"/></body></worldbody>");
    EXPECT_TRUE(placement(world, "b", Eigen::VectorXd::Zero(1)).linear().isApprox(expected, 1e-14)) << notation;
  }
  const World z = load(R"(<worldbody><body name="b" zaxis="1 0 0"><joint/><geom size="1"/></body></worldbody>)");
  EXPECT_LT((placement(z, "b", Eigen::VectorXd::Zero(1)).linear().col(2) - Eigen::Vector3d::UnitX()).norm(), 1e-14);
  const World fixed_axes =
      load(R"(<compiler eulerseq="XYZ"/><worldbody><body name="b" euler="90 0 90"><joint/><geom size="1"/></body></worldbody>)");
  const Eigen::Matrix3d R = expected * Eigen::AngleAxisd(M_PI_2, Eigen::Vector3d::UnitX()).toRotationMatrix();
  EXPECT_TRUE(placement(fixed_axes, "b", Eigen::VectorXd::Zero(1)).linear().isApprox(R, 1e-14));
}

TEST(Mjcf, CollisionGeometry) {
  const World world = load(R"(<asset><hfield name="h" nrow="2" ncol="3" size="3 2 0.5 0.1" elevation="0 1 2  3 4 5"/>
      <mesh name="tetra" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="2 2 2"/></asset>
    <worldbody><geom name="floor" type="plane" size="0 0 1" pos="0 0 -1"/><geom type="hfield" hfield="h"/>
      <body name="b"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
        <geom type="capsule" fromto="0 0 0 2 0 0" size="0.1"/><geom type="mesh" mesh="tetra"/>
        <geom type="sphere" size="1" contype="0" conaffinity="0"/><geom type="mesh" mesh="nowhere" contype="0" conaffinity="0"/>
        <frame pos="0 0 3"><geom type="cylinder" size="0.2 0.4" contype="2" conaffinity="4"/></frame></body></worldbody>)");
  const auto g = world.geometries();
  ASSERT_EQ(g.size(), 5u);
  EXPECT_TRUE(std::holds_alternative<HalfSpace>(g[0].shape));
  EXPECT_EQ(g[0].name, "floor");
  EXPECT_EQ(g[0].placement.translation().z(), -1.0);
  EXPECT_EQ(world.bodies()[static_cast<std::size_t>(g[0].body)].block, -1);
  const HeightMap& field = std::get<HeightMap>(g[1].shape);
  ASSERT_EQ(field.heights.rows(), 3);
  EXPECT_NEAR(field.heights(0, 0), 0.3, 1e-15);  // x = -3, y = -2: the first sample of the last row, 3 of 5, times 0.5
  EXPECT_NEAR(field.heights(2, 1), 0.2, 1e-15);
  EXPECT_EQ(field.size_x, 6.0);
  EXPECT_EQ(field.bottom, -0.1);
  EXPECT_NEAR(std::get<Capsule>(g[2].shape).half_length, 1.0, 1e-15);
  EXPECT_LT((g[2].placement.linear().col(2) - Eigen::Vector3d::UnitX()).norm(), 1e-14);
  EXPECT_EQ(g[2].placement.translation().x(), 1.0);
  EXPECT_EQ(std::get<ConvexMesh>(g[3].shape).vertices[1].x(), 2.0);
  EXPECT_EQ(g[4].placement.translation().z(), 3.0);
  EXPECT_EQ(g[4].type, 2u);
  EXPECT_EQ(g[4].mask, 4u);
  for (const CollisionGeometry& geometry : g) EXPECT_NO_THROW(validate(geometry.shape, "shape"));
}

TEST(Mjcf, ActuatorsChooseTheActuatedJointsAndTheirEffort) {
  const World world = load(R"(<worldbody><body><joint name="a"/><geom size="1"/><body pos="0 0 1"><joint name="b" actuatorfrcrange="-3 3"/>
      <geom size="1"/><body pos="0 0 1"><joint name="c"/><geom size="1"/></body></body></body></worldbody>
    <actuator><motor joint="a" gear="-50" ctrlrange="-1 1"/><position joint="b" forcerange="-8 8"/></actuator>)");
  EXPECT_EQ(joint(world, "a").effort_limit, 50.0);
  EXPECT_EQ(joint(world, "b").effort_limit, 3.0);
  EXPECT_FALSE(joint(world, "c").actuated);
  EXPECT_EQ(std::vector<int>(world.actuated().begin(), world.actuated().end()), (std::vector<int>{0, 1}));
}

TEST(Mjcf, FreeJointsAreBodiesOfTheWorldFrame) {
  RobotOptions options;
  options.pose.translation() << 0, 0, 5;
  const char* content =
      R"(<worldbody><geom type="plane" size="1 1 1"/><body name="b" pos="1 2 3"><freejoint/><geom size="0.1"/></body></worldbody>)";
  const World world = load(content, options);
  EXPECT_TRUE(world.robots()[0].floating);
  EXPECT_EQ(world.initial_configuration().head<3>(), Eigen::Vector3d(1, 2, 8));
  EXPECT_TRUE(placement(world, "b", world.initial_configuration()).translation().isApprox(Eigen::Vector3d(1, 2, 8)));
  EXPECT_TRUE(world.excluded_pairs().empty());
  options.base = BaseKind::fixed;
  EXPECT_EQ(load(content, options).nv(), 0);
}

TEST(Mjcf, ExcludedPairs) {
  const World world = load(R"(<worldbody><geom type="plane" size="1 1 1"/><body name="a"><joint/><geom size="1"/>
      <body name="b"><joint/><joint axis="1 0 0"/><geom size="1"/></body><body name="c"><joint/><geom size="1"/></body></body></worldbody>
    <contact><exclude body1="c" body2="b"/></contact>)");
  const int a = world.body("a"), b = world.body("b"), c = world.body("c");
  const std::vector<std::pair<int, int>> expected{{a, b}, {a, c}, {b, c}};  // neither the plane nor the body between two joints
  EXPECT_EQ(std::vector(world.excluded_pairs().begin(), world.excluded_pairs().end()), expected);
}

TEST(Mjcf, IncludedFilesAreReadInPlace) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "stiction_mjcf_include";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "main.xml")
      << R"(<mujoco><include file="defaults.xml"/><worldbody><include file="arm.xml"/></worldbody></mujoco>)";
  std::ofstream(folder / "defaults.xml") << R"(<mujocoinclude><default><joint damping="3"/></default></mujocoinclude>)";
  std::ofstream(folder / "arm.xml") << "<mujocoinclude>\n<body name=\"arm\"><joint name=\"j\"/><geom size=\"1\"/></body></mujocoinclude>";
  WorldBuilder builder;
  builder.add_robot((folder / "main.xml").string());
  EXPECT_EQ(joint(builder.build(), "j").damping, 3.0);
  std::ofstream(folder / "arm.xml")
      << "<mujocoinclude>\n<body name=\"arm\"><joint axis=\"0 0 0\"/><geom size=\"1\"/></body></mujocoinclude>";
  try {
    WorldBuilder().add_robot((folder / "main.xml").string());
    ADD_FAILURE() << "a zero axis was accepted";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("arm.xml: line 2"), std::string::npos) << error.what();
  }
  std::filesystem::remove_all(folder);
}

TEST(Mjcf, WhatIsLeftOutIsSaid) {
  const World world = load(
      R"(<option gravity="0 0 -1" timestep="0.001"/><worldbody><body name="a"><joint name="j" stiffness="3"/><geom type="ellipsoid" size="1 2 3"/></body></worldbody>
    <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon><equality><joint joint1="j"/></equality>)");
  const std::vector<std::string> warnings = world.warnings();
  const auto said = [&](const std::string& line) { return std::ranges::find(warnings, line) != warnings.end(); };
  EXPECT_TRUE(said("m: <text>:1: gravity of <option> left out: gravity is that of the world")) << warnings[0];
  EXPECT_TRUE(said("m: <text>:1: timestep of <option> left out: the step is chosen by the caller"));
  EXPECT_TRUE(said("m: <text>:1: stiffness of <joint> left out: joints have no springs"));
  EXPECT_EQ(warnings.size(), 6u);
}

TEST(Mjcf, OneWarningCountsTheElementsThatShareIt) {
  const World world = load(R"(<default><geom solref="0.02 1" condim="3"/></default><worldbody><body><joint/>
    <geom size="1" margin="0.1"/><geom size="1" solref="0.1 1" margin="0.001"/><geom size="1" solref="0.02 1" wings="2"/></body></worldbody>
    <sensor><gyro site="s"/></sensor><visual><map force="1"/></visual><wings/>)");
  const std::vector<std::string> expected = {
      "m: <text>:2: margin, solref of <geom> left out: contacts are rigid, and a pair has the smaller friction (and 1 more)",
      "m: <text>:2: wings of <geom> left out: not known to this reader", "m: <text>:3: <wings> left out: not known to this reader"};
  EXPECT_EQ(world.warnings(), expected);
}

}  // namespace
}  // namespace stiction
