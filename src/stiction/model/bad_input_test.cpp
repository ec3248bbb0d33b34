// Bad files and arguments: each is refused, with the file, the line and the element in the message.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/robots_for_test.hpp"
#include "stiction/model/world.hpp"

namespace stiction::bad_input_test {
namespace {

using testing::HasSubstr;

struct BadFile {
  const char* what;
  std::string content;
  std::vector<std::string> message;  ///< what the error must contain
};
void PrintTo(const BadFile& bad, std::ostream* out) { *out << bad.what; }

std::string error_of(const std::string& content) {
  try {
    WorldBuilder builder;
    builder.add_robot_text(content);
  } catch (const FileError& error) {
    return error.what();
  }
  return "accepted";
}

class BadRobot : public testing::TestWithParam<BadFile> {};

TEST_P(BadRobot, IsRefused) {
  const std::string message = error_of(GetParam().content);
  for (const std::string& part : GetParam().message) EXPECT_THAT(message, HasSubstr(part));
  EXPECT_THAT(message, HasSubstr("<text>: "));
}

/// A pendulum on three lines: base on 1, link "bob" on 2, joint "pivot" on 3.
std::string pendulum(const std::string& mass, const std::string& inertia, const std::string& joint = "") {
  const std::string j = joint.empty()
                            ? R"(<joint name="pivot" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint>)"
                            : joint;
  return "<robot name=\"p\"><link name=\"base\"/>\n<link name=\"bob\"><inertial><origin xyz=\"0 0 -1\"/><mass value=\"" + mass +
         "\"/><inertia " + inertia + "/></inertial></link>\n" + j + "</robot>";
}

const std::string kGood = R"(ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0")";

std::string with_joint(const std::string& joint) { return pendulum("1", kGood, joint); }
std::string revolute(const std::string& inner, const std::string& type = "revolute") {
  return with_joint("<joint name=\"pivot\" type=\"" + type + "\"><parent link=\"base\"/><child link=\"bob\"/>" + inner + "</joint>");
}
std::string mjcf(const std::string& body) { return "<mujoco>\n<worldbody><body name=\"b\">\n" + body + "</body></worldbody></mujoco>"; }

/// Two bodies a and b, with a section of the file on line 2.
std::string with_section(const std::string& section) {
  return "<mujoco><worldbody><body name=\"a\"><joint name=\"j\"/><geom name=\"ga\" size=\"1\"/><site name=\"s\"/></body><body name=\"b\">"
         "<freejoint/><geom name=\"gb\" size=\"1\"/><site name=\"t\"/></body></worldbody>\n" +
         section + "</mujoco>";
}

const BadFile kUrdf[] = {
    {"not XML", "<robot", {"line 1", "not well-formed"}},
    {"empty", "", {"not well-formed"}},
    {"another language", "<sdf/>", {"line 1", "expected <robot>"}},
    {"no link", "<robot name=\"p\"/>", {"has no link"}},
    {"zero mass", pendulum("0", kGood), {"line 2, link 'bob'", "mass is zero", "'pivot'"}},
    {"no inertial",
     R"(<robot name="p"><link name="base"/>
<link name="bob"/><joint name="pivot" type="continuous"><parent link="base"/><child link="bob"/></joint></robot>)",
     {"line 2, link 'bob'", "mass is zero"}},
    {"negative mass", pendulum("-1", kGood), {"line 2", "<inertial> of link 'bob'", "mass -1 kg is negative"}},
    {"mass that is no number", pendulum("heavy", kGood), {"line 2", "value=\"heavy\"", "numbers"}},
    {"NaN mass", pendulum("nan", kGood), {"line 2", "finite"}},
    {"infinite mass", pendulum("inf", kGood), {"finite"}},
    {"overflowing mass", pendulum("1e999", kGood), {"finite"}},
    {"two masses", pendulum("1 2", kGood), {"1 number"}},
    {"NaN inertia", pendulum("1", R"(ixx="nan" iyy="1" izz="1" ixy="0" ixz="0" iyz="0")"), {"line 2", "ixx", "finite"}},
    {"missing moment", pendulum("1", R"(ixx="1" iyy="1" izz="1" ixy="0" ixz="0")"), {"line 2", "'iyz' is missing"}},
    {"indefinite inertia",
     pendulum("1", R"(ixx="1" iyy="1" izz="1" ixy="2" ixz="0" iyz="0")"),
     {"line 2, link 'bob'", "not positive definite"}},
    {"negative inertia", pendulum("1", R"(ixx="-1" iyy="-1" izz="-1" ixy="0" ixz="0" iyz="0")"), {"not positive definite"}},
    {"impossible inertia",
     pendulum("1", R"(ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0")"),
     {"line 2, link 'bob'", "triangle inequality"}},
    {"infinite axis",
     revolute(R"(<axis xyz="0 0 inf"/><limit lower="0" upper="1" effort="1" velocity="1"/>)"),
     {"<axis> of joint 'pivot'", "inf"}},
    {"zero axis", revolute(R"(<axis xyz="0 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/>)"), {"line 3", "axis has length 0"}},
    {"short axis list", revolute(R"(<axis xyz="0 1"/><limit lower="0" upper="1" effort="1" velocity="1"/>)"), {"3 numbers"}},
    {"no limit", revolute(""), {"line 3, joint 'pivot'", "<limit> is missing"}},
    {"crossed limits", revolute(R"(<limit lower="2" upper="1" effort="1" velocity="1"/>)"), {"line 3", "lower limit 2 is above"}},
    {"infinite limits", revolute(R"(<limit lower="inf" upper="inf" effort="1" velocity="1"/>)"), {"line 3", "no position"}},
    {"negative effort", revolute(R"(<limit lower="0" upper="1" effort="-5" velocity="1"/>)"), {"line 3", "effort -5 is negative"}},
    {"NaN effort", revolute(R"(<limit lower="0" upper="1" effort="nan" velocity="1"/>)"), {"effort=\"nan\""}},
    {"negative velocity", revolute(R"(<limit lower="0" upper="1" effort="1" velocity="-1"/>)"), {"velocity -1 is negative"}},
    {"negative damping", revolute(R"(<dynamics damping="-1"/>)", "continuous"), {"damping -1 is negative"}},
    {"unknown type", revolute("", "screw"), {"line 3, joint 'pivot'", "unknown type 'screw'"}},
    {"planar", revolute("", "planar"), {"not supported", "prismatic"}},
    {"unknown parent",
     with_joint(R"(<joint name="pivot" type="fixed"><parent link="nowhere"/><child link="bob"/></joint>)"),
     {"line 3, joint 'pivot'", "unknown link 'nowhere'"}},
    {"unknown child",
     with_joint(R"(<joint name="pivot" type="fixed"><parent link="base"/><child link="nothing"/></joint>)"),
     {"unknown link 'nothing'"}},
    {"no parent", with_joint(R"(<joint name="pivot" type="fixed"><child link="bob"/></joint>)"), {"<parent> is missing"}},
    {"two roots",
     "<robot name=\"p\"><link name=\"a\"/>\n<link name=\"b\"/></robot>",
     {"line 2, link 'b'", "'a' and 'b' both have no parent"}},
    {"no root",
     R"(<robot name="p"><link name="a"/><joint name="j" type="fixed"><parent link="a"/><child link="a"/></joint></robot>)",
     {"no root link"}},
    {"loop",
     R"(<robot name="p"><link name="r"/><link name="a"/><link name="b"/>
      <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint><joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint></robot>)",
     {"loop of joints"}},
    {"two parents",
     R"(<robot name="p"><link name="r"/><link name="a"/>
      <joint name="j" type="fixed"><parent link="r"/><child link="a"/></joint><joint name="k" type="fixed"><parent link="r"/><child link="a"/></joint></robot>)",
     {"line 2", "already the child of joint 'j'"}},
    {"duplicate link", "<robot name=\"p\"><link name=\"a\"/>\n<link name=\"a\"/></robot>", {"line 2, link 'a'", "the first is at line 1"}},
    {"duplicate joint",
     R"(<robot name="p"><link name="r"/><link name="a"/><link name="b"/>
      <joint name="j" type="fixed"><parent link="r"/><child link="a"/></joint><joint name="j" type="fixed"><parent link="r"/><child link="b"/></joint></robot>)",
     {"second joint of this name"}},
    {"nameless link", "<robot name=\"p\"><link/></robot>", {"'name' is missing"}},
    {"NaN origin", revolute(R"(<origin xyz="0 nan 0"/>)", "continuous"), {"<origin> of joint 'pivot'", "finite"}},
    {"missing mesh",
     R"(<robot name="p"><link name="a"><collision><geometry>
      <mesh filename="package://nowhere/foot.stl"/></geometry></collision></link></robot>)",
     {"line 2", "of link 'a'", "'package://nowhere/foot.stl' is not found"}},
    {"negative radius",
     R"(<robot name="p"><link name="a"><collision><geometry><sphere radius="-1"/></geometry></collision></link></robot>)",
     {"<sphere> of link 'a'", "radius -1 is not positive"}},
    {"flat box",
     R"(<robot name="p"><link name="a"><collision><geometry><box size="1 1 0"/></geometry></collision></link></robot>)",
     {"not positive"}},
    {"unknown shape", R"(<robot name="p"><link name="a"><collision><geometry><torus/></geometry></collision></link></robot>)", {"<torus>"}},
    {"negative friction",
     R"(<robot name="p"><link name="a"><contact><lateral_friction value="-1"/></contact></link></robot>)",
     {"friction -1 is negative"}},
    {"two joints about one axis without mass between",
     R"(<robot name="p"><link name="base"/><link name="mid"/>
<link name="bob"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="first" type="continuous"><parent link="base"/><child link="mid"/></joint>
<joint name="second" type="continuous"><parent link="mid"/><child link="bob"/></joint></robot>)",
     {"link 'mid'", "'first'", "mass matrix is singular"}},
};

