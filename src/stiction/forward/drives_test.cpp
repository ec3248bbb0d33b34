// Drives in a step: closed forms of one joint, and a motor that is too weak.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/forward/step.hpp"

namespace stiction::drives_test {
namespace {

using Eigen::VectorXd;

constexpr double kMass = 2.0, kGravity = 9.81, kStep = 0.01;

/// A mass of 2 kg on a vertical slide.
Stepper slider(double h = kStep) {
  WorldBuilder builder;
  builder.set_gravity({0, 0, -kGravity});
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint name="s" type="slide" axis="0 0 1"/>
      <geom size="0.1" mass="2" contype="0" conaffinity="0"/></body></worldbody></mujoco>)");
  const World world = builder.build();
  StepOptions options;
  options.assemble.dt = h;
  return {world, make_scene(world, 0.5), options};
}

double torque(const Stepper& stepper) {
  VectorXd out;
  stepper.drive_torques(stepper.options().assemble.drives, out);
  return out[0];
}

TEST(VelocityDrive, ReachesItsVelocityInOneStepWhereItIsStrongEnough) {
  Stepper stepper = slider();
  State state = initial_state(stepper.world());
  stepper.set_drives({{{0, 0.3}}, {}});
  ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
  EXPECT_NEAR(state.v[0], 0.3, 1e-12);
  EXPECT_NEAR(torque(stepper), kMass * (0.3 / kStep + kGravity), 1e-9);
  ASSERT_TRUE(stepper.step(VectorXd::Constant(1, 5.0), state).accepted);
  EXPECT_NEAR(state.v[0], 0.3, 1e-12);
  EXPECT_NEAR(torque(stepper), kMass * kGravity - 5.0, 1e-9);
}

TEST(VelocityDrive, PushesWithAllItHasWhereItIsNot) {
  Stepper stepper = slider();
  State state = initial_state(stepper.world());
  stepper.set_drives({{{0, 0.3, -100.0, 30.0}}, {}});
  const double gain = (30.0 / kMass - kGravity) * kStep;
  for (int k = 1; k <= 8; ++k) {
    ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
    EXPECT_NEAR(state.v[0], std::min(0.3, k * gain), 1e-12) << k;
    if (k * gain < 0.3) {
      EXPECT_NEAR(torque(stepper), 30.0, 1e-9);
    }
  }
  EXPECT_NEAR(torque(stepper), kMass * kGravity, 1e-9);
  stepper.set_drives({{{0, 0.0, -100.0, 10.0}}, {}});  // less than the weight
  ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
  ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
  EXPECT_LT(state.v[0], 0.3);
  EXPECT_NEAR(torque(stepper), state.v[0] > 0.0 ? -100.0 : 10.0, 1e-9);
}

// τ = k_p (q_d - q - h v⁺) + k_d (v_d - v⁺): stable and settled in time at gains that explicit steps would blow up at once.
TEST(Servo, FollowsTheImplicitRecursionAtAnyGain) {
  const double kp = 1e6, kd = 1e3;
  Stepper stepper = slider();
  State state = initial_state(stepper.world());
  double x = 0.0, v = 0.0;
  for (int k = 0; k < 300; ++k) {
    const double target = 0.1 * std::sin(0.05 * k), rate = 0.5 * std::cos(0.05 * k);
    stepper.set_drives({{}, {{0, target, rate, kp, kd}}});
    v = (kMass * v + kStep * (kp * (target - x) + kd * rate - kMass * kGravity)) / (kMass + kStep * kd + kStep * kStep * kp);
    x += kStep * v;
    ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
    ASSERT_NEAR(state.v[0], v, 1e-10);
    ASSERT_NEAR(state.q[0], x, 1e-10);
    ASSERT_NEAR(torque(stepper), kp * (target - x) + kd * (rate - v), 1e-6);
  }
}

// τ = clamp(k_p (q_d - q - h v⁺) + k_d (v_d - v⁺), -τ_most, τ_most): at the v⁺ that it leads to. Two masses, each a problem of its own.
// m x'' = k_p (x_d - x) + k_d (v_d - x') - m g, critically damped.
TEST(Servo, BetweenEventsIsThatOfItsEquation) {
  constexpr double rate = 6.0, duration = 0.3, goal = 0.1, speed = 0.2;
  Stepper stepper = slider();
  StepOptions options = stepper.options();
  options.scheme = Scheme::event_driven;
  stepper.set_options(options);
  State state = initial_state(stepper.world());
  const double kp = kMass * rate * rate, kd = 2.0 * kMass * rate;
  Drives drives;
  drives.servos.push_back({0, goal, speed, kp, kd});
  stepper.set_drives(drives);
  while (state.time < duration - 0.5 * kStep) ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
  const double rest = goal + (kd * speed - kMass * kGravity) / kp;
  const double a = -rest, b = rate * a;  // x = rest + (a + b t) exp(-rate t)
  EXPECT_NEAR(state.q[0], rest + (a + b * duration) * std::exp(-rate * duration), 1e-8);
  EXPECT_NEAR(state.v[0], (b - rate * (a + b * duration)) * std::exp(-rate * duration), 1e-7);
}

TEST(Servo, WithALimitIsClampedWhereTheStepEnds) {
  constexpr double kKp = 4e3, kKd = 60.0, kMost = 60.0;
  WorldBuilder builder;
  builder.set_gravity({0, 0, -kGravity});
  for (const char* name : {"a", "b"}) {
    builder.add_robot_text(fmt::format(R"(<mujoco model="{0}"><worldbody><body><joint name="{0}" type="slide" axis="0 0 1"/>
        <geom size="0.1" mass="2" contype="0" conaffinity="0"/></body></worldbody></mujoco>)",
                                       name));
  }
  const World world = builder.build();
  StepOptions options;
  options.assemble.dt = kStep;
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  Eigen::Vector2d x = Eigen::Vector2d::Zero(), v = x;
  std::array<int, 3> clamped{};  // below, inside, above
  for (int k = 0; k < 300; ++k) {
    const double target = k < 100 ? 0.5 : -0.2;
    stepper.set_drives({{}, {{0, target, 0.0, kKp, kKd, kMost}, {1, 0.5 * target, 0.1, kKp, kKd, 2.0 * kMost}}});
    VectorXd expected(2);
    for (int i = 0; i < 2; ++i) {
      const double goal = (i == 0 ? 1.0 : 0.5) * target, rate = 0.1 * i, most = kMost * (1 + i);
      const auto torque = [&](double speed) { return kKp * (goal - x[i] - kStep * speed) + kKd * (rate - speed); };
      double after =
          (kMass * v[i] + kStep * (kKp * (goal - x[i]) + kKd * rate - kMass * kGravity)) / (kMass + kStep * kKd + kStep * kStep * kKp);
      const double free = torque(after);
      if (std::abs(free) > most) after = v[i] + kStep * (std::copysign(most, free) / kMass - kGravity);
      ++clamped[free < -most ? 0 : free > most ? 2 : 1];
      expected[i] = std::clamp(torque(after), -most, most);
      v[i] = after;
      x[i] += kStep * after;
    }
    ASSERT_EQ(stepper.step(VectorXd::Zero(2), state).status, Status::solved);
    ASSERT_LE((state.v - v).norm(), 1e-9) << k;
    ASSERT_LE((state.q - x).norm(), 1e-9) << k;
    VectorXd tau;
    stepper.drive_torques(stepper.options().assemble.drives, tau);
    ASSERT_LE((tau - expected).norm(), 1e-6) << k;
    ASSERT_EQ(stepper.problem().bounded_rows(), 0) << k;  // their sides are found without any
  }
  for (const int times : clamped) EXPECT_GE(times, 5);
}

