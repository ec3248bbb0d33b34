// Batches: each run bit for bit as alone, restarts, and what is read off the links against the equations.
#include "stiction/sim/batch.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/sim/scene.hpp"

namespace stiction::batch_test {
namespace {

using Eigen::VectorXd;

constexpr int kRuns = 5, kCalls = 12, kRepeat = 5;

void push(int run, VectorXd& tau) { tau[0] = 2.0 * std::cos(static_cast<double>(run)); }

TEST(Batch, HasTheBitsOfRunsOneByOneForAnyNumberOfThreads) {
  const Scene scene = load_scene("stack");
  State thrown = scene.start;
  thrown.v[1] = 0.3;
  std::vector<State> alone;
  for (int i = 0; i < kRuns; ++i) {
    Simulation simulation(scene.make_stepper(), i == 2 ? thrown : scene.start);
    VectorXd tau = VectorXd::Zero(scene.world.nv());
    push(i, tau);
    for (int k = 0; k < kCalls * kRepeat; ++k) ASSERT_TRUE(simulation.step(tau).accepted);
    alone.push_back(simulation.state());
  }
  for (const int threads : {1, 2, 4}) {
    Batch batch(scene.make_stepper(), scene.start, {.runs = kRuns, .threads = threads});
    batch.restart(2, scene.start);
    for (int k = 0; k < 3; ++k) batch.step(1, [](int, const Simulation&, VectorXd& tau) { tau[2] = 1.0; });  // a past that leaves nothing
    for (int i = 0; i < kRuns; ++i) batch.restart(i, i == 2 ? thrown : scene.start);
    for (int k = 0; k < kCalls; ++k) batch.step(kRepeat, [](int i, const Simulation&, VectorXd& tau) { push(i, tau); });
    for (int i = 0; i < kRuns; ++i) {
      EXPECT_EQ(batch.q.row(i).transpose(), alone[i].q) << threads;
      EXPECT_EQ(batch.v.row(i).transpose(), alone[i].v) << threads;
    }
    EXPECT_THAT(batch.taken, testing::Each(kRepeat));
  }
}

// At rest the ground bears the weight, and its moment about the centre of mass is none.
TEST(Batch, WrenchesOfARobotAtRestBearItsWeight) {
  const Scene scene = load_scene("quadruped");
  Batch batch(scene.make_stepper(), scene.start, {});
  for (int k = 0; k < 1500; ++k) {
    batch.step(1, [&](int, const Simulation& s, VectorXd& tau) { scene.held_torques(s.state(), tau); });
  }
  Eigen::Matrix<double, 6, 1> sum = Eigen::Matrix<double, 6, 1>::Zero();
  for (Eigen::Index i = 0; i < batch.wrenches.cols() / 6; ++i) sum += batch.wrenches.row(0).segment<6>(6 * i).transpose();
  const double weight = scene.world.robots()[0].mass * 9.81;
  EXPECT_NEAR(sum[5], weight, 1e-3 * weight);
  EXPECT_LT(sum.head<3>().norm(), 1e-3 * weight * 0.1);  // 0.1 m: half the stance
}

// A box that falls on a corner, by steps in parts: forces are m (Δv/h - g) over every step, not what its last part had.
TEST(Batch, WrenchesOfStepsInPartsAreTheChangeOfMomentum) {
  constexpr double kStep = 5e-3, kMass = 2.0;
  WorldBuilder builder;
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}});
  builder.add_robot_text(R"(<mujoco><worldbody><body name="box" pos="0 0 0.16" quat="0.95 0.12 0.24 0.12"><freejoint/>
      <geom type="box" size="0.1 0.08 0.05" mass="2"/></body></worldbody></mujoco>)");
  Scene scene;
  scene.world = builder.build();
  scene.start = initial_state(scene.world);
  scene.options.assemble.dt = kStep;
  scene.options.sub_steps = 4;
  Batch batch(scene.make_stepper(), scene.start, {});
  double most = 0.0;
  for (int k = 0; k < 100; ++k) {
    const Eigen::Vector3d before = batch.v_world.row(0).head<3>();
    batch.step(1, [](int, const Simulation&, VectorXd&) {});
    const Eigen::Vector3d after = batch.v_world.row(0).head<3>(), force = batch.wrenches.row(0).tail<3>();  // its only link is the last
    ASSERT_LT((kMass * ((after - before) / kStep - scene.world.gravity()) - force).norm(), 1e-8) << k;
    most = std::max(most, force.norm());
  }
  EXPECT_GT(most, 5.0 * kMass * 9.81);
}

TEST(Batch, ARunThatIsRefusedStaysWhereItWas) {
  const Scene scene = load_scene("stack");
  Batch batch(scene.make_stepper(), scene.start, {.runs = 2, .threads = 2});
  const auto command = [](int run, const Simulation&, VectorXd& tau) { tau[0] = run == 1 ? 1e308 : 0.0; };
  batch.step(4, command);
  EXPECT_EQ(batch.taken[0], 4);
  EXPECT_LT(batch.taken[1], 4);
  EXPECT_TRUE(batch.q.allFinite());
}

