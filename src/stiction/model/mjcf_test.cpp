// MJCF: what the file means, in closed form, and Pinocchio's own reader as a second opinion (reference_test.cpp).
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/dynamics.hpp"

namespace stiction::mjcf_test {
namespace {

World load(const std::string& content, const RobotOptions& options = {}) {
  WorldBuilder builder;
  builder.add_robot_text("<mujoco model=\"m\">" + content + "</mujoco>", options);
  return builder.build();
}

const Joint& joint(const World& world, const char* name) { return world.joints()[world.joint(name)]; }
const Body& body(const World& world, const char* name) { return world.bodies()[world.body(name)]; }

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
  EXPECT_EQ(load("<worldbody><geom size='1'/></worldbody>").geometries()[0].friction, 1.0);  // where nothing says any
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
  EXPECT_EQ(world.bodies()[g[0].body].block, -1);
  const World flat = load(R"(<asset><hfield name="h" nrow="3" ncol="4" size="3 2 0.5 0.1"/></asset><worldbody>
    <geom type="hfield" hfield="h"/><body><joint/><geom size="1"/></body></worldbody>)");
  EXPECT_TRUE(std::get<HeightMap>(flat.geometries()[0].shape).heights.isZero(0.0));
  const HeightMap& field = std::get<HeightMap>(g[1].shape);
  ASSERT_EQ(field.heights.rows(), 3);
  EXPECT_NEAR(field.heights(0, 0), 0.3, 1e-15);  // x = -3, y = -2: the first sample of the last row, 3 of 5, times 0.5
  EXPECT_NEAR(field.heights(2, 1), 0.2, 1e-15);
  EXPECT_EQ(field.size_x, 6.0);
  EXPECT_EQ(field.bottom, -0.1);
  EXPECT_NEAR(std::get<Capsule>(g[2].shape).half_length, 1.0, 1e-15);
  EXPECT_LT((g[2].placement.linear().col(2) + Eigen::Vector3d::UnitX()).norm(), 1e-14);
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
  EXPECT_TRUE(world.excluded_geometries().empty());
  options.base = BaseKind::fixed;
  EXPECT_EQ(load(content, options).nv(), 0);
}

TEST(Mjcf, ExcludedPairs) {
  const World world = load(R"(<worldbody><geom type="plane" size="1 1 1"/><body name="a"><joint/><geom size="1"/>
      <body name="b"><joint/><joint axis="1 0 0"/><geom size="1"/></body><body name="c"><joint/><geom size="1"/></body></body></worldbody>
    <contact><exclude body1="c" body2="b"/></contact>)");
  const std::vector<std::pair<int, int>> expected{{1, 2}, {1, 3}, {2, 3}};  // geometries: plane, a, b, c
  EXPECT_EQ(std::vector(world.excluded_geometries().begin(), world.excluded_geometries().end()), expected);
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

// MuJoCo: in the folder of the main file, then in that of the file that includes.
TEST(Mjcf, AnIncludedFileIncludesFromBothFolders) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "stiction_mjcf_include_twice";
  std::filesystem::create_directories(folder / "parts");
  std::ofstream(folder / "main.xml") << R"(<mujoco><worldbody><include file="parts/arm.xml"/></worldbody></mujoco>)";
  std::ofstream(folder / "parts" / "arm.xml") << R"(<mujocoinclude><include file="hand.xml"/></mujocoinclude>)";
  const auto has = [&](const char* name) {
    WorldBuilder builder;
    builder.add_robot((folder / "main.xml").string());
    return builder.build().joint(name) >= 0;
  };
  std::ofstream(folder / "parts" / "hand.xml") << R"(<mujocoinclude><body><joint name="beside"/><geom size="1"/></body></mujocoinclude>)";
  EXPECT_TRUE(has("beside"));
  std::ofstream(folder / "hand.xml") << R"(<mujocoinclude><body><joint name="main"/><geom size="1"/></body></mujocoinclude>)";
  EXPECT_TRUE(has("main"));
  std::filesystem::remove_all(folder);
}

TEST(Mjcf, MadeNamesAreNoneOfTheFiles) {
  const World world = load(R"(<worldbody><body><joint axis="1 0 0"/><joint axis="0 1 0"/><geom size="1"/></body>
    <body name="body1"><joint name="body1__joint0"/><geom size="1"/></body>
    <body name="body1_:body1__joint0_"><joint/><geom size="1"/></body></worldbody>)");
  EXPECT_EQ(world.nv(), 4);
  EXPECT_EQ(world.joints()[world.joint("body1__joint0")].body, world.body("body1"));
  const World geoms = load(R"(<worldbody><body name="b"><joint/><geom size="1"/><geom name="b_0" size="2"/></body></worldbody>)");
  EXPECT_EQ(geoms.geometries()[0].name, "b_0_");
  EXPECT_EQ(geoms.geometries()[1].name, "b_0");
}

TEST(Mjcf, WhatIsLeftOutIsSaid) {
  const World world = load(
      R"(<option impratio="2" density="1.2"/><worldbody><body name="a"><joint name="j" springdamper="1 1"/><geom type="ellipsoid" size="1 2 3"/></body></worldbody>
    <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon><equality><tendon tendon1="t"/></equality>)");
  const std::vector<std::string> warnings = world.warnings();
  const auto said = [&](const std::string& line) { return std::ranges::find(warnings, line) != warnings.end(); };
  EXPECT_TRUE(said("m: <text>:1: impratio of <option> left out: the contact law is chosen by the caller"));
  EXPECT_TRUE(said("m: <text>:1: density of <option> left out: there is no fluid"));
  EXPECT_TRUE(said("m: <text>:1: springdamper of <joint> left out: a spring is given by its stiffness"));
  EXPECT_EQ(warnings.size(), 6u);
}

TEST(Mjcf, AlignmentAndBoundedHullsAreLeftOutForWhatTheyAre) {
  const World world = load(R"(<compiler alignfree="true"/><asset><mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1" maxhullvert="8"/></asset>
    <worldbody><body name="a"><freejoint align="true"/><geom size="1"/></body></worldbody>)");
  const std::vector<std::string> expected = {
      "m: <text>:1: alignfree of <compiler> left out: free bodies keep the frame that the file gives them",
      "m: <text>:1: maxhullvert of <mesh> left out: hulls keep all their vertices",
      "m: <text>:2: align of <freejoint> left out: free bodies keep the frame that the file gives them"};
  EXPECT_EQ(world.warnings(), expected);
}

TEST(Mjcf, TheFilesGravityAndStepActUnlessTheUserNamesAnother) {
  const char* file =
      R"(<mujoco model="m"><option gravity="1 0 -2" timestep="0.003"/><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>)";
  WorldBuilder builder;
  builder.add_robot_text(file);
  EXPECT_EQ(builder.build().gravity(), Eigen::Vector3d(1, 0, -2));
  EXPECT_EQ(builder.build().timestep(), 0.003);
  EXPECT_TRUE(builder.build().warnings().empty());
  builder.set_gravity({0, 0, -3});
  EXPECT_EQ(builder.build().gravity(), Eigen::Vector3d(0, 0, -3));
  EXPECT_EQ(builder.build().warnings(),
            std::vector<std::string>{"m: <text>: gravity (1, 0, -2) left out: that of the world is (0, 0, -3)"});
  const std::string bodies = "<worldbody><body><joint/><geom size='1'/></body></worldbody>";
  EXPECT_TRUE(load("<option><flag gravity='disable'/></option>" + bodies).gravity().isZero());
  const World again = load("<option><flag gravity='disable'/></option><option><flag gravity='enable'/></option>" + bodies);
  EXPECT_EQ(again.gravity().z(), -9.81);
}

TEST(Mjcf, SpringsPullToTheirReference) {
  const World world = load(
      R"(<option gravity="0 0 0"/><worldbody><body pos="0 0 1"><joint name="j" type="slide" axis="1 0 0" ref="0.5" springref="0.2" stiffness="30"/>
    <geom size="0.1"/><body><joint name="h" springref="90" stiffness="2"/><geom size="0.1"/></body></body></worldbody>)");
  EXPECT_EQ(joint(world, "j").stiffness, 30.0);
  EXPECT_EQ(joint(world, "j").spring_reference, 0.2);
  EXPECT_NEAR(joint(world, "h").spring_reference, M_PI_2, 1e-15);
  WorldData data(world);
  update(world, Eigen::Vector2d(0.5, 1.0), Eigen::Vector2d::Zero(), data);
  EXPECT_NEAR(data.bias[0], 30.0 * 0.3, 1e-13);
  EXPECT_NEAR(data.bias[1], 2.0 * (1.0 - M_PI_2), 1e-13);
  EXPECT_NEAR(potential_energy(world, data), 15.0 * 0.09 + (1.0 - M_PI_2) * (1.0 - M_PI_2), 1e-13);
  EXPECT_NEAR(data.X_WB[world.body("body1")].translation().x(), 0.0, 1e-15);  // at ref the file's pose
}

TEST(Mjcf, GravityIsCompensatedBodyByBody) {
  const World world = load(R"(<worldbody><body name="a"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="2"/>
    <body name="b" pos="1 0 0" gravcomp="0.75"><joint name="h" axis="0 1 0"/><geom size="0.1" mass="4" pos="0.5 0 0"/></body></body></worldbody>)");
  WorldData data(world);
  update(world, Eigen::Vector2d(0.0, 0.0), Eigen::Vector2d::Zero(), data);
  EXPECT_NEAR(data.bias[0], 9.81 * (2.0 + 0.25 * 4.0), 1e-12);
  EXPECT_NEAR(data.bias[1], -9.81 * 0.25 * 4.0 * 0.5, 1e-12);
  const double before = potential_energy(world, data);
  update(world, Eigen::Vector2d(0.1, 0.0), Eigen::Vector2d::Zero(), data);
  EXPECT_NEAR(potential_energy(world, data) - before, 0.1 * 9.81 * 3.0, 1e-12);
}

TEST(Mjcf, MassesAreBoundedBalancedAndScaled) {
  const char* bodies = R"(<worldbody><geom size="1"/><body name="a"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <body name="b"><joint axis="1 0 0"/><joint axis="0 1 0"/><inertial pos="0 0 0" mass="0.2" diaginertia="0.01 0.01 0.3"/></body></body></worldbody>)";
  const auto with = [&](const std::string& compiler) { return load("<compiler " + compiler + "/>" + bodies); };
  EXPECT_NEAR(body(with(R"(boundmass="0.5" balanceinertia="true")"), "b").mass, 0.5, 1e-15);
  EXPECT_NEAR(body(with(R"(balanceinertia="true")"), "b").inertia(2, 2), 0.32 / 3.0, 1e-15);
  EXPECT_NEAR(body(with(R"(boundinertia="0.2")"), "b").inertia(0, 0), 0.2, 1e-15);
  const World scaled = with(R"(balanceinertia="true" settotalmass="12")");
  EXPECT_NEAR(scaled.robots()[0].mass, 12.0, 1e-12);
  EXPECT_NEAR(body(scaled, "b").mass, 2.0, 1e-14);
  EXPECT_NEAR(body(scaled, "a").inertia(0, 0), 1.0, 1e-14);
}

TEST(Mjcf, AKeyframeIsTheStart) {
  const char* file =
      R"(<worldbody><body name="b" pos="0 0 1"><freejoint/><geom size="1"/><body><joint name="j" type="slide" ref="0.25"/><geom size="1"/></body></body></worldbody>
    <keyframe><key name="up" qpos="1 2 3 0 1 0 0 0.5"/><key name="start"/><key qpos="1 2 3 0 1 0 0 0.5"/></keyframe>)";
  RobotOptions options;
  options.keyframe = "up";
  Eigen::VectorXd expected(8);
  expected << 1, 2, 3, 1, 0, 0, 0, 0.5;
  EXPECT_EQ(load(file, options).initial_configuration(), expected);
  options.joints["j"].position = 0.7;
  EXPECT_EQ(load(file, options).initial_configuration()[7], 0.7);
  options.base = BaseKind::fixed;
  options.joints.clear();
  EXPECT_EQ(load(file, options).initial_configuration(), Eigen::VectorXd::Constant(1, 0.5));
  options.base = BaseKind::from_file;
  options.keyframe = "start";  // without qpos: the pose in which the file is written
  expected << 0, 0, 1, 0, 0, 0, 1, 0.25;
  EXPECT_EQ(load(file, options).initial_configuration(), expected);
  EXPECT_EQ(load(file, options).warnings(), std::vector<std::string>{"m: <text>:2: a key without a name (<key>) is left out"});
  options.keyframe = "down";
  EXPECT_THROW(load(file, options), InvalidArgument);
}

