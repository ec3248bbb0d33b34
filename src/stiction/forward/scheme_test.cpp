// Schemes against closed forms and against references of a much smaller error: order of convergence, what is conserved, contact at rest.
#include "stiction/forward/scheme.hpp"

#include <cmath>
#include <functional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/forward/step.hpp"

namespace stiction::scheme_test {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kGravity = 9.81;

Stepper stepper_for(const World& world, Scheme scheme, double h, Law law = Law::coulomb_cone, double restitution = 0.0) {
  StepOptions options;
  options.assemble.dt = h;
  options.contact.law = law;
  options.scheme = scheme;
  const std::vector<double> bounce(world.bodies().size(), restitution);
  return {world, make_scene(world, 0.5, bounce), options};
}

State run(Stepper stepper, State state, double duration) {
  const VectorXd tau = VectorXd::Zero(stepper.world().nv());
  const long steps = std::lround(duration / stepper.options().assemble.dt);
  for (long k = 0; k < steps; ++k) {
    EXPECT_TRUE(stepper.step(tau, state).accepted) << k;
  }
  return state;
}

/// Two rods of 1 m and 1 kg, the first hinge at the origin, hanging along -z at q = 0.
World double_pendulum(double gravity = kGravity) {
  WorldBuilder builder;
  builder.set_gravity({0.0, 0.0, -gravity});
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint name="a" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.02" mass="1" contype="0" conaffinity="0"/>
      <body pos="0 0 -1"><joint name="b" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.02" mass="1" contype="0" conaffinity="0"/></body></body></worldbody></mujoco>)");
  return builder.build();
}

State raised(const World& world) {
  State state = initial_state(world);
  state.q << 1.5, 0.8;
  return state;
}

World ball_on_ground(double height, double mu) {
  WorldBuilder builder;
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}, Eigen::Isometry3d::Identity(), mu}}});
  FreeBody ball;
  ball.name = "ball";
  ball.mass = 1.0;
  ball.shapes.push_back({Sphere{0.1}, Eigen::Isometry3d::Identity(), mu});
  ball.inertia = solid_inertia(Sphere{0.1}, ball.mass);
  ball.pose.translation().z() = height;
  builder.add_free_body(ball);
  return builder.build();
}

/// Slope of log(error) over log(h) between the first and the last of a few halvings.
double order_of(double h, const std::function<VectorXd(double)>& end, const VectorXd& reference) {
  constexpr int kHalvings = 3;
  const double first = (end(h) - reference).norm(), last = (end(std::ldexp(h, -kHalvings)) - reference).norm();
  return std::log2(first / last) / kHalvings;
}

/// y from 0 to T by the classical Runge-Kutta method, whose own error at this step is below 1e-11 in the tests here.
void runge_kutta(const std::function<VectorXd(const VectorXd&)>& slope, double T, VectorXd& y) {
  constexpr double k = 1e-4;
  for (long i = 0; i < std::lround(T / k); ++i) {
    const VectorXd a = slope(y), b = slope(y + 0.5 * k * a), c = slope(y + 0.5 * k * b), d = slope(y + k * c);
    y += k / 6.0 * (a + 2.0 * b + 2.0 * c + d);
  }
}

void tell(std::string_view what, Scheme scheme, double order) {
  fmt::print("[ order    ] {}, {}: {:.2f}\n", what, to_string(scheme), order);
}

/// What a scheme promises.
struct Promise {
  Scheme scheme;
  double pendulum, tumbling, tumbling_off_centre, sliding;  ///< orders
};

class EachScheme : public testing::TestWithParam<Promise> {};

INSTANTIATE_TEST_SUITE_P(Schemes, EachScheme,
                         testing::Values(Promise{Scheme::semi_implicit_euler, 1, 1, 1, 1}, Promise{Scheme::moreau_midpoint, 1, 2, 1, 2},
                                         Promise{Scheme::energy_momentum, 2, 2, 2, 2}),
                         [](const auto& instance) { return std::string(to_string(instance.param.scheme)); });

