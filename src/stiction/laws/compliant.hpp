// The compliant laws: impulses as functions of the velocity after the step (problem/constitutive.hpp), found in the r-space:
//
//   F(y) = y - R_tᵀ f(R_t y + u_free) - B_tᵀ β = 0,   λ_i = f_i(u_i);     y as in problem/reduced.hpp, r equations whatever the contacts
//   β = clamp(β - ρ w(y), lo, hi)                      bounded rows by the method of multipliers, exact in the limit
// Newton on F with backtracking on |F|; (I + Rᵀ D R) δy = -F with D = -df/du, one factorisation per iteration. The friction limit μ λ_N of
// the same step makes D nonsymmetric. Where that Newton stalls, the limits are frozen: F is then the gradient of a strictly convex
// function, Newton with a line search on F·δy finds its only zero, and the limits are renewed until they repeat.
// Stopping test: max |λ - f(u(λ))| <= tolerance x the largest impulse, evaluated from (λ, β) alone. Offsets c belong to rigid laws and are
// not read. Contacts may follow different compliant laws. Cost per iteration n r² + r³.
#pragma once

#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/contact_terms.hpp"
#include "stiction/problem/reduced.hpp"
#include "stiction/programs/cone/rspace.hpp"

namespace stiction {

struct CompliantWorkspace {
  RSpace space;
  std::vector<CompliantContact> contacts;
  GrowVector y, trial, step, residual;               ///< r
  GrowVector u, lambda, frozen;                      ///< 3n, 3n, n; frozen < 0: the limit follows λ_N
  GrowVector w, beta, multipliers, weights, active;  ///< m
  GrowVector D;                                      ///< 9n, slopes
};

/// The family constitutive; terms of every contact of the problem.
void solve_compliant(const ReducedProblem& problem, const LawTerms& terms, const SolverOptions& options, CompliantWorkspace& workspace,
                     Impulses& impulses);

}  // namespace stiction
