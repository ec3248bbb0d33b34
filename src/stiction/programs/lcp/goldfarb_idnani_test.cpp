#include "stiction/programs/lcp/goldfarb_idnani.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/programs/lcp/lcp_testing.hpp"

namespace stiction::goldfarb_idnani_test {
namespace {

using lcp_testing::all_solutions;
using lcp_testing::Lcp;
using lcp_testing::Random;
using lcp_testing::violation;

LowRankLcpSolution solve(const RowMatrix& A, const Eigen::VectorXd& q, std::span<const int> warm = {}) {
  LowRankLcpWorkspace workspace;
  LowRankLcpSolution solution;
  goldfarb_idnani(A, q, warm, {}, workspace, solution);
  return solution;
}

Lcp dense(const RowMatrix& A, const Eigen::VectorXd& q) { return {A * A.transpose(), q}; }

void expect_solves(const RowMatrix& A, const Eigen::VectorXd& q, const LowRankLcpSolution& s) {
  ASSERT_EQ(s.status, Status::solved);
  const double size = 1.0 + q.lpNorm<Eigen::Infinity>() + A.squaredNorm() * s.z.lpNorm<Eigen::Infinity>();
  EXPECT_LT(violation(dense(A, q), s.z), 1e-12 * size);
  EXPECT_GE(s.z.size() == 0 ? 0.0 : s.z.minCoeff(), 0.0);
  EXPECT_GE(s.w.size() == 0 ? 0.0 : s.w.minCoeff(), 0.0);
  EXPECT_EQ(s.z.dot(s.w), 0.0);
  EXPECT_LT((A.transpose() * s.z - s.y).norm(), 1e-12 * size);
  EXPECT_LT((A * s.y + q - s.w).lpNorm<Eigen::Infinity>(), 1e-12 * size);
}

/// Aᵀu = 0, u >= 0, q·u < 0: no y has A y + q >= 0.
void expect_proof(const RowMatrix& A, const Eigen::VectorXd& q, const LowRankLcpSolution& s) {
  ASSERT_EQ(s.status, Status::infeasible);
  EXPECT_TRUE(s.infeasible);
  ASSERT_EQ(s.ray.size(), q.size());
  EXPECT_GE(s.ray.minCoeff(), 0.0);
  EXPECT_LE((A.transpose() * s.ray).norm(), 1e-12 * A.norm());
  EXPECT_LT(q.dot(s.ray), 0.0);
}

TEST(GoldfarbIdnani, TwoRowsByHand) {
  RowMatrix A(2, 2);
  A << 1, 0, 1, 1;
  // w = [1 1; 1 2] z + (-1, -3): z = (0, 3/2), w = (1/2, 0).
  const LowRankLcpSolution s = solve(A, Eigen::Vector2d(-1, -3));
  EXPECT_NEAR(s.z[0], 0.0, 1e-15);
  EXPECT_NEAR(s.z[1], 1.5, 1e-15);
  EXPECT_NEAR(s.w[0], 0.5, 1e-15);
  EXPECT_EQ(s.active, (std::vector<int>{1}));
}

TEST(GoldfarbIdnani, NonNegativeOffsetNeedsNoImpulse) {
  const LowRankLcpSolution s = solve(RowMatrix::Ones(3, 2), Eigen::Vector3d(0, 1, 2), std::vector<int>{0, 1});
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_EQ(s.z.norm(), 0.0);
  EXPECT_TRUE(s.active.empty());
}

TEST(GoldfarbIdnani, MatchesEnumerationOnPositiveDefiniteProblems) {
  Random random(21);
  for (int trial = 0; trial < 200; ++trial) {
    const int n = random.integer(1, 8);
    const RowMatrix A = random.matrix(n, n + 2);
    const Eigen::VectorXd q = random.vector(n);
    const LowRankLcpSolution s = solve(A, q);
    expect_solves(A, q, s);
    const LcpSolutions all = all_solutions(dense(A, q));
    ASSERT_EQ(all.count, 1);
    EXPECT_LT((all.z(0) - s.z).norm(), 1e-8 * (1.0 + s.z.norm()));
  }
}

TEST(GoldfarbIdnani, RankDeficientProblemsAgreeInY) {
  Random random(22);
  for (int trial = 0; trial < 200; ++trial) {
    const int r = random.integer(1, 4), n = random.integer(r, 9);
    const RowMatrix A = random.matrix(n, r);
    const Eigen::VectorXd q = A * random.vector(r);
    const LowRankLcpSolution s = solve(A, q);
    expect_solves(A, q, s);
    EXPECT_LE(static_cast<int>(s.active.size()), r);
    const LcpSolutions all = all_solutions(dense(A, q));
    ASSERT_GT(all.count, 0);
    for (int k = 0; k < all.count; ++k) EXPECT_LT((A.transpose() * all.z(k) - s.y).norm(), 1e-8 * (1.0 + s.y.norm()));
  }
}

TEST(GoldfarbIdnani, IntegerProblemsWithTiesAndZeros) {
  Random random(23);
  int solved = 0, infeasible = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const int r = random.integer(1, 4), n = random.integer(1, 8);
    const RowMatrix A = random.integers(n, r, -1, 1);
    const Eigen::VectorXd q = random.integers(n, 1, -2, 1);
    const LowRankLcpSolution s = solve(A, q);
    const LcpSolutions all = all_solutions(dense(A, q));
    if (all.count == 0) {
      ++infeasible;
      expect_proof(A, q, s);
    } else {
      ++solved;
      expect_solves(A, q, s);
      EXPECT_LT((A.transpose() * all.z(0) - s.y).norm(), 1e-9);
    }
  }
  EXPECT_GT(solved, 200);
  EXPECT_GT(infeasible, 200);
}

TEST(GoldfarbIdnani, EveryWarmStartLeadsToTheSameMotion) {
  Random random(24);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 12;
    const RowMatrix A = random.integers(n, 6, -2, 2);
    const Eigen::VectorXd q = A * random.vector(6);
    const LowRankLcpSolution cold = solve(A, q);
    std::vector<int> warm(random.integer(0, 20));
    for (int& i : warm) i = random.integer(-2, n + 1);
    const LowRankLcpSolution s = solve(A, q, warm);
    expect_solves(A, q, s);
    EXPECT_LT((s.y - cold.y).norm(), 1e-10 * (1.0 + cold.y.norm()));
  }
}

