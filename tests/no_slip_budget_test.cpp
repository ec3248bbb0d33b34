// A control loop's no-slip requests that contradict each other: how often their rows are factored.
#include <random>

#include <gtest/gtest.h>

#include "bench/biped.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"

namespace stiction::no_slip_budget_test {
namespace {

// Factored to refuse the request; whether the nearest one contradicts itself is asked of the same factors.
TEST(NoSlipBudget, TheTangentsOfARefusedRequestAreFactoredOnce) {
  constexpr int kContacts = 40, kStates = 16;
  constexpr double kNoise = 0.05;  // rad/s
  const bench::Biped biped = bench::make_biped(kContacts, 0.6, kStates);
  std::mt19937 rng(2);
  std::normal_distribution<double> normal(0.0, kNoise);
  InverseOptions options;
  options.contact.law = Law::no_slip;
  InverseWorkspace workspace;
  InverseSolution s;
  for (int state = 0; state < kStates; ++state) {
    const bench::BipedProblem& p = biped.problems[state];
    Eigen::VectorXd desired = p.v_desired;
    for (double& v : desired) v += normal(rng);
    const int before = workspace.solve.convex.factored_range;
    inverse_dynamics(p.problem, biped.joints, desired, {}, options, workspace, s);
    ASSERT_EQ(s.status, Status::solved) << state;
    ASSERT_TRUE(s.repaired) << state;
    EXPECT_EQ(workspace.solve.convex.factored_range - before, 1) << state;
  }
}

}  // namespace
}  // namespace stiction::no_slip_budget_test
