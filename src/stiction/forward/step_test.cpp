// The stepper's own promises: stages, recovery of penetration without energy, steps in parts, determinism.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "stiction/base/rotation.hpp"
#include "stiction/forward/step_testing.hpp"

namespace stiction::step_test {
namespace {

using namespace step_testing;

using Eigen::Vector3d;
using Eigen::VectorXd;

class EveryLaw : public testing::TestWithParam<Law> {};

TEST_P(EveryLaw, BoxRestsWithoutCreepAndItsForcesSumToTheWeight) {
  const World world = box_on_ground(0.05);
  Stepper stepper = stepper_for(world, options_with(GetParam()));
  State state = initial_state(world);
  const VectorXd start = state.q;
  for (int k = 0; k < 500; ++k) ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
  EXPECT_LT((state.q - start).cwiseAbs().maxCoeff(), 1e-12);
  double force = 0.0;
  for (int i = 0; i < stepper.problem().contacts(); ++i) force += stepper.solution().impulses[3 * i] / 1e-3;
  EXPECT_NEAR(force, 2.0 * 9.81, 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw,
                         testing::Values(Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::moreau,
                                         Law::anitescu, Law::max_dissipation),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

/// A bar of 2 x 4 m along x whose shape is in a file, flat above the ground and spinning about y.
World spinning_bar(const std::string& path, double gap) {
  const Vector3d half(4.0, 0.1, 0.1);
  std::ofstream out(path);
  for (int i = 0; i < 8; ++i) {
    const Vector3d v = half.cwiseProduct(Vector3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1));
    out << "v " << v.transpose() << "\n";
  }
  for (const char* face : {"1 3 2", "2 3 4", "5 6 7", "6 8 7", "1 2 5", "2 6 5", "3 7 4", "4 7 8", "1 5 3", "3 5 7", "2 4 6", "4 8 6"})
    out << "f " << face << "\n";
  out.close();
  WorldBuilder builder;
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}});
  FreeBody bar;
  bar.name = "bar";
  bar.mass = 1.0;
  bar.shapes.push_back({MeshFile{path}});
  bar.inertia = solid_inertia(Box{half}, bar.mass);
  bar.pose.translation().z() = half.z() + gap;
  builder.add_free_body(bar);
  return builder.build();
}

// The tip comes down by 80 mm in the step: a stepper that looked less far than the mesh reaches would let it in by 20 mm. What is left
// is the bend of its path, ½ ω² r h².
TEST(Stepper, TheFarEndOfAMeshIsSeenComing) {
  constexpr double kSpin = 20.0, kReach = 4.0, kStep = 1e-3;
  const std::string path = testing::TempDir() + "stiction_spinning_bar.obj";
  const World world = spinning_bar(path, 0.06);
  Stepper stepper = stepper_for(world, options_with(Law::frictionless));
  EXPECT_NEAR(stepper.reach()[world.body("bar")], Vector3d(kReach, 0.1, 0.1).norm(), 1e-6);
  State state = initial_state(world);
  state.v[4] = kSpin;
  ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
  const StepReport report = stepper.step(VectorXd::Zero(6), state);
  ASSERT_TRUE(report.accepted);
  EXPECT_LT(report.deepest_penetration, 0.5 * kSpin * kSpin * kReach * kStep * kStep);
  std::filesystem::remove(path);
}

TEST(Stepper, LandsWithoutOverlap) {
  const World world = box_on_ground(0.06);
  Stepper stepper = stepper_for(world, options_with(Law::coulomb_cone));
  State state = initial_state(world);
  double deepest = 0.0;
  for (int k = 0; k < 200; ++k) {
    const StepReport report = stepper.step(VectorXd::Zero(6), state);
    ASSERT_TRUE(report.accepted);
    deepest = std::max(deepest, report.deepest_penetration);
  }
  EXPECT_LT(deepest, 1e-12);
  EXPECT_NEAR(state.q[2], 0.05, 1e-12);
}

