// Drives in a step: closed forms of one joint, and a motor that is too weak.
#include <cmath>

#include <gtest/gtest.h>

#include "stiction/forward/step.hpp"

namespace stiction {
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
  velocity_drive_torques(stepper.options().assemble.drives, stepper.problem(), stepper.solution().bounded_impulses, out);
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
    const double before = x;
    v = (kMass * v + kStep * (kp * (target - x) + kd * rate - kMass * kGravity)) / (kMass + kStep * kd + kStep * kStep * kp);
    x += kStep * v;
    ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
    ASSERT_NEAR(state.v[0], v, 1e-10);
    ASSERT_NEAR(state.q[0], x, 1e-10);
    VectorXd tau;
    servo_torques(stepper.world(), stepper.options().assemble.drives, VectorXd::Constant(1, before), state.v, kStep, 1.0, tau);
    ASSERT_NEAR(tau[0], kp * (target - x) + kd * (rate - v), 1e-6);
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
}  // namespace stiction
