// Velocities over a shift of positions: those of bodies stay, no energy is made.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/forward/free_motion.hpp"
#include "stiction/forward/position_shift.hpp"
#include "stiction/forward/step.hpp"

namespace stiction::position_shift_test {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kGamma = 0.2;

void add_ball(WorldBuilder& builder, double radius, const Vector3d& place) {
  FreeBody body;
  body.name = "ball";
  body.mass = 1.0;
  body.shapes.push_back({Sphere{radius}, Eigen::Isometry3d::Identity(), 0.5});
  body.inertia = solid_inertia(Sphere{radius}, body.mass);
  body.pose.translation() = place;
  builder.add_free_body(body);
}

// A pendulum of mass m whose centre is l from its hinge, turned by θ: of l ω it keeps what is along the new tangent, l ω cos θ, and of the
// spins of body and rotor all.
TEST(PositionShift, APendulumKeepsWhatIsAlongItsNewTangent) {
  constexpr double m = 2.0, l = 0.5, I = 0.03, a = 0.1, omega = 3.0, theta = 0.4;
  WorldBuilder builder;
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint axis="0 1 0" armature="0.1"/>
    <inertial pos="0.5 0 0" mass="2" diaginertia="0.03 0.03 0.03"/></body></worldbody></mujoco>)");
  const World world = builder.build();
  WorldData data(world);
  PhasePoint x{VectorXd::Constant(1, 0.7), VectorXd::Constant(1, omega)};
  update(world, x.q, x.v, data);
  GrowVector delta;
  delta = VectorXd::Constant(1, theta / 1e-3);
  PositionShift(world).apply(world, 1e-3, data, x.q, delta, x);
  EXPECT_NEAR(x.q[0], 0.7 + theta, 1e-15);
  EXPECT_NEAR(x.v[0], omega * (m * l * l * std::cos(theta) + I + a) / (m * l * l + I + a), 1e-14);
}

/// A base of 20 g that carries 6 kg of links, in flight.
const char* const kLightBase = R"(<mujoco><worldbody><body><freejoint/><geom type="sphere" size="0.05" mass="0.02"/>
  <body pos="0.1 0.1 0"><joint type="ball"/>
    <geom type="capsule" fromto="0 0 0 0.2 0 0.1" size="0.02" mass="3" contype="0" conaffinity="0"/>
    <body pos="0.2 0 0.1"><joint axis="0 1 0" armature="0.01"/>
      <geom type="capsule" fromto="0 0 0 0 0.3 0" size="0.02" mass="1" contype="0" conaffinity="0"/></body></body>
  <body pos="-0.1 0 0.1"><joint axis="1 1 0"/>
    <geom type="capsule" fromto="0 0 0 -0.2 0 0" size="0.02" mass="2" contype="0" conaffinity="0"/></body></body></worldbody></mujoco>)";

Vector3d linear_momentum(const World& world, const WorldData& data) {
  Vector3d sum = Vector3d::Zero();
  for (std::size_t b = 0; b < world.bodies().size(); ++b) {
    const Vector3d arm = data.X_WB[b].linear() * world.bodies()[b].com;
    sum += world.bodies()[b].mass * (data.V_WB[b].head<3>() + data.V_WB[b].tail<3>().cross(arm));
  }
  return sum;
}

// Any shift at any velocity; half of a shift loses a quarter. Positions, and what is free without joints, go as `move` has them.
TEST(PositionShift, ARobotInFlightKeepsItsMomentumAndGainsNoEnergy) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  builder.add_robot_text(kLightBase);
  add_ball(builder, 0.1, {1, 0, 0});
  const World world = builder.build();
  PositionShift shift(world);
  WorldData data(world);
  const auto ball = static_cast<Eigen::Index>(world.nv()) - 6;
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 50; ++trial) {
    VectorXd v(world.nv()), delta(world.nv());
    for (int j = 0; j < world.nv(); ++j) v[j] = 5.0 * normal(random), delta[j] = normal(random);
    const VectorXd q = random_configuration(world, static_cast<std::uint64_t>(trial));
    update(world, q, v, data);
    const double before = kinetic_energy(world, data, v);
    const Vector3d momentum = linear_momentum(world, data);
    const auto lost_by = [&](double way) {
      PhasePoint x{q, v}, moved = x;
      update(world, x.q, x.v, data);
      VectorXd path = delta;
      move(world, &data.M, way, path, moved.q, moved.v);
      GrowVector part;
      part = delta;
      shift.apply(world, way, data, x.q, part, x);
      EXPECT_LT((x.q - moved.q).norm(), 1e-14 * moved.q.norm());
      EXPECT_LT((x.v - moved.v).segment<6>(ball).norm(), 1e-14 * moved.v.norm());
      update(world, x.q, x.v, data);
      EXPECT_LT((linear_momentum(world, data) - momentum).norm(), 1e-12 * (1.0 + momentum.norm()));
      return (before - kinetic_energy(world, data, x.v)) / before;
    };
    EXPECT_GE(lost_by(0.3), 0.0);
    EXPECT_LT(std::abs(lost_by(0.0)), 1e-13);
    EXPECT_NEAR(lost_by(1e-3) / lost_by(5e-4), 4.0, 0.1) << trial;
    EXPECT_LT(lost_by(1e-3), 1e-4) << trial;
  }
}

