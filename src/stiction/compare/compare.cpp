#include "stiction/compare/compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <ranges>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/baselines/baselines.hpp"

namespace stiction {

namespace {

const ReducedProblem& reduced_of(const ContactProblem& problem, SolveWorkspace& workspace) {
  reduce(problem, workspace.reduction);
  return workspace.reduction.reduced;
}
const ReducedProblem& reduced_of(const ReducedProblem& problem, SolveWorkspace& /*workspace*/) { return problem; }

int velocities_of(const ContactProblem& problem) { return problem.velocities(); }
int velocities_of(const ReducedProblem& /*problem*/) { return 0; }

SolveOptions solve_options(const CompareOptions& options, Law law, Solver solver) {
  SolveOptions out;
  out.law = law;
  out.solver = solver;
  out.edges = options.edges;
  out.tolerance = options.tolerance;
  out.warm_start = false;
  return out;
}

template <class Problem>
void record(const Problem& problem, const Solution& solution, std::vector<double>& times, CompareRow& row) {
  std::ranges::sort(times);
  row.microseconds = 1e6 * times[times.size() / 2];
  row.repetitions = static_cast<int>(times.size());
  row.status = solution.status;
  row.certificate = solution.certificate;
  row.iterations = solution.iterations;
  row.impulses = solution.impulses;
  row.velocity = velocities_of(problem) > 0 ? solution.v : solution.u;
}

// One run that grows the memory and is the answer, then the timed ones.
template <class Problem>
void measure(const Problem& problem, const SolveOptions& solve_with, const CompareOptions& options, SolveWorkspace& workspace,
             CompareRow& row) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const auto pause = [&] {
    if (options.between_runs) options.between_runs();
  };
  Solution solution;
  pause();
  const auto begin = Clock::now();
  solve(problem, solve_with, workspace, solution);
  std::vector<double> times{seconds_since(begin)};
  for (int k = 0; k < options.repetitions && seconds_since(begin) < options.seconds; ++k) {
    if (k == 0) times.clear();
    pause();
    const auto start = Clock::now();
    solve(problem, solve_with, workspace, solution);
    times.push_back(seconds_since(start));
  }
  record(problem, solution, times, row);
}

void compare_to(const CompareRow& reference, CompareRow& row) {
  row.difference = std::numeric_limits<double>::quiet_NaN();
  if (reference.status != Status::solved || !row.not_applicable.empty()) return;
  row.difference = row.velocity.size() == 0 ? 0.0 : (row.velocity - reference.velocity).cwiseAbs().maxCoeff();
}

std::vector<Solver> solvers_of(Law law, const CompareOptions& options) {
  std::vector<Solver> out;
  for (const Solver solver : kSolvers) {
    const bool wanted = options.solvers.empty() || std::ranges::find(options.solvers, solver) != options.solvers.end();
    const bool listed = solver != Solver::automatic || !options.solvers.empty();
    if (wanted && listed && can_solve(law, solver)) out.push_back(solver);
  }
  return out;
}

bool is_available(Law law) {
  return std::ranges::any_of(kSolvers, [&](Solver solver) { return solver != Solver::automatic && can_solve(law, solver); });
}

// Of the matrix that the solver forms; 0 where it works with R.
int dense_variables(const ReducedProblem& problem, const CompareOptions& options, Law law, Solver solver) {
  const int n = problem.contacts(), m = problem.bounded_rows();
  if (solver == Solver::lemke || solver == Solver::enumerate) return n * (options.edges + 2) + 2 * m;
  if (solver == Solver::dantzig || solver == Solver::pgs) return (row_of(law).section == Section::either ? n * options.edges : 3 * n) + m;
  return 0;
}

// Why a row must not be tried; empty when it may be.
std::string refusal(const ReducedProblem& problem, const CompareOptions& options, Law law, Solver solver) {
  const std::string missing = missing_parameter(law, problem.material);
  if (!missing.empty()) return missing + " is zero at every contact";
  const int variables = dense_variables(problem, options, law, solver);
  constexpr int kEnumerated = 14;  // a second, twice as long for each further variable
  if (solver == Solver::enumerate && variables > kEnumerated)
    return fmt::format("2^{} bases to enumerate, more than 2^{}", variables, kEnumerated);
  if (variables > options.dense_limit) return fmt::format("a dense problem of {} variables, more than {}", variables, options.dense_limit);
  return {};
}

void check(const CompareOptions& options) {
  require_positive("tolerance", options.tolerance);
  if (options.edges < 4) throw InvalidArgument("edges", "an integer >= 4", fmt::format("{}", options.edges));
  if (options.repetitions < 1) throw InvalidArgument("repetitions", "an integer >= 1", fmt::format("{}", options.repetitions));
}

template <class Problem>
class Table {
 public:
  Table(const Problem& problem, const CompareOptions& options)
      : options_(options), uniform_(problem), reduced_(reduced_of(problem, workspace_)) {
    uniform_.laws.clear();
    reduced_.laws.clear();
    out_.contacts = problem.contacts();
    out_.bounded_rows = problem.bounded_rows();
    out_.velocities = velocities_of(problem);
    stiction::measure(uniform_, solve_options(options, Law::coulomb_cone, Solver::automatic), options, workspace_, reference_);
    out_.reference = reference_.status;
  }

