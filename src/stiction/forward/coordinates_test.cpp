// Robots cut at their joints [G14] move as the uncut ones do, within the order of the scheme; loops close, by the share that is asked for.
#include <cmath>
#include <numbers>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/forward/step.hpp"
#include "stiction/model/cut_joints.hpp"
#include "stiction/model/equality_error.hpp"
#include "stiction/problem/reduced.hpp"
#include "test_paths.hpp"

namespace stiction::coordinates_test {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kGravity = 9.81;
constexpr Coordinates kCut[] = {Coordinates::extended, Coordinates::maximal};

/// A rod of 1 kg and 1 m on a hinge about y, along x at zero; `joint`: attributes of its hinge.
World rod(Coordinates coordinates, const std::string& joint = "") {
  RobotOptions options;
  options.coordinates = coordinates;
  WorldBuilder builder;
  builder.add_robot_text("<mujoco><worldbody><body name='rod'><joint name='hinge' axis='0 1 0' " + joint +
                             "/><inertial pos='0.5 0 0' mass='1' diaginertia='1e-3 0.0833333333333333 0.0833333333333333'/>"
                             "</body></worldbody></mujoco>",
                         options);
  return builder.build();
}

/// Two rods, hinged to the world and to each other, about skew axes.
World two_rods(Coordinates coordinates) {
  RobotOptions options;
  options.coordinates = coordinates;
  WorldBuilder builder;
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint axis="0 1 0"/><inertial pos="0.5 0 0" mass="1" diaginertia="0.01 0.08 0.09"/>
    <body pos="1 0 0"><joint axis="0 0.8 0.6"/><inertial pos="0.5 0.1 0" mass="2" diaginertia="0.02 0.1 0.11"/></body>
    </body></worldbody></mujoco>)",
                         options);
  return builder.build();
}

Stepper stepper_for(const World& world, double h, Scheme scheme = Scheme::semi_implicit_euler, double loop_recovery = 1.0) {
  StepOptions options;
  options.assemble.dt = h;
  options.assemble.loop_recovery = loop_recovery;
  options.scheme = scheme;
  return {world, make_scene(world, 0.8), options};
}

State cut_state(const World& world, const VectorXd& q, const VectorXd& v) {
  WorldData whole(world.uncut());
  update(world.uncut(), q, v, whole);
  State state = initial_state(world);
  from_uncut(world, whole, q, v, state.q, state.v);
  return state;
}

/// Position and velocity of the uncut robot.
std::pair<VectorXd, VectorXd> joints_of(const World& world, const State& state) {
  WorldData data(world);
  update(world, state.q, state.v, data);
  VectorXd q(world.uncut().nq()), v(world.uncut().nv());
  to_uncut(world, data, state.q, state.v, q, v);
  return {q, v};
}

double opening(const World& world, const State& state) {
  WorldData data(world);
  update_kinematics(world, state.q, data);
  double worst = 0.0;
  for (const Equality& e : world.equalities()) worst = std::max(worst, equality_error(world, data, e, state.q).position.norm());
  return worst;
}

VectorXd swung(Coordinates coordinates, Scheme scheme, double h) {
  const World world = two_rods(coordinates);
  const VectorXd start = (VectorXd(2) << 0.3, 0.4).finished();
  State state = cut_state(world, start, VectorXd::Zero(2));
  Stepper stepper = stepper_for(world, h, scheme);
  for (long k = std::lround(0.4 / h); k > 0; --k) EXPECT_TRUE(stepper.step(VectorXd::Zero(world.nv()), state).accepted);
  return joints_of(world, state).first;
}

TEST(Coordinates, ADoublePendulumSwingsAsInMinimalOnesToTheOrderOfTheScheme) {
  const VectorXd exact = swung(Coordinates::minimal, Scheme::event_driven, 1e-3);  // to 1e-11, by rk4
  for (const Scheme scheme : kSchemes) {
    const double order = scheme == Scheme::event_driven ? 4.0 : scheme == Scheme::energy_momentum ? 2.0 : 1.0;
    for (const Coordinates c : kCut) {
      const double h = order == 4.0 ? 2e-2 : 4e-3;
      const double coarse = (swung(c, scheme, h) - exact).norm(), fine = (swung(c, scheme, 0.25 * h) - exact).norm();
      EXPECT_GE(std::log2(coarse / fine) / 2.0, order - 0.15) << to_string(scheme) << " " << to_string(c) << " " << coarse << " " << fine;
      EXPECT_LE(fine, order == 1.0 ? 5e-3 : 5e-5) << to_string(scheme) << " " << to_string(c);
    }
  }
}

