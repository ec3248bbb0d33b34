#include "stiction/base/row_basis.hpp"

#include <gtest/gtest.h>

#include "stiction/base/blocks.hpp"
#include "stiction/base/random.hpp"

namespace stiction::row_basis_test {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : uniform_(seed) {}
  double uniform(double lo, double hi) { return uniform_(lo, hi); }
  int integer(int lo, int hi) { return lo + static_cast<int>(uniform_(0.0, 1.0) * (hi - lo + 1)); }
  RowMatrix matrix(int rows, int cols) {
    RowMatrix m(rows, cols);
    for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = uniform_(-1.0, 1.0);
    return m;
  }
  Eigen::VectorXd vector(int size) { return matrix(size, 1); }

 private:
  Uniform uniform_;
};

void expect_factor(const RowBasis& basis, const RowMatrix& rows) {
  const auto k = basis.rank();
  ASSERT_EQ(k, rows.rows());
  Eigen::MatrixXd Q(basis.dimension(), basis.dimension());
  Q << basis.span(), basis.complement();
  EXPECT_LT((Q.transpose() * Q - Eigen::MatrixXd::Identity(Q.rows(), Q.cols())).norm(), 1e-13);
  const Eigen::MatrixXd R = basis.triangle().triangularView<Eigen::Upper>();
  EXPECT_LT((basis.span() * R - rows.transpose()).norm(), 1e-12 * (1.0 + rows.norm()));
}

RowBasis basis_of(const RowMatrix& rows) {
  RowBasis basis;
  basis.reset(static_cast<int>(rows.cols()));
  Eigen::VectorXd d(rows.cols());
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    basis.project(rows.row(i).data(), d.data());
    basis.append(d.data());
  }
  return basis;
}

TEST(RowBasis, FollowsRandomAppendsAndRemovals) {
  Random random(1);
  for (const int r : {1, 2, 6, 19}) {
    RowBasis basis;
    basis.reset(r);
    RowMatrix rows(0, r);
    Eigen::VectorXd d(r);
    for (int step = 0; step < 200; ++step) {
      const auto k = static_cast<int>(rows.rows());
      if (k == r || (k > 0 && random.uniform(0.0, 1.0) < 0.4)) {
        const int j = random.integer(0, k - 1);
        basis.remove(j);
        RowMatrix left(k - 1, r);
        left << rows.topRows(j), rows.bottomRows(k - 1 - j);
        rows = left;
      } else {
        const Eigen::VectorXd row = random.vector(r);
        const double tail = basis.project(row.data(), d.data());
        EXPECT_NEAR(tail, (basis.complement().transpose() * row).norm(), 1e-13);
        EXPECT_NEAR(tail, basis.distance(row.data()), 1e-14);
        basis.append(d.data());
        rows.conservativeResize(k + 1, r);
        rows.row(k) = row;
      }
      expect_factor(basis, rows);
    }
  }
}

TEST(RowBasis, TriangularSolvesInvertTheGramMatrix) {
  Random random(2);
  const RowMatrix rows = random.matrix(4, 6);
  const RowBasis basis = basis_of(rows);
  const Eigen::VectorXd b = random.vector(4);
  Eigen::VectorXd x = b;
  basis.solve_lower(x.data());
  basis.solve_upper(x.data());
  EXPECT_LT((rows * (rows.transpose() * x) - b).norm(), 1e-12);
}

TEST(RowBasis, ADependentRowHasNoDistanceAndSaysWhichOthersMakeIt) {
  Random random(3);
  for (const int count : {3, 5}) {
    const RowMatrix rows = random.matrix(count, 6);
    const RowBasis basis = basis_of(rows);
    const Eigen::VectorXd weights = random.vector(count);
    const Eigen::VectorXd inside = rows.transpose() * weights;
    EXPECT_LT(basis.distance(inside.data()), 1e-14 * inside.norm());
    Eigen::VectorXd d(6);
    EXPECT_LT(basis.project(inside.data(), d.data()), 1e-14 * inside.norm());
    basis.solve_upper(d.data());
    EXPECT_LT((d.head(count) - weights).norm(), 1e-12);
    Eigen::VectorXd b = weights;
    basis.solve_lower(b.data());
    const Eigen::MatrixXd R = basis.triangle().triangularView<Eigen::Upper>();
    EXPECT_LT((R.transpose() * b - weights).norm(), 1e-12);
  }
}

}  // namespace
}  // namespace stiction::row_basis_test