TEST(GoldfarbIdnani, ASetThatStillSolvesIsKept) {
  Random random(25);
  int kept = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const RowMatrix A = random.matrix(20, 6);
    const Eigen::VectorXd b = random.vector(6);
    const LowRankLcpSolution first = solve(A, A * b);
    const LowRankLcpSolution next = solve(A, A * (b * (1.0 + 1e-6)), first.active);
    EXPECT_EQ(next.pivots, 0);
    EXPECT_EQ(next.active, first.active);
    kept += first.active.empty() ? 0 : 1;
  }
  EXPECT_GT(kept, 50);
}

TEST(GoldfarbIdnani, PermutingRowsLeavesTheMotion) {
  Random random(26);
  for (int trial = 0; trial < 100; ++trial) {
    const int n = 40;
    const RowMatrix A = random.integers(n, 3, -2, 2) * random.matrix(3, 6);
    const Eigen::VectorXd q = A * random.vector(6);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    for (int i = n - 1; i > 0; --i) std::swap(order[i], order[random.integer(0, i)]);
    const LowRankLcpSolution s = solve(A, q), permuted = solve(RowMatrix(A(order, Eigen::all)), q(order));
    EXPECT_EQ(permuted.status, Status::solved);
    EXPECT_LT((s.y - permuted.y).norm(), 1e-12 * (1.0 + s.y.norm()));
  }
}

TEST(GoldfarbIdnani, RescalingRowsRescalesForces) {
  Random random(27);
  for (int trial = 0; trial < 100; ++trial) {
    RowMatrix A = random.matrix(15, 6);
    Eigen::VectorXd q = A * random.vector(6);
    const LowRankLcpSolution s = solve(A, q);
    Eigen::VectorXd scale(15);
    for (int i = 0; i < 15; ++i) scale[i] = std::pow(10.0, random.uniform(-5.0, 5.0));
    const LowRankLcpSolution scaled = solve(scale.asDiagonal() * A, scale.cwiseProduct(q));
    ASSERT_EQ(scaled.status, Status::solved);
    EXPECT_LT((s.y - scaled.y).norm(), 1e-10 * (1.0 + s.y.norm()));
    EXPECT_LT((scale.cwiseProduct(scaled.z) - s.z).norm(), 1e-9 * (1.0 + s.z.norm()));
    EXPECT_EQ(s.pivots, scaled.pivots);
  }
}

TEST(GoldfarbIdnani, ManyRowsEndAndStayWithinTheRank) {
  Random random(28);
  for (int trial = 0; trial < 30; ++trial) {
    const int r = trial % 2 == 0 ? 6 : 30;
    const RowMatrix A = random.matrix(1000, r);
    const Eigen::VectorXd q = A * random.vector(r);
    const LowRankLcpSolution s = solve(A, q);
    expect_solves(A, q, s);
    EXPECT_LE(static_cast<int>(s.active.size()), r);
    EXPECT_LT(s.pivots, 30 * r);
  }
}

