// Closed loops, welds and coupled joints in a step: linkages and welded bodies in closed form.
#include "stiction/assemble/equality_rows.hpp"

#include <cmath>
#include <cstdio>
#include <random>

#include <gtest/gtest.h>

#include "stiction/forward/step.hpp"
#include "stiction/model/equality_error.hpp"

namespace stiction::equality_test {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

World load(const std::string& content, const RobotOptions& options = {}) {
  WorldBuilder builder;
  builder.add_robot_text("<mujoco>" + content + "</mujoco>", options);
  return builder.build();
}

Stepper stepper_for(const World& world, double h, Law law = Law::coulomb_cone) {
  StepOptions options;
  options.assemble.dt = h;
  options.contact.law = law;
  return {world, make_scene(world, 0.5), options};
}

double worst_error(const World& world, const VectorXd& q) {
  WorldData data(world);
  update_kinematics(world, q, data);
  double worst = 0.0;
  for (const Equality& e : world.equalities()) {
    const EqualityError error = equality_error(world, data, e, q);
    worst = std::max({worst, error.position.norm(), error.rotation.norm()});
  }
  return worst;
}

double energy(const World& world, const State& state) {
  WorldData data(world);
  update(world, state.q, state.v, data);
  return kinetic_energy(world, data, state.v) + potential_energy(world, data);
}

// Two cranks of length 1 and mass 1 and a coupler of length 2 and mass 3 form a parallelogram: it swings as a pendulum with
//   (2 m/3 + M) a² θ'' = -(m + M) g a sin θ
// One of the three rows of `connect` is redundant in the plane.
World parallelogram(const char* closure) {
  return load(
      std::string(R"(<default><geom type="capsule" size="0.01" contype="0" conaffinity="0"/><joint axis="0 1 0"/></default><worldbody>
    <body name="crank"><joint name="q1"/><inertial pos="0 0 -0.5" mass="1" diaginertia="0.0833333333333333333 0.0833333333333333333 1e-9"/>
      <body name="coupler" pos="0 0 -1"><joint name="q2"/><inertial pos="1 0 0" mass="3" diaginertia="1e-9 1 1"/></body></body>
    <body name="rocker" pos="2 0 0"><joint name="q3"/><inertial pos="0 0 -0.5" mass="1" diaginertia="0.0833333333333333333 0.0833333333333333333 1e-9"/></body>
    </worldbody><equality>)") +
      closure + "</equality>");
}

State swung(const World& world, double angle) {
  State state = initial_state(world);
  state.q << angle, -angle, angle;
  return state;
}

TEST(Equality, AParallelogramSwingsAsItsPendulum) {
  const double h = 1e-3, angle = 0.6, pull = 4.0 * 9.81 * std::sin(angle) / (2.0 / 3.0 + 3.0);
  for (const char* closure :
       {R"(<connect body1="coupler" body2="rocker" anchor="2 0 0"/>)", R"(<joint joint1="q2" joint2="q1" polycoef="0 -1"/>
                              <joint joint1="q3" joint2="q1"/>)"}) {
    const World world = parallelogram(closure);
    Stepper stepper = stepper_for(world, h);
    State state = swung(world, angle);
    ASSERT_TRUE(stepper.step(VectorXd::Zero(3), state).accepted);
    EXPECT_NEAR(state.v[0], -h * pull, 1e-12);
    EXPECT_NEAR(state.v[1], h * pull, 1e-12);
    EXPECT_NEAR(state.v[2], -h * pull, 1e-12);
    const double start = energy(world, swung(world, angle));
    double worst = 0.0, gained = 0.0;
    for (int i = 0; i < 3000; ++i) {
      ASSERT_TRUE(stepper.step(VectorXd::Zero(3), state).accepted);
      worst = std::max(worst, worst_error(world, state.q));
      gained = std::max(gained, std::abs(energy(world, state) - start));
      ASSERT_NEAR(state.q[0] + state.q[1], 0.0, 1e-5);
    }
    EXPECT_LT(worst, 2e-8);
    EXPECT_LT(gained, 2e-2);  // of 39 J, oscillating as the leapfrog's does
  }
}

// Two bodies thrown with the same twist, welded: their centre of mass falls on the parabola, angular momentum stays, and so does their
// relative pose.
TEST(Equality, TwoWeldedBodiesFallAsOne) {
  const World world = load(R"(<worldbody><body name="a" pos="0 0 3"><freejoint/><geom type="box" size="0.1 0.2 0.3" mass="2"/></body>
    <body name="b" pos="0.4 0 3" euler="10 20 30"><freejoint/><geom type="box" size="0.3 0.1 0.1" mass="1"/></body></worldbody>
    <contact><exclude body1="a" body2="b"/></contact><equality><weld body1="a" body2="b"/></equality>)");
  const double h = 1e-3;
  Stepper stepper = stepper_for(world, h);
  State state = initial_state(world);
  WorldData data(world);
  const Vector3d spin(1.0, 2.0, -0.5), c(0.4 / 3.0, 0.0, 3.0);
  for (const char* name : {"a", "b"}) {
    const Joint& joint = world.joints()[world.bodies()[world.body(name)].name == "a" ? 0 : 1];
    const Eigen::Quaterniond R(Eigen::Vector4d(state.q.segment<4>(joint.q + 3)));
    state.v.segment<3>(joint.v) = R.inverse() * spin.cross(Vector3d(state.q.segment<3>(joint.q)) - c);
    state.v.segment<3>(joint.v + 3) = R.inverse() * spin;
  }
  const double start = energy(world, state);
  for (int i = 1; i <= 500; ++i) {
    ASSERT_TRUE(stepper.step(VectorXd::Zero(12), state).accepted);
    update(world, state.q, state.v, data);
    ASSERT_NEAR(center_of_mass(world, data).z(), 3.0 - 9.81 * h * h * i * (i + 1) / 2.0, 1e-9);
    ASSERT_LT(worst_error(world, state.q), 1e-6);
  }
  EXPECT_NEAR(energy(world, state), start - 3.0 * 9.81 * 9.81 * 0.5 * h / 2.0, 1e-3);  // m g² t h/2: the scheme's, of any falling body
}

// q_b = 2 q_a + 0.1: both rotors accelerate as one of inertia I_a + 4 I_b.
TEST(Equality, AGearCouplesItsJoints) {
  const World world = load(R"(<option gravity="0 0 0"/><worldbody>
    <body><joint name="a"/><inertial pos="0 0 0" mass="1" diaginertia="0.3 0.3 0.3"/></body>
    <body><joint name="b"/><inertial pos="0 0 0" mass="1" diaginertia="0.05 0.05 0.05"/></body></worldbody>
    <equality><joint joint1="b" joint2="a" polycoef="0.1 2"/></equality>)");
  for (const Law law : {Law::coulomb_cone, Law::frictionless, Law::no_slip, Law::max_dissipation}) {
    Stepper stepper = stepper_for(world, 1e-2, law);
    State state = initial_state(world);
    EXPECT_EQ(state.q, Eigen::Vector2d(0.0, 0.1));
    ASSERT_TRUE(stepper.step(Eigen::Vector2d(1.5, 0.0), state).accepted);
    EXPECT_NEAR(state.v[0], 1e-2 * 1.5 / 0.5, 1e-13);
    EXPECT_NEAR(state.v[1], 2.0 * state.v[0], 1e-13);
  }
}

TEST(Equality, ALoopThatStartsOpenClosesWithoutAKick) {
  RobotOptions options;
  options.joints["x"].position = 0.5;
  const World world = load(
      R"(<option gravity="0 0 0"/><worldbody><body name="a"><joint name="x" type="slide" axis="1 0 0"/><geom size="0.1"/></body></worldbody>
    <equality><connect body1="a" anchor="0 0 0"/></equality>)",
      options);
  ASSERT_EQ(world.warnings().size(), 1u);
  EXPECT_NE(world.warnings()[0].find("does not hold in the start configuration: off by 0.5"), std::string::npos);
  Stepper stepper = stepper_for(world, 1e-3);
  State state = initial_state(world);
  double fastest = 0.0;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
    fastest = std::max(fastest, std::abs(state.v[0]));
  }
  EXPECT_NEAR(fastest, 1.0, 1e-12);
  EXPECT_NEAR(state.q[0], 0.0, 1e-12);
  EXPECT_NEAR(state.v[0], 0.0, 1e-12);
}

