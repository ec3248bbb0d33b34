// Every solver of a law gives the same motion on problems whose motion is certified unique.
//
// With G >= m I and |G_T| <= L (rows of the tangents) the map λ -> G λ + q + μ |u_T| e_N of Signorini-Coulomb is strongly monotone when
// μ L < m: one solution, for the disc and for every polygon inside it. Convex laws need no such condition.
#include <map>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "stiction/laws/solve.hpp"
#include "tests/random_problems.hpp"

namespace stiction::agreement_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using random_problems::Generator;

constexpr int kProblems = 1000;

// m - μ L of the projected Delassus matrix; positive when the solution is unique.
double uniqueness_margin(const ContactProblem& p) {
  const MatrixXd J = p.J.to_dense(), M = p.M.to_dense();
  const MatrixXd G = J * M.llt().solve(J.transpose());
  MatrixXd tangents(2 * p.contacts(), G.cols());
  for (Index i = 0; i < p.contacts(); ++i) tangents.middleRows<2>(2 * i) = G.middleRows<2>(3 * i + 1);
  const double least = Eigen::SelfAdjointEigenSolver<MatrixXd>(G, Eigen::EigenvaluesOnly).eigenvalues()[0];
  return least - p.mu.maxCoeff() * std::sqrt((tangents * tangents.transpose()).trace());
}

ContactProblem well_conditioned(Generator& random) {
  const int n = random.integer(1, 3), nv = 3 * n + random.integer(0, 3);
  const auto normal = [&] { return random.normal(); };
  const MatrixXd a = 0.2 * MatrixXd::NullaryExpr(nv, nv, normal);
  MatrixXd J = 0.05 * MatrixXd::NullaryExpr(3 * n, nv, normal);
  J.leftCols(3 * n) += MatrixXd::Identity(3 * n, 3 * n);
  const Eigen::VectorXd v = Eigen::VectorXd::NullaryExpr(nv, normal);
  ContactProblem p = make_contact_problem(MatrixXd::Identity(nv, nv) + 0.1 * a * a.transpose(), v, J,
                                          Eigen::VectorXd::NullaryExpr(n, [&] { return random.uniform(0.02, 0.3); }), 1e-3);
  ContactMaterial material;
  material.viscosity = 100.0;
  material.stiffness = 1e5;
  material.stiffness_tangential = 1e5;
  material.damping = material.damping_tangential = 50.0;
  material.dissipation_time = 0.01;
  material.regularization = 0.05;
  p.material.assign(n, material);
  return p;
}

std::vector<ContactProblem> unique_problems() {
  std::vector<ContactProblem> out;
  for (unsigned seed = 1; static_cast<int>(out.size()) < kProblems; ++seed) {
    Generator random(seed);
    ContactProblem p = well_conditioned(random);
    if (uniqueness_margin(p) > 0.05) out.push_back(std::move(p));
  }
  return out;
}

struct Tally {
  int solved = 0;
  double farthest = 0.0;  // |v - v of the law's default solver|
};

TEST(Agreement, EverySolverOfALawGivesTheSameMotion) {
  const std::vector<ContactProblem> problems = unique_problems();
  for (const Law law : kLaws) {
    std::map<Solver, Tally> tallies;
    for (std::size_t k = 0; k < problems.size(); ++k) {
      SolveOptions options;
      options.law = law;
      options.tolerance = 1e-10;
      const Solution reference = solve(problems[k], options);
      ASSERT_EQ(reference.status, Status::solved) << to_string(law) << ", problem " << k << ": " << reference.certificate.worst();
      for (const Solver solver : kSolvers) {
        if (solver == Solver::automatic || !can_solve(law, solver)) continue;
        if (solver == Solver::enumerate && problems[k].contacts() > 1) continue;  // exponential
        options.solver = solver;
        const Solution other = solve(problems[k], options);
        Tally& tally = tallies[solver];
        if (other.status != Status::solved) continue;
        ++tally.solved;
        tally.farthest = std::max(tally.farthest, (other.v - reference.v).lpNorm<Eigen::Infinity>());
      }
    }
    for (const auto& [solver, tally] : tallies) {
      EXPECT_LE(tally.farthest, 1e-8) << to_string(law) << " by " << to_string(solver);
      const bool iterative = solver == Solver::pgs || solver == Solver::jor || solver == Solver::sor;
      EXPECT_GE(tally.solved, solver == Solver::enumerate ? 250 : iterative ? 900 : 1000) << to_string(law) << " by " << to_string(solver);
    }
  }
}

}  // namespace
}  // namespace stiction::agreement_test
