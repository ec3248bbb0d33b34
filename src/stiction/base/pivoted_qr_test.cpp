#include "stiction/base/pivoted_qr.hpp"

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"

namespace stiction::pivoted_qr_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd of_rank(Index rows, Index cols, Index rank) { return MatrixXd::Random(rows, rank) * MatrixXd::Random(rank, cols); }

TEST(PivotedQr, FactorsKnowRankRangeAndNullSpace) {
  std::srand(5);
  PivotedQr qr;
  for (int trial = 0; trial < 60; ++trial) {
    const Index m = 1 + trial % 7, n = 1 + trial % 5, rank = std::min({m, n, Index{1 + trial % 4}});
    const MatrixXd A = of_rank(m, n, rank);
    qr.reset(m, n) = A;
    qr.factor(1e-10);
    ASSERT_EQ(qr.rank(), rank) << trial;
    for (Index j = 0; j < n; ++j) {
      VectorXd column = VectorXd::Zero(m);  // Q R = A P
      for (Index i = 0; i <= std::min(j, rank - 1); ++i) column[i] = qr.r(i, j);
      const VectorXd of_r = column;
      qr.apply(column);
      EXPECT_LT((column - A.col(qr.column(j))).norm(), 1e-13) << trial;
      qr.apply_transposed(column);
      EXPECT_LT((column - of_r).norm(), 1e-13) << trial;
    }
    for (Index k = rank; k < m; ++k) {
      VectorXd q = VectorXd::Unit(m, k);
      qr.apply(q);
      EXPECT_NEAR(q.norm(), 1.0, 1e-14);
      EXPECT_LT((A.transpose() * q).norm(), 1e-13) << trial;
    }
  }
}

TEST(LeastSquares, LeastNormAndNormalEquations) {
  std::srand(6);
  LeastSquares squares;
  GrowVector x;
  for (int trial = 0; trial < 80; ++trial) {
    const Index m = 1 + trial % 6, n = 1 + trial % 8, rank = std::min({m, n, Index{1 + trial % 5}});
    const MatrixXd A = of_rank(m, n, rank);
    const VectorXd b = VectorXd::Random(m);
    squares.reset(m, n) = A.transpose();
    squares.factor(1e-10);
    squares.solve(b, x);
    ASSERT_EQ(squares.rank(), rank);
    ASSERT_EQ(x.size(), n);
    EXPECT_LT((A.transpose() * (A * x - b)).norm(), 1e-11) << trial;  // what is left is orthogonal to the range
    for (Index k = rank; k < n; ++k) {
      VectorXd null = VectorXd::Unit(n, k);
      squares.rows().apply(null);
      EXPECT_LT(std::abs(null.dot(x)), 1e-12) << trial;  // nothing of x changes nothing
    }
  }
}

TEST(LeastSquares, ZeroRowsAskForNothing) {
  LeastSquares squares;
  GrowVector x;
  squares.reset(2, 3) = MatrixXd::Zero(3, 2);
  squares.factor(1e-10);
  squares.solve(VectorXd::Ones(2), x);
  EXPECT_EQ(squares.rank(), 0);
  EXPECT_EQ(x.norm(), 0.0);
}

TEST(LeastSquaresAllocation, NoneOnceGrown) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  std::srand(7);
  const MatrixXd large = of_rank(9, 14, 6), small = of_rank(3, 5, 2);
  const VectorXd b = VectorXd::Random(9);
  LeastSquares squares;
  GrowVector x;
  const auto run = [&] {
    for (const MatrixXd* A : {&large, &small, &large}) {
      squares.reset(A->rows(), A->cols()) = A->transpose();
      squares.factor(1e-10);
      squares.solve(b.head(A->rows()), x);
    }
  };
  run();
  const std::size_t before = allocation_count();
  run();
  EXPECT_EQ(allocation_count() - before, 0u);
}

}  // namespace
}  // namespace stiction::pivoted_qr_test
