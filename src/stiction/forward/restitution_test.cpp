// Impacts that follow from others within one step: balls of equal mass, whose elastic impacts exchange velocities.
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/base/rotation.hpp"
#include "stiction/forward/step.hpp"

namespace stiction::restitution_test {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kRadius = 0.1, kMass = 2.0, kStep = 0.01;

struct Ball {
  Vector3d position, velocity;
};

/// Free balls without friction, between walls.
class Balls {
 public:
  Balls(const std::vector<Ball>& balls, const std::vector<StaticBody>& walls, double restitution, Scheme scheme, double h,
        double gravity = 0.0)
      : stepper_(stepper_for(balls, walls, restitution, scheme, h, gravity)), state_(initial_state(stepper_.world())) {
    for (std::size_t i = 0; i < balls.size(); ++i) state_.v.segment<3>(6 * static_cast<Eigen::Index>(i)) = balls[i].velocity;
  }

  void run(int steps) {
    for (int k = 0; k < steps; ++k) {
      const StepReport report = stepper_.step(VectorXd::Zero(state_.v.size()), state_);
      ASSERT_TRUE(report.accepted);
      deepest_ = std::max(deepest_, report.deepest_penetration);
    }
  }
  Vector3d velocity(int ball) const { return state_.v.segment<3>(6 * ball); }  // without friction they do not turn
  Vector3d momentum() const {
    Vector3d sum = Vector3d::Zero();
    for (int i = 0; i < balls(); ++i) sum += kMass * velocity(i);
    return sum;
  }
  double energy() const {
    double sum = 0.0;
    for (int i = 0; i < balls(); ++i) sum += 0.5 * kMass * velocity(i).squaredNorm();
    return sum;
  }
  double height(int ball) const { return state_.q[7 * ball + 2]; }
  double deepest() const { return deepest_; }

 private:
  static Stepper stepper_for(const std::vector<Ball>& balls, const std::vector<StaticBody>& walls, double restitution, Scheme scheme,
                             double h, double gravity) {
    WorldBuilder builder;
    builder.set_gravity(-gravity * Vector3d::UnitZ());
    for (const StaticBody& wall : walls) builder.add_static_body(wall);
    for (std::size_t i = 0; i < balls.size(); ++i) {
      FreeBody ball;
      ball.name = fmt::format("ball{}", i);
      ball.mass = kMass;
      ball.shapes.push_back({Sphere{kRadius}});
      ball.inertia = solid_inertia(ball.shapes.front().shape, kMass);
      ball.pose.translation() = balls[i].position;
      builder.add_free_body(ball);
    }
    const World world = builder.build();
    StepOptions options;
    options.assemble.dt = h;
    options.assemble.friction = 0.0;
    options.scheme = scheme;
    return {world, make_scene(world, 0.0, std::vector<double>(world.bodies().size(), restitution)), options};
  }
  int balls() const { return static_cast<int>(state_.v.size() / 6); }

