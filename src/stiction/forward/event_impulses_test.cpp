// What a step of the event-driven scheme tells of its impulses, against Newton's law, and what it carries to the next.
#include <random>

#include <gtest/gtest.h>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/base/archive.hpp"
#include "stiction/forward/event_testing.hpp"

namespace stiction::event_impulses_test {
namespace {

using namespace event_testing;

Vector3d velocity_of(const State& state) { return Eigen::Quaterniond(Eigen::Vector4d(state.q.segment<4>(3))) * state.v.head<3>(); }

/// N s, world axes: that of all contacts on the body.
Vector3d sum_of_impulses(const Stepper& stepper, int body) {
  Vector3d sum = Vector3d::Zero();
  for (std::size_t i = 0; i < stepper.contacts().size(); ++i) {
    const ContactPoint& c = stepper.contacts()[i];
    const Vector3d impulse = c.R_WC() * stepper.solution().impulses.segment<3>(3 * static_cast<Eigen::Index>(i));
    sum += (c.body_a == body ? 1.0 : 0.0) * impulse - (c.body_b == body ? 1.0 : 0.0) * impulse;
  }
  return sum;
}

/// Largest |m (Δv - g h) - impulses| (N s) of a step of the body after the static one, and the largest sum of impulses in `most`.
double worst_imbalance(Stepper& stepper, State state, int steps, double mass, double& most) {
  const double h = stepper.options().assemble.dt;
  double worst = 0.0;
  for (int k = 0; k < steps; ++k) {
    const Vector3d before = velocity_of(state);
    EXPECT_TRUE(stepper.step(VectorXd::Zero(stepper.world().nv()), state).accepted) << k;
    const Vector3d told = sum_of_impulses(stepper, 1);
    worst = std::max(worst, (mass * (velocity_of(state) - before - h * stepper.world().gravity()) - told).norm());
    most = std::max(most, told.norm());
  }
  return worst;
}

// A cube thrown askew at the edge of a box: within a step the same features touch again and again, by normals that turn with the cube.
TEST(EventDriven, ImpulsesOfACubeOnAnEdgeAreItsChangeOfMomentum) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (int run = 0; run < 6; ++run) {
    WorldBuilder builder;
    builder.set_gravity(Vector3d::Zero());
    StaticBody edge{"edge", Eigen::Isometry3d::Identity(), {{Box{Vector3d(0.5, 0.5, 0.5)}, Eigen::Isometry3d::Identity(), 0.3}}};
    edge.pose.translation() = Vector3d(-0.5, 0.0, -0.5);
    builder.add_static_body(edge);
    FreeBody cube = solid("cube", Box{Vector3d(0.06, 0.06, 0.06)}, 2.0, Vector3d(0.02, 0.0, 0.16), run % 2 == 0 ? 0.0 : 0.3);
    Eigen::Vector4d turn;
    for (double& c : turn) c = normal(random);
    cube.pose.linear() = Eigen::Quaterniond(turn.normalized()).toRotationMatrix();
    builder.add_free_body(cube);
    Stepper stepper = stepper_for(builder.build(), event_options(1e-2));
    State state = initial_state(stepper.world());
    state.v.head<3>() = cube.pose.linear().transpose() * Vector3d(0.0, 0.0, -3.0);
    for (double& w : state.v.tail<3>()) w = 3.0 * normal(random);
    double most = 0.0;
    const double worst = worst_imbalance(stepper, state, 20, 2.0, most);
    EXPECT_GT(most, 1.0) << run;
    EXPECT_LT(worst, 1e-12 * most) << run;
  }
}

// A ball that rolls down a globe of a metre turns its normal by 20 mrad in a step, between the stages of a piece too.
TEST(EventDriven, ForcesOfABallOnAGlobeAreItsChangeOfMomentum) {
  for (const double mu : {0.0, 0.8}) {
    WorldBuilder builder;
    builder.add_static_body({"globe", Eigen::Isometry3d::Identity(), {{Sphere{1.0}, Eigen::Isometry3d::Identity(), mu}}});
    builder.add_free_body(solid("ball", Sphere{kRadius}, 2.0, Vector3d(0.0, 0.0, 1.0 + kRadius), mu));
    Stepper stepper = stepper_for(builder.build(), event_options(1e-2));
    State state = initial_state(stepper.world());
    state.v << 2.0, 0.5, 0.0, -0.5 / kRadius, 2.0 / kRadius, 0.0;
    double most = 0.0;
    const double worst = worst_imbalance(stepper, state, 20, 2.0, most);
    EXPECT_GT(most, 0.1);
    EXPECT_LT(worst, 1e-12 * most) << mu;
  }
}

// Two slides whose joints are geared to go as one: the first meets a wall, and the row of the gear stops the second, m v.
TEST(EventDriven, ALoopTellsItsImpulseOfAnImpact) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}, Eigen::Isometry3d::Identity(), 0.0}}});
  builder.add_robot_text(R"(<mujoco><worldbody>
      <body name="low" pos="0 0 0.105"><joint name="q1" type="slide" axis="0 0 1"/><geom size="0.1" mass="2"/></body>
      <body name="high" pos="1 0 1"><joint name="q2" type="slide" axis="0 0 1"/><geom size="0.1" mass="3"/></body>
      </worldbody><equality><joint joint1="q1" joint2="q2"/></equality></mujoco>)");
  Stepper stepper = stepper_for(builder.build(), event_options(1e-2));
  State state = initial_state(stepper.world());
  const double speed = 1.0;
  state.v << -speed, -speed;
  ASSERT_TRUE(stepper.step(VectorXd::Zero(2), state).accepted);
  ASSERT_EQ(times_of({stepper.events().begin(), stepper.events().end()}, EventKind::impact).size(), 1u);
  EXPECT_LT(state.v.norm(), 1e-9);
  EXPECT_NEAR(sum_of_impulses(stepper, 0).z(), -5.0 * speed, 1e-9);
  EXPECT_NEAR(std::abs(stepper.solution().bounded_impulses.tail(count_equality_rows(stepper.world()))[0]), 3.0 * speed, 1e-9);
}

