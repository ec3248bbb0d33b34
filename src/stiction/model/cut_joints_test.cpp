// Robots cut at their joints [G14]: sizes, and that a state, its energies and the work of its forces are those of the uncut robot.
#include "stiction/model/cut_joints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/equality_error.hpp"
#include "stiction/model/robots_for_test.hpp"

namespace stiction::cut_joints_test {
namespace {

using Eigen::VectorXd;

World load(const std::string& file, Coordinates coordinates, const std::vector<std::string>& cut = {}, bool floating = true) {
  RobotOptions options;
  options.base = floating ? BaseKind::floating : BaseKind::fixed;
  options.coordinates = coordinates;
  options.cut = cut;
  WorldBuilder builder;
  StaticBody ground;
  ground.name = "ground";
  builder.add_static_body(ground);
  builder.add_robot(file, options);
  FreeBody ball;
  ball.name = "ball";
  ball.mass = 1.0;
  ball.inertia.setIdentity();
  builder.add_free_body(ball);
  return builder.build();
}

/// Slides, a ball joint, a branch behind a limb, and a limb that is cut in its middle.
World sliding_robot(Coordinates coordinates, const std::vector<std::string>& cut = {}) {
  RobotOptions options;
  options.coordinates = coordinates;
  options.cut = cut;
  WorldBuilder builder;
  builder.add_robot_text(R"(<mujoco><default><geom type="box" size="0.1 0.2 0.3" contype="0" conaffinity="0"/></default><worldbody>
    <body pos="0 0.1 1" euler="10 20 30"><joint name="rail" type="slide" axis="1 2 0"/><geom/>
      <body pos="0.3 0 0" euler="0 20 0"><joint name="hip" axis="0 1 1"/><geom/>
        <body pos="0 0 -0.5"><joint name="ball" type="ball" pos="0 0 0.2"/><geom/>
          <body pos="0 0.4 0"><joint name="wrist" axis="1 0 0" limited="true" range="100 300"/><geom/></body></body></body>
      <body pos="-0.3 0 0"><joint name="head" type="slide" axis="0 0 1"/><geom/></body></body></worldbody></mujoco>)",
                         options);
  return builder.build();
}

int bodies_of_robot(const World& world) {
  int moving = 0;
  for (const Body& body : world.bodies()) moving += body.robot >= 0 && body.block >= 0 ? 1 : 0;
  return moving;
}

// StarLETH's counts [G14]: 13 bodies and 12 hinges in 18, 38 and 78 coordinates with 0, 20 and 60 rows.
TEST(CutJoints, AQuadrupedHasThePublishedSizes) {
  const auto rows = [](const World& world) { return 5 * static_cast<int>(world.cuts().size()); };
  for (const char* robot : {"anymal", "solo12"}) {
    const World minimal = load(robot_file(robot), Coordinates::minimal);
    const World extended = load(robot_file(robot), Coordinates::extended);
    const World maximal = load(robot_file(robot), Coordinates::maximal);
    EXPECT_EQ(bodies_of_robot(maximal), 13);
    EXPECT_EQ(minimal.nv() - 6, 18);
    EXPECT_EQ(extended.nv() - 6, 38);
    EXPECT_EQ(maximal.nv() - 6, 78);
    EXPECT_EQ(rows(minimal), 0);
    EXPECT_EQ(rows(extended), 20);
    EXPECT_EQ(rows(maximal), 60);
    EXPECT_EQ(extended.blocks().size(), 5u + 1u);
    EXPECT_EQ(maximal.blocks().size(), 13u + 1u);
    EXPECT_EQ(maximal.uncut().nv(), minimal.nv());
    EXPECT_EQ(minimal.uncut().nv(), minimal.nv());
    EXPECT_TRUE(maximal.actuated().empty());
    EXPECT_EQ(extended.actuated().size(), 8u);
  }
}

void expect_same(const World& world, const std::string& what) {
  const World uncut = world.uncut();
  WorldData data(world), whole(uncut);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const VectorXd q_whole = random_configuration(uncut, seed);
    const VectorXd v_whole = VectorXd::Random(uncut.nv()), tau_whole = VectorXd::Random(uncut.nv());
    update(uncut, q_whole, v_whole, whole);
    VectorXd q(world.nq()), v(world.nv()), q_back(uncut.nq()), v_back(uncut.nv()), tau = VectorXd::Zero(world.nv());
    from_uncut(world, whole, q_whole, v_whole, q, v);
    update(world, q, v, data);
    for (const CutJoint& cut : world.cuts()) {
      const EqualityError error = equality_error(world, data, world.equalities()[cut.equality], q);
      EXPECT_LE(error.position.norm() + error.rotation.norm(), 1e-13) << what << " " << cut.joint.name;
    }
    for (const Body& body : world.bodies()) {  // wherever it is numbered
      const std::size_t b = static_cast<std::size_t>(world.body(body.name)), w = static_cast<std::size_t>(uncut.body(body.name));
      EXPECT_TRUE(data.X_WB[b].isApprox(whole.X_WB[w], 1e-12)) << what << " " << body.name;
      EXPECT_LE((data.V_WB[b] - whole.V_WB[w]).norm(), 1e-12) << what << " " << body.name;
    }
    EXPECT_NEAR(kinetic_energy(world, data, v), kinetic_energy(uncut, whole, v_whole), 1e-11) << what;
    EXPECT_NEAR(potential_energy(world, data), potential_energy(uncut, whole), 1e-11) << what;
    to_uncut(world, data, q, v, q_back, v_back);
    VectorXd off(uncut.nv());
    difference(uncut, q_whole, q_back, off);
    for (const Joint& joint : uncut.joints()) {  // a joint without limits may be whole turns away
      if (joint.kind == JointKind::revolute) off[joint.v] = std::remainder(off[joint.v], 2.0 * std::numbers::pi);
    }
    EXPECT_LE(off.lpNorm<Eigen::Infinity>(), 1e-12) << what;
    EXPECT_LE((v_back - v_whole).lpNorm<Eigen::Infinity>(), 1e-12) << what;
    add_uncut_forces(world, data, tau_whole, tau);
    EXPECT_NEAR(tau.dot(v), tau_whole.dot(v_whole), 1e-12) << what;
  }
}

