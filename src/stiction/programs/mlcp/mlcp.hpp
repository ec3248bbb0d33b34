// Mixed linear complementarity problems with bounds, of low rank:
//
//   w = R Rᵀx + q     lo <= x <= hi     w = 0 where lo < x < hi,  w >= 0 at lo,  w <= 0 at hi
//
//   R  n x r  rows, so that A = R Rᵀ is symmetric positive semidefinite of rank <= r and never formed        q, lo, hi, x, w  n
//   y = Rᵀx   r, unique; w too; x need not be
// Rows with (-inf, inf) are bilateral, (0, inf) unilateral, boxes are motors, dry friction or limited torques. A friction row i names the
// row of its normal force, normal[i] = j: its bounds are then lo_i x_j and hi_i x_j, the box friction of [ODE, dSolveLCP, findex].
//
// Residual (dimensionless, from the returned x alone), maximum over rows of what lies outside the bounds and of
//   min(|w_i| / s_i, distance to the bound that allows the sign of w_i / X)
//   s_i = |a_i| Σ|a_k||x_k| + |q_i|,   X = max(|x|, max |q_i|/|a_i|²)
#pragma once

#include <algorithm>
#include <span>

#include "stiction/base/grow.hpp"
#include "stiction/problem/contact_problem.hpp"
#include "stiction/problem/solution.hpp"
#include "stiction/programs/qp/views.hpp"

namespace stiction {

struct Mlcp {
  RowsView R = {};                   ///< n x r
  VectorView q = {};                 ///< n
  VectorView lo = {}, hi = {};       ///< n, lo <= hi; factors of x_j where normal[i] = j
  std::span<const int> normal = {};  ///< n or empty; -1: the bounds are lo and hi themselves
  VectorView x0 = {};                ///< n or empty; starting point, clipped to the bounds

  Eigen::Index size() const { return R.rows(); }
  int normal_of(Eigen::Index i) const { return normal.empty() ? -1 : normal[i]; }
  /// Bounds of row i at x.
  double lower(Eigen::Index i, const GrowVector& x) const { return normal_of(i) < 0 ? lo[i] : lo[i] * std::max(0.0, x[normal_of(i)]); }
  double upper(Eigen::Index i, const GrowVector& x) const { return normal_of(i) < 0 ? hi[i] : hi[i] * std::max(0.0, x[normal_of(i)]); }
};

struct MlcpSolution {
  GrowVector x;  ///< n
  Status status = Status::numerical_error;
  double residual = 0.0;  ///< see the file comment
  int pivots = 0;         ///< dantzig: changes of the set of rows inside their bounds
  int sweeps = 0;         ///< dantzig: rounds over the rows; pgs: sweeps
};

/// Throws InvalidArgument on sizes, NaN, infinite R or q, lo > hi, lo = +inf, hi = -inf; on a friction row whose normal is out of range,
/// itself a friction row, or whose factors are not lo <= 0 <= hi and finite.
void check(const Mlcp& problem);

/// Norms |a_i| of the rows.
void row_norms(const Mlcp& problem, GrowVector& norms);

/// y and w from x, and the residual of that point. No allocation once y and w have grown.
double mlcp_residual(const Mlcp& problem, const GrowVector& norms, const GrowVector& x, GrowVector& y, GrowVector& w);

}  // namespace stiction
