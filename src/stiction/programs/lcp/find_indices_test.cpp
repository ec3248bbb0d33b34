#include "stiction/programs/lcp/find_indices.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/programs/lcp/lcp_testing.hpp"

namespace stiction::find_indices_test {
namespace {

using lcp_testing::Random;

IndependentRows find(const Eigen::Ref<const RowMatrix>& A, std::span<const int> candidates) {
  IndependentRows result;
  find_indices(A, candidates, {}, result);
  return result;
}

IndependentRows find(const Eigen::Ref<const RowMatrix>& A) {
  std::vector<int> all(A.rows());
  std::iota(all.begin(), all.end(), 0);
  return find(A, all);
}

/// Smallest singular value of A, at most as many rows as columns: one-sided Jacobi rotations of the rows until they are orthogonal.
double smallest_singular_value(RowMatrix A) {
  for (int sweep = 0; sweep < 40; ++sweep) {
    double worst = 0.0;
    for (int i = 0; i < A.rows(); ++i) {
      for (int j = i + 1; j < A.rows(); ++j) {
        const double a = A.row(i).squaredNorm(), b = A.row(j).squaredNorm(), c = A.row(i).dot(A.row(j));
        if (std::abs(c) <= 1e-16 * std::sqrt(a * b)) continue;
        worst = std::max(worst, std::abs(c) / std::sqrt(a * b));
        const double angle = 0.5 * std::atan2(2.0 * c, a - b), cosine = std::cos(angle), sine = std::sin(angle);
        for (int k = 0; k < A.cols(); ++k) {
          const double x = A(i, k), y = A(j, k);
          A(i, k) = cosine * x + sine * y;
          A(j, k) = cosine * y - sine * x;
        }
      }
    }
    if (worst < 1e-14) break;
  }
  double least = kInfinity;
  for (int i = 0; i < A.rows(); ++i) least = std::min(least, A.row(i).norm());
  return least;
}

/// The greedy rule by singular values of unit rows: row i is taken when the smallest one stays above 1e-9.
std::vector<int> greedy_by_singular_values(const RowMatrix& A) {
  std::vector<int> taken;
  RowMatrix rows(0, A.cols());
  for (int i = 0; i < A.rows(); ++i) {
    if (A.row(i).norm() == 0.0 || rows.rows() == A.cols()) continue;
    RowMatrix more(rows.rows() + 1, A.cols());
    if (rows.rows() > 0) more.topRows(rows.rows()) = rows;
    more.row(rows.rows()) = A.row(i) / A.row(i).norm();
    if (smallest_singular_value(more) < 1e-9) continue;
    rows = more;
    taken.push_back(i);
  }
  return taken;
}

TEST(FindIndices, MatchesGreedySelectionBySingularValues) {
  Random random(4);
  for (int trial = 0; trial < 300; ++trial) {
    const int r = random.integer(1, 7), n = random.integer(1, 20), rank = random.integer(1, r);
    RowMatrix A = random.integers(n, rank, -1, 1).cast<double>() * random.matrix(rank, r);
    EXPECT_EQ(find(A).indices, greedy_by_singular_values(A));
  }
}

TEST(FindIndices, TakesFirstOfDuplicatesInTheGivenOrder) {
  RowMatrix A(5, 3);
  A << 0, 0, 0, 1, 2, 0, 2, 4, 0, 0, 1, 1, 1, 3, 1;
  EXPECT_EQ(find(A).indices, (std::vector<int>{1, 3}));
  const std::vector<int> order{4, 2, 3, 1};
  EXPECT_EQ(find(A, order).indices, (std::vector<int>{4, 2}));
}

TEST(FindIndices, RowScalesDoNotChangeTheSelection) {
  Random random(5);
  for (int trial = 0; trial < 100; ++trial) {
    RowMatrix A = random.matrix(12, 4) * random.matrix(4, 6);
    const std::vector<int> expected = find(A).indices;
    EXPECT_EQ(expected.size(), 4u);
    for (int i = 0; i < 12; ++i) A.row(i) *= std::pow(10.0, random.uniform(-4.0, 4.0));
    EXPECT_EQ(find(A).indices, expected);
  }
}

TEST(FindIndices, NoiseRowsBesideLargeOnesAreNotIndependent) {
  Random random(6);
  RowMatrix A = random.matrix(8, 3) * random.matrix(3, 6);
  A.row(0) = 1e-15 * random.vector(6).transpose();
  EXPECT_EQ(find(A).indices, (std::vector<int>{1, 2, 3}));
  // Rounding noise on dependent rows, where a Cholesky factorisation of A_S A_Sᵀ may or may not succeed.
  A = random.matrix(50, 3) * random.matrix(3, 6) * 1e6;
  EXPECT_EQ(find(A).indices.size(), 3u);
}

TEST(FindIndices, FactorProjectsOnTheComplement) {
  Random random(7);
  const RowMatrix A = random.matrix(9, 3) * random.matrix(3, 6);
  const IndependentRows rows = find(A);
  EXPECT_LT((A * rows.basis.complement()).norm(), 1e-13 * A.norm());
  RowMatrix chosen(3, 6);
  for (int j = 0; j < 3; ++j) chosen.row(j) = A.row(rows.indices[j]);
  const Eigen::MatrixXd R = rows.basis.triangle().triangularView<Eigen::Upper>();
  EXPECT_LT((rows.basis.span() * R - chosen.transpose()).norm(), 1e-13 * A.norm());
  EXPECT_LT((R.transpose() * R - chosen * chosen.transpose()).norm(), 1e-12 * A.squaredNorm());
}

TEST(FindIndices, AcceptsStridedRowsAndEmptyInput) {
  Random random(8);
  const RowMatrix all = random.matrix(9, 4);
  const Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>> thirds(all.data(), 3, 4, Eigen::OuterStride<>(12));
  const IndependentRows result = find(thirds);
  EXPECT_EQ(result.indices.size(), 3u);
  EXPECT_LT((all.row(3) * result.basis.complement()).norm(), 1e-14);
  EXPECT_TRUE(find(RowMatrix(0, 6)).indices.empty());
  EXPECT_TRUE(find(RowMatrix::Zero(3, 6)).indices.empty());
}

TEST(FindIndices, RejectsBadInput) {
  RowMatrix A = RowMatrix::Ones(2, 2);
  const std::vector<int> out_of_range{0, 2};
  EXPECT_THROW(find(A, out_of_range), InvalidArgument);
  A(1, 1) = std::nan("");
  EXPECT_THROW(find(A), InvalidArgument);
}

}  // namespace
}  // namespace stiction::find_indices_test
