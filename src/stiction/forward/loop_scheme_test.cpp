// Closed loops under every scheme: a rod held at its end by three bilateral rows swings as a pendulum does.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/forward/step.hpp"

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
  const bool events = GetParam() == Scheme::event_driven;
  EXPECT_LT(worst, events ? 1e-10 : GetParam() == Scheme::semi_implicit_euler ? 1e-2 : GetParam() == Scheme::moreau_midpoint ? 1e-4 : 1e-5);
  EXPECT_LT(open, events ? 1e-12 : GetParam() == Scheme::energy_momentum ? 1e-7 : 1e-5);
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
  const bool events = GetParam() == Scheme::event_driven;
  EXPECT_LT(worst, events ? 1e-10 : GetParam() == Scheme::energy_momentum ? 1e-5 : 1e-1);
  EXPECT_LT(open, events ? 1e-12 : GetParam() == Scheme::energy_momentum ? 1e-7 : 1e-4);
}

}  // namespace
}  // namespace stiction::loop_scheme_test
