// Closed loops under every scheme: a rod held at its end by three bilateral rows swings as a pendulum does.
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/forward/step.hpp"
#include "stiction/model/cut_joints.hpp"
#include "stiction/model/equality_error.hpp"

namespace stiction::loop_scheme_test {
namespace {

using Eigen::VectorXd;

constexpr double kLength = 1.0, kAngle = 1.2;

/// A free rod of 1 kg whose upper end is connected to the world's origin, turned by kAngle about y.
World held_rod() {
  WorldBuilder builder;
  builder.add_robot_text(fmt::format(R"(<mujoco><worldbody><body name="rod" pos="{} 0 {}" euler="0 {} 0"><freejoint/>
      <inertial pos="0 0 0" mass="1" diaginertia="{} {} 1e-4"/></body></worldbody>
      <equality><connect body1="rod" anchor="0 0 {}"/></equality></mujoco>)",
                                     -0.5 * std::sin(kAngle), -0.5 * std::cos(kAngle), kAngle * 180.0 / M_PI, kLength * kLength / 12.0,
                                     kLength * kLength / 12.0, 0.5 * kLength));
  return builder.build();
}

/// Angle and rate of the rod after T s of θ'' = -(3 g / 2 L) sin θ, by Runge-Kutta.
Eigen::Vector2d swung(double T) {
  const auto slope = [](const Eigen::Vector2d& y) { return Eigen::Vector2d(y[1], -1.5 * 9.81 / kLength * std::sin(y[0])); };
  Eigen::Vector2d y(kAngle, 0.0);
  const double k = 1e-4;
  for (long i = 0; i < std::lround(T / k); ++i) {
    const Eigen::Vector2d a = slope(y), b = slope(y + 0.5 * k * a), c = slope(y + 0.5 * k * b), d = slope(y + k * c);
    y += k / 6.0 * (a + 2.0 * b + 2.0 * c + d);
  }
  return y;
}

class Loop : public testing::TestWithParam<Scheme> {};
INSTANTIATE_TEST_SUITE_P(Schemes, Loop, testing::ValuesIn(kSchemes),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

TEST_P(Loop, AHeldRodSwingsAtTheOrderOfItsScheme) {
  const World world = held_rod();
  const double T = 0.8;
  const Eigen::Vector2d exact = swung(T);
  const auto error = [&](double h) {
    StepOptions options;
    options.assemble.dt = h;
    options.scheme = GetParam();
    Stepper stepper(world, make_scene(world, 0.5), options);
    State state = initial_state(world);
    for (long k = 0; k < std::lround(T / h); ++k) EXPECT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
    const double angle = 2.0 * std::atan2(state.q[4], state.q[6]);
    return (Eigen::Vector2d(angle, state.v[4]) - exact).norm();
  };
  const double order = std::log2(error(4e-3) / error(5e-4)) / 3.0;
  fmt::print("[ order    ] held rod, {}: {:.2f}\n", to_string(GetParam()), order);
  const double promised = GetParam() == Scheme::semi_implicit_euler ? 1.0 : GetParam() == Scheme::event_driven ? 4.0 : 2.0;
  EXPECT_NEAR(order, promised, 0.1);
}

// A loop that leaves nothing free: it stands, and its rows are there although nothing moves.
TEST_P(Loop, WhatALoopHoldsRests) {
  WorldBuilder builder;
  builder.add_robot_text(
      R"(<mujoco><worldbody><body><joint name="j" type="slide" axis="0 0 1"/><geom size="0.1" contype="0" conaffinity="0"/></body>
      </worldbody><equality><joint joint1="j"/></equality></mujoco>)");
  const World world = builder.build();
  StepOptions options;
  options.scheme = GetParam();
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  for (int k = 0; k < 10; ++k) EXPECT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
  EXPECT_EQ(state.q[0], 0.0);
  EXPECT_EQ(state.v[0], 0.0);
}

// Bodies whose frames lie in their centres of mass, so that nothing is above anything: they fall 5 cm, land and rest.
TEST_P(Loop, WhatALoopJoinsLandsAndRests) {
  WorldBuilder builder;
  builder.add_robot_text(R"(<mujoco><worldbody>
      <body name="a" pos="0 0 0.1"><joint name="a" type="slide" axis="0 0 1"/><geom type="box" size=".05 .05 .05" mass="1"/></body>
      <body name="b" pos=".3 0 0.1"><joint name="b" type="slide" axis="0 0 1"/><geom type="box" size=".05 .05 .05" mass="1.5"/></body>
      </worldbody><equality><weld body1="a" body2="b"/></equality></mujoco>)");
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}});
  const World world = builder.build();
  StepOptions options;
  options.scheme = GetParam();
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  for (int k = 0; k < 300; ++k) ASSERT_TRUE(stepper.step(VectorXd::Zero(2), state).accepted) << k;
  EXPECT_NEAR(state.q[0], -0.05, 1e-4);
  EXPECT_NEAR(state.v.norm(), 0.0, 1e-6);
}

