// The one loop: its order, its ends, what observers see; and that a copy is a whole simulation.
#include "stiction/sim/simulation.hpp"

#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/sim/observers.hpp"
#include "stiction/sim/scene.hpp"

namespace stiction::simulation_test {
namespace {

using Eigen::VectorXd;

constexpr double kStep = 1e-3, kGravity = 9.81;

/// A ball of 2 kg above a plane.
Scene ball(double height) {
  WorldBuilder builder;
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}});
  FreeBody body;
  body.name = "ball";
  body.mass = 2.0;
  body.shapes = {{Sphere{0.1}}};
  body.inertia = solid_inertia(Sphere{0.1}, body.mass);
  body.pose.translation().z() = height;
  builder.add_free_body(body);
  Scene scene;
  scene.world = builder.build();
  scene.start = initial_state(scene.world);
  scene.restitution.assign(scene.world.bodies().size(), 0.0);
  scene.options.assemble.dt = kStep;
  return scene;
}

// A scheme that solves several times per step has not tried any of them again.
TEST(Simulation, StepsThatAreSolvedOnceAreNotCountedAsRetried) {
  for (const Scheme scheme : {Scheme::semi_implicit_euler, Scheme::energy_momentum, Scheme::event_driven}) {
    Scene scene = load_scene("stack");
    scene.options.scheme = scheme;
    const RunSummary summary = Simulation(scene).run({.duration = 0.1});
    EXPECT_EQ(summary.stop, Stop::duration) << to_string(scheme);
    EXPECT_EQ(summary.retried, 0) << to_string(scheme);
  }
}

TEST(Simulation, ControlsStepObserversInThisOrder) {
  const Scene scene = ball(5.0);
  Simulation simulation(scene);
  std::string order;
  const auto control = [&](const Simulation& s, VectorXd& tau) {
    EXPECT_EQ(tau, VectorXd::Zero(6));  // of the step before nothing is left
    EXPECT_NEAR(s.state().v[2], order.empty() ? 0.0 : (3.0 / 2.0 - kGravity) * kStep, 1e-15);
    tau[2] = 3.0;
    order += 'c';
  };
  const auto first = [&](const StepTaken& step) {
    EXPECT_EQ(step.step, static_cast<long>(order.size()) / 3);
    EXPECT_EQ(step.steps, 2);
    EXPECT_EQ(step.tau[2], 3.0);
    EXPECT_NEAR(step.state.v[2] - step.before.v[2], (3.0 / 2.0 - kGravity) * kStep, 1e-15);
    order += 'a';
  };
  const RunSummary run =
      simulation.run({.duration = 2 * kStep, .control = control, .observers = {first, [&](const StepTaken&) { order += 'b'; }}});
  EXPECT_EQ(order, "cabcab");
  EXPECT_EQ(run.stop, Stop::duration);
  EXPECT_EQ(run.steps, 2);
  EXPECT_EQ(run.status(), "solved");
  EXPECT_EQ(simulation.steps(), 2);
  EXPECT_NEAR(simulation.state().time, 2 * kStep, 1e-15);
}

TEST(Simulation, EndsWhenAsked) {
  Simulation simulation(ball(5.0));
  const RunSummary run = simulation.run({.duration = 1.0, .until = [](const Simulation& s) { return s.state().v[2] < -0.5; }});
  EXPECT_EQ(run.stop, Stop::asked);
  EXPECT_EQ(run.steps, static_cast<long>(std::ceil(0.5 / (kGravity * kStep))));
  EXPECT_EQ(run.status(), "solved");
}

// The velocity that the third step ends with has no square.
TEST(Simulation, EndsAtAStepThatIsRefused) {
  Scene scene = ball(0.1 + 1e-3);
  Simulation simulation(scene);
  const auto control = [](const Simulation& s, VectorXd& tau) { tau[0] = s.steps() == 2 ? 1e308 : 0.0; };
  const RunSummary run = simulation.run({.duration = 1.0, .control = control});
  EXPECT_EQ(run.stop, Stop::refused);
  EXPECT_EQ(run.steps, 2);  // a step that leads out of the range of positions is not taken
  EXPECT_FALSE(run.last.accepted);
  EXPECT_EQ(run.status(), to_string(run.last.status));
  EXPECT_NEAR(simulation.state().time, 2 * kStep, 1e-15);
}