TEST_P(EachScheme, ADoublePendulumConvergesAtItsOrder) {
  const World world = double_pendulum();
  const double T = 0.5;
  WorldData data(world);
  VectorXd reference(4);
  reference << raised(world).q, raised(world).v;
  runge_kutta(
      [&](const VectorXd& y) {
        update(world, y.head(2), y.tail(2), data);
        VectorXd out(4);
        out << y.tail(2), data.M.block(0).ldlt().solve(-data.bias);
        return out;
      },
      T, reference);
  const auto end = [&](double h) {
    const State state = run(stepper_for(world, GetParam().scheme, h), raised(world), T);
    VectorXd out(4);
    out << state.q, state.v;
    return out;
  };
  const double order = order_of(2e-3, end, reference);
  tell("double pendulum", GetParam().scheme, order);
  EXPECT_NEAR(order, GetParam().pendulum, 0.1);
}

/// Order at which a body that is thrown and spins about no principal axis arrives, its coordinates those of a point `com` off its centre of
/// mass. Reference: Euler's equations and the kinematics of the quaternion, by Runge-Kutta.
double tumbling_order(Scheme scheme, const Vector3d& com) {
  const Eigen::DiagonalMatrix<double, 3> inertia(Vector3d(0.01, 0.02, 0.025));
  const double T = 0.5;
  WorldBuilder builder;
  FreeBody brick;
  brick.name = "brick";
  brick.mass = 3.0;
  brick.inertia = inertia;
  brick.com = com;
  builder.add_free_body(brick);
  const World world = builder.build();
  const Vector3d spin(6.0, 5.0, -4.0), velocity(1.0, 0.5, 3.0);
  State start = initial_state(world);
  start.v << velocity - spin.cross(com), spin;
  VectorXd y(7);
  y << 0, 0, 0, 1, spin;
  runge_kutta(
      [&](const VectorXd& x) {
        const Eigen::Quaterniond r(Eigen::Vector4d(x.head<4>()));
        const Vector3d w = x.tail<3>();
        const Eigen::Quaterniond rate = r * Eigen::Quaterniond(0.0, 0.5 * w.x(), 0.5 * w.y(), 0.5 * w.z());
        VectorXd out(7);
        out << rate.coeffs(), inertia.inverse() * Vector3d(-w.cross(Vector3d(inertia * w)));
        return out;
      },
      T, y);
  const Eigen::Quaterniond R(Eigen::Vector4d(y.head<4>().normalized()));
  VectorXd reference(10);  // centre of mass, rotation, spin
  reference << com + velocity * T - 0.5 * kGravity * T * T * Vector3d::UnitZ(), R.coeffs(), y.tail<3>();
  const auto end = [&](double h) {
    const State state = run(stepper_for(world, scheme, h), start, T);
    Eigen::Quaterniond r(Eigen::Vector4d(state.q.segment<4>(3)));
    if (r.dot(R) < 0.0) r.coeffs() = -r.coeffs();
    VectorXd out(10);
    out << state.q.head<3>() + r * com, r.coeffs(), state.v.tail<3>();
    return out;
  };
  return order_of(4e-3, end, reference);
}

TEST_P(EachScheme, ATumblingBodyConvergesAtItsOrder) {
  const double centred = tumbling_order(GetParam().scheme, Vector3d::Zero());
  const double off = tumbling_order(GetParam().scheme, Vector3d(0.02, -0.01, 0.03));
  tell("tumbling", GetParam().scheme, centred);
  tell("tumbling off its centre", GetParam().scheme, off);
  EXPECT_NEAR(centred, GetParam().tumbling, 0.1);
  EXPECT_NEAR(off, GetParam().tumbling_off_centre, 0.1);
}

