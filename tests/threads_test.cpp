// The engine starts threads for the parts of a problem, where it is asked to. What a caller's threads may share: scenes with their worlds
// and hulls, and problems; each thread has a stepper and a workspace of its own. What the thread sanitizer's preset is for.
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/problem/test_walls.hpp"
#include "stiction/sim/scene.hpp"

namespace stiction::threads_test {
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

/// Boxes of growing mass on the ground, each by itself, thrown in different directions.
ContactProblem boxes_apart(int count) {
  const std::vector<int> sizes(count, 6);
  ContactProblem p;
  p.dt = 1e-3;
  p.M.reset(sizes);
  p.v.resize(6 * count);
  p.impulse.setZero(6 * count);
  p.J.reset(3, sizes);
  p.J_b.reset(1, sizes);
  for (int k = 0; k < count; ++k) {
    p.M.block(k) = (1.0 + k) * Eigen::Matrix<double, 6, 6>::Identity();
    for (int j = 0; j < 6; ++j) p.v[6 * k + j] = std::sin(6 * k + j);
    p.impulse[6 * k + 2] = -9.81 * p.dt * (1.0 + k);
    for (const double x : {-0.1, 0.1}) {
      for (const double y : {-0.1, 0.1}) {
        p.J.add_group();
        p.J.add_entry(k) = test_scenes::upright_rows({x, y, -0.1});
        p.ids.push_back(p.ids.size());
      }
    }
  }
  p.mu = VectorXd::Constant(p.contacts(), 0.5);
  p.restitution.setZero(p.contacts());
  p.gap.setZero(p.contacts());
  return p;
}

TEST(Threads, SolveThePartsOfAProblemBitForBit) {
  const ContactProblem problem = boxes_apart(30);
  validate(problem);
  for (const Law law : {Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu, Law::max_dissipation}) {
    SolveOptions options;
    options.law = law;
    SolveWorkspace alone, together;
    Solution one, many;
    for (int k = 0; k < 3; ++k) {  // cold, then warm
      options.threads = 1;
      solve(problem, options, alone, one);
      options.threads = static_cast<int>(kThreads);
      solve(problem, options, together, many);
      EXPECT_EQ(one.status, Status::solved) << to_string(law);
      EXPECT_EQ(VectorXd(many.impulses), VectorXd(one.impulses)) << to_string(law) << " " << k;
      EXPECT_EQ(VectorXd(many.v), VectorXd(one.v)) << to_string(law) << " " << k;
    }
  }
}

// Rows of the request are added beside the problem, never to it.
TEST(Threads, InverseDynamicsOfOneProblemBitForBit) {
  const Scene scene = load_scene("quadruped");
  Stepper stepper = scene.make_stepper(scene.options);
  State state = scene.start;
  VectorXd tau;
  const ContactProblem& problem = stepper.problem();
  for (int k = 0; k < 200; ++k) {
    scene.held_torques(state, tau);
    ASSERT_TRUE(stepper.step(tau, state).accepted);
  }
  ASSERT_EQ(problem.contacts(), 4);
  const ContactProblem before = problem;
  const std::vector<int> joints(scene.world.actuated().begin(), scene.world.actuated().end());
  const VectorXd desired = VectorXd::Constant(static_cast<Eigen::Index>(joints.size()), 0.05);
  const std::vector<double> weak(joints.size(), 0.5);
  for (const Law law : {Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu, Law::max_dissipation}) {
    InverseOptions options;
    options.contact.law = law;
    const std::function<VectorXd()> run = [&] {
      InverseWorkspace workspace;
      InverseSolution free, limited;
      for (int k = 0; k < 10; ++k) {
        inverse_dynamics(problem, joints, desired, {}, options, workspace, free);
        inverse_dynamics(problem, joints, desired, weak, options, workspace, limited);
      }
      VectorXd out(free.tau.size() + limited.tau.size());
      out << free.tau, limited.tau;
      return out;
    };
    const std::vector<VectorXd> torques = at_once(run);
    const VectorXd alone = run();
    EXPECT_GT(alone.head(12).cwiseAbs().maxCoeff(), 0.5) << to_string(law);
    for (const VectorXd& t : torques) EXPECT_EQ(t, alone) << to_string(law);
  }
  for (const auto& [member, name] : {std::pair{&ContactProblem::J, "J"}, {&ContactProblem::J_b, "J_b"}}) {
    EXPECT_EQ((problem.*member).to_dense(), (before.*member).to_dense()) << name;
  }
  for (const auto member :
       {&ContactProblem::b, &ContactProblem::lo, &ContactProblem::hi, &ContactProblem::v, &ContactProblem::v_prescribed})
    EXPECT_EQ(problem.*member, before.*member);
  EXPECT_EQ(problem.prescribed, before.prescribed);
  EXPECT_EQ(problem.row_kinds, before.row_kinds);
  EXPECT_EQ(problem.row_ids, before.row_ids);
}

}  // namespace
}  // namespace stiction::threads_test