TEST_P(Loop, AHeldRodKeepsItsEnergy) {
  const World world = held_rod();
  StepOptions options;
  options.scheme = GetParam();
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  WorldData data(world);
  const auto energy = [&] {
    update(world, state.q, state.v, data);
    return kinetic_energy(world, data, state.v) + potential_energy(world, data) + 9.81 * 0.5 * kLength;
  };
  const double start = energy();
  double worst = 0.0, open = 0.0;
  for (int k = 0; k < 10000; ++k) {
    ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
    worst = std::max(worst, std::abs(energy() - start) / start);
    update_kinematics(world, state.q, data);
    open = std::max(open, (data.X_WB[world.body("rod")] * Eigen::Vector3d(0, 0, 0.5 * kLength)).norm());
  }
  const bool exact = GetParam() == Scheme::event_driven || GetParam() == Scheme::energy_momentum;
  EXPECT_LT(worst, exact ? 1e-10 : GetParam() == Scheme::semi_implicit_euler ? 1e-2 : 1e-4);
  EXPECT_LT(open, exact ? 1e-12 : 1e-5);
  fmt::print("[ drift    ] held rod, {}: energy {:.1e}, open by {:.1e} m\n", to_string(GetParam()), worst, open);
}

// Three hinges that one redundant row closes: cranks of 1 m and a coupler of 2 m swing as one.
TEST_P(Loop, AParallelogramStaysClosed) {
  WorldBuilder builder;
  builder.add_robot_text(R"(<mujoco><default><geom type="capsule" size="0.01" contype="0" conaffinity="0"/><joint axis="0 1 0"/></default>
    <worldbody><body name="crank"><joint name="q1"/><geom fromto="0 0 0 0 0 -1" mass="1"/>
      <body name="coupler" pos="0 0 -1"><joint name="q2"/><geom fromto="0 0 0 2 0 0" mass="3"/></body></body>
    <body name="rocker" pos="2 0 0"><joint name="q3"/><geom fromto="0 0 0 0 0 -1" mass="1"/></body></worldbody>
    <equality><connect body1="coupler" body2="rocker" anchor="2 0 0"/></equality></mujoco>)");
  const World world = builder.build();
  StepOptions options;
  options.scheme = GetParam();
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  state.q << 0.9, -0.9, 0.9;
  WorldData data(world);
  const auto energy = [&] {
    update(world, state.q, state.v, data);
    return kinetic_energy(world, data, state.v) + potential_energy(world, data) + 9.81 * 4.0;  // above hanging
  };
  const double start = energy();
  double worst = 0.0, open = 0.0;
  for (int k = 0; k < 5000; ++k) {
    ASSERT_EQ(stepper.step(VectorXd::Zero(3), state).status, Status::solved) << k;
    worst = std::max(worst, std::abs(energy() - start) / start);
    open = std::max(open, std::abs(state.q[0] - state.q[2]) + std::abs(state.q[0] + state.q[1]));
  }
  fmt::print("[ drift    ] parallelogram, {}: energy {:.1e}, open by {:.1e} rad\n", to_string(GetParam()), worst, open);
  const bool exact = GetParam() == Scheme::event_driven || GetParam() == Scheme::energy_momentum;
  EXPECT_LT(worst, exact ? 1e-10 : 1e-1);
  EXPECT_LT(open, exact ? 1e-12 : 1e-4);
}

// ---- energy_momentum: what nothing is taken from keeps its energy, loops and all ----

struct Kept {
  double energy = 0.0, momentum = 0.0, angular = 0.0, open = 0.0,
         speed = 0.0;  ///< largest departures; J, N s, N m s, m or rad, m/s or rad/s
};

