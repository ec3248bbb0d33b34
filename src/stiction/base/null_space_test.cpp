// The factors by fronts against dense orthogonal decompositions, and what they cost by a count of multiplications.
#include "stiction/base/null_space.hpp"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/base/least_norm.hpp"

namespace stiction::null_space_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Pairs = std::vector<std::pair<int, int>>;  // blocks that five rows touch; the second is -1 for the fixed world

const BlockRows& fill(NullSpace& space, int blocks, const Pairs& joints, int rows = 5) {
  const std::vector<int> sizes(blocks, 6);
  BlockRows& A = space.reset(sizes);
  for (const auto& [a, b] : joints) {
    for (int i = 0; i < rows; ++i) {
      A.add_group();
      A.add_entry(a).setRandom();
      if (b >= 0) A.add_entry(b).setRandom();
    }
  }
  return A;
}

Pairs chain(int blocks) {
  Pairs joints{{0, -1}};
  for (int b = 1; b < blocks; ++b) joints.emplace_back(b, b - 1);
  return joints;
}

Pairs star(int leaves) {
  Pairs joints;
  for (int b = 1; b <= leaves; ++b) joints.emplace_back(0, b);
  return joints;
}

void expect_null_space(NullSpace& space, const MatrixXd& A, int rank) {
  space.factor(1e-10);
  ASSERT_EQ(space.rank(), rank);
  ASSERT_EQ(space.size(), A.cols() - rank);
  MatrixXd Z(A.cols(), space.size());
  VectorXd x(A.cols()), y(space.size());
  for (int j = 0; j < space.size(); ++j) {
    y.setUnit(j);
    space.expand(y.data(), x.data());
    Z.col(j) = x;
  }
  EXPECT_LE((A * Z).norm(), 1e-12 * A.norm());
  EXPECT_LE((Z.transpose() * Z - MatrixXd::Identity(Z.cols(), Z.cols())).norm(), 1e-12);
  const VectorXd point = VectorXd::Random(A.cols());
  x = point;
  space.project(x.data(), y.data());
  EXPECT_LE((y - Z.transpose() * point).norm(), 1e-12 * (1.0 + point.norm()));

  const VectorXd target = VectorXd::Random(A.rows());
  GrowVector b = target, lambda;
  space.particular(b, x.data());
  const VectorXd expected = least_norm_solution(A, target);
  EXPECT_LE((x - expected).norm(), 1e-9 * (1.0 + expected.norm()));
  x = point;
  space.multipliers(x.data(), lambda);
  const VectorXd multipliers = least_norm_solution(A.transpose(), point);
  EXPECT_LE((lambda - multipliers).norm(), 1e-9 * (1.0 + multipliers.norm()));
}

/// Fills `space` and gives its rows.
MatrixXd dense_rows(NullSpace& space, int blocks, const Pairs& joints, unsigned seed, int rows = 5) {
  std::srand(seed);
  return fill(space, blocks, joints, rows).to_dense();
}

TEST(NullSpace, IsThatOfDenseDecompositions) {
  Pairs ring = chain(7), net{{0, 1}, {1, 2}, {3, 4}, {4, 5}, {0, 3}, {1, 4}, {2, 5}}, two = chain(3);
  ring.emplace_back(0, 6);
  two.emplace_back(3, 4);  // apart from the chain
  NullSpace space;
  for (const auto& [blocks, joints] : {std::pair{1, Pairs{{0, -1}}}, std::pair{9, chain(9)}, std::pair{8, star(7)}, std::pair{7, ring},
                                       std::pair{5, two}, std::pair{4, Pairs{{3, 1}, {0, 1}, {2, 3}}}}) {
    const MatrixXd A = dense_rows(space, blocks, joints, 3);
    expect_null_space(space, A, static_cast<int>(A.rows()));
  }
  const MatrixXd A = dense_rows(space, 6, net, 4, 3);
  expect_null_space(space, A, 21);
}

TEST(NullSpace, MoreRowsThanCoordinatesLeaveNothing) {
  NullSpace space;
  const MatrixXd A = dense_rows(space, 3, {{0, 1}, {1, 2}, {0, 2}, {0, -1}, {2, -1}}, 6);
  ASSERT_EQ(A.rows(), 25);
  expect_null_space(space, A, 18);
}

// Rows that repeat others, in the same front and across fronts: three bodies whose joints leave the sum of three rows zero.
TEST(NullSpace, RedundantRowsAreSharedByLeastNorm) {
  std::srand(8);
  const std::vector<int> sizes{6, 6, 6};
  const MatrixXd one = MatrixXd::Random(3, 6), two = MatrixXd::Random(3, 6), three = MatrixXd::Random(3, 6);
  MatrixXd A = MatrixXd::Zero(11, 18);
  A.block(0, 0, 3, 6) = one, A.block(0, 6, 3, 6) = -two;
  A.block(3, 6, 3, 6) = two, A.block(3, 12, 3, 6) = -three;
  A.block(6, 12, 3, 6) = three, A.block(6, 0, 3, 6) = -one;
  A.row(9) = 2.0 * A.row(4);
  NullSpace space;
  space.reset(sizes) = BlockRows::from_dense(1, A, sizes);
  expect_null_space(space, A, 6);
}

// Coordinates without rows, and blocks of several sizes.
TEST(NullSpace, BlocksOfAnySize) {
  std::srand(9);
  const std::vector<int> sizes{1, 14, 3, 2};
  MatrixXd A = MatrixXd::Random(7, 20);
  A.topLeftCorner(5, 1).setZero();
  A.block(5, 1, 2, 14).setZero();
  A.rightCols(2).setZero();
  NullSpace space;
  space.reset(sizes) = BlockRows::from_dense(1, A, sizes);
  expect_null_space(space, A, 7);
}

double work(int blocks, const Pairs& joints) {
  NullSpace space;
  fill(space, blocks, joints);
  space.factor(1e-10);
  return space.work();
}

// A chain twice as long costs twice as much, however its ends are held; a hub's cost grows with the square of its spokes.
TEST(NullSpace, CostsOfAChainAreLinear) {
  const double added = work(101, chain(101)) - work(100, chain(100));
  EXPECT_NEAR(work(400, chain(400)) - work(100, chain(100)), 300.0 * added, 1e-9 * 300.0 * added);
  EXPECT_LE(added, 5e3);  // two bodies' coordinates over ten rows
  const auto ring = [](int blocks) {
    Pairs joints = chain(blocks);
    joints.emplace_back(0, blocks - 1);
    return joints;
  };
  EXPECT_LE(work(400, ring(400)), 2.1 * work(200, ring(200)));
  EXPECT_LE(work(65, star(64)), 4.5 * work(33, star(32)));
}

TEST(NullSpaceAllocation, NoneOnceGrown) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  NullSpace space;
  Pairs joints = chain(5);
  joints.emplace_back(0, 4);
  joints.emplace_back(0, 4);
  const auto run = [&] {
    fill(space, 5, joints);
    space.factor(1e-10);
  };
  run();
  GrowVector b(35), lambda, x(30), y(30);
  const auto use = [&] {
    b.setOnes(), x.setOnes();
    space.project(x.data(), y.data());
    space.expand(y.data(), x.data());
    space.multipliers(x.data(), lambda);
    space.particular(b, x.data());
  };
  use();
  const std::size_t before = allocation_count();
  run();
  use();
  EXPECT_EQ(allocation_count() - before, 1u);  // the vector of sizes of `fill`
}

}  // namespace
}  // namespace stiction::null_space_test
