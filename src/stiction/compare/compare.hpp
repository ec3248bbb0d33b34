// Every law, every solver, one contact problem: the same residuals, computed by the same code, side by side.
//
// A row is a law with a solver that solves it (`can_solve`). Times are medians of runs from a cold start with memory that has grown; a
// problem with its inertia is timed from M and J (reduction, solve, recovery, certificate), one known by its contacts alone from R.
// `difference` is max |v⁺ - v⁺_exact| over the velocities (m/s, rad/s; contact velocities where the problem has no inertia), the exact law
// being coulomb_cone under its default solver. A law whose parameters no contact of the problem has is a row without numbers that says
// which parameter is missing; so is a solver that refuses the problem. Contacts that name their own law (ContactProblem::laws) keep it in
// the row `as_named`; in all other rows every contact follows the law of the row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stiction/io/problem_file.hpp"
#include "stiction/laws/solve.hpp"

namespace stiction {

struct CompareOptions {
  std::vector<Law> laws{};               ///< empty: every law
  std::vector<Solver> solvers{};         ///< empty: every solver of each law
  double tolerance = 1e-9;               ///< largest scaled residual that counts as solved
  int edges = 4;                         ///< of the polygonal laws
  int repetitions = 5;                   ///< timed runs per row, >= 1
  double seconds = 0.5;                  ///< a row is not repeated once it took this long
  bool baselines = false;                ///< also the solvers of other projects that this build has (baselines/baselines.hpp)
  int dense_limit = 1200;                ///< variables beyond which solvers that form a dense matrix are left out
  std::function<void()> between_runs{};  ///< called before every solve; may throw, to end the comparison
};

struct CompareRow {
  std::string law, solver;
  bool is_default = false;     ///< the solver that `automatic` stands for
  std::string not_applicable;  ///< reason, when the row has no numbers; empty otherwise
  Status status = Status::numerical_error;
  Certificate certificate;
  int iterations = 0;
  double microseconds = 0.0;  ///< median
  int repetitions = 0;        ///< runs that the median is of
  double difference = 0.0;    ///< NaN when the exact law was not solved
  Eigen::VectorXd impulses;   ///< 3n (N s)
  Eigen::VectorXd velocity;   ///< nv, or 3n without inertia
};

struct Comparison {
  int contacts = 0, bounded_rows = 0;
  int velocities = 0;                          ///< 0: the problem is known by its contacts alone
  Status reference = Status::numerical_error;  ///< of the exact law's solve
  std::vector<CompareRow> rows;
};

/// Validates the problem; throws InvalidArgument on it and on options out of range.
Comparison compare(const ContactProblem& problem, const CompareOptions& options = {});
Comparison compare(const ReducedProblem& problem, const CompareOptions& options = {});

/// The parameter that the law reads and that is zero at every contact, e.g. "material.viscosity"; empty when there is none.
std::string missing_parameter(Law law, std::span<const ContactMaterial> material);

/// One line per row under a header, default solvers marked, then the rows that do not apply with their reasons.
std::string to_text(const Comparison& comparison);

}  // namespace stiction
