#include "stiction/laws/soft_polish.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/laws/soft_convex.hpp"
#include "stiction/laws/tangent_rows.hpp"

namespace stiction {

namespace {

constexpr int kSystems = 60;          // linear systems; most polishes take three
constexpr double kTolerance = 1e-12;  // m/s, of the natural map

bool is_soft(const SoftContact& c) { return c.normal > 0.0 || c.tangential > 0.0; }

void copy_entries(const BlockRows& from, int group, BlockRows& to) {
  to.add_group();
  for (int e = from.entry_begin(group); e < from.entry_end(group); ++e) to.add_entry(from.entry_block(e)) = from.entry(e);
}

void list_columns(const ReducedProblem& p, SoftPolishWorkspace& w) {
  w.sizes.assign(p.Rt.block_sizes().begin(), p.Rt.block_sizes().end());
  for (const SoftContact& c : w.contacts) {
    if (is_soft(c)) w.sizes.push_back(3);
  }
}

void add_contacts(const ReducedProblem& p, SoftPolishWorkspace& w) {
  ReducedProblem& out = w.problem;
  out.Rt.reset(3, w.sizes);
  w.held.clear();
  int column = p.Rt.blocks();
  for (int i = 0; i < p.contacts(); ++i) {
    const SoftContact& c = w.contacts[static_cast<std::size_t>(i)];
    copy_entries(p.Rt, i, out.Rt);
    if (is_soft(c)) {
      RowMap root = out.Rt.add_entry(column++);
      root.setZero();
      root(0, 0) = std::sqrt(c.normal);
      root(1, 1) = root(2, 2) = std::sqrt(c.tangential);
    }
    out.offset[i] = -c.reference[0];
    out.mu[i] = std::isinf(c.mu) ? 0.0 : c.mu;
    if (std::isinf(c.mu)) w.held.push_back(i);
  }
}

void make_problem(const ReducedProblem& p, SoftPolishWorkspace& w) {
  ReducedProblem& out = w.problem;
  out.u_free = p.u_free;
  out.w_free = p.w_free;
  out.lo = p.lo;
  out.hi = p.hi;
  out.velocity = p.velocity;
  out.offset.resize(p.contacts());
  out.mu.resize(p.contacts());
  list_columns(p, w);
  add_contacts(p, w);
  out.Bt.reset(1, w.sizes);
  for (int j = 0; j < p.bounded_rows(); ++j) copy_entries(p.Bt, j, out.Bt);
  append_tangents(w.held, out);
}

}  // namespace

bool can_polish_soft(const ReducedProblem& p, const SolveOptions& options) {
  const bool relaxed = options.law == Law::todorov || options.law == Law::sap || options.law == Law::anitescu;
  return relaxed && conditions(options).edges == 0 && p.defect.size() == 0;
}

void polish_soft(const ReducedProblem& p, const SolveOptions& options, SoftPolishWorkspace& w, Impulses& out) {
  make_soft_contacts(p, options, w.contacts);
  make_problem(p, w);
  w.solution.lambda = out.lambda;
  w.solution.beta = out.beta;
  give_tangents(w.held, w.solution.lambda, w.solution.beta);
  ConeOptions cone;
  cone.relaxed = cone.warm_start = true;
  cone.tolerance = kTolerance;
  cone.max_iterations = kSystems;
  exact_cone(w.problem, cone, w.cone, w.solution);
  take_tangents(w.held, w.solution.lambda, w.solution.beta);
  out.lambda = w.solution.lambda;
  out.beta = w.solution.beta;
  out.status = w.solution.status == Status::solved ? Status::solved : Status::inaccurate;  // its few systems are no limit of the law
  out.iterations += w.solution.iterations;
}

}  // namespace stiction
