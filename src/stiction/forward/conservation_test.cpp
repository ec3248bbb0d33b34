// What each scheme keeps of energy and momentum where nothing takes any: pendulums, tumbling bodies, robots in free flight.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/forward/step.hpp"
#include "test_paths.hpp"

namespace stiction::conservation_test {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

struct Held {
  double energy;             ///< J
  Vector3d linear, angular;  ///< about the centre of mass, world axes
};

/// Energy of the world and momenta of its first block, whose root is a free joint.
Held measure(const World& world, const State& state, bool is_free) {
  WorldData data(world);
  update(world, state.q, state.v, data);
  Held out{kinetic_energy(world, data, state.v) + potential_energy(world, data), Vector3d::Zero(), Vector3d::Zero()};
  if (!is_free) return out;
  const auto M = data.M.block(0);
  const VectorXd p = M * state.v.head(M.cols());
  const Eigen::Quaterniond R(Eigen::Vector4d(state.q.segment<4>(3)));
  const Vector3d com(M(5, 1) / M(0, 0), M(3, 2) / M(0, 0), M(4, 0) / M(0, 0));
  out.linear = R * p.head<3>();
  out.angular = R * Vector3d(p.segment<3>(3) - com.cross(p.head<3>()));
  return out;
}

/// Largest departures over a run, relative to the scales given.
struct Drift {
  double energy = 0.0, linear = 0.0, angular = 0.0;
};

Drift drift(const World& world, Scheme scheme, double h, double duration, State state, double energy_scale, bool is_free = false,
            bool limits = false) {
  StepOptions options;
  options.assemble.dt = h;
  options.assemble.dry_friction = false;
  options.assemble.joint_limits = limits;
  options.scheme = scheme;
  Stepper stepper(world, make_scene(world, 0.5), options);
  const VectorXd tau = VectorXd::Zero(world.nv());
  const Held start = measure(world, state, is_free);
  double mass = 0.0;
  for (const Body& body : world.bodies()) mass += body.mass;
  Drift out;
  for (long k = 1; k <= std::lround(duration / h); ++k) {
    const StepReport report = stepper.step(tau, state);
    const bool whole = scheme == Scheme::event_driven ? report.without_events == 0.0 : report.sub_steps == 1;
    if (!report.accepted || !whole) {
      ADD_FAILURE() << "step " << k << " " << to_string(report.status);
      return out;
    }
    const Held now = measure(world, state, is_free);
    out.energy = std::max(out.energy, std::abs(now.energy - start.energy) / energy_scale);
    if (!is_free) continue;
    const Vector3d expected = start.linear + mass * static_cast<double>(k) * h * world.gravity();
    out.linear = std::max(out.linear, (now.linear - expected).norm() / (start.linear.norm() + expected.norm()));
    out.angular = std::max(out.angular, (now.angular - start.angular).norm() / start.angular.norm());
  }
  fmt::print("[ drift    ] {}: energy {:.1e}, momentum {:.1e}, angular momentum {:.1e}\n", to_string(scheme), out.energy, out.linear,
             out.angular);
  return out;
}

class Conservation : public testing::TestWithParam<Scheme> {};
INSTANTIATE_TEST_SUITE_P(Schemes, Conservation, testing::ValuesIn(kSchemes),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

constexpr double kFourth = 1e-6;  // h⁴ of rk4 over runs of seconds

/// At most `first` under the schemes of first order, `rounding` under energy_momentum.
double bound(Scheme scheme, double first, double rounding) {
  return scheme == Scheme::energy_momentum ? rounding : scheme == Scheme::event_driven ? std::min(first, kFourth) : first;
}

TEST_P(Conservation, OfADoublePendulumOverTenSeconds) {
  WorldBuilder builder;
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint name="a" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.02" mass="1" contype="0" conaffinity="0"/>
      <body pos="0 0 -1"><joint name="b" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.02" mass="1" contype="0" conaffinity="0"/></body></body></worldbody></mujoco>)");
  const World world = builder.build();
  State start = initial_state(world);
  start.q << 1.5, 0.8;
  WorldData data(world);
  update(world, start.q, start.v, data);
  const double fall = potential_energy(world, data) + 2.0 * 9.81;  // above hanging straight down
  const Drift d = drift(world, GetParam(), 1e-3, 10.0, start, fall);
  EXPECT_LT(d.energy, bound(GetParam(), 0.06, 1e-10));
  const bool first_order = GetParam() != Scheme::energy_momentum && GetParam() != Scheme::event_driven;
  EXPECT_GT(d.energy, first_order ? 1e-4 : 0.0);
}

TEST_P(Conservation, OfATumblingBodyOverTenSeconds) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  FreeBody brick;
  brick.name = "brick";
  brick.mass = 3.0;
  brick.inertia = Vector3d(0.01, 0.02, 0.025).asDiagonal();
  brick.com = Vector3d(0.02, -0.01, 0.03);
  builder.add_free_body(brick);
  const World world = builder.build();
  State start = initial_state(world);
  const Vector3d spin(0.1, 20.0, 0.2);
  start.v << Vector3d(1.0, 0.0, 5.0) - spin.cross(brick.com), spin;
  const Drift d = drift(world, GetParam(), 1e-3, 10.0, start, measure(world, start, true).energy, true);
  EXPECT_LT(d.energy, bound(GetParam(), 0.1, 1e-11));  // rounding of 1e4 steps
  EXPECT_LT(d.linear, bound(GetParam(), 0.1, 1e-12));
  EXPECT_LT(d.angular, bound(GetParam(), 0.1, 1e-12));
}

