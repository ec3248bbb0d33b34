#include "stiction/programs/lcp/lemke.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/programs/lcp/lcp_testing.hpp"

namespace stiction::lemke_test {
namespace {

using lcp_testing::all_solutions;
using lcp_testing::distance_to;
using lcp_testing::Lcp;
using lcp_testing::Random;
using lcp_testing::stewart_trinkle;
using lcp_testing::violation;

LcpSolution solve(const Lcp& lcp, const LemkeOptions& options = {}) {
  LemkeWorkspace workspace;
  LcpSolution solution;
  lemke(lcp.M, lcp.q, options, workspace, solution);
  return solution;
}

void expect_solves(const Lcp& lcp, const LcpSolution& s) {
  ASSERT_EQ(s.status, Status::solved) << s.residual;
  const double size = lcp.q.lpNorm<Eigen::Infinity>() + lcp.M.cwiseAbs().rowwise().sum().maxCoeff() * s.z.lpNorm<Eigen::Infinity>();
  EXPECT_LE(violation(lcp, s.z), 1e-12 * (size + s.z.lpNorm<Eigen::Infinity>()));
  EXPECT_GE(s.z.minCoeff(), 0.0);
  EXPECT_GE(s.w.minCoeff(), 0.0);
  EXPECT_EQ(s.z.dot(s.w), 0.0);
  EXPECT_EQ(s.ray.size(), 0);
}

/// u >= 0, Mᵀu <= 0, q·u < 0: no z >= 0 has M z + q >= 0.
void expect_proof(const Lcp& lcp, const LcpSolution& s) {
  ASSERT_EQ(s.status, Status::ray_termination);
  EXPECT_TRUE(s.infeasible);
  EXPECT_GE(s.ray.minCoeff(), 0.0);
  EXPECT_LE((lcp.M.transpose() * s.ray).maxCoeff(), 1e-12 * lcp.M.cwiseAbs().sum());
  EXPECT_LT(lcp.q.dot(s.ray), 0.0);
}

TEST(Lemke, PositiveDefiniteProblemsMatchEnumeration) {
  Random random(31);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = random.integer(1, 9);
    const RowMatrix A = random.matrix(n, n + 1), skew = random.matrix(n, n);
    const Lcp lcp{A * A.transpose() + (trial % 2) * (skew - skew.transpose()), random.vector(n)};
    const LcpSolution s = solve(lcp);
    expect_solves(lcp, s);
    EXPECT_LT(s.residual, 1e-14);
    const LcpSolutions all = all_solutions(lcp);
    ASSERT_EQ(all.count, 1);
    EXPECT_LT(distance_to(all, s.z), 1e-8 * (1.0 + s.z.norm()));
  }
}

TEST(Lemke, SemidefiniteProblemsAreSolvedOrProvedInfeasible) {
  Random random(32);
  int infeasible = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const int r = random.integer(1, 3), n = random.integer(r + 1, 8);
    const RowMatrix A = random.matrix(n, r);
    const Lcp lcp{A * A.transpose(), trial % 2 == 0 ? Eigen::VectorXd(A * random.vector(r)) : random.vector(n)};
    const LcpSolution s = solve(lcp);
    const LcpSolutions all = all_solutions(lcp);
    if (all.count == 0) {
      ++infeasible;
      expect_proof(lcp, s);
    } else {
      expect_solves(lcp, s);
      EXPECT_LT((A.transpose() * (all.z(0) - s.z)).norm(), 1e-8 * (1.0 + s.z.norm()));
    }
  }
  EXPECT_GT(infeasible, 20);
}

TEST(Lemke, IntegerProblemsWithTiesAndZeros) {
  Random random(33);
  int solved = 0, infeasible = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const int n = random.integer(1, 7), r = random.integer(1, n);
    const RowMatrix A = random.integers(n, r, -1, 1), skew = random.integers(n, n, -1, 1);
    const Lcp lcp{A * A.transpose() + (trial % 2) * (skew - skew.transpose()), Eigen::VectorXd(random.integers(n, 1, -1, 1))};
    const LcpSolution s = solve(lcp);
    if (all_solutions(lcp).count == 0) {
      ++infeasible;
      expect_proof(lcp, s);
    } else {
      ++solved;
      expect_solves(lcp, s);
    }
  }
  EXPECT_GT(solved, 200);
  EXPECT_GT(infeasible, 50);
}