// A shift that moves the robot as one: its joints keep their velocities, the whole its energy and the velocity of its centre of mass.
TEST(PositionShift, WhatMovesAsOneKeepsTheVelocitiesOfItsJoints) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  builder.add_robot_text(kLightBase);
  const World world = builder.build();
  PositionShift shift(world);
  WorldData data(world);
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 20; ++trial) {
    PhasePoint x{random_configuration(world, static_cast<std::uint64_t>(trial)), VectorXd(world.nv())};
    for (int j = 0; j < world.nv(); ++j) x.v[j] = 5.0 * normal(random);
    GrowVector delta;
    delta.setZero(world.nv());
    for (int j = 0; j < 6; ++j) delta[j] = normal(random);
    update(world, x.q, x.v, data);
    const VectorXd joints = x.v.tail(world.nv() - 6);
    const double energy = kinetic_energy(world, data, x.v);
    const Vector3d momentum = linear_momentum(world, data);
    shift.apply(world, 0.3, data, x.q, delta, x);
    EXPECT_LT((x.v.tail(world.nv() - 6) - joints).norm(), 1e-11 * joints.norm()) << trial;
    update(world, x.q, x.v, data);
    EXPECT_NEAR(kinetic_energy(world, data, x.v) / energy, 1.0, 1e-12) << trial;
    EXPECT_LT((linear_momentum(world, data) - momentum).norm(), 1e-12 * momentum.norm()) << trial;
  }
}

// A drive keeps its joint's velocity over any shift, and gives no more for it than it can: a weak one lets the joint go, and the power of
// its limit is the most that it adds.
TEST(PositionShift, DrivesHoldAsFarAsTheyCan) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  builder.add_robot_text(kLightBase);
  const World world = builder.build();
  const int hinge = world.nv() - 2;
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (const double limit : {kInfinity, 1e6, 0.1}) {
    double farthest = 0.0;
    for (int trial = 0; trial < 20; ++trial) {
      StepOptions options;
      options.assemble.dt = 1e-2;
      Stepper stepper(world, make_scene(world, 0.0), options);
      State state = initial_state(world);
      state.q = random_configuration(world, static_cast<std::uint64_t>(trial));
      for (int j = 0; j < world.nv(); ++j) state.v[j] = normal(random);
      stepper.set_drives({{{hinge, 2.0, -limit, limit}}, {}});
      ASSERT_TRUE(stepper.step(VectorXd::Zero(world.nv()), state).accepted);
      const bool holds = std::abs(state.v[hinge] - 2.0) < 1e-9;
      WorldData data(world);
      PhasePoint x{state.q, state.v};
      update(world, x.q, x.v, data);
      const double energy = kinetic_energy(world, data, x.v), before = x.v[hinge];
      GrowVector delta;
      delta.resize(world.nv());
      for (int j = 0; j < world.nv(); ++j) delta[j] = normal(random);
      const SolvedStep step{&stepper.problem(), &stepper.solution()};
      PositionShift(world).apply(world, 0.1, data, x.q, delta, x, step);
      if (limit > 1.0) {
        EXPECT_TRUE(holds);
        EXPECT_NEAR(x.v[hinge], 2.0, 1e-9) << limit << " " << trial;
      } else {
        farthest = std::max(farthest, std::abs(x.v[hinge] - before));
        update(world, x.q, x.v, data);
        const double most = 2.0 * limit * options.assemble.dt * std::max(std::abs(before), std::abs(x.v[hinge]));
        EXPECT_LE(kinetic_energy(world, data, x.v), energy + most) << trial;
      }
    }
    EXPECT_TRUE(limit > 1.0 || farthest > 1e-3);
  }
}