// Boxes that fall in a heap, whose laws leave forces open: a stepper that reads what another carries goes on with its bits.
TEST(EventDriven, WhatAStepperCarriesIsAllThatItsNextStepDependsOn) {
  for (const Choice choice : {Choice::warm_start, Choice::least_norm, Choice::closest_to_last}) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    WorldBuilder builder;
    builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}, Eigen::Isometry3d::Identity(), 0.5}}});
    for (int k = 0; k < 3; ++k) {
      FreeBody box = solid("box" + std::to_string(k), Box{Vector3d(0.05, 0.06, 0.04)}, 1.0, Vector3d(0.02 * k, 0.0, 0.12 + 0.16 * k), 0.5);
      Eigen::Vector4d turn;
      for (double& c : turn) c = normal(random);
      box.pose.linear() = Eigen::Quaterniond(turn.normalized()).toRotationMatrix();
      builder.add_free_body(box);
    }
    StepOptions options = event_options(5e-3);
    options.contact.choice = choice;
    const Stepper fresh = stepper_for(builder.build(), options);
    Stepper stepper = fresh;
    State state = initial_state(fresh.world());
    const VectorXd tau = VectorXd::Zero(fresh.world().nv());
    for (int k = 0; k < 60; ++k) {
      ByteWriter written;
      stepper.carry(written);
      ByteReader reader(written.written);
      Stepper other = fresh;
      other.carry(reader);
      State goes_on = state;
      ASSERT_TRUE(stepper.step(tau, state).accepted) << k;
      ASSERT_TRUE(other.step(tau, goes_on).accepted) << k;
      ASSERT_EQ(state.v, goes_on.v) << to_string(choice) << k;
      ASSERT_EQ(state.q, goes_on.q) << to_string(choice) << k;
    }
  }
}

}  // namespace
}  // namespace stiction::event_impulses_test
