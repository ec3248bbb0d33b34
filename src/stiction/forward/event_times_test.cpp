// The motion between events: orders of the integrators, energy, what is too stiff for a piece, and that no contact is flown through.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/forward/event_testing.hpp"

namespace stiction::event_times_test {
namespace {

using namespace event_testing;

/// Two rods of 1 m and 1 kg hanging along -z at q = 0.
World double_pendulum() {
  WorldBuilder builder;
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint name="a" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.02" mass="1" contype="0" conaffinity="0"/>
      <body pos="0 0 -1"><joint name="b" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.02" mass="1" contype="0" conaffinity="0"/></body></body></worldbody></mujoco>)");
  return builder.build();
}

double order_of(double h, int halvings, const std::function<VectorXd(double)>& end, const VectorXd& reference) {
  const double first = (end(h) - reference).norm(), last = (end(std::ldexp(h, -halvings)) - reference).norm();
  return std::log2(first / last) / halvings;
}

VectorXd both(const State& state) {
  VectorXd out(state.q.size() + state.v.size());
  out << state.q, state.v;
  return out;
}

TEST(EventDriven, IntegratorsConvergeAtTheirOrder) {
  const World world = double_pendulum();
  const auto swing = [&](Integrator integrator, double h) {
    Stepper stepper = stepper_for(world, event_options(h, integrator));
    State state = initial_state(world);
    state.q << 1.5, 0.8;
    run(stepper, state, 0.5);
    return both(state);
  };
  const VectorXd reference = swing(Integrator::rk4, 2.5e-4);
  for (const auto& [integrator, promised] : {std::pair(Integrator::symplectic_euler, 1.0), std::pair(Integrator::rk4, 4.0)}) {
    const double order = order_of(
        1.25e-2, 2, [&](double h) { return swing(integrator, h); }, reference);
    fmt::print("[ order    ] double pendulum, {}: {:.2f}\n", to_string(integrator), order);
    EXPECT_NEAR(order, promised, 0.15);
  }
  EXPECT_LT((swing(Integrator::rk45, 0.1) - reference).norm(), 1e-8);  // whatever the step: pieces after the tolerance
}

// Order 4 through impacts and in contact: a rolling and tumbling body off its centre of mass on a plane, let go from above.
TEST(EventDriven, OrderFourThroughAnImpactAndInContact) {
  WorldBuilder builder;
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}, Eigen::Isometry3d::Identity(), 0.0}}});
  FreeBody egg = solid("egg", Sphere{kRadius}, 2.0, Vector3d(0, 0, kRadius + 0.02), 0.0);
  egg.com = Vector3d(0.02, 0.01, -0.03);
  builder.add_free_body(egg);
  const World world = builder.build();
  const auto fall = [&](double h) {
    Stepper stepper = stepper_for(world, event_options(h));
    State state = initial_state(world);
    state.v << 0.3, -0.2, 0.0, 6.0, 5.0, -4.0;
    run(stepper, state, 0.32);
    return both(state);
  };
  const VectorXd reference = fall(1e-3);
  const double order = order_of(1.6e-2, 1, fall, reference);
  fmt::print("[ order    ] dropped egg, rk4: {:.2f}\n", order);
  EXPECT_NEAR(order, 4.0, 0.4);
}

// Shoved across a slope a block curves downhill, v' = g_T - μ g_N v/|v|: order 4 where time stepping has 1.
TEST(EventDriven, OrderFourUnderFrictionThatTurns) {
  const double angle = 0.5, mu = 0.3, T = 0.32, pull = kG * std::sin(angle), hold = mu * kG * std::cos(angle);
  Eigen::Vector2d exact(0.0, 1.0);  // downhill, across; by the classical method at 1e-5 s
  const auto slope = [&](const Eigen::Vector2d& v) { return Eigen::Vector2d(Eigen::Vector2d(pull, 0.0) - hold * v.normalized()); };
  constexpr double k = 1e-5;
  for (long i = 0; i < std::lround(T / k); ++i) {
    const Eigen::Vector2d a = slope(exact), b = slope(exact + 0.5 * k * a), c = slope(exact + 0.5 * k * b), d = slope(exact + k * c);
    exact += k / 6.0 * (a + 2.0 * b + 2.0 * c + d);
  }
  const World world = on_slope(angle, mu, Box{Vector3d(0.1, 0.1, 0.05)}, 0.05);
  const auto slide = [&](double h) {
    Stepper stepper = stepper_for(world, event_options(h));
    State state = initial_state(world);
    state.v[1] = 1.0;
    run(stepper, state, T);
    return VectorXd(state.v.head(2));
  };
  const double order = order_of(3.2e-2, 2, slide, exact);
  fmt::print("[ order    ] friction that turns, rk4: {:.2f}\n", order);
  EXPECT_NEAR(order, 4.0, 0.3);
}