TEST(GoldfarbIdnani, ContactPatchesWithDuplicateAndNearlyEqualRows) {
  Random random(29);
  for (int trial = 0; trial < 200; ++trial) {
    const RowMatrix corners = random.matrix(4, 6);
    RowMatrix A(40, 6);
    for (int i = 0; i < 40; ++i)
      A.row(i) = corners.row(i % 4) + (i < 20 ? 0.0 : std::pow(10.0, random.uniform(-16, -6))) * random.vector(6).transpose();
    const Eigen::VectorXd q = A * random.vector(6);
    const LowRankLcpSolution s = solve(A, q);
    EXPECT_EQ(s.status, Status::solved) << s.residual << " after " << s.pivots;
    EXPECT_LT(s.residual, 1e-11);
  }
}

TEST(GoldfarbIdnani, OffsetsThatContradictEachOtherAreProvedUnsolvable) {
  RowMatrix A(2, 6);
  A.setRandom();
  A.row(1) = -2.0 * A.row(0);
  expect_proof(A, Eigen::Vector2d(-1, -1), solve(A, Eigen::Vector2d(-1, -1)));
  EXPECT_EQ(solve(A, Eigen::Vector2d(-1, 2)).status, Status::solved);
  RowMatrix null = RowMatrix::Zero(3, 6);
  null(0, 0) = 1.0;
  expect_proof(null, Eigen::Vector3d(-1, 0, -1e-3), solve(null, Eigen::Vector3d(-1, 0, -1e-3)));
  EXPECT_EQ(solve(null, Eigen::Vector3d(-1, 0, 1)).status, Status::solved);
}

/// Rows of length 7 of which a projection left 1e-5 and rounding: w of the last two is known to no better than their rounding times |y|.
TEST(GoldfarbIdnani, NoImpulseIsSoughtOnTheRoundingOfRows) {
  constexpr double kRounding = 7e-15, kShort = 1e-5;
  RowMatrix A(4, 3);
  A << 1, 0, 0,      //
      0, 1, 0,       //
      0, 0, kShort,  //
      0, 0, kRounding;
  A(2, 0) = -kRounding;  // in truth 0, and with it w_2
  const Eigen::Vector4d q(-0.5, -0.5, 0.0, -1e-18);
  const Eigen::Vector4d rounding = Eigen::Vector4d::Constant(kRounding);
  LowRankLcpWorkspace workspace;
  LowRankLcpSolution s;
  goldfarb_idnani(A, q, {}, {.rounding = std::span(rounding.data(), 4), .length = 1.0}, workspace, s);
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_LT((s.z - Eigen::Vector4d(0.5, 0.5, 0.0, 0.0)).norm(), 1e-15);
  EXPECT_GT(solve(A, q).z.maxCoeff(), 1e9);  // taken for exact
  EXPECT_THROW(goldfarb_idnani(A, q, {}, {.rounding = std::span(rounding.data(), 3)}, workspace, s), InvalidArgument);
}

TEST(GoldfarbIdnani, StridedRowsAndEmptyProblems) {
  Random random(30);
  const RowMatrix all = random.matrix(30, 6), N = all(Eigen::seq(0, 29, 3), Eigen::all);
  const Eigen::VectorXd q = N * random.vector(6);
  const Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>> strided(all.data(), 10, 6, Eigen::OuterStride<>(18));
  LowRankLcpWorkspace workspace;
  LowRankLcpSolution s;
  goldfarb_idnani(strided, q, {}, {}, workspace, s);
  expect_solves(N, q, s);
  EXPECT_EQ(solve(RowMatrix(0, 6), Eigen::VectorXd(0)).status, Status::solved);
  EXPECT_EQ(solve(RowMatrix(2, 0), Eigen::Vector2d(1, 0)).status, Status::solved);
  EXPECT_EQ(solve(RowMatrix(2, 0), Eigen::Vector2d(1, -1)).status, Status::infeasible);
}

TEST(GoldfarbIdnani, RejectsBadInput) {
  EXPECT_THROW(solve(RowMatrix::Ones(2, 2), Eigen::VectorXd::Ones(3)), InvalidArgument);
  EXPECT_THROW(solve(RowMatrix::Ones(2, 2), Eigen::Vector2d(-1, std::nan(""))), InvalidArgument);
  EXPECT_THROW(solve(RowMatrix::Constant(2, 2, kInfinity), Eigen::Vector2d(-1, -1)), InvalidArgument);
}

}  // namespace
}  // namespace stiction::goldfarb_idnani_test