// A rod let go level starts to turn at 3 g/(2 l), and its hinge bears a quarter of its weight.
TEST(Coordinates, ARodLetGoHasItsClosedForm) {
  const double h = 1e-4;
  for (const Coordinates c : kCut) {
    const World world = rod(c);
    Stepper stepper = stepper_for(world, h);
    State state = initial_state(world);
    ASSERT_EQ(stepper.step(VectorXd::Zero(world.nv()), state).status, Status::solved);
    EXPECT_NEAR(joints_of(world, state).second[0] / h, 1.5 * kGravity, 1e-6);
    ASSERT_EQ(stepper.solution().bounded_impulses.size(), 5);
    const Vector3d force = stepper.solution().bounded_impulses.head<3>() / h;
    EXPECT_LE((force - Vector3d(0.0, 0.0, 0.25 * kGravity)).norm(), 1e-6) << force.transpose();
  }
}

// Dry friction of m g l/2 and more holds the rod level; a stop at half a radian stops it there, and bears m g l/2 cos(0.5) at rest.
TEST(Coordinates, FrictionAndLimitsOfACutJointAreThoseOfTheJoint) {
  const auto settle = [](const World& world) {
    Stepper stepper = stepper_for(world, 1e-3);
    State state = initial_state(world);
    for (int k = 0; k < 2000; ++k) EXPECT_TRUE(stepper.step(VectorXd::Zero(world.nv()), state).accepted);
    return std::tuple(joints_of(world, state), stepper.solution(), stepper.problem().row_kinds);
  };
  for (const Coordinates c : kCut) {
    EXPECT_NEAR(std::get<0>(settle(rod(c, "frictionloss='4.91'"))).first[0], 0.0, 1e-9);
    EXPECT_GE(std::get<0>(settle(rod(c, "frictionloss='4.8'"))).first[0], 0.1);
    const auto [state, solution, kinds] = settle(rod(c, "limited='true' range='-30 28.6478897565'"));
    EXPECT_NEAR(state.first[0], 0.5, 1e-6);
    EXPECT_NEAR(state.second[0], 0.0, 1e-6);
    ASSERT_EQ(kinds.front(), RowKind::limit);
    EXPECT_NEAR(solution.bounded_impulses[0] / 1e-3, 0.5 * kGravity * std::cos(0.5), 1e-4);
  }
}

// Torques, given for the joints of the uncut robot, hold it against gravity.
TEST(Coordinates, TorquesOfTheUncutRobotHoldIt) {
  for (const Coordinates c : kCut) {
    const World world = two_rods(c);
    const VectorXd start = (VectorXd(2) << 0.3, 0.4).finished();
    WorldData whole(world.uncut()), data(world);
    update(world.uncut(), start, VectorXd::Zero(2), whole);
    State state = cut_state(world, start, VectorXd::Zero(2));
    update(world, state.q, state.v, data);
    VectorXd tau = VectorXd::Zero(world.nv());
    add_uncut_forces(world, data, whole.bias, tau);
    Stepper stepper = stepper_for(world, 1e-3);
    ASSERT_EQ(stepper.step(tau, state).status, Status::solved);
    EXPECT_LE(state.v.norm(), 1e-10) << to_string(c);
  }
}

/// Two rods in line that spin about the vertical at 10 rad/s: the first one's end leaves the tangent, on which the origin of the second one
/// moves, by l (ω h)²/2 per step. What the hinge is open by after 0.2 s (m).
double drift(double share, double h) {
  RobotOptions options;
  options.coordinates = Coordinates::maximal;
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint axis="0 0 1"/><inertial pos="0.5 0 0" mass="1" diaginertia="0.01 0.08 0.08"/>
    <body pos="1 0 0"><joint axis="0 0 1"/><inertial pos="0.5 0 0" mass="1" diaginertia="0.01 0.08 0.08"/></body></body></worldbody></mujoco>)",
                         options);
  const World world = builder.build();
  Stepper stepper = stepper_for(world, h, Scheme::semi_implicit_euler, share);
  State state = cut_state(world, VectorXd::Zero(2), (VectorXd(2) << 10.0, 0.0).finished());
  for (long k = std::lround(0.2 / h); k > 0; --k) EXPECT_TRUE(stepper.step(VectorXd::Zero(12), state).accepted);
  return opening(world, state);
}

