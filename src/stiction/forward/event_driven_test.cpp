// The event-driven scheme against closed forms: times of contact, Zeno's time, stick and slip, chains of impacts.
#include "stiction/forward/event_driven.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/forward/event_testing.hpp"

namespace stiction::event_driven_test {
namespace {

using namespace event_testing;

// t_1 = √(2 h/g), flights of 2 ε^k √(2 h/g), at rest at √(2 h/g) (1 + ε)/(1 - ε).
TEST(EventDriven, ABouncingBallMeetsTheGroundWhenItShouldAndRestsAtZenosTime) {
  const double height = 1.0, e = 0.8, first = std::sqrt(2.0 * height / kG);
  for (const Integrator integrator : {Integrator::rk4, Integrator::rk45}) {
    for (const double h : {1e-3, 1e-2}) {
      Stepper stepper = stepper_for(ball_above_ground(height), event_options(h, integrator), e);
      State state = initial_state(stepper.world());
      const std::vector<Event> events = run(stepper, state, 4.5);
      const std::vector<double> hits = times_of(events, EventKind::impact), rest = times_of(events, EventKind::rest);
      ASSERT_GT(hits.size(), 30u);
      double time = first, flight = 2.0 * e * first;
      for (std::size_t k = 0; k < 30; ++k, time += flight, flight *= e) EXPECT_NEAR(hits[k], time, kTime) << k;
      ASSERT_EQ(rest.size(), 1u);
      EXPECT_NEAR(rest[0], first * (1.0 + e) / (1.0 - e), kTime) << h;
      EXPECT_NEAR(state.q[2], kRadius, 1e-12);
      EXPECT_LT(state.v.norm(), 1e-9);
    }
  }
}

// Between two bounces on a slope the ball flies as on the flat, with g cos along the normal; without friction it gains g sin along it.
TEST(EventDriven, ABallBouncesDownASlope) {
  const double angle = 0.3, height = 0.5, e = 0.7, normal = kG * std::cos(angle), first = std::sqrt(2.0 * height / normal);
  Stepper stepper = stepper_for(on_slope(angle, 0.0, Sphere{kRadius}, kRadius + height), event_options(1e-3), e);
  State state = initial_state(stepper.world());
  const Vector3d downhill(std::cos(angle), 0.0, -std::sin(angle)), start = state.q.head<3>();
  const std::vector<double> hits = times_of(run(stepper, state, 2.5), EventKind::impact);
  ASSERT_GT(hits.size(), 10u);
  double time = first, flight = 2.0 * e * first;
  for (std::size_t k = 0; k < 10; ++k, time += flight, flight *= e) EXPECT_NEAR(hits[k], time, kTime) << k;
  EXPECT_NEAR((state.q.head<3>() - start).dot(downhill), 0.5 * kG * std::sin(angle) * 2.5 * 2.5, 1e-8);
}

// What a step computes is its state's alone, whatever the stepper did before: here a slide slower than a step may make it, then a flight
// that spins too fast for one piece.
TEST(EventDriven, AStepperThatWasResetStepsAsAFreshOne) {
  for (const Integrator integrator : kIntegrators) {
    const StepOptions options = event_options(1e-2, integrator);
    const Stepper fresh = stepper_for(on_slope(0.0, 0.05, Box{Vector3d(0.1, 0.2, 0.05)}, 0.05), options);
    const VectorXd tau = VectorXd::Zero(6);
    State slide = initial_state(fresh.world());
    slide.v[0] = 0.09;  // m/s, of which 0.005 go in a step
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    int cut = 0;
    for (int run = 0; run < 30; ++run) {
      State one = initial_state(fresh.world());
      one.q[2] = 5.0;
      for (double& x : one.v) x = 20.0 * normal(random);
      State other = one, before = slide;
      Stepper a = fresh, b = fresh;
      ASSERT_TRUE(b.step(tau, before).accepted);
      b.reset();
      for (int k = 0; k < 5; ++k) {
        cut += a.step(tau, one).sub_steps > 1 ? 1 : 0;
        b.step(tau, other);
      }
      EXPECT_EQ(one.q, other.q) << to_string(integrator) << run;
      EXPECT_EQ(one.v, other.v) << to_string(integrator) << run;
    }
    EXPECT_EQ(cut > 0, integrator != Integrator::symplectic_euler);
  }
}

// A shoved block: stops after v/(μ g), having gone v²/(2 μ g); on a slope it goes on with a = g (sin - μ cos) where tan > μ.
TEST(EventDriven, ABlockSlidesSticksAndSlips) {
  const double mu = 0.4, speed = 1.0, stop = speed / (mu * kG);
  for (const Law law : {Law::coulomb_cone, Law::coulomb_pyramid, Law::moreau}) {
    StepOptions options = event_options(1e-2);
    options.contact.law = law;
    Stepper stepper = stepper_for(on_slope(0.0, mu, Box{Vector3d(0.1, 0.1, 0.05)}, 0.05), options);
    State state = initial_state(stepper.world());
    state.v[0] = speed;
    const std::vector<double> sticks = times_of(run(stepper, state, 0.5), EventKind::stick);
    ASSERT_FALSE(sticks.empty()) << to_string(law);
    EXPECT_NEAR(sticks.front(), stop, kTime) << to_string(law);
    EXPECT_NEAR(state.q[0], speed * speed / (2.0 * mu * kG), 1e-9) << to_string(law);
    EXPECT_LT(state.v.norm(), 1e-9) << to_string(law);
  }
  const double angle = 0.5;
  for (const double friction : {0.3, 0.6}) {  // tan(0.5) = 0.546
    Stepper stepper = stepper_for(on_slope(angle, friction, Box{Vector3d(0.1, 0.1, 0.05)}, 0.05), event_options(1e-2));
    State state = initial_state(stepper.world());
    const Vector3d start = state.q.head<3>(), downhill(std::cos(angle), 0.0, -std::sin(angle));
    run(stepper, state, 1.0);
    const double a = std::max(0.0, kG * (std::sin(angle) - friction * std::cos(angle)));
    EXPECT_NEAR((state.q.head<3>() - start).dot(downhill), 0.5 * a, 1e-9);
  }
}

// A push that grows with time in steps: the stick gives way in the step in which it passes μ m g, not before.
TEST(EventDriven, AStickGivesWayAtTheConesEdge) {
  const double mu = 0.5, mass = 2.0;
  for (const double share : {0.999, 1.001}) {
    Stepper stepper = stepper_for(on_slope(0.0, mu, Box{Vector3d(0.1, 0.1, 0.05)}, 0.05), event_options(1e-2));
    State state = initial_state(stepper.world());
    VectorXd tau = VectorXd::Zero(6);
    tau[0] = share * mu * mass * kG;
    run(stepper, state, 0.5, tau);
    const double a = std::max(0.0, share - 1.0) * mu * kG;
    EXPECT_NEAR(state.q[0], 0.5 * a * 0.25, 1e-9) << share;
  }
}

// Bowled, it slides until 2 v/(7 μ g), 12 v²/(49 μ g) on, then rolls at 5 v/7.
TEST(EventDriven, ABowledBallRollsFromTheTimeItShould) {
  const double mu = 0.2, speed = 3.0, T = 1.0, slip = 2.0 * speed / (7.0 * mu * kG);
  Stepper stepper = stepper_for(ball_above_ground(0.0, mu), event_options(1e-2));
  State state = initial_state(stepper.world());
  state.v[0] = speed;
  const std::vector<double> sticks = times_of(run(stepper, state, T), EventKind::stick);
  ASSERT_EQ(sticks.size(), 1u);
  EXPECT_NEAR(sticks[0], slip, kTime);
  EXPECT_NEAR(state.q[0], 12.0 * speed * speed / (49.0 * mu * kG) + 5.0 / 7.0 * speed * (T - slip), 1e-8);
  EXPECT_NEAR(state.q[2], kRadius, 1e-12);
}

VectorXd cradle(int balls, double gap, ImpactOrder order, ImpactModel model, double restitution) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  for (int k = 0; k < balls; ++k) {
    builder.add_free_body(solid("ball" + std::to_string(k), Sphere{kRadius}, 1.0, Vector3d(k * (2.0 * kRadius + gap), 0.0, 0.0), 0.0));
  }
  StepOptions options = event_options(1e-2);
  options.events.order = order;
  options.events.impact = model;
  Stepper stepper = stepper_for(builder.build(), options, restitution);
  State state = initial_state(stepper.world());
  state.v[0] = 1.0;
  run(stepper, state, 0.5);
  VectorXd speeds(balls);
  for (int k = 0; k < balls; ++k) speeds[k] = state.v[6 * k];
  return speeds;
}

// validation.md: sequential (0, 0, 1), simultaneous (-1/3, 2/3, 2/3). Poisson, simultaneous: compression to 1/3 each by impulses 2/3 and
// 1/3, which expansion gives back: the same.
TEST(EventDriven, ACradlePassesTheBlowOnInTurnOrAtOnce) {
  const VectorXd in_turn = Vector3d(0.0, 0.0, 1.0), at_once = Vector3d(-1.0, 2.0, 2.0) / 3.0;
  for (const ImpactModel model : {ImpactModel::newton, ImpactModel::poisson}) {
    EXPECT_LT((cradle(3, 0.0, ImpactOrder::sequential, model, 1.0) - in_turn).norm(), 1e-8);
    EXPECT_LT((cradle(3, 0.0, ImpactOrder::simultaneous, model, 1.0) - at_once).norm(), 1e-8);
    EXPECT_LT((cradle(3, 0.01, ImpactOrder::simultaneous, model, 1.0) - in_turn).norm(), 1e-8);  // apart: one after the other anyway
  }
  VectorXd five = VectorXd::Zero(5);
  five[4] = 1.0;
  EXPECT_LT((cradle(5, 0.0, ImpactOrder::sequential, ImpactModel::newton, 1.0) - five).norm(), 1e-8);
}

/// A slender rod of 1 kg and 1 m that leans with tan θ = 2, its lower end, the lowest point of a small ball, above or on the ground.
World leaning_rod(double mu, bool gravity, double height) {
  const double s = std::sin(std::atan(2.0)), c = std::cos(std::atan(2.0)), half = 0.5, ball = 0.01;
  WorldBuilder builder;
  if (!gravity) builder.set_gravity(Vector3d::Zero());
  StaticBody ground{"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}, Eigen::Isometry3d::Identity(), mu}}};
  ground.pose.translation().z() = -half * s - height;
  builder.add_static_body(ground);
  builder.add_robot_text(fmt::format(R"(<mujoco><worldbody><body name="rod"><joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1"/><joint name="turn" axis="0 1 0"/>
      <inertial pos="0 0 0" mass="1" diaginertia="{0} {0} {0}"/><geom type="sphere" size="{1}" pos="{2} 0 {3}"/></body></worldbody></mujoco>)",
                                     half * half / 3.0, ball, -half * c, -half * s + ball));
  return builder.build();
}

/// Inverse inertia at its end, normal and tangent.
Eigen::Matrix2d rod_mobility() {
  const double s = std::sin(std::atan(2.0)), c = std::cos(std::atan(2.0));
  Eigen::Matrix2d G;
  G << 1.0 + 3.0 * c * c, -3.0 * s * c, -3.0 * s * c, 1.0 + 3.0 * s * s;
  return G;
}

// The end comes in at (-w, s) and is held by friction. Compression: λ_c = -G⁻¹ u. Newton: u_N⁺ = ε w. Poisson: ε λ_cN more along the normal
// while friction keeps u_T = 0, so u_N⁺ = ε λ_cN det G/G_TT = ε (w + s G_NT/G_TT).
TEST(EventDriven, PoissonsRestitutionIsThatOfImpulses) {
  const double e = 0.5, w = 1.0, slip = 0.5;
  const Eigen::Matrix2d G = rod_mobility();
  for (const ImpactModel model : {ImpactModel::newton, ImpactModel::poisson}) {
    StepOptions options = event_options(1e-3);
    options.assemble.friction = 5.0;
    options.events.impact = model;
    Stepper stepper = stepper_for(leaning_rod(5.0, false, 0.5e-3), options, e);
    State state = initial_state(stepper.world());
    state.v << slip, -w, 0.0;
    ASSERT_TRUE(stepper.step(VectorXd::Zero(3), state).accepted);
    ASSERT_EQ(stepper.events().size(), 1u);
    const double expected = model == ImpactModel::newton ? e * w : e * (w + slip * G(0, 1) / G(1, 1));
    EXPECT_NEAR(stepper.solution().u[0], expected, 2e-3) << to_string(model);  // the end goes round by less than that
    EXPECT_NEAR(stepper.solution().u[1], 0.0, 2e-3) << to_string(model);
    const Eigen::Vector2d lambda = G.ldlt().solve(Eigen::Vector2d(expected + w, -slip));
    EXPECT_NEAR(stepper.solution().impulses[0], lambda[0], 1e-3) << to_string(model);
  }
}

// A ball with topspin and friction: compression λ_N = m u, expansion ε m u, each with friction up to μ of its own. Slides throughout:
// λ_T = μ (1 + ε) m u under both; sticks at the end of compression: Poisson's expansion adds nothing more to the tangent.
TEST(EventDriven, FrictionOfImpactsFollowsTheLoadOfEachPhase) {
  const double e = 0.5, down = 2.0, mass = 2.0, inertia = 0.4 * mass * kRadius * kRadius;
  for (const ImpactModel model : {ImpactModel::newton, ImpactModel::poisson}) {
    for (const double mu : {0.1, 0.4}) {
      WorldBuilder builder;
      builder.set_gravity(Vector3d::Zero());
      builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}, Eigen::Isometry3d::Identity(), mu}}});
      builder.add_free_body(solid("ball", Sphere{kRadius}, mass, Vector3d(0, 0, kRadius + 0.01), mu));
      StepOptions options = event_options(1e-2);
      options.events.impact = model;
      Stepper stepper = stepper_for(builder.build(), options, e);
      State state = initial_state(stepper.world());
      const double slip = 1.5;
      state.v << slip, 0.0, -down, 0.0, 0.0, 0.0;
      run(stepper, state, 0.01);
      const double mobility = 1.0 / mass + kRadius * kRadius / inertia;
      const double most = mu * (1.0 + e) * mass * down, needed = slip / mobility, lambda = std::min(most, needed);
      const Eigen::Quaterniond R(Eigen::Vector4d(state.q.segment<4>(3)));
      const Vector3d v = R * Vector3d(state.v.head<3>()), omega = R * Vector3d(state.v.tail<3>());
      EXPECT_NEAR(v.z(), e * down, 1e-8);
      EXPECT_NEAR(v.x(), slip - lambda / mass, 1e-8) << mu << to_string(model);
      EXPECT_NEAR(omega.y(), lambda * kRadius / inertia, 1e-7) << mu << to_string(model);
    }
  }
}

