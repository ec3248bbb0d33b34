// Rollouts: bit for bit the runs one by one, and what ends them early.
#include "stiction/sim/rollout.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/sim/scene.hpp"

namespace stiction::rollout_test {
namespace {

using Eigen::VectorXd;

constexpr int kRuns = 6, kSteps = 120;

Scene stack(Law law) {
  Scene out = load_scene("stack");
  out.options.contact.law = law;
  out.options.assemble.material = ContactMaterial{};
  out.options.assemble.material->stiffness = 1e5;
  out.options.assemble.material->damping = 100.0;
  out.options.assemble.material->stiffness_tangential = 1e5;
  return out;
}

RowMatrix thrown(const Scene& scene) {
  RowMatrix v(kRuns, scene.world.nv());
  for (Eigen::Index i = 0; i < v.size(); ++i) v.data()[i] = 0.5 * std::sin(1.0 + 1.7 * static_cast<double>(i));
  return v;
}

void push(int run, Simulation& simulation, VectorXd& tau) { tau[0] = 3.0 * std::cos(0.05 * static_cast<double>(run * simulation.steps())); }

class EveryLaw : public testing::TestWithParam<Law> {};

TEST_P(EveryLaw, HasTheBitsOfRunsOneByOneForAnyNumberOfThreads) {
  const Scene scene = stack(GetParam());
  const RowMatrix q = scene.start.q.transpose().replicate(kRuns, 1), v = thrown(scene);
  std::vector<double> q_alone, v_alone;
  for (int i = 0; i < kRuns; ++i) {
    Simulation alone(scene.make_stepper(), {q.row(i).transpose(), v.row(i).transpose(), 0.0});
    for (int k = 0;; ++k) {
      q_alone.insert(q_alone.end(), alone.state().q.begin(), alone.state().q.end());
      v_alone.insert(v_alone.end(), alone.state().v.begin(), alone.state().v.end());
      if (k == kSteps) break;
      VectorXd tau = VectorXd::Zero(scene.world.nv());
      push(i, alone, tau);
      ASSERT_TRUE(alone.step(tau).accepted);
    }
  }
  for (const int threads : {1, 2, 5}) {
    const Rollout out = rollout(scene.make_stepper(), q, v, kSteps, {.threads = threads, .control = push});
    EXPECT_EQ(out.q, q_alone) << threads;
    EXPECT_EQ(out.v, v_alone) << threads;
    EXPECT_THAT(out.taken, testing::Each(kSteps));
    EXPECT_THAT(out.worst_residual, testing::Each(testing::AllOf(testing::Gt(0.0), testing::Le(scene.options.acceptable))));
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw, testing::Values(Law::coulomb_cone, Law::coulomb_pyramid, Law::moreau, Law::stick_slip_spring),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

// The velocity that the fourth step of the second run ends with has no square.
TEST(Rollout, ARunThatIsRefusedStaysWhereItWasAndTheOthersGoOn) {
  const Scene scene = load_scene("stack");
  const RowMatrix q = scene.start.q.transpose().replicate(3, 1), v = RowMatrix::Zero(3, scene.world.nv());
  const auto control = [](int run, const Simulation& s, VectorXd& tau) { tau[0] = run == 1 && s.steps() == 3 ? 1e308 : 0.0; };
  const Rollout out = rollout(scene.make_stepper(), q, v, 10, {.threads = 2, .control = control});
  EXPECT_THAT(out.taken, testing::ElementsAre(10, 3, 10));
  EXPECT_THAT(out.status, testing::ElementsAre(Status::solved, Status::numerical_error, Status::solved));
  const auto row = [&](int run, int k) {
    return Eigen::Map<const VectorXd>(out.q.data() + (run * 11 + k) * scene.world.nq(), scene.world.nq());
  };
  for (int k = 4; k <= 10; ++k) EXPECT_EQ(row(1, k), row(1, 3));
  EXPECT_EQ(row(0, 10), row(2, 10));
}

// Two boxes that are joined fly apart at the speed of light, out to where their rows are rounding: no number comes of that, nor an
// exception.
class Hopeless : public testing::TestWithParam<Scheme> {};

TEST_P(Hopeless, ARunThatNoStepCanBeMadeOfLosesNoOther) {
  const std::string boxes = R"(<mujoco><worldbody>
    <body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    <body name="d" pos=".3 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody><equality>)";
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (const std::string joined : {R"(<connect body1="a" body2="d" anchor=".15 0 0"/>)", R"(<weld body1="a" body2="d"/>)"}) {
    WorldBuilder builder;
    builder.add_robot_text(boxes + joined + "</equality></mujoco>", {});
    builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}});
    const World world = builder.build();
    const RowMatrix q = world.initial_configuration().transpose().replicate(3, 1);
    for (const Law law : {Law::frictionless, Law::coulomb_cone, Law::coulomb_pyramid, Law::anitescu, Law::moreau, Law::no_slip}) {
      StepOptions options;
      options.contact.law = law;
      options.scheme = GetParam();
      for (int seed = 0; seed < 8; ++seed) {
        RowMatrix v = RowMatrix::Zero(3, world.nv());
        for (Eigen::Index i = 0; i < v.cols(); ++i) v(1, i) = 1e8 * normal(random);
        const Rollout out = rollout(Stepper(world, make_scene(world, 0.5), options), q, v, 10, {.threads = 2});
        EXPECT_EQ(out.taken[0], 10) << joined << to_string(law) << seed;
        EXPECT_EQ(out.taken[2], 10) << joined << to_string(law) << seed;
        EXPECT_TRUE(out.taken[1] == 10 || out.status[1] != Status::solved) << joined << to_string(law) << seed;
        EXPECT_THAT(out.q, testing::Each(testing::Truly([](double x) { return std::isfinite(x); })));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, Hopeless, testing::Values(Scheme::semi_implicit_euler, Scheme::moreau_midpoint, Scheme::energy_momentum),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

TEST(Rollout, WhatAStepThrowsEndsThatRunAlone) {
  const Scene scene = load_scene("stack");
  const RowMatrix q = scene.start.q.transpose().replicate(3, 1), v = RowMatrix::Zero(3, scene.world.nv());
  const auto no_number = [](int run, const Simulation& s, VectorXd& tau) {
    if (run == 1 && s.steps() == 4) tau[0] = std::numeric_limits<double>::quiet_NaN();
  };
  for (const int threads : {1, 3}) {
    const Rollout out = rollout(scene.make_stepper(), q, v, 10, {.threads = threads, .control = no_number});
    EXPECT_THAT(out.taken, testing::ElementsAre(10, 4, 10));
    EXPECT_THAT(out.status, testing::ElementsAre(Status::solved, Status::numerical_error, Status::solved));
    EXPECT_THAT(out.errors, testing::ElementsAre("", testing::HasSubstr("tau"), ""));
    EXPECT_THAT(out.q, testing::Each(testing::Truly([](double x) { return std::isfinite(x); })));
  }
  const auto none = [](int, const Simulation&, VectorXd& tau) { tau[0] = std::numeric_limits<double>::quiet_NaN(); };
  EXPECT_THROW(rollout(scene.make_stepper(), q, v, 10, {.control = none}), InvalidArgument);
}

TEST(Rollout, WhatAControlThrowsEndsAllRuns) {
  const Scene scene = load_scene("stack");
  const RowMatrix q = scene.start.q.transpose().replicate(20, 1), v = RowMatrix::Zero(20, scene.world.nv());
  std::atomic<int> steps = 0;
  const auto control = [&](int run, const Simulation&, VectorXd&) {
    ++steps;
    if (run == 1) throw std::runtime_error("no torques here");
  };
  for (const int threads : {1, 3}) {
    EXPECT_THROW(rollout(scene.make_stepper(), q, v, 50, {.threads = threads, .control = control}), std::runtime_error);
  }
  EXPECT_LT(steps, 2 * 20 * 50);
  EXPECT_THROW(rollout(scene.make_stepper(), q.topRows(1), v.topRows(1), 50'000, {.poll = [] { throw std::runtime_error("interrupted"); }}),
               std::runtime_error);
}

// The caller's run is over at once, and the other's only when the poll has been heard.
TEST(Rollout, IsInterruptedWhileItWaits) {
  const Scene scene = load_scene("stack");
  const RowMatrix q = scene.start.q.transpose().replicate(2, 1), v = RowMatrix::Zero(2, scene.world.nv());
  const std::thread::id caller = std::this_thread::get_id();
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::atomic<bool> begun = false, heard = false;
  const auto control = [&](int, const Simulation&, VectorXd&) {
    const bool waits = std::this_thread::get_id() == caller;
    if (!waits) begun = true;
    while (!(waits ? begun : heard) && std::chrono::steady_clock::now() < late) std::this_thread::yield();
  };
  const auto poll = [&] {
    heard = true;
    throw std::runtime_error("interrupted");
  };
  EXPECT_THROW(rollout(scene.make_stepper(), q, v, 1, {.threads = 2, .control = control, .poll = poll}), std::runtime_error);
}

TEST(Rollout, SaysWhichArgumentDoesNotFit) {
  const Scene scene = load_scene("stack");
  const Stepper stepper = scene.make_stepper();
  const RowMatrix q = scene.start.q.transpose().replicate(2, 1), v = RowMatrix::Zero(2, scene.world.nv());
  const auto message = [&](const RowMatrix& q_start, const RowMatrix& v_start, int steps, int threads) {
    try {
      rollout(stepper, q_start, v_start, steps, {.threads = threads});
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message(q.leftCols(3), v, 1, 1), testing::StartsWith("q: expected shape"));
  EXPECT_THAT(message(q, v.topRows(1), 1, 1), testing::StartsWith("v: expected shape"));
  EXPECT_THAT(message(q, RowMatrix::Constant(2, v.cols(), std::numeric_limits<double>::quiet_NaN()), 1, 1), testing::StartsWith("v: "));
  EXPECT_THAT(message(q, v, -1, 1), testing::StartsWith("steps: "));
  EXPECT_THAT(message(q, v, 1, 0), testing::StartsWith("threads: "));
  EXPECT_EQ(rollout(stepper, q.topRows(0), v.topRows(0), 5, {}).runs, 0);
}

}  // namespace
}  // namespace stiction::rollout_test
