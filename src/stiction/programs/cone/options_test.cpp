// Limits that are met, and input that is no problem.
#include <cmath>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/programs/cone/test_scenes.hpp"

namespace stiction {
namespace {

using test_scenes::Random;

TEST(ConeOptions, IterationLimitIsReported) {
  Random random(9);
  const ReducedProblem problem = test_scenes::brick_wall(6, random);
  ConeOptions options;
  options.max_iterations = 3;
  ConeWorkspace workspace;
  ConeSolution solution;
  exact_cone(problem, options, workspace, solution);
  EXPECT_EQ(solution.status, Status::iteration_limit);
  EXPECT_GT(solution.natural_map, options.tolerance);
  EXPECT_LE(solution.iterations, 3);
}

TEST(ConeOptions, BadInputIsNamed) {
  Random random(10);
  ReducedProblem problem = test_scenes::random_problem(2, 6, random);
  ConeOptions options;
  ConeWorkspace workspace;
  ConeSolution solution;
  options.edges = 3;
  EXPECT_THROW(interior_point(problem, options, workspace, solution), InvalidArgument);
  options.edges = 4;
  problem.mu[1] = -0.1;
  EXPECT_THROW(interior_point(problem, options, workspace, solution), InvalidArgument);
  problem.mu[1] = std::nan("");
  EXPECT_THROW(exact_cone(problem, options, workspace, solution), InvalidArgument);
  problem.mu.resize(1);
  EXPECT_THROW(exact_cone(problem, options, workspace, solution), InvalidArgument);
}

}  // namespace
}  // namespace stiction
