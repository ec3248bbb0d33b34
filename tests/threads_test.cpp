// Nothing in the engine starts a thread. What a caller's threads may share: scenes with their worlds and hulls, and problems; each thread
// has a stepper and a workspace of its own. What the thread sanitizer's preset is for.
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/experiments/scene.hpp"
#include "stiction/laws/solve.hpp"

namespace stiction {
namespace {

using Eigen::VectorXd;

constexpr std::size_t kThreads = 4;

/// The results of one call per thread, at once.
template <class Result>
std::vector<Result> at_once(const std::function<Result()>& call) {
  std::vector<Result> results(kThreads);
  std::vector<std::thread> threads;
  for (Result& result : results) threads.emplace_back([&call, &result] { result = call(); });
  for (std::thread& thread : threads) thread.join();
  return results;
}

TEST(Threads, StepOneSceneBitForBit) {
  for (const char* name : {"quadruped", "stack"}) {
    const Scene scene = load_scene(name);
    const std::function<VectorXd()> run = [&scene] {
      Stepper stepper = scene.make_stepper(scene.options);
      State state = scene.start;
      VectorXd tau, end(scene.world.nq() + scene.world.nv());
      for (int k = 0; k < 60; ++k) {
        scene.held_torques(state, tau);
        if (!stepper.step(tau, state).accepted) return VectorXd();
      }
      end << state.q, state.v;
      return end;
    };
    const std::vector<VectorXd> ends = at_once(run);  // the first of them builds the hulls
    const VectorXd alone = run();
    ASSERT_EQ(alone.size(), scene.world.nq() + scene.world.nv());
    for (const VectorXd& end : ends) EXPECT_EQ(end, alone) << name;
  }
}

TEST(Threads, SolveOneProblemBitForBit) {
  const Scene scene = load_scene("stack");
  Stepper stepper = scene.make_stepper(scene.options);
  State state = scene.start;
  for (int k = 0; k < 5; ++k) ASSERT_TRUE(stepper.step(VectorXd::Zero(scene.world.nv()), state).accepted);
  const ContactProblem& problem = stepper.problem();
  ASSERT_GT(problem.contacts(), 0);
  for (const Law law : {Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu, Law::max_dissipation}) {
    SolveOptions options;
    options.law = law;
    const std::function<VectorXd()> run = [&] { return VectorXd(solve(problem, options).impulses); };
    const std::vector<VectorXd> impulses = at_once(run);
    const VectorXd alone = run();
    for (const VectorXd& x : impulses) EXPECT_EQ(x, alone) << to_string(law);
  }
}

}  // namespace
}  // namespace stiction
