// Against dense LU on random patterns, sizes and values; the fill of a chain and of a star is none.
#include "stiction/programs/cone/block_lu.hpp"

#include <gtest/gtest.h>
#include <Eigen/LU>

#include "stiction/programs/cone/six.hpp"
#include "stiction/programs/cone/test_scenes.hpp"

namespace stiction::block_lu_test {
namespace {

using test_scenes::Random;

struct Pattern {
  std::vector<int> sizes, begin{0}, blocks;
  void clique(std::initializer_list<int> members) {
    blocks.insert(blocks.end(), members);
    begin.push_back(static_cast<int>(blocks.size()));
  }
};

// Fills the cliques with a diagonally dominant random matrix; returns it dense.
Eigen::MatrixXd fill(BlockLu& lu, const Pattern& pattern, Random& random) {
  std::vector<int> offset(1, 0);
  for (int s : pattern.sizes) offset.push_back(offset.back() + s);
  lu.set_identity();
  Eigen::MatrixXd dense = Eigen::MatrixXd::Identity(offset.back(), offset.back());
  for (std::size_t g = 0; g + 1 < pattern.begin.size(); ++g) {
    for (int a = pattern.begin[g]; a < pattern.begin[g + 1]; ++a) {
      for (int b = pattern.begin[g]; b < pattern.begin[g + 1]; ++b) {
        const int i = pattern.blocks[a], j = pattern.blocks[b];
        const int m = pattern.sizes[i], n = pattern.sizes[j];
        Eigen::MatrixXd value(m, n);
        for (int r = 0; r < m; ++r) {
          for (int c = 0; c < n; ++c) value(r, c) = test_scenes::normal(random) + (i == j && r == c ? 20.0 : 0.0);
        }
        Eigen::Map<Eigen::MatrixXd>(lu.block(i, j), m, n) += value;
        dense.block(offset[i], offset[j], m, n) += value;
      }
    }
  }
  return dense;
}

TEST(BlockLu, SolvesWhatDenseLuSolves) {
  Random random(1);
  for (int trial = 0; trial < 60; ++trial) {
    Pattern pattern;
    const int count = 1 + trial % 13;
    for (int i = 0; i < count; ++i) pattern.sizes.push_back(trial % 2 == 0 ? 6 : 1 + static_cast<int>(random() % 9));
    for (int i = 0; i < count; ++i) pattern.clique({i});
    for (int g = 0; g < 2 * count && count > 1; ++g) {
      const int a = static_cast<int>(random() % static_cast<unsigned>(count)),
                b = static_cast<int>(random() % static_cast<unsigned>(count));
      if (a != b) pattern.clique({a, b});
    }
    BlockLu lu;
    lu.analyze(pattern.sizes, pattern.begin, pattern.blocks);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const Eigen::MatrixXd dense = fill(lu, pattern, random);
      ASSERT_TRUE(lu.factor());
      Eigen::VectorXd x(dense.rows());
      for (double& value : x) value = test_scenes::normal(random);
      const Eigen::VectorXd expected = dense.partialPivLu().solve(x);
      lu.solve(x);
      EXPECT_LE((x - expected).lpNorm<Eigen::Infinity>(), 1e-12);
    }
  }
}

TEST(BlockLu, LargeBlocksAreEliminatedInPanels) {
  Random random(3);
  Pattern pattern;
  pattern.sizes = {50, 23, 17};
  pattern.clique({0, 1});
  pattern.clique({1, 2});
  BlockLu lu;
  lu.analyze(pattern.sizes, pattern.begin, pattern.blocks);
  for (double shift : {0.0, -20.0}) {  // without its dominant diagonal the rows are swapped
    Eigen::MatrixXd dense = fill(lu, pattern, random);
    int offset = 0;
    for (int b = 0; b < 3; ++b) {
      const int size = pattern.sizes[b];
      for (int k = 0; k < size; ++k) {
        lu.block(b, b)[k * size + k] += shift;
        dense(offset + k, offset + k) += shift;
      }
      offset += size;
    }
    ASSERT_TRUE(lu.factor());
    Eigen::VectorXd x(dense.rows());
    for (double& value : x) value = test_scenes::normal(random);
    const Eigen::VectorXd rhs = x;
    lu.solve(x);
    EXPECT_LE((dense * x - rhs).lpNorm<Eigen::Infinity>(), 1e-11 * (1.0 + x.lpNorm<Eigen::Infinity>()));
  }
}

TEST(BlockLu, KernelsOfSixAreTheProductsTheyStandFor) {
  using Block = Eigen::Matrix<double, 6, 6>;
  using RowBlock = Eigen::Matrix<double, 6, 6, Eigen::RowMajor>;
  using Rows = Eigen::Matrix<double, 3, 6, Eigen::RowMajor>;
  using Square = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  const Block a = Block::Random(), c = Block::Random();
  const RowBlock b = RowBlock::Random();
  Block product = c, sum = c, normal = c, transposed = a;
  six::subtract_product(a.data(), b.data(), product.data());
  EXPECT_LE((product - (c - a * b)).norm(), 1e-14);
  const Rows l = Rows::Random(), r = Rows::Random();
  const Square d = Square::Random();
  Rows t;
  six::product(d.data(), r.data(), t.data());
  EXPECT_LE((t - d * r).norm(), 1e-14);
  six::add_transposed_product(l.data(), t.data(), sum.data());
  EXPECT_LE((sum - (c + l.transpose() * d * r)).norm(), 1e-14);
  six::add_normal_product(l.data(), d(0, 0), r.data(), normal.data());
  EXPECT_LE((normal - (c + d(0, 0) * l.row(0).transpose() * r.row(0))).norm(), 1e-14);
  six::transpose(transposed.data());
  EXPECT_EQ(transposed, a.transpose());
  const Eigen::Matrix<double, 6, 1> x = Eigen::Matrix<double, 6, 1>::Random();
  Eigen::Matrix<double, 6, 1> y = x, z = x;
  six::subtract_columns(a.data(), x.data(), y.data());
  six::subtract_rows(b.data(), x.data(), z.data());
  EXPECT_LE((y - (x - a * x)).norm(), 1e-14);
  EXPECT_LE((z - (x - b * x)).norm(), 1e-14);
}

TEST(BlockLu, KnowsTheSignOfTheDeterminant) {
  Random random(4);
  Pattern pattern;
  pattern.sizes = {6, 3, 6};
  pattern.clique({0, 1});
  pattern.clique({1, 2});
  BlockLu lu;
  lu.analyze(pattern.sizes, pattern.begin, pattern.blocks);
  int positive = 0;
  for (int trial = 0; trial < 40; ++trial) {
    Eigen::MatrixXd dense = fill(lu, pattern, random);
    for (int k = 0; k < 3; ++k) {
      if (random() % 2 == 0) continue;
      lu.block(k, k)[0] -= 100.0;
      dense(k == 0 ? 0 : (k == 1 ? 6 : 9), k == 0 ? 0 : (k == 1 ? 6 : 9)) -= 100.0;
    }
    ASSERT_TRUE(lu.factor());
    EXPECT_EQ(lu.positive_determinant(), dense.partialPivLu().determinant() > 0.0);
    positive += static_cast<int>(lu.positive_determinant());
  }
  EXPECT_GT(positive, 10);
  EXPECT_LT(positive, 30);
}

TEST(BlockLu, ChainAndStarHaveNoFill) {
  Pattern chain, star;
  for (int i = 0; i < 50; ++i) {
    chain.sizes.push_back(6);
    star.sizes.push_back(6);
    if (i > 0) chain.clique({(i * 17) % 50, ((i - 1) * 17) % 50});
    if (i > 0) star.clique({0, i});
  }
  for (const Pattern* pattern : {&chain, &star}) {
    BlockLu lu;
    lu.analyze(pattern->sizes, pattern->begin, pattern->blocks);
    EXPECT_EQ(lu.work(), 6 * (49 * 12 * 12 + 6 * 6));  // one neighbour each when eliminated, and the last none
  }
}

TEST(BlockLu, RepeatedPatternIsNotAnalysedAgain) {
  Pattern pattern;
  pattern.sizes = {6, 6, 6};
  pattern.clique({0, 1});
  pattern.clique({1, 2});
  BlockLu lu;
  lu.analyze(pattern.sizes, pattern.begin, pattern.blocks);
  const int version = lu.pattern_version();
  lu.analyze(pattern.sizes, pattern.begin, pattern.blocks);
  EXPECT_EQ(lu.pattern_version(), version);
  pattern.clique({0, 2});
  lu.analyze(pattern.sizes, pattern.begin, pattern.blocks);
  EXPECT_NE(lu.pattern_version(), version);
}

TEST(BlockLu, SingularBlockIsReported) {
  Pattern pattern;
  pattern.sizes = {2};
  BlockLu lu;
  lu.analyze(pattern.sizes, pattern.begin, pattern.blocks);
  lu.set_identity();
  Eigen::Map<Eigen::Matrix2d>(lu.block(0, 0)) << 1, 1, 1, 1;
  EXPECT_FALSE(lu.factor());
}

}  // namespace
}  // namespace stiction::block_lu_test