// A bowled ball slides until t = 2 v / (7 μ g), then rolls at 5 v / 7: the end of slip falls inside a step.
TEST_P(EachScheme, ABowledBallConvergesAtItsOrder) {
  const double mu = 0.2, speed = 3.0, T = 1.0, slip = 2.0 * speed / (7.0 * mu * kGravity);
  const World world = ball_on_ground(0.1, mu);
  State start = initial_state(world);
  start.v[0] = speed;
  const double distance = speed * slip - 0.5 * mu * kGravity * slip * slip + 5.0 / 7.0 * speed * (T - slip);
  // The error depends on where in its step the slip ends: over a few steps of nearly the same length, the largest counts.
  const auto error = [&](long steps) {
    double worst = 0.0;
    for (long extra = 0; extra < 5; ++extra) {
      const double h = T / static_cast<double>(steps + extra);
      worst = std::max(worst, std::abs(run(stepper_for(world, GetParam().scheme, h), start, T).q[0] - distance));
    }
    return worst;
  };
  const double order = std::log2(error(100) / error(800)) / 3.0;
  tell("bowled ball", GetParam().scheme, order);
  EXPECT_NEAR(order, GetParam().sliding, 0.25);
}

World box_on_incline(double angle, double mu) {
  const Eigen::AngleAxisd tilt(angle, Vector3d::UnitY());
  WorldBuilder builder;
  StaticBody slope{"slope", Eigen::Isometry3d::Identity(), {{HalfSpace{}, Eigen::Isometry3d::Identity(), mu}}};
  slope.pose.linear() = tilt.toRotationMatrix();
  builder.add_static_body(slope);
  FreeBody box;
  box.name = "box";
  box.mass = 2.0;
  box.shapes.push_back({Box{Vector3d(0.1, 0.1, 0.05)}, Eigen::Isometry3d::Identity(), mu});
  box.inertia = solid_inertia(box.shapes.front().shape, box.mass);
  box.pose = Eigen::Isometry3d(tilt) * Eigen::Translation3d(0, 0, 0.05);
  builder.add_free_body(box);
  return builder.build();
}

TEST_P(EachScheme, ABoxOnAnInclineDoesNotCreep) {
  const World world = box_on_incline(0.5, 0.6);  // tan(0.5) = 0.546
  for (const Law law : {Law::coulomb_cone, Law::coulomb_pyramid, Law::moreau, Law::anitescu}) {
    const State state = run(stepper_for(world, GetParam().scheme, 1e-3, law), initial_state(world), 1.0);
    EXPECT_LT((state.q - world.initial_configuration()).cwiseAbs().maxCoeff(), 1e-11) << to_string(law);
    EXPECT_LT(state.v.norm(), 1e-11) << to_string(law);
  }
}

// Shoved across the slope it curves downhill, v' = g_T - μ g_N v/|v|: friction is that of v⁺, whose direction turns, at first order.
TEST_P(EachScheme, FrictionThatTurnsIsOfFirstOrder) {
  const double angle = 0.5, mu = 0.3, T = 0.4;
  const World world = box_on_incline(angle, mu);
  VectorXd y(4);  // downhill, across
  y << 0, 0, 0, 1.0;
  runge_kutta(
      [&](const VectorXd& x) {
        VectorXd out(4);
        out << x.tail(2), -mu * kGravity * std::cos(angle) * x.tail(2).normalized();
        out[2] += kGravity * std::sin(angle);
        return out;
      },
      T, y);
  State start = initial_state(world);
  start.v[1] = 1.0;
  const auto end = [&](double h) { return VectorXd(run(stepper_for(world, GetParam().scheme, h), start, T).v.head(2)); };
  const double order = order_of(4e-3, end, y.tail(2));
  tell("friction that turns", GetParam().scheme, order);
  EXPECT_NEAR(order, 1.0, 0.1);
}