/// A quadruped thrown and spinning, its legs flung about.
struct Quadruped {
  World world;
  State start;
};

Quadruped thrown_quadruped() {
  WorldBuilder builder;
  RobotOptions robot;
  robot.base = BaseKind::floating;
  robot.self_collision = false;
  builder.add_robot(STICTION_SOURCE_DIR "/models/links.urdf", robot);
  Quadruped out{builder.build(), {}};
  out.start = initial_state(out.world);
  out.start.v.head<6>() << 1.0, 0.5, 4.0, 3.0, -2.0, 5.0;
  for (int j = 6; j < out.world.nv(); ++j) out.start.v[j] = j % 2 == 0 ? 4.0 : -3.0;
  return out;
}

TEST_P(Conservation, OfAQuadrupedInFlight) {
  const auto [world, start] = thrown_quadruped();
  const Drift d = drift(world, GetParam(), 1e-3, 0.5, start, measure(world, start, true).energy, true);
  EXPECT_LT(d.energy, bound(GetParam(), 0.1, 1e-9));
  EXPECT_LT(d.linear, bound(GetParam(), 0.1, 1e-12));
  EXPECT_LT(d.angular, bound(GetParam(), 0.1, 1e-12));
}

// Its legs come to the ends of their ranges, which takes energy and no momentum.
TEST_P(Conservation, OfMomentumWhenLegsReachTheirLimits) {
  const auto [world, start] = thrown_quadruped();
  const Drift d = drift(world, GetParam(), 1e-3, 0.5, start, measure(world, start, true).energy, true, true);
  EXPECT_LT(d.linear, bound(GetParam(), 0.1, 1e-7));  // what kSolves leave of an impact
  EXPECT_LT(d.angular, bound(GetParam(), 0.1, 1e-6));
}

// Spherical joints, springs and compensated weights on a free root.
TEST_P(Conservation, OfAFlyingChainOfBallJointsAndSprings) {
  WorldBuilder builder;
  builder.add_robot_text(R"(<mujoco><worldbody><body pos="0 0 1"><freejoint/>
      <geom type="box" size="0.1 0.05 0.02" mass="2" contype="0" conaffinity="0"/>
      <body pos="0.1 0 0" gravcomp="0.7"><joint name="ball" type="ball"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1" contype="0" conaffinity="0"/>
      <body pos="0.3 0 0"><joint name="hinge" axis="0 1 0" stiffness="40" springref="0.5"/>
      <geom type="capsule" fromto="0 0 0 0.2 0 0.1" size="0.02" mass="0.5" contype="0" conaffinity="0"/></body></body></body>
      </worldbody></mujoco>)");
  const World world = builder.build();
  State start = initial_state(world);
  start.v << 0.5, 0.0, 1.0, 2.0, -1.0, 3.0, 4.0, -2.0, 3.0, 6.0;
  const Drift d = drift(world, GetParam(), 1e-3, 2.0, start, measure(world, start, false).energy);
  EXPECT_LT(d.energy, bound(GetParam(), 0.1, 1e-9));
}

