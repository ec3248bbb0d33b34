// What each scheme keeps of energy and momentum where nothing takes any: pendulums, tumbling bodies, robots in free flight.
#include <algorithm>
#include <cmath>

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

}  // namespace
}  // namespace stiction::conservation_test