TEST(Batch, WhatAStepThrowsEndsThatRunsPartAlone) {
  const Scene scene = load_scene("stack");
  Batch batch(scene.make_stepper(), scene.start, {.runs = 3, .threads = 2});
  const auto nothing = [](int, const Simulation&, const VectorXd&) {};
  batch.step(2, nothing);
  const VectorXd before = batch.q.row(1);
  batch.step(4, [](int run, const Simulation&, VectorXd& tau) { tau[0] = run == 1 ? std::numeric_limits<double>::quiet_NaN() : 0.0; });
  EXPECT_THAT(batch.taken, testing::ElementsAre(4, 0, 4));
  EXPECT_THAT(batch.errors, testing::ElementsAre("", testing::HasSubstr("tau"), ""));
  EXPECT_EQ(batch.q.row(1).transpose(), before);
  EXPECT_TRUE(batch.wrenches.row(1).isZero(0.0));
  EXPECT_THROW(batch.step(1, [](int, const Simulation&, VectorXd& tau) { tau[0] = std::numeric_limits<double>::quiet_NaN(); }),
               InvalidArgument);
  batch.step(1, nothing);
  EXPECT_THAT(batch.taken, testing::Each(1));
  EXPECT_THAT(batch.errors, testing::Each(""));
}

TEST(Batch, GoesOnFromItsMemoryBitForBit) {
  const Scene scene = load_scene("quadruped");
  const auto held = [&](int run, const Simulation& s, VectorXd& tau) {
    scene.held_torques(s.state(), tau);
    tau[0] += run;
  };
  Batch first(scene.make_stepper(), scene.start, {.runs = 3, .threads = 2});
  for (int k = 0; k < 30; ++k) first.step(5, held);
  Batch second(scene.make_stepper(), scene.start, {.runs = 3});
  second.remember(first.memory());
  for (int k = 0; k < 2; ++k) {
    for (const auto member : {&Batch::q, &Batch::v, &Batch::v_world, &Batch::com, &Batch::wrenches})
      EXPECT_EQ(first.*member, second.*member);
    EXPECT_EQ(first.taken, second.taken);
    EXPECT_FALSE(first.wrenches.isZero(0.0));
    for (Batch* batch : {&first, &second}) batch->step(5, held);
  }
  EXPECT_THROW(second.remember("short"), InvalidArgument);
  EXPECT_THROW(Batch(scene.make_stepper(), scene.start, {.runs = 2}).remember(first.memory()), InvalidArgument);
}

// Of seconds: the poll comes after 50 ms, on the calling thread while it steps and while it waits.
TEST(Batch, EndsWhenThePollThrows) {
  const Scene scene = load_scene("stack");
  for (const int threads : {1, 2}) {
    Batch batch(scene.make_stepper(), scene.start, {.runs = 2, .threads = threads});
    const auto nothing = [](int, const Simulation&, const VectorXd&) {};
    EXPECT_THROW(batch.step(100'000'000, nothing, [] { throw std::runtime_error("interrupted"); }), std::runtime_error);
    EXPECT_THAT(batch.taken, testing::Each(testing::Lt(100'000'000)));
    batch.step(3, nothing);
    EXPECT_THAT(batch.taken, testing::Each(3));
  }
}

TEST(Batch, PassesOnWhatACommandThrowsAndSaysWhatDoesNotFit) {
  const Scene scene = load_scene("stack");
  Batch batch(scene.make_stepper(), scene.start, {.runs = 4, .threads = 3});
  EXPECT_THROW(batch.step(1,
                          [](int run, const Simulation&, VectorXd&) {
                            if (run == 2) throw std::runtime_error("no");
                          }),
               std::runtime_error);
  batch.step(1, [](int, const Simulation&, VectorXd&) {});
  EXPECT_THAT(batch.taken, testing::Each(1));
  EXPECT_THROW(batch.step(0, [](int, const Simulation&, VectorXd&) {}), InvalidArgument);
  EXPECT_THROW(batch.step(1, {}), InvalidArgument);
  EXPECT_THROW(batch.restart(4, scene.start), InvalidArgument);
  State bad = scene.start;
  bad.q.setZero();  // no quaternion
  EXPECT_THROW(batch.restart(1, bad), InvalidArgument);
  batch.step(1, [](int, const Simulation&, VectorXd&) {});  // goes on from where it was
  EXPECT_THAT(batch.taken, testing::Each(1));
  EXPECT_THROW(Batch(scene.make_stepper(), scene.start, {.runs = 0}), InvalidArgument);
  EXPECT_THROW(Batch(scene.make_stepper(), scene.start, {.threads = 0}), InvalidArgument);
}

}  // namespace
}  // namespace stiction::batch_test
