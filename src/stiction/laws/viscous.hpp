// Viscous friction under Signorini's condition [D14, sections III-B and IV]:
//
//   λ_T = -h c u_T  on closed contacts, whatever λ_N;     0 <= λ_N ⊥ u_N + offset >= 0;     β ∈ [lo, hi] ⊥ w
// Velocity level (ViscousSlip::after): u_T is the slip after the step. Eliminating λ_T leaves an LCP in the normals alone,
//   K y = Nᵀλ_N + Bᵀβ - h Tᵀ C u_T,free,   K = I + h TᵀCT = L Lᵀ  (r x r),   u_N = N̂ ŷ + ..., ŷ = Lᵀy, N̂ = N L⁻ᵀ,
// for a pivoting method, or the bounded active set when there are bounded rows. Unconditionally dissipative: λ_T·u_T = -h c |u_T|².
// Acceleration level (ViscousSlip::before): [D14, Eq. 15, f* of Eq. 29] takes the slip J v of the state, so λ_T is known, K = I, and the
// step is the explicit Euler step of that model. D14 asks N v̇ + Ṅv >= 0 where N v = 0; times h that is N v⁺ >= 0 but for h Ṅv, which the
// next step's N brings. It adds energy where h c G_TT > 2, as any explicit step of a stiff damper does; meant for Runge-Kutta.
// (y, λ_T, λ_N) are refined together with λ_T updated by increments, so momentum holds to rounding up to h c G ~ 1e10 (no slip).
// Symbols: N n x r, T 2n x r rows of R_t (kg^-1/2), C viscosities (N s/m), y r. Cost n r² + r³/3; no 2n x 2n matrix.
// Many bodies go to soft_convex.hpp.
#pragma once

#include "stiction/laws/generators.hpp"
#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/programs/lcp/low_rank_lcp.hpp"
#include "stiction/programs/qp/bounded_qp.hpp"

namespace stiction {

struct ViscousWorkspace {
  std::vector<double> rows, normals;  ///< 3n x r when R_t has several blocks; (n + m) x r: N̂ and B̂
  GrowMatrix L;                       ///< r x r, lower
  GrowVector damping;                 ///< n, h c of the closed contacts (N s per m/s), 0 elsewhere
  GrowVector q, g, y, y_hat, lo, hi, x0, residual, change, step;
  LowRankLcpWorkspace lcp;
  LowRankLcpSolution lcp_solution;
  BoundedQpWorkspace qp;
  BoundedQpSolution qp_solution;
};

/// h c of a closed contact (N s per m/s), 0 of an open one.
double viscous_damping(const ReducedProblem& problem, int contact);

/// Solver goldfarb_idnani or ppm (no bounded rows), or active_set.
void solve_viscous(const ReducedProblem& problem, const SolveOptions& options, Solver solver, ViscousWorkspace& workspace,
                   Impulses& impulses);

}  // namespace stiction