// With the share γ of its error undone per step a loop is open by 1/γ of what a step adds; with none that adds up.
TEST(Coordinates, ACutDriftsByWhatIsNotUndone) {
  const double h = 1e-3, added = 0.5 * 1e2 * h * h;
  EXPECT_NEAR(drift(1.0, h), added, 0.02 * added);
  EXPECT_NEAR(drift(0.2, h), 5.0 * added, 0.02 * 5.0 * added);
  EXPECT_GE(drift(0.0, h), 50.0 * added);
  EXPECT_NEAR(drift(1.0, 0.5 * h), 0.25 * added, 0.02 * 0.25 * added);
}

/// The quadruped over the ground, its legs bent.
World quadruped(Coordinates coordinates) {
  RobotOptions options;
  options.base = BaseKind::floating;
  options.pose.translation().z() = 0.151;
  options.coordinates = coordinates;
  WorldBuilder builder;
  builder.add_robot(STICTION_SOURCE_DIR "/models/links.urdf", options);
  StaticBody ground;
  ground.name = "ground";
  ground.shapes.push_back({HalfSpace{}});
  builder.add_static_body(ground);
  return builder.build();
}

/// Joints of the uncut robot as it stands.
VectorXd bent_legs(const World& uncut) {
  VectorXd start = uncut.initial_configuration();
  for (const Joint& joint : uncut.joints()) {
    if (joint.nv != 1) continue;
    const double sign = joint.name.starts_with("LF") || joint.name.starts_with("RH") ? 1.0 : -1.0;
    start[joint.q] = sign * std::numbers::pi / (joint.name.ends_with("HIP") ? 8.0 : joint.name.ends_with("THIGH") ? 4.0 : 2.0);
  }
  return start;
}

// From rest no joint has moved on and no product of rates is left out, so that a step ends in the same velocities of all points.
TEST(Coordinates, AStepFromRestIsThatOfTheWholeRobot) {
  const World whole = quadruped(Coordinates::minimal);
  VectorXd start = bent_legs(whole);
  Stepper sinking = stepper_for(whole, 1e-3);
  for (State state = initial_state(whole); sinking.contacts().size() < 4 && start[2] > 0.0; start[2] -= 1e-3) {
    state.q = start;
    sinking.prepare(state, VectorXd::Zero(whole.nv()));
  }
  VectorXd tau = VectorXd::LinSpaced(whole.nv(), -0.05, 0.05);
  tau.head<6>().setZero();
  const auto step = [&](const World& world) {
    State state = cut_state(world, start, VectorXd::Zero(whole.nv()));
    WorldData data(world);
    update(world, state.q, state.v, data);
    VectorXd forces = VectorXd::Zero(world.nv());
    add_uncut_forces(world, data, tau, forces);
    Stepper stepper = stepper_for(world, 1e-3);
    stepper.prepare(state, forces);
    SolveOptions options;
    options.law = Law::moreau;
    return std::tuple(solve(stepper.problem(), options), stepper.contacts().size(), stepper.problem().bounded_rows());
  };
  const auto [expected, contacts, rows] = step(whole);
  ASSERT_EQ(expected.status, Status::solved);
  ASSERT_GE(contacts, 4U);
  EXPECT_GT(expected.v.norm(), 1e-3);
  for (const Coordinates c : kCut) {
    const auto [cut, cut_contacts, cut_rows] = step(quadruped(c));
    ASSERT_EQ(cut.status, Status::solved) << to_string(c);
    ASSERT_EQ(cut_contacts, contacts) << to_string(c);
    EXPECT_EQ(cut.v.size(), c == Coordinates::extended ? 38 : 78);
    EXPECT_EQ(cut_rows - rows, c == Coordinates::extended ? 20 : 60);
    EXPECT_LT((cut.u - expected.u).norm(), 1e-9) << to_string(c);
    EXPECT_NEAR(cut.impulses.sum(), expected.impulses.sum(), 1e-9) << to_string(c);
  }
}