// Dropped, it comes to rest on the ground and never goes in, with any law that knows gaps.
TEST_P(EachScheme, ABallLandsWithoutOverlap) {
  const World world = ball_on_ground(0.35, 0.5);
  for (const Law law : {Law::coulomb_cone, Law::coulomb_pyramid, Law::anitescu}) {
    Stepper stepper = stepper_for(world, GetParam().scheme, 1e-3, law);
    State state = initial_state(world);
    double lowest = state.q[2];
    for (int k = 0; k < 500; ++k) {
      ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
      lowest = std::min(lowest, state.q[2]);
    }
    EXPECT_GT(lowest, 0.1 - 1e-10) << to_string(law);
    EXPECT_NEAR(state.q[2], 0.1, 2e-7) << to_string(law);  // gaps below rest_gap are none
    EXPECT_LT(state.v.norm(), 1e-10) << to_string(law);
  }
}

double energy(const World& world, const State& state) {
  WorldData data(world);
  update(world, state.q, state.v, data);
  return kinetic_energy(world, data, state.v) + potential_energy(world, data);
}

// The fixed point of a robot's forces is found where h |ω| is below one or so; where joints are faster the step is taken in parts.
TEST(EnergyMomentum, AStepThatDoesNotConvergeIsHalved) {
  const World world = double_pendulum();
  Stepper stepper = stepper_for(world, Scheme::energy_momentum, 1e-2);
  State state = raised(world);
  state.v << 200.0, -200.0;
  const double start = energy(world, state);
  const StepReport report = stepper.step(VectorXd::Zero(2), state);
  EXPECT_TRUE(report.accepted);
  EXPECT_GT(report.sub_steps, 1);
  EXPECT_NEAR(energy(world, state), start, 1e-9 * start);
}

// The height of the world's origin means nothing: a slow double pendulum keeps its energy wherever it hangs.
TEST(EnergyMomentum, KeepsItAtAnyHeight) {
  for (const double height : {0.0, 10.0, 1e3}) {
    WorldBuilder builder;
    RobotOptions options;
    options.pose.translation()[2] = height;
    builder.add_robot_text(R"(<mujoco><worldbody><body><joint name="a" axis="0 1 0"/><geom type="capsule" size="0.02"
        fromto="0 0 0 0.3 0 0" mass="1"/><body pos="0.3 0 0"><joint name="b" axis="0 1 0"/><geom type="capsule" size="0.02"
        fromto="0 0 0 0.3 0 0" mass="0.5"/></body></body></worldbody></mujoco>)",
                           options);
    const World world = builder.build();
    Stepper stepper = stepper_for(world, Scheme::energy_momentum, 5e-3);
    State state = initial_state(world);
    state.v << 0.05, -0.05;
    const double start = energy(world, state);
    double worst = 0.0;
    for (int k = 0; k < 400; ++k) {
      ASSERT_TRUE(stepper.step(VectorXd::Zero(2), state).accepted);
      worst = std::max(worst, std::abs(energy(world, state) - start));
    }
    EXPECT_LT(worst, 1e-11 + 1e-13 * height) << height;
  }
}

void expect_rest(const World& world, const VectorXd& tau, double h, const std::string& what) {
  Stepper stepper = stepper_for(world, Scheme::energy_momentum, h);
  State state = initial_state(world);
  for (int k = 0; k < 20; ++k) {
    const StepReport report = stepper.step(tau, state);
    ASSERT_EQ(report.status, Status::solved) << what << " step " << k;
    ASSERT_EQ(report.sub_steps, 1) << what << " step " << k;
  }
  EXPECT_LT(state.v.lpNorm<Eigen::Infinity>(), 1e-11) << what;
}