TEST(Simulation, ARecordTellsHowTheRunEnded) {
  const auto recorded = [](RunOptions plan, long at) {
    Scene scene = ball(0.1 + 1e-3);
    scene.options.contact.law = Law::anitescu;
    scene.options.contact.tolerance = 1e-7;
    Simulation simulation(scene);
    plan.control = [at](const Simulation& s, VectorXd& tau) { tau[0] = s.steps() == at ? 1e308 : 0.0; };
    Trajectory out;
    out.add(scene.start);
    plan.observers = {record_to(out)};
    record_end(out, simulation.stepper(), simulation.run(plan), "asked");
    return out;
  };
  const double all = 5 * kStep;
  const Trajectory whole = recorded({.duration = all}, -1), refused = recorded({.duration = all}, 2);
  const Trajectory asked = recorded({.duration = all, .until = [](const Simulation& s) { return s.steps() == 3; }}, -1);
  for (const Trajectory& r : {whole, refused, asked}) {
    EXPECT_EQ(r.law, "anitescu");
    EXPECT_EQ(r.scheme, "semi_implicit_euler");
    EXPECT_EQ(r.dt, kStep);
    EXPECT_EQ(r.tolerance, 1e-7);
  }
  EXPECT_EQ(whole.status, "solved");
  EXPECT_EQ(whole.refused, "");
  EXPECT_EQ(refused.status, "numerical_error");
  EXPECT_EQ(refused.refused, "reach");
  EXPECT_EQ(asked.status, "asked");
  EXPECT_EQ(asked.refused, "");
  EXPECT_EQ(asked.states(), 4U);
}

TEST(Simulation, RefusesDurationsAndStatesThatDoNotFit) {
  Simulation simulation(ball(5.0));
  for (const double duration : {0.0, -1.0, 0.4 * kStep, double(NAN), kInfinity, 1.1e9 * kStep}) {
    EXPECT_THROW(simulation.run({.duration = duration}), InvalidArgument) << duration;
  }
  State small = simulation.state();
  small.v.resize(5);
  EXPECT_THROW(simulation.restart(small), InvalidArgument);
  EXPECT_THROW(Simulation(ball(5.0).make_stepper(), small), InvalidArgument);
  EXPECT_EQ(simulation.state().v.size(), 6);
}

TEST(Simulation, ARestartThatIsRefusedChangesNothing) {
  Simulation simulation(ball(5.0));
  const State start = simulation.state();
  const auto refused = [&](const auto& spoil) {
    State bad = start;
    spoil(bad);
    EXPECT_THROW(simulation.restart(bad), InvalidArgument);
  };
  refused([](State& s) { s.q.tail<4>().setZero(); });
  refused([](State& s) { s.q[0] = 1e300; });
  refused([](State& s) { s.v[0] = double(NAN); });
  refused([](State& s) { s.time = kInfinity; });
  EXPECT_EQ(simulation.state().q, start.q);
  EXPECT_EQ(simulation.state().v, start.v);
  EXPECT_TRUE(simulation.step(VectorXd::Zero(6)).accepted);
}

// Semi-implicit Euler in free fall: v = -n h g and z = -g h² n (n + 1)/2, so E = -m g² h² n/2.
TEST(Observers, EnergyOfAFreeFall) {
  const Scene scene = ball(100.0);
  EnergyWatch energy(scene.world, scene.start);
  Trajectory trajectory;
  std::vector<double> shares;
  Simulation simulation(scene);
  simulation.run(
      {.duration = 0.5,
       .observers = {std::ref(energy), record_to(trajectory), report_progress([&](double share) { shares.push_back(share); }, 200)}});
  EXPECT_NEAR(energy.start(), 2.0 * kGravity * 100.0, 1e-9);
  EXPECT_NEAR(energy.now() - energy.start(), -2.0 * std::pow(kGravity * kStep, 2) * 500.0 / 2.0, 1e-9);
  EXPECT_EQ(energy.now(), mechanical_energy(scene.world, simulation.state()));
  EXPECT_LT(energy.rise(), 1e-9);
  EXPECT_EQ(trajectory.time.size(), 500U);
  EXPECT_EQ(trajectory.time.back(), simulation.state().time);
  EXPECT_THAT(shares, testing::ElementsAre(0.0, 0.4, 0.8));
}

