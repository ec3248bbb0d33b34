// Half spaces whose tangents give way, beside half lines: viscous friction under Signorini's condition [D14, sections III-B and IV]:
//
//   λ_T = -D u_T, whatever λ_N;     0 <= λ_N ⊥ u_N + c >= 0;     β ∈ [lo, hi] ⊥ w
// u is the velocity after the step, D = h η (1/R_T of the form). Eliminating λ_T leaves an LCP in the normals alone,
//   K y = Nᵀλ_N + Bᵀβ - Tᵀ D u_T,free,   K = I + Tᵀ D T = L Lᵀ  (r x r),   u_N = N̂ ŷ + u_N,free,  ŷ = Lᵀy,  N̂ = N L⁻ᵀ
// for a pivoting method, or the bounded active set when there are bounded rows. Friction never adds energy: λ_T·u_T = -D |u_T|².
// (y, λ_T, λ_N) are refined together with λ_T updated by increments, so momentum holds to rounding up to h η G ~ 1e10 (no slip).
// Symbols: N n x r, T 2n x r rows of R_t (kg^-1/2), η viscosity (N s/m), y r. Cost n r² + r³/3; no 2n x 2n matrix.
// Many bodies go to programs/soft_cone.
#pragma once

#include "stiction/base/envelope_cholesky.hpp"
#include "stiction/laws/generators.hpp"
#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/laws/pyramid_lcp.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/lcp/low_rank_lcp.hpp"
#include "stiction/programs/qp/kinetic_qp.hpp"

namespace stiction {

struct ViscousWorkspace {
  std::vector<double> rows, normals;  ///< 3n x r when R_t has several blocks; (n + m) x r: N̂ and B̂
  EnvelopeCholesky factor;            ///< of K, r x r
  GrowVector damping;                 ///< n, 1/R_T of the half spaces (N s per m/s), 0 of the half lines
  GrowVector q, g, y, y_hat, lo, hi, x0, residual, change;
  LowRankLcpWorkspace lcp;
  LowRankLcpSolution lcp_solution;
  KineticQpWorkspace qp;
  KineticQpSolution qp_solution;
};

/// Solver goldfarb_idnani or ppm (no bounded rows), or active_set. Half spaces have R_T > 0, contacts no R_N.
void solve_viscous(const StandardForm& form, const SolverOptions& options, Solver solver, ViscousWorkspace& workspace, Impulses& impulses);

/// The same LCP in the normals by Lemke's method, which [D14, Table III] sets beside the modified PPM; half lines alone too, no bounded
/// rows. Of the workspace of polygons' LCPs the matrix, the method's memory and its solution. Cost n² r for the dense matrix N̂ N̂ᵀ and that
/// of programs/lcp/lemke.hpp.
void solve_normals_by_lemke(const StandardForm& form, const SolverOptions& options, ViscousWorkspace& workspace, PyramidLcpWorkspace& lcp,
                            Impulses& impulses);

}  // namespace stiction
