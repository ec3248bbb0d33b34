// Joints at their limits, and beyond: they return at a bounded speed, and what holds them holds them.
#include <cmath>

#include <gtest/gtest.h>

#include "stiction/forward/step.hpp"

namespace stiction::joint_limits_test {
namespace {

using Eigen::VectorXd;

constexpr double kStep = 1e-3;

World load(const std::string& content) {
  WorldBuilder builder;
  builder.add_robot_text("<mujoco>" + content + "</mujoco>");
  return builder.build();
}

Stepper stepper_for(const World& world, Law law) {
  StepOptions options;
  options.assemble.dt = kStep;
  options.contact.law = law;
  return {world, make_scene(world, 0.5), options};
}

constexpr Law kLaws[] = {Law::coulomb_cone, Law::coulomb_pyramid, Law::frictionless, Law::no_slip, Law::anitescu, Law::max_dissipation};

// A slider at 0 with the range [0.0505, 1]: 50 steps at 1 m/s, and one that ends 0.5 mm inside.
TEST(JointLimits, AFreeJointReturnsAtTheClosingSpeed) {
  const World world = load(R"(<option gravity="0 0 0"/><worldbody><body name="a"><joint name="x" type="slide" axis="1 0 0" limited="true"
    range="0.0505 1"/><geom size="0.1"/></body></worldbody>)");
  EXPECT_EQ(world.initial_configuration()[0], 0.0);
  ASSERT_EQ(world.warnings().size(), 1u);
  EXPECT_NE(world.warnings()[0].find("joint 'x' starts at 0, outside its limits [0.0505, 1]"), std::string::npos) << world.warnings()[0];
  for (const Law law : kLaws) {
    Stepper stepper = stepper_for(world, law);
    State state = initial_state(world);
    for (int i = 1; i <= 60; ++i) {
      const StepReport report = stepper.step(VectorXd::Zero(1), state);
      ASSERT_EQ(report.status, Status::solved) << to_string(law) << " step " << i;
      ASSERT_NEAR(state.v[0], 1.0, 1e-9) << to_string(law) << " step " << i;
      ASSERT_NEAR(state.q[0], i * kStep, 1e-9);
    }
  }
}

// A door with dry friction that is swung at its stop stays there. Steps may leave rounding's share of the last one's speed, down to the
// smallest numbers.
TEST(JointLimits, ADoorWithFrictionRestsAtItsStop) {
  const World world = load(R"(<compiler angle="radian"/><worldbody><body name="door"><joint name="h" type="hinge" axis="0 0 1"
    frictionloss="1" armature="0.001" limited="true" range="-0.1 0.1"/><geom type="box" size="0.15 0.01 0.3" pos="0.15 0 0" mass="1"/>
    </body></worldbody>)");
  StepOptions options;
  options.assemble.dt = 5e-3;
  for (const Scheme scheme : {Scheme::semi_implicit_euler, Scheme::moreau_midpoint, Scheme::energy_momentum}) {
    options.scheme = scheme;
    Stepper stepper(world, make_scene(world, 0.5), options);
    for (int k = 1; k <= 100; ++k) {
      State state = initial_state(world);
      state.v[0] = k % 2 == 0 ? 0.4 * k : -0.4 * k;
      for (int i = 0; i < 60; ++i) ASSERT_EQ(stepper.step(VectorXd::Zero(1), state).status, Status::solved) << to_string(scheme) << k;
      EXPECT_LT(std::abs(state.v[0]), 1e-12);
    }
  }
}

// A joint closes a gap within a step, and one of rounding's size is none, as contacts have it: what they hold together is held by all of
// them.
TEST(JointLimits, AGapBelowATenthOfAMicrometreIsNone) {
  const World world = load(R"(<option gravity="0 0 0"/><worldbody><body name="a"><joint name="x" type="slide" axis="1 0 0" limited="true"
    range="0 1"/><geom size="0.1"/></body></worldbody>)");
  for (const Law law : kLaws) {
    Stepper stepper = stepper_for(world, law);
    for (const auto& [gap, speed] : {std::pair{5e-8, 0.0}, std::pair{2e-7, -2e-4}, std::pair{5e-4, -0.5}}) {
      for (const double side : {0.0, 1.0}) {
        State state = initial_state(world);
        state.q[0] = side == 0.0 ? gap : 1.0 - gap;
        state.v[0] = side == 0.0 ? -1.0 : 1.0;
        ASSERT_EQ(stepper.step(VectorXd::Zero(1), state).status, Status::solved) << to_string(law);
        EXPECT_NEAR(state.v[0], side == 0.0 ? speed : -speed, 1e-9) << to_string(law) << " " << gap;
      }
    }
  }
}

// The file's own pose, upside down: the return lifts the joint against gravity, 1 rad/s in 1 ms being far above it.
TEST(JointLimits, AnArmReturnsAgainstGravity) {
  const World world = load(R"(<compiler angle="radian"/><worldbody><body name="arm"><joint name="q" axis="0 1 0" limited="true"
    range="-1.2 -0.4"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.02" mass="1"/></body></worldbody>)");
  Stepper stepper = stepper_for(world, Law::coulomb_cone);
  State state = initial_state(world);
  double fastest = 0.0;
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(stepper.step(VectorXd::Zero(1), state).status, Status::solved);
    if (state.q[0] > -0.4) fastest = std::max(fastest, std::abs(state.v[0]));
  }
  EXPECT_NEAR(fastest, 1.0, 1e-9);
  EXPECT_LE(state.q[0], -0.4 + 1e-9);
}

// A drive that may give no torque changes nothing, one that asks for less holds what it can hold, and one that presses outward presses the
// joint against its limit.
TEST(JointLimits, ADriveReturnsAJointAsFastAsItCan) {
  constexpr double kBeyond = 0.02, kInertia = 2.0, kHeavy = 3.0 * kInertia / kStep;
  const World world = load(R"(<option gravity="0 0 0"/><worldbody><body name="a"><joint name="x" type="slide" axis="1 0 0" limited="true"
    range="-1 0"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body></worldbody>)");
  struct Case {
    double velocity, limit, expected;  // m/s, N, m/s after a step
  };
  for (const Case c :
       {Case{0.3, 0.0, -1.0}, Case{0.3, 1e-9, -1.0}, Case{0.3, 5.0, -1.0}, Case{0.3, kHeavy, -1.0}, Case{0.0, 0.0, -1.0},
        Case{0.0, 1e-9, 0.0}, Case{0.0, kHeavy, 0.0}, Case{-0.3, 599.0, -1.0}, Case{-0.3, 601.0, -0.3}, Case{-0.3, 0.0, -1.0},
        Case{-0.3, kHeavy, -0.3}, Case{-0.3, kInfinity, -0.3}, Case{-2.0, kHeavy, -2.0}, Case{-2.0, 0.0, -1.0}}) {
    for (const double side : {1.0, -1.0}) {
      StepOptions options;
      options.assemble.dt = kStep;
      options.assemble.drives.velocity = {{.v = 0, .velocity = side * c.velocity, .least = -c.limit, .most = c.limit}};
      Stepper stepper(world, make_scene(world, 0.5), options);
      State state = initial_state(world);
      state.q[0] = side > 0.0 ? kBeyond : -1.0 - kBeyond;
      ASSERT_EQ(stepper.step(VectorXd::Zero(1), state).status, Status::solved) << c.velocity << " " << c.limit;
      EXPECT_NEAR(state.v[0], side * c.expected, 1e-9) << c.velocity << " " << c.limit;
    }
  }
}

// A servo that is told to stay beyond the limit presses against it.
TEST(JointLimits, AServoDoesNotHoldAJointBeyondItsLimit) {
  const World world = load(R"(<option gravity="0 0 0"/><worldbody><body name="a"><joint name="x" type="slide" axis="1 0 0" limited="true"
    range="-1 0"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body></worldbody>)");
  for (const double limit : {kInfinity, 1e6}) {
    StepOptions options;
    options.assemble.dt = kStep;
    options.assemble.drives.servos = {{.v = 0, .position = 0.02, .kp = 1e6, .kd = 1e3, .limit = limit}};
    Stepper stepper(world, make_scene(world, 0.5), options);
    State state = initial_state(world);
    state.q[0] = 0.02;
    for (int i = 0; i < 40; ++i) ASSERT_EQ(stepper.step(VectorXd::Zero(1), state).status, Status::solved) << i;
    EXPECT_NEAR(state.q[0], 0.0, 1e-9) << limit;
  }
}

// A block on a spring presses a slider outward, harder than what brings the slider alone to 1 m/s in a step.
TEST(JointLimits, AJointReturnsAgainstABlockThatPressesIt) {
  const World world = load(R"(<option gravity="0 0 0"/><worldbody><body name="a"><joint name="x" type="slide" axis="1 0 0" limited="true"
    range="-1 0"/><geom type="box" size="0.1 0.1 0.1" mass="0.1"/></body><body name="b" pos="-0.18 0 0"><joint name="y" type="slide"
    axis="1 0 0" stiffness="1000"/><geom type="box" size="0.1 0.1 0.1" mass="0.3"/></body></worldbody>)");
  for (const Scheme scheme : {Scheme::semi_implicit_euler, Scheme::moreau_midpoint, Scheme::energy_momentum}) {
    for (const Law law : kLaws) {
      StepOptions options;
      options.assemble.dt = 1e-2;
      options.contact.law = law;
      options.scheme = scheme;
      Stepper stepper(world, make_scene(world, 0.5), options);
      State state = initial_state(world);
      state.q << 5e-3, -0.015;  // in touch, at 15 N
      for (int i = 0; i < 100; ++i) ASSERT_EQ(stepper.step(VectorXd::Zero(2), state).status, Status::solved) << to_string(law) << " " << i;
      EXPECT_NEAR(state.q[0], 0.0, 1e-6) << to_string(scheme) << " " << to_string(law);
      double pressed = 0.0;
      for (int i = 0; i < stepper.problem().contacts(); ++i) pressed += stepper.solution().impulses[3 * i] / options.assemble.dt;
      EXPECT_NEAR(pressed, 20.0, 1e-2) << to_string(scheme) << " " << to_string(law);
    }
  }
}

// A foot that is jammed between its limit and a wall: the wall and the limit are both hard, and the return gives way, whatever presses the
// foot on its limit.
TEST(JointLimits, ABlockedJointStaysAndTheStepIsSolved) {
  const World world = load(R"(<worldbody><geom type="box" size="0.1 1 1" pos="0.2 0 0"/><body name="a"><joint name="x" type="slide"
    axis="1 0 0" limited="true" range="0.5 1"/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody>)");
  for (const double load : {0.0, -50.0, -2e4}) {
    for (const Law law : kLaws) {
      Stepper stepper = stepper_for(world, law);
      State state = initial_state(world);
      for (int i = 0; i < 100; ++i) {
        const StepReport report = stepper.step(VectorXd::Constant(1, load), state);
        ASSERT_EQ(report.status, Status::solved) << to_string(law) << " step " << i << ", residual " << report.residual;
      }
      EXPECT_NEAR(state.q[0], 0.0, 1e-6) << to_string(law) << " " << load;
      EXPECT_NEAR(state.v[0], 0.0, 1e-6) << to_string(law) << " " << load;
    }
  }
}

// A joint that follows another is coupled to it by a hard row: both return, or the other one's limit holds both.
TEST(JointLimits, ACoupledJointTakesItsPartnerAlong) {
  const char* text = R"(<compiler angle="radian"/><option gravity="0 0 0"/><worldbody>
    <body><joint name="a" limited="true" range="-2 %s"/><inertial pos="0 0 0" mass="1" diaginertia="0.3 0.3 0.3"/></body>
    <body><joint name="b" limited="true" range="0.02 2"/><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody>
    <equality><joint joint1="b" joint2="a"/></equality>)";
  for (const bool free : {true, false}) {
    std::string content = text;
    content.replace(content.find("%s"), 2, free ? "2" : "0");
    const World world = load(content);
    Stepper stepper = stepper_for(world, Law::coulomb_cone);
    State state = initial_state(world);
    for (int i = 0; i < 100; ++i) ASSERT_EQ(stepper.step(VectorXd::Zero(2), state).status, Status::solved) << free << " " << i;
    EXPECT_NEAR(state.q[1] - state.q[0], 0.0, 1e-9);
    if (free)
      EXPECT_GE(state.q[1], 0.02);
    else
      EXPECT_NEAR(state.q[1], 0.0, 1e-9);
  }
}

}  // namespace
}  // namespace stiction::joint_limits_test
