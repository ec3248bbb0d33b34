// Limits that are met, and input that is no problem.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/programs/cone/cone_testing.hpp"

namespace stiction::options_test {
namespace {

using test_scenes::Random;

TEST(ConeOptions, IterationLimitIsReported) {
  Random random(9);
  const ReducedProblem problem = test_scenes::brick_wall(6, random);
  ConeOptions options;
  options.max_iterations = 3;
  ConeWorkspace workspace;
  ConeSolution solution;
  solve_cone(problem, options, workspace, solution);
  EXPECT_EQ(solution.status, Status::iteration_limit);
  EXPECT_GT(solution.natural_map, options.tolerance);
  EXPECT_LE(solution.iterations, 3);
}

// Walls over three decades of mass turn back on their way: one in eight of these needs more than a hundred systems.
TEST(ConeOptions, EveryLimitHoldsAndTheBestPointComesBack) {
  Random random(256);
  for (int k = 0; k < 4; ++k) {
    const ReducedProblem problem = test_scenes::brick_wall(64, random, 1000.0);
    ConeWorkspace workspace;
    double last = kInfinity;
    for (const int limit : {0, 1, 4, 9, 20, 40, 80}) {
      ConeOptions options;
      options.max_iterations = limit;
      ConeSolution solution;
      solve_cone(problem, options, workspace, solution);
      EXPECT_LE(solution.iterations, limit) << k;
      EXPECT_DOUBLE_EQ(cone_testing::natural_map(problem, 0, false, solution.lambda, solution.beta), solution.natural_map)
          << k << " " << limit;
      EXPECT_LE(solution.natural_map, last) << k << " " << limit;
      last = solution.natural_map;
    }
  }
}

TEST(ConeOptions, AnAcceptablePointIsGivenFiveHundredSystemsToBecomeASolution) {
  constexpr int kNewton = 32;  // systems of a try that is under way, and of that at the end of the path
  Random random(256);
  int earlier = 0;
  for (int k = 0; k < 4; ++k) {
    const ReducedProblem problem = test_scenes::brick_wall(256, random, 1000.0);
    std::vector<ConeRecord> log;
    ConeOptions options;
    options.tolerance = 1e-300;  // rounding is met late or never
    ConeWorkspace workspace;
    ConeSolution solution, whole;
    solve_cone(problem, options, workspace, whole);
    options.acceptable = 1e-2;
    options.log = &log;
    solve_cone(problem, options, workspace, solution);
    const double enough = options.acceptable * std::min(1.0, std::max(problem.velocity, problem.u_free.lpNorm<Eigen::Infinity>()));
    int reached = -1;
    for (const ConeRecord& r : log) {
      if (reached < 0 && r.natural_map <= enough) reached = r.iteration;
    }
    ASSERT_GE(reached, 0) << k;
    EXPECT_LE(solution.natural_map, enough) << k;
    EXPECT_LE(solution.iterations, reached + 500 + kNewton) << k;
    EXPECT_LE(solution.iterations, whole.iterations) << k;
    earlier += solution.iterations < whole.iterations;
  }
  EXPECT_GE(earlier, 1);
}

TEST(ConeOptions, TheLogShowsEveryIteration) {
  Random random(9);
  const ReducedProblem problem = test_scenes::brick_wall(20, random);
  std::vector<ConeRecord> log;
  ConeOptions options;
  options.log = &log;
  ConeWorkspace workspace;
  ConeSolution solution;
  solve_cone(problem, options, workspace, solution);
  ASSERT_EQ(solution.status, Status::solved);
  EXPECT_EQ(solution.paths, 1);
  ASSERT_GE(static_cast<int>(log.size()), solution.iterations);
  double best = kInfinity, first = 0.0, last = 0.0;
  for (std::size_t k = 0; k < log.size(); ++k) {
    EXPECT_GE(log[k].iteration, k == 0 ? 0 : log[k - 1].iteration);
    EXPECT_LE(log[k].iteration, k == 0 ? 0 : log[k - 1].iteration + 1);
    best = std::min(best, log[k].natural_map);
    if (log[k].phase != ConePhase::path) continue;
    if (first == 0.0) first = log[k].mean_product;
    last = log[k].mean_product;
  }
  EXPECT_EQ(best, solution.natural_map);
  EXPECT_LT(last, 1e-6 * first);
}

TEST(ConeOptions, BadInputIsNamed) {
  Random random(10);
  ReducedProblem problem = test_scenes::random_problem(2, 6, random);
  ConeOptions options;
  ConeWorkspace workspace;
  ConeSolution solution;
  options.edges = 3;
  EXPECT_THROW(solve_cone(problem, options, workspace, solution), InvalidArgument);
  options.edges = 4;
  problem.mu[1] = -0.1;
  EXPECT_THROW(solve_cone(problem, options, workspace, solution), InvalidArgument);
  options.edges = 0;
  problem.mu[1] = std::nan("");
  EXPECT_THROW(solve_cone(problem, options, workspace, solution), InvalidArgument);
  problem.mu.resize(1);
  EXPECT_THROW(solve_cone(problem, options, workspace, solution), InvalidArgument);
}

}  // namespace
}  // namespace stiction::options_test