  void add(Law law) {
    if (!is_available(law)) {
      CompareRow row;
      row.law = to_string(law);
      row.not_applicable = "no solver of this version solves it";
      return finish(std::move(row));
    }
    if (solvers_of(law, options_).empty()) return add_unsolved(law);
    const bool lowers = missing_parameter(law, reduced_.material).empty();
    // Without its parameters the law has no program to choose a solver for; its rows are refused.
    const Solver preferred =
        lowers ? choose_solver(reduced_, solve_options(options_, law, Solver::automatic)) : solvers_of(law, options_).front();
    for (const Solver solver : solvers_of(law, options_)) add(law, solver, solver == preferred || solver == Solver::automatic);
    for (const Baseline baseline : kBaselines) {
      if (options_.baselines && is_built(baseline) && law_of(baseline) == law) add(baseline);
    }
  }

  void add_as_named(const Problem& problem) {
    if (problem.laws.empty()) return;
    CompareRow row;
    row.law = "as_named";
    row.solver = to_string(Solver::automatic);
    row.is_default = true;
    try_measure(problem, solve_options(options_, problem.laws.front(), Solver::automatic), row);
    finish(std::move(row));
  }

  Comparison result() { return std::move(out_); }

 private:
  void add_unsolved(Law law) {
    CompareRow row;
    row.law = to_string(law);
    for (const Solver solver : options_.solvers) row.solver += (row.solver.empty() ? "" : ",") + std::string(to_string(solver));
    std::string able;
    for (const Solver solver : kSolvers) {
      if (solver != Solver::automatic && can_solve(law, solver)) able += (able.empty() ? "" : ", ") + std::string(to_string(solver));
    }
    row.not_applicable = "this law is solved by " + able;
    finish(std::move(row));
  }

  void add(Law law, Solver solver, bool is_default) {
    CompareRow row;
    row.law = to_string(law);
    row.solver = to_string(solver);
    row.is_default = is_default;
    row.not_applicable = refusal(reduced_, options_, law, solver);
    if (row.not_applicable.empty()) try_measure(uniform_, solve_options(options_, law, solver), row);
    finish(std::move(row));
  }

  void add(Baseline baseline) {
    CompareRow row;
    row.law = to_string(law_of(baseline));
    row.solver = to_string(baseline);
    try {
      measure(baseline, row);
    } catch (const InvalidArgument& error) {
      row.not_applicable = error.what();
    }
    finish(std::move(row));
  }

