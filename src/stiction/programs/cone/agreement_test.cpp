// The disc against the polygon where the two laws must coincide: in the plane, and as the polygon's vertices multiply.
#include <cmath>

#include <gtest/gtest.h>

#include "stiction/programs/cone/cone_testing.hpp"

namespace stiction::agreement_test {
namespace {

using test_scenes::Random;

ConeSolution solve(const ReducedProblem& problem, int edges) {
  ConeWorkspace workspace;
  ConeSolution solution;
  ConeOptions options;
  options.edges = edges;
  solve_cone(problem, options, workspace, solution);
  EXPECT_EQ(solution.status, Status::solved) << edges << " edges, natural map " << solution.natural_map;
  return solution;
}

Eigen::VectorXd velocities(const ReducedProblem& problem, const ConeSolution& solution) {
  const Eigen::MatrixXd Rt = problem.Rt.to_dense();
  return Rt * (Rt.transpose() * solution.lambda) + problem.u_free;
}

// Nothing moves along T: a segment is what both sections leave of friction.
ReducedProblem planar_problem(int contacts, int freedoms, Random& random) {
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(3 * contacts, freedoms);
  Eigen::VectorXd v(freedoms), mu(contacts);
  for (int i = 0; i < contacts; ++i) {
    for (int row = 0; row < 2; ++row) {
      for (int j = 0; j < freedoms; ++j) J(3 * i + row, j) = test_scenes::normal(random);
    }
    mu[i] = test_scenes::uniform(random, 0.0, 1.0);
  }
  for (int j = 0; j < freedoms; ++j) v[j] = test_scenes::normal(random);
  return test_scenes::reduced_problem(Eigen::MatrixXd::Identity(freedoms, freedoms), J, v, mu, {freedoms});
}

TEST(DiscAndPolygon, SolveEachOthersPlanarProblems) {
  Random random(41);
  for (int k = 0; k < 300; ++k) {
    const ReducedProblem problem = planar_problem(1 + k % 8, 3 + k % 5, random);
    const ConeSolution disc = solve(problem, 0), polygon = solve(problem, 4);
    EXPECT_LE(cone_testing::natural_map(problem, 4, false, disc.lambda, disc.beta), 1e-9) << k;
    EXPECT_LE(cone_testing::natural_map(problem, 0, false, polygon.lambda, polygon.beta), 1e-9) << k;
    if (problem.contacts() > 1) continue;  // several may have several solutions
    EXPECT_LE((velocities(problem, disc) - velocities(problem, polygon)).norm(), 1e-9) << k;
  }
}

// Friction at a vertex is off by up to π/k from the slip reversed, so velocities differ by a multiple of 1/k at most.
TEST(DiscAndPolygon, VelocitiesMeetAsVerticesMultiply) {
  Random random(42);
  std::vector<ReducedProblem> problems;
  for (int k = 0; k < 30; ++k) {
    problems.push_back(test_scenes::random_problem(1 + k % 3, 9, random));
    problems.back().mu *= 0.3;  // little friction: one solution
  }
  double before = kInfinity;
  for (const int edges : {8, 32, 128, 512}) {
    double worst = 0.0;
    for (const ReducedProblem& problem : problems) {
      worst =
          std::max(worst, (velocities(problem, solve(problem, 0)) - velocities(problem, solve(problem, edges))).lpNorm<Eigen::Infinity>());
    }
    EXPECT_LE(worst, 0.5 * before) << edges;
    before = worst;
  }
  EXPECT_LE(before, 1e-2);
  EXPECT_GT(before, 1e-8);
}

// Six freedoms need few of a sole's points: the answer stands on those, and is one of the whole problem.
TEST(WorkingSet, ManyPointsStandOnFew) {
  Random random(44);
  for (const int edges : {0, 4, 8}) {
    for (int k = 0; k < 20; ++k) {
      const ReducedProblem problem = test_scenes::flat_feet(k % 2 == 0 ? 200 : 1000, random);
      const ConeSolution solution = solve(problem, edges);
      EXPECT_LE(cone_testing::natural_map(problem, edges, false, solution.lambda, solution.beta), 1e-9) << edges << " " << k;
      int loaded = 0;
      for (int i = 0; i < problem.contacts(); ++i) loaded += solution.lambda[3 * i] > 0.0;
      EXPECT_LE(loaded, 30) << edges << " " << k;
    }
  }
}

// W that is not symmetric: the answer solves the problem as given, not its symmetric part.
TEST(Defect, EntersTheContactVelocities) {
  Random random(43);
  for (int k = 0; k < 50; ++k) {
    ReducedProblem problem = test_scenes::random_problem(1 + k % 4, 8, random);
    const int n = 3 * problem.contacts();
    problem.defect.resize(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) problem.defect(i, j) = 1e-4 * test_scenes::normal(random);
    }
    const ConeSolution solution = solve(problem, 0);
    ReducedProblem shifted = problem;  // the same velocities from a symmetric problem
    shifted.u_free += problem.defect * solution.lambda;
    shifted.defect.resize(0, 0);
    EXPECT_LE(cone_testing::natural_map(shifted, 0, false, solution.lambda, solution.beta), 1e-9) << k;
  }
}

}  // namespace
}  // namespace stiction::agreement_test