// What is at rest has no momentum beside which a rounded sum of known forces that cancel is small: the forces themselves are the measure.
TEST(EnergyMomentum, WhatKnownForcesHoldRests) {
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (int k = 0; k < 50; ++k) {
    const double h = std::pow(10.0, -3.0 + uniform(rng));
    WorldBuilder builder;
    FreeBody body;
    body.name = "box";
    body.mass = std::pow(10.0, 3.0 * uniform(rng));
    body.inertia = solid_inertia(Box{Eigen::Vector3d(0.02, 0.04, 0.02)}, body.mass);
    body.pose.linear() = Eigen::Quaterniond(uniform(rng), uniform(rng), uniform(rng), uniform(rng)).normalized().toRotationMatrix();
    builder.add_free_body(body);
    const World world = builder.build();
    WorldData data(world);
    update(world, world.initial_configuration(), VectorXd::Zero(6), data);
    expect_rest(world, data.bias, h, fmt::format("weight against a push, {}", k));
  }
  for (const std::string root : {"", "<freejoint/>"}) {
    for (const std::string held : {"gravcomp='1'", ""}) {
      WorldBuilder builder;
      builder.add_robot_text("<mujoco><worldbody><body pos='0.3 -0.7 1.3' euler='20 40 70' " + held + ">" + root +
                             "<inertial pos='0.1 0.2 0.3' mass='1.7' diaginertia='0.02 0.03 0.04'/><body pos='0.1 0.2 0.3' " + held +
                             "><joint axis='0.51 -0.3 -0.53'/><inertial pos='0.3 0.1 0.2' mass='0.7' diaginertia='0.02 0.03 0.04'/>"
                             "</body></body></worldbody></mujoco>");
      const World world = builder.build();
      WorldData data(world);
      update(world, world.initial_configuration(), VectorXd::Zero(world.nv()), data);
      expect_rest(world, held.empty() ? data.bias : VectorXd::Zero(world.nv()), 1e-3, "robot " + root + held);
    }
  }
}

// Fingers that press on a box from both sides, without weight.
TEST(EnergyMomentum, WhatFingersHoldRests) {
  std::string text = "<mujoco><option gravity='0 0 0'/><worldbody>";
  for (const std::string x : {"-0.0713", "0.0713"})
    text += "<body pos='" + x + " 0 0'><joint type='slide' axis='1 0 0'/><geom type='box' size='0.03 0.05 0.05' mass='0.37'/></body>";
  WorldBuilder builder;
  builder.add_robot_text(text + "<body><freejoint/><geom type='box' size='0.0413 0.03 0.03' mass='0.23'/></body></worldbody></mujoco>");
  const World world = builder.build();
  for (const double force : {0.1, 20.0, 311.0}) {
    VectorXd tau = VectorXd::Zero(world.nv());
    tau.head<2>() << force, -force;
    expect_rest(world, tau, 1e-3, fmt::format("{} N", force));
  }
}

// Armature is inertia without weight: (m + a) z'' = -m g, and the ground bears m g.
TEST_P(EachScheme, AFreeJointWithArmatureFallsAndLies) {
  const auto world = [](double height) {
    WorldBuilder builder;
    builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}});
    builder.add_robot_text(fmt::format(
        R"(<mujoco><worldbody><body pos="0 0 {}"><joint type="free" armature="2"/><geom size="0.1" mass="2"/></body></worldbody></mujoco>)",
        height));
    return builder.build();
  };
  const double h = 1e-3, T = 0.5;
  const State fallen = run(stepper_for(world(3.0), GetParam().scheme, h), initial_state(world(3.0)), T);
  EXPECT_NEAR(3.0 - fallen.q[2], 0.25 * 9.81 * T * T, 9.81 * h * T);
  Stepper stepper = stepper_for(world(0.1), GetParam().scheme, h);
  State state = initial_state(stepper.world());
  for (int k = 0; k < 20; ++k) EXPECT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
  EXPECT_NEAR(stepper.solution().impulses[0] / h, 2.0 * 9.81, 1e-6);
}

// Forces are taken at the middle of the step, so a spring and a damper are followed at second order, and stiff ones stay bounded.
TEST(EnergyMomentum, ADampedSpringConvergesAtSecondOrder) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  RobotOptions options;
  options.joints["s"].stiffness = 50.0;
  options.joints["s"].damping = 3.0;
  options.joints["s"].position = 0.2;
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint name="s" type="slide" axis="0 0 1"/>
      <geom size="0.1" mass="2" contype="0" conaffinity="0"/></body></worldbody></mujoco>)",
                         options);
  const World world = builder.build();
  const double T = 1.0, decay = 0.75, omega = std::sqrt(25.0 - decay * decay);
  const VectorXd exact = VectorXd::Constant(1, 0.2 * std::exp(-decay * T) * (std::cos(omega * T) + decay / omega * std::sin(omega * T)));
  const auto end = [&](double h) { return VectorXd(run(stepper_for(world, Scheme::energy_momentum, h), initial_state(world), T).q); };
  EXPECT_NEAR(order_of(1e-2, end, exact), 2.0, 0.05);
  EXPECT_LT(std::abs(run(stepper_for(world, Scheme::energy_momentum, 1.0), initial_state(world), 100.0).q[0]), 0.2);
}

