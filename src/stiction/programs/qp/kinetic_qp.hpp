// Convex QP of low rank with bounds and few rows; kinetic energy minimised over a cone, without penetration:
//
//   minimise 1/2 |y + y0|² + cᵀx   subject to   y = Aᵀx,  lo <= x <= hi,  C y >= d
//
//   A  n x r  generators (edge directions)ᵀ R        C  m x r  rows of the normals        y, y0  r        d, μ  m        x, c, lo, hi  n
//   g = A(y + y0 - Cᵀμ) + c   n:  g = 0 inside the bounds, >= 0 at lo, <= 0 at hi        0 <= μ ⊥ C y - d >= 0
// The maximal-dissipation contact model [ZD15, Eqs. 63-72 and 91-95; Drumwright & Shell 2010] in generator form: x are the weights of
// the friction-pyramid edges, so Eqs. 65, 66 (71, 72) are x >= 0; |y + y0|²/2 is the kinetic energy and C y >= d is Eq. 64 (70, 93). Boxes
// are dry joint friction and limited torques, c their target velocities. Without rows it is the dual of the convex contact step in
// generator form [Anitescu 2006; D14 for the no-slip case], free variables being no-slip tangential impulses or bilateral rows.
// y is unique (a projection onto a polyhedron) where c is in the range of A; x and μ need not be.
// Method: active set on the variables strictly inside their bounds, kept linearly independent (at most rank A of them), so that a pivot
// costs O(r² + n r) with an updated QR factor [Lawson & Hanson 1974, ch. 23; Stark & Parker 1995, BVLS]; departs from them by the linear
// term c, by exact handling of dependent generators and of free variables, and by starting from any x0. Around it multipliers for
// C y >= d, with the piecewise quadratic term Σ_i ω_i/2 max(0, d_i + μ_i/ω_i - c_iᵀy)² in the objective. Redundant active rows (a foot
// flat on the ground has forty of rank three) need no care, and no phase one is needed. A pivot then costs O(r³ + (n + m) r).
// Stopping test: |g_j| of the wrong sign <= tolerance (|a_j| (|y0| + Σ_i |a_i||x_i| + Σ_i μ_i|c_i|) + |c_j|), and
// (d_i - c_iᵀy)⁺ <= tolerance (|c_i| Σ_j |a_j| x_j + |d_i|).
#pragma once

#include "stiction/base/grow.hpp"
#include "stiction/problem/solution.hpp"
#include "stiction/programs/qp/active_set.hpp"
#include "stiction/programs/qp/qp_residual.hpp"
#include "stiction/programs/qp/views.hpp"

namespace stiction {

struct KineticQp {
  RowsView A = {};      ///< n x r
  VectorView y0 = {};   ///< r, empty: zero
  VectorView c = {};    ///< n, empty: zero
  VectorView lo = {};   ///< n, empty: zero; -infinity allowed
  VectorView hi = {};   ///< n, empty: +infinity; lo <= hi
  RowsView C = {};      ///< m x r, empty: no rows
  VectorView d = {};    ///< m
  VectorView x0 = {};   ///< n, empty: zero; a previous solution for instance; not used when y0 = 0, c = 0 and d <= 0
  VectorView mu0 = {};  ///< m, empty: zero; multipliers of a previous solution
};

struct KineticQpWorkspace {
  ActiveSet engine;
  QpResidualScratch residual;
  GrowVector mu, trial, first_order, z, work;
  GrowMatrix gram;
};

struct KineticQpSolution {
  GrowVector x;   ///< n
  GrowVector y;   ///< r, Aᵀx
  GrowVector mu;  ///< m, multipliers of C y >= d
  /// m when no x within the bounds has C Aᵀx >= d: π >= 0, πᵀd > max over lo <= x <= hi of πᵀC Aᵀx; else empty.
  GrowVector farkas;
  GrowVector direction;  ///< n when the objective is unbounded: Aᵀp = 0, cᵀp < 0, x + s p within the bounds for s >= 0; else empty
  Status status = Status::numerical_error;
  int pivots = 0;         ///< changes of the set of inside variables
  int sweeps = 0;         ///< updates of the multipliers; none without rows
  double residual = 0.0;  ///< scaled KKT residual of the returned point, see qp_residual.hpp
};

/// Solves the QP. status: solved; infeasible, with `farkas`, or with `direction` when the objective is unbounded below (its dual, the
/// contact problem, has no solution); inaccurate, iteration_limit or numerical_error. No heap allocation once workspace and solution have
/// held a problem of this size. Throws InvalidArgument on wrong sizes, NaN, infinite data or lo > hi.
Status kinetic_qp(const KineticQp& problem, const QpOptions& options, KineticQpWorkspace& workspace, KineticQpSolution& solution);

}  // namespace stiction