TEST(Mjcf, EqualitiesHoldInThePoseOfTheFile) {
  const World world = load(
      R"(<worldbody><body name="a" pos="0 0 1" euler="0 0 90"><joint name="i" ref="30"/><geom size="0.1"/><site name="s" pos="1 0 0"/></body>
      <body name="b" pos="1 0 0"><joint name="j" axis="1 0 0"/><geom size="0.1"/><site name="t" pos="-1 1 1"/></body></worldbody>
    <equality><connect body1="a" anchor="0.1 0.2 0.3"/><weld name="w" body1="a" body2="b"/><weld body1="a" body2="b" anchor="0 0 2" relpose="0 1 0 1 0 0 0"/>
      <connect site1="s" site2="t"/><joint joint1="j" joint2="i" polycoef="0.1 2 3"/><joint joint1="j" active="false"/></equality>)");
  const auto e = world.equalities();
  ASSERT_EQ(e.size(), 5u);
  EXPECT_TRUE(e[0].X_BF.translation().isApprox(Eigen::Vector3d(-0.2, 0.1, 1.3), 1e-14));
  EXPECT_EQ(e[0].body_b, 0);
  EXPECT_TRUE(e[1].X_AF.translation().isApprox(Eigen::Vector3d(0, -1, -1)));
  EXPECT_EQ(e[1].name, "w");
  EXPECT_TRUE(e[2].X_AF.translation().isApprox(Eigen::Vector3d(0, 1, 0)));
  EXPECT_EQ(e[2].X_BF.translation(), Eigen::Vector3d(0, 0, 2));  // what lies at relpose in body 1 is body 2's anchor
  EXPECT_TRUE(e[3].X_BF.translation().isApprox(Eigen::Vector3d(-1, 1, 1)));
  EXPECT_NEAR(e[4].reference_b, M_PI / 6.0, 1e-15);
  EXPECT_EQ(e[4].polynomial, (std::array<double, 5>{0.1, 2.0, 3.0, 0.0, 0.0}));
  EXPECT_NEAR(world.initial_configuration()[joint(world, "i").q], M_PI / 6.0, 1e-15);
  EXPECT_NEAR(world.initial_configuration()[joint(world, "j").q], 0.1, 1e-15);
  EXPECT_EQ(world.warnings().size(), 3u);  // "j" does not start in the pose in which the file is written
}

