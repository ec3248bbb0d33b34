// stiction solve FILE: one saved contact problem under a law, with its certificate.
#include <chrono>
#include <memory>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/problem_options.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/problem/indeterminacy.hpp"
#include "stiction/problem/io.hpp"
#include "stiction/problem/reduced_certificate.hpp"

namespace stiction::cli {
namespace {

struct SolveCommand : ProblemOptions {
  bool intervals = false;
};

struct Answer {
  Status status = Status::numerical_error;
  int contacts = 0, iterations = 0;
  double microseconds = 0.0;
  Eigen::VectorXd impulses, velocity;  ///< velocity: nv, or 3n contact velocities for a problem without inertia
  Certificate certificate;
  Indeterminacy indeterminacy;
};

/// Solves once to warm the memory up and once for the clock, both from a cold start.
Answer answer(const ContactProblem& problem, SolveOptions options, bool intervals) {
  options.warm_start = false;
  SolveWorkspace workspace;
  Solution solution;
  solve(problem, options, workspace, solution);
  const auto start = std::chrono::steady_clock::now();
  solve(problem, options, workspace, solution);
  Answer out;
  out.microseconds = 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  out.status = solution.status;
  out.contacts = problem.contacts();
  out.iterations = solution.iterations;
  out.impulses = solution.impulses;
  out.velocity = solution.v;
  out.certificate = solution.certificate;
  IndeterminacyOptions which;
  which.normal_intervals = intervals;
  out.indeterminacy =
      indeterminacy(workspace.reduction.reduced, conditions(options), workspace.impulses.lambda, workspace.impulses.beta, which);
  return out;
}

Answer answer(const ReducedProblem& problem, SolveOptions options, bool intervals) {
  options.warm_start = false;
  SolveWorkspace workspace;
  Impulses impulses;
  solve_reduced(problem, options, workspace, impulses);
  const auto start = std::chrono::steady_clock::now();
  solve_reduced(problem, options, workspace, impulses);
  Answer out;
  out.certificate = certify(problem, conditions(options), impulses.lambda, impulses.beta);
  out.microseconds = 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  out.status = certified_status(impulses.status, out.certificate, options.tolerance);
  out.contacts = problem.contacts();
  out.iterations = impulses.iterations;
  out.impulses = impulses.lambda;
  GrowVector u;
  contact_velocities(problem, impulses.lambda, impulses.beta, u);
  out.velocity = u;
  IndeterminacyOptions which;
  which.normal_intervals = intervals;
  out.indeterminacy = indeterminacy(problem, conditions(options), impulses.lambda, impulses.beta, which);
  return out;
}

std::vector<double> list(const Eigen::Ref<const Eigen::VectorXd>& x) { return {x.data(), x.data() + x.size()}; }

std::string to_json(const SolveCommand& command, const Answer& a) {
  nlohmann::ordered_json out;
  out["status"] = to_string(a.status);
  out["law"] = command.law;
  out["solver"] = command.solver;
  out["contacts"] = a.contacts;
  out["iterations"] = a.iterations;
  out["microseconds"] = a.microseconds;
  out["impulses"] = list(a.impulses);
  out["velocity"] = list(a.velocity);
  out["certificate"] = certificate_json(a.certificate);
  out["indeterminacy"]["dimension"] = a.indeterminacy.dimension;
  if (command.intervals) {
    out["indeterminacy"]["normal_min"] = list(a.indeterminacy.normal_min);
    out["indeterminacy"]["normal_max"] = list(a.indeterminacy.normal_max);
  }
  return out.dump(2);
}

void print(const SolveCommand& command, const Answer& a) {
  fmt::print("{}: {} contacts, law {}, solver {}: {} after {} iterations, {:.1f} us\n", command.file, a.contacts, command.law,
             command.solver, to_string(a.status), a.iterations, a.microseconds);
  fmt::print("{}\n", certificate_text(a.certificate));
  fmt::print("indeterminacy: the impulses with this motion form a set of dimension {}\n", a.indeterminacy.dimension);
  if (!command.intervals) return;
  fmt::print("{:>8} {:>14} {:>14} {:>14}  (N s)\n", "contact", "normal", "least", "most");
  for (int i = 0; i < a.contacts; ++i) {
    fmt::print("{:>8} {:>14.6e} {:>14.6e} {:>14.6e}\n", i, a.impulses[3 * i], a.indeterminacy.normal_min[i], a.indeterminacy.normal_max[i]);
  }
}

int run(const SolveCommand& command, const Session& session) {
  const AnyProblem problem = load_problem(command.file);
  const SolveOptions options = command.to_solve_options();
  const Answer a = std::visit([&](const auto& p) { return answer(p, options, command.intervals); }, problem);
  if (session.json) write_text(*session.json, to_json(command, a));
  if (!session.quiet && (!session.json || *session.json != "-")) print(command, a);
  return a.status == Status::solved ? kOk : kNumericalFailure;
}

}  // namespace

void add_solve(CLI::App& app, Session& session) {
  CLI::App& sub = add_subcommand(app, "solve", "Solve a saved contact problem under a law", session);
  auto command = std::make_shared<SolveCommand>();
  add_problem_options(sub, *command);
  sub.add_flag("--intervals", command->intervals, "Least and largest normal impulse of every contact with the same motion");
  sub.callback([command, &session] { session.run = [command, &session] { return run(*command, session); }; });
}

}  // namespace stiction::cli