/// Rods of 0.1 m, each hinged to the last, about y and z in turn; the first to the world.
World chain(int links) {
  std::string text = "<mujoco><worldbody>";
  for (int i = 0; i < links; ++i) {
    text += fmt::format(R"(<body pos="{} 0 0"><joint axis="0 {} {}"/><inertial pos="0.05 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/>)",
                        i == 0 ? 0.0 : 0.1, i % 2, 1 - i % 2);
  }
  for (int i = 0; i < links; ++i) text += "</body>";
  RobotOptions options;
  options.coordinates = Coordinates::maximal;
  WorldBuilder builder;
  builder.add_robot_text(text + "</worldbody></mujoco>", options);
  return builder.build();
}

// Cut at every joint, a chain twice as long asks for twice the multiplications, and moves as its joints let it.
TEST(Coordinates, CostsOfAMaximalChainAreLinear) {
  const auto work = [](int links) {
    const World world = chain(links);
    Stepper stepper = stepper_for(world, 1e-3);
    State state = initial_state(world);
    EXPECT_EQ(stepper.step(VectorXd::Zero(world.nv()), state).status, Status::solved) << links;
    Reduction reduction;
    reduce(stepper.problem(), reduction);
    EXPECT_EQ(reduction.reduced.rank_bound(), links);
    EXPECT_EQ(reduction.coupled_sets, 1);
    return reduction.coupled[0].null_space.work();
  };
  const double at_100 = work(100), at_200 = work(200), at_400 = work(400);
  EXPECT_NEAR(at_400 - at_200, 2.0 * (at_200 - at_100), 1e-9 * at_400);
  EXPECT_LE(at_400, 400 * 5e3);  // a front has two links' coordinates and two joints' rows
}

struct Stand {
  VectorXd q;    ///< of the joints
  double force;  ///< N
};

Stand stand(Coordinates coordinates, Scheme scheme, double h) {
  const World world = quadruped(coordinates), uncut = world.uncut();
  const VectorXd start = bent_legs(uncut);
  State state = cut_state(world, start, VectorXd::Zero(uncut.nv()));
  Stepper stepper = stepper_for(world, h, scheme);
  WorldData data(world);
  VectorXd q(uncut.nq()), v(uncut.nv());
  double force = 0.0;
  const long steps = std::lround(0.25 / h);
  for (long k = 0; k < steps; ++k) {
    VectorXd tau = VectorXd::Zero(world.nv()), wanted = VectorXd::Zero(uncut.nv());
    update(world, state.q, state.v, data);
    to_uncut(world, data, state.q, state.v, q, v);
    for (const Joint& joint : uncut.joints()) {
      if (joint.nv == 1) wanted[joint.v] = 20.0 * (start[joint.q] - q[joint.q]) - 0.1 * v[joint.v];
    }
    add_uncut_forces(world, data, wanted, tau);
    const StepReport report = stepper.step(tau, state);
    if (!report.accepted) {
      ADD_FAILURE() << to_string(coordinates) << " step " << k << ": " << report.residual;
      break;
    }
    if (5 * k < 4 * steps) continue;
    for (int i = 0; i < stepper.problem().contacts(); ++i)
      force += 5.0 / static_cast<double>(steps) * stepper.solution().impulses[3 * i] / h;
  }
  return {joints_of(world, state).first, force};
}

// It lands and stands; by then the same joints are at the same angles, to the order of the step.
TEST(Coordinates, AQuadrupedLandsAndStandsAsInMinimalOnes) {
  for (const Scheme scheme : {Scheme::semi_implicit_euler, Scheme::moreau_midpoint}) {
    for (const Coordinates c : kCut) {
      const Stand coarse = stand(Coordinates::minimal, scheme, 1e-3), cut = stand(c, scheme, 1e-3);
      const Stand fine = stand(Coordinates::minimal, scheme, 5e-4), cut_fine = stand(c, scheme, 5e-4);
      const double apart = (coarse.q - cut.q).norm(), apart_fine = (fine.q - cut_fine.q).norm();
      EXPECT_LE(apart, 2e-3) << to_string(scheme) << " " << to_string(c);
      EXPECT_LE(apart_fine, 0.7 * apart) << to_string(scheme) << " " << to_string(c) << " " << apart;
      EXPECT_NEAR(cut.force, coarse.force, 0.02 * coarse.force) << to_string(scheme) << " " << to_string(c);
    }
  }
}

}  // namespace
}  // namespace stiction::coordinates_test