// [G14, Eqs. 6-8] by hand, with M and the bias of the midpoint.
TEST(MoreauMidpoint, TakesThePublishedStep) {
  const World world = double_pendulum();
  const double h = 0.01;
  State state = raised(world);
  state.v << 1.0, -2.0;
  WorldData data(world);
  Stepper stepper = stepper_for(world, Scheme::moreau_midpoint, h);
  for (int k = 0; k < 20; ++k) {
    const VectorXd q_M = state.q + 0.5 * h * state.v;
    update(world, q_M, state.v, data);
    const VectorXd v = state.v - h * VectorXd(data.M.block(0).ldlt().solve(data.bias)), q = q_M + 0.5 * h * v;
    ASSERT_TRUE(stepper.step(VectorXd::Zero(2), state).accepted);
    ASSERT_LT((state.q - q).norm(), 1e-12);
    ASSERT_LT((state.v - v).norm(), 1e-12);
  }
}

// A ball under the law `moreau`: contact where the midpoint is closed, then γ⁺ = -ε γ⁻ with gravity's share of the step in neither.
TEST(MoreauMidpoint, ABouncingBallFollowsTheClosedFormOfEveryStep) {
  const double h = 1e-3, restitution = 0.8;
  Stepper stepper = stepper_for(ball_on_ground(0.6, 0.0), Scheme::moreau_midpoint, h, Law::moreau, restitution);
  State state = initial_state(stepper.world());
  double z = 0.6, v = 0.0, last_v = 0.0, top = 0.0;
  int bounces = 0;
  for (int k = 0; k < 1000; ++k) {
    const double middle = z + 0.5 * h * v;
    last_v = v;
    v = middle - 0.1 <= kTouchGap ? std::max(-restitution * v, v - h * kGravity) : v - h * kGravity;
    z = middle + 0.5 * h * v;
    if (last_v < 0.0 && v > 0.0) ++bounces;
    if (bounces == 1) top = std::max(top, z);
    ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
    ASSERT_NEAR(state.v[2], v, 1e-8) << k;
    ASSERT_NEAR(state.q[2], z, 1e-9) << k;
  }
  EXPECT_GE(bounces, 2);
  EXPECT_NEAR(top - 0.1, restitution * restitution * 0.5, 0.005);  // the height that the rebound's energy is enough for
}

// A contact that is closed at the midpoint bears although it is open at the start, and one that has opened by then does not.
TEST(MoreauMidpoint, ActiveIsWhatIsClosedAtTheMidpoint) {
  const double h = 1e-3, gap = 0.4e-3;
  for (const double speed : {-0.7, -0.9}) {  // at -0.8 m/s the midpoint touches
    Stepper stepper = stepper_for(ball_on_ground(0.1 + gap, 0.0), Scheme::moreau_midpoint, h, Law::moreau);
    State state = initial_state(stepper.world());
    state.v[2] = speed;
    ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
    EXPECT_NEAR(state.v[2], speed < -0.8 ? 0.0 : speed - h * kGravity, 1e-9);
  }
}

