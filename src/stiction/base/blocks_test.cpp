#include "stiction/base/blocks.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "stiction/base/grow.hpp"

namespace stiction::blocks_test {
namespace {

TEST(BlockRows, ProductsMatchDense) {
  const std::vector<int> sizes{2, 6, 3};
  Eigen::MatrixXd dense = Eigen::MatrixXd::Random(6, 11);
  dense.block(0, 2, 3, 6).setZero();
  dense.block(3, 8, 3, 3).setZero();
  const BlockRows rows = BlockRows::from_dense(3, dense, sizes);
  EXPECT_EQ(rows.entry_end(0) - rows.entry_begin(0), 2);
  EXPECT_EQ(rows.to_dense(), dense);
  const Eigen::VectorXd x = Eigen::VectorXd::Random(11), y = Eigen::VectorXd::Random(6);
  Eigen::VectorXd out(6), back = Eigen::VectorXd::Ones(11);
  rows.multiply(x, out);
  rows.add_transposed(y, back);
  EXPECT_NEAR((out - dense * x).norm(), 0.0, 1e-14);
  EXPECT_NEAR((back - dense.transpose() * y - Eigen::VectorXd::Ones(11)).norm(), 0.0, 1e-14);
}

TEST(BlockRows, SingleBlockIsContiguous) {
  const std::vector<int> sizes{6};
  const Eigen::MatrixXd dense = Eigen::MatrixXd::Random(12, 6);
  const BlockRows rows = BlockRows::from_dense(3, dense, sizes);
  ASSERT_TRUE(rows.is_single_block());
  EXPECT_EQ(Eigen::MatrixXd(rows.single_block()), dense);
}

TEST(BlockRows, KnowsWhichRowsAreZero) {
  const std::vector<int> sizes{2, 6, 3};
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(9, 11);
  dense(1, 3) = 1e-300;
  dense.row(2).setOnes();
  dense(6, 10) = std::nan("");
  BlockRows rows = BlockRows::from_dense(3, dense, sizes);
  rows.add_group();
  rows.add_entry(1);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(rows.is_zero(i / 3, i % 3), i != 1 && i != 2 && i != 6) << i;
  EXPECT_FALSE(rows.is_zero(0));
  EXPECT_TRUE(rows.is_zero(1));
  EXPECT_FALSE(rows.is_zero(2));
  EXPECT_TRUE(rows.is_zero(3));
}

TEST(BlockDiagonal, MultiplyMatchesDense) {
  const std::vector<int> sizes{1, 4, 6};
  BlockDiagonal m(sizes);
  m.block(0)(0, 0) = 2.0;
  m.block(1) = Eigen::MatrixXd::Random(4, 4);
  m.block(2) = Eigen::MatrixXd::Random(6, 6);
  const Eigen::VectorXd x = Eigen::VectorXd::Random(11);
  Eigen::VectorXd y(11);
  m.multiply(x, y);
  EXPECT_NEAR((y - m.to_dense() * x).norm(), 0.0, 1e-14);
}

TEST(BlockRows, GroupsOfOtherRowsAreAppendedWhole) {
  const std::vector<int> sizes{2, 1, 3}, more{2, 1, 3, 3};
  Eigen::MatrixXd dense = Eigen::MatrixXd::Random(6, 6);
  dense.block(0, 2, 3, 1).setZero();
  const BlockRows from = BlockRows::from_dense(3, dense, sizes);
  BlockRows to;
  to.reset(3, more);
  to.append_group(from, 1);
  to.append_group(from, 0);
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(6, 9);
  expected.topLeftCorner(3, 6) = dense.bottomRows(3);
  expected.bottomLeftCorner(3, 6) = dense.topRows(3);
  EXPECT_EQ((to.to_dense() - expected).norm(), 0.0);
  EXPECT_EQ(to.entry_end(1) - to.entry_begin(1), 2);
  EXPECT_NEAR(to.square(), dense.squaredNorm(), 1e-14);
  EXPECT_NEAR(to.row_square(1, 2), dense.row(2).squaredNorm(), 1e-14);
}

TEST(Grow, KeepsItsMemoryWhenItShrinks) {
  GrowVector v(8);
  const double* data = v.data();
  v.resize(3);
  v.resize(8);
  EXPECT_EQ(v.data(), data);
  v = Eigen::VectorXd::Ones(4);
  EXPECT_EQ(v.size(), 4);
  EXPECT_EQ(v.sum(), 4.0);
  GrowVector w = std::move(v);
  EXPECT_EQ(w.sum(), 4.0);
  EXPECT_EQ(v.size(), 0);  // NOLINT(bugprone-use-after-move): what a moved-from vector is, is the point
}

TEST(BlockRows, SingleBlockAtOnceIsTheSameAsEntryByEntry) {
  BlockRows rows;
  const int size = 2;
  for (const int groups : {3, 1, 2}) {
    RowMap all = rows.reset_single_block(3, size, groups);
    for (Eigen::Index i = 0; i < all.size(); ++i) all.data()[i] = static_cast<double>(i);
    BlockRows one_by_one;
    one_by_one.reset(3, std::span(&size, 1));
    for (int g = 0; g < groups; ++g) {
      one_by_one.add_group();
      one_by_one.add_entry(0) = all.middleRows(3 * g, 3);
    }
    EXPECT_TRUE(rows.is_single_block());
    EXPECT_EQ(rows.groups(), groups);
    EXPECT_EQ((rows.to_dense() - one_by_one.to_dense()).norm(), 0.0);
    EXPECT_EQ((rows.entry(groups - 1) - one_by_one.entry(groups - 1)).norm(), 0.0);
    EXPECT_EQ(rows.single_block().rows(), 3 * groups);
  }
}

}  // namespace
}  // namespace stiction::blocks_test
