#include "stiction/laws/held_contacts.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/laws/tangent_rows.hpp"
#include "stiction/problem/reduced_certificate.hpp"

namespace stiction {

namespace {

constexpr int kIterations = 60;  // linear systems per choice; those with a solution take a dozen
constexpr int kBudget = 1000;    // and of all together

void list_infinite(const ReducedProblem& p, const Impulses& failed, HeldContactsWorkspace& w) {
  w.infinite.clear();
  w.is_held.clear();
  for (int i = 0; i < p.contacts(); ++i) {
    if (!std::isinf(p.mu[i])) continue;
    w.infinite.push_back(i);
    w.is_held.push_back(failed.lambda[3 * i] > 0.0 ? 1 : 0);
  }
}

// Nothing moves the contact and it is apart: its impulse is zero.
void take_out(const ReducedProblem& p, int i, ReducedProblem& out) {
  for (int e = out.Rt.entry_begin(i); e < out.Rt.entry_end(i); ++e) out.Rt.entry(e).setZero();
  out.u_free.segment<3>(3 * i).setZero();
  out.offset[i] = p.velocity > 0.0 ? p.velocity : 1.0;
}

void make_choice(const ReducedProblem& p, HeldContactsWorkspace& w) {
  w.problem = p;
  w.problem.delassus.reset(3, {});  // the rows are the choice's
  w.held.clear();
  for (std::size_t k = 0; k < w.infinite.size(); ++k) {
    const int i = w.infinite[k];
    w.problem.mu[i] = 0.0;
    if (w.is_held[k] != 0) {
      w.held.push_back(i);
    } else {
      take_out(p, i, w.problem);
    }
  }
  append_tangents(w.held, w.problem);
}

bool try_choice(const StandardForm& form, const SolverOptions& options, int& budget, HeldContactsWorkspace& w) {
  make_choice(form.problem, w);
  ConeOptions cone;
  cone.max_iterations = std::min(kIterations, budget);
  cone.edges = form.edges;
  (form.disc() ? exact_cone : interior_point)(w.problem, cone, w.cone, w.solution);
  budget -= std::max(1, w.solution.iterations);
  take_tangents(w.held, w.solution.lambda, w.solution.beta);
  certify(form.problem, w.terms, w.solution.lambda, w.solution.beta, w.checks, w.certificate);
  return w.certificate.worst() <= options.tolerance;
}

}  // namespace

bool solve_by_holding(const StandardForm& form, const SolverOptions& options, HeldContactsWorkspace& w, Impulses& out) {
  const ReducedProblem& p = form.problem;
  if (p.defect.size() > 0 || form.compliance.size() > 0) return false;
  standard_terms(form, w.terms);
  list_infinite(p, out, w);
  const int count = static_cast<int>(w.infinite.size());
  const auto change = [&](int k) {
    if (k >= 0) w.is_held[k] ^= 1;
  };
  const int most = std::min(kBudget, options.max_factorizations - out.iterations);
  int budget = most;
  bool found = false;
  // -1: no change; so none, one and two are changed in turn.
  for (int a = -1; a < count && !found; ++a) {
    for (int b = a < 0 ? -1 : a + 1; b < count && !found && budget > 0; ++b) {
      change(a);
      change(b);
      found = try_choice(form, options, budget, w);
      change(a);
      change(b);
    }
  }
  out.iterations += most - budget;
  if (!found) return false;
  out.lambda = w.solution.lambda;
  out.beta = w.solution.beta;
  out.status = Status::solved;
  return true;
}

}  // namespace stiction