TEST(Mjcf, WhichEqualitiesAreActiveTheirClassSays) {
  const World world = load(R"(<default><equality active="false"/><default class="on"><equality active="true"/></default></default>
    <worldbody><body><joint name="j"/><geom size="1"/></body></worldbody>
    <equality><joint joint1="j" name="off"/><joint joint1="j" name="on" class="on"/>
      <joint joint1="j" name="own" active="true"/></equality>)");
  ASSERT_EQ(world.equalities().size(), 2u);
  EXPECT_EQ(world.equalities()[0].name, "on");
  EXPECT_EQ(world.equalities()[1].name, "own");
  EXPECT_TRUE(world.warnings().empty());
}

// A frame around joints and <inertial> moves their anchors, axes and poses; it does not move the body.
TEST(Mjcf, FramesHoldJointsAndInertia) {
  const World world =
      load(R"(<worldbody><body name="b"><frame pos="1 0 0" euler="0 0 90"><frame pos="0 1 0"><joint name="j" axis="1 0 0" pos="0 0 2"/>
      <inertial pos="0.5 0 0" mass="1" diaginertia="1 2 2"/></frame></frame></body>
      <body name="c" pos="0 0 5"><frame pos="1 0 0"><freejoint/></frame><geom size="1"/></body></worldbody>)");
  ASSERT_EQ(world.nv(), 7);
  EXPECT_EQ(world.initial_configuration()[joint(world, "c_joint0").q], 0.0);
  Eigen::VectorXd q = world.initial_configuration();
  q[0] = M_PI_2;  // about y through (0, 0, 2)
  EXPECT_LT((placement(world, "b", q) * Eigen::Vector3d::Zero() - Eigen::Vector3d(-2, 0, 2)).norm(), 1e-14);
  EXPECT_LT((body(world, "b").com - Eigen::Vector3d(0, 0.5, -2)).norm() + std::abs(body(world, "b").inertia(1, 1) - 1.0), 1e-14);
}

