// Proves that the solvers allocate nothing once they have seen a problem of the size.
#include <numeric>

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/programs/lcp/enumerate.hpp"
#include "stiction/programs/lcp/find_indices.hpp"
#include "stiction/programs/lcp/goldfarb_idnani.hpp"
#include "stiction/programs/lcp/lcp_testing.hpp"
#include "stiction/programs/lcp/lemke.hpp"
#include "stiction/programs/lcp/ppm.hpp"

namespace stiction::allocation_test {
namespace {

using lcp_testing::Lcp;
using lcp_testing::Random;
using lcp_testing::stewart_trinkle;

/// Allocations of `work(k)` for k = 1..n-1 after `work(0)`.
template <class Work>
std::size_t allocations_after_first(int n, Work work) {
  EXPECT_TRUE(allocations_are_counted());
  const std::size_t start = allocation_count();
  work(0);
  EXPECT_GT(allocation_count(), start) << "the first call allocates its workspace";
  const std::size_t before = allocation_count();
  for (int k = 1; k < n; ++k) work(k);
  return allocation_count() - before;
}

TEST(Allocations, LemkeMakesNone) {
  Random random(41);
  std::vector<Lcp> problems;
  for (int k = 0; k < 20; ++k) {
    const int contacts = k == 0 ? 12 : random.integer(1, 12);
    const RowMatrix A = k % 3 == 0 ? random.matrix(3 * contacts, 6) : random.integers(3 * contacts, 6, -1, 1);
    problems.push_back(stewart_trinkle(A, A * random.vector(6), Eigen::VectorXd::Constant(contacts, 0.5), 4));
  }
  // Rays and fall-backs too: no solution, and -1 on the diagonal.
  problems.push_back({Eigen::MatrixXd::Zero(10, 10), -Eigen::VectorXd::Ones(10)});
  problems.push_back({random.matrix(10, 10), random.vector(10)});
  LemkeWorkspace workspace;
  LcpSolution solution;
  EXPECT_EQ(allocations_after_first(22,
                                    [&](int k) {
                                      const Lcp& p = problems[k];
                                      lemke(p.M, p.q, {}, workspace, solution);
                                    }),
            0u);
}

TEST(Allocations, PivotingMethodsMakeNone) {
  Random random(42);
  std::vector<RowMatrix> rows;
  std::vector<Eigen::VectorXd> offsets;
  for (int k = 0; k < 20; ++k) {
    rows.push_back(random.matrix(k == 0 ? 100 : random.integer(1, 100), 6));
    offsets.push_back(k % 4 == 3 ? random.vector(static_cast<int>(rows.back().rows())) : Eigen::VectorXd(rows.back() * random.vector(6)));
  }
  for (const auto& method : {goldfarb_idnani, ppm}) {
    LowRankLcpWorkspace workspace;
    LowRankLcpSolution solution;
    const auto solve = [&](int k) { method(rows[k], offsets[k], solution.active, {}, workspace, solution); };
    EXPECT_EQ(allocations_after_first(20, solve), 0u);
  }
}

TEST(Allocations, FindIndicesMakesNone) {
  Random random(43);
  const RowMatrix A = random.matrix(80, 4) * random.matrix(4, 6);
  std::vector<int> all(80);
  std::iota(all.begin(), all.end(), 0);
  const std::span<const int> order(all);
  IndependentRows result;
  EXPECT_EQ(allocations_after_first(5, [&](int k) { find_indices(A, order.first(80 - k), {}, result); }), 0u);
}

TEST(Allocations, MindiffMakesNone) {
  Random random(44);
  const RowMatrix A = random.matrix(7, 9), T = random.matrix(3, 7);
  const Eigen::MatrixXd M = A * A.transpose(), columns = T;
  const Eigen::VectorXd q = random.vector(7), c = random.vector(3), x0 = random.vector(3);
  EnumerateWorkspace workspace;
  LcpSolutions solutions;
  EXPECT_EQ(allocations_after_first(5, [&](int) { enumerate(M, q, {}, workspace, solutions); }), 0u);
}

}  // namespace
}  // namespace stiction::allocation_test
