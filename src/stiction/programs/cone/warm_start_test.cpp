// Solves that start from the impulses of another.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/programs/cone/cone_testing.hpp"

namespace stiction::warm_start_test {
namespace {

using namespace cone_testing;
using cone_testing::kLaws, cone_testing::Law;  // not those of problems
using test_scenes::Random;

TEST(ConeOptions, WarmStartFromTheSolutionNeedsNoIteration) {
  Random random(8);
  for (Law law : kLaws) {
    const ReducedProblem problem = test_scenes::brick_wall(6, random);
    ConeSolution solution = solve(problem, law);
    expect_solved(problem, law, solution);
    const int cold = solution.iterations;
    ConeWorkspace workspace;
    ConeOptions options;
    options.edges = edges_of(law);
    options.relaxed = relaxed(law);
    options.warm_start = true;
    solve_cone(problem, options, workspace, solution);
    EXPECT_EQ(solution.status, Status::solved);
    EXPECT_LE(solution.iterations, std::min(cold, 2));
  }
}

TEST(ConeOptions, WarmStartsAlongAMotionCostLessThanColdOnes) {
  constexpr int kSteps = 64;
  for (Law law : {Law::disc, Law::pyramid}) {
    Random random(12);
    ReducedProblem problem = test_scenes::flat_feet(40, random, 0.6);
    const Eigen::VectorXd from = problem.u_free, to = test_scenes::flat_feet(40, random, 0.6).u_free;
    ConeOptions options;
    options.edges = edges_of(law);
    options.warm_start = true;
    ConeWorkspace workspace;
    ConeSolution warm;
    int warm_total = 0, cold_total = 0;
    for (int k = 0; k < kSteps; ++k) {
      const double phase = 2.0 * std::numbers::pi * k / kSteps;
      problem.u_free = 0.5 * (1.0 + std::cos(phase)) * from + 0.5 * (1.0 - std::cos(phase)) * to;
      solve_cone(problem, options, workspace, warm);
      expect_solved(problem, law, warm);
      const ConeSolution cold = solve(problem, law);
      warm_total += warm.iterations;
      cold_total += cold.iterations;
    }
    EXPECT_LT(warm_total, cold_total) << edges_of(law);
  }
}

// Each wall a little faster than the last solve's, so that a few contacts change their state.
TEST(ConeOptions, SmoothingSolvesNineWarmStartsOfTenWithoutAPath) {
  Random random(91);
  for (const Law law : {Law::disc, Law::pyramid}) {
    int solves = 0, without_path = 0;
    for (int wall = 0; wall < 5; ++wall) {
      ReducedProblem problem = test_scenes::brick_wall(32, random);
      const Eigen::MatrixXd Rt = problem.Rt.to_dense();
      Eigen::VectorXd push(Rt.cols());
      ConeOptions options;
      options.edges = edges_of(law);
      ConeWorkspace workspace;
      ConeSolution solution;
      for (int step = 0; step < 10; ++step) {
        for (double& x : push) x = 0.02 * test_scenes::normal(random);
        problem.u_free += Rt * push;
        options.warm_start = step > 0;
        solve_cone(problem, options, workspace, solution);
        expect_solved(problem, law, solution);
        if (step == 0) continue;
        ++solves;
        without_path += solution.paths == 0 ? 1 : 0;
      }
    }
    EXPECT_GE(without_path, 9 * solves / 10) << edges_of(law);
  }
}

TEST(Cone, FrictionIsWithinAWideCone) {
  // What friction exceeds the cone by is μ² times what the natural map sees of it: at this start, which sticks, 1e-7 N s and 1e-13 m/s.
  const double mu = 1e3;
  const Eigen::Vector3d start(1e-3, 1.0 + 1e-7, 0.0);
  const ReducedProblem problem = test_scenes::reduced_problem(Eigen::MatrixXd::Identity(3, 3), Eigen::MatrixXd::Identity(3, 3), -start,
                                                              Eigen::VectorXd::Constant(1, mu), {3});
  ConeOptions options;
  options.warm_start = true;
  ConeWorkspace workspace;
  for (const int edges : {0, 4}) {
    ConeSolution solution;
    solution.lambda = start;
    options.edges = edges;
    solve_cone(problem, options, workspace, solution);
    EXPECT_EQ(solution.status, Status::solved);
    EXPECT_LE(solution.lambda.tail<2>().norm() - mu * solution.lambda[0], 1e-15);
    EXPECT_LE((solution.lambda - start).norm(), 1e-7);
  }
}

}  // namespace
}  // namespace stiction::warm_start_test