const BadFile kMjcf[] = {
    {"empty world", "<mujoco/>", {"worldbody"}},
    {"no mass", mjcf("<joint/>"), {"line 2, body 'b'", "mass is zero"}},
    {"negative mass", mjcf(R"(<joint/><inertial pos="0 0 0" mass="-2" diaginertia="1 1 1"/>)"), {"line 3", "mass -2 kg is negative"}},
    {"impossible inertia", mjcf(R"(<joint/><inertial pos="0 0 0" mass="2" diaginertia="1 1 5"/>)"), {"line 2, body 'b'", "triangle"}},
    {"zero axis", mjcf(R"(<joint name="j" axis="0 0 0"/><geom size="1"/>)"), {"line 3, joint 'j'", "axis is zero"}},
    {"zero quaternion", mjcf(R"(<joint/><geom size="1" quat="0 0 0 0"/>)"), {"line 3", "quat is zero"}},
    {"crossed range", mjcf(R"(<joint range="1 -1"/><geom size="1"/>)"), {"line 3", "range"}},
    {"limited without range", mjcf(R"(<joint limited="true"/><geom size="1"/>)"), {"'range' is missing"}},
    {"unknown class", mjcf(R"(<joint class="nowhere"/><geom size="1"/>)"), {"unknown default class 'nowhere'"}},
    {"class inside itself",
     "<mujoco><default class=\"a\">\n<default class=\"a\"/></default><worldbody><geom size=\"1\"/></worldbody></mujoco>",
     {"line 2", "second default class 'a'"}},
    {"empty gear",
     "<mujoco><worldbody><body><joint name=\"j\"/><geom size=\"1\"/></body></worldbody>\n<actuator><motor joint=\"j\" "
     "gear=\"\"/></actuator></mujoco>",
     {"line 2", "gear"}},
    {"unknown mesh", mjcf(R"(<joint/><geom type="mesh" mesh="nowhere"/>)"), {"unknown mesh 'nowhere'"}},
    {"missing mesh file",
     "<mujoco><asset>\n<mesh name=\"m\" file=\"nowhere.stl\"/></asset><worldbody><geom type=\"mesh\" mesh=\"m\"/></worldbody></mujoco>",
     {"line 2, mesh 'm'", "'nowhere.stl' is not found"}},
    {"negative size", mjcf(R"(<joint/><geom size="-1"/>)"), {"line 3", "not positive"}},
    {"missing size", mjcf(R"(<joint/><geom type="box" size="1 1"/>)"), {"expected 3 numbers"}},
    {"negative damping", mjcf(R"(<joint damping="-1"/><geom size="1"/>)"), {"damping -1 is negative"}},
    {"negative friction", mjcf(R"(<joint/><geom size="1" friction="-1"/>)"), {"friction"}},
    {"duplicate body",
     mjcf(R"(<joint/><geom size="1"/><body name="b"><geom size="1"/></body>)"),
     {"line 3", "second body of the name 'b'"}},
    {"a body of the world's name",
     mjcf(R"(<joint/><geom size="1"/><body name="world"><geom size="1"/></body>)"),
     {"second body of the name 'world'"}},
    {"duplicate geom",
     mjcf(R"(<joint/><geom name="g" size="1"/><geom name="g" size="1" contype="0" conaffinity="0"/>)"),
     {"line 3", "second geom of the name 'g'"}},
    {"duplicate site",
     mjcf(R"(<joint/><geom size="1"/><site name="s"/><frame><site name="s"/></frame>)"),
     {"line 3", "second site of the name 's'"}},
    {"duplicate joint of another element",
     mjcf(R"(<joint name="j"/><geom size="1"/></body><body><freejoint name="j"/><geom size="1"/>)"),
     {"line 3", "second joint of the name 'j'"}},
    {"duplicate equality",
     with_section("<equality><weld name=\"e\" body1=\"a\"/><joint name=\"e\" joint1=\"j\" active=\"false\"/></equality>"),
     {"line 2", "second equality of the name 'e'"}},
    {"duplicate pair",
     with_section(
         R"(<contact><exclude name="p" body1="a" body2="b"/><pair name="p" geom1="ga" geom2="gb"/><pair name="p" geom1="ga" geom2="gb"/></contact>)"),
     {"line 2", "second pair of the name 'p'"}},
    {"duplicate exclude",
     with_section(R"(<contact><exclude name="p" body1="a" body2="b"/><exclude name="p" body1="a" body2="b"/></contact>)"),
     {"line 2", "second exclude of the name 'p'"}},
    {"duplicate sensor",
     with_section(R"(<sensor><jointpos name="s" joint="j"/><jointvel name="s" joint="j"/></sensor>)"),
     {"line 2", "second sensor of the name 's'"}},
    {"weld of a body with itself",
     with_section(R"(<equality><weld body1="a" body2="a"/></equality>)"),
     {"line 2, <weld>", "body2=\"a\": expected another than body1"}},
    {"connect of a body with itself",
     with_section(R"(<equality><connect name="c" body1="a" body2="a" anchor="0 0 0"/></equality>)"),
     {"line 2, connect 'c'", "body2=\"a\": expected another than body1"}},
    {"weld of the world with itself",
     with_section(R"(<equality><weld body1="world"/></equality>)"),
     {"line 2, <weld>", "body1=\"world\": expected another than body2, the world"}},
    {"joint coupled to itself",
     with_section(R"(<equality><joint joint1="j" joint2="j"/></equality>)"),
     {"line 2, <joint>", "joint2=\"j\": expected another than joint1"}},
    {"site welded to itself",
     with_section(R"(<equality><weld site1="s" site2="s"/></equality>)"),
     {"line 2, <weld>", "site2=\"s\": expected another than site1"}},
    {"sites beside bodies",
     with_section(R"(<equality><weld body1="a" site1="s" site2="s"/></equality>)"),
     {"line 2, <weld>", "body1=\"a\": expected none beside sites"}},
    {"sites beside an anchor",
     with_section(R"(<equality><connect anchor="0 0 0" site1="s" site2="t"/></equality>)"),
     {"line 2", "anchor=\"0 0 0\": expected none beside sites"}},
    {"two flags",
     "<mujoco><option><flag gravity=\"disable\"/>\n<flag contact=\"disable\"/></option><worldbody><geom size=\"1\"/></worldbody></mujoco>",
     {"line 2", "second <flag>"}},
    {"two inertials",
     mjcf(R"(<joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>)"),
     {"line 3", "second <inertial>"}},
    {"two geoms of a class",
     "<mujoco><default><geom size=\"1\"/>\n<geom size=\"2\"/></default><worldbody><geom/></worldbody></mujoco>",
     {"line 2", "second <geom>"}},
    {"full inertia beside axes of its own",
     mjcf(R"(<joint/><inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 0" euler="90 0 0"/>)"),
     {"line 3, <inertial> of body 'b'", "euler=\"90 0 0\": expected none beside fullinertia"}},
    {"full inertia beside a diagonal",
     mjcf(R"(<joint/><inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 0" diaginertia="1 1 1"/>)"),
     {"line 3, <inertial> of body 'b'", "diaginertia=\"1 1 1\": expected none beside fullinertia"}},
    {"ends beside a place",
     mjcf(R"(<joint/><geom type="capsule" size="0.1" fromto="0 0 0 1 0 0" pos="0 0 1"/>)"),
     {"line 3, <geom> of body 'b'", "pos=\"0 0 1\": expected none beside fromto"}},
    {"moving plane",
     mjcf(R"(<joint/><geom size="1"/></body><body><joint/><geom size="1"/><body name="c">
<geom type="plane" size="1 1 1"/></body>)"),
     {"line 4, <geom> of body 'c'", "type=\"plane\": expected a body that stands still"}},
    {"moving height field",
     "<mujoco><asset><hfield name=\"h\" nrow=\"2\" ncol=\"2\" size=\"1 1 1 1\" elevation=\"0 1 2 3\"/></asset><worldbody><body><joint/>\n"
     "<geom type=\"hfield\" hfield=\"h\"/><geom size=\"1\"/></body></worldbody></mujoco>",
     {"line 2", "type=\"hfield\": expected a body that stands still"}},
    {"height field from a file",
     "<mujoco><asset>\n<hfield name=\"h\" file=\"h.png\" size=\"1 1 1 1\"/></asset><worldbody><geom type=\"hfield\" "
     "hfield=\"h\"/></worldbody>"
     "</mujoco>",
     {"line 2, hfield 'h'", "file=\"h.png\": expected the samples in 'elevation'"}},
    {"height field of one row",
     "<mujoco><asset>\n<hfield name=\"h\" nrow=\"1\" ncol=\"9\" size=\"1 1 1 1\"/></asset><worldbody><geom type=\"hfield\" hfield=\"h\"/>"
     "</worldbody></mujoco>",
     {"line 2, hfield 'h'", "nrow and ncol: expected 2 or more each"}},
    {"mass of a mesh that is open",
     "<mujoco><asset>\n<mesh name=\"m\" inertia=\"exact\" vertex=\"0 0 0 1 0 0 0 1 0 0 0 1\" face=\"0 2 "
     "1\"/></asset><worldbody><body><joint/>"
     "<geom type=\"mesh\" mesh=\"m\"/></body></worldbody></mujoco>",
     {"line 2, mesh 'm'", "inertia=\"exact\"", "not closed"}},
    {"mass of a mesh that is flat",
     "<mujoco><asset><mesh name=\"m\" vertex=\"0 0 0 1 0 0 0 1 0 0 0 1\" face=\"0 2 1\"/></asset><worldbody><body name=\"b\"><joint/>\n"
     "<geom type=\"mesh\" mesh=\"m\"/></body></worldbody></mujoco>",
     {"line 2, <geom> of body 'b'", "its mesh 'm' has no volume"}},
    {"another word for the inertia of a mesh",
     "<mujoco><asset>\n<mesh name=\"m\" inertia=\"hull\" vertex=\"0 0 0 1 0 0 0 1 0 0 0 1\"/></asset><worldbody><body><joint/>"
     "<geom type=\"mesh\" mesh=\"m\"/></body></worldbody></mujoco>",
     {"line 2, mesh 'm'", "inertia=\"hull\": expected convex, exact, legacy or shell"}},
    {"seven numbers in gear",
     with_section(R"(<actuator><motor joint="j" gear="1 2 3 4 5 6 7"/></actuator>)"),
     {"line 2, <motor>", "gear=\"1 2 3 4 5 6 7\": expected at most 6 numbers"}},
    {"four sizes", mjcf(R"(<joint/><geom size="1 1 1 1"/>)"), {"line 3", "size=\"1 1 1 1\": expected at most 3 numbers"}},
    {"four numbers in friction",
     mjcf(R"(<joint/><geom size="1" friction="1 0 0 0"/>)"),
     {"line 3", "friction=\"1 0 0 0\": expected at most 3 numbers"}},
    {"six numbers in a pair's friction",
     with_section(R"(<contact><pair geom1="ga" geom2="gb" friction="1 1 0 0 0 0"/></contact>)"),
     {"line 2", "friction=\"1 1 0 0 0 0\": expected at most 5 numbers"}},
    {"duplicate joint", mjcf(R"(<joint name="j"/><joint name="j" axis="1 0 0"/><geom size="1"/>)"), {"second joint of the name 'j'"}},
    {"duplicate key",
     "<mujoco><worldbody><body><joint/><geom size=\"1\"/></body></worldbody><keyframe><key name=\"up\" qpos=\"1\"/>\n"
     "<key name=\"up\"/></keyframe></mujoco>",
     {"line 2", "second key of the name 'up'"}},
    {"nested free joint", mjcf(R"(<geom size="1"/><body><freejoint/><geom size="1"/></body>)"), {"line 3", "free joint"}},
    {"unknown actuated joint",
     "<mujoco><worldbody><geom size=\"1\"/></worldbody>\n<actuator><motor joint=\"j\"/></actuator></mujoco>",
     {"line 2", "unknown joint 'j'"}},
    {"two actuators of one name",
     "<mujoco><worldbody><body><joint name=\"j\"/><geom size=\"1\"/></body></worldbody><actuator><motor name=\"m\" joint=\"j\"/>\n"
     "<position name=\"m\" joint=\"j\"/></actuator></mujoco>",
     {"line 2", "second actuator of the name 'm'"}},
    {"missing include", "<mujoco>\n<include file=\"nowhere.xml\"/></mujoco>", {"line 2", "'nowhere.xml' is not found"}},
    {"gravity that is neither",
     "<mujoco>\n<option><flag gravity=\"off\"/></option><worldbody><geom size=\"1\"/></worldbody></mujoco>",
     {"line 2", "gravity=\"off\": expected enable or disable"}},
    {"filterparent that is neither",
     "<mujoco>\n<option><flag filterparent=\"no\"/></option><worldbody><geom size=\"1\"/></worldbody></mujoco>",
     {"line 2", "filterparent=\"no\": expected enable or disable"}},
    {"mocap that is neither", mjcf(R"(<body mocap="yes"/>)"), {"line 3", "mocap=\"yes\": expected true or false"}},
    {"active that is neither",
     "<mujoco><worldbody><body name=\"b\"><joint/><geom size=\"1\"/></body></worldbody>\n<equality><connect body1=\"b\" anchor=\"0 0 0\" "
     "active=\"maybe\"/></equality></mujoco>",
     {"line 2", "active=\"maybe\": expected true or false"}},
    {"replicate", mjcf(R"(<replicate count="3"/>)"), {"<replicate> is not supported"}},
};