/// Momentum, and angular momentum about the world's origin.
Vector6d momentum_of(const World& world, const WorldData& data, const VectorXd& v) {
  Vector6d sum = Vector6d::Zero();
  for (std::size_t b = 0; b < world.bodies().size(); ++b) {
    const Body& body = world.bodies()[b];
    const Vector6d V = body_velocity(world, data, static_cast<int>(b), v);
    const Eigen::Matrix3d R = data.X_WB[b].linear();
    const Eigen::Vector3d omega = V.tail<3>(), p = body.mass * (V.head<3>() + omega.cross(R * body.com));
    sum.head<3>() += p;
    sum.tail<3>() += (data.X_WB[b] * body.com).cross(p) + R * (body.inertia * (R.transpose() * omega));
  }
  return sum;
}

Kept kept(const World& world, State state, double h, double T) {
  StepOptions options;
  options.assemble.dt = h;
  options.scheme = Scheme::energy_momentum;
  Stepper stepper(world, make_scene(world, 0.5), options);
  WorldData data(world);
  update(world, state.q, state.v, data);
  const auto energy = [&] { return kinetic_energy(world, data, state.v) + potential_energy(world, data); };
  const double start = energy();
  const Vector6d momentum = momentum_of(world, data, state.v);
  Kept most;
  for (long k = 0; k < std::lround(T / h); ++k) {
    const StepReport report = stepper.step(VectorXd::Zero(world.nv()), state);
    if (!report.accepted || report.residual > 1e-9) {
      ADD_FAILURE() << "step " << k << " " << to_string(report.status) << " " << report.residual;
      return most;
    }
    update(world, state.q, state.v, data);
    const Vector6d change = momentum_of(world, data, state.v) - momentum;
    most.energy = std::max(most.energy, std::abs(energy() - start));
    most.momentum = std::max(most.momentum, change.head<3>().norm());
    most.angular = std::max(most.angular, change.tail<3>().norm());
    for (const Equality& e : world.equalities()) most.open = std::max(most.open, equality_error(world, data, e, state.q).position.norm());
    ContactProblem p;
    p.dt = 1.0;
    p.J_b.reset(1, world.block_sizes());
    p.M.reset(world.block_sizes());
    for (GrowVector* x : {&p.b, &p.lo, &p.hi}) x->resize(count_equality_rows(world));
    Eigen::Index rows = 0;
    add_equality_rows(world, data, state.q, state.v, 0.0, p, rows);
    VectorXd speed(rows);
    p.J_b.multiply(state.v, speed);
    most.speed = std::max(most.speed, speed.cwiseAbs().maxCoeff());
  }
  fmt::print("[ kept     ] h {}: energy {:.1e} J, momentum {:.1e}, {:.1e}, loops open by {:.1e} at {:.1e}\n", h, most.energy, most.momentum,
             most.angular, most.open, most.speed);
  return most;
}

/// Cranks to (ax, az) and, from (L, 0), to (cx, cz), with the coupler between their ends.
World four_bar(double ax, double az, double L, double cx, double cz) {
  WorldBuilder builder;
  builder.add_robot_text(fmt::format(
      R"(<mujoco><default><geom type="capsule" size="0.01" contype="0" conaffinity="0"/><joint axis="0 1 0"/></default><worldbody>
      <body><joint/><geom fromto="0 0 0 {0} 0 {1}"/><body name="b" pos="{0} 0 {1}"><joint/><geom fromto="0 0 0 {2} 0 {3}"/></body></body>
      <body name="c" pos="{4} 0 0"><joint/><geom fromto="0 0 0 {5} 0 {6}"/></body></worldbody>
      <equality><connect body1="b" body2="c" anchor="{2} 0 {3}"/></equality></mujoco>)",
      ax, az, cx - ax, cz - az, L, cx - L, cz));
  return builder.build();
}

// Bars of no symmetry let go at rest: the loop's forces do work in no step, and what they do over a swing does not add up.
TEST(EnergyMomentumLoop, FourBarsKeepTheirEnergy) {
  for (const auto& [ax, az, L, cx, cz] : {std::array{0.08, 0.16, 0.45, 0.4, 0.3}, std::array{-0.06, 0.25, 0.35, 0.43, 0.2}}) {
    const World world = four_bar(ax, az, L, cx, cz);
    for (const double h : {1e-5, 1e-4, 2e-3, 5e-3}) {
      const Kept most = kept(world, initial_state(world), h, std::min(20.0, 5e3 * h));
      EXPECT_LT(most.energy, 1e-10);
      EXPECT_LT(most.open, 1e-12);
      EXPECT_LT(most.speed, 1e-9);
    }
  }
}

