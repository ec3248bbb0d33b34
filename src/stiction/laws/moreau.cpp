#include "stiction/laws/moreau.hpp"

#include <algorithm>

#include "stiction/problem/newton_impact.hpp"

namespace stiction {

namespace {

double velocity_scale(const ReducedProblem& p) {
  double scale = 1e-300;
  for (const GrowVector* x : {&p.u_free, &p.w_free, &p.offset}) {
    if (x->size() > 0) scale = std::max(scale, x->cwiseAbs().maxCoeff());
  }
  return scale;
}

}  // namespace

void solve_by_prox(const ReducedProblem& p, const SolveOptions& options, ProxLawWorkspace& w, Impulses& out) {
  constexpr double kMargin = 0.1;  // the certificate's residuals have other scales than the natural map's
  ProxOptions prox;
  prox.alpha = options.alpha;
  prox.max_iterations = options.max_sweeps;
  prox.velocity_tolerance = std::max(kMargin * options.tolerance, 1e-14) * velocity_scale(p);
  prox.edges = options.law == Law::coulomb_pyramid ? options.edges : 0;
  prox.friction = options.law != Law::frictionless;
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

void make_moreau_problem(const ReducedProblem& p, MoreauWorkspace& w) {
  std::vector<int>& contacts = w.closed.contacts;
  contacts.clear();
  for (int i = 0; i < p.contacts(); ++i) {
    if (closed_at_midpoint(p, i)) contacts.push_back(i);
  }
  select_contacts(p, w.closed);
  ReducedProblem& out = w.closed.problem;
  out.offset.setZero();
  out.closed.assign(contacts.size(), 1);
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    out.u_free.segment<3>(3 * static_cast<Eigen::Index>(k)) += impact_shift(p, contacts[k]);
  }
}

void expand_moreau(const ReducedProblem& p, const MoreauWorkspace& w, Impulses& out) {
  expand_contacts(w.closed, p.contacts(), w.impulses.lambda, out.lambda);
  out.beta = w.impulses.beta;
  out.status = w.impulses.status;
  out.iterations = w.impulses.iterations;
}

}  // namespace stiction
