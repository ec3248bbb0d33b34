// What is told of a step that is taken in parts, against Newton's law over the whole of it.
#include <gtest/gtest.h>

#include "stiction/forward/step.hpp"
#include "stiction/forward/test_worlds.hpp"

namespace stiction::step_impulses_test {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

/// Velocities (m/s, world axes) of the bodies' origins, 3 by their number.
Eigen::Matrix3Xd velocities_of(const World& world, const State& state) {
  WorldData data(world);
  update(world, state.q, state.v, data);
  Eigen::Matrix3Xd out(3, std::ssize(world.bodies()));
  for (Eigen::Index b = 0; b < out.cols(); ++b) out.col(b) = data.V_WB[b].head<3>();
  return out;
}

/// Of the step that led from one state to the next, largest |m (Δv/h - g) - forces| (N) of the free bodies.
double imbalance(const Stepper& stepper, const State& before, const State& after) {
  StepForces forces;
  stepper.contact_forces(forces);
  const World& world = stepper.world();
  const double h = stepper.options().assemble.dt;
  EXPECT_EQ(forces.dt, h);
  EXPECT_EQ(static_cast<int>(forces.points.size()), stepper.contact_count());
  const Eigen::Matrix3Xd rates = (velocities_of(world, after) - velocities_of(world, before)) / h;
  double worst = 0.0;
  for (const Joint& joint : world.joints()) {
    if (joint.kind != JointKind::free) continue;
    Vector3d left = world.bodies()[joint.body].mass * (rates.col(joint.body) - world.gravity());
    for (std::size_t i = 0; i < forces.points.size(); ++i) {
      if (forces.points[i].body_a == joint.body) left -= forces.force(i);
      if (forces.points[i].body_b == joint.body) left += forces.force(i);
    }
    worst = std::max(worst, left.norm());
  }
  return worst;
}

TEST(StepForces, OfAStepInPartsAreTheChangeOfMomentumOfEveryBody) {
  const World world = falling_boxes(4);
  for (const Scheme scheme : {Scheme::semi_implicit_euler, Scheme::moreau_midpoint, Scheme::energy_momentum}) {
    for (const int parts : {1, 2, 3, 8}) {
      StepOptions options;
      options.assemble.dt = 5e-3;
      options.scheme = scheme;
      options.sub_steps = parts;
      Stepper stepper(world, make_scene(world, 0.5), options);
      State state = initial_state(world);
      double worst = 0.0;
      int most = 0;
      for (int k = 0; k < 80; ++k) {
        const State before = state;
        ASSERT_TRUE(stepper.step(VectorXd::Zero(world.nv()), state).accepted) << k;
        worst = std::max(worst, imbalance(stepper, before, state));
        most = std::max(most, stepper.contact_count());
        ASSERT_NEAR(stepper.problem().dt * parts, options.assemble.dt, 1e-15);  // the problem is that of the last part
        ASSERT_EQ(stepper.solution().impulses.size(), 3 * stepper.problem().contacts());
      }
      EXPECT_GE(most, 8);
      EXPECT_LT(worst, 1e-8) << to_string(scheme) << " " << parts;  // N, of weights of 10 N and impacts of 500 N
    }
  }
}

// A pendulum that turns faster than the fixed point of the scheme can follow has every step halved, while a box falls on its corner.
TEST(StepForces, OfAHalvedStepAreTheChangeOfMomentum) {
  WorldBuilder builder;
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}});
  FreeBody box;
  box.name = "box";
  box.mass = 2.0;
  box.shapes.push_back({Box{Vector3d(0.1, 0.08, 0.05)}});
  box.inertia = solid_inertia(box.shapes.front().shape, box.mass);
  box.pose.translation().z() = 0.16;
  box.pose.linear() = Eigen::AngleAxisd(0.6, Vector3d(1, 2, 1).normalized()).toRotationMatrix();
  builder.add_free_body(box);
  builder.add_robot_text(R"(<mujoco><worldbody><body pos="0 0 2"><joint name="a" axis="0 1 0"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1" contype="0" conaffinity="0"/><body pos="0.3 0 0">
      <joint name="b" axis="0 1 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1" contype="0" conaffinity="0"/>
      </body></body></worldbody></mujoco>)");
  const World world = builder.build();
  StepOptions options;
  options.assemble.dt = 1e-2;
  options.scheme = Scheme::energy_momentum;
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  for (const Joint& joint : world.joints()) {
    if (joint.nv == 1) state.v[joint.v] = joint.name == "a" ? 200.0 : -200.0;
  }
  int halved_and_bearing = 0;
  double worst = 0.0;
  for (int k = 0; k < 60; ++k) {
    const State before = state;
    const StepReport report = stepper.step(VectorXd::Zero(world.nv()), state);
    ASSERT_TRUE(report.accepted) << k;
    worst = std::max(worst, imbalance(stepper, before, state));
    halved_and_bearing += report.halved && stepper.contact_count() > 0 ? 1 : 0;
  }
  EXPECT_GT(halved_and_bearing, 10);
  EXPECT_LT(worst, 1e-8);
}