TEST(EnergyMomentumLoop, FourBarsSwingAtSecondOrder) {
  const World world = four_bar(0.08, 0.16, 0.45, 0.4, 0.3);
  const auto end = [&](Scheme scheme, double h) {
    StepOptions options;
    options.assemble.dt = h;
    options.scheme = scheme;
    Stepper stepper(world, make_scene(world, 0.5), options);
    State state = initial_state(world);
    for (long k = 0; k < std::lround(0.4 / h); ++k) EXPECT_TRUE(stepper.step(VectorXd::Zero(3), state).accepted);
    return (VectorXd(6) << state.q, state.v).finished();
  };
  const VectorXd exact = end(Scheme::event_driven, 1e-3);
  const double coarse = (end(Scheme::energy_momentum, 4e-3) - exact).norm(), fine = (end(Scheme::energy_momentum, 1e-3) - exact).norm();
  EXPECT_NEAR(std::log2(coarse / fine) / 2.0, 2.0, 0.1) << coarse << " " << fine;
}

// A loop that starts open by a tenth of a metre, and turns, closes at 1 m/s as under the others: no scheme may make more of that.
TEST(EnergyMomentumLoop, AnOpenLoopClosesAsUnderOtherSchemes) {
  const World world = four_bar(0.0, 0.2, 0.5, 0.5, 0.3);
  const auto after = [&](Scheme scheme) {
    StepOptions options;
    options.assemble.dt = 2e-3;
    options.scheme = scheme;
    Stepper stepper(world, make_scene(world, 0.5), options);
    State state = initial_state(world);
    state.q[0] = 0.3;
    state.v[0] = 3.0;
    for (int k = 0; k < 50; ++k) EXPECT_TRUE(stepper.step(VectorXd::Zero(3), state).accepted);
    WorldData data(world);
    update(world, state.q, state.v, data);
    return kinetic_energy(world, data, state.v) + potential_energy(world, data);
  };
  EXPECT_NEAR(after(Scheme::energy_momentum), after(Scheme::moreau_midpoint), 5e-3);
}

TEST(EnergyMomentumLoop, ACoupledJointKeepsItsEnergy) {
  WorldBuilder builder;
  builder.add_robot_text(
      R"(<mujoco><default><geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.3" contype="0" conaffinity="0"/><joint axis="0 1 0"/></default>
      <worldbody><body><joint name="j"/><geom/><body pos="0 0 -0.3"><joint name="k"/><geom/></body></body></worldbody>
      <equality><joint joint1="k" joint2="j" polycoef="0 0.5 1"/></equality></mujoco>)");
  const World world = builder.build();
  State state = initial_state(world);
  state.q << 1.2, 0.6 + 1.44;
  const Kept most = kept(world, state, 5e-3, 20.0);
  EXPECT_LT(most.energy, 1e-10);
  EXPECT_LT(most.open, 1e-12);
}

State cut_state(const World& world, const VectorXd& q, const VectorXd& v) {
  WorldData whole(world.uncut());
  update(world.uncut(), q, v, whole);
  State state = initial_state(world);
  from_uncut(world, whole, q, v, state.q, state.v);
  return state;
}

TEST(EnergyMomentumLoop, ACutDoublePendulumKeepsItsEnergy) {
  for (const Coordinates c : {Coordinates::extended, Coordinates::maximal}) {
    WorldBuilder builder;
    RobotOptions options;
    options.coordinates = c;
    builder.add_robot_text(
        R"(<mujoco><default><geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.3" contype="0" conaffinity="0"/><joint axis="0 1 0"/></default>
        <worldbody><body><joint name="j"/><geom/><body pos="0 0 -0.3"><joint name="k"/><geom/></body></body></worldbody></mujoco>)",
        options);
    const World world = builder.build();
    const Kept most = kept(world, cut_state(world, Eigen::Vector2d(1.5, 0.8), Eigen::Vector2d::Zero()), 5e-3, 20.0);
    EXPECT_LT(most.energy, 1e-9);
    EXPECT_LT(most.open, 1e-11);
  }
}