  Stepper stepper_;
  State state_;
  double deepest_ = 0.0;
};

StaticBody wall(const Vector3d& inward, double distance) {
  Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
  pose.linear() = rotation_of_z(inward);
  pose.translation() = -distance * inward;
  return {fmt::format("wall {} {} {}", inward.x(), inward.y(), inward.z()), pose, {{HalfSpace{}}}};
}

class Restitution : public testing::TestWithParam<Scheme> {};
INSTANTIATE_TEST_SUITE_P(Schemes, Restitution, testing::Values(Scheme::semi_implicit_euler, Scheme::moreau_midpoint),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

/// Three at rest in a frame that moves at `drift`, 1 mm between them, but that the first comes in at 1 m/s.
std::vector<Ball> row_of_three(double drift) {
  std::vector<Ball> row;
  for (int i = 0; i < 3; ++i)
    row.push_back({i * (2.0 * kRadius + 1e-3) * Vector3d::UnitX(), ((i == 0 ? 1.0 : 0.0) + drift) * Vector3d::UnitX()});
  return row;
}

// The first meets the second, and that the third, in a step of 10 mm.
TEST_P(Restitution, GoesThroughARowOfElasticBalls) {
  for (const double drift : {0.0, 0.5}) {
    Balls row(row_of_three(drift), {}, 1.0, GetParam(), kStep);
    row.run(4);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(row.velocity(i).x(), (i == 2 ? 1.0 : 0.0) + drift, 1e-9) << i << " at " << drift;
    EXPECT_LT(row.deepest(), 1.0 * kStep);  // the way of the fastest in one step
  }
}

// e: u' = (1 - e)/2 u and (1 + e)/2 u, twice; the first two do not meet again within these steps.
TEST_P(Restitution, GoesThroughARowByItsCoefficient) {
  constexpr double e = 0.8;
  for (const double drift : {0.0, 0.5}) {
    Balls row(row_of_three(drift), {}, e, GetParam(), kStep);
    row.run(2);
    EXPECT_NEAR(row.velocity(0).x() - drift, 0.5 * (1.0 - e), 1e-9);
    EXPECT_NEAR(row.velocity(1).x() - drift, 0.25 * (1.0 - e) * (1.0 + e), 1e-9);
    EXPECT_NEAR(row.velocity(2).x() - drift, 0.25 * (1.0 + e) * (1.0 + e), 1e-9);
  }
}

// The lower one comes back from the ground within the step and meets the upper one, which moves slower than it did.
TEST_P(Restitution, OfABallThatTheGroundThrowsBack) {
  Balls column(
      {{(kRadius + 1e-3) * Vector3d::UnitZ(), -Vector3d::UnitZ()}, {(3.0 * kRadius + 4e-3) * Vector3d::UnitZ(), -0.5 * Vector3d::UnitZ()}},
      {wall(Vector3d::UnitZ(), 0.0)}, 1.0, GetParam(), kStep);
  column.run(2);
  EXPECT_NEAR(column.velocity(0).z(), -0.5, 1e-9);
  EXPECT_NEAR(column.velocity(1).z(), 1.0, 1e-9);
}

// Three that touch, and Newton's law at both contacts at once: -1/3, 2/3, 2/3, with the energy and momentum of the first.
TEST_P(Restitution, OfBallsThatTouchIsSimultaneous) {
  const double d = 2.0 * kRadius;
  Balls row({{-1e-3 * Vector3d::UnitX(), Vector3d::UnitX()},
             {d * Vector3d::UnitX(), Vector3d::Zero()},
             {2.0 * d * Vector3d::UnitX(), Vector3d::Zero()}},
            {}, 1.0, GetParam(), kStep);
  row.run(3);
  EXPECT_NEAR(row.velocity(0).x(), -1.0 / 3.0, 1e-9);
  EXPECT_NEAR(row.velocity(1).x(), 2.0 / 3.0, 1e-9);
  EXPECT_NEAR(row.velocity(2).x(), 2.0 / 3.0, 1e-9);
}

// A ball at rest, 20 mm before a wall of 40 mm, which a step of 10 mm at 20 m/s would take through.
constexpr double kRoom = 0.02, kWall = 0.04, kFast = 20.0;
const Vector3d kThrower = -(2.0 * kRadius + kRoom) * Vector3d::UnitX();

struct Thrown {
  Scheme scheme;
  Law law = Law::coulomb_cone;
  double restitution = 0.5;
  double by = 0.0;       // kg, mass of a second ball at kThrower
  bool of_pair = false;  // restitution is that of the ball with whatever it touches, not of their shapes
};

Stepper before_thin_wall(const Thrown& how) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
  pose.translation().x() = kRoom + kRadius + 0.5 * kWall;
  builder.add_static_body({"wall", pose, {{Box{{0.5 * kWall, 1.0, 1.0}}}}});
  const auto add = [&](const char* name, double mass, const Vector3d& position) {
    FreeBody ball;
    ball.name = name;
    ball.mass = mass;
    ball.shapes.push_back({Sphere{kRadius}});
    ball.inertia = solid_inertia(ball.shapes.front().shape, mass);
    ball.pose.translation() = position;
    builder.add_free_body(ball);
  };
  add("ball", kMass, Vector3d::Zero());
  if (how.by > 0.0) add("thrower", how.by, kThrower);
  const World world = builder.build();
  StepOptions options;
  options.assemble.dt = kStep;
  options.assemble.friction = 0.3;
  options.contact.law = how.law;
  options.scheme = how.scheme;
  if (how.of_pair) {
    PairMaterial& pair = options.assemble.pairs.emplace_back();
    pair.body_a = 1;
    pair.body_b = kAnyBody;
    pair.restitution = how.restitution;
  }
  return {world, make_scene(world, 0.3, std::vector<double>(world.bodies().size(), how.of_pair ? 0.0 : how.restitution)), options};
}

class ThinWall : public testing::TestWithParam<Scheme> {};
INSTANTIATE_TEST_SUITE_P(Schemes, ThinWall, testing::Values(Scheme::semi_implicit_euler, Scheme::moreau_midpoint, Scheme::energy_momentum),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

// It ends the step at the wall, at φ / h, and bounces off by that in the next one.
TEST_P(ThinWall, HoldsWhatIsPushedThroughItWithinAStep) {
  for (const Law law : {Law::coulomb_cone, Law::coulomb_pyramid, Law::anitescu, Law::frictionless, Law::no_slip, Law::viscous}) {
    for (const double e : {0.0, 0.5, 1.0}) {
      Stepper stepper = before_thin_wall({.scheme = GetParam(), .law = law, .restitution = e});
      State state = initial_state(stepper.world());
      VectorXd push = VectorXd::Zero(6);
      push[0] = kMass * kFast / kStep;
      const std::string which = fmt::format("{} with {}", to_string(law), e);
      ASSERT_TRUE(stepper.step(push, state).accepted) << which;
      EXPECT_NEAR(state.v[0], kRoom / kStep, 1e-6) << which;
      for (int k = 0; k < 3; ++k) ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted) << which;
      EXPECT_NEAR(state.v[0], -e * kRoom / kStep, 1e-6) << which;
      EXPECT_LT(state.q[0], kRoom + 1e-6) << which;
    }
  }
}

// Of three times its mass, which would throw it at 3/2 of its own speed; ε = 1 at both ends. The thrower comes back by what their impact
// gives, the wall takes up the rest.
TEST_P(ThinWall, HoldsWhatAnotherThrowsThroughItWithinAStep) {
  const double room = kRoom / kStep, thrower = kFast / 1.5;
  Stepper stepper = before_thin_wall({.scheme = GetParam(), .restitution = 1.0, .by = 3.0 * kMass});
  State state = initial_state(stepper.world());
  state.v[6] = thrower;
  ASSERT_TRUE(stepper.step(VectorXd::Zero(12), state).accepted);
  EXPECT_NEAR(state.v[0], room, 1e-6);
  EXPECT_NEAR(state.v[6], room - thrower, 1e-6);
  ASSERT_TRUE(stepper.step(VectorXd::Zero(12), state).accepted);
  EXPECT_NEAR(state.v[0], -room, 1e-6);
  EXPECT_NEAR(state.v[6], room - thrower, 1e-6);
}

// What ends the step nearer to the side that it came from bounces by the velocity that it was thrown with: 0.5 of its 13 m/s, as its
// centre would end at 130 mm, and the wall's middle lies at 140 mm.
TEST_P(ThinWall, LetsBounceWhatStaysOnItsSide) {
  constexpr double slower = 13.0;
  for (const bool of_pair : {false, true}) {
    Stepper stepper = before_thin_wall({.scheme = GetParam(), .of_pair = of_pair});
    State state = initial_state(stepper.world());
    VectorXd push = VectorXd::Zero(6);
    push[0] = kMass * slower / kStep;
    ASSERT_TRUE(stepper.step(push, state).accepted);
    EXPECT_NEAR(state.v[0], slower, 1e-9) << of_pair;
    ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
    EXPECT_NEAR(state.v[0], -0.5 * slower, 1e-6) << of_pair;
  }
}

// Their impacts end: the column stands on the ground, each ball on the one below, to the penetration that is left alone.
TEST_P(Restitution, LetsAColumnComeToRest) {
  for (const double e : {0.0, 0.3, 0.6}) {
    std::vector<Ball> balls;
    for (int i = 0; i < 4; ++i) balls.push_back({(0.3 + kRadius + i * (2.0 * kRadius + 0.05)) * Vector3d::UnitZ(), Vector3d::Zero()});
    constexpr double h = 0.002;
    Balls column(balls, {wall(Vector3d::UnitZ(), 0.0)}, e, GetParam(), h, 9.81);
    column.run(static_cast<int>(8.0 / h));
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(column.velocity(i).z(), 0.0, 1e-9) << i << " with " << e;
      EXPECT_NEAR(column.height(i), (2 * i + 1) * kRadius, 2e-6 * (i + 1)) << i << " with " << e;
    }
  }
}

