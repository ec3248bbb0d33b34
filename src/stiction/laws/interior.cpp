#include "stiction/laws/interior.hpp"

#include <algorithm>

namespace stiction {

namespace {

using Eigen::Index;

// Systems factored for the laws with half lines and half spaces, which take about 20: a request without an answer ends soon.
constexpr int kLinearCones = 200;
// m/s, of their natural map: a polish on flat faces ends in rounding, and tangential rows close to each other ask for it.
constexpr double kLinearTolerance = 1e-12;

bool has_linear_cones(const SolveOptions& options) { return options.law == Law::frictionless || options.law == Law::no_slip; }

bool keeps_mu(const ReducedProblem& p, const SolveOptions& options) {
  if (has_linear_cones(options)) return false;
  return options.law != Law::anitescu || std::ranges::find(p.closed, 0) == p.closed.end();
}

bool is_closed(const ReducedProblem& p, int i) { return p.closed[static_cast<std::size_t>(i)] != 0; }

// The tangential rows of closed contacts as bilateral rows after the bounded ones.
void append_tangents(const ReducedProblem& p, ReducedProblem& out) {
  Index m = p.bounded_rows();
  for (int i = 0; i < p.contacts(); ++i) m += is_closed(p, i) ? 2 : 0;
  out.w_free.resize(m);
  out.lo.resize(m);
  out.hi.resize(m);
  out.w_free.head(p.bounded_rows()) = p.w_free;
  out.lo.head(p.bounded_rows()) = p.lo;
  out.hi.head(p.bounded_rows()) = p.hi;
  out.lo.tail(m - p.bounded_rows()).setConstant(-kInfinity);
  out.hi.tail(m - p.bounded_rows()).setConstant(kInfinity);
  Index j = p.bounded_rows();
  for (int i = 0; i < p.contacts(); ++i) {
    if (!is_closed(p, i)) continue;
    for (const int k : {1, 2}) {
      out.Bt.add_group();
      for (int e = p.Rt.entry_begin(i); e < p.Rt.entry_end(i); ++e) out.Bt.add_entry(p.Rt.entry_block(e)) = p.Rt.entry(e).row(k);
      out.w_free[j++] = p.u_free[3 * i + k];
    }
  }
}

const ReducedProblem& in_cones(const ReducedProblem& p, const SolveOptions& options, ReducedProblem& copy) {
  if (keeps_mu(p, options)) return p;
  copy = p;
  for (int i = 0; i < p.contacts(); ++i) {
    if (options.law != Law::anitescu || !is_closed(p, i)) copy.mu[i] = 0.0;
  }
  if (options.law == Law::no_slip) append_tangents(p, copy);
  return copy;
}

void take_tangents(const ReducedProblem& p, Impulses& out) {
  Index j = p.bounded_rows();
  for (int i = 0; i < p.contacts(); ++i) {
    if (!is_closed(p, i)) continue;
    out.lambda.segment<2>(3 * i + 1) = out.beta.segment<2>(j);
    j += 2;
  }
  out.beta.resize(p.bounded_rows());
}

}  // namespace

void solve_by_interior_point(const ReducedProblem& p, const SolveOptions& options, InteriorWorkspace& w, Impulses& out) {
  const bool disc = !is_polygonal(options.law) || options.edges == 0;
  ConeOptions cone;
  cone.edges = options.edges;
  cone.relaxed = options.law == Law::anitescu || has_linear_cones(options);
  if (has_linear_cones(options)) {
    cone.max_iterations = kLinearCones;
    cone.tolerance = kLinearTolerance;
  }
  cone.warm_start = options.warm_start;
  (disc ? exact_cone : interior_point)(in_cones(p, options, w.problem), cone, w.cone, w.solution);
  out.status = w.solution.status;
  out.iterations = w.solution.iterations;
  out.lambda = w.solution.lambda;
  out.beta = w.solution.beta;
  if (options.law == Law::no_slip) take_tangents(p, out);
}

}  // namespace stiction