// Without friction and with ε = 1 energy is what it was, over 200 bounces.
TEST(EventDriven, EnergyStaysThroughElasticImpacts) {
  Stepper stepper = stepper_for(ball_above_ground(0.05), event_options(1e-3), 1.0);
  State state = initial_state(stepper.world());
  const auto energy = [&] { return 0.5 * state.v.squaredNorm() + kG * state.q[2]; };
  const double start = energy();
  const std::vector<Event> events = run(stepper, state, 20.0);
  EXPECT_GT(times_of(events, EventKind::impact).size(), 90u);
  EXPECT_NEAR(energy(), start, 1e-6 * start);
}

World on_ground(const Shape& ground, const Eigen::Isometry3d& X_ground, const Shape& shape, double mass, double mu) {
  WorldBuilder builder;
  builder.add_static_body({"ground", X_ground, {{ground, Eigen::Isometry3d::Identity(), mu}}});
  builder.add_free_body(solid("body", shape, mass, Vector3d::Zero(), mu));
  return builder.build();
}

// Energies (J) before and after each step of a run.
std::vector<double> energies_of(const World& world, State state, const StepOptions& options, int steps) {
  Stepper stepper = stepper_for(world, options);
  WorldData data(world);
  std::vector<double> out;
  for (int k = 0; k <= steps; ++k) {
    if (k > 0) {
      EXPECT_TRUE(stepper.step(VectorXd::Zero(world.nv()), state).accepted);
    }
    update(world, state.q, state.v, data);
    out.push_back(kinetic_energy(world, data, state.v) + potential_energy(world, data));
  }
  return out;
}

// How far they rise above the first, over it.
double rise_of(const std::vector<double>& energies) { return std::ranges::max(energies) / energies.front() - 1.0; }

// A disc that rolls on its rim, next to flat: its point of contact runs around the rim in a few milliseconds. rk4 cuts its pieces where it
// does not resolve that; uncut ones of 1 ms bring in 29 % of energy, of 20 ms nine times what there was.
TEST(EventDriven, ADiscOnItsRimGainsNoEnergy) {
  const World world = on_ground(HalfSpace{}, Eigen::Isometry3d::Identity(), Cylinder{0.1, 0.025}, 0.8, 0.0);
  State state = initial_state(world);
  const Eigen::AngleAxisd tilt(0.03, Vector3d::UnitX());
  state.q.tail<4>() = Eigen::Quaterniond(tilt).coeffs();
  state.q[2] = 0.025 * std::cos(0.03) + 0.1 * std::sin(0.03);
  state.v << 0.0, 0.0, 0.0, -6.0, -5.0, 7.0;
  state.v.head<3>() = tilt.inverse() * Vector3d(0.0, 0.0, -0.1 * std::cos(0.03) * 6.0);  // the lowest point at rest
  for (const double h : {1e-3, 1e-2, 2e-2})
    EXPECT_LT(rise_of(energies_of(world, state, event_options(h), static_cast<int>(std::lround(0.1 / h)))), 1e-3) << h;
}

struct RollingDisc {
  double radius, thickness, tilt, spin, turn;  // m, m, rad; rad/s about the disc's axis and about the vertical
};

// One second on the rim.
std::vector<double> energies_of(const RollingDisc& d, double h, Integrator integrator, Law law) {
  const World world = on_ground(HalfSpace{}, Eigen::Isometry3d::Identity(), Cylinder{d.radius, 0.5 * d.thickness}, 1.0, 0.0);
  StepOptions options = event_options(h, integrator);
  options.contact.law = law;
  State state = initial_state(world);
  const Eigen::AngleAxisd tilt(d.tilt, Vector3d::UnitY());
  state.q.tail<4>() = Eigen::Quaterniond(tilt).coeffs();
  state.q[2] = d.radius * std::sin(d.tilt) + 0.5 * d.thickness * std::cos(d.tilt);
  state.v.tail<3>() = Vector3d(0.0, 0.0, d.spin) + tilt.inverse() * Vector3d(0.0, 0.0, d.turn);
  return energies_of(world, state, options, static_cast<int>(std::lround(1.0 / h)));
}

