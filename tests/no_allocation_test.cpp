// Control and simulation steps allocate nothing once they have seen their sizes: malloc is counted.
#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/forward/step.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"
#include "test_paths.hpp"

namespace stiction::no_allocation_test {
namespace {

using Eigen::VectorXd;

World quadruped_on_ground() {
  WorldBuilder builder;
  RobotOptions robot;
  robot.base = BaseKind::floating;
  robot.pose.translation().z() = 0.16;
  const char* names[4] = {"LF", "RF", "LH", "RH"};
  const double signs[4] = {1.0, -1.0, -1.0, 1.0};
  for (int leg = 0; leg < 4; ++leg) {
    robot.joints[std::string(names[leg]) + "_HIP"].position = signs[leg] * 0.3927;
    robot.joints[std::string(names[leg]) + "_THIGH"].position = signs[leg] * 0.7854;
    robot.joints[std::string(names[leg]) + "_SHANK"].position = signs[leg] * 1.5708;
  }
  builder.add_robot(STICTION_SOURCE_DIR "/models/links.urdf", robot);
  StaticBody ground;
  ground.name = "ground";
  ground.shapes.push_back({HalfSpace{}});
  builder.add_static_body(ground);
  return builder.build();
}

Stepper make_stepper(const World& world, Law law, Scheme scheme = Scheme::semi_implicit_euler) {
  StepOptions options;
  options.contact.law = law;
  options.scheme = scheme;
  return {world, make_scene(world, 0.6), options};
}

class EveryLaw : public testing::TestWithParam<Law> {};

// The robot falls on its feet and lies down: contacts come, slide and go.
void fall_without_allocation(const World& world, Stepper stepper) {
  const VectorXd tau = VectorXd::Zero(world.nv());
  for (int pass = 0; pass < 2; ++pass) {
    State warm = initial_state(world);
    for (int k = 0; k < 400; ++k) {
      const StepReport report = stepper.step(tau, warm);
      ASSERT_TRUE(report.accepted) << "step " << k << " " << to_string(report.status) << " " << stepper.solution().certificate.worst();
    }
  }
  State state = initial_state(world);
  const std::size_t before = allocation_count();
  bool accepted = true;
  for (int k = 0; k < 400; ++k) accepted = accepted && stepper.step(tau, state).accepted;
  EXPECT_EQ(allocation_count() - before, 0u);
  EXPECT_TRUE(accepted);
}

TEST_P(EveryLaw, SimulationStepsAllocateNothing) {
  if (!allocations_are_counted()) GTEST_SKIP() << "sanitizers own malloc in this build";
  const World world = quadruped_on_ground();
  fall_without_allocation(world, make_stepper(world, GetParam()));
}

class EveryScheme : public testing::TestWithParam<Scheme> {};
INSTANTIATE_TEST_SUITE_P(Schemes, EveryScheme, testing::ValuesIn(kSchemes),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

TEST_P(EveryScheme, SimulationStepsAllocateNothing) {
  if (!allocations_are_counted()) GTEST_SKIP() << "sanitizers own malloc in this build";
  const World world = quadruped_on_ground();
  fall_without_allocation(world, make_stepper(world, Law::coulomb_cone, GetParam()));
}

TEST_P(EveryScheme, StepsOfALoopAllocateNothing) {
  if (!allocations_are_counted()) GTEST_SKIP() << "sanitizers own malloc in this build";
  WorldBuilder builder;
  builder.add_robot_text(
      R"(<mujoco><default><geom type="capsule" size="0.01" contype="0" conaffinity="0"/><joint axis="0 1 0"/></default><worldbody>
      <body><joint/><geom fromto="0 0 0 0.1 0 0.2"/><body name="b" pos="0.1 0 0.2"><joint/><geom fromto="0 0 0 0.3 0 0.1"/></body></body>
      <body name="c" pos="0.5 0 0"><joint/><geom fromto="0 0 0 -0.1 0 0.3"/></body></worldbody>
      <equality><connect body1="b" body2="c" anchor="0.3 0 0.1"/></equality></mujoco>)");
  const World world = builder.build();
  Stepper stepper = make_stepper(world, Law::coulomb_cone, GetParam());
  const VectorXd tau = VectorXd::Zero(world.nv());
  State state = initial_state(world);
  for (int k = 0; k < 100; ++k) ASSERT_TRUE(stepper.step(tau, state).accepted);
  const std::size_t before = allocation_count();
  for (int k = 0; k < 200; ++k) stepper.step(tau, state);
  EXPECT_EQ(allocation_count() - before, 0u);
}

// Pushed through a thin wall within a step, which is found by looking ahead (waiting_contacts.hpp).
TEST_P(EveryScheme, StepsThatHoldWhatIsPushedThroughAllocateNothing) {
  if (!allocations_are_counted()) GTEST_SKIP() << "sanitizers own malloc in this build";
  constexpr double kMass = 2.0, kRadius = 0.1;
  WorldBuilder builder;
  Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
  pose.translation().x() = 0.14;
  builder.add_static_body({"wall", pose, {{Box{{0.02, 1.0, 1.0}}}}});
  FreeBody ball;
  ball.name = "ball";
  ball.mass = kMass;
  ball.shapes.push_back({Sphere{kRadius}});
  ball.inertia = solid_inertia(ball.shapes.front().shape, kMass);
  builder.add_free_body(ball);
  const World world = builder.build();
  StepOptions options;
  options.assemble.dt = 0.01;
  options.scheme = GetParam();
  Stepper stepper(world, make_scene(world, 0.6, std::vector<double>(world.bodies().size(), 0.5)), options);
  VectorXd push = VectorXd::Zero(6);
  push[0] = kMass * 20.0 / options.assemble.dt;
  const State start = initial_state(world);
  State state = start;
  std::size_t before = 0;
  for (int pass = 0; pass < 20; ++pass) {
    if (pass == 2) before = allocation_count();  // two to see the sizes
    state.q = start.q;
    state.v = start.v;
    stepper.step(push, state);
    for (int k = 0; k < 4; ++k) stepper.step(start.v, state);
  }
  EXPECT_EQ(allocation_count() - before, 0u);
  EXPECT_LT(state.q[0], 0.02);
}

TEST_P(EveryLaw, InverseDynamicsAllocatesNothing) {
  if (!allocations_are_counted()) GTEST_SKIP() << "sanitizers own malloc in this build";
  const World world = quadruped_on_ground();
  Stepper stepper = make_stepper(world, GetParam());
  const VectorXd tau = VectorXd::Zero(world.nv());
  State state = initial_state(world);
  state.q[2] = 0.1405;
  const std::vector<int> joints(world.actuated().begin(), world.actuated().end());
  VectorXd desired = VectorXd::Zero(static_cast<Eigen::Index>(joints.size()));
  InverseOptions options;
  options.contact.law = GetParam();
  options.choice = GetParam() == Law::coulomb_cone ? Choice::warm_start : Choice::least_torque;
  InverseOptions within = options;
  within.choice = Choice::warm_start;  // least torque is none beside limits
  InverseWorkspace workspace, limited;
  InverseSolution solution, held_back;
  const std::vector<double> weak(joints.size(), 0.4);
  const auto control = [&] {
    for (int k = 0; k < 60; ++k) {
      stepper.prepare(state, tau);
      desired.setConstant(0.002 * (k % 7));
      inverse_dynamics(stepper.problem(), joints, desired, {}, options, workspace, solution);
      inverse_dynamics(stepper.problem(), joints, desired, weak, within, limited, held_back);
    }
  };
  control();
  const std::size_t before = allocation_count();
  control();
  EXPECT_EQ(allocation_count() - before, 0u);
  EXPECT_EQ(stepper.problem().contacts(), 4);
  EXPECT_EQ(solution.status, Status::solved) << solution.certificate.worst();
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw,
                         testing::Values(Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu,
                                         Law::max_dissipation),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

}  // namespace
}  // namespace stiction::no_allocation_test
