// Energy of links that swing fast for the step, under schemes that make some of their own.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/forward/step.hpp"

namespace stiction::joint_energy_test {
namespace {

using Eigen::VectorXd;

/// Four links of 0.5 kg and 0.3 m in flight, on hinges about y and z in turn; nothing acts on them.
World flying_chain() {
  std::string text = "<mujoco><worldbody>";
  for (int i = 0; i < 4; ++i) {
    const std::string joint = i == 0 ? "<freejoint/>" : fmt::format("<joint type='hinge' axis='0 {} {}'/>", i % 2, 1 - i % 2);
    text += fmt::format("<body pos='{} 0 0'>{}", i == 0 ? 0.0 : 0.3, joint) +
            "<geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.02' mass='0.5' contype='0' conaffinity='0'/>";
  }
  WorldBuilder builder;
  builder.set_gravity(Eigen::Vector3d::Zero());
  builder.add_robot_text(text + "</body></body></body></body></worldbody></mujoco>");
  return builder.build();
}

class JointEnergyOf : public testing::TestWithParam<Scheme> {};

// Without what is taken back, a thousand steps end with 1e17 J or are refused on the way there.
TEST_P(JointEnergyOf, AFlyingChainIsBounded) {
  constexpr double h = 5e-3, speed = 10.0;
  const World world = flying_chain();
  StepOptions options;
  options.scheme = GetParam();
  options.assemble.dt = h;
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  for (int j = 0; j < world.nv(); ++j) state.v[j] = speed * (j % 2 == 0 ? 1.0 : -0.6);
  WorldData data(world);
  const auto energy = [&] {
    update(world, state.q, state.v, data);
    return kinetic_energy(world, data, state.v);
  };
  const double start = energy();
  double most = start, turn = 0.0;
  int halved = 0;
  for (int k = 0; k < 1000; ++k) {
    const StepReport report = stepper.step(VectorXd::Zero(world.nv()), state);
    ASSERT_EQ(report.status, Status::solved) << k;
    halved += report.halved ? 1 : 0;
    most = std::max(most, energy());
    turn = std::max(turn, h * state.v.tail(3).lpNorm<Eigen::Infinity>());
  }
  fmt::print("[ flight   ] {}: {:.2f} of the energy at most, turns by {:.2f} rad, {} steps halved\n", to_string(GetParam()), most / start,
             turn, halved);
  EXPECT_LT(most, 1.1 * start);
}

// Chains in flight whose joints are thrown from one end of their range to the other within a step: limits give nothing, and what cannot be
// taken back along the joints, which turn back at the speed they came with, takes shorter steps.
TEST_P(JointEnergyOf, ChainsWithLimitsGainNoMoreThanOthers) {
  double most = 0.0;
  int halved = 0;
  for (const int links : {3, 5, 6}) {
    std::string text = "<mujoco><compiler angle='radian'/><worldbody>", close;
    for (int i = 0; i < links; ++i) {
      text += fmt::format("<body pos='{} 0 0'>{}", i == 0 ? 0.0 : 0.3, i == 0 ? "<freejoint/>" : "<joint axis='0 1 0' range='-1 1'/>") +
              "<geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.02' mass='1' contype='0' conaffinity='0'/>";
      close += "</body>";
    }
    WorldBuilder builder;
    builder.set_gravity(Eigen::Vector3d::Zero());
    builder.add_robot_text(text + close + "</worldbody></mujoco>");
    const World world = builder.build();
    StepOptions options;
    options.scheme = GetParam();
    options.assemble.dt = 2e-2;
    Stepper stepper(world, make_scene(world, 0.5), options);
    WorldData data(world);
    std::mt19937 random(7);
    std::normal_distribution<double> normal(0.0, 50.0);
    for (int run = 0; run < 15; ++run) {
      State state = initial_state(world);
      for (int j = 6; j < world.nv(); ++j) state.v[j] = normal(random);
      stepper.reset();
      update(world, state.q, state.v, data);
      const double start = kinetic_energy(world, data, state.v);
      for (int k = 0; k < 60; ++k) {
        const StepReport report = stepper.step(VectorXd::Zero(world.nv()), state);
        ASSERT_TRUE(report.accepted) << links << " " << run << " " << k << " " << to_string(report.refused);
        halved += report.halved ? 1 : 0;
        update(world, state.q, state.v, data);
        most = std::max(most, kinetic_energy(world, data, state.v) / start);
      }
    }
  }
  fmt::print("[ limits   ] {}: {:.3f} of the energy at most, {} of 2700 steps halved\n", to_string(GetParam()), most, halved);
  EXPECT_LT(most, 1.06);
}

/// Links of 0.1 kg and 0.1 m on ball joints, in flight; nothing acts on them. In a row, or in a ring whose last joint closes it.
World ten_links(bool closed) {
  constexpr int kLinks = 10;
  const double bend = closed ? 2.0 * std::numbers::pi / kLinks : 0.0;
  std::string text = "<mujoco><compiler angle='radian'/><worldbody>";
  for (int i = 0; i < kLinks; ++i) {
    text += fmt::format("<body name='link{}' pos='{} 0 0' euler='0 0 {}'>{}", i, i == 0 ? 0.0 : 0.1, i == 0 ? 0.0 : bend,
                        i == 0 ? "<freejoint/>" : "<joint type='ball'/>") +
            "<geom type='capsule' fromto='0.02 0 0 0.08 0 0' size='0.012' mass='0.1' contype='0' conaffinity='0'/>";
  }
  for (int i = 0; i < kLinks; ++i) text += "</body>";
  text += "</worldbody>";
  if (closed) text += fmt::format("<equality><connect body1='link{}' body2='link0' anchor='0.1 0 0'/></equality>", kLinks - 1);
  WorldBuilder builder;
  builder.set_gravity(Eigen::Vector3d::Zero());
  builder.add_robot_text(text + "</mujoco>");
  return builder.build();
}

struct Flights {
  int ended = 0;
  double most = 0.0;  ///< of the energy after the first step, which closes the loop's velocities
};

/// From random velocities of so many joules, 0.2 s at 10 ms each.
Flights fly(const World& world, Scheme scheme, double joules, int runs) {
  StepOptions options;
  options.scheme = scheme;
  options.assemble.dt = 1e-2;
  Stepper stepper(world, make_scene(world, 0.5), options);
  WorldData data(world);
  std::mt19937 rng(7);
  std::normal_distribution<double> normal;
  Flights flights;
  for (int run = 0; run < runs; ++run) {
    stepper.reset();
    State state = initial_state(world);
    for (int j = 0; j < world.nv(); ++j) state.v[j] = normal(rng);
    const auto energy = [&] {
      update(world, state.q, state.v, data);
      return kinetic_energy(world, data, state.v);
    };
    state.v *= std::sqrt(joules / energy());
    double first = 0.0;
    for (int k = 0; k < 20; ++k) {
      if (!stepper.step(VectorXd::Zero(world.nv()), state).accepted) {
        ++flights.ended;
        break;
      }
      if (k == 0) first = energy();
      flights.most = std::max(flights.most, energy() / first);
    }
  }
  return flights;
}

// What closes a loop moves its links on in positions alone, to where the same velocities have more energy: 1e12 times as much in one step.
TEST_P(JointEnergyOf, AFlyingRingIsBounded) {
  const Flights flights = fly(ten_links(true), GetParam(), 4.0, 40);
  EXPECT_EQ(flights.ended, 0);
  EXPECT_LT(flights.most, 1.15);  // a twentieth, and one that the first step lost
}

// A whip's last link turns by a radian within a hundredth of a step.
TEST_P(JointEnergyOf, AFlyingWhipIsTakenInParts) {
  const Flights flights = fly(ten_links(false), GetParam(), 20.0, 8);
  EXPECT_EQ(flights.ended, 0);
  EXPECT_LT(flights.most, 1.1);
}

/// Two rods on a hinge across them, above the ground.
World log_of_two() {
  const std::string rod = "<geom type='capsule' fromto='0.03 0 0 0.17 0 0' size='0.03' density='1000'/>";
  WorldBuilder builder;
  builder.add_robot_text(
      "<mujoco><worldbody><geom type='plane' size='5 5 0.1'/>"
      "<body pos='0 0 1'><freejoint/>" +
      rod + "<body pos='0.2 0 0'><joint type='hinge' axis='0.51 -0.3 -0.53'/>" + rod + "</body></body></worldbody></mujoco>");
  return builder.build();
}

// Falls, hits the ground and comes to rest: forces and contacts do the work that they do, and no more energy is there at any time.
TEST_P(JointEnergyOf, AThrownLogGainsNothing) {
  const World world = log_of_two();
  StepOptions options;
  options.scheme = GetParam();
  options.assemble.dt = 2e-3;
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  state.v << -0.7, 5.4, -0.1, 0.3, -4.5, 4.9, 2.8;
  WorldData data(world);
  const auto energy = [&] {
    update(world, state.q, state.v, data);
    return kinetic_energy(world, data, state.v) + potential_energy(world, data);
  };
  const double start = energy();
  for (int k = 0; k < 750; ++k) {
    ASSERT_TRUE(stepper.step(VectorXd::Zero(world.nv()), state).accepted) << k;  // as it rolls, one in 1000 meets only `acceptable`
    ASSERT_LT(energy(), 1.02 * start) << k;
  }
}

// A step gains next to nothing, a minute of them doubled or quadrupled the energy.
TEST_P(JointEnergyOf, GainsThatAreSmallAddUpToNoMoreThanATwentieth) {
  const World world = flying_chain();
  std::mt19937 rng(5);
  std::uniform_real_distribution<double> uniform(-4.0, 4.0);
  WorldData data(world);
  for (const double h : {2e-3, 5e-3}) {
    StepOptions options;
    options.scheme = GetParam();
    options.assemble.dt = h;
    Stepper stepper(world, make_scene(world, 0.5), options);
    State state = initial_state(world);
    for (int j = 3; j < world.nv(); ++j) state.v[j] = uniform(rng);
    const auto energy = [&] {
      update(world, state.q, state.v, data);
      return kinetic_energy(world, data, state.v);
    };
    const double start = energy();
    double most = start;
    for (int k = 0; k * h < 60.0; ++k) {
      ASSERT_EQ(stepper.step(VectorXd::Zero(world.nv()), state).status, Status::solved) << k;
      most = std::max(most, energy());
    }
    EXPECT_LT(most, 1.065 * start) << h;
  }
}

// Nothing but the scheme changes the energy of what flies: a step that is braked ends with about what it had, one that is not with what
// the scheme makes of it, 4 φ² at most.
TEST_P(JointEnergyOf, AStepInFlightIsBrakedByWhatItGains) {
  const World world = flying_chain();
  std::mt19937 rng(3);
  std::normal_distribution<double> normal;
  WorldData data(world);
  int braked = 0, halved = 0;
  for (int k = 0; k < 1000; ++k) {
    StepOptions options;
    options.scheme = GetParam();
    options.assemble.dt = k % 2 == 0 ? 2e-3 : 8e-3;
    Stepper stepper(world, make_scene(world, 0.5), options);
    State state = initial_state(world);
    for (int j = 3; j < world.nv(); ++j) state.v[j] = (j < 6 ? 1.0 : 40.0) * normal(rng);
    for (int j = 7; j < world.nq(); ++j) state.q[j] = normal(rng);
    const double turn = options.assemble.dt * state.v.tail(3).lpNorm<1>();
    update(world, state.q, state.v, data);
    const double before = kinetic_energy(world, data, state.v);
    const StepReport report = stepper.step(VectorXd::Zero(world.nv()), state);
    ASSERT_EQ(report.status, Status::solved) << k;
    halved += report.halved ? 1 : 0;
    if (report.halved) continue;
    braked += report.attempts > 1 ? 1 : 0;
    update(world, state.q, state.v, data);
    const double gain = kinetic_energy(world, data, state.v) / before - 1.0;
    EXPECT_LT(gain, 0.053) << k << " " << turn;
    EXPECT_GT(gain, -0.05 - 4.0 * turn * turn) << k << " " << turn;
  }
  fmt::print("[ braked   ] {} of 1000, {} halved\n", braked, halved);
  EXPECT_GT(braked, 5);
}

World without_weight(const std::string& bodies) {
  WorldBuilder builder;
  builder.set_gravity(Eigen::Vector3d::Zero());
  builder.add_robot_text("<mujoco><worldbody>" + bodies + "</worldbody></mujoco>");
  return builder.build();
}

/// Of a thousand steps of h without a halving, energy at the end over that at the start, where the base turns by `spin`.
double energy_left(const World& world, Scheme scheme, double h, const Eigen::Vector3d& spin) {
  StepOptions options;
  options.scheme = scheme;
  options.assemble.dt = h;
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  state.v.segment<3>(3) = spin;
  WorldData data(world);
  const auto energy = [&] {
    update(world, state.q, state.v, data);
    return kinetic_energy(world, data, state.v);
  };
  const double start = energy();
  for (int k = 0; k < 1000; ++k) {
    const StepReport report = stepper.step(VectorXd::Zero(world.nv()), state);
    EXPECT_TRUE(report.accepted && !report.halved) << k;
  }
  return energy() / start;
}

/// Nothing turns the hinge, whose axis lies along the arm; the base is far from the centre of mass.
TEST_P(JointEnergyOf, ARobotThatSpinsAboutAPointFarFromItsBaseKeepsItsEnergy) {
  const World world = without_weight(
      "<body><freejoint/><geom type='sphere' size='0.05' mass='1'/><body pos='0.5 0 0'><joint type='hinge' axis='1 0 0'/>"
      "<geom type='box' size='0.05 0.1 0.2' mass='3' contype='0' conaffinity='0'/></body></body>");
  EXPECT_NEAR(energy_left(world, GetParam(), 5e-3, {0.0, 0.0, 20.0}), 1.0, 1e-9);
}

/// About the middle axis: it tumbles. The spring holds a shape of next to no mass.
TEST_P(JointEnergyOf, ARobotThatSpinsAsOneBodyKeepsItsEnergy) {
  const World world = without_weight(
      "<body><freejoint/><geom type='box' size='0.05 0.1 0.2' mass='1'/><body><joint type='hinge' axis='1 0 0' stiffness='1e3'/>"
      "<geom type='box' size='0.05 0.1 0.2' mass='1e-9' contype='0' conaffinity='0'/></body></body>");
  EXPECT_NEAR(energy_left(world, GetParam(), 2e-3, {1.0, 20.0, 1.0}), 1.0, 1e-6);
}

/// Momentum and, about the centre of mass, angular momentum of a world of one floating robot, world axes.
Vector6d momenta(const World& world, const State& state) {
  WorldData data(world);
  update(world, state.q, state.v, data);
  const Eigen::MatrixXd M = data.M.block(0);
  const VectorXd p = M * state.v;
  const Eigen::Quaterniond R(Eigen::Vector4d(state.q.segment<4>(3)));
  const Eigen::Vector3d com = Eigen::Vector3d(M(5, 1), M(3, 2), M(4, 0)) / M(0, 0);
  Vector6d out;
  out << R * p.head<3>(), R * Eigen::Vector3d(p.segment<3>(3) - com.cross(p.head<3>()));
  return out;
}

/// The base weighs a thirtieth of what it carries.
World light_base(const std::string& more = "", const Eigen::Vector3d& gravity = Eigen::Vector3d::Zero()) {
  const auto box = [](double mass) {
    return fmt::format("<geom type='box' size='0.1 0.03 0.03' mass='{}' contype='0' conaffinity='0'/>", mass);
  };
  WorldBuilder builder;
  builder.set_gravity(gravity);
  builder.add_robot_text("<mujoco><worldbody><body><freejoint/>" + box(0.15) + "<body pos='0.25 0 0'><joint axis='0 1 0'/>" + box(0.3) +
                         "<body pos='0.25 0 0' " + more + "><joint axis='0 0 1'/>" + box(4.0) +
                         "</body></body></body></worldbody></mujoco>");
  return builder.build();
}

// 0.1 m/s and more in one step, the bias being that of v, if the root did not take it up.
TEST_P(JointEnergyOf, ARobotInFlightKeepsItsMomentaHoweverFastItsJointsTurn) {
  const World world = light_base();
  std::mt19937 rng(8);
  std::normal_distribution<double> normal;
  for (const double h : {1e-3, 2e-3, 4e-3}) {
    for (int run = 0; run < 5; ++run) {
      StepOptions options;
      options.scheme = GetParam();
      options.assemble.dt = h;
      Stepper stepper(world, make_scene(world, 0.5), options);
      State state = initial_state(world);
      for (int j = 0; j < world.nv(); ++j) state.v[j] = (j < 3 ? 1.0 : j < 6 ? 3.0 : 15.0) * normal(rng);
      const Vector6d start = momenta(world, state);
      for (int k = 0; k < 500; ++k) {
        ASSERT_EQ(stepper.step(VectorXd::Zero(world.nv()), state).status, Status::solved) << k;
        const Vector6d off = momenta(world, state) - start;
        ASSERT_LT(off.head<3>().norm(), 1e-11 * start.head<3>().norm()) << h << " " << k;
        const double spin = momenta(world, state).tail<3>().norm();
        ASSERT_NEAR(spin, start.tail<3>().norm(), 1e-11 * spin) << h << " " << k;
      }
    }
  }
}

/// Centre of mass, momentum and angular momentum about it, of all bodies of a world, axes of the world.
struct Flight {
  double mass = 0.0;
  Eigen::Vector3d com = Eigen::Vector3d::Zero(), linear = com, spin = com;
};

Flight flight_of(const World& world, const State& state) {
  WorldData data(world);
  update(world, state.q, state.v, data);
  Flight out;
  for (std::size_t b = 0; b < world.bodies().size(); ++b) {
    const Body& body = world.bodies()[b];
    out.mass += body.mass;
    out.com += body.mass * (data.X_WB[b] * body.com);
    out.linear += body.mass * center_velocity(body, data.X_WB[b], data.V_WB[b]);
  }
  out.com /= out.mass;
  for (std::size_t b = 0; b < world.bodies().size(); ++b) {
    const Body& body = world.bodies()[b];
    const Eigen::Matrix3d R = data.X_WB[b].linear();
    const Eigen::Vector3d arm = data.X_WB[b] * body.com - out.com;
    out.spin += R * (body.inertia * (R.transpose() * data.V_WB[b].tail<3>())) +
                body.mass * arm.cross(center_velocity(body, data.X_WB[b], data.V_WB[b]));
  }
  return out;
}

/// Six rods of 0.5 kg and 0.2 m, in a plane that is none of the world's, on two slides, askew to each other, and a hinge.
World planar_chain() {
  std::string text = "<mujoco><worldbody>", end;
  for (int i = 0; i < 6; ++i, end += "</body>") {
    text += fmt::format("<body {}>", i == 0 ? "euler='20 30 10'" : "pos='0.2 0 0'") +
            (i == 0 ? "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0.6 0 0.8'/>" : "") +
            "<joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0.2 0 0' size='0.02' mass='0.5' contype='0' conaffinity='0'/>";
  }
  WorldBuilder builder;
  builder.set_gravity(Eigen::Vector3d(0.0, 0.0, -10.0));
  builder.add_robot_text(text + end + "</worldbody></mujoco>");
  return builder.build();
}

// What folds fast within the step drifts by millimetres a step where its root goes its own way, and weight does work along that. In a plane
// what acts is weight and what the motors of the root push with, as far as it is in the plane.
TEST_P(JointEnergyOf, TheCentreOfMassOfARobotInFlightStaysOnItsPath) {
  constexpr double h = 4e-3;
  for (const World& world : {light_base("", {0.0, 0.0, -10.0}), planar_chain()}) {
    StepOptions options;
    options.scheme = GetParam();
    options.assemble.dt = h;
    Stepper stepper(world, make_scene(world, 0.5), options);
    State state = initial_state(world);
    const bool planar = world.joints()[0].kind == JointKind::prismatic;
    for (int j = 0; j < world.nv(); ++j) state.v[j] = j % 2 == 0 ? 12.0 : -9.0;
    WorldData data(world);
    update(world, state.q, state.v, data);
    Eigen::Matrix3d in_plane = Eigen::Matrix3d::Identity();
    Eigen::Vector3d force = Eigen::Vector3d::Zero(), axis = force;
    VectorXd tau = VectorXd::Zero(world.nv());
    if (planar) {
      axis = data.X_WB[world.joints()[2].body].linear().col(1);
      in_plane -= axis * axis.transpose();
      const Eigen::Matrix3d R = data.X_WB[world.joints()[0].body].linear();
      force = R * Eigen::Vector3d(2.0, 0.0, 0.5);
      tau.head<2>() << 2.0, 0.6 * 2.0 + 0.8 * 0.5;
    }
    double aside = 0.0;
    for (int k = 0; k < 200; ++k) {
      const Flight before = flight_of(world, state);
      update_kinematics(world, state.q, data);
      const Eigen::Vector3d root = data.X_WB[world.joints()[2].body].translation();
      ASSERT_EQ(stepper.step(tau, state).status, Status::solved) << k;
      const Flight after = flight_of(world, state);
      const Eigen::Vector3d acts = in_plane * (before.mass * world.gravity() + force);
      const double size = before.linear.norm() + before.spin.norm();
      ASSERT_LT((after.linear - before.linear - h * acts).norm(), 1e-11 * size) << planar << " " << k;
      const bool euler = GetParam() == Scheme::semi_implicit_euler;
      const Eigen::Vector3d way = h / before.mass * (euler ? after.linear : Eigen::Vector3d(0.5 * (before.linear + after.linear)));
      ASSERT_LT((after.com - before.com - way).norm(), 1e-12) << planar << " " << k;
      if (planar && euler) {
        const double moment = axis.dot((root - before.com).cross(force));
        ASSERT_NEAR(axis.dot(after.spin - before.spin), h * moment, 1e-11 * size) << k;
      }
      aside = std::max(aside, h * state.v.tail(world.nv() - 6).lpNorm<Eigen::Infinity>());
    }
    EXPECT_GT(aside, 0.02);  // rad a step
  }
}

// As a URDF has it: slides of links without inertia, within limits that a prismatic joint there must have.
TEST_P(JointEnergyOf, APlanarRootOfAUrdfFliesUntilItsLimitsStopIt) {
  const auto link = [](const std::string& name) {
    return "<link name='" + name +
           "'><inertial><origin xyz='0 0 -0.1'/><mass value='1'/><inertia ixx='.01' iyy='.01' izz='.01' ixy='0' ixz='0' "
           "iyz='0'/></inertial></link>";
  };
  const auto slide = [](const std::string& name, const std::string& parent, const std::string& child, const std::string& axis) {
    return "<joint name='" + name + "' type='prismatic'><parent link='" + parent + "'/><child link='" + child + "'/><axis xyz='" + axis +
           "'/><limit lower='-1' upper='1' effort='0' velocity='100'/></joint>";
  };
  const auto hinge = [](const std::string& name, const std::string& parent, const std::string& child, const std::string& origin) {
    return "<joint name='" + name + "' type='continuous'><parent link='" + parent + "'/><child link='" + child +
           "'/><axis xyz='0 1 0'/><origin xyz='" + origin + "'/></joint>";
  };
  WorldBuilder builder;
  builder.set_gravity(Eigen::Vector3d::Zero());
  builder.add_robot_text("<robot name='r'><link name='ground'/><link name='x'/><link name='z'/>" + link("trunk") + link("leg") +
                         slide("sx", "ground", "x", "1 0 0") + slide("sz", "x", "z", "0 0 1") + hinge("turn", "z", "trunk", "0 0 0") +
                         hinge("knee", "trunk", "leg", "0 0 -0.2") + "</robot>");
  const World world = builder.build();
  StepOptions options;
  options.scheme = GetParam();
  options.assemble.dt = 5e-3;
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  state.v << 1.0, 0.5, 5.0, -15.0;
  const Eigen::Vector3d start = flight_of(world, state).linear;
  bool stopped = false;
  double most = 0.0;
  for (int k = 0; k < 400; ++k) {
    ASSERT_TRUE(stepper.step(VectorXd::Zero(world.nv()), state).accepted) << k;
    stopped = stopped || std::max(std::abs(state.q[0]), std::abs(state.q[1])) > 0.9;
    if (!stopped) most = std::max(most, (flight_of(world, state).linear - start).norm());
    EXPECT_LT(std::max(std::abs(state.q[0]), std::abs(state.q[1])), 1.0 + 1e-3) << k;
  }
  EXPECT_TRUE(stopped);
  EXPECT_LT(most, 1e-9);  // 0.1 kg m/s without
}

// A servo of a planar root holds it: what it tells is the momentum that it gives.
TEST_P(JointEnergyOf, AServoOnAPlanarRootGivesWhatItTells) {
  WorldBuilder builder;
  builder.set_gravity(Eigen::Vector3d::Zero());
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>
    <joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.02' mass='1'/>
    <body pos='0.3 0 0'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.02' mass='1' contype='0'
    conaffinity='0'/></body></body></worldbody></mujoco>)");
  const World world = builder.build();
  StepOptions options;
  options.scheme = GetParam();
  options.assemble.dt = 4e-3;
  Stepper stepper(world, make_scene(world, 0.5), options);
  Drives drives;
  drives.servos = {{.v = 0, .kp = 400.0, .kd = 40.0}};
  stepper.set_drives(drives);
  State state = initial_state(world);
  state.v[3] = 40.0;
  const double start = flight_of(world, state).linear.x();
  double told = 0.0, most = 0.0;
  VectorXd torques = VectorXd::Zero(world.nv());
  for (int k = 0; k < 100; ++k) {
    ASSERT_TRUE(stepper.step(VectorXd::Zero(world.nv()), state).accepted) << k;
    stepper.drive_torques(drives, torques);
    told += 4e-3 * torques[0];
    most = std::max(most, std::abs(told));
  }
  const double given = flight_of(world, state).linear.x() - start;
  EXPECT_GT(most, 1.0);
  EXPECT_NEAR(given, told, 0.1 * most);  // first order: the joint turns by 0.16 rad a step
}

// What acts is what changes them: weight, of which half of the heaviest link's is compensated, torques at joints not, a wrench on the base.
TEST_P(JointEnergyOf, TheMomentaOfARobotInFlightChangeByWhatActsOnIt) {
  const Eigen::Vector3d gravity(0.0, 0.0, -10.0);
  const World world = light_base("gravcomp='0.5'", gravity);
  StepOptions options;
  options.scheme = GetParam();
  options.assemble.dt = 2e-3;
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  state.v << 1.0, 0.5, -1.0, 5.0, -8.0, 10.0, 20.0, -25.0;
  VectorXd tau = VectorXd::Zero(world.nv());
  WorldData data(world);
  for (int k = 0; k < 200; ++k) {
    tau << 3.0, -2.0, 5.0, 0.1, -0.2, 0.3, 0.5 * (k % 3), -0.4;
    if (k % 2 == 1) tau.setZero();
    const Vector6d before = momenta(world, state);
    stepper.prepare(state, tau);
    update(world, stepper.springs_from(), state.v, data);  // where the scheme evaluates
    const Eigen::Isometry3d base = data.X_WB[world.joints()[0].body], heavy = data.X_WB[world.joints()[2].body];
    const Eigen::Matrix3d R = base.linear();
    const Eigen::MatrixXd M = data.M.block(0);
    const Eigen::Vector3d com = base * (Eigen::Vector3d(M(5, 1), M(3, 2), M(4, 0)) / M(0, 0));
    const Eigen::Vector3d force = R * tau.head<3>(), lift = -2.0 * gravity;
    Vector6d acts;
    acts.head<3>() = 4.45 * gravity + lift + force;
    acts.tail<3>() = R * tau.segment<3>(3) + (base.translation() - com).cross(force) + (heavy.translation() - com).cross(lift);
    ASSERT_TRUE(stepper.step(tau, state, true).accepted) << k;
    const Vector6d off = momenta(world, state) - before - 2e-3 * acts;
    ASSERT_LT(off.head<3>().norm(), 1e-11 * before.head<3>().norm()) << k;
    ASSERT_LT(off.tail<3>().norm(), 2e-3 * before.tail<3>().norm()) << k;  // it turns with an error of h² |ω|²
  }
}

// What the report says of the brake is what it takes, at mean velocities: hinges on the world, which no motion of a root relieves.
TEST_P(JointEnergyOf, TheReportSaysWhatTheBrakeTook) {
  std::string text, end;
  for (int i = 0; i < 4; ++i, end += "</body>") {
    text += fmt::format("<body pos='{} 0 0'><joint axis='0 {} {}'/>", i == 0 ? 0.0 : 0.3, i % 2, 1 - i % 2) +
            "<geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.02' mass='0.5' contype='0' conaffinity='0'/>";
  }
  const World world = without_weight(text + end);
  StepOptions options;
  options.scheme = GetParam();
  options.assemble.dt = 5e-3;
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  state.v << 10.0, -6.0, 10.0, -6.0;
  const VectorXd tau = VectorXd::Zero(world.nv());
  int braked = 0;
  for (int k = 0; k < 1000; ++k) {
    stepper.prepare(state, tau);
    const VectorXd known = stepper.problem().impulse, v = stepper.problem().v;
    const StepReport report = stepper.step(tau, state, true);
    ASSERT_TRUE(report.accepted) << k;
    if (report.halved) continue;
    const VectorXd v_plus = stepper.solution().v;
    const VectorXd impulse = stepper.data().M.block(0) * (v_plus - v) - known;
    EXPECT_NEAR(report.braked, -0.5 * (v + v_plus).dot(impulse), 1e-9) << k;
    EXPECT_EQ(report.braked != 0.0, report.attempts > 1) << k;
    braked += report.braked != 0.0 ? 1 : 0;
  }
  fmt::print("[ braked   ] {} of 1000\n", braked);
  EXPECT_GT(braked, 20);
}

// Dry friction beyond what the weight can do, by itself, or against it with a spring or with gravity compensation: nothing moves, and what
// the scheme seems to give is rounding.
TEST_P(JointEnergyOf, AnArmThatDryFrictionHoldsRests) {
  std::mt19937 rng(7);
  std::normal_distribution<double> normal;
  for (const std::string held : {"", "stiffness='40' springref='90'", "gravcomp"}) {
    const bool lifted = held == "gravcomp";
    for (int arm = 0; arm < 8; ++arm) {
      std::string text = "<mujoco><worldbody>";
      for (int i = 0; i < 4; ++i) {
        text += fmt::format("<body pos='{} 0 0' {}><joint axis='{} {} {}' frictionloss='{}' {}/>", i == 0 ? 0.0 : 0.05,
                            lifted ? "gravcomp='1'" : "", normal(rng), normal(rng), normal(rng), lifted ? 0.1 : 200.0, lifted ? "" : held) +
                "<inertial pos='0.025 0 0' mass='0.1' diaginertia='1e-4 1e-4 1e-4'/>";
      }
      WorldBuilder builder;
      builder.add_robot_text(text + "</body></body></body></body></worldbody></mujoco>");
      const World world = builder.build();
      for (const double h : {1e-3, 2e-3, 1e-2}) {
        StepOptions options;
        options.scheme = GetParam();
        options.assemble.dt = h;
        Stepper stepper(world, make_scene(world, 0.5), options);
        State state = initial_state(world);
        for (int k = 0; k < 300; ++k) {
          const StepReport report = stepper.step(VectorXd::Zero(world.nv()), state);
          ASSERT_EQ(report.status, Status::solved) << held << " arm " << arm << " h " << h << " step " << k;
          ASSERT_EQ(report.attempts, 1) << held << " arm " << arm << " h " << h << " step " << k;
        }
        EXPECT_LT(state.v.lpNorm<Eigen::Infinity>(), 1e-12) << held;  // the springs alone: 1e4 rad/s
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, JointEnergyOf, testing::Values(Scheme::semi_implicit_euler, Scheme::moreau_midpoint),
                         [](const auto& scheme) { return std::string(to_string(scheme.param)); });

}  // namespace
}  // namespace stiction::joint_energy_test