TEST(Mjcf, SeveralDefaultSectionsAddUp) {
  const World world = load(R"(<default><joint damping="1" armature="1"/><default class="a"><joint frictionloss="3"/></default></default>
    <default><joint armature="2"/></default>
    <worldbody><body><joint name="main"/><geom size="1"/></body><body><joint name="a" class="a"/><geom size="1"/></body></worldbody>)");
  EXPECT_EQ(joint(world, "main").damping, 1.0);
  EXPECT_EQ(joint(world, "main").armature, 2.0);
  EXPECT_EQ(joint(world, "a").armature, 1.0);  // a class has what the classes around it had said before it
  EXPECT_EQ(joint(world, "a").dry_friction, 3.0);
}

TEST(Mjcf, ActuatorsOfEveryKindShareDefaultsAndAddUp) {
  const World world = load(R"(<default><general ctrlrange="-2 2"/><motor gear="10" forcerange="-3 3"/></default>
    <worldbody><body><joint name="a"/><geom size="1"/></body><body><joint name="b"/><geom size="1"/></body>
      <body><joint name="c"/><geom size="1"/></body><body><joint name="d" type="ball"/><geom size="1"/></body></worldbody>
    <actuator><motor joint="a" forcelimited="false"/><general joint="a" gear="1" gainprm="4" forcelimited="false"/>
      <general joint="b" biastype="affine" gear="1"/><motor joint="c"/><motor joint="c"/><motor joint="d"/></actuator>)");
  EXPECT_EQ(joint(world, "a").effort_limit, 20.0 + 8.0);
  EXPECT_EQ(joint(world, "b").effort_limit, 3.0);
  EXPECT_EQ(joint(world, "c").effort_limit, 40.0);
  EXPECT_EQ(world.actuated().size(), 3u);
  EXPECT_EQ(world.warnings()[0], "m: <text>:5: an actuator of the ball joint 'd' (<motor>) is left out");
}