// About the edge that it stands on, at first by g x / (4/3 (x² + z²)) of its half extents; then it lies flat, held by nothing before.
TEST(Stepper, ATiltedBoxFallsWithInfiniteFriction) {
  const double tilt = 0.01, x = 0.1, z = 0.05, dt = 1e-3;
  WorldBuilder builder;
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}, Eigen::Isometry3d::Identity(), kInfinity}}});
  FreeBody box;
  box.name = "box";
  box.mass = 2.0;
  box.shapes.push_back({Box{Vector3d(x, 0.1, z)}, Eigen::Isometry3d::Identity(), kInfinity});
  box.inertia = solid_inertia(box.shapes.front().shape, box.mass);
  box.pose.translation().z() = x * std::sin(tilt) + z * std::cos(tilt);
  box.pose.linear() = Eigen::AngleAxisd(tilt, Vector3d::UnitY()).toRotationMatrix();
  builder.add_free_body(box);
  const World world = builder.build();
  for (const Law law : {Law::coulomb_pyramid, Law::coulomb_cone, Law::coulomb_ellipse}) {
    StepOptions options = options_with(law, dt);
    options.assemble.material = ContactMaterial{};
    options.assemble.material->friction_ratio = 0.5;
    Stepper stepper = stepper_for(world, options);
    State state = initial_state(world);
    const auto angle = [&] { return 2.0 * std::asin(state.q[4]); };
    int iterations = 0;
    for (int k = 1; k <= 100; ++k) {
      const StepReport report = stepper.step(VectorXd::Zero(6), state);
      ASSERT_TRUE(report.accepted) << to_string(law) << " " << k;
      iterations += report.iterations;
      if (k != 12) continue;
      const double acceleration = (tilt - angle()) / (0.5 * dt * dt * k * (k + 1));
      EXPECT_NEAR(acceleration, 9.81 * x / (4.0 / 3.0 * (x * x + z * z)), 0.5) << to_string(law);
    }
    EXPECT_NEAR(angle(), 0.0, 1e-6) << to_string(law);  // gaps of 0.1 um count as none
    EXPECT_LT(iterations, 1000) << to_string(law);
  }
}

TEST(Stepper, UndoesPenetrationWithoutKineticEnergy) {
  const World world = box_on_ground(0.049);
  Stepper stepper = stepper_for(world, options_with(Law::coulomb_cone));
  State state = initial_state(world);
  for (int k = 0; k < 100; ++k) {
    ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
    EXPECT_LT(state.v.norm(), 1e-12);
  }
  EXPECT_NEAR(state.q[2], 0.05, 2e-6);
}

TEST(Stepper, SlidingStopDistanceConvergesAtFirstOrder) {
  const double mu = 0.5, speed = 1.0, distance = speed * speed / (2.0 * mu * 9.81);
  double last = 0.0;
  for (const double dt : {4e-3, 2e-3, 1e-3}) {
    const World world = box_on_ground(0.05, mu);
    Stepper stepper = stepper_for(world, options_with(Law::coulomb_cone, dt));
    State state = initial_state(world);
    state.v.head<2>() << speed * std::cos(0.7), speed * std::sin(0.7);
    while (state.time < 0.5) ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
    EXPECT_LT(state.v.norm(), 1e-12);
    const double error = std::abs(state.q.head<2>().norm() - distance);
    if (last > 0.0) {
      EXPECT_NEAR(error / last, 0.5, 0.1);
    }
    last = error;
  }
}

TEST(Stepper, SameInputSameBits) {
  const auto run = [] {
    const World world = box_on_ground(0.2);
    Stepper stepper = stepper_for(world, options_with(Law::coulomb_pyramid));
    State state = initial_state(world);
    state.v << 0.3, -0.2, 0.1, 1.0, 2.0, 3.0;
    for (int k = 0; k < 600; ++k) EXPECT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
    return state;
  };
  const State a = run(), b = run();
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.v, b.v);
}

// Two boxes: the upper one is dropped askew on the lower one, so that contacts come and go.
World two_boxes() {
  WorldBuilder builder;
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}});
  for (const double height : {0.05, 0.2}) {
    FreeBody box;
    box.name = "box" + std::to_string(builder.build().bodies().size());
    box.mass = 2.0;
    box.shapes.push_back({Box{Vector3d(0.1, 0.1, 0.05)}});
    box.inertia = solid_inertia(box.shapes.front().shape, box.mass);
    box.pose.translation() = Vector3d(0.3 * (height - 0.05), 0.02, height);
    builder.add_free_body(box);
  }
  return builder.build();
}

