// Springs, damping and armature of joints in a step, forward and inverse: the implicit recursion in closed form, at any step.
#include <cmath>

#include <gtest/gtest.h>

#include "stiction/forward/step.hpp"

namespace stiction::joint_forces_test {
namespace {

using Eigen::VectorXd;

/// A mass of 2 kg on a slide along z without gravity, armature 0.5 kg, with its spring and damper.
World slider(double stiffness, double damping, double gravity = 0.0) {
  WorldBuilder builder;
  builder.set_gravity({0, 0, -gravity});
  RobotOptions options;
  options.joints["s"].stiffness = stiffness;
  options.joints["s"].damping = damping;
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint name="s" type="slide" axis="0 0 1" springref="0.3" armature="0.5"/>
      <geom size="0.1" mass="2" contype="0" conaffinity="0"/></body></worldbody></mujoco>)",
                         options);
  return builder.build();
}

Stepper stepper_for(const World& world, double h) {
  StepOptions options;
  options.assemble.dt = h;
  return {world, make_scene(world, 0.5), options};
}

TEST(JointForces, FollowTheImplicitRecursion) {
  const double m = 2.5, k = 40.0, d = 3.0, h = 0.01;
  Stepper stepper = stepper_for(slider(k, d, 9.81), h);
  State state = initial_state(stepper.world());
  double x = 0.0, v = 0.0;
  for (int i = 0; i < 200; ++i) {
    v = (m * v - h * (2.0 * 9.81 + k * (x - 0.3))) / (m + h * d + h * h * k);
    x += h * v;
    ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
    ASSERT_NEAR(state.v[0], v, 1e-12);
    ASSERT_NEAR(state.q[0], x, 1e-12);
  }
}

TEST(JointForces, ASpringSwingsByItsClosedFormToFirstOrder) {
  const double omega = std::sqrt(40.0 / 2.5), T = 1.0;
  std::array<double, 2> error{};
  for (const int refine : {0, 1}) {
    const double h = 1e-3 / (1 << refine);
    Stepper stepper = stepper_for(slider(40.0, 0.0), h);
    State state = initial_state(stepper.world());
    for (long i = 0; i < std::lround(T / h); ++i) stepper.step(VectorXd::Zero(1), state);
    error[refine] = std::abs(state.q[0] - 0.3 * (1.0 - std::cos(omega * T)));
  }
  EXPECT_LT(error[0], 2e-3);
  EXPECT_NEAR(std::log2(error[0] / error[1]), 1.0, 0.1);
}

TEST(JointForces, StiffSpringsAndDampersAreStableAtAnyStep) {
  for (const double h : {1e-3, 0.1, 1.0}) {
    for (const double k : {0.0, 1e8}) {
      Stepper stepper = stepper_for(slider(k, 1e9), h);
      State state = initial_state(stepper.world());
      state.v[0] = 7.0;
      for (int i = 0; i < 20; ++i) {
        const double before = std::abs(state.v[0]);
        ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
        EXPECT_LE(std::abs(state.v[0]), before + 1.0);
        EXPECT_LE(std::abs(state.q[0]), 0.31);
      }
    }
  }
}

TEST(JointForces, InverseDynamicsCountsThem) {
  const double h = 0.01, k = 40.0, d = 3.0, m = 2.5;
  Stepper stepper = stepper_for(slider(k, d, 9.81), h);
  State state = initial_state(stepper.world());
  state.q[0] = 0.5;
  state.v[0] = -0.4;
  stepper.prepare(state, VectorXd::Zero(1));
  ContactProblem problem = stepper.problem();
  problem.prescribed = {0};  // the rows of inverse dynamics
  problem.v_prescribed.resize(1);
  problem.v_prescribed[0] = 1.2;
  const VectorXd tau = solve(problem).prescribed_impulses / h;
  const double force = m * (1.2 + 0.4) / h + k * (0.5 + h * 1.2 - 0.3) + d * 1.2 + 2.0 * 9.81;
  EXPECT_NEAR(tau[0], force, 1e-10 * force);
  ASSERT_TRUE(stepper.step(tau, state).accepted);
  EXPECT_NEAR(state.v[0], 1.2, 1e-12);
}

}  // namespace
}  // namespace stiction::joint_forces_test