// A box that tumbles down on the ground: of what contact does, w·Jᵀλ, nothing adds energy, and correcting positions adds what it says.
TEST_P(Conservation, GainsNothingFromContact) {
  WorldBuilder builder;
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}});
  FreeBody box;
  box.name = "box";
  box.mass = 2.0;
  box.shapes.push_back({Box{Vector3d(0.1, 0.15, 0.05)}});
  box.inertia = solid_inertia(box.shapes.front().shape, box.mass);
  box.pose.translation().z() = 0.5;
  builder.add_free_body(box);
  const World world = builder.build();
  StepOptions options;
  options.scheme = GetParam();
  Stepper stepper(world, make_scene(world, 0.4), options);
  State state = initial_state(world);
  state.v << 1.0, 0.3, 0.0, 5.0, 3.0, -4.0;
  const VectorXd tau = VectorXd::Zero(6);
  double energy = measure(world, state, true).energy, gained = 0.0, deepest = 0.0;
  const double start = energy;
  for (int k = 0; k < 2000; ++k) {
    const StepReport report = stepper.step(tau, state);
    ASSERT_TRUE(report.accepted && report.status == Status::solved) << k;
    const double now = measure(world, state, true).energy;
    gained = std::max(gained, now - energy - report.correction.lifted);
    deepest = std::max(deepest, report.deepest_penetration);
    energy = now;
  }
  fmt::print("[ contact  ] {}: energy gained in a step {:.1e}, deepest penetration {:.1e} m\n", to_string(GetParam()), gained / start,
             deepest);
  EXPECT_LT(gained, bound(GetParam(), 1e-3, 1e-9) * start);
  EXPECT_LT(deepest, 1e-4);
  EXPECT_NEAR(energy, 2.0 * 9.81 * 0.05, 1e-5);  // flat on the ground
  EXPECT_LT(state.v.norm(), 1e-9);
}

World ball_over(double radius, bool ground) {
  WorldBuilder builder;
  StaticBody floor{"floor", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}};
  if (!ground) {
    floor.shapes = {{Box{Vector3d(20.0, 20.0, 0.1)}}};
    floor.pose.translation().z() = -0.1;
  }
  builder.add_static_body(floor);
  FreeBody ball;
  ball.name = "ball";
  ball.mass = 0.01;
  ball.shapes.push_back({Sphere{radius}});
  ball.inertia = solid_inertia(ball.shapes.front().shape, ball.mass);
  builder.add_free_body(ball);
  return builder.build();
}

StepOptions options_of(Scheme scheme, double h) {
  StepOptions options;
  options.scheme = scheme;
  options.assemble.dt = h;
  return options;
}

// What comes thirty radii a step, wherever in a step it meets the floor, is stopped there. It had flown on, with a spin that met the law,
// where the point of contact stayed where it was while the middle of the step moved.
TEST_P(Conservation, StopsASmallFastBallAtASlab) {
  constexpr double r = 5e-3, h = 1e-2;
  const World world = ball_over(r, false);
  Stepper stepper(world, make_scene(world, 0.5), options_of(GetParam(), h));
  constexpr int kPhases = 40;
  double lowest = kInfinity, most = 0.0;
  for (int k = 0; k < kPhases; ++k) {
    State state = initial_state(world);
    const double z = 0.33 + 15.0 * h * k / kPhases;
    state.q.head<3>() << -z / 3.0, 0.0, z + r;
    state.v.head<3>() << 5.0, 0.0, -15.0;
    stepper.reset();
    const double start = measure(world, state, true).energy;
    for (int i = 0; i < 12; ++i) {
      const StepReport report = stepper.step(VectorXd::Zero(6), state);
      ASSERT_TRUE(report.accepted && report.status == Status::solved) << k << " " << i;
      lowest = std::min(lowest, state.q[2] - r);
      most = std::max(most, measure(world, state, true).energy / start);
    }
  }
  fmt::print("[ slab     ] {}: {:.1e} m above it at least, {:.9f} of the energy at most\n", to_string(GetParam()), lowest, most);
  EXPECT_GT(lowest, -1e-6);
  EXPECT_LT(most, 1.0 + 1e-9);
}

// Rolling is kept at 20 rad a step.
TEST_P(Conservation, OfABallThatRollsFast) {
  constexpr double r = 5e-3, speed = 20.0;
  const World world = ball_over(r, true);
  Stepper stepper(world, make_scene(world, 0.5), options_of(GetParam(), 5e-3));
  State state = initial_state(world);
  state.q[2] = r;
  state.v[0] = speed;
  state.v[4] = speed / r;
  const double start = measure(world, state, true).energy;
  double height = 0.0, energy = 0.0;
  for (int k = 0; k < 300; ++k) {
    ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
    height = std::max(height, std::abs(state.q[2] - r));
    energy = std::max(energy, std::abs(measure(world, state, true).energy / start - 1.0));
  }
  fmt::print("[ rolling  ] {}: height off by {:.1e} m, energy by {:.1e}\n", to_string(GetParam()), height, energy);
  EXPECT_LT(height, 1e-8);
  EXPECT_LT(energy, 1e-8);
}

