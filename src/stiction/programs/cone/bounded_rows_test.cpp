// Bounded rows beside contacts: motors, limits, torque-limited joints; each against its closed form or its own conditions.
#include <gtest/gtest.h>

#include "stiction/base/least_norm.hpp"
#include "stiction/programs/cone/cone_testing.hpp"

namespace stiction::bounded_rows_test {
namespace {

using test_scenes::Random;

void set_rows(ReducedProblem& problem, const Eigen::MatrixXd& B, const Eigen::VectorXd& w, const Eigen::VectorXd& lo,
              const Eigen::VectorXd& hi) {
  problem.Bt = BlockRows::from_dense(1, B, problem.Rt.block_sizes());
  problem.w_free = w;
  problem.lo = lo;
  problem.hi = hi;
}

// Violation of β ∈ [lo, hi] ⊥ w, in impulse times the row's own mobility.
double violation(const ReducedProblem& problem, const ConeSolution& solution) {
  const Eigen::MatrixXd B = problem.Bt.to_dense();
  const Eigen::VectorXd y = problem.Rt.to_dense().transpose() * solution.lambda + B.transpose() * solution.beta;
  const Eigen::VectorXd w = B * y + problem.w_free;
  double worst = 0.0;
  for (int j = 0; j < problem.bounded_rows(); ++j) {
    const double b = solution.beta[j];
    worst = std::max({worst, problem.lo[j] - b, b - problem.hi[j]});
    if (b > problem.lo[j] + 1e-9) worst = std::max(worst, w[j]);
    if (b < problem.hi[j] - 1e-9) worst = std::max(worst, -w[j]);
  }
  return worst;
}

TEST(BoundedRows, MotorSaturatesAtItsLimit) {
  // One coordinate of unit inertia moving at -3, driven to rest by a motor that can give 2: it keeps -1.
  ReducedProblem problem = test_scenes::reduced_problem(Eigen::MatrixXd::Identity(1, 1), Eigen::MatrixXd(0, 1),
                                                        Eigen::VectorXd::Constant(1, -3.0), Eigen::VectorXd(0), {1});
  for (double limit : {2.0, 5.0, kInfinity}) {
    set_rows(problem, Eigen::MatrixXd::Identity(1, 1), Eigen::VectorXd::Constant(1, -3.0), Eigen::VectorXd::Constant(1, -limit),
             Eigen::VectorXd::Constant(1, limit));
    ConeWorkspace workspace;
    ConeSolution solution;
    solve_cone(problem, {}, workspace, solution);
    EXPECT_EQ(solution.status, Status::solved);
    EXPECT_NEAR(solution.beta[0], std::min(limit, 3.0), 1e-12);
  }
}

TEST(BoundedRows, RandomRowsOfEveryKindBesideContacts) {
  Random random(1);
  ConeWorkspace workspace;
  for (int k = 0; k < 300; ++k) {
    const int n = 1 + k % 6, m = 1 + k % 4, r = 8;
    ReducedProblem problem = test_scenes::random_problem(n, r, random);
    // Rows and contacts at rest together are feasible, so every problem has a solution.
    const Eigen::VectorXd v = least_norm_solution(problem.Rt.to_dense(), problem.u_free);
    Eigen::MatrixXd B(m, r);
    Eigen::VectorXd w(m), lo(m), hi(m);
    for (int j = 0; j < m; ++j) {
      for (int c = 0; c < r; ++c) B(j, c) = test_scenes::normal(random);
      w[j] = B.row(j).dot(v);
      const int kind = static_cast<int>(random() % 5);
      lo[j] = kind == 0 ? 0.0 : (kind == 1 ? -kInfinity : -test_scenes::uniform(random, 0.0, 1.0));
      hi[j] = kind == 0 ? kInfinity : (kind == 1 ? 0.0 : test_scenes::uniform(random, 0.0, 1.0));
      if (kind == 2) lo[j] = hi[j];
      if (kind == 3) lo[j] = -kInfinity, hi[j] = kInfinity;
    }
    set_rows(problem, B, w, lo, hi);
    for (bool relaxed : {false, true}) {
      ConeOptions options;
      options.relaxed = relaxed;
      ConeSolution solution;
      for (const int edges : {4, 0}) {
        options.edges = edges;
        solve_cone(problem, options, workspace, solution);
        EXPECT_EQ(solution.status, Status::solved) << k << " natural map " << solution.natural_map;
        EXPECT_LE(violation(problem, solution), 1e-8) << k;
        EXPECT_NEAR(cone_testing::natural_map(problem, edges, relaxed, solution.lambda, solution.beta), solution.natural_map, 1e-15);
      }
    }
  }
}

TEST(BoundedRows, APressHoldsAMassOnAWallUpToItsFriction) {
  // A point mass of 1 kg pressed against a wall by a motor of limited force slides down when μ times that force is below its weight.
  const double h = 0.01, weight = 9.81 * h;
  for (double limit : {10.0, 30.0}) {
    Eigen::MatrixXd J(3, 3);
    J << 1, 0, 0, 0, 1, 0, 0, 0, 1;  // N along x, tangents y and z
    ReducedProblem problem = test_scenes::reduced_problem(Eigen::Matrix3d::Identity(), J, Eigen::Vector3d(0, 0, -weight),
                                                          Eigen::VectorXd::Constant(1, 0.5), {3});
    Eigen::MatrixXd B(1, 3);
    B << -1, 0, 0;  // pushes against the wall: it would like to move there at 1 m/s
    set_rows(problem, B, Eigen::VectorXd::Constant(1, -1.0), Eigen::VectorXd::Zero(1), Eigen::VectorXd::Constant(1, limit * h));
    ConeWorkspace workspace;
    ConeSolution solution;
    solve_cone(problem, {}, workspace, solution);
    EXPECT_EQ(solution.status, Status::solved);
    EXPECT_NEAR(solution.beta[0], limit * h, 1e-12);
    EXPECT_NEAR(solution.lambda[0], limit * h, 1e-12);
    EXPECT_NEAR(solution.lambda[2], std::min(weight, 0.5 * limit * h), 1e-12);
    EXPECT_NEAR(solution.lambda[1], 0.0, 1e-12);
  }
}

// A joint whose limits leave no room is two rows that push against each other: one of them works, and neither runs off.
TEST(BoundedRows, LimitsWithoutRoom) {
  Random random(3);
  for (const double room : {0.0, 1e-14, 1e-10}) {
    for (int trial = 0; trial < 20; ++trial) {
      ReducedProblem problem = test_scenes::flat_feet(8, random);
      Eigen::MatrixXd B = Eigen::MatrixXd::Zero(2, 6);
      B.row(0) << 0.1, 0.0, 0.0, 0.2, 0.0, 1.0;
      B.row(1) = -B.row(0);
      const double w = test_scenes::normal(random);
      set_rows(problem, B, Eigen::Vector2d(w, -w + room), Eigen::Vector2d::Zero(), Eigen::Vector2d::Constant(kInfinity));
      ConeWorkspace workspace;
      ConeSolution solution;
      solve_cone(problem, {}, workspace, solution);
      ASSERT_EQ(solution.status, Status::solved) << room << " " << trial;
      EXPECT_LT(violation(problem, solution), 1e-9);
      EXPECT_LT(solution.beta.minCoeff(), 1e-9);
      EXPECT_LT(solution.beta.maxCoeff(), 1e3);
      EXPECT_LT(solution.iterations, 200);
    }
  }
}

// 16 systems.
TEST(Cone, AWarmStartThatLeadsNowhereCostsItsPolishAtMost) {
  Random random(5);
  ConeOptions warm;
  warm.warm_start = true;
  for (int trial = 0; trial < 60; ++trial) {
    const ReducedProblem problem =
        trial % 2 == 0 ? test_scenes::random_problem(2 + trial % 20, 8, random) : test_scenes::brick_wall(6, random);
    ConeWorkspace workspace;
    ConeSolution cold, started;
    solve_cone(problem, {}, workspace, cold);
    started.lambda.resize(3 * problem.contacts());
    for (double& x : started.lambda) x = 10.0 * test_scenes::normal(random);
    started.beta.setZero(0);
    solve_cone(problem, warm, workspace, started);
    EXPECT_EQ(started.status, cold.status) << trial;
    EXPECT_LE(started.iterations, cold.iterations + 16) << trial;
  }
}

}  // namespace
}  // namespace stiction::bounded_rows_test
