#include "stiction/base/envelope_cholesky.hpp"

#include <array>
#include <limits>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>

#include "stiction/base/allocation_counter.hpp"

namespace stiction::envelope_cholesky_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Positive definite, with zeros between chains of `length` coordinates and the last `shared` ones full.
MatrixXd arrow(Index chains, Index length, Index shared) {
  const Index n = chains * length + shared;
  MatrixXd A = MatrixXd::Random(n, n);
  for (Index i = 0; i < chains * length; ++i) {
    for (Index j = 0; j < chains * length; ++j) {
      if (i / length != j / length) A(i, j) = 0.0;
    }
  }
  MatrixXd M = A + A.transpose();
  M.diagonal().array() += 3.0 * static_cast<double>(n);
  return M;
}

void fill(const MatrixXd& M, EnvelopeCholesky& cholesky) {
  GrowMatrix& to = cholesky.reset(M.rows());
  to.setConstant(std::numeric_limits<double>::quiet_NaN());  // below the diagonal nothing is read
  for (Index i = 0; i < M.rows(); ++i) to.col(i).head(i + 1) = M.col(i).head(i + 1);
}

TEST(EnvelopeCholesky, SolvesAsTheDenseFactor) {
  std::srand(3);
  EnvelopeCholesky cholesky;
  for (const auto& [chains, length, shared] : {std::array{4, 3, 6}, {0, 0, 6}, {1, 1, 0}, {7, 2, 1}, {3, 5, 0}, {60, 5, 6}, {0, 0, 40}}) {
    const MatrixXd M = arrow(chains, length, shared), L = M.llt().matrixL();
    fill(M, cholesky);
    cholesky.factor();
    for (Index k = 0; k < M.rows(); k += 3) {
      VectorXd x = VectorXd::Random(M.rows());
      x.head(k).setZero();
      const VectorXd lower = L.triangularView<Eigen::Lower>().solve(x), upper = L.transpose().triangularView<Eigen::Upper>().solve(x);
      VectorXd y = x;
      cholesky.solve_lower(y.data());
      EXPECT_LT((y - lower).norm(), 1e-13 * lower.norm()) << M.rows();
      y = x;
      cholesky.solve_upper(y.data());
      EXPECT_LT((y - upper).norm(), 1e-13 * upper.norm()) << M.rows();
    }
  }
}

TEST(EnvelopeCholesky, IsNotFiniteWhereTheMatrixIsNotPositiveDefinite) {
  EnvelopeCholesky cholesky;
  for (const Index n : {Index{4}, Index{300}}) {
    MatrixXd M = MatrixXd::Identity(n, n);
    M(n - 2, n - 2) = -1.0;
    fill(M, cholesky);
    cholesky.factor();
    VectorXd x = VectorXd::Ones(n);
    cholesky.solve_lower(x.data());
    EXPECT_FALSE(x.allFinite()) << n;
  }
}

TEST(EnvelopeCholeskyAllocation, NoneOnceGrown) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  EnvelopeCholesky cholesky;
  const MatrixXd M = arrow(4, 3, 6);
  VectorXd x = VectorXd::Ones(18);
  fill(M, cholesky);
  cholesky.factor();
  const std::size_t before = allocation_count();
  fill(M, cholesky);
  cholesky.factor();
  cholesky.solve_lower(x.data());
  cholesky.solve_upper(x.data());
  EXPECT_EQ(allocation_count() - before, 0u);
}

}  // namespace
}  // namespace stiction::envelope_cholesky_test