INSTANTIATE_TEST_SUITE_P(Urdf, BadRobot, testing::ValuesIn(kUrdf));
INSTANTIATE_TEST_SUITE_P(Mjcf, BadRobot, testing::ValuesIn(kMjcf));

TEST(BadInput, TheGoodPendulumIsAccepted) { EXPECT_EQ(error_of(pendulum("1", kGood)), "accepted"); }

TEST(BadInput, RodsAndPointMassesAreBodies) {
  EXPECT_EQ(error_of(pendulum("1", R"(ixx="1" iyy="1" izz="0" ixy="0" ixz="0" iyz="0")")), "accepted");
  EXPECT_EQ(error_of(pendulum("1", R"(ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0")")), "accepted");
}

TEST(BadInput, ImpossibleInertiaIsAWarningWhenAllowed) {
  RobotOptions options;
  options.allow_impossible_inertia = true;
  WorldBuilder builder;
  builder.add_robot_text(pendulum("1", R"(ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0")"), options);
  ASSERT_EQ(builder.build().robots()[0].warnings.size(), 1u);
  EXPECT_THAT(builder.build().robots()[0].warnings[0], HasSubstr("triangle"));
}

TEST(BadInput, WhatAUrdfSaysInVainIsAWarning) {
  WorldBuilder builder;
  builder.add_robot_text(R"(<robot name="r">
  <link name="a"><visual><geometry/></visual><contact><lateral_friction value="1"/><rolling_friction value="0"/><stiffness value="9"/></contact></link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/><safety_controller k_velocity="1"/><limit effort="1" velocity="1" jerk="3"/>
    <calibration rising="0"/><dynamics damping="0" stiffness="2"/></joint>
  <gazebo reference="a"><mu1>1</mu1><kp>1e6</kp><material>Gazebo/Blue</material></gazebo><gazebo reference="b"><kp>1e6</kp></gazebo>
</robot>)");
  const std::vector<std::string> expected = {
      "r: <text>:2: <stiffness> left out: contacts are rigid",
      "r: <text>:4: <safety_controller> left out: soft limits are a controller's",
      "r: <text>:4: jerk of <limit> left out: it limits no motion here",
      "r: <text>:5: stiffness of <dynamics> left out: not known to this reader",
      "r: <text>:6: kp of <gazebo> left out: an extension of Gazebo (and 1 more)",
  };
  EXPECT_EQ(builder.build().warnings(), expected);
}

TEST(BadInput, ALinkInsideALinkIsAWarning) {
  WorldBuilder builder;
  builder.add_robot_text(R"(<robot name="r"><link name="a">
  <link name="b"><collision><geometry><box/></geometry></collision></link>
</link></robot>)");
  const World world = builder.build();
  EXPECT_EQ(world.links().size(), 1u);
  EXPECT_EQ(world.warnings(), std::vector<std::string>{"r: <text>:2: <link> left out: links stand beside each other, in <robot>"});
}

TEST(BadInput, OfWhatAUrdfSaysTwiceTheFirstCounts) {
  WorldBuilder builder;
  builder.add_robot_text(R"(<robot name="r"><link name="a"/><link name="c"/><link name="d"/>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/><mass value="3"/></inertial>
    <inertial/><collision><origin/><origin xyz="1 0 0"/><geometry><sphere radius="1"/><box size="1 1 1"/></geometry></collision>
    <collision><geometry><sphere radius="1"/></geometry></collision></link>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="-1" upper="1"/><limit/><dynamics damping="1"/>
    <dynamics damping="2"/></joint>
  <joint name="k" type="fixed"><parent link="b"/><child link="c"/><dynamics damping="0" friction="0"/><mimic joint="j"/><mimic joint="j"/></joint>
  <joint name="l" type="fixed"><parent link="b"/><child link="d"/><dynamics damping="0.5"/></joint>
</robot>)");
  const World world = builder.build();
  const std::vector<std::string> expected = {
      "r: <text>:2: <mass> left out: the first one counts",
      "r: <text>:3: <inertial> left out: the first one counts",
      "r: <text>:3: <origin> left out: the first one counts",
      "r: <text>:3: <box> left out: the first one counts",
      "r: <text>:5: <limit> left out: the first one counts",
      "r: <text>:6: <dynamics> left out: the first one counts",
      "r: <text>:7: <mimic> left out: its joint is fixed or floating",
      "r: <text>:7: <mimic> left out: the first one counts",
      "r: <text>:8: <dynamics> left out: its joint is fixed or floating",
  };
  EXPECT_EQ(world.warnings(), expected);
  EXPECT_EQ(world.geometries().size(), 2u);
  EXPECT_EQ(world.joints()[0].damping, 1.0);
}

/// An arm of two joints, the second of which does what `text` says.
std::string arm(const std::string& text, const std::string& transmission = "") {
  const std::string inertia = R"(<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>)";
  return R"(<robot name="r"><link name="a"/><link name="b">)" + inertia + R"(<link name="c">)" + inertia +
         R"(<joint name="i" type="continuous"><parent link="a"/><child link="b"/></joint>
            <joint name="j" type="continuous"><parent link="b"/><child link="c"/>)" +
         text + "</joint>" + transmission + "</robot>";
}

TEST(Urdf, AMimicFollowsItsJointAndIsNotDriven) {
  RobotOptions options;
  options.joints["i"].position = 0.4;
  WorldBuilder builder;
  builder.add_robot_text(arm(R"(<mimic joint="i" multiplier="-2" offset="0.1"/>)"), options);
  const World world = builder.build();
  ASSERT_EQ(world.equalities().size(), 1u);
  const Equality& e = world.equalities()[0];
  EXPECT_EQ(e.kind, EqualityKind::joint);
  EXPECT_EQ(e.joint_a, world.joint("j"));
  EXPECT_EQ(e.joint_b, world.joint("i"));
  EXPECT_EQ(world.initial_configuration(), Eigen::Vector2d(0.4, 0.1 - 0.8));
  EXPECT_EQ(world.actuated().size(), 1u);
  EXPECT_TRUE(world.warnings().empty());
  EXPECT_THAT(error_of(arm(R"(<mimic joint="j"/>)")), HasSubstr("mimics itself"));
  WorldBuilder astray;
  astray.add_robot_text(arm(R"(<mimic joint="k"/>)"));
  EXPECT_EQ(astray.build().warnings(), std::vector<std::string>{"r: <text>:2: joint 'j' mimics the unknown joint 'k': it moves freely"});
}

/// Three joints on one base, `second` of which turns twice as far as `first` and `third` twice as far as `second`.
std::string mimics(const std::string& first, const std::string& second, const std::string& third, const std::string& first_follows = "") {
  const auto follows = [](const std::string& leader) { return R"(<mimic joint=")" + leader + R"(" multiplier="2"/>)"; };
  std::map<std::string, std::string> rules{{second, follows(first)}, {third, follows(second)}};
  if (!first_follows.empty()) rules[first] = follows(first_follows);
  std::string text = R"(<robot name="r"><link name="base"/>)";
  for (const std::string name : {"a", "b", "c"}) {
    text += R"(<link name="l)" + name +
            R"("><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name=")" +
            name + R"(" type="continuous"><parent link="base"/><child link="l)" + name + R"("/>)" + rules[name] + "</joint>";
  }
  return text + "</robot>";
}

