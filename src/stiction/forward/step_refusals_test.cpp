// What a stepper refuses, and how it says so.
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/forward/step_testing.hpp"
#include "stiction/forward/test_worlds.hpp"

namespace stiction::step_refusals_test {
namespace {

using namespace step_testing;

using Eigen::VectorXd;

TEST(Stepper, StateThatCannotStayFiniteIsAStatus) {
  const World world = box_on_ground(0.05);
  Stepper stepper = stepper_for(world, options_with(Law::coulomb_cone));
  for (const double speed : {1e100, 1e160, 1e300, 1e308}) {
    State state = initial_state(world);
    state.v << speed, -speed, -speed, speed, speed, -speed;
    State before = state;
    const StepReport report = stepper.step(VectorXd::Zero(6), state);
    EXPECT_TRUE(state.q.allFinite() && state.v.allFinite()) << speed;
    if (!report.accepted) {
      EXPECT_NE(report.status, Status::solved);
      EXPECT_EQ(state.q, before.q);
    }
  }
}

// Beyond 1e9 m a position has no digits left for the motion of a step: what is there, or would get there, is refused.
TEST(Stepper, NothingMovesWherePositionsHaveNoDigits) {
  for (const Scheme scheme : kSchemes) {
    StepOptions options = options_with(Law::coulomb_cone);
    options.scheme = scheme;
    Stepper stepper = stepper_for(box_on_ground(0.05), options);
    State state = initial_state(stepper.world());
    state.q[0] = 0.99e9;
    const StepReport taken = stepper.step(VectorXd::Zero(6), state);
    EXPECT_TRUE(taken.accepted) << to_string(scheme);
    EXPECT_EQ(taken.refused, Refusal::none) << to_string(scheme);
    for (const double force : {1e18, 1e30, 1e300}) {
      state = initial_state(stepper.world());
      VectorXd tau = VectorXd::Zero(6);
      tau[0] = force;
      const StepReport report = stepper.step(tau, state);
      EXPECT_FALSE(report.accepted) << to_string(scheme) << force;
      EXPECT_NE(report.status, Status::solved) << to_string(scheme) << force;
      EXPECT_NE(report.refused, Refusal::none) << to_string(scheme) << force;
    }
    state.q[0] = -1.1e9;
    EXPECT_THROW(stepper.step(VectorXd::Zero(6), state), InvalidArgument);
    EXPECT_THROW(stepper.prepare(state, VectorXd::Zero(6)), InvalidArgument);
  }
}

TEST(Stepper, BadInputNamesTheArgument) {
  const World world = box_on_ground(0.05);
  Stepper stepper = stepper_for(world, options_with(Law::coulomb_cone));
  State state = initial_state(world);
  EXPECT_THROW(stepper.step(VectorXd::Constant(6, std::nan("")), state), InvalidArgument);
  EXPECT_THROW(stepper.step(VectorXd::Zero(5), state), InvalidArgument);
  state.v[2] = kInfinity;
  EXPECT_THROW(stepper.step(VectorXd::Zero(6), state), InvalidArgument);
  StepOptions bad = options_with(Law::coulomb_cone, -1.0);
  EXPECT_THROW(stepper.set_options(bad), InvalidArgument);
  bad = options_with(Law::coulomb_cone);
  bad.acceptable = std::nan("");
  EXPECT_THROW(stepper.set_options(bad), InvalidArgument);
}

template <class Call>
void expect_refused(const std::string& argument, Call call) {
  try {
    call();
    ADD_FAILURE() << argument << " was taken";
  } catch (const InvalidArgument& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(argument + ":")) << argument << ": " << error.what();
  }
}

TEST(Stepper, ASceneOfAnotherWorldIsRefusedAtOnce) {
  const World world = box_on_ground(0.05);
  WorldBuilder builder;
  for (const char* name : {"a", "b"}) {
    FreeBody body;
    body.name = name;
    body.shapes = {{Sphere{0.1}}};
    body.mass = 1.0;
    body.inertia = Eigen::Matrix3d::Identity();
    builder.add_free_body(body);
  }
  expect_refused("scene.geometries[0].fixed", [&] { Stepper(world, make_scene(builder.build(), 0.5), {}); });
}

TEST(Stepper, OptionsOutOfRangeAreRefusedByName) {
  const World world = box_on_ground(0.05);
  const auto refuses = [&](const std::string& argument, auto edit) {
    StepOptions options = options_with(Law::coulomb_cone);
    edit(options);
    expect_refused(argument, [&] { stepper_for(world, options); });
  };
  const auto pair = [](auto edit) {
    return [edit](StepOptions& options) {
      PairMaterial second{1, 0, {}, {}, {}, {}};
      edit(second);
      options.assemble.pairs = {PairMaterial{1, 0, 0.3, 0.5, Law::moreau, ContactMaterial{}}, second};
    };
  };
  for (const double value : {std::nan(""), -1.0, -kInfinity}) {
    refuses("assemble.friction", [&](StepOptions& o) { o.assemble.friction = value; });
    refuses("assemble.limit_reach", [&](StepOptions& o) { o.assemble.limit_reach = value; });
    refuses("assemble.pairs[1].mu", pair([&](PairMaterial& p) { p.mu = value; }));
  }
  for (const double value : {std::nan(""), -1.0, -kInfinity, kInfinity, 1.5}) {
    refuses("assemble.spring_ahead", [&](StepOptions& o) { o.assemble.spring_ahead = value; });
    refuses("assemble.damping_share", [&](StepOptions& o) { o.assemble.damping_share = value; });
    refuses("assemble.pairs[1].restitution", pair([&](PairMaterial& p) { p.restitution = value; }));
    refuses("assemble.material.restitution_tangential",
            [&](StepOptions& o) { o.assemble.material.emplace().restitution_tangential = value; });
  }
  for (const double value : {std::nan(""), -50.0, kInfinity}) {
    for (const MaterialField& field : kMaterialFields) {
      if (field.range == MaterialField::Range::any && std::isfinite(value)) continue;
      refuses("assemble.material." + std::string(field.name), [&](StepOptions& o) { o.assemble.material.emplace().*field.member = value; });
      refuses("assemble.pairs[1].material." + std::string(field.name),
              pair([&](PairMaterial& p) { p.material.emplace().*field.member = value; }));
    }
  }
  for (const int body : {-3, -2, 2, 77}) refuses("assemble.pairs[1].body_a", pair([&](PairMaterial& p) { p.body_a = body; }));
  for (const int body : {-3, 2, 77}) refuses("assemble.pairs[1].body_b", pair([&](PairMaterial& p) { p.body_b = body; }));
  for (const int number : {-1, 99}) {
    refuses("assemble.pairs[1].law", pair([&](PairMaterial& p) { p.law = static_cast<Law>(number); }));
    refuses("assemble.law", [&](StepOptions& o) { o.assemble.law = static_cast<Law>(number); });
    refuses("law", [&](StepOptions& o) { o.contact.law = static_cast<Law>(number); });
    refuses("solver", [&](StepOptions& o) { o.contact.solver = static_cast<Solver>(number); });
    refuses("choice", [&](StepOptions& o) { o.contact.choice = static_cast<Choice>(number); });
    refuses("variant", [&](StepOptions& o) { o.contact.variant = static_cast<PyramidVariant>(number); });
    refuses("viscous_slip", [&](StepOptions& o) { o.contact.viscous_slip = static_cast<ViscousSlip>(number); });
    refuses("scheme", [&](StepOptions& o) { o.scheme = static_cast<Scheme>(number); });
    refuses("events.integrator", [&](StepOptions& o) { o.events.integrator = static_cast<Integrator>(number); });
  }
  StepOptions allowed = options_with(Law::coulomb_cone);
  allowed.assemble.limit_reach = kInfinity;
  allowed.assemble.friction = kInfinity;
  pair([](PairMaterial& p) { p.body_b = kAnyBody; })(allowed);
  EXPECT_NO_THROW(stepper_for(world, allowed));
}

TEST(Stepper, TakesASceneAndATimeOfItsOwnWorld) {
  const World world = box_on_ground(0.05);
  expect_refused("scene", [&] { Stepper(world, make_scene(falling_boxes(3), 0.5), options_with(Law::coulomb_cone)); });
  Stepper stepper = stepper_for(world, options_with(Law::coulomb_cone));
  State state = initial_state(world);
  state.time = std::nan("");
  expect_refused("state.time", [&] { stepper.step(VectorXd::Zero(6), state); });
}

TEST(Stepper, PreparedIsAPromiseThatIsChecked) {
  const World world = box_on_ground(0.05);
  Stepper stepper = stepper_for(world, options_with(Law::coulomb_cone));
  State state = initial_state(world);
  const VectorXd none = VectorXd::Zero(6);
  expect_refused("prepared", [&] { stepper.step(none, state, true); });
  stepper.prepare(state, none);
  State other = state;
  other.v[0] = 3.0;
  expect_refused("prepared", [&] { stepper.step(none, other, true); });
  EXPECT_TRUE(stepper.step(none, state, true).accepted);
  expect_refused("prepared", [&] { stepper.step(none, state, true); });
}

}  // namespace
}  // namespace stiction::step_refusals_test
