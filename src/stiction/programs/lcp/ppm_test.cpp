#include "stiction/programs/lcp/ppm.hpp"

#include <gtest/gtest.h>

#include "stiction/programs/lcp/goldfarb_idnani.hpp"
#include "stiction/programs/lcp/lcp_testing.hpp"

namespace stiction::ppm_test {
namespace {

using lcp_testing::Random;

LowRankLcpSolution solve(const RowMatrix& A, const Eigen::VectorXd& q, decltype(ppm)& method = ppm, std::span<const int> warm = {}) {
  LowRankLcpWorkspace workspace;
  LowRankLcpSolution solution;
  method(A, q, warm, {}, workspace, solution);
  return solution;
}

TEST(Ppm, PrintedStepsByHand) {
  RowMatrix A(2, 2);
  A << 1, 0, 1, 1;
  // w = [1 1; 1 2] z + (-1, -3). In units of |a_i| row 2 is the least, -3/√2: z = (0, 3/2), w = (1/2, 0) is the answer.
  const LowRankLcpSolution s = solve(A, Eigen::Vector2d(-1, -3));
  ASSERT_EQ(s.status, Status::solved);
  EXPECT_EQ(s.pivots, 1);
  EXPECT_NEAR(s.z[1], 1.5, 1e-15);
  EXPECT_NEAR(s.w[0], 0.5, 1e-15);
  EXPECT_EQ(s.active, (std::vector<int>{1}));
}

TEST(Ppm, TrivialSolutionAndWarmStart) {
  EXPECT_EQ(solve(RowMatrix::Ones(3, 2), Eigen::Vector3d(0, 1, 2)).pivots, 0);  // lines 3 to 5
  Random random(61);
  for (int trial = 0; trial < 50; ++trial) {
    const RowMatrix A = random.matrix(20, 6);
    const Eigen::VectorXd q = A * random.vector(6);
    const LowRankLcpSolution first = solve(A, q);
    if (first.status == Status::solved) {
      EXPECT_EQ(solve(A, q, ppm, first.active).pivots, 0);
    }
  }
}

// n rows in r dimensions, q in their range, so that a solution exists: how many the printed rule solves. What it calls solved is.
int solved_of(int trials, int n, int r, bool whole_numbers) {
  Random random(62);
  int solved = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const RowMatrix A = whole_numbers ? random.integers(n, r, -1, 1) : random.matrix(n, r);
    const Eigen::VectorXd q = A * (whole_numbers ? Eigen::VectorXd(random.integers(r, 1, -2, 2)) : random.vector(r));
    const LowRankLcpSolution s = solve(A, q), reference = solve(A, q, goldfarb_idnani);
    EXPECT_EQ(reference.status, Status::solved);
    if (s.status != Status::solved) continue;
    ++solved;
    EXPECT_LT((s.y - reference.y).norm(), 1e-9 * (1.0 + reference.y.norm()));
    EXPECT_GE(s.z.minCoeff(), 0.0);
    EXPECT_GE(s.w.minCoeff(), 0.0);
  }
  return solved;
}

TEST(Ppm, CyclesNowAndThenWhereRowsAreTwiceTheRank) {
  EXPECT_EQ(solved_of(500, 6, 6, false), 500);
  for (const bool whole_numbers : {false, true}) {
    const int solved = solved_of(500, 40, 18, whole_numbers);
    EXPECT_GE(solved, 490);
    EXPECT_LT(solved, 500);
  }
}

TEST(Ppm, WhatItDoesNotSolveItDoesNotCallSolved) {
  RowMatrix A(2, 1);
  A << 1, -1;
  EXPECT_NE(solve(A, Eigen::Vector2d(-1, -1)).status, Status::solved);  // y >= 1 and y <= -1
  EXPECT_NE(solve(RowMatrix::Zero(1, 2), Eigen::VectorXd::Constant(1, -1.0)).status, Status::solved);
}

}  // namespace
}  // namespace stiction::ppm_test