// Without friction: what a run adds, step by step, over the energy at the start.
double gain_of(const RollingDisc& d, double h, Integrator integrator) {
  const std::vector<double> energies = energies_of(d, h, integrator, Law::frictionless);
  double gained = 0.0;
  for (std::size_t k = 1; k < energies.size(); ++k) gained += std::max(energies[k] - energies[k - 1], 0.0);
  return gained / energies.front();
}

// The lowest point of the rim runs on while a piece lasts: the integrator's stages lie apart from the ground, and have it all the same.
TEST(EventDriven, ADiscThatRollsOnItsRimKeepsItsEnergyInLongPieces) {
  const RollingDisc disc{0.2579, 0.01473, 0.4467, -7.51, 5.18};
  for (const double h : {1e-3, 2e-3, 1e-2}) EXPECT_LT(gain_of(disc, h, Integrator::rk4), 1e-5) << h;
}

// Next to flat a turn by less than the tilt takes the point of contact round the rim. Pieces that rk4 cuts err by 4e-5 in all.
TEST(EventDriven, ADiscThatSettlesOnItsRimGainsNoEnergy) {
  const RollingDisc disc{1.2394, 0.005258, 0.017474, -3.04, 2.44};
  EXPECT_LT(gain_of(disc, 1e-3, Integrator::rk4), 1e-4);
  EXPECT_LT(gain_of(disc, 1e-3, Integrator::rk45), 2e-6);
}

// Its lowest point runs over the six that a cap has fixed; two points at once that may not slip would keep it from rolling.
TEST(EventDriven, ADiscThatRollsWithoutSlipKeepsItsEnergy) {
  for (const double thickness : {0.001, 0.02}) {
    const std::vector<double> energies = energies_of({0.1, thickness, 0.6, 6.0, 6.0}, 1e-3, Integrator::rk4, Law::no_slip);
    EXPECT_NEAR(energies.back(), energies[1], 1e-4 * energies[1]) << thickness;  // the first step makes it roll
  }
}

/// Velocities in the world's axes.
State moving(const Vector3d& p, const Eigen::Quaterniond& R, const Vector3d& v, const Vector3d& w) {
  State state{VectorXd(7), VectorXd(6)};
  state.q << p, R.coeffs();
  state.v << R.inverse() * v, R.inverse() * w;
  return state;
}

// A force that comes and goes within a piece is seen by what it leaves: contacts that hold and yet move along their normals.
TEST(EventDriven, PointsThatRunAlongARodAddNoEnergy) {
  constexpr double kCrossed = 0.05, kTilt = 0.1, kHalf = 0.2, kQuarter = std::numbers::pi / 2.0;
  const Eigen::AngleAxisd turn(kCrossed, Vector3d::UnitZ()), along(kQuarter, Vector3d::UnitY());
  const State rocking = moving({0.0, 0.0, kHalf * std::sin(kTilt) + 0.0202}, turn * Eigen::AngleAxisd(kQuarter + kTilt, Vector3d::UnitY()),
                               {0.0, 0.0, -2.0}, turn * Vector3d(0.0, -10.0, 0.0));
  const Eigen::Isometry3d lying = Eigen::Translation3d(0.0, 0.0, -0.3) * along;
  const World on_capsule = on_ground(Capsule{0.3, 2.0}, lying, Capsule{0.02, kHalf}, 1.0, 0.0);
  EXPECT_LT(rise_of(energies_of(on_capsule, rocking, event_options(1e-2), 6)), 1e-3);
  // Off a round table: the point runs around its rim.
  const State spinning = moving({0.75, 0.1, 0.02}, Eigen::AngleAxisd(2.0, Vector3d::UnitZ()) * along, {1.0, 0.0, 0.0}, {0.0, 0.0, 30.0});
  const Eigen::Isometry3d table(Eigen::Translation3d(0.0, 0.0, -0.1));
  const World on_table = on_ground(Cylinder{1.0, 0.1}, table, Capsule{0.02, kHalf}, 1.0, 0.0);
  EXPECT_LT(rise_of(energies_of(on_table, spinning, event_options(1e-2), 30)), 1e-3);
}

