// Least-norm impulses with a given motion:   minimise 1/2 |Wᵀx - t|²   subject to  Eᵀx = e,  lo <= x <= hi.
//
//   W  n x w  (rank may be below w)     E  n x p  (p <= 12 or so, columns may be redundant)      t  w      e  p      x, lo, hi  n
//   g = W(Wᵀx - t) - E ν   n, gradient of the Lagrangian; ν  p, multipliers
// Stage II of inverse dynamics [ZD15, section 5.1.4, Eqs. 96-106]: x are weights of friction-pyramid edges, E maps them to the motion
// that stage I found, Wᵀx - t are the joint impulses τ h. Departs from the paper: it searches over x itself, and not over the null
// space of ZᵀAZ, which costs O(n³) to compute; constraints 102 and 103 hold because Eᵀx = e keeps the motion.
// Method: multipliers (multipliers.hpp) on the stacked generators [√ω E, W].
// Stopping test: as kinetic_qp, plus |Eᵀx - e| <= tolerance (|E|ᵀ|x| + |e|).
// x is unique only in (Eᵀx, Wᵀx); the point returned depends on x0 and nu0 and on nothing else.
#pragma once

#include "stiction/base/grow.hpp"
#include "stiction/problem/solution.hpp"
#include "stiction/programs/qp/active_set.hpp"
#include "stiction/programs/qp/qp_residual.hpp"
#include "stiction/programs/qp/views.hpp"

namespace stiction {

struct RangeQp {
  RowsView W = {};      ///< n x w
  VectorView t = {};    ///< w, empty: zero
  RowsView E = {};      ///< n x p, empty: no equalities
  VectorView e = {};    ///< p
  VectorView lo = {};   ///< n, empty: zero; -infinity allowed
  VectorView hi = {};   ///< n, empty: +infinity
  VectorView x0 = {};   ///< n, empty: zero; starting point, best a feasible one; not used when t = e = 0
  VectorView nu0 = {};  ///< p, empty: zero; multipliers of an earlier solve
};

struct RangeQpWorkspace {
  ActiveSet engine;  ///< on the stacked generators
  QpResidualScratch residual;
  GrowMatrix stacked;                          ///< (p + w) x n, column j: √ω_k E_jk over W_j
  GrowVector weight, level;                    ///< p: √ω_k, √ω_k e_k
  GrowVector defect, multiplier, first_order;  ///< p: √ω_k (e - Eᵀx)_k, ν_k / √ω_k
  GrowVector step, scratch, nu, x;
  GrowMatrix gram;       ///< p x p
  double typical = 0.0;  ///< √ω_k |E_k| X: size of the terms of an equality, see qp_residual.hpp
};

struct RangeQpSolution {
  GrowVector x;       ///< n
  GrowVector y;       ///< w, Wᵀx
  GrowVector nu;      ///< p, multipliers of Eᵀx = e
  GrowVector farkas;  ///< p when status is infeasible: π with πᵀe > max over the box of πᵀEᵀx; else empty
  Status status = Status::numerical_error;
  int pivots = 0;
  int sweeps = 0;         ///< updates of the multipliers
  double residual = 0.0;  ///< scaled KKT residual of the returned point, see qp_residual.hpp
};

/// Solves the QP; statuses, errors and allocation as kinetic_qp (infeasible: no x within the bounds has Eᵀx = e).
Status range_qp(const RangeQp& problem, const QpOptions& options, RangeQpWorkspace& workspace, RangeQpSolution& solution);

}  // namespace stiction