/// One or two contacts in R^r with k edges; ties from integer data on every other trial.
TEST(Lemke, FrictionProblemsMatchEnumeration) {
  Random random(34);
  for (int trial = 0; trial < 200; ++trial) {
    const int contacts = trial % 20 == 0 ? 2 : 1, edges = contacts == 1 ? 3 + trial % 3 : 3, r = random.integer(2, 6);
    const bool ties = random.integer(0, 1) == 1;
    const RowMatrix A = ties ? random.integers(3 * contacts, r, -1, 1) : random.matrix(3 * contacts, r);
    const Eigen::VectorXd u = A * (ties ? Eigen::VectorXd(random.integers(r, 1, -2, 2)) : random.vector(r));
    const Eigen::VectorXd mu = Eigen::VectorXd::Constant(contacts, ties ? 0.5 : random.uniform(0.0, 2.0));
    const Lcp lcp = stewart_trinkle(A, u, mu, edges);
    const LcpSolution s = solve(lcp);
    expect_solves(lcp, s);
    EXPECT_LT(violation(lcp, s.z), 1e-11 * (1.0 + s.z.norm() * (1.0 + lcp.M.norm())));
    EXPECT_GT(all_solutions(lcp).count, 0);
  }
}

TEST(Lemke, LargerFrictionProblemsAreSolvedToRounding) {
  Random random(35);
  for (int trial = 0; trial < 40; ++trial) {
    const int contacts = trial % 4 == 0 ? 40 : 12;
    const RowMatrix A = random.matrix(3 * contacts, 6);
    const Lcp lcp = stewart_trinkle(A, A * random.vector(6), Eigen::VectorXd::Constant(contacts, 0.7), 4);
    const LcpSolution s = solve(lcp);
    EXPECT_EQ(s.status, Status::solved);
    EXPECT_LT(s.residual, 1e-13);
    EXPECT_LT(s.pivots, 10 * lcp.q.size());
  }
}

TEST(Lemke, FlatFootWithManyEqualContacts) {
  // A body of unit mass and inertia on a grid of points, pushed down, sideways and turned: rank 6, all ties.
  const int side = 5;
  RowMatrix A(3 * side * side, 6);
  for (int i = 0; i < side * side; ++i) {
    const int row = i / side, column = i % side;
    const double x = column - 2, y = row - 2;
    A.row(3 * i) << 0, 0, 1, y, -x, 0;
    A.row(3 * i + 1) << 1, 0, 0, 0, -1, -y;
    A.row(3 * i + 2) << 0, 1, 0, 1, 0, x;
  }
  for (const double push : {0.0, 0.1, 1.0, 10.0}) {
    Eigen::VectorXd v(6);
    v << push, 0.5 * push, -1.0, 0, 0, 0.3 * push;
    const Lcp lcp = stewart_trinkle(A, A * v, Eigen::VectorXd::Constant(side * side, 0.5), 4);
    const LcpSolution s = solve(lcp);
    EXPECT_EQ(s.status, Status::solved) << push << ": " << s.residual;
    EXPECT_LT(s.residual, 1e-13);
  }
}

TEST(Lemke, NearlyEqualContactsAndWideInertiaRatios) {
  Random random(39);
  for (int trial = 0; trial < 100; ++trial) {
    const int contacts = random.integer(2, 20), distinct = random.integer(1, 4);
    RowMatrix A = random.matrix(3 * contacts, 6);
    if (trial % 2 == 0) {
      const double spread = std::pow(10.0, random.uniform(-16.0, -4.0));
      for (int i = distinct; i < contacts; ++i) A.middleRows(3 * i, 3) = A.middleRows(3 * (i % distinct), 3) + spread * random.matrix(3, 6);
    } else {
      for (int j = 0; j < 6; ++j) A.col(j) *= std::pow(10.0, random.uniform(-2.0, 2.0));
    }
    const Eigen::VectorXd mu = Eigen::VectorXd::Constant(contacts, std::pow(10.0, random.uniform(-2.0, 1.0)));
    const Lcp lcp = stewart_trinkle(A, A * random.vector(6), mu, 4);
    const LcpSolution s = solve(lcp);
    ASSERT_EQ(s.status, Status::solved) << trial << ": " << s.residual;
    EXPECT_LT(violation(lcp, s.z), 1e-9 * lcp.q.lpNorm<Eigen::Infinity>());
  }
}