// It rolls on one end beside the crossing of both rods, a point that keeps a gap of next to nothing, while its other end comes down.
TEST(EventDriven, APointThatRollsHidesNoOther) {
  State rolling{VectorXd(7), VectorXd(6)};
  rolling.q << -0.4674614530422461, 0.01354428416128136, 0.353119589362999, 0.01337169235287199, 0.7093346772434405, -0.02308058448523931,
      0.7043669499084864;
  rolling.v << 1.1705973034536679, -0.02646285719963176, 0.5549255233047685, 2.7779676828868904, -2.2094393428184538, -0.6334211178026754;
  const Eigen::Isometry3d lying(Eigen::AngleAxisd(std::numbers::pi / 2.0, Vector3d::UnitY()));
  const World world = on_ground(Capsule{0.3, 1.0}, lying, Cylinder{0.05, 0.5}, 1.0, 0.0);
  Stepper stepper = stepper_for(world, event_options(1e-2));
  for (int k = 0; k < 3; ++k) {
    EXPECT_LT(stepper.step(VectorXd::Zero(6), rolling).deepest_penetration, 1e-6) << k;
  }
}

// A piece of 5.5 ms that ends where the sliding rim has no forces is cut as others are.
TEST(EventDriven, ADiscThatLandsSlidingAddsNoEnergy) {
  State landing{VectorXd(7), VectorXd(6)};
  landing.q << -1.1836694287105540e-01, 2.8378035871808530e-05, 1.8249629119601842e-02, 9.1969818487877486e-01, 3.8698377449254112e-01,
      5.9510231217233631e-02, 2.9280358444942360e-02;
  landing.v << -1.2420188060649142, -1.314078423503883, 2.880974093493903, 28.482184583320333, -15.220027218465862, -2.5820829331594117;
  const World world = on_ground(HalfSpace{}, Eigen::Isometry3d::Identity(), Cylinder{0.1, 0.005}, 1.0, 0.5);
  EXPECT_LT(rise_of(energies_of(world, landing, event_options(1e-2), 1)), 1e-3);
}

// On the far side of what it flew through a round shape has the same ids, and is open again.
TEST(EventDriven, NothingRoundFliesThroughWhatIsInItsWay) {
  for (const Shape& shape : {Shape(Capsule{0.05, 0.1}), Shape(Sphere{0.05})}) {
    for (const bool ball : {false, true}) {
      WorldBuilder builder;
      builder.set_gravity(Vector3d::Zero());
      StaticBody obstacle{"obstacle", Eigen::Isometry3d(Eigen::Translation3d(0.76, 0, 0)), {}};
      const Shape wall = Box{Vector3d(0.01, 2, 2)};
      obstacle.shapes.push_back({ball ? Shape(Sphere{0.05}) : wall, Eigen::Isometry3d::Identity(), 0.0});
      builder.add_static_body(obstacle);
      builder.add_free_body(solid("body", shape, 1.0, Vector3d(0, 0.001, 0), 0.0));
      const World world = builder.build();
      for (const Integrator integrator : {Integrator::symplectic_euler, Integrator::rk4, Integrator::rk45}) {
        for (const double speed : {30.0, 300.0, 3000.0}) {
          Stepper stepper = stepper_for(world, event_options(1e-3, integrator));
          State state = initial_state(stepper.world());
          state.v[0] = speed;
          const std::vector<Event> events = run(stepper, state, 0.03);
          ASSERT_FALSE(events.empty()) << speed;
          EXPECT_NEAR(events[0].speed, speed, 1e-3 * speed);
          EXPECT_TRUE(ball || state.q[0] < 0.7 + 1e-9) << speed;  // without friction it slides around a ball
        }
      }
    }
  }
}

