// The table has a row for every law and solver; its figures are those of `solve`; what does not apply says why.
#include "stiction/compare/compare.hpp"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::compare_test {
namespace {

using testing::HasSubstr;

CompareOptions quick() {
  CompareOptions options;
  options.repetitions = 1;
  return options;
}

ContactProblem sliding_box() { return testing_problems::box_on_slope(2.0, {0.1, 0.2, 0.1}, 0.2, 0.3, 1e-3, {-0.5, 0.0, 0.0}); }

std::vector<CompareRow> rows_of(const Comparison& comparison, Law law) {
  std::vector<CompareRow> out;
  std::ranges::copy_if(comparison.rows, std::back_inserter(out), [&](const CompareRow& row) { return row.law == to_string(law); });
  return out;
}

TEST(Compare, HasARowForEveryLawAndEverySolverOfIt) {
  const Comparison comparison = compare(sliding_box(), quick());
  EXPECT_EQ(comparison.contacts, 4);
  EXPECT_EQ(comparison.velocities, 6);
  EXPECT_EQ(comparison.reference, Status::solved);
  for (const Law law : kLaws) {
    const auto rows = rows_of(comparison, law);
    const auto solvers = std::ranges::count_if(kSolvers, [&](Solver s) { return s != Solver::automatic && can_solve(law, s); });
    EXPECT_EQ(rows.size(), std::max<std::size_t>(1, static_cast<std::size_t>(solvers))) << to_string(law);
    EXPECT_EQ(std::ranges::count_if(rows, &CompareRow::is_default), solvers > 0 ? 1 : 0) << to_string(law);
  }
}

TEST(Compare, FiguresAreThoseOfSolve) {
  const ContactProblem problem = sliding_box();
  const Comparison comparison = compare(problem, quick());
  SolveOptions options;
  options.law = Law::coulomb_cone;
  const Solution exact = solve(problem, options);
  options.law = Law::frictionless;
  options.solver = Solver::goldfarb_idnani;
  const Solution smooth = solve(problem, options);
  for (const CompareRow& row : comparison.rows) {
    if (row.law != "frictionless" || row.solver != "goldfarb_idnani") continue;
    EXPECT_EQ(row.status, Status::solved);
    EXPECT_EQ(row.iterations, smooth.iterations);
    EXPECT_EQ(row.impulses, smooth.impulses);
    EXPECT_EQ(row.velocity, smooth.v);
    EXPECT_EQ(row.certificate.worst(), smooth.certificate.worst());
    EXPECT_EQ(row.difference, (smooth.v - exact.v).cwiseAbs().maxCoeff());
    EXPECT_NEAR(row.difference, 1e-3 * 0.3 * 9.81 * std::cos(0.2), 1e-12);  // what friction takes from the sliding speed
    EXPECT_GT(row.microseconds, 0.0);
  }
}

TEST(Compare, TheExactLawDiffersFromItselfByNothing) {
  for (const CompareRow& row : rows_of(compare(sliding_box(), quick()), Law::coulomb_cone)) {
    EXPECT_EQ(row.status, Status::solved) << row.solver;
    EXPECT_LT(row.difference, 1e-9) << row.solver;
  }
}

TEST(Compare, AProblemKnownByItsContactsAloneGivesTheSameImpulses) {
  const ContactProblem problem = sliding_box();
  Reduction reduction;
  reduce(problem, reduction);
  const Comparison full = compare(problem, quick()), reduced = compare(reduction.reduced, quick());
  EXPECT_EQ(reduced.velocities, 0);
  ASSERT_EQ(full.rows.size(), reduced.rows.size());
  for (std::size_t k = 0; k < full.rows.size(); ++k) {
    EXPECT_EQ(full.rows[k].law, reduced.rows[k].law);
    EXPECT_EQ(full.rows[k].not_applicable, reduced.rows[k].not_applicable);
    if (!full.rows[k].not_applicable.empty()) continue;
    EXPECT_EQ(full.rows[k].impulses, reduced.rows[k].impulses);
    const Eigen::VectorXd u = problem.J.to_dense() * full.rows[k].velocity;
    EXPECT_LT((u - reduced.rows[k].velocity).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(Compare, MissingParametersAreNamed) {
  EXPECT_EQ(missing_parameter(Law::viscous, {}), "material.viscosity");
  std::vector<ContactMaterial> material(2);
  EXPECT_EQ(missing_parameter(Law::sap, material), "material.stiffness");
  material[1].stiffness = 1e4;
  EXPECT_EQ(missing_parameter(Law::sap, material), "");
  EXPECT_EQ(missing_parameter(Law::stick_slip_spring, material), "material.stiffness_tangential");
  for (const Law law : {Law::frictionless, Law::coulomb_cone, Law::moreau, Law::anitescu}) EXPECT_EQ(missing_parameter(law, {}), "");
  const Comparison comparison = compare(sliding_box(), quick());
  for (const CompareRow& row : rows_of(comparison, Law::hunt_crossley)) EXPECT_NE(row.not_applicable, "");
  EXPECT_THAT(to_text(comparison), HasSubstr("not applicable: "));
}

TEST(Compare, ASolverThatRefusesTheProblemSaysWhy) {
  ContactProblem problem = sliding_box();
  problem.mu.setConstant(kInfinity);
  CompareOptions options = quick();
  options.laws = {Law::coulomb_pyramid};
  options.solvers = {Solver::lemke};
  const Comparison comparison = compare(problem, options);
  ASSERT_EQ(comparison.rows.size(), 1U);
  EXPECT_THAT(comparison.rows[0].not_applicable, HasSubstr("mu"));
  options.dense_limit = 10;
  EXPECT_THAT(compare(sliding_box(), options).rows[0].not_applicable, HasSubstr("dense problem of 24 variables"));
}

TEST(Compare, LawsThatContactsNameAreARowOfTheirOwn) {
  ContactProblem problem = sliding_box();
  problem.laws.assign(4, Law::frictionless);
  const Comparison same = compare(problem, quick());
  EXPECT_EQ(same.rows.front().law, "as_named");
  EXPECT_EQ(same.rows.front().impulses, rows_of(same, Law::frictionless).front().impulses);
  EXPECT_GT(rows_of(same, Law::coulomb_cone).front().impulses.cwiseAbs().maxCoeff(), 0.0);
  problem.laws.back() = Law::coulomb_cone;
  const Comparison mixed = compare(problem, quick());
  EXPECT_EQ(mixed.rows.front().status, Status::solved);
  EXPECT_GT((mixed.rows.front().impulses - same.rows.front().impulses).norm(), 1e-6);
  problem.laws.back() = Law::max_dissipation;
  EXPECT_THAT(compare(problem, quick()).rows.front().not_applicable, HasSubstr("max_dissipation (contact 3)"));
}

TEST(Compare, ChosenLawsAndSolversOnly) {
  CompareOptions options = quick();
  options.laws = {Law::anitescu, Law::frictionless};
  options.solvers = {Solver::active_set};
  const Comparison comparison = compare(sliding_box(), options);
  ASSERT_EQ(comparison.rows.size(), 2U);
  EXPECT_EQ(comparison.rows[0].law, "frictionless");
  EXPECT_EQ(comparison.rows[1].law, "anitescu");
  options.edges = 3;
  EXPECT_THROW(compare(sliding_box(), options), InvalidArgument);
  options = quick();
  options.repetitions = 0;
  EXPECT_THROW(compare(sliding_box(), options), InvalidArgument);
}

TEST(Compare, ALawThatNoneOfTheChosenSolversSolvesSaysWhichDo) {
  CompareOptions options = quick();
  options.laws = {Law::coulomb_cone};
  options.solvers = {Solver::lemke, Solver::enumerate};
  const Comparison comparison = compare(sliding_box(), options);
  ASSERT_EQ(comparison.rows.size(), 1U);
  EXPECT_EQ(comparison.rows[0].solver, "lemke,enumerate");
  EXPECT_THAT(comparison.rows[0].not_applicable, HasSubstr("interior_point"));
}

TEST(Compare, CanBeEndedBetweenRuns) {
  CompareOptions options = quick();
  int runs = 0;
  options.between_runs = [&runs] {
    if (++runs == 3) throw std::runtime_error("interrupted");
  };
  EXPECT_THROW(compare(sliding_box(), options), std::runtime_error);
  EXPECT_EQ(runs, 3);
}

TEST(Compare, NothingToTouchIsSolvedByEveryLaw) {
  const ContactProblem problem =
      make_contact_problem(Eigen::MatrixXd::Identity(2, 2), Eigen::Vector2d(1, 2), Eigen::MatrixXd(0, 2), Eigen::VectorXd(0), 0.1);
  for (const CompareRow& row : compare(problem, quick()).rows) {
    if (!row.not_applicable.empty()) continue;
    EXPECT_EQ(row.status, Status::solved) << row.law;
    EXPECT_EQ(row.difference, 0.0) << row.law;
  }
}

}  // namespace
}  // namespace stiction::compare_test
