// Infinite friction where the interior point stalls: a closed form, and all patterns of small problems by enumeration.
#include "stiction/laws/held_contacts.hpp"

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::held_contacts_test {
namespace {

using namespace testing_problems;

constexpr std::array kLawsWithFriction{Law::coulomb_pyramid, Law::coulomb_cone, Law::moreau};

// A wheel's hub (x, z, y) whose contact moves along x + z: as it approaches, the force that holds its slip lifts it.
ContactProblem lifting_contact() {
  MatrixXd J(3, 3);
  J << 1, 1, 0,  //
      1, 0, 0,   //
      0, 0, 1;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(3, 3), Vector3d(-3.0, 1.0, 0.0), J, VectorXd::Constant(1, kInfinity), 1e-3);
  return p;
}

TEST(HeldContacts, FrictionThatLiftsItsContact) {
  // Free: u_N = -2, so it is not open. At rest λ = -J⁻ᵀ v = (-1, 4, 0), so u_N > 0: λ_S = 3 stops x, and z goes on.
  for (const Law law : kLawsWithFriction) {
    const Solution s = solve(lifting_contact(), with(law));
    EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << s.certificate.worst();
    EXPECT_NEAR((s.v - Vector3d(0, 1, 0)).norm(), 0.0, 1e-9) << to_string(law);
    EXPECT_NEAR((s.impulses - Vector3d(0, 3, 0)).norm(), 0.0, 1e-9) << to_string(law);
  }
}

/// Every pattern of contacts with M = I and μ = ∞: open, held without load, held with load; true when one meets all conditions.
bool has_solution(const MatrixXd& J, const VectorXd& v) {
  const int n = static_cast<int>(J.rows() / 3);
  int patterns = 1;
  for (int i = 0; i < n; ++i) patterns *= 3;
  for (int code = 0; code < patterns; ++code) {
    std::vector<int> rows;
    for (int i = 0, rest = code; i < n; ++i, rest /= 3) {
      if (rest % 3 == 2) rows.push_back(3 * i);
      if (rest % 3 > 0) rows.insert(rows.end(), {3 * i + 1, 3 * i + 2});
    }
    const MatrixXd A = J(rows, Eigen::all);
    const VectorXd force = rows.empty() ? VectorXd(0) : VectorXd((A * A.transpose()).ldlt().solve(-A * v));
    const VectorXd u = J * (v + A.transpose() * force);
    bool holds = true;
    for (int i = 0; i < n; ++i) holds = holds && u[3 * i] > -1e-9;
    for (std::size_t k = 0; k < rows.size(); ++k) holds = holds && (rows[k] % 3 != 0 || force[static_cast<Eigen::Index>(k)] > 0.0);
    if (holds) return true;
  }
  return false;
}

TEST(HeldContacts, WhateverEnumerationSolves) {
  std::mt19937 rng(3);
  std::normal_distribution<double> normal;
  const auto gaussian = [&] { return normal(rng); };
  int solvable = 0, none = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const int n = 1 + trial % 2;
    const MatrixXd J = MatrixXd::NullaryExpr(3 * n, 7, gaussian);
    const VectorXd v = VectorXd::NullaryExpr(7, gaussian);
    const ContactProblem p = make_contact_problem(MatrixXd::Identity(7, 7), v, J, VectorXd::Constant(n, kInfinity), 1e-3);
    const bool expected = has_solution(J, v);
    (expected ? solvable : none) += 1;
    for (const Law law : kLawsWithFriction) {
      const Solution s = solve(p, with(law));
      EXPECT_EQ(s.status == Status::solved, expected) << to_string(law) << " " << trial << " " << s.certificate.worst();
    }
  }
  EXPECT_GT(solvable, 100);
}

TEST(HeldContacts, AnExplicitSolverIsLeftToItself) {
  EXPECT_NE(solve(lifting_contact(), with(Law::coulomb_cone, Solver::interior_point)).status, Status::solved);
}

TEST(HeldContactsAllocation, NoneAfterWarmUp) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  for (const Law law : kLawsWithFriction) {
    SolveWorkspace workspace;
    Solution solution;
    for (int k = 0; k < 2; ++k) solve(lifting_contact(), with(law), workspace, solution);
    const ContactProblem p = lifting_contact();
    const std::size_t before = allocation_count();
    solve(p, with(law), workspace, solution);
    EXPECT_EQ(allocation_count() - before, 0u) << to_string(law);
    EXPECT_EQ(solution.status, Status::solved);
  }
}

}  // namespace
}  // namespace stiction::held_contacts_test
