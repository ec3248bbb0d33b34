// Convex QP of low rank with bounds:   minimise 1/2 |Aᵀx - t|² + cᵀx   subject to lo <= x <= hi.
//
//   A   n x r  rows of generators (r small: 6 to 50; rank may be below r)    t  r       c  n       x, lo, hi  n
//   y = Aᵀx   r, unique at the solution when c is in the range of A; x need not be
//   g = A(y - t) + c   n, gradient: g_j = 0 inside the bounds, >= 0 at lo, <= 0 at hi
// It is the dual of the convex contact step in generator form [Anitescu 2006; D14 for the no-slip case]: x are the weights of the
// friction-pyramid edges (x >= 0), free variables are no-slip tangential impulses or bilateral rows, boxes are joint friction.
// Method: active set on the variables strictly inside their bounds, kept linearly independent (at most rank A of them), so that
// a pivot costs O(r² + n r) with an updated QR factor [Lawson & Hanson 1974, ch. 23; Stark & Parker 1995, BVLS]; departs from them
// by the linear term c, by exact handling of dependent generators and of free variables, and by starting from any x0.
// Termination: every entering variable strictly lowers the objective, which is the minimum over its face, so no face repeats.
// Stopping test: |g_j| of the wrong sign <= tolerance (|a_j| (|t| + Σ_i |a_i||x_i|) + |c_j|), after a step of refinement.
#pragma once

#include "stiction/base/grow.hpp"
#include "stiction/problem/solution.hpp"
#include "stiction/programs/qp/active_set.hpp"
#include "stiction/programs/qp/qp_residual.hpp"
#include "stiction/programs/qp/views.hpp"

namespace stiction {

struct BoundedQp {
  RowsView A = {};     ///< n x r
  VectorView t = {};   ///< r, empty: zero
  VectorView c = {};   ///< n, empty: zero
  VectorView lo = {};  ///< n, empty: zero; -infinity allowed
  VectorView hi = {};  ///< n, empty: +infinity; lo <= hi
  VectorView x0 = {};  ///< n, empty: zero; starting point, a previous solution for instance; not used when t = c = 0
};

struct BoundedQpWorkspace {
  ActiveSet engine;
  QpResidualScratch residual;
};

struct BoundedQpSolution {
  GrowVector x;          ///< n
  GrowVector y;          ///< r, Aᵀx
  GrowVector gradient;   ///< n, A(Aᵀx - t) + c
  GrowVector direction;  ///< n when status is infeasible: Aᵀp = 0, cᵀp < 0 and x + s p stays within the bounds for s >= 0; else empty
  Status status = Status::numerical_error;
  int pivots = 0;         ///< changes of the set of inside variables
  double residual = 0.0;  ///< scaled KKT residual of the returned point, see qp_residual.hpp
};

/// Solves the QP. status: solved; infeasible when the objective is unbounded below (its dual, the contact problem, has no
/// solution), with `direction` as the proof; inaccurate or iteration_limit otherwise. No heap allocation once the workspace and
/// the solution have held a problem of this size. Throws InvalidArgument on wrong sizes, NaN, infinite data or lo > hi.
Status bounded_qp(const BoundedQp& problem, const QpOptions& options, BoundedQpWorkspace& workspace, BoundedQpSolution& solution);

}  // namespace stiction