// Springs and dampers at the end of the step: M (v⁺ - v) = -h (k (q_M + h v⁺/2) + d v⁺).
TEST(MoreauMidpoint, JointSpringsAndDampersAreImplicit) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  RobotOptions options;
  options.joints["s"].stiffness = 4e6;
  options.joints["s"].damping = 30.0;
  options.joints["s"].position = 0.2;
  builder.add_robot_text(R"(<mujoco><worldbody><body><joint name="s" type="slide" axis="0 0 1"/>
      <geom size="0.1" mass="2" contype="0" conaffinity="0"/></body></worldbody></mujoco>)",
                         options);
  const double h = 0.01, k = 4e6, d = 30.0, m = 2.0;
  const World world = builder.build();
  Stepper stepper = stepper_for(world, Scheme::moreau_midpoint, h);
  State state = initial_state(world);
  double q = 0.2, v = 0.0;
  for (int i = 0; i < 50; ++i) {
    const double middle = q + 0.5 * h * v;
    v = (m * v - h * k * middle) / (m + h * d + 0.5 * h * h * k);
    q = middle + 0.5 * h * v;
    ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
    ASSERT_NEAR(state.q[0], q, 1e-10);
  }
  EXPECT_LT(std::abs(q), 0.2);
}

// What pushes is evaluated where the scheme evaluates forces, not held in the axes that a link had as the step began.
TEST(Scheme, APushThatIsAWeightActsAsWeightDoes) {
  const World weightless = double_pendulum(0.0);
  std::vector<AppliedWrench> weights(weightless.bodies().size());
  for (std::size_t b = 0; b < weights.size(); ++b) {
    const Body& body = weightless.bodies()[b];
    weights[b] = {static_cast<int>(b), body.com, {0.0, 0.0, -kGravity}, Vector3d::Zero()};  // of 1 kg
  }
  for (const Scheme scheme : kSchemes) {
    Stepper pushed = stepper_for(weightless, scheme, 2e-3);
    pushed.set_wrenches(weights);
    const State expected = run(stepper_for(double_pendulum(), scheme, 2e-3), raised(weightless), 0.5),
                actual = run(pushed, raised(weightless), 0.5);
    const double tolerance = scheme == Scheme::energy_momentum ? 1e-4 : 1e-9;  // which has the work of weight from heights
    EXPECT_LT((actual.q - expected.q).norm(), tolerance) << to_string(scheme);
    EXPECT_LT((actual.v - expected.v).norm(), 10.0 * tolerance) << to_string(scheme);
  }
}

TEST(Scheme, WhatSpinsGoesWhereItIsPushed) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  FreeBody puck;
  puck.name = "puck";
  puck.mass = 1.0;
  puck.shapes.push_back({Box{{0.1, 0.1, 0.05}}});
  puck.inertia = solid_inertia(puck.shapes.front().shape, puck.mass);
  builder.add_free_body(puck);
  const World world = builder.build();
  for (const Scheme scheme : kSchemes) {
    Stepper stepper = stepper_for(world, scheme, 0.01);
    stepper.set_wrenches(std::vector{AppliedWrench{0, Vector3d::Zero(), Vector3d::UnitX(), Vector3d::Zero()}});
    State state = initial_state(world);
    state.v[5] = 100.0;
    state = run(stepper, state, 1.0);
    const Vector3d v = Eigen::Quaterniond(state.q[6], state.q[3], state.q[4], state.q[5]) * Vector3d(state.v.head<3>());
    EXPECT_LT((v - Vector3d::UnitX()).norm(), 1e-7) << to_string(scheme) << ' ' << v.transpose();
  }
}

TEST(Scheme, APushOnNoBodyIsRefused) {
  Stepper stepper = stepper_for(double_pendulum(), Scheme::semi_implicit_euler, 2e-3);
  const int bodies = static_cast<int>(stepper.world().bodies().size());
  for (const int body : {-1, bodies}) EXPECT_THROW(stepper.set_wrenches(std::vector{AppliedWrench{body}}), InvalidArgument);
}

TEST(Scheme, NamesGoBothWays) {
  for (const Scheme scheme : kSchemes) EXPECT_EQ(scheme_from_string(to_string(scheme)), scheme);
  try {
    scheme_from_string("euler");
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_NE(std::string(e.what()).find("scheme"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("moreau_midpoint"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("'euler'"), std::string::npos);
  }
}

}  // namespace
}  // namespace stiction::scheme_test