// Two bodies at rest whose loop is open by metres turn as they come together, at 1 m/s: the energy is that of this speed, however long
// the step, and not what a bound of the drift, which grows with the square of the velocities, would let them have.
TEST(Equality, ALoopOpenByMetresClosesAsGentlyInLongSteps) {
  const World world = load(R"(<option gravity="0 0 0"/><worldbody>
    <body name="a"><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>
    <body name="b" pos="1 0 0"><freejoint/><geom type="box" size="0.1 0.1 0.2"/></body></worldbody>
    <contact><exclude body1="a" body2="b"/></contact><equality><connect body1="a" body2="b" anchor="0.3 -0.2 0.4"/></equality>)");
  std::mt19937 rng(3);
  std::normal_distribution<double> normal(0.0, 1.5);
  for (int k = 0; k < 5; ++k) {
    State start = initial_state(world);
    VectorXd moved(world.nv());
    for (double& x : moved) x = normal(rng);
    integrate(world, start.q, moved, 1.0, start.q);
    double most[2];
    for (const bool is_long : {false, true}) {
      const double h = is_long ? 2e-2 : 1e-3;
      Stepper stepper = stepper_for(world, h);
      State state = start;
      double& here = most[is_long ? 1 : 0];
      here = 0.0;
      for (int i = 0; i < static_cast<int>(6.0 / h); ++i) {
        ASSERT_TRUE(stepper.step(VectorXd::Zero(12), state).accepted);
        here = std::max(here, energy(world, state));
      }
      EXPECT_LT(worst_error(world, state.q), 1e-3);
    }
    EXPECT_LT(most[1], 1.3 * most[0]);
  }
}

