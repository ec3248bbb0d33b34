#include "stiction/programs/sparse_qp/sparse_kinetic_qp.hpp"

#include <random>

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/problem/contact_problem.hpp"
#include "stiction/programs/qp/kinetic_qp.hpp"

namespace stiction::sparse_kinetic_qp_test {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : rng_(seed) {}
  double normal() { return normal_(rng_); }
  double uniform() { return uniform_(rng_); }

  void add_row(BlockRows& rows, int block, int other) {
    rows.add_group();
    rows.add_entry(block) = Eigen::RowVectorXd::NullaryExpr(rows.block_size(block), [&] { return normal(); });
    if (other != block) rows.add_entry(other) = Eigen::RowVectorXd::NullaryExpr(rows.block_size(other), [&] { return normal(); });
  }

  /// Feasible: C y >= d holds at the y of some x within the bounds.
  SparseKineticQp problem(const std::vector<int>& blocks, int n, int m) {
    const int count = static_cast<int>(blocks.size());
    SparseKineticQp p;
    p.A.reset(1, blocks);
    p.C.reset(1, blocks);
    p.c.setZero(n);
    p.lo.setZero(n);
    p.hi.resize(n);
    p.hi.setConstant(kInfinity);
    p.y0 = Eigen::VectorXd::NullaryExpr(p.A.cols(), [&] { return normal(); });
    Eigen::VectorXd inside(n);
    for (int j = 0; j < n; ++j) {
      const int a = static_cast<int>(uniform() * count);
      add_row(p.A, a, std::min(a + (j % 2), count - 1));
      if (j % 5 == 3) p.lo[j] = -1.0, p.hi[j] = 0.5, p.c[j] = normal();
      if (j % 11 == 7 && j % 5 != 3) p.lo[j] = -kInfinity;
      inside[j] = 0.3 * uniform();
    }
    Eigen::VectorXd y = Eigen::VectorXd::Zero(p.A.cols()), v(m);
    p.A.add_transposed(inside, y);
    for (int i = 0; i < m; ++i) {
      const int a = static_cast<int>(uniform() * count);
      add_row(p.C, a, std::min(a + (i % 2), count - 1));
    }
    p.C.multiply(y, v);
    p.d = v - Eigen::VectorXd::NullaryExpr(m, [&] { return uniform() < 0.3 ? 0.0 : 0.3 * uniform(); });
    return p;
  }

 private:
  std::mt19937 rng_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_{0.0, 1.0};
};

Eigen::VectorXd motion(const SparseKineticQp& p, const SparseKineticQpSolution& s) {
  Eigen::VectorXd y = Eigen::VectorXd::Zero(p.A.cols());
  p.A.add_transposed(s.x, y);
  return y;
}

KineticQpSolution dense_solution(const SparseKineticQp& p) {
  const RowMatrix A = p.A.to_dense(), C = p.C.to_dense();
  KineticQp qp;
  qp.A = RowsView(A);
  if (C.rows() > 0) qp.C = RowsView(C);
  qp.y0 = p.y0;
  qp.c = p.c;
  qp.lo = p.lo;
  qp.hi = p.hi;
  qp.d = p.d;
  KineticQpWorkspace workspace;
  KineticQpSolution solution;
  kinetic_qp(qp, {}, workspace, solution);
  return solution;
}

TEST(SparseKineticQp, OneVariableAndOneRowInClosedForm) {
  // y = x >= 0, y >= d: the larger of -y0 and d; μ takes up what the objective does not want.
  for (const double d : {-1.0, 0.5, 3.0}) {
    const std::vector<int> blocks{1};
    SparseKineticQp p;
    p.A = BlockRows::from_dense(1, Eigen::MatrixXd::Ones(1, 1), blocks);
    p.C = p.A;
    p.c = p.lo = Eigen::VectorXd::Zero(1);
    p.hi = Eigen::VectorXd::Constant(1, kInfinity);
    p.d = Eigen::VectorXd::Constant(1, d);
    p.y0 = Eigen::VectorXd::Constant(1, -2.0);
    SparseKineticQpWorkspace w;
    SparseKineticQpSolution s;
    sparse_kinetic_qp(p, {}, w, s);
    EXPECT_EQ(s.status, Status::solved);
    EXPECT_NEAR(motion(p, s)[0], std::max(2.0, d), 1e-12) << d;
    EXPECT_NEAR(s.mu[0], std::max(0.0, d - 2.0), 1e-11) << d;
  }
}

TEST(SparseKineticQp, AgreesWithTheDenseActiveSet) {
  SparseKineticQpWorkspace w;
  SparseKineticQpSolution s;
  int active = 0;
  for (unsigned seed = 1; seed <= 120; ++seed) {
    Random random(seed);
    const std::vector<int> blocks(1 + seed % 5, seed % 3 == 0 ? 6 : 3);
    const SparseKineticQp p = random.problem(blocks, 4 + static_cast<int>(seed % 29), static_cast<int>(seed % 13));
    const KineticQpSolution reference = dense_solution(p);
    ASSERT_EQ(reference.status, Status::solved) << seed;
    sparse_kinetic_qp(p, {}, w, s);
    EXPECT_EQ(s.status, Status::solved) << seed << " " << s.residual;
    EXPECT_LT((motion(p, s) - reference.y).norm(), 1e-9 * (1.0 + reference.y.norm())) << seed;
    EXPECT_LE(s.iterations, 60) << seed;
    EXPECT_LE(s.residual, 1e-10) << seed;
    active += (s.mu.array() > 1e-6).count() > 0 ? 1 : 0;
  }
  EXPECT_GE(active, 40);
}

TEST(SparseKineticQp, SaysSoWhenNothingIsFeasible) {
  const std::vector<int> blocks{1};
  SparseKineticQp p;
  p.A = BlockRows::from_dense(1, -Eigen::MatrixXd::Ones(1, 1), blocks);
  p.C = BlockRows::from_dense(1, Eigen::MatrixXd::Ones(1, 1), blocks);
  p.c = p.lo = p.y0 = Eigen::VectorXd::Zero(1);
  p.hi = Eigen::VectorXd::Constant(1, kInfinity);
  p.d = Eigen::VectorXd::Constant(1, 1.0);
  SparseKineticQpWorkspace w;
  SparseKineticQpSolution s;
  sparse_kinetic_qp(p, {}, w, s);
  EXPECT_NE(s.status, Status::solved);
  EXPECT_TRUE(s.x.allFinite() && s.mu.allFinite());
  p.d.resize(2);
  EXPECT_THROW(sparse_kinetic_qp(p, {}, w, s), InvalidArgument);
}

TEST(SparseKineticQp, AllocationNoneOnceGrown) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  Random random(3);
  const SparseKineticQp large = random.problem({6, 6, 6}, 30, 9), small = random.problem({6, 6}, 12, 4);
  SparseKineticQpWorkspace w;
  SparseKineticQpSolution s;
  for (int repeat = 0; repeat < 2; ++repeat) {
    sparse_kinetic_qp(large, {}, w, s);
    sparse_kinetic_qp(small, {}, w, s);
  }
  const std::size_t before = allocation_count();
  sparse_kinetic_qp(large, {}, w, s);
  EXPECT_EQ(allocation_count() - before, 0u);
}

}  // namespace
}  // namespace stiction::sparse_kinetic_qp_test