// A box with a four-bar on it in free flight: one row of the loop forbids what its hinges cannot do anyway, in a direction that turns.
TEST(EnergyMomentumLoop, AFlyingLoopKeepsEnergyAndMomentum) {
  WorldBuilder builder;
  builder.set_gravity(Eigen::Vector3d::Zero());
  builder.add_robot_text(
      R"(<mujoco><default><geom type="capsule" size="0.02" contype="0" conaffinity="0"/></default><worldbody>
      <body name="base" pos="0 0 1"><freejoint/><geom type="box" size="0.2 0.05 0.05"/>
      <body name="a" pos="-0.2 0 0"><joint name="j1" axis="0 1 0"/><geom fromto="0 0 0 0 0 0.2"/>
      <body name="b" pos="0 0 0.2"><joint name="j2" axis="0 1 0"/><geom fromto="0 0 0 0.4 0 0.1"/></body></body>
      <body name="c" pos="0.2 0 0"><joint name="j3" axis="0 1 0"/><geom fromto="0 0 0 0 0 0.3"/></body></body></worldbody>
      <equality><connect body1="b" body2="c" anchor="0.4 0 0.1"/></equality></mujoco>)");
  const World world = builder.build();
  for (const Eigen::Vector3d& spin : {Eigen::Vector3d(1, 2, 8), Eigen::Vector3d(-6, 5, 3), Eigen::Vector3d(4, -7, -7)}) {
    State state = initial_state(world);
    state.v.segment<3>(3) = spin;
    for (const double h : {1e-3, 1e-2}) {
      const Kept most = kept(world, state, h, 3.0);
      EXPECT_LT(most.energy, h * h * h);  // where the bars come to rest on the box: see kResting
      EXPECT_LT(most.momentum, 1e-11);
      EXPECT_LT(most.angular, 1e-11);
      EXPECT_LT(most.open, 1e-11);
    }
  }
}

// A chain cut into bodies that fly, held to each other alone.
TEST(EnergyMomentumLoop, AFlyingCutChainKeepsEnergyAndMomentum) {
  WorldBuilder builder;
  builder.set_gravity(Eigen::Vector3d::Zero());
  RobotOptions options;
  options.coordinates = Coordinates::maximal;
  builder.add_robot_text(
      R"(<mujoco><worldbody><body><freejoint/><inertial pos="0.02 0.01 0" mass="2" diaginertia="0.01 0.02 0.025"/>
      <body pos="0.1 0 0"><joint axis="0 1 0"/><inertial pos="0.15 0 0.01" mass="1" diaginertia="0.002 0.01 0.011"/>
      <body pos="0.3 0 0"><joint axis="0 0.6 0.8"/><inertial pos="0.1 0 0" mass="1" diaginertia="0.002 0.01 0.01"/></body></body></body>
      </worldbody></mujoco>)",
      options);
  const World world = builder.build();
  VectorXd v(8);
  v << 0.3, -0.2, 0.5, 2.0, -3.0, 4.0, 3.0, -5.0;
  const State state = cut_state(world, world.uncut().initial_configuration(), v);
  for (const double h : {1e-3, 5e-3}) {
    const Kept most = kept(world, state, h, 5.0);
    EXPECT_LT(most.energy, 1e-10);
    EXPECT_LT(most.momentum, 1e-11);
    EXPECT_LT(most.angular, 1e-10);
    EXPECT_LT(most.open, 1e-11);
  }
}

// Two bars pinned at both ends have no motion: what they start with ends, and they stand for as long as one looks.
TEST(EnergyMomentumLoop, AFrameThatCannotMoveStands) {
  for (int k = 0; k < 12; ++k) {
    WorldBuilder builder;
    builder.add_robot_text(fmt::format(
        R"(<mujoco><default><geom type="capsule" size="0.02" contype="0" conaffinity="0"/><joint axis="0 1 0"/></default><worldbody>
        <body><joint/><geom fromto="0 0 0 0.03 0 -0.3"/><body name="c" pos="0.03 0 -0.3"><joint/><geom fromto="0 0 0 {0} 0 0.05"/></body></body>
        </worldbody><equality><connect body1="c" anchor="{0} 0 0.05"/></equality></mujoco>)",
        0.2 + 0.015 * k));
    const World world = builder.build();
    StepOptions options;
    options.scheme = Scheme::energy_momentum;
    Stepper stepper(world, make_scene(world, 0.5), options);
    State state = initial_state(world);
    state.v << 0.5, -1.0;
    for (int n = 0; n < 400; ++n) {
      const StepReport report = stepper.step(VectorXd::Zero(2), state);
      ASSERT_EQ(report.status, Status::solved) << k << ", step " << n << ": " << to_string(report.refused);
    }
    EXPECT_LT(state.v.norm(), 1e-9);
    EXPECT_LT((state.q - initial_state(world).q).norm(), 1e-3);
  }
}

}  // namespace
}  // namespace stiction::loop_scheme_test