// A gain acts where it makes a force of a control that has a range, and only there.
TEST(Mjcf, AGainThatActsIsNotLeftOut) {
  const auto loaded = [](const std::string& gain, const std::string& general) {
    return load("<default><general " + gain + R"(/></default>
      <worldbody><body><joint name="a"/><geom size="1"/></body></worldbody><actuator><general joint="a" )" +
                general + "/></actuator>");
  };
  for (const auto& [gain, general] : {std::pair{"", R"(gainprm="-4" ctrlrange="-2 2")"}, {R"(gainprm="-4")", R"(ctrlrange="-2 2")"}}) {
    const World world = loaded(gain, general);
    EXPECT_EQ(joint(world, "a").effort_limit, 8.0);
    EXPECT_EQ(world.warnings(), std::vector<std::string>());
  }
  for (const char* general : {R"(gainprm="-4")", R"(gainprm="-4" ctrlrange="-2 2" biastype="affine")"}) {
    const World world = loaded("", general);
    EXPECT_TRUE(std::isinf(joint(world, "a").effort_limit));
    ASSERT_EQ(world.warnings().size(), 1u);
    EXPECT_NE(world.warnings()[0].find("of <general> left out: its own dynamics"), std::string::npos) << world.warnings()[0];
    EXPECT_NE(world.warnings()[0].find("gainprm"), std::string::npos) << world.warnings()[0];
  }
}

TEST(Mjcf, AnOwnOrientationReplacesThatOfTheClass) {
  const World world =
      load(R"(<default><geom quat="0 1 0 0"/></default><worldbody><body><joint/><geom type="box" size="1 2 3" euler="0 0 90"/>
      <geom type="box" size="1 2 3" zaxis="1 0 0"/><geom type="box" size="1 2 3"/></body></worldbody>)");
  const auto g = world.geometries();
  EXPECT_LT((g[0].placement.linear().col(0) - Eigen::Vector3d::UnitY()).norm(), 1e-14);
  EXPECT_LT((g[1].placement.linear().col(2) - Eigen::Vector3d::UnitX()).norm(), 1e-14);
  EXPECT_LT((g[2].placement.linear().col(2) + Eigen::Vector3d::UnitZ()).norm(), 1e-14);
}

// MuJoCo's z axis of a `fromto` runs from the second end to the first, which turns the section of a box.
TEST(Mjcf, SectionOfABoxBetweenTwoPoints) {
  const World world = load(R"(<worldbody><body><joint/><geom type="box" fromto="0 0 0 0.3 0.2 0.1" size="0.05"/></body></worldbody>)");
  Eigen::Matrix3d mujoco;
  mujoco << 0.12267, -0.58489, -0.80178, -0.58489, 0.61007, -0.53452, 0.80178, 0.53452, -0.26726;
  EXPECT_TRUE(world.geometries()[0].placement.linear().isApprox(mujoco, 1e-5)) << world.geometries()[0].placement.linear();
}

TEST(Mjcf, WhatCannotBeReadIsRefusedOrSaid) {
  EXPECT_THROW(load(R"(<worldbody><body childclass="none"><joint/><geom size="1"/></body></worldbody>)"), FileError);
  EXPECT_THROW(load(R"(<worldbody><frame childclass="none"><geom size="1"/></frame></worldbody>)"), FileError);
  const World world = load(R"(<worldbody><body><joint type="ball" range="0 30"/><geom size="1"/></body></worldbody>)");
  EXPECT_EQ(world.warnings(), std::vector<std::string>{"m: <text>:1: range of a ball joint is left out"});
  const char* dry = R"(<worldbody><body><joint type="free" frictionloss="1"/><geom size="1"/></body></worldbody>)";
  EXPECT_EQ(load(dry).warnings(), std::vector<std::string>{"m: <text>:1: frictionloss of a free joint is left out"});
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
}  // namespace stiction::mjcf_test
