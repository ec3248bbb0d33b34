// stiction solve FILE: one saved contact problem under a law, with its certificate.
#include <chrono>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/contact_table.hpp"
#include "cli/problem_options.hpp"
#include "cli/solve_lcp.hpp"
#include "stiction/io/problem_file.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/problem/indeterminacy.hpp"

namespace stiction::cli {
namespace {

// Contacts up to which the indeterminacy is sought unasked: its linear programs are dense, and from here on they outlast the solve.
constexpr Eigen::Index kIndeterminacyContacts = 200;

struct SolveCommand : ProblemOptions {
  bool intervals = false, symmetric_part = false, verbose = false;
};

struct Answer {
  Solution solution;
  std::string_view solver;  ///< that ran
  double microseconds = 0.0;
  std::optional<Indeterminacy> indeterminacy;  ///< where it was sought
  Promises promises;
  std::vector<ConeRecord> log;  ///< of the solver interior_point
};

/// What was solved, and of it the part with most contacts, which is all of it where nothing falls apart.
struct Reduced {
  const ReducedProblem &whole, &largest;
};

Reduced reduced_of(const ContactProblem& problem, const SolveOptions& options, const Solution& solution, SolveWorkspace& workspace) {
  const bool whole = workspace.reduced_whole;
  reduce_whole(problem, options, solution, workspace);
  return {workspace.reduction.reduced, whole ? workspace.reduction.reduced : workspace.workers.front().reduction.reduced};
}
Reduced reduced_of(const ReducedProblem& problem, const SolveOptions&, const Solution&, SolveWorkspace&) { return {problem, problem}; }

void set_log(SolveWorkspace& workspace, std::vector<ConeRecord>* log) {
  workspace.interior.log = log;
  for (SolveWorkspace& worker : workspace.workers) worker.interior.log = log;
}

/// Solves once to warm the memory up, once for the log where it is wanted, and once for the clock, all from a cold start.
template <class Problem>
Answer answer(const Problem& problem, SolveOptions options, const SolveCommand& command) {
  options.warm_start = false;
  SolveWorkspace workspace;
  Answer out;
  solve(problem, options, workspace, out.solution);
  if (command.verbose) {
    set_log(workspace, &out.log);
    solve(problem, options, workspace, out.solution);
    set_log(workspace, nullptr);
  }
  const auto start = std::chrono::steady_clock::now();
  solve(problem, options, workspace, out.solution);
  out.microseconds = 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto [reduced, largest] = reduced_of(problem, options, out.solution, workspace);
  out.solver = to_string(choose_solver(largest, options));
  if (command.intervals || reduced.contacts() <= kIndeterminacyContacts) {
    IndeterminacyOptions which;
    which.normal_intervals = command.intervals;
    out.indeterminacy = indeterminacy(reduced, lowered(reduced, options), workspace.impulses.lambda, workspace.impulses.beta, which);
  }
  out.promises = promises_of(problem, lowered(problem, options));
  return out;
}

/// `velocity` is v⁺, or the contact velocities of a problem without inertia.
std::string answer_to_json(const SolveCommand& command, const Answer& a) {
  const Solution& s = a.solution;
  nlohmann::ordered_json out;
  out["status"] = to_string(s.status);
  out["law"] = command.law;
  out["solver"] = a.solver;
  out["contacts"] = s.impulses.size() / 3;
  out["iterations"] = s.iterations;
  out["fallbacks"] = s.fallbacks;
  out["microseconds"] = a.microseconds;
  out["impulses"] = list(s.impulses);
  out["velocity"] = list(s.v.size() > 0 ? s.v : s.u);
  out["contact_velocity"] = list(s.u);
  out["contact_modes"] = contact_modes(s);
  out["bounded_impulses"] = list(s.bounded_impulses);
  if (s.multipliers.size() > 0) out["multipliers"] = list(s.multipliers);
  out["certificate"] = certificate_json(s.certificate);
  if (a.indeterminacy) {
    out["indeterminacy"]["dimension"] = a.indeterminacy->dimension;
    out["indeterminacy"]["complete"] = a.indeterminacy->complete;
    if (command.intervals) {
      out["indeterminacy"]["normal_min"] = list(a.indeterminacy->normal_min);
      out["indeterminacy"]["normal_max"] = list(a.indeterminacy->normal_max);
    }
  }
  return out.dump(2);
}

const char* name_of(ConePhase phase) {
  if (phase == ConePhase::newton) return "newton";
  return phase == ConePhase::path ? "path" : "smoothing";
}

void print(const std::vector<ConeRecord>& log) {
  if (log.empty()) return;
  fmt::print("{:>6} {:9} {:>14} {:>18} {:>10}\n", "system", "phase", "product (J)", "natural map (m/s)", "step");
  for (const ConeRecord& r : log) {
    fmt::print("{:>6} {:9} {:>14.2e} {:>18.2e} {:>10.2g}\n", r.iteration, name_of(r.phase), r.mean_product, r.natural_map, r.step);
  }
}

void print(const SolveCommand& command, const Answer& a) {
  print(a.log);
  const Solution& s = a.solution;
  const Eigen::Index n = s.impulses.size() / 3;
  fmt::print("{}: {} contacts, law {}, solver {}: {} after {} iterations, {:.1f} us\n", command.file, n, command.law, a.solver,
             to_string(s.status), s.iterations, a.microseconds);
  constexpr Eigen::Index kMostContacts = 40;  // a screen
  fmt::print("{}", contact_table(s, a.indeterminacy.value_or(Indeterminacy{}), kMostContacts));
  for (Eigen::Index j = 0; j < std::min(s.bounded_impulses.size(), kMostContacts); ++j) {
    fmt::print("{:>7}  row {:>3} {:>13.6g}\n", "", j, s.bounded_impulses[j]);
  }
  fmt::print("{}\n", certificate_text(s.certificate, a.promises));
  if (!a.indeterminacy) {
    fmt::print("--intervals: whether other impulses give the same motion too, which takes long for so many contacts\n");
  } else if (a.indeterminacy->dimension > 0) {
    fmt::print("other impulses give the same motion too: a set of dimension {}{}\n", a.indeterminacy->dimension,
               command.intervals ? "" : " (--intervals: how far each normal impulse can go)");
  }
  if (a.indeterminacy && !a.indeterminacy->complete)
    fmt::print("rounding has lost part of that set: its dimension and intervals are not sure\n");
}

int run(SolveCommand command, const Session& session) {
  require_distinct({{"FILE", command.file}, {"--json", session.json.value_or("")}});
  if (holds_lcp(command.file)) return solve_lcp(command, session);
  const AnyProblem problem = load_problem(command.file, {.symmetric_part = command.symmetric_part});
  const SolveOptions options = std::visit([&](const auto& p) { return command.to_solve_options(p.laws); }, problem);
  const Answer a = std::visit([&](const auto& p) { return answer(p, options, command); }, problem);
  command.law = std::visit([&](const auto& p) { return command.obeyed(p.laws); }, problem);
  if (session.json) write_text(*session.json, answer_to_json(command, a));
  if (session.prints_table()) print(command, a);
  return a.solution.status == Status::solved ? kOk : kNumericalFailure;
}

}  // namespace

void add_solve(CLI::App& app, Session& session) {
  CLI::App& sub = add_subcommand(app, "solve", "Solve a saved contact problem under a law, or a linear complementarity problem", session);
  auto command = std::make_shared<SolveCommand>();
  add_problem_options(sub, *command);
  sub.add_flag("--symmetric-part", command->symmetric_part, "Of a file with an asymmetric W: (W + W^T)/2 in its place");
  sub.add_flag("--verbose", command->verbose, "One line for every iteration of solver interior_point, connected parts one after the other");
  sub.add_flag("--intervals", command->intervals, "Least and largest normal impulse of every contact with the same motion");
  sub.callback([command, &session] { session.run = [command, &session] { return run(*command, session); }; });
}

}  // namespace stiction::cli