// tan θ = 2, μ = 1.5 > 4/3, sliding into the lean: no forces. The tip is caught, u = 0, by G λ = -u.
TEST(EventDriven, APainleveRodIsCaughtByAnImpulseWithoutCollision) {
  const double speed = 1.0, h = 1e-4;
  for (const double mu : {1.2, 1.5}) {
    StepOptions options = event_options(h);
    options.assemble.friction = mu;
    Stepper stepper = stepper_for(leaning_rod(mu, true, 0.0), options);
    State state = initial_state(stepper.world());
    state.v << -speed, 0.0, 0.0;
    ASSERT_TRUE(stepper.step(VectorXd::Zero(3), state).accepted);
    const std::vector<Event> events(stepper.events().begin(), stepper.events().end());
    if (mu < 4.0 / 3.0) {
      EXPECT_TRUE(events.empty());
      EXPECT_LT(stepper.solution().u[1], -0.9 * speed);
      continue;
    }
    ASSERT_EQ(times_of(events, EventKind::jam).size(), 1u);
    const Eigen::Vector2d lambda = -rod_mobility().ldlt().solve(Eigen::Vector2d(0.0, -speed));
    EXPECT_NEAR(stepper.solution().impulses[0], lambda[0], 1e-4 * lambda[0] + 2.0 * kG * h);  // and its weight over the step
    EXPECT_NEAR(stepper.solution().u[1], 0.0, 2.0 * kG * h);
  }
}

