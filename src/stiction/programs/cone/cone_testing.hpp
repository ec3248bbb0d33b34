// The laws of the cone solvers by name, and what a solution under one of them must satisfy, computed from the definition.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "stiction/programs/cone/test_scenes.hpp"

namespace stiction::cone_testing {

enum class Law { disc, pyramid, octagon, relaxed_disc, relaxed_pyramid };
inline constexpr Law kLaws[] = {Law::disc, Law::pyramid, Law::octagon, Law::relaxed_disc, Law::relaxed_pyramid};

inline int edges_of(Law law) { return law == Law::octagon ? 8 : (law == Law::pyramid || law == Law::relaxed_pyramid ? 4 : 0); }
inline bool relaxed(Law law) { return law == Law::relaxed_disc || law == Law::relaxed_pyramid; }

inline ConeSolution solve(const ReducedProblem& problem, Law law, ConeWorkspace& workspace) {
  ConeOptions options;
  options.edges = edges_of(law);
  options.relaxed = relaxed(law);
  ConeSolution solution;
  solve_cone(problem, options, workspace, solution);
  return solution;
}

inline ConeSolution solve(const ReducedProblem& problem, Law law) {
  ConeWorkspace workspace;
  return solve(problem, law, workspace);
}

inline Eigen::VectorXd velocities(const ReducedProblem& problem, const ConeSolution& solution) {
  const Eigen::MatrixXd Rt = problem.Rt.to_dense();
  Eigen::VectorXd y = Rt.transpose() * solution.lambda;
  if (problem.bounded_rows() > 0) y += problem.Bt.to_dense().transpose() * solution.beta;
  return Rt * y + problem.u_free;
}

/// Natural map (m/s) of the point (λ, β) as cone.hpp defines it; edges = 0 is the disc.
inline double natural_map(const ReducedProblem& problem, int edges, bool relaxed, const Eigen::Ref<const Eigen::VectorXd>& lambda,
                          const Eigen::Ref<const Eigen::VectorXd>& beta) {
  ConeOptions options;
  options.edges = edges;
  options.relaxed = relaxed;
  ConeMemory memory;
  ConeSolution none;
  refine(problem, options, memory, 0, none);  // sizes the memory
  memory.lambda = lambda;
  memory.beta = beta;
  return evaluate(problem, memory);
}

// Largest violation of the law's conditions at any contact, written out one by one; impulses in units of velocity / mean diag G.
inline double violation(const ReducedProblem& problem, Law law, const ConeSolution& solution) {
  const Eigen::VectorXd u = velocities(problem, solution);
  const double rho = 1.0 / std::max(problem.Rt.to_dense().rowwise().squaredNorm().mean(), 1e-300);
  const int k = edges_of(law);
  double worst = 0.0;
  for (int i = 0; i < problem.contacts(); ++i) {
    const double mu = problem.mu[i], normal = solution.lambda[3 * i] / rho, a = u[3 * i] + problem.offset[i];
    const Eigen::Vector2d t = solution.lambda.segment<2>(3 * i + 1) / rho, slip = u.segment<2>(3 * i + 1);
    double section = t.norm() - mu * normal, dissipation = 0.0;  // > 0: outside the section; dissipation short of its maximum
    double speed = slip.norm();
    if (k > 0) {
      section = speed = -kInfinity;
      for (int j = 0; j < k; ++j) {
        const double angle = 2.0 * std::numbers::pi * j / k, half = angle + std::numbers::pi / k;
        speed = std::max(speed, -slip.dot(Eigen::Vector2d(std::cos(angle), std::sin(angle))));
        section = std::max(section, t.dot(Eigen::Vector2d(std::cos(half), std::sin(half))) - mu * normal * std::cos(std::numbers::pi / k));
      }
    }
    const double size = std::max({1.0, normal, slip.norm(), std::abs(a)});
    dissipation = (slip.dot(t) + mu * normal * speed) / size;
    const double gap = relaxed(law) ? a - mu * speed : a;
    const double open = relaxed(law) ? (a * normal + slip.dot(t)) / size : a * normal / size;
    for (double value : {section, -normal, -gap, std::abs(open), relaxed(law) ? 0.0 : dissipation}) worst = std::max(worst, value);
  }
  return worst;
}

inline void expect_solved(const ReducedProblem& problem, Law law, const ConeSolution& solution, double tolerance = 1e-9) {
  EXPECT_EQ(solution.status, Status::solved) << "law " << static_cast<int>(law) << " natural map " << solution.natural_map;
  EXPECT_TRUE(solution.lambda.allFinite());
  EXPECT_LE(violation(problem, law, solution), tolerance) << "law " << static_cast<int>(law);
  EXPECT_NEAR(natural_map(problem, edges_of(law), relaxed(law), solution.lambda, solution.beta), solution.natural_map, 1e-15);
}

}  // namespace stiction::cone_testing
