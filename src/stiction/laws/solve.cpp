#include "stiction/laws/solve.hpp"

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

// Above this many free velocities the dense factors of the active set lose against the block-sparse interior point.
constexpr int kActiveSetColumns = 96;

Solver choose_solver(const ReducedProblem& p, const SolveOptions& options) {
  if (options.solver != Solver::automatic) return options.solver;
  switch (options.law) {
    case Law::frictionless:
    case Law::no_slip:
      return p.bounded_rows() == 0 ? Solver::ppm : Solver::active_set;
    case Law::anitescu:
      return p.rank_bound() <= kActiveSetColumns ? Solver::active_set : Solver::interior_point;
    case Law::max_dissipation:
      return Solver::active_set;
    default:
      return Solver::interior_point;
  }
}

void check_options(const SolveOptions& options) {
  if (!can_solve(options.law, options.solver)) {
    throw InvalidArgument("solver", fmt::format("a solver of law {}", to_string(options.law)),
                          fmt::format("'{}'", to_string(options.solver)));
  }
  if (options.edges < 4) throw InvalidArgument("edges", "an integer >= 4", fmt::format("{}", options.edges));
  require_positive("tolerance", options.tolerance);
}

void solve_by_interior_point(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  ConeOptions cone;
  cone.edges = options.edges;
  cone.relaxed = options.law == Law::anitescu;
  cone.warm_start = options.warm_start;
  if (options.law == Law::coulomb_cone) {
    exact_cone(p, cone, w.cone, w.cone_solution);
  } else {
    interior_point(p, cone, w.cone, w.cone_solution);
  }
  out.status = w.cone_solution.status;
  out.iterations = w.cone_solution.iterations;
  out.lambda = w.cone_solution.lambda;
  out.beta = w.cone_solution.beta;
}

bool has_infinite_mu(const ReducedProblem& p) { return p.mu.size() > 0 && std::isinf(p.mu.maxCoeff()); }

// The interior point can stall on degenerate problems; Lemke's path then decides, where the LCP is small enough for it.
void solve_pyramid(const ReducedProblem& p, SolveOptions options, SolveWorkspace& w, Impulses& out) {
  solve_by_interior_point(p, options, w, out);
  constexpr int kLemkeSize = 400;
  const int size = p.contacts() * (options.edges + 2) + 2 * p.bounded_rows();
  if (out.status == Status::solved || options.solver != Solver::automatic || size > kLemkeSize || has_infinite_mu(p)) return;
  options.solver = Solver::lemke;
  const int spent = out.iterations;
  w.fallback = out;
  solve_pyramid_lcp(p, options, w.pyramid, out);
  out.iterations += spent;
  if (out.status != Status::solved) out = w.fallback;
}

}  // namespace

void solve_reduced(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  out.multipliers.resize(0);
  const Solver solver = choose_solver(p, options);
  if (p.contacts() + p.bounded_rows() == 0) {
    out.lambda.resize(0);
    out.beta.resize(0);
    out.status = Status::solved;
    out.iterations = 0;
  } else if (solver == Solver::ppm && p.bounded_rows() == 0) {
    solve_by_pivoting(p, options, w.convex, out);
  } else if (options.law == Law::max_dissipation) {
    solve_max_dissipation(p, options, w.max_dissipation, out);
  } else if (solver == Solver::active_set || solver == Solver::ppm) {
    solve_by_active_set(p, options, w.convex, out);
  } else if (solver == Solver::lemke || solver == Solver::enumerate) {
    solve_pyramid_lcp(p, options, w.pyramid, out);
  } else if (options.law == Law::coulomb_pyramid) {
    solve_pyramid(p, options, w, out);
  } else {
    solve_by_interior_point(p, options, w, out);
  }
  if (!out.lambda.allFinite() || !out.beta.allFinite()) {
    out.lambda.setZero(3 * p.contacts());
    out.beta.setZero(p.bounded_rows());
    out.status = Status::numerical_error;
  }
}

void solve(const ContactProblem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  check_options(options);
  reduce(problem, w.reduction);
  solve_reduced(w.reduction.reduced, options, w, w.impulses);
  complete(problem, options, w, solution);
}

void complete(const ContactProblem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  solution.impulses = w.impulses.lambda;
  solution.iterations = w.impulses.iterations;
  recover_velocity(w.reduction, w.impulses.lambda, w.impulses.beta, solution.v);
  expand_bounded(problem, w.reduction, w.impulses.beta, solution.bounded_impulses);
  recover_bilateral(problem, w.reduction, solution.v, solution.impulses, solution.bounded_impulses, solution.prescribed_impulses);

  certify(problem, conditions(options), solution.v, solution.impulses, solution.bounded_impulses, solution.prescribed_impulses,
          w.certificate, solution.certificate);
  if (options.law == Law::max_dissipation) {
    solution.certificate.dissipation.scaled = optimality_residual(w.reduction.reduced, options.edges, w.impulses, w.max_dissipation);
  }
  solution.status = certified_status(w.impulses.status, solution.certificate, options.tolerance);
}

Status certified_status(Status solver, const Certificate& certificate, double tolerance) {
  if (certificate.worst() <= tolerance) return Status::solved;
  return solver == Status::solved ? Status::inaccurate : solver;
}

Solution solve(const ContactProblem& problem, const SolveOptions& options) {
  validate(problem);
  SolveWorkspace workspace;
  Solution solution;
  solve(problem, options, workspace, solution);
  return solution;
}

}  // namespace stiction
