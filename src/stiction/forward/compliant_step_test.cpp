// Steps under compliant laws: penetration is left to the law, springs outlive the step, bounces follow Newton under moreau.
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/forward/step_testing.hpp"

namespace stiction::compliant_step_test {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using step_testing::kG, step_testing::kMass, step_testing::on_slope;

ContactMaterial rubber() {
  ContactMaterial m;
  m.stiffness = m.stiffness_tangential = 1e5;
  m.damping = m.damping_tangential = 200.0;
  m.dissipation = 1.0;
  return m;
}

StepOptions options_with(Law law) {
  StepOptions options;
  options.assemble.material = rubber();
  options.contact.law = law;
  return options;
}

class CompliantStep : public testing::TestWithParam<Law> {};
INSTANTIATE_TEST_SUITE_P(Laws, CompliantStep,
                         testing::Values(Law::linear_penalty, Law::stick_slip_spring, Law::regularized_stiction, Law::hunt_crossley),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

TEST_P(CompliantStep, ABoxSinksByItsShareOfTheWeight) {
  const World world = on_slope(Box{Vector3d(0.1, 0.1, 0.05)}, 0.051, 0.0, 0.5);
  Stepper stepper(world, make_scene(world, 0.5), options_with(GetParam()));
  State state = initial_state(world);
  for (int k = 0; k < 3000; ++k) ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
  EXPECT_NEAR(0.05 - state.q[2], kMass * kG / (4.0 * rubber().stiffness), 1e-9);
}

// On 1e7 N/m the rounding of a velocity is 1e-12 of an impulse: Newton gets no further, and is not to search for another way.
TEST_P(CompliantStep, StiffGroundIsSolvedToRoundingInAFewSteps) {
  const World world = on_slope(Box{Vector3d(0.1, 0.1, 0.05)}, 0.05, 1.1 * std::atan(0.5), 0.5);
  StepOptions options = options_with(GetParam());
  ContactMaterial& ground = *options.assemble.material;
  ground.stiffness = ground.stiffness_tangential = 1e7;
  ground.damping = ground.damping_tangential = 1e3;
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  state.v << 0.3, 0.0, 0.0, 0.0, 0.5, 0.0;  // it slides and comes down on one edge
  for (int k = 0; k < 400; ++k) {
    const StepReport report = stepper.step(VectorXd::Zero(6), state);
    ASSERT_EQ(report.status, Status::solved) << k;
    ASSERT_LE(report.iterations, 15) << k;  // 20,000 where rounding is taken for a failure
  }
}

TEST(SpringStep, ASlopeHoldsWithoutCreep) {
  const World world = on_slope(Box{Vector3d(0.1, 0.1, 0.05)}, 0.05, 0.2, 0.5);
  Stepper stepper(world, make_scene(world, 0.5), options_with(Law::stick_slip_spring));
  State state = initial_state(world);
  for (int k = 0; k < 2000; ++k) ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
  const double settled = state.q[0];
  EXPECT_GT(settled, 1e-6);  // the springs give way
  for (int k = 0; k < 1000; ++k) ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
  EXPECT_NEAR(state.q[0], settled, 1e-10);
  stepper.reset();
  for (int k = 0; k < 1000; ++k) ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
  EXPECT_GT(state.q[0] - settled, 1e-6);  // without memory they give way once more
}

TEST(MoreauStep, ABallComesBackToTheHeightOfItsCoefficient) {
  const World world = on_slope(Sphere{0.05}, 0.55, 0.0, 0.5);
  StepOptions options;
  options.contact.law = Law::moreau;
  options.assemble.dt = 1e-4;
  const std::vector<double> restitution(world.bodies().size(), 0.8);
  Stepper stepper(world, make_scene(world, 0.5, restitution), options);
  State state = initial_state(world);
  double apex = 0.0;
  for (int k = 0; k < 6000; ++k) {
    ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
    if (state.v[2] > 0.0) apex = std::max(apex, state.q[2] - 0.05);
  }
  EXPECT_NEAR(apex, 0.64 * 0.5, 1e-3);
}

// A body on a linear spring with implicit forces: x⁺ = x + h v⁺, v⁺ = (v - h ω² x)/(1 + h² ω²) about its rest, so a step in n parts is the
// n-th power of that map with h/n, and the oscillation, cos ω t, is kept the better the more they are.
TEST(SubSteps, AreThePowersOfTheStepOfASpring) {
  constexpr double kDt = 4e-3, kStiffness = 2e3, kStart = 1e-3;
  const double omega = std::sqrt(kStiffness / kMass), rest = kMass * kG / kStiffness;
  double error_before = 0.0;
  for (const int parts : {1, 2, 4, 8}) {
    const World world = on_slope(Sphere{0.05}, 0.05 - rest + kStart, 0.0, 0.0);
    StepOptions options;
    options.contact.law = Law::linear_penalty;
    options.assemble.dt = kDt;
    options.assemble.material = ContactMaterial{};
    options.assemble.material->stiffness = kStiffness;
    options.sub_steps = parts;
    Stepper stepper(world, make_scene(world, 0.0), options);
    State state = initial_state(world);
    const double h = kDt / parts, a = 1.0 / (1.0 + h * h * omega * omega);
    Eigen::Matrix2d part;  // of (x, v)
    part << 1.0 - h * h * omega * omega * a, h * a, -h * omega * omega * a, a;
    Eigen::Vector2d expected(kStart, 0.0);
    for (int k = 1; k <= 50; ++k) {
      const StepReport report = stepper.step(VectorXd::Zero(6), state);
      ASSERT_TRUE(report.accepted);
      EXPECT_EQ(report.sub_steps, parts);
      EXPECT_FALSE(report.halved);
      for (int i = 0; i < parts; ++i) expected = (part * expected).eval();
      ASSERT_NEAR(state.q[2] - (0.05 - rest), expected[0], 1e-12) << parts << " " << k;
      ASSERT_NEAR(state.v[2], expected[1], 1e-11) << parts << " " << k;
    }
    EXPECT_NEAR(state.time, 50 * kDt, 1e-12);
    const double error = std::abs(state.q[2] - (0.05 - rest) - kStart * std::cos(omega * 50 * kDt));
    if (parts > 1) {
      EXPECT_LT(error, 0.7 * error_before) << parts;  // of first order: a half in the limit
    }
    error_before = error;
  }
}

TEST(SubSteps, AreStepsOfThatLengthToTheBit) {
  const World world = on_slope(Box{Vector3d(0.1, 0.1, 0.05)}, 0.06, 0.3, 0.4);
  for (const Law law : {Law::stick_slip_spring, Law::coulomb_cone}) {
    StepOptions options = options_with(law);
    options.assemble.dt = 1e-3;
    Stepper fine(world, make_scene(world, 0.4), options);
    options.assemble.dt = 4e-3;
    options.sub_steps = 4;
    Stepper coarse(world, make_scene(world, 0.4), options);
    State a = initial_state(world), b = a;
    for (int k = 0; k < 100; ++k) {
      for (int i = 0; i < 4; ++i) ASSERT_TRUE(fine.step(VectorXd::Zero(6), a).accepted);
      coarse.prepare(b, VectorXd::Zero(6));
      ASSERT_TRUE(coarse.step(VectorXd::Zero(6), b, true).accepted);
      ASSERT_EQ(a.q, b.q) << to_string(law) << " " << k;
      ASSERT_EQ(a.v, b.v) << to_string(law) << " " << k;
    }
  }
}

TEST(SubSteps, AreAtLeastOneAndNoneOfEvents) {
  const World world = on_slope(Sphere{0.05}, 0.05, 0.0, 0.5);
  StepOptions options;
  options.sub_steps = 0;
  EXPECT_THROW(Stepper(world, make_scene(world, 0.5), options), InvalidArgument);
  options.sub_steps = 2;
  options.scheme = Scheme::event_driven;
  EXPECT_THROW(Stepper(world, make_scene(world, 0.5), options), InvalidArgument);
}

TEST(CompliantStepErrors, AskForStiffness) {
  const World world = on_slope(Box{Vector3d(0.1, 0.1, 0.05)}, 0.05, 0.0, 0.5);
  StepOptions options;
  options.contact.law = Law::hunt_crossley;
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  EXPECT_THROW(stepper.step(VectorXd::Zero(6), state), InvalidArgument);
}

}  // namespace
}  // namespace stiction::compliant_step_test