// A ball that starts 3 cm deep in the light base and strikes it: undoing the overlap leaves the energy that the same blow leaves without.
TEST(PositionShift, EnergyMomentumMakesNoEnergyOfOverlap) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  builder.add_robot_text(kLightBase);
  add_ball(builder, 0.05, {0.042, 0.0448, 0.0336});
  const World world = builder.build();
  const auto end_of = [&](double recovery, double& most, double& depth) {
    StepOptions options;
    options.scheme = Scheme::energy_momentum;
    options.contact.law = Law::coulomb_cone;
    options.recovery = recovery;
    Stepper stepper(world, make_scene(world, 0.0), options);
    State state = initial_state(world);
    state.v.segment<3>(world.nv() - 6) << -1.2, -1.5, -1.0;
    WorldData data(world);
    const auto energy = [&] {
      update(world, state.q, state.v, data);
      return kinetic_energy(world, data, state.v);
    };
    double last = energy();
    most = 0.0;
    for (int k = 0; k < 25; ++k) {
      const StepReport report = stepper.step(VectorXd::Zero(world.nv()), state);
      EXPECT_EQ(report.status, Status::solved);
      EXPECT_EQ(report.sub_steps, 1);
      const double now = energy();
      most = std::max(most, now / last - 1.0);
      last = now;
      depth = report.deepest_penetration;
    }
    return last;
  };
  double most = 0.0, most_without = 0.0, depth = 0.0, depth_without = 0.0;
  const double with = end_of(kGamma, most, depth), without = end_of(0.0, most_without, depth_without);
  EXPECT_LT(most_without, 1e-4);  // a bearing contact that turns: of first order in h
  EXPECT_LT(most, 1e-4);
  EXPECT_NEAR(with / without, 1.0, 0.01);
  EXPECT_LT(depth, 5e-4);
  EXPECT_GT(depth_without, 2e-2);
}

// A ring of four bodies that a ball overlaps, closed at its start: a shift leaves it open by its square, but not opening.
TEST(PositionShift, LoopsStayClosedInVelocities) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  builder.add_robot_text(R"(<mujoco><worldbody><body name="base"><freejoint/><geom type="sphere" size="0.05" mass="0.1"/>
    <body pos="0.2 -0.1 0"><joint type="ball"/><geom type="sphere" size="0.05" mass="2" contype="0" conaffinity="0"/>
    <body pos="0.2 0.1 0"><joint type="ball"/><geom type="sphere" size="0.05" mass="1" contype="0" conaffinity="0"/>
    <body name="last" pos="0.2 -0.1 0"><joint type="ball"/><geom type="sphere" size="0.05" mass="3" contype="0" conaffinity="0"/>
    </body></body></body></body></worldbody>
    <equality><connect body1="last" body2="base" anchor="-0.3 0.05 0.1"/></equality></mujoco>)");
  add_ball(builder, 0.05, {0.042, 0.0448, 0.0336});
  const World world = builder.build();
  StepOptions options;
  options.scheme = Scheme::energy_momentum;
  options.recovery = kGamma;
  Stepper stepper(world, make_scene(world, 0.0), options);
  State state = initial_state(world);
  state.v.segment<3>(world.nv() - 6) << -1.2, -1.5, -1.0;
  WorldData data(world);
  const StepReport report = stepper.step(VectorXd::Zero(world.nv()), state);
  ASSERT_EQ(report.status, Status::solved);
  ASSERT_GT(report.correction.farthest, 1e-3);
  const auto errors = [&](double time) {
    VectorXd q = state.q;
    integrate(world, q, state.v, time, q);
    update_kinematics(world, q, data);
    GrowVector out;
    out.resize(count_equality_rows(world));
    equality_row_errors(world, data, q, out);
    return VectorXd(out);
  };
  constexpr double kTime = 1e-5;  // s, of central differences
  const double open = errors(0.0).norm();
  EXPECT_LT(open, 10.0 * report.correction.farthest * report.correction.farthest);
  EXPECT_LT((errors(kTime) - errors(-kTime)).norm() / (2.0 * kTime), state.v.norm() * open);  // of an open loop rows know it to ω e
}

}  // namespace
}  // namespace stiction::position_shift_test