// A joint that swings into the end of its range, with dry friction: a pendulum in the plane without gravity, v² = v0² - 2 a q.
TEST(EventDriven, AJointMeetsItsLimitAndItsFriction) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  RobotOptions robot;
  robot.joints["s"].dry_friction = 3.0;
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint name="s" type="slide" axis="1 0 0" limited="true" range="-1 0.2"/>
      <geom size="0.1" mass="2" contype="0" conaffinity="0"/></body></worldbody></mujoco>)",
                         robot);
  const World world = builder.build();
  const double a = 1.5, v0 = 1.0, hit = (v0 - std::sqrt(v0 * v0 - 2.0 * a * 0.2)) / a;
  Stepper stepper = stepper_for(world, event_options(1e-2));
  State state = initial_state(world);
  state.v[0] = v0;
  const std::vector<double> hits = times_of(run(stepper, state, 0.3), EventKind::impact);
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_NEAR(hits[0], hit, kTime);
  EXPECT_NEAR(state.q[0], 0.2, 1e-9);
  EXPECT_NEAR(state.v[0], 0.0, 1e-9);
  state = initial_state(world);
  state.v[0] = -v0;
  run(stepper, state, 1.0);
  EXPECT_NEAR(state.q[0], -v0 * v0 / (2.0 * a), 1e-9);  // stops there and stays
  EXPECT_EQ(state.v[0], 0.0);
}

