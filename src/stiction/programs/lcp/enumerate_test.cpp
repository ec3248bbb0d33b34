#include "stiction/programs/lcp/enumerate.hpp"

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/programs/lcp/lcp_testing.hpp"

namespace stiction::enumerate_test {
namespace {

using lcp_testing::all_solutions;
using lcp_testing::Lcp;
using lcp_testing::Random;
using lcp_testing::violation;

Lcp make(std::initializer_list<std::initializer_list<double>> M, std::initializer_list<double> q) {
  Lcp lcp{Eigen::MatrixXd(M), Eigen::VectorXd(static_cast<Eigen::Index>(q.size()))};
  std::copy(q.begin(), q.end(), lcp.q.data());
  return lcp;
}

TEST(Enumerate, ScalarProblems) {
  EXPECT_EQ(all_solutions(make({{2}}, {-4})).z(0)[0], 2.0);
  EXPECT_EQ(all_solutions(make({{2}}, {4})).z(0)[0], 0.0);
  const LcpSolutions two = all_solutions(make({{-1}}, {1}));
  ASSERT_EQ(two.count, 2);
  EXPECT_EQ(two.z(0)[0], 0.0);
  EXPECT_EQ(two.z(1)[0], 1.0);
  EXPECT_EQ(all_solutions(make({{-1}}, {-1})).count, 0);
  EXPECT_EQ(all_solutions(make({{0}}, {-1})).count, 0);
}

TEST(Enumerate, EndsOfASegmentOfSolutions) {
  const LcpSolutions s = all_solutions(make({{1, 1}, {1, 1}}, {-1, -1}));  // z1 + z2 = 1
  ASSERT_EQ(s.count, 2);
  EXPECT_EQ(s.z(0), Eigen::Vector2d(1, 0));
  EXPECT_EQ(s.z(1), Eigen::Vector2d(0, 1));
}

TEST(Enumerate, VerticesWhoseBasisIsSingular) {
  // z = (1, 0, 0) is isolated although M_11 = 0: rows 2 and 3 pin it.
  const LcpSolutions isolated = all_solutions(make({{0, -1, -1}, {1, 0, 0}, {-1, 0, 0}}, {0, -1, 1}));
  ASSERT_EQ(isolated.count, 1);
  EXPECT_EQ(isolated.z(0), Eigen::Vector3d(1, 0, 0));
  // z1 >= 1, z2 = 0 solve; so does z1 = 1, z2 >= 0. One vertex, reached by no non-singular complementary basis.
  const LcpSolutions ray = all_solutions(make({{0, 0}, {1, 0}}, {0, -1}));
  ASSERT_EQ(ray.count, 1);
  EXPECT_EQ(ray.z(0), Eigen::Vector2d(1, 0));
}

TEST(Enumerate, PMatrixHasExactlyOneSolution) {
  Random random(11);
  for (int trial = 0; trial < 50; ++trial) {
    const int n = random.integer(1, 8);
    const RowMatrix A = random.matrix(n, n), skew = random.matrix(n, n);
    const Lcp lcp{A * A.transpose() + Eigen::MatrixXd::Identity(n, n) + skew - skew.transpose(), random.vector(n)};
    const LcpSolutions s = all_solutions(lcp);
    ASSERT_EQ(s.count, 1);
    EXPECT_LT(violation(lcp, s.z(0)), 1e-10);
  }
}

TEST(Enumerate, FindsEveryPlantedSolution) {
  // diag(-1) with q > 0: each z_i is 0 or q_i, 2ⁿ isolated solutions.
  const int n = 10;
  const Eigen::VectorXd q = Eigen::VectorXd::LinSpaced(n, 1.0, 2.0);
  const LcpSolutions s = all_solutions({-Eigen::MatrixXd::Identity(n, n), q});
  ASSERT_EQ(s.count, 1 << n);
  for (int k = 0; k < s.count; ++k) {
    for (int i = 0; i < n; ++i) EXPECT_EQ(s.z(k)[i], ((k >> i) & 1) != 0 ? q[i] : 0.0);
  }
  EXPECT_TRUE(s.complete);
}

TEST(Enumerate, SaysWhenThereAreMoreSolutionsThanItKeeps) {
  const int n = 17;  // 131 072
  const LcpSolutions s = all_solutions({-Eigen::MatrixXd::Identity(n, n), Eigen::VectorXd::Ones(n)});
  EXPECT_EQ(s.count, 100000);
  EXPECT_FALSE(s.complete);
}

TEST(Enumerate, RejectsWhatItCannotEnumerate) {
  EnumerateWorkspace workspace;
  LcpSolutions solutions;
  EXPECT_THROW(enumerate(Eigen::MatrixXd::Identity(21, 21), Eigen::VectorXd::Ones(21), {}, workspace, solutions), InvalidArgument);
  EXPECT_THROW(enumerate(Eigen::MatrixXd::Identity(2, 3), Eigen::VectorXd::Ones(2), {}, workspace, solutions), InvalidArgument);
  const Eigen::VectorXd nan = Eigen::VectorXd::Constant(2, std::nan(""));
  EXPECT_THROW(enumerate(Eigen::MatrixXd::Identity(2, 2), nan, {}, workspace, solutions), InvalidArgument);
}

TEST(Mindiff, PicksTheClosestSolution) {
  const int n = 6;
  const Eigen::VectorXd q = Eigen::VectorXd::Ones(n);
  Random random(12);
  EnumerateWorkspace workspace;
  LcpSolution solution;
  for (int trial = 0; trial < 20; ++trial) {
    const Eigen::VectorXd x0 = random.vector(n);
    mindiff(-Eigen::MatrixXd::Identity(n, n), q, Eigen::MatrixXd::Identity(n, n), Eigen::VectorXd::Zero(n), x0, {}, workspace, solution);
    const Eigen::VectorXd nearest = (x0.array() > 0.5).select(Eigen::VectorXd::Ones(n), Eigen::VectorXd::Zero(n));
    EXPECT_EQ(solution.status, Status::solved);
    EXPECT_EQ(Eigen::VectorXd(solution.z), nearest);
  }
}

TEST(Mindiff, MeasuresTheUnknownsOfTheMlcp) {
  // x = (z1 - z2): of the solutions z = (1, 0) and (0, 1) of z1 + z2 = 1, x0 = -0.9 calls for the second.
  const Lcp lcp = make({{1, 1}, {1, 1}}, {-1, -1});
  EnumerateWorkspace workspace;
  LcpSolution solution;
  Eigen::MatrixXd T(1, 2);
  T << 1, -1;
  const Eigen::VectorXd c = Eigen::VectorXd::Zero(1), x0 = Eigen::VectorXd::Constant(1, -0.9);
  mindiff(lcp.M, lcp.q, T, c, x0, {}, workspace, solution);
  EXPECT_EQ(solution.status, Status::solved);
  EXPECT_EQ(Eigen::VectorXd(solution.z), Eigen::Vector2d(0, 1));
  mindiff(-lcp.M, lcp.q, T, c, x0, {}, workspace, solution);
  EXPECT_EQ(solution.status, Status::infeasible);
}

}  // namespace
}  // namespace stiction::enumerate_test