// A motor that is asked for more than it can runs up the line τ = τ_most (1 - v⁺/v_0): v tends to v_0 (1 - m g/τ_most); asked to stop, it
// brakes with all that the line has, then holds the weight.
TEST(VelocityDrive, WithANoLoadSpeedKeepsToTheTorqueSpeedLine) {
  constexpr double kMost = 50.0, kFree = 1.5;
  Stepper stepper = slider();
  State state = initial_state(stepper.world());
  stepper.set_drives({{{0, 10.0, -kMost, kMost, kFree}}, {}});
  double v = 0.0;
  for (int k = 0; k < 200; ++k) {
    v = (kMass * v + kStep * (kMost - kMass * kGravity)) / (kMass + kStep * kMost / kFree);
    ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
    ASSERT_NEAR(state.v[0], v, 1e-10) << k;
    ASSERT_NEAR(torque(stepper), kMost * (1.0 - v / kFree), 1e-6) << k;
  }
  EXPECT_NEAR(v, kFree * (1.0 - kMass * kGravity / kMost), 1e-9);
  stepper.set_drives({{{0, 0.0, -kMost, kMost, kFree}}, {}});
  bool braked = false;
  for (int k = 0; k < 50; ++k) {
    const double with_all = (kMass * v + kStep * (-kMost - kMass * kGravity)) / (kMass + kStep * kMost / kFree);
    v = std::max(0.0, with_all);
    braked = braked || with_all > 0.0;
    ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
    ASSERT_NEAR(state.v[0], v, 1e-10) << k;
  }
  EXPECT_TRUE(braked);
  EXPECT_NEAR(torque(stepper), kMass * kGravity, 1e-8);
}