TEST(CutJoints, AStateAndItsEnergiesAreThoseOfTheUncutRobot) {
  for (const char* robot : {"anymal", "solo12", "ur10"}) {
    const bool floats = std::string_view(robot) != "ur10";
    std::vector<Coordinates> kinds{Coordinates::minimal, Coordinates::extended};
    if (std::string_view(robot) != "talos") kinds.push_back(Coordinates::maximal);  // its rotors have armature
    for (const Coordinates c : kinds)
      expect_same(load(robot_file(robot), c, {}, floats), std::string(robot) + " " + std::string(to_string(c)));
  }
  for (const Coordinates c : {Coordinates::minimal, Coordinates::extended, Coordinates::maximal})
    expect_same(sliding_robot(c), std::string(to_string(c)));
  expect_same(sliding_robot(Coordinates::extended, {"ball"}), "cut at the ball");
  expect_same(sliding_robot(Coordinates::extended, {"wrist", "hip"}), "cut at wrist and hip");
}

// The row of a joint is the rate of its position, also where a joint between has been cut.
TEST(CutJoints, ARowIsTheRateOfThePosition) {
  const World world = sliding_robot(Coordinates::maximal);
  WorldData data(world), whole(world.uncut());
  const VectorXd q_whole = random_configuration(world.uncut(), 3), v_whole = VectorXd::Random(world.uncut().nv());
  update(world.uncut(), q_whole, v_whole, whole);
  VectorXd q(world.nq()), v(world.nv()), ahead(world.nq());
  from_uncut(world, whole, q_whole, v_whole, q, v);
  constexpr double kShift = 1e-6;
  const auto position = [&](const CutJoint& cut, double t) {
    integrate(world, q, v, t, ahead);
    update_kinematics(world, ahead, data);
    return cut_position(world, data, cut);
  };
  for (const CutJoint& cut : world.cuts()) {
    if (cut.joint.nv != 1) continue;
    const double numeric = (position(cut, kShift) - position(cut, -kShift)) / (2.0 * kShift);
    update(world, q, v, data);
    EXPECT_NEAR(cut_rate(world, data, data.V_WB, cut), numeric, 1e-8) << cut.joint.name;
    double along = 0.0;
    for (const bool child : {true, false}) {
      const int block = world.bodies()[child ? cut.joint.body : cut.parent].block;
      if (block < 0) continue;
      const Block& coordinates = world.blocks()[block];
      Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(coordinates.nv);
      add_cut_row(world, data, cut, child, child ? 1.0 : -1.0, row);
      along += row.dot(v.segment(coordinates.v, coordinates.nv));
    }
    EXPECT_NEAR(along, numeric, 1e-8) << cut.joint.name;
  }
}

// Angles are those within half a turn of the middle of the limits: the wrist's go from 100 to 300 degrees.
TEST(CutJoints, AnAngleIsWithinItsLimits) {
  const World world = sliding_robot(Coordinates::maximal);
  WorldData data(world);
  update_kinematics(world, world.initial_configuration(), data);  // at zero, where the file has it
  for (const CutJoint& cut : world.cuts()) {
    if (cut.joint.name != "wrist") continue;
    EXPECT_NEAR(cut_position(world, data, cut), 2.0 * std::numbers::pi, 1e-12);
  }
}

TEST(CutJoints, SaysWhatCannotBeCut) {
  const auto message = [](const RobotOptions& options, const char* text) -> std::string {
    WorldBuilder builder;
    try {
      builder.add_robot_text(text, options);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  RobotOptions options;
  options.coordinates = Coordinates::extended;
  options.cut = {"hip"};
  EXPECT_THAT(message(options, double_pendulum()),
              testing::HasSubstr("names of joints between bodies of robot 'double_pendulum', got 'hip'"));
  options.cut = {"shoulder"};
  EXPECT_THAT(message(options, double_pendulum()), testing::HasSubstr("without armature, damping and stiffness"));
  options.joints["shoulder"].damping = 0.0;
  EXPECT_EQ(message(options, double_pendulum()), "");
  options.coordinates = Coordinates::minimal;
  EXPECT_THAT(message(options, double_pendulum()), testing::HasSubstr("none but for extended coordinates"));
  EXPECT_THROW(coordinates_from_string("redundant"), InvalidArgument);
}

}  // namespace
}  // namespace stiction::cut_joints_test
