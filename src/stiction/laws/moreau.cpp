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

void copy_group(const BlockRows& from, int i, BlockRows& to) {
  to.add_group();
  for (int e = from.entry_begin(i); e < from.entry_end(i); ++e) to.add_entry(from.entry_block(e)) = from.entry(e);
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
  prox.warm_start = options.warm_start;
  (options.solver == Solver::jor ? jor : sor)(p, prox, w.prox, w.solution);
  out.status = w.solution.status;
  out.iterations = w.solution.iterations;
  out.lambda = w.solution.lambda;
  out.beta = w.solution.beta;
}

void make_moreau_problem(const ReducedProblem& p, MoreauWorkspace& w) {
  w.contacts.clear();
  for (int i = 0; i < p.contacts(); ++i) {
    if (closed_at_midpoint(p, i)) w.contacts.push_back(i);
  }
  ReducedProblem& out = w.closed;
  const Eigen::Index n = static_cast<Eigen::Index>(w.contacts.size());
  out.Rt.reset(3, p.Rt.block_sizes());
  out.u_free.resize(3 * n);
  out.offset.setZero(n);
  out.mu.resize(n);
  out.closed.assign(w.contacts.size(), 1);
  for (Eigen::Index k = 0; k < n; ++k) {
    const int i = w.contacts[static_cast<std::size_t>(k)];
    copy_group(p.Rt, i, out.Rt);
    out.u_free.segment<3>(3 * k) = p.u_free.segment<3>(3 * i) + impact_shift(p, i);
    out.mu[k] = p.mu[i];
  }
  out.dt = p.dt;
  out.Bt = p.Bt;
  out.w_free = p.w_free;
  out.lo = p.lo;
  out.hi = p.hi;
  out.y_free = p.y_free;
}

void expand_moreau(const ReducedProblem& p, const MoreauWorkspace& w, Impulses& out) {
  out.lambda.setZero(3 * p.contacts());
  for (std::size_t k = 0; k < w.contacts.size(); ++k) {
    out.lambda.segment<3>(3 * w.contacts[k]) = w.impulses.lambda.segment<3>(3 * static_cast<Eigen::Index>(k));
  }
  out.beta = w.impulses.beta;
  out.status = w.impulses.status;
  out.iterations = w.impulses.iterations;
}

}  // namespace stiction