TEST(Lemke, ExponentialPathEnds) {
  // Murty's problem: lower triangular, 1 on and 2 below the diagonal, q = -1 [Murty 1988, chapter 6]: 2ⁿ pivots.
  const int n = 10;
  Lcp lcp{Eigen::MatrixXd::Identity(n, n), -Eigen::VectorXd::Ones(n)};
  for (int i = 0; i < n; ++i) lcp.M.row(i).head(i).setConstant(2.0);
  LemkeOptions patient;
  patient.max_pivots = 2 << n;
  const LcpSolution s = solve(lcp, patient);
  expect_solves(lcp, s);
  EXPECT_EQ(s.pivots, 1 << n);
  EXPECT_EQ(Eigen::VectorXd(s.z), Eigen::VectorXd::Unit(n, 0));
  expect_solves(lcp, solve(lcp));  // within the default limit, on another path
  LemkeOptions few;
  few.max_pivots = 1;
  EXPECT_EQ(solve(lcp, few).status, Status::iteration_limit);
}

TEST(Lemke, BadlyScaledProblemsKeepTheirAccuracy) {
  Random random(36);
  for (int trial = 0; trial < 100; ++trial) {
    const int n = 8;
    const RowMatrix A = random.matrix(n, n);
    const Lcp lcp{A * A.transpose() + 0.1 * Eigen::MatrixXd::Identity(n, n), random.vector(n)};
    Eigen::VectorXd d(n);
    for (int i = 0; i < n; ++i) d[i] = std::pow(10.0, random.uniform(-6.0, 6.0));
    const Lcp scaled{d.asDiagonal() * lcp.M * d.asDiagonal(), d.cwiseProduct(lcp.q)};
    const LcpSolution s = solve(lcp), t = solve(scaled);
    ASSERT_EQ(t.status, Status::solved) << t.residual;
    EXPECT_LT((d.cwiseProduct(t.z) - s.z).norm(), 1e-9 * (1.0 + s.z.norm()));
  }
}

TEST(Lemke, SecondaryRayThatProvesNothingIsReportedAsARay) {
  const Lcp lcp{(Eigen::MatrixXd(2, 2) << -1, 0, 0, -1).finished(), Eigen::Vector2d(1, -1)};  // w2 = -z2 - 1 < 0
  const LcpSolution s = solve(lcp);
  expect_proof(lcp, s);
  // M = [0 1; -1 0]... feasible but without a solution: w1 = z2 - 1, w2 = 1 - z1 + 0 z2 has one; -z1 z2 coupling has none.
  const Lcp hard{(Eigen::MatrixXd(2, 2) << 1, 2, -1, 0).finished(), Eigen::Vector2d(-1, -1)};
  const LcpSolution t = solve(hard);
  EXPECT_EQ(all_solutions(hard).count, 0);
  EXPECT_NE(t.status, Status::solved);
}

TEST(Lemke, RandomMatricesAreNeverSolvedWrongly) {
  Random random(38);
  int solved = 0, rays = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const int n = random.integer(1, 6);
    const Lcp lcp{trial % 2 == 0 ? random.matrix(n, n) : random.integers(n, n, -1, 1),
                  trial % 2 == 0 ? random.vector(n) : Eigen::VectorXd(random.integers(n, 1, -1, 1))};
    const LcpSolution s = solve(lcp);
    const LcpSolutions all = all_solutions(lcp);
    EXPECT_TRUE(s.z.allFinite() && s.w.allFinite());
    if (s.status == Status::solved) {
      ++solved;
      EXPECT_GT(all.count, 0);
      EXPECT_LT(violation(lcp, s.z), 1e-9 * (1.0 + s.z.norm()) * (1.0 + lcp.M.norm()));
    }
    if (s.infeasible) {
      ++rays;
      EXPECT_EQ(all.count, 0);
    }
  }
  EXPECT_GT(solved, 300);
  EXPECT_GT(rays, 50);
}

TEST(Lemke, RejectsBadInputAndTakesEmpty) {
  EXPECT_THROW(solve({Eigen::MatrixXd::Identity(2, 3), Eigen::Vector2d(1, 1)}), InvalidArgument);
  EXPECT_THROW(solve({Eigen::MatrixXd::Identity(2, 2), Eigen::Vector3d(1, 1, 1)}), InvalidArgument);
  for (const double bad : {std::nan(""), kInfinity, -kInfinity}) {
    for (int k = 0; k < 9; ++k) {
      Lcp lcp{Eigen::MatrixXd::Identity(3, 3), Eigen::Vector3d(-1, 1, 1)};
      lcp.M.data()[k] = bad;
      EXPECT_THROW(solve(lcp), InvalidArgument);
    }
    EXPECT_THROW(solve({Eigen::MatrixXd::Identity(2, 2), Eigen::Vector2d(1, bad)}), InvalidArgument);
  }
  EXPECT_EQ(solve({Eigen::MatrixXd(0, 0), Eigen::VectorXd(0)}).status, Status::solved);
}

}  // namespace
}  // namespace stiction::lemke_test