// Many balls in a box keep their energy; in free space, those of one half thrown against the other keep their momentum too.
TEST_P(Restitution, KeepsTheEnergyOfAGas) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> speed(-1.0, 1.0);
  std::vector<Ball> balls;
  constexpr int kSide = 4;
  constexpr double kPitch = 2.1 * kRadius;
  for (int i = 0; i < kSide * kSide * kSide; ++i) {
    const int column = i / kSide, layer = column / kSide;
    const Vector3d cell(i % kSide, column % kSide, layer);
    balls.push_back({kPitch * (cell - 0.5 * (kSide - 1) * Vector3d::Ones()), Vector3d(speed(random), speed(random), speed(random))});
  }
  std::vector<StaticBody> walls;
  for (int k = 0; k < 3; ++k) {
    for (const double sign : {1.0, -1.0}) walls.push_back(wall(sign * Vector3d::Unit(k), 0.5 * kPitch * kSide));
  }
  for (const double h : {0.01, 0.005, 0.0025}) {
    Balls gas(balls, walls, 1.0, GetParam(), h);
    const double start = gas.energy();
    gas.run(static_cast<int>(2.0 / h));
    fmt::print("[ gas      ] h {}: energy {:.6f} of the start, deepest {:.1e}\n", h, gas.energy() / start, gas.deepest());
    EXPECT_NEAR(gas.energy() / start, 1.0, 1e-6);
  }
  Balls cloud(balls, {}, 1.0, GetParam(), 0.01);
  const Vector3d momentum = cloud.momentum();
  const double start = cloud.energy();
  cloud.run(100);
  EXPECT_LT((cloud.momentum() - momentum).norm(), 1e-9 * momentum.norm());
  EXPECT_NEAR(cloud.energy() / start, 1.0, 1e-6);
}

}  // namespace
}  // namespace stiction::restitution_test