// Balls that meet in flight, with friction and each other's spin: contacts between them cancel, in momentum and in its moment about any
// point.
TEST_P(Conservation, OfMomentaWhenBallsMeetInFlight) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  constexpr int kBalls = 4;
  for (int i = 0; i < kBalls; ++i) {
    FreeBody ball;
    ball.name = fmt::format("ball{}", i);
    ball.mass = 0.1 * (i + 1);
    ball.shapes.push_back({Sphere{0.05}});
    ball.inertia = solid_inertia(ball.shapes.front().shape, ball.mass);
    ball.pose.translation() = Vector3d(0.1 * i + 0.002, 0.03 * (i % 2), 0.02 * i);
    builder.add_free_body(ball);
  }
  const World world = builder.build();
  StepOptions options = options_of(GetParam(), 5e-3);
  options.recovery = 0.0;  // which moves positions alone
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  for (int i = 0; i < kBalls; ++i) state.v.segment<6>(6 * i) << 6.0 - 4.0 * i, 0.2 * i, 0.0, 3.0 * i, -5.0, 4.0;
  const auto momenta = [&] {
    Vector6d sum = Vector6d::Zero();
    for (int i = 0; i < kBalls; ++i) {
      const Eigen::Quaterniond R(Eigen::Vector4d(state.q.segment<4>(7 * i + 3)));
      const Vector3d p = world.bodies()[i].mass * (R * Vector3d(state.v.segment<3>(6 * i)));
      sum.head<3>() += p;
      sum.tail<3>() += state.q.segment<3>(7 * i).cross(p) + R * (world.bodies()[i].inertia * state.v.segment<3>(6 * i + 3));
    }
    return sum;
  };
  const Vector6d start = momenta();
  int contacts = 0;
  double linear = 0.0, angular = 0.0;
  for (int k = 0; k < 60; ++k) {
    ASSERT_TRUE(stepper.step(VectorXd::Zero(world.nv()), state).accepted);
    contacts += stepper.solution().impulses.size() > 0 && !stepper.solution().impulses.isZero(0.0) ? 1 : 0;
    linear = std::max(linear, (momenta() - start).head<3>().norm());
    angular = std::max(angular, (momenta() - start).tail<3>().norm());
  }
  fmt::print("[ balls    ] {}: {} steps with impulses, momentum off by {:.1e}, its moment by {:.1e}\n", to_string(GetParam()), contacts,
             linear, angular);
  EXPECT_GT(contacts, 0);
  EXPECT_LT(linear, 1e-8);
  EXPECT_LT(angular, bound(GetParam(), 1e-2, 1e-8));
}

// A hinge with dry friction on a spring so stiff that it turns back within a step: friction takes energy, whatever the step.
TEST(EnergyMomentum, TakesEnergyByDryFrictionOfJoints) {
  const std::vector<std::array<double, 3>> cases{{100, 0.1, 0.02}, {1000, 1, 0.02}, {1000, 5, 0.02},
                                                 {1e4, 1, 5e-3},   {1e4, 5, 5e-3},  {1e4, 5, 1e-3}};
  for (const auto& [stiffness, friction, h] : cases) {
    WorldBuilder builder;
    builder.set_gravity(Vector3d::Zero());
    builder.add_robot_text(fmt::format(R"(<mujoco><worldbody><body><joint axis="0 1 0" stiffness="{}" frictionloss="{}"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1" contype="0" conaffinity="0"/></body></worldbody></mujoco>)",
                                       stiffness, friction));
    const World world = builder.build();
    Stepper stepper(world, make_scene(world, 0.5), options_of(Scheme::energy_momentum, h));
    State state = initial_state(world);
    state.v[0] = 2.0;
    const double start = measure(world, state, false).energy;
    double before = start, gained = 0.0;
    for (int k = 0; k < 400; ++k) {
      ASSERT_EQ(stepper.step(VectorXd::Zero(1), state).status, Status::solved);
      const double now = measure(world, state, false).energy;
      gained = std::max(gained, (now - before) / start);
      before = now;
    }
    const double held = stiffness * std::abs(state.q[0]) / friction;
    fmt::print("[ friction ] k {} f {} h {}: gained {:.1e} in a step, held with {:.2f} of friction, {:.1e} of the energy left\n", stiffness,
               friction, h, gained, held, before / start);
    EXPECT_LT(gained, 1e-8);
    EXPECT_LT(held, 1.0 + 1e-6);  // it comes to rest where friction holds the spring
    EXPECT_LT(std::abs(state.v[0]), 1e-9);
  }
}

}  // namespace
}  // namespace stiction::conservation_test