// Names and their order say nothing about who leads.
TEST(Urdf, AMimicOfAMimicStartsWhereBothSay) {
  for (std::array<std::string, 3> names{"a", "b", "c"}; const bool placed : {true, false}) {
    do {
      RobotOptions options;
      options.joints[names[0]].position = 0.5;
      if (placed) options.joints[names[1]].position = -0.25;  // what the user says counts, and what follows it
      WorldBuilder builder;
      builder.add_robot_text(mimics(names[0], names[1], names[2]), options);
      const World world = builder.build();
      const auto start = [&](int k) { return world.initial_configuration()[world.joints()[world.joint(names[k])].q]; };
      EXPECT_EQ(start(0), 0.5);
      EXPECT_EQ(start(1), placed ? -0.25 : 1.0);
      EXPECT_EQ(start(2), placed ? -0.5 : 2.0);
      EXPECT_EQ(world.warnings().empty(), !placed);  // of a start that does not hold
    } while (std::ranges::next_permutation(names).found);
  }
}

TEST(Urdf, MimicsInACircleAreSaidAndAPlacedOneOpensIt) {
  WorldBuilder builder;
  builder.add_robot_text(mimics("a", "b", "c", "c"));
  EXPECT_EQ(
      builder.build().warnings(),
      std::vector<std::string>{"r: <text>: joints that follow each other in a circle start as the order of the file has it: 'a' 'b' 'c'"});
  RobotOptions options;
  options.joints["b"].position = 0.5;
  WorldBuilder placed;
  placed.add_robot_text(mimics("a", "b", "c", "c"), options);
  const World world = placed.build();
  EXPECT_EQ(world.initial_configuration(), Eigen::Vector3d(2.0, 0.5, 1.0));
  EXPECT_THAT(world.warnings(), testing::Not(testing::Contains(HasSubstr("circle"))));
}