// [D14]: sliding under viscous friction alone, v = v0 exp(-4 η t / m) on a box's four corners.
TEST(EventDriven, ViscousFrictionSlowsExponentially) {
  const double viscosity = 0.5, v0 = 1.0, T = 0.5;
  StepOptions options = event_options(1e-2);
  options.contact.law = Law::viscous;
  options.assemble.material = ContactMaterial{};
  options.assemble.material->viscosity = viscosity;
  Stepper stepper = stepper_for(on_slope(0.0, 0.0, Box{Vector3d(0.1, 0.1, 0.05)}, 0.05), options);
  State state = initial_state(stepper.world());
  state.v[0] = v0;
  run(stepper, state, T);
  EXPECT_NEAR(state.v[0], v0 * std::exp(-4.0 * viscosity * T / 2.0), 1e-9);
}

TEST(EventDriven, RefusesLawsThatHaveNoAccelerationLevel) {
  const World world = ball_above_ground(1.0);
  for (const Law law : {Law::anitescu, Law::max_dissipation, Law::todorov, Law::stick_slip_spring}) {
    StepOptions options = event_options(1e-2);
    options.contact.law = law;
    try {
      stepper_for(world, options);
      FAIL() << to_string(law);
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(to_string(law)), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("coulomb_cone"), std::string::npos);
    }
  }
}

