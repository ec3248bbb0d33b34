// The soft laws and the canonical choices allocate nothing once every size has been seen.
#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::soft_allocation_test {
namespace {

using namespace testing_problems;

TEST(SoftLawsAllocation, NoneAfterWarmUp) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  std::mt19937 rng(1);
  std::vector<ContactProblem> problems;
  for (const int n : {12, 3, 8}) {
    problems.push_back(random_robot(rng, 12, n, 0.5));
    problems.back().material.assign(n, {.stiffness = 1e4, .dissipation_time = 0.01, .regularization = 1e-3});
  }
  for (const Law law : {Law::todorov, Law::sap, Law::anitescu, Law::no_slip, Law::coulomb_cone}) {
    SolveOptions options;
    options.law = law;
    if (law == Law::anitescu) options.solver = Solver::newton;
    options.choice = Choice::closest_to_last;
    SolveWorkspace workspace;
    Solution solution;
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (const ContactProblem& p : problems) solve(p, options, workspace, solution);
    }
    const std::size_t before = allocation_count();
    for (const ContactProblem& p : problems) solve(p, options, workspace, solution);
    EXPECT_EQ(allocation_count() - before, 0u) << to_string(law);
  }
}

// Closed loops, one of them redundant, and a limited joint: the rows are eliminated, kept and recovered without the heap.
TEST(RowsAllocation, NoneAfterWarmUpUnderAnyLaw) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  std::mt19937 rng(2);
  std::vector<ContactProblem> problems;
  for (const int n : {6, 3}) {
    ContactProblem p = random_robot(rng, 12, n, 0.5);
    std::normal_distribution<double> normal;
    MatrixXd rows = MatrixXd::NullaryExpr(4, 12, [&] { return normal(rng); });
    rows.row(2) = rows.row(0) - rows.row(1);
    const int size = 12;
    p.J_b = BlockRows::from_dense(1, rows, std::span(&size, 1));
    p.b.setZero(4);
    p.lo = Eigen::Vector4d(-kInfinity, -kInfinity, -kInfinity, -0.01);
    p.hi = Eigen::Vector4d(kInfinity, kInfinity, kInfinity, 0.02);
    p.material.assign(n, {.viscosity = 5.0, .stiffness = 1e4, .dissipation_time = 0.01});
    problems.push_back(p);
  }
  for (const Law law : {Law::frictionless, Law::no_slip, Law::viscous, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu, Law::sap,
                        Law::max_dissipation}) {
    SolveWorkspace workspace;
    Solution solution;
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (const ContactProblem& p : problems) solve(p, with(law), workspace, solution);
    }
    const std::size_t before = allocation_count();
    for (const ContactProblem& p : problems) {
      solve(p, with(law), workspace, solution);
      EXPECT_EQ(solution.status, Status::solved) << to_string(law) << " " << solution.certificate.worst();
    }
    EXPECT_EQ(allocation_count() - before, 0u) << to_string(law);
  }
}

}  // namespace
}  // namespace stiction::soft_allocation_test