// An elastic ball meets the ground in the first of eight parts and is gone from it in the last: its force is 2 m v/h, which stuck.
TEST(StepForces, ListWhatBoreInAnEarlierPartAlone) {
  constexpr double kStep = 0.1, kSpeed = 5.0, kRadius = 0.1, kMass = 2.0;
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}, Eigen::Isometry3d::Identity(), 0.3}}});
  FreeBody ball;
  ball.name = "ball";
  ball.mass = kMass;
  ball.inertia = solid_inertia(Sphere{kRadius}, kMass);
  ball.shapes.push_back({Sphere{kRadius}, Eigen::Isometry3d::Identity(), 0.3});
  ball.pose.translation().z() = kRadius;
  builder.add_free_body(ball);
  const World world = builder.build();
  StepOptions options;
  options.assemble.dt = kStep;
  options.sub_steps = 8;
  Stepper stepper(world, make_scene(world, 0.3, std::vector<double>{1.0, 1.0}), options);
  State state = initial_state(world);
  state.v[2] = -kSpeed;
  ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
  EXPECT_NEAR(state.v[2], kSpeed, 1e-9);
  StepForces forces;
  stepper.contact_forces(forces);
  ASSERT_TRUE(stepper.contacts().empty());
  ASSERT_EQ(forces.points.size(), 1u);
  ASSERT_EQ(stepper.contact_count(), 1);
  EXPECT_LT((forces.force(0) - 2.0 * kMass * kSpeed / kStep * Vector3d::UnitZ()).norm(), 1e-7);
  EXPECT_LT((forces.velocities - kSpeed * Vector3d::UnitX()).norm(), 1e-9);  // N S T
  EXPECT_EQ(forces.modes[0], ContactMode::stick);
  EXPECT_EQ(forces.mu[0], 0.3);
  ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
  EXPECT_EQ(stepper.contact_count(), 0);  // nothing of the step before
}

// A weight on a slide, from rest to a speed that a strong drive has after the first part, and on a torque-speed line: the mean of the
// torque is m (Δv/h + g) of the whole step.
TEST(StepForces, OfVelocityDrivesAreMeansOverTheParts) {
  constexpr double kStep = 1e-2, kMass = 2.0, kG = 9.81;
  WorldBuilder builder;
  builder.set_gravity(Vector3d(0.0, 0.0, -kG));
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint name="s" type="slide" axis="0 0 1"/>
      <geom size="0.1" mass="2" contype="0" conaffinity="0"/></body></worldbody></mujoco>)");
  const World world = builder.build();
  for (const double no_load : {kInfinity, 1.5}) {
    StepOptions options;
    options.assemble.dt = kStep;
    options.sub_steps = 4;
    Stepper stepper(world, make_scene(world, 0.5), options);
    Drives drives;
    drives.velocity = {{0, 0.3, -200.0, 200.0, no_load}};
    stepper.set_drives(drives);
    State state = initial_state(world);
    for (int k = 0; k < 3; ++k) {
      const double before = state.v[0];
      ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
      VectorXd torques;
      stepper.drive_torques(drives, torques);
      EXPECT_NEAR(torques[0], kMass * ((state.v[0] - before) / kStep + kG), 1e-6) << no_load << " " << k;
    }
  }
}

}  // namespace
}  // namespace stiction::step_impulses_test
