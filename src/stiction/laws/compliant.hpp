// The compliant laws: impulses as functions of the velocity after the step (problem/constitutive.hpp), found in the r-space:
//
//   F(y) = y - R_tᵀ f(R_t y + u_free) - B_tᵀ β = 0,   λ_i = f_i(u_i);     y as in problem/reduced.hpp, r equations whatever the contacts
//   β = clamp(β - ρ w(y), lo, hi)                      bounded rows by the method of multipliers, exact in the limit
// Newton on F with backtracking on |F|; (I + Rᵀ D R) δy = -F with D = -df/du, one factorisation per iteration. Friction couples to the
// load, so Newton stalls where feet wedge (det dF/dy changes sign). Then the path of zeros is followed from no friction, where F is the
// gradient of a convex function, in the friction angle θ, μ_i = min(tan θ, own), by arclength through its folds and kinks. |y| is bounded
// on it whatever μ, and θ = 0 has one zero, so it ends at the problem's own friction (Leray and Schauder; but for degenerate crossings).
// Stopping test: max |λ - f(u(λ))| <= tolerance x the largest impulse, from (λ, β) alone. f(u) has the rounding of u times D, which u(f)
// has times D G again; where that misses the tolerance the next step of Newton is taken in λ - D R δy, which is left with the first alone.
// Offsets c of rigid laws are not read, contacts may follow different compliant laws. Cost per iteration n r² + r³.
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
  GrowVector y, trial, step, residual;                                    ///< r
  GrowVector u, lambda, frozen;                                           ///< 3n, 3n, n; frozen < 0: the limit follows λ_N
  GrowVector w, beta, multipliers, weights, active;                       ///< m
  GrowVector before, tangent, by_angle, by_angle_impulse, by_angle_beta;  ///< of the path in friction
  GrowVector D;                                                           ///< 9n, slopes
};

/// The family constitutive; terms of every contact of the problem.
void solve_compliant(const ReducedProblem& problem, const LawTerms& terms, const SolverOptions& options, CompliantWorkspace& workspace,
                     Impulses& impulses);

}  // namespace stiction