struct Totals {
  long pieces = 0, solves = 0, iterations = 0, without_events = 0;
};

// Steps of 2 ms from the start, each within the tolerance; counts those that are not from event to event to their end.
Totals take_steps(const World& world, int steps) {
  Stepper stepper = stepper_for(world, event_options(2e-3));
  State state = initial_state(stepper.world());
  Totals totals;
  for (int k = 0; k < steps; ++k) {
    const StepReport report = stepper.step(VectorXd::Zero(world.nv()), state);
    EXPECT_TRUE(report.accepted) << k;
    EXPECT_LE(report.residual, stepper.options().contact.tolerance) << k;
    totals.without_events += report.without_events > 0.0 ? 1 : 0;
    totals.pieces += report.sub_steps;
    totals.solves += report.attempts;
    totals.iterations += report.iterations;
  }
  return totals;
}

World heap_of_boxes(unsigned seed) {
  const Box box{Vector3d(0.075, 0.065, 0.055)};
  std::mt19937 generator(seed);
  const auto draw = [&] { return 2.0 * static_cast<double>(generator()) / 4294967296.0 - 1.0; };
  WorldBuilder builder;
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}, Eigen::Isometry3d::Identity(), 0.5}}});
  for (int k = 0; k < 8; ++k) {
    const double x = (k % 2) * 0.17 - 0.085 + 0.02 * draw(), y = ((k / 2) % 2) * 0.17 - 0.085 + 0.02 * draw();
    const int layer = k / 4;
    FreeBody body = solid("box" + std::to_string(k), box, 1.0, Vector3d(x, y, 0.1 + 0.2 * layer), 0.5);
    Eigen::Vector4d turn;
    for (double& c : turn) c = draw();
    body.pose.linear() = Eigen::Quaterniond(turn.normalized()).toRotationMatrix();
    builder.add_free_body(body);
  }
  return builder.build();
}