TEST(Urdf, ALimitThatLocksItsJointIsSaid) {
  std::string text = arm("<limit effort='1' velocity='1'/>");
  text.replace(text.rfind("continuous"), 10, "prismatic");
  WorldBuilder builder;
  builder.add_robot_text(text);
  const World world = builder.build();
  EXPECT_EQ(world.joints()[1].upper, 0.0);
  ASSERT_EQ(world.warnings().size(), 1u);
  EXPECT_THAT(world.warnings()[0], HasSubstr("joint 'j' cannot move: lower and upper are both 0"));
}

TEST(Urdf, ARotorBehindAGearIsArmature) {
  WorldBuilder builder;
  builder.add_robot_text(
      arm(R"(<dynamics armature="0.5"/>)", R"(<transmission><joint name="j"/><actuator><drake:rotor_inertia value="2e-4"/>
    <drake:gear_ratio value="100"/></actuator></transmission>)"));
  EXPECT_NEAR(builder.build().joints()[1].armature, 0.5 + 2.0, 1e-12);
}

TEST(Urdf, InfiniteDampingIsRefused) {
  WorldBuilder builder;
  EXPECT_THAT([&] { builder.add_robot_text(arm(R"(<dynamics damping="inf"/>)")); },
              testing::ThrowsMessage<InvalidArgument>(HasSubstr("damping of joint 'j': expected a finite number >= 0")));
}

TEST(BadInput, MissingFileIsNamed) {
  try {
    WorldBuilder().add_robot("nowhere/robot.urdf");
    ADD_FAILURE() << "accepted";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nowhere/robot.urdf"));
  }
}

TEST(BadInput, OptionsAreChecked) {
  const auto refuses = [](const auto& change) {
    RobotOptions options;
    change(options);
    WorldBuilder builder;
    EXPECT_THROW(builder.add_robot_text(double_pendulum(), options), InvalidArgument);
    EXPECT_TRUE(builder.build().robots().empty());
    EXPECT_EQ(builder.build().nq(), 0);
  };
  refuses([](RobotOptions& o) { o.joints["nothing"].position = 0.0; });
  refuses([](RobotOptions& o) { o.joints["elbow"].position = 7.0; });
  refuses([](RobotOptions& o) { o.joints["elbow"].position = std::nan(""); });
  refuses([](RobotOptions& o) { o.joints["elbow"].effort_limit = -1.0; });
  refuses([](RobotOptions& o) { o.joints["elbow"].armature = std::nan(""); });
  refuses([](RobotOptions& o) { o.joints["elbow"].armature = std::numeric_limits<double>::infinity(); });
  refuses([](RobotOptions& o) { o.joints["elbow"].damping = std::numeric_limits<double>::infinity(); });
  refuses([](RobotOptions& o) { o.actuated = {"elbow", "wrist"}; });
  refuses([](RobotOptions& o) { o.pose.translation().x() = std::nan(""); });
  refuses([](RobotOptions& o) { o.pose.linear() *= 2.0; });
}

TEST(BadInput, FreeBodiesAreChecked) {
  FreeBody good;
  good.name = "ball";
  good.mass = 1.0;
  good.inertia = solid_inertia(Sphere{0.1}, 1.0);
  const auto refuses = [&](const auto& change) {
    FreeBody body = good;
    change(body);
    EXPECT_THROW(WorldBuilder().add_free_body(body), InvalidArgument);
  };
  EXPECT_NO_THROW(WorldBuilder().add_free_body(good));
  refuses([](FreeBody& b) { b.mass = 0.0; });
  refuses([](FreeBody& b) { b.mass = -1.0; });
  refuses([](FreeBody& b) { b.mass = std::nan(""); });
  refuses([](FreeBody& b) { b.com.y() = std::nan(""); });
  refuses([](FreeBody& b) { b.inertia.setZero(); });
  refuses([](FreeBody& b) { b.inertia(0, 1) = 1.0; });
  refuses([](FreeBody& b) { b.inertia.diagonal() << 1.0, 1.0, 3.0; });
  refuses([](FreeBody& b) { b.pose.linear()(0, 0) = 2.0; });
  refuses([](FreeBody& b) { b.pose.translation().z() = -1.1e9; });
  refuses([](FreeBody& b) { b.name.clear(); });
  refuses([](FreeBody& b) { b.shapes.push_back({Sphere{-1.0}}); });
  refuses([](FreeBody& b) { b.shapes.push_back({Sphere{1.0}, Eigen::Isometry3d::Identity(), -0.5}); });
  WorldBuilder builder;
  builder.add_free_body(good);
  EXPECT_THROW(builder.add_free_body(good), InvalidArgument);
  EXPECT_THROW(builder.set_gravity(Eigen::Vector3d(0, 0, std::nan(""))), InvalidArgument);
}

TEST(BadInput, OffsetsOfAFileThatLeadOutOfReachAreRefused) {
  WorldBuilder builder;
  builder.add_robot_text(mjcf(R"(<joint/><geom size="1"/><body name="far" pos="0 2e9 0"><joint/><geom size="1"/></body>)"));
  EXPECT_THAT([&] { builder.build(); }, testing::ThrowsMessage<InvalidArgument>(HasSubstr("position of body 'far'")));
}

TEST(BadInput, ShapesAreChecked) {
  const auto refuses = [](const Shape& shape) { EXPECT_THROW(validate(shape, "shape"), InvalidArgument) << shape_name(shape); };
  refuses(Sphere{0.0});
  refuses(Sphere{std::nan("")});
  refuses(Box{{1.0, 1.0, 0.0}});
  refuses(Capsule{1.0, -1.0});
  refuses(Cylinder{std::numeric_limits<double>::infinity(), 1.0});
  refuses(ConvexMesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {}});
  refuses(ConvexMesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 1, 4}}});
  refuses(TriangleMesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, std::nan("")}}, {{0, 1, 2}}});
  refuses(TriangleMesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {}});
  refuses(HeightMap{Eigen::MatrixXd::Zero(1, 3), 1.0, 1.0, -1.0});
  refuses(HeightMap{Eigen::MatrixXd::Zero(3, 3), 1.0, 1.0, 0.5});
  refuses(MeshFile{});
  refuses(MeshFile{"a.stl", {1.0, 0.0, 1.0}});
  EXPECT_NO_THROW(validate(HalfSpace{}, "shape"));
  EXPECT_THROW(solid_inertia(HalfSpace{}, 1.0), InvalidArgument);
  EXPECT_THROW(solid_inertia(Sphere{1.0}, -1.0), InvalidArgument);
}

}  // namespace
}  // namespace stiction::bad_input_test