/// Masses of 2 kg and 3 kg on level slides.
Stepper two_sliders() {
  WorldBuilder builder;
  builder.set_gravity(Eigen::Vector3d::Zero());
  for (const char* mass : {"2", "3"}) {
    builder.add_robot_text(fmt::format(R"(<mujoco model="m{0}"><worldbody><body><joint name="j{0}" type="slide" axis="1 0 0"/>
        <geom size="0.1" mass="{0}" contype="0" conaffinity="0"/></body></worldbody></mujoco>)",
                                       mass));
  }
  const World world = builder.build();
  StepOptions options;
  options.assemble.dt = kStep;
  return {world, make_scene(world, 0.5), options};
}

// A belt v_1 = r v_2 makes one mass of two, m_1 + m_2/r² as the first one feels it; where the joints are does not matter to it.
TEST(VelocityRow, IsABeltBetweenTwoJoints) {
  constexpr double kRatio = 2.5, kForce = 7.0;
  Stepper stepper = two_sliders();
  State state = initial_state(stepper.world());
  state.q << 0.3, -1.0;
  stepper.set_drives({{}, {}, {{{{0, 1.0}, {1, -kRatio}}}}});
  const VectorXd tau = Eigen::Vector2d(kForce, 0.0);
  for (int k = 1; k <= 20; ++k) {
    ASSERT_TRUE(stepper.step(tau, state).accepted);
    ASSERT_NEAR(state.v[0], k * kStep * kForce / (2.0 + 3.0 / (kRatio * kRatio)), 1e-12);
    ASSERT_NEAR(state.v[1], state.v[0] / kRatio, 1e-12);
  }
  EXPECT_NEAR(state.q[0] - 0.3, kRatio * (state.q[1] + 1.0), 1e-12);
}

// A bounded row is a motor between two joints: it brings the difference of their velocities to what is asked, no harder than it can.
TEST(VelocityRow, BringsASumToASpeedWithinItsForce) {
  constexpr double kSpeed = 0.4, kMost = 6.0;
  Stepper stepper = two_sliders();
  State state = initial_state(stepper.world());
  stepper.set_drives({{}, {}, {{{{0, 1.0}, {1, -1.0}}, kSpeed, -kMost, kMost}}});
  for (int k = 1; k <= 20; ++k) {
    ASSERT_TRUE(stepper.step(VectorXd::Zero(2), state).accepted);
    ASSERT_NEAR(state.v[0] - state.v[1], std::min(kSpeed, k * kStep * kMost * (1.0 / 2.0 + 1.0 / 3.0)), 1e-12);
    ASSERT_NEAR(2.0 * state.v[0] + 3.0 * state.v[1], 0.0, 1e-12);
  }
}

TEST(Drives, WhatASchemeCannotTakeIsRefused) {
  const Stepper slide = slider();
  StepOptions options = slide.options();
  for (const Scheme scheme : {Scheme::energy_momentum, Scheme::event_driven}) {
    options.scheme = scheme;
    Stepper stepper(slide.world(), make_scene(slide.world(), 0.5), options);
    EXPECT_THROW(stepper.set_drives({{{0, 1.0, -5.0, 5.0, 2.0}}, {}}), InvalidArgument);
    EXPECT_THROW(stepper.set_drives({{}, {}, {{{{0, 1.0}}}}}), InvalidArgument);
    EXPECT_THROW(stepper.set_drives({{}, {{0, 0.0, 0.0, 1.0, 1.0, 3.0}}}), InvalidArgument);
  }
}

TEST(Drives, ThosePreparedAreThoseStepped) {
  Stepper stepper = slider(), direct = slider();
  State state = initial_state(stepper.world()), other = state;
  const Drives drives{{{0, 0.3, -50.0, 50.0}}, {{0, 0.1, 0.0, 1e3, 10.0}}};
  for (Stepper* s : {&stepper, &direct}) s->set_drives(drives);
  stepper.prepare(state, VectorXd::Zero(1));
  ASSERT_TRUE(stepper.step(VectorXd::Constant(1, 2.0), state, true).accepted);
  ASSERT_TRUE(direct.step(VectorXd::Constant(1, 2.0), other).accepted);
  EXPECT_EQ(state.v, other.v);
}

}  // namespace
}  // namespace stiction::drives_test
