// Principal pivoting of Dantzig's kind for mixed complementarity with bounds (mlcp.hpp), one row after the other.
//
//   C      rows held at w = 0 strictly inside their bounds, generators independent: R_Cᵀ = Q T (base/row_basis.hpp), at most rank R
//   idle   inside with w = 0, but the generator depends on C          others: at lo with w >= 0, at hi with w <= 0
// drive row i: x_i moves toward w_i = 0, x_C with it so that w_C stays:  Δx_C = -T⁻¹Qᵀa_i Δx_i,  Δy = (I - Q Qᵀ) a_i Δx_i,  Δw = R Δy;
// stops at w_i = 0 (i joins C), at a bound of x_i, when x_k of C reaches a bound (k leaves) or w_k of a finished row falls to zero (k
// joins), whichever is first, the lowest index in ties. A generator that depends on C has Δy = 0: x slides until a bound stops it;
// none does: infeasible, for Rᵀp = 0 and qᵀp < 0 along the slide p.
// [Cottle & Dantzig 1968; Baraff 1994, drive-to-zero; ODE dSolveLCP]. Departs from them: A = R Rᵀ is never formed and may be singular, as
// the factor is of R and not of A_CC; a round ends with a step of refinement and is repeated from its end while that lowers the residual.
// Friction rows: as in ODE they come last and take their bounds from the normal forces found so far; unlike there the bounds are then
// brought up to date and the round repeated until the residual, with the bounds of the returned point, is met. This fixed point
// need not converge for large coefficients: `inaccurate` then.
// Termination: |w_i| of the driven row falls in every step of positive length; degenerate steps may cycle: pivots are limited.
// Stopping test: mlcp_residual <= 10 tolerance. Cost of a pivot O(n r + r²).
#pragma once

#include <vector>

#include "stiction/base/row_basis.hpp"
#include "stiction/programs/mlcp/mlcp.hpp"

namespace stiction {

struct DantzigOptions {
  double tolerance = 1e-13;  ///< |w_i| relative to its terms below which a row counts as at rest
  int max_pivots = 0;        ///< of all rounds together; 0: 20 (n + r) + 200 of each
};

struct DantzigWorkspace {
  enum class Place : signed char { waiting, lower, upper, inside, idle, fixed };

  RowBasis basis;
  std::vector<int> clamped, order;  ///< C in the order of the basis; order in which rows are driven
  std::vector<Place> place;
  GrowVector norms, lo, hi, x, y, w, d, dx, dy, dw;
};

/// status: solved; infeasible when the rows contradict each other; iteration_limit; inaccurate. No heap allocation once
/// workspace and solution have held a problem of this size. Throws InvalidArgument as `check`.
Status dantzig(const Mlcp& problem, const DantzigOptions& options, DantzigWorkspace& workspace, MlcpSolution& solution);

}  // namespace stiction
