// W = R_t R_tᵀ + defect, whatever the rank, coupling and rounding of W.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include "stiction/base/errors.hpp"
#include "stiction/problem/reduced.hpp"

namespace stiction::reduce_sparse_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

ReducedProblem reduced(const MatrixXd& W, double mu = 0.4) {
  return reduce_dense(W, VectorXd::Zero(W.rows()), VectorXd::Constant(W.rows() / 3, mu));
}

MatrixXd delassus(const ReducedProblem& p) { return p.Rt.to_dense() * p.Rt.to_dense().transpose(); }

MatrixXd low_rank(int rows, int rank, unsigned seed) {
  std::srand(seed);
  const MatrixXd R = MatrixXd::Random(rows, rank);
  return R * R.transpose();
}

TEST(ReduceDenseRank, FindsTheRankAcrossPanels) {
  for (const int rank : {1, 6, 47, 48, 49, 96, 150}) {
    const MatrixXd W = low_rank(150, rank, 5);
    const ReducedProblem p = reduced(W);
    EXPECT_EQ(p.rank_bound(), rank);
    EXPECT_LT((delassus(p) - W).cwiseAbs().maxCoeff(), 1e-12 * W.diagonal().maxCoeff());
    EXPECT_EQ(p.defect.size(), 0);
    EXPECT_TRUE(p.Rt.is_single_block());
  }
}

TEST(ReduceDenseRank, LightAndHeavyBodiesKeepTheirDirections) {
  MatrixXd W = low_rank(12, 12, 6);
  const VectorXd scale = VectorXd::LinSpaced(12, 0, -5).unaryExpr([](double e) { return std::pow(10.0, e); });
  W = scale.asDiagonal() * W * scale.asDiagonal();
  EXPECT_EQ(reduced(W).rank_bound(), 12);
}

TEST(ReduceDenseBlocks, OneBlockPerCoupledSet) {
  MatrixXd W = MatrixXd::Zero(15, 15);
  const std::vector<int> first{0, 1, 2, 9, 10, 11}, second{3, 4, 5, 12, 13, 14};  // contacts 0 and 3, 1 and 4; 2 has no mobility
  W(first, first) = low_rank(6, 3, 7);
  W(second, second) = low_rank(6, 5, 8);
  const ReducedProblem p = reduced(W);
  EXPECT_THAT(std::vector<int>(p.Rt.block_sizes().begin(), p.Rt.block_sizes().end()), testing::ElementsAre(3, 5));
  for (const int contact : {0, 1, 3, 4}) EXPECT_EQ(p.Rt.entry_end(contact) - p.Rt.entry_begin(contact), 1);
  EXPECT_EQ(p.Rt.entry_end(2), p.Rt.entry_begin(2));
  EXPECT_LT((delassus(p) - W).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(ReduceDenseDefect, AsymmetryIsKept) {
  MatrixXd W = low_rank(9, 4, 9);
  W(1, 2) += 1e-5;
  const ReducedProblem p = reduced(W);
  ASSERT_EQ(p.defect.rows(), 9);
  EXPECT_LT((delassus(p) + p.defect - W).cwiseAbs().maxCoeff(), 1e-15);
  W(1, 2) += 0.1;
  EXPECT_THROW(reduced(W), InvalidArgument);
}

// Seven digits, as some simulators print: no longer semidefinite, yet R_t R_tᵀ stays as close as the digits.
TEST(ReduceDenseDefect, RoundedDataGetsTheClosestSemidefiniteMatrix) {
  MatrixXd W = low_rank(30, 6, 10);
  W = (W * 1e6).array().round() * 1e-6;
  ASSERT_LT(Eigen::SelfAdjointEigenSolver<MatrixXd>(W).eigenvalues()[0], -1e-8);
  const ReducedProblem p = reduced(W);
  EXPECT_LT(p.defect.cwiseAbs().maxCoeff(), 3e-6);
  EXPECT_GT(p.defect.cwiseAbs().maxCoeff(), 0.0);
  EXPECT_LT((delassus(p) + p.defect - W).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(ReduceDenseErrors, NameTheMatrix) {
  EXPECT_THROW(reduced(-MatrixXd::Identity(3, 3)), InvalidArgument);
  MatrixXd hollow = MatrixXd::Zero(3, 3);
  hollow(0, 1) = hollow(1, 0) = 1.0;
  EXPECT_THROW(reduced(hollow), InvalidArgument);
  MatrixXd nan = MatrixXd::Identity(3, 3);
  nan(2, 0) = NAN;
  EXPECT_THROW(reduced(nan), InvalidArgument);
  EXPECT_THROW(reduced(MatrixXd::Identity(3, 3), -1.0), InvalidArgument);
  EXPECT_EQ(reduced(MatrixXd(0, 0)).contacts(), 0);
  EXPECT_EQ(reduced(MatrixXd::Zero(6, 6)).rank_bound(), 0);
}

}  // namespace
}  // namespace stiction::reduce_sparse_test
