#include "stiction/laws/prox_law.hpp"

#include <algorithm>

namespace stiction {

namespace {

double velocity_scale(const ReducedProblem& p) {
  return std::max({1e-300, largest_entry(p.u_free), largest_entry(p.w_free), largest_push(p.offset)});
}

}  // namespace

void solve_by_prox(const StandardForm& form, const SolverOptions& options, ProxLawWorkspace& w, Impulses& out) {
  constexpr double kMargin = 0.1;  // the certificate's residuals have other scales than the natural map's
  const ReducedProblem& p = form.problem;
  ProxOptions prox;
  prox.alpha = options.alpha;
  prox.max_iterations = options.max_sweeps;
  prox.velocity_tolerance = std::max(kMargin * options.tolerance, 1e-14) * velocity_scale(p);
  prox.edges = form.edges;
  prox.adapt = true;
  prox.warm_start = is_start(p, options, out);
  if (prox.warm_start) {
    w.solution.lambda = out.lambda;
    w.solution.beta = out.beta;
  }
  (options.solver == Solver::jor ? jor : sor)(p, prox, w.prox, w.solution);
  out.status = w.solution.status;
  out.iterations = w.solution.iterations;
  out.lambda = w.solution.lambda;
  out.beta = w.solution.beta;
}

}  // namespace stiction