class EveryPersistentLaw : public testing::TestWithParam<Law> {
 protected:
  Stepper make() const {
    StepOptions options = options_with(GetParam());
    options.assemble.material = ContactMaterial{};
    options.assemble.material->stiffness = 1e5;
    options.assemble.material->damping = 100.0;
    options.assemble.material->stiffness_tangential = 1e5;
    return stepper_for(world, options);
  }
  static State advance(Stepper& stepper, State state, int steps) {
    for (int k = 0; k < steps; ++k) EXPECT_TRUE(stepper.step(VectorXd::Zero(12), state).accepted) << k;
    return state;
  }
  World world = two_boxes();
};

TEST_P(EveryPersistentLaw, ACopyGoesOnBitForBit) {
  Stepper stepper = make();
  const State middle = advance(stepper, initial_state(world), 180);
  Stepper copy = stepper;
  const State a = advance(stepper, middle, 60), b = advance(copy, middle, 60);
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.v, b.v);
}

TEST_P(EveryPersistentLaw, AStepperThatWasMovedFromTakesACopy) {
  Stepper stepper = make();
  const State middle = advance(stepper, initial_state(world), 180);
  Stepper moved = std::move(stepper);
  stepper = moved;
  const State a = advance(stepper, middle, 60), b = advance(moved, middle, 60);
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.v, b.v);
}

TEST_P(EveryPersistentLaw, AfterAResetTheStateAloneCounts) {
  Stepper stepper = make(), fresh = make();
  const State middle = advance(stepper, initial_state(world), 180);
  stepper.reset();
  const State a = advance(stepper, middle, 60), b = advance(fresh, middle, 60);
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.v, b.v);
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryPersistentLaw,
                         testing::Values(Law::coulomb_pyramid, Law::coulomb_cone, Law::moreau, Law::anitescu, Law::max_dissipation,
                                         Law::todorov, Law::stick_slip_spring),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

TEST(Stepper, ReadsTheClockWhereItIsTimedAndTakesTheSameSteps) {
  const World world = box_on_ground(0.05);
  Stepper timed = stepper_for(world, options_with(Law::coulomb_cone)), other = untimed(timed);
  State a = initial_state(world), b = a;
  const VectorXd tau = VectorXd::Zero(world.nv());
  for (int k = 0; k < 5; ++k) {
    const StepReport report = timed.step(tau, a), without = other.step(tau, b);
    EXPECT_GT(report.seconds[static_cast<std::size_t>(Stage::solve)], 0.0);
    for (const double s : without.seconds) EXPECT_EQ(s, 0.0);
    EXPECT_EQ(a.q, b.q);
    EXPECT_EQ(a.v, b.v);
  }
}

TEST(Stepper, QuaternionsStayUnitAndFreeFlightKeepsItsMomentum) {
  const World world = box_on_ground(1e3);
  Stepper stepper = stepper_for(world, options_with(Law::coulomb_cone));
  State state = initial_state(world);
  state.v << 0.0, 0.0, 0.0, 5.0, 0.1, 0.2;
  for (int k = 0; k < 2000; ++k) ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
  EXPECT_NEAR(state.q.segment<4>(3).norm(), 1.0, 1e-14);
  EXPECT_NEAR(state.q[0], 0.0, 1e-10);
  EXPECT_NEAR(state.q[2], 1e3 - 0.5 * 9.81 * 2.0 * 2.001, 1e-8);  // semi-implicit Euler under constant gravity, spin or not
}

// Torque-free rotation about the axis of intermediate inertia, which turns over and over: kinetic energy and |angular momentum| are those
// of the start, and the angular momentum of the world turns by what a scheme of first order makes it.
TEST(Stepper, ATumblingBodyKeepsItsEnergyAndTheLengthOfItsAngularMomentum) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  FreeBody brick;
  brick.name = "brick";
  brick.mass = 3.0;
  brick.inertia = Vector3d(0.01, 0.02, 0.025).asDiagonal();
  brick.com = Vector3d(0.02, -0.01, 0.03);  // the coordinates are those of another point
  builder.add_free_body(brick);
  const World world = builder.build();
  Stepper stepper = stepper_for(world, options_with(Law::coulomb_cone));
  State state = initial_state(world);
  const Vector3d spin(0.1, 20.0, 0.2);
  state.v << Vector3d(1.0, 0.0, 0.0) - spin.cross(brick.com), spin;
  const auto energy = [&] { return 0.5 * state.v.tail<3>().dot(brick.inertia * state.v.tail<3>()); };
  const auto momentum = [&] { return Vector3d(brick.inertia * state.v.tail<3>()); };
  const double start = energy(), length = momentum().norm();
  double least = spin.y();
  for (int k = 0; k < 2000; ++k) {
    ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
    ASSERT_NEAR(energy(), start, 1e-10 * start);
    ASSERT_NEAR(momentum().norm(), length, 1e-10 * length);
    least = std::min(least, state.v[4]);
  }
  EXPECT_LT(least, -19.0);  // it did turn over
  const Eigen::Quaterniond R(Eigen::Vector4d(state.q.segment<4>(3)));
  EXPECT_GT((R * momentum()).dot(brick.inertia * spin), 0.95 * length * length);
}