  // The peer's own clock; its impulses completed and certified as ours are.
  void measure(Baseline baseline, CompareRow& row) {
    BaselineOptions peer;
    peer.tolerance = options_.tolerance;
    peer.edges = options_.edges;
    const ReducedProblem& reduced = reduced_of(uniform_, workspace_);
    std::vector<double> times;
    BaselineSolution answer;
    double spent = 0.0;
    while (times.empty() || (static_cast<int>(times.size()) < options_.repetitions && spent < options_.seconds)) {
      answer = solve_by_baseline(baseline, reduced, peer);
      times.push_back(answer.seconds);
      spent += answer.seconds;
    }
    workspace_.impulses.lambda = answer.lambda;
    workspace_.impulses.beta.resize(0);
    workspace_.impulses.multipliers.resize(0);
    workspace_.impulses.iterations = answer.iterations;
    workspace_.impulses.status = answer.converged ? Status::solved : Status::iteration_limit;
    Solution solution;
    complete(uniform_, solve_options(options_, law_of(baseline), Solver::automatic), workspace_, solution);
    record(uniform_, solution, times, row);
  }

  void try_measure(const Problem& problem, const SolveOptions& solve_with, CompareRow& row) {
    try {
      stiction::measure(problem, solve_with, options_, workspace_, row);
    } catch (const InvalidArgument& error) {
      row.not_applicable = error.what();
    }
  }

  void finish(CompareRow row) {
    compare_to(reference_, row);
    out_.rows.push_back(std::move(row));
  }

  const CompareOptions& options_;
  SolveWorkspace workspace_;
  Problem uniform_;  ///< every contact under the law of the row
  ReducedProblem reduced_;
  CompareRow reference_;
  Comparison out_;
};

template <class Problem>
Comparison compare_any(const Problem& problem, const CompareOptions& options) {
  check(options);
  validate(problem);
  Table<Problem> table(problem, options);
  table.add_as_named(problem);
  for (const Law law : kLaws) {
    if (options.laws.empty() || std::ranges::find(options.laws, law) != options.laws.end()) table.add(law);
  }
  return table.result();
}

std::string microseconds(double us) { return us < 1e4 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us); }

}  // namespace

std::string missing_parameter(Law law, std::span<const ContactMaterial> material) {
  const std::string_view needs = row_of(law).needs;
  for (const MaterialField& field : kMaterialFields) {
    const auto absent = [&](const ContactMaterial& m) { return m.*field.member == 0.0; };
    for (const auto word : std::views::split(needs, ' ')) {
      if (std::string_view(word.begin(), word.end()) == field.name && std::ranges::all_of(material, absent))
        return fmt::format("material.{}", field.name);
    }
  }
  return {};
}

Comparison compare(const ContactProblem& problem, const CompareOptions& options) { return compare_any(problem, options); }
Comparison compare(const ReducedProblem& problem, const CompareOptions& options) { return compare_any(problem, options); }

std::string to_text(const Comparison& comparison) {
  constexpr const char* kLine = "{:<21} {:<20} {:<15} {:>9} {:>9} {:>11} {:>9} {:>9} {:>11} {:>11} {:>6} {:>10} {:>13}\n";
  std::string out = fmt::format(kLine, "law", "solver", "status", "worst", "momentum", "penetration", "complem.", "cone", "dissipation",
                                "natural map", "iter", "us", "|v - v_exact|");
  out += fmt::format(kLine, "", "", "", "scaled", "N s", "m/s", "J", "N s", "J", "m/s", "", "", "m/s, rad/s");
  std::string refused;
  for (const CompareRow& row : comparison.rows) {
    if (!row.not_applicable.empty()) {
      refused += fmt::format("{:<21} {:<20} not applicable: {}\n", row.law, row.solver, row.not_applicable);
      continue;
    }
    const Certificate& c = row.certificate;
    const auto e = [](double x) { return fmt::format("{:.1e}", x); };
    out += fmt::format(kLine, row.law, row.solver + (row.is_default ? " *" : ""), to_string(row.status), e(c.worst()), e(c.momentum.raw),
                       e(c.penetration.raw), e(c.normal_complementarity.raw), e(c.cone.raw), e(c.dissipation.raw), e(c.natural_map.raw),
                       row.iterations, microseconds(row.microseconds), std::isnan(row.difference) ? "-" : e(row.difference));
  }
  out += refused;
  out += "* default solver of the law; times: median of cold runs.";
  if (comparison.reference != Status::solved)
    out += fmt::format(" No difference: coulomb_cone ended as {}.", to_string(comparison.reference));
  return out;
}

}  // namespace stiction