// A straight arm of two links, its tip pinned, its base on a slide across it: at this dead centre every first motion is free and no second
// one, so the arm stays. `joint`: of the slide.
World dead_centre(const std::string& joint) {
  return load(R"(<worldbody><body name="pin" pos="1 0 0"/>
    <body name="base"><joint name="slide" type="slide" axis="0 0 1" )" +
              joint + R"(/><inertial pos="0 0 0" mass="5" diaginertia="0.1 0.1 0.1"/>
    <body name="upper"><joint axis="0 1 0"/><inertial pos="0.25 0 0" mass="1" diaginertia="0.02 0.02 0.02"/>
    <body name="lower" pos="0.5 0 0"><joint axis="0 1 0"/><inertial pos="0.25 0 0" mass="1" diaginertia="0.02 0.02 0.02"/>
    <body name="tip" pos="0.5 0 0"/></body></body></body></worldbody><equality><connect body1="tip" body2="pin" anchor="0 0 0"/></equality>)");
}

// A force finds play of second order alone, and what moves has no more energy than its work but for that of two steps without the pin.
TEST(Equality, ALoopPushedAtItsDeadCentreGainsNoEnergy) {
  const World world = dead_centre("");
  const double push = 500.0;
  for (const Scheme scheme : {Scheme::semi_implicit_euler, Scheme::moreau_midpoint}) {
    for (const double h : {1e-3, 2e-3, 5e-3, 1e-2}) {
      StepOptions options;
      options.assemble.dt = h;
      options.scheme = scheme;
      Stepper stepper(world, make_scene(world, 0.5), options);
      State state = initial_state(world);
      const double start = energy(world, state), kick = 0.5 * 7.0 * std::pow(2.0 * h * push / 7.0, 2);  // J
      double gained = 0.0, far = 0.0;
      for (int i = 0; i < static_cast<int>(1.0 / h); ++i) {
        ASSERT_EQ(stepper.step(Vector3d(push, 0.0, 0.0), state).status, Status::solved) << h;
        gained = std::max(gained, energy(world, state) - start - push * state.q[0]);
        far = std::max(far, worst_error(world, state.q));
      }
      std::printf("dead centre, %s, %g ms: gained %.3g J, two steps' kick %.3g J, open by %.2g m\n", std::string(to_string(scheme)).c_str(),
                  1e3 * h, gained, kick, far);
      EXPECT_LT(gained, kick) << h;
    }
  }
}

// The arm lets the slide go nowhere, so its limit yields.
TEST(Equality, ALimitThatALoopContradictsYields) {
  for (const double low : {5e-4, 0.01, 0.1, 0.2}) {
    const World world = dead_centre("limited=\"true\" range=\"" + std::to_string(low) + " 0.4\"");
    for (const Law law : {Law::coulomb_cone, Law::no_slip, Law::anitescu}) {
      for (const double h : {1e-3, 5e-3}) {
        Stepper stepper = stepper_for(world, h, law);
        State state = initial_state(world);
        const double start = energy(world, state);
        double gained = 0.0, far = 0.0;
        for (int i = 0; i < static_cast<int>(1.0 / h); ++i) {
          ASSERT_TRUE(stepper.step(VectorXd::Zero(3), state).accepted) << low;
          gained = std::max(gained, energy(world, state) - start);
          far = std::max(far, worst_error(world, state.q));
        }
        std::printf("limit %g m off, %s, %g ms: gained %.3g J, open by %.2g m\n", low, std::string(to_string(law)).c_str(), 1e3 * h, gained,
                    far);
        EXPECT_LT(gained, 7.0 * 9.81 * 2.0 * h) << low;  // lifted by what moves at 1 m/s in two steps
      }
    }
  }
}

// A crank of a parallelogram that starts beyond its limit takes its loop along, at rest: no speed is left when it is there.
TEST(Equality, ALimitThatALoopFollowsReturns) {
  const World world = load(R"(<option gravity="0 0 0"/><compiler angle="radian"/><worldbody>
    <body name="crank"><joint name="q1" axis="0 1 0" limited="true" range="0.3 2"/><inertial pos="0 0 -0.5" mass="1" diaginertia="0.1 0.1 0.1"/>
      <body name="coupler" pos="0 0 -1"><joint name="q2" axis="0 1 0"/><inertial pos="1 0 0" mass="3" diaginertia="1 1 1"/></body></body>
    <body name="rocker" pos="2 0 0"><joint name="q3" axis="0 1 0"/><inertial pos="0 0 -0.5" mass="1" diaginertia="0.1 0.1 0.1"/></body>
    </worldbody><equality><connect body1="coupler" body2="rocker" anchor="2 0 0"/></equality>)");
  Stepper stepper = stepper_for(world, 1e-3);
  State state = initial_state(world);
  for (int i = 0; i < 400; ++i) {
    ASSERT_EQ(stepper.step(VectorXd::Zero(3), state).status, Status::solved) << i;
    ASSERT_LT(worst_error(world, state.q), 1e-5);
  }
  EXPECT_NEAR(state.q[0], 0.3, 1e-5);
  EXPECT_NEAR(state.v.norm(), 0.0, 1e-9);
}

}  // namespace
}  // namespace stiction::equality_test