// A miss is none, however near: the pair has other sides at both ends of the step.
TEST(EventDriven, BallsThatFlyPastEachOtherDoNotMeet) {
  for (const double past : {1e-6, 1e-3, 0.1}) {
    WorldBuilder builder;
    builder.set_gravity(Vector3d::Zero());
    builder.add_static_body(
        {"obstacle", Eigen::Isometry3d(Eigen::Translation3d(0.76, 0, 0)), {{Sphere{0.05}, Eigen::Isometry3d::Identity(), 0.0}}});
    builder.add_free_body(solid("body", Sphere{0.05}, 1.0, Vector3d(0, 0.1 + past, 0), 0.0));
    Stepper stepper = stepper_for(builder.build(), event_options(1e-3));
    State state = initial_state(stepper.world());
    state.v[0] = 300.0;
    EXPECT_TRUE(run(stepper, state, 0.01).empty());
    EXPECT_NEAR(state.q[0], 3.0, 1e-9);
  }
}

// Too stiff for the shortest piece of an explicit method: the step is left to the velocity level, which is implicit in dampers and springs.
TEST(EventDriven, AStiffJointComesToRest) {
  RobotOptions options;
  options.joints["h"].damping = 1.0;
  options.joints["h"].stiffness = 10.0;
  WorldBuilder builder;
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint name="h" type="hinge" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="0.001" diaginertia="1e-6 1e-6 1e-6"/></body></worldbody></mujoco>)",
                         options);
  const World world = builder.build();
  for (const Integrator integrator : {Integrator::symplectic_euler, Integrator::rk4, Integrator::rk45}) {
    Stepper stepper = stepper_for(world, event_options(0.01, integrator));
    State state = initial_state(stepper.world());
    state.v[0] = 1.0;
    double before = 1.0;
    for (int k = 0; k < 10; ++k) {
      const StepReport report = stepper.step(VectorXd::Zero(1), state);
      ASSERT_TRUE(report.accepted);
      EXPECT_EQ(report.status, Status::solved);
      EXPECT_TRUE(k > 0 || report.without_events > 0.0) << to_string(integrator);
      EXPECT_LT(std::abs(state.v[0]), before) << to_string(integrator) << k;
      before = std::abs(state.v[0]);
    }
    EXPECT_LT(before, 1e-3);
    EXPECT_LT(std::abs(state.q[0]), 1e-3);
  }
}

/// A link of 1 kg and 0.5 m on a joint with a spring, weightless.
World link_on_a_spring(double stiffness) {
  RobotOptions options;
  options.joints["h"].stiffness = stiffness;
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint name="h" type="hinge" axis="0 1 0"/>
      <inertial pos="0 0 -0.25" mass="1" diaginertia="0.02 0.02 0.02"/></body></worldbody></mujoco>)",
                         options);
  return builder.build();
}

// Energy of a spring and its link is constant, whatever the phase of the swing at which the step begins: an estimate of the error that
// vanishes at one leaves its piece uncut.
TEST(EventDriven, AStiffSpringGainsNoEnergyAtAnyPhase) {
  constexpr double kInertia = 0.0825, kSwing = 0.1, kStiffness = 1e5, kStep = 0.01;
  constexpr int kPhases = 1000;
  const double omega = std::sqrt(kStiffness / kInertia);
  Stepper stepper = stepper_for(link_on_a_spring(kStiffness), event_options(kStep));
  State state = initial_state(stepper.world());
  double worst = 0.0;
  long pieces = 0;
  for (int k = 0; k < kPhases; ++k) {
    const double phase = std::numbers::pi * k / kPhases;
    state.q[0] = kSwing * std::cos(phase);
    state.v[0] = -kSwing * omega * std::sin(phase);
    const StepReport report = stepper.step(VectorXd::Zero(1), state);
    ASSERT_TRUE(report.accepted);
    ASSERT_EQ(report.without_events, 0.0) << phase;
    pieces += report.sub_steps;
    const double energy = 0.5 * kInertia * state.v[0] * state.v[0] + 0.5 * kStiffness * state.q[0] * state.q[0];
    worst = std::max(worst, std::abs(energy / (0.5 * kStiffness * kSwing * kSwing) - 1.0));
  }
  const double turn = omega * kStep;
  fmt::print("[ energy   ] {:.1f} rad of a swing: {:.1e} in {:.1f} pieces\n", turn, worst, static_cast<double>(pieces) / kPhases);
  EXPECT_LT(worst, 1e-3);
  EXPECT_LT(static_cast<double>(pieces), 10.0 * turn * kPhases);
}

}  // namespace
}  // namespace stiction::event_times_test