// The lower ball is stopped within the step, so the upper one, which did not approach it before, comes down on it at full speed.
TEST(Stepper, ABodyThatFollowsAnotherOneDoesNotRunIntoItWhenThatIsStopped) {
  const double radius = 0.1, gap = 2e-3, speed = 4.0, h = 2e-3;
  WorldBuilder builder;
  StaticBody ground;
  ground.name = "ground";
  ground.shapes.push_back({HalfSpace{}, Eigen::Isometry3d::Identity(), 0.5});
  builder.add_static_body(ground);
  for (int k = 0; k < 3; ++k) {
    FreeBody ball;
    ball.name = "ball " + std::to_string(k);
    ball.mass = 1.0;
    ball.shapes.push_back({Sphere{radius}, Eigen::Isometry3d::Identity(), 0.5});
    ball.inertia = solid_inertia(ball.shapes.front().shape, ball.mass);
    ball.pose.translation().z() = radius + gap + k * (2.0 * radius + gap);
    builder.add_free_body(ball);
  }
  const World world = builder.build();
  Stepper stepper = stepper_for(world, options_with(Law::coulomb_cone, h));
  State state = initial_state(world);
  for (int k = 0; k < 3; ++k) state.v[6 * k + 2] = -speed;
  double deepest = 0.0;
  for (int k = 0; k < 20; ++k) {
    const StepReport report = stepper.step(VectorXd::Zero(18), state);
    ASSERT_TRUE(report.accepted);
    deepest = std::max(deepest, report.deepest_penetration);
  }
  EXPECT_LT(deepest, 1e-9);
}

// Tumbling capsules and boxes that fall on each other between walls: kinetic and potential energy rise in no step by more than what undoing
// overlap lifts.
TEST(Stepper, EnergyRisesByLiftingOutOfOverlapAlone) {
  WorldBuilder builder;
  StaticBody bin;
  bin.name = "bin";
  for (int k = 0; k < 5; ++k) {
    const Vector3d normal = k == 4 ? Vector3d::UnitZ() : Vector3d(Eigen::AngleAxisd(0.5 * M_PI * k, Vector3d::UnitZ()) * Vector3d::UnitX());
    Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
    pose.linear() = rotation_of_z(normal);
    if (k < 4) pose.translation() = -0.3 * normal;
    bin.shapes.push_back({HalfSpace{}, pose, 0.5});
  }
  builder.add_static_body(bin);
  for (int k = 0; k < 12; ++k) {
    FreeBody body;
    body.name = "body " + std::to_string(k);
    body.mass = 1.0;
    const Shape shape = k % 2 == 0 ? Shape(Capsule{0.06, 0.06}) : Shape(Box{Vector3d(0.075, 0.065, 0.055)});
    body.shapes.push_back({shape, Eigen::Isometry3d::Identity(), 0.5});
    body.inertia = solid_inertia(shape, body.mass);
    const int layer = k / 4;
    body.pose.translation() = Vector3d(k & 1 ? 0.12 : -0.13, k & 2 ? 0.13 : -0.12, 0.2 + 0.26 * layer);
    body.pose.linear() = Eigen::AngleAxisd(1.0 + k, Vector3d(1.0, 0.3 * k, -0.5).normalized()).toRotationMatrix();
    builder.add_free_body(body);
  }
  const World world = builder.build();
  Stepper stepper = stepper_for(world, options_with(Law::coulomb_cone, 2e-3));
  State state = initial_state(world);
  for (int k = 0; k < 12; ++k) state.v.segment<6>(6 * k) << 0.5, -0.5, -2.0, 10.0 - k, k, 5.0;
  const auto energy = [&] {
    double sum = 0.0;
    for (int k = 0; k < 12; ++k) {
      const Body& body = world.bodies()[static_cast<std::size_t>(k) + 1];
      const auto v = state.v.segment<6>(6 * k);
      sum += 0.5 * body.mass * v.head<3>().squaredNorm() + 0.5 * v.tail<3>().dot(body.inertia * v.tail<3>()) + 9.81 * state.q[7 * k + 2];
    }
    return sum;
  };
  const double start = energy();
  double before = start, lifted = 0.0;
  for (int k = 0; k < 400; ++k) {
    const StepReport report = stepper.step(VectorXd::Zero(72), state);
    ASSERT_TRUE(report.accepted);
    const double after = energy();
    ASSERT_LE(after - before, report.correction.lifted + 1e-9 * start) << k;  // the tolerance
    lifted += report.correction.lifted;
    before = after;
  }
  EXPECT_LT(before, 0.5 * start);
  EXPECT_GT(lifted, 0.0);
}