// Boxes let fall in heaps, some of them into each other. Gaps that nearly close, and stay so, cut no pieces; a piece costs tens of solves.
// The motion is chaotic: of 720 steps of twelve heaps 3 have more events than pieces, or forces that no solve certifies.
TEST(EventDriven, HeapsOfBoxesRunOutOfPiecesInFewSteps) {
  constexpr int kHeaps = 4, kSteps = 60;
  long without_events = 0;
  for (unsigned seed = 1; seed <= kHeaps; ++seed) {
    const Totals heap = take_steps(heap_of_boxes(seed), kSteps);
    fmt::print("[ heap     ] pieces a step: {:.1f}, solves a piece: {:.0f}\n", static_cast<double>(heap.pieces) / kSteps,
               static_cast<double>(heap.solves) / static_cast<double>(heap.pieces));
    EXPECT_LT(heap.solves, 200 * heap.pieces) << seed;
    without_events += heap.without_events;
  }
  EXPECT_LE(without_events, kHeaps * kSteps / 60);
}

// Stacks that land on the corners of their faces: solves beside the slip that slides are told do not chase its rounding, which takes 6.7
// systems a solve up to here. Later steps are chaotic: some of their solves contradict themselves, see docs/schemes.md.
TEST(EventDriven, StacksThatLandTakeFewSystemsASolve) {
  constexpr int kSteps = 64;
  const Totals stacks = take_steps(falling_boxes(8), kSteps);
  EXPECT_EQ(stacks.without_events, 0);
  fmt::print("[ stacks   ] solves a step: {:.0f}, systems a solve: {:.1f}\n", static_cast<double>(stacks.solves) / kSteps,
             static_cast<double>(stacks.iterations) / static_cast<double>(stacks.solves));
  EXPECT_LT(stacks.iterations, 5 * stacks.solves);
}

// More rebounds than pieces: the step is whole all the same, the rest of it at velocity level, and says so.
TEST(EventDriven, AStepOfTooManyEventsIsFinishedAtVelocityLevel) {
  StepOptions options = event_options(1.0);
  options.events.most_events = 5;
  Stepper stepper = stepper_for(ball_above_ground(0.1), options, 0.5);
  State state = initial_state(stepper.world());
  const StepReport report = stepper.step(VectorXd::Zero(6), state);
  EXPECT_TRUE(report.accepted);
  EXPECT_EQ(report.sub_steps, 6);
  EXPECT_GT(report.without_events, 0.0);
  EXPECT_EQ(state.time, 1.0);
  EXPECT_GT(state.q[2], kRadius - 1e-6);
}

}  // namespace
}  // namespace stiction::event_driven_test