// Twice the weight upwards from the 250th step on stops the ball at the 500th, n = 250: E = -2 m g² h² n²/2 there, fallen at every step.
// Then it rises: v = n h g, z = g h² n (n + 1)/2 above that.
TEST(Observers, EnergyThatIsPutInIsARise) {
  const Scene scene = ball(100.0);
  EnergyWatch energy(scene.world, scene.start);
  const auto control = [](const Simulation& s, VectorXd& tau) { tau[2] = s.steps() < 250 ? 0.0 : 4.0 * kGravity; };
  Simulation simulation(scene);
  const double unit = std::pow(kGravity * kStep, 2);
  simulation.run({.duration = 0.5, .control = control, .observers = {std::ref(energy)}});
  EXPECT_NEAR(energy.now() - energy.start(), -2.0 * unit * 250 * 250, 1e-9);
  EXPECT_LT(energy.rise(), 1e-9);
  simulation.run({.duration = 0.25, .control = control, .observers = {std::ref(energy)}});
  EXPECT_NEAR(energy.rise(), unit * (250 * 250 + 250 * 251), 1e-9);
}

struct Case {
  Law law;
  Choice choice;
};

Scene stack(const Case& c) {
  Scene out = load_scene("stack");
  out.options.contact.law = c.law;
  out.options.contact.choice = c.choice;
  out.options.assemble.material = ContactMaterial{};
  out.options.assemble.material->stiffness = 1e5;
  out.options.assemble.material->damping = 100.0;
  out.options.assemble.material->stiffness_tangential = 1e5;
  for (Eigen::Index i = 0; i < out.start.v.size(); ++i) out.start.v[i] = 0.2 * std::sin(1.0 + static_cast<double>(i));
  return out;
}

/// Every number of the next steps, forces included.
std::vector<double> trace(Simulation& simulation) {
  Trajectory seen;
  EXPECT_EQ(simulation.run({.duration = 0.1, .observers = {record_to(seen)}}).stop, Stop::duration);
  std::vector<double> out = seen.q;
  for (const auto* more : {&seen.v, &seen.time, &seen.contact_points, &seen.contact_forces})
    out.insert(out.end(), more->begin(), more->end());
  return out;
}

TEST(Simulation, AnEmptyObserverIsRefusedByItsPlace) {
  Simulation simulation(ball(5.0));
  try {
    simulation.run({.duration = 0.1, .observers = {[](const StepTaken&) {}, Observer{}}});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "observers[1]: expected a function, got an empty one");
  }
  EXPECT_EQ(simulation.state().time, 0.0);
}

class EveryLawWithAPast : public testing::TestWithParam<Case> {
 protected:
  static Scene scene() { return stack(GetParam()); }
};

TEST_P(EveryLawWithAPast, ACopyGoesOnBitForBit) {
  Simulation simulation(scene());
  trace(simulation);
  const Simulation saved = simulation;
  const std::vector<double> original = trace(simulation);
  Simulation copy = saved;
  EXPECT_EQ(trace(copy), original);
  trace(simulation);
  simulation = saved;  // back, over a stepper that has gone on
  EXPECT_EQ(trace(simulation), original);
}

TEST_P(EveryLawWithAPast, ACopyBetweenPreparationAndStepIsWhole) {
  Simulation simulation(scene());
  trace(simulation);
  const VectorXd none = VectorXd::Zero(simulation.world().nv());
  Simulation plain = simulation;
  plain.step(none);
  simulation.prepare(none);
  Simulation copy = simulation;
  simulation.step(none);
  copy.step(none);
  EXPECT_EQ(copy.state().q, simulation.state().q);
  EXPECT_EQ(copy.state().v, simulation.state().v);
  EXPECT_EQ(copy.state().v, plain.state().v);
  EXPECT_EQ(trace(copy), trace(simulation));
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryLawWithAPast,
                         testing::Values(Case{Law::coulomb_cone, Choice::warm_start}, Case{Law::coulomb_cone, Choice::closest_to_last},
                                         Case{Law::coulomb_pyramid, Choice::closest_to_last}, Case{Law::moreau, Choice::warm_start},
                                         Case{Law::stick_slip_spring, Choice::warm_start}),
                         [](const auto& instance) {
                           return std::string(to_string(instance.param.law)) + "_" + std::string(to_string(instance.param.choice));
                         });

// What the copies could miss: the past has a say, and q and v do not hold it.
TEST(Simulation, TheStateAloneIsNotTheWhole) {
  for (const Case& c : {Case{Law::coulomb_pyramid, Choice::closest_to_last}, Case{Law::stick_slip_spring, Choice::warm_start}}) {
    Simulation simulation(stack(c)), fresh(stack(c));
    trace(simulation);
    fresh.restart(simulation.state());
    EXPECT_EQ(fresh.steps(), 0);
    EXPECT_NE(trace(fresh), trace(simulation));
  }
}

}  // namespace
}  // namespace stiction::simulation_test