// No certificate meets 1e-300, so the aim is always missed here.
TEST(Stepper, AimMissedIsCountedAndStrictRefuses) {
  const World world = box_on_ground(0.05);
  StepOptions options = options_with(Law::coulomb_cone);
  options.contact.tolerance = 1e-300;
  Stepper stepper = stepper_for(world, options);
  State state = initial_state(world);
  state.v[0] = 1.0;
  const StepReport report = stepper.step(VectorXd::Zero(6), state);
  EXPECT_TRUE(report.accepted && report.at_acceptable());
  EXPECT_NE(report.status, Status::solved);
  EXPECT_EQ(report.attempts, 1);  // the first step has nothing to start from
  EXPECT_EQ(report.sub_steps, 1);
  EXPECT_GT(report.residual, options.contact.tolerance);
  EXPECT_LE(report.residual, options.acceptable);
  EXPECT_NEAR(state.v[0], 1.0 - 0.5 * 9.81e-3, 1e-9);
  EXPECT_EQ(stepper.step(VectorXd::Zero(6), state).attempts, 1);  // acceptable from its warm start

  options.strict = true;
  stepper.set_options(options);
  const State before = state;
  const StepReport refused = stepper.step(VectorXd::Zero(6), state);
  EXPECT_FALSE(refused.accepted || refused.at_acceptable());
  EXPECT_EQ(refused.sub_steps, 0);
  EXPECT_EQ(refused.attempts, 2 * 9);  // the whole, and the first half, quarter, ... 256th
  EXPECT_EQ(state.q, before.q);
  EXPECT_EQ(state.v, before.v);
  EXPECT_EQ(state.time, before.time);
  EXPECT_DOUBLE_EQ(stepper.problem().dt, options.assemble.dt / 256);  // what failed, to be saved
}

// A sweep method cut short misses the aim where a tilted box lands on an edge within the step and a face is near; its parts are met.
TEST(Stepper, StepThatMissesIsTakenInParts) {
  StepOptions options = options_with(Law::coulomb_cone, 2e-3);
  options.contact.solver = Solver::jor;
  options.contact.alpha = 1.0;
  options.contact.max_sweeps = 5;
  Stepper stepper = stepper_for(box_on_ground(0.06), options);
  State state = initial_state(stepper.world());
  const double tilt = 0.02;
  state.q.segment<4>(3) << 0.0, std::sin(0.5 * tilt), 0.0, std::cos(0.5 * tilt);
  state.q[2] = 0.05 * std::cos(tilt) + 0.1 * std::sin(tilt) + 1e-3;
  state.v[2] = -1.5;
  State fine = state;
  const StepReport report = stepper.step(VectorXd::Zero(6), state);
  ASSERT_TRUE(report.accepted);
  EXPECT_EQ(report.sub_steps, 4);
  EXPECT_LE(report.residual, options.acceptable);
  EXPECT_DOUBLE_EQ(state.time, 2e-3);

  Stepper exact = stepper_for(stepper.world(), options_with(Law::coulomb_cone, 0.5e-3));
  for (int k = 0; k < 4; ++k) ASSERT_TRUE(exact.step(VectorXd::Zero(6), fine).accepted);
  EXPECT_LT((state.q - fine.q).norm(), 1e-4);  // the parts are not all quarters
  EXPECT_LT((state.v - fine.v).norm(), 0.05);
}

}  // namespace
}  // namespace stiction::step_test
