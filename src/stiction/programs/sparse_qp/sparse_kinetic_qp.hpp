// The program of qp/kinetic_qp.hpp with block-sparse rows, for many bodies, by an interior point:
//
//   minimise 1/2 |y + y0|² + cᵀx   subject to  y = Aᵀx,  lo <= x <= hi,  C y >= d
//   z = y + y0 - Cᵀμ   r,   g = A z + c   n:  g = 0 inside the bounds, >= 0 at lo, <= 0 at hi        v = C y - d   m:  0 <= μ ⊥ v >= 0
// A  n x r and C  m x r: rows (one per group) on a few blocks of columns each.   c, lo, hi  n    d, μ  m    y0, y, z  r
// Method: Mehrotra's predictor-corrector. x and μ are eliminated row by row, δx_j = D_j (ρ_j - a_j·δz), δμ_i = h_i - E_i c_i·δy, and what
// is left couples the blocks as the rows do:
//   [ AᵀD A        I       ] [δz]   [ AᵀD ρ ]
//   [   I     -(I + CᵀE C) ] [δy] = [ -Cᵀh  ]          quasi-definite, so any order of the blocks has pivots (Vanderbei 1995)
// factored by BlockLu on blocks of (z, y). Variables without bounds move by proximal steps. The end is a polish: with the sets of inside
// variables and active rows read off the iterate, the same system with proximal D and E has the exact solution as its fixed point.
// Stopping test: the largest of |x_j - clamp(x_j - g_j/|a_j|²)||a_j| over the largest velocity (kg^½ m/s) among y, z and the data, and
// |μ_i - max(0, μ_i - v_i/|c_i|²)||c_i| over that among y and the data; from (x, μ) alone.
// Departs from kinetic_qp in giving no proof of infeasibility. Cost per iteration: Σ_p d_p² (2b)³ as BlockLu, 10 to 30 iterations.
#pragma once

#include "stiction/base/blocks.hpp"
#include "stiction/base/grow.hpp"
#include "stiction/problem/solution.hpp"
#include "stiction/programs/cone/block_lu.hpp"

namespace stiction {

struct SparseKineticQp {
  BlockRows A;           ///< n groups of one row, r columns in blocks
  GrowVector c, lo, hi;  ///< n; lo <= hi, infinite bounds allowed
  BlockRows C;           ///< m groups of one row, the same columns
  GrowVector d;          ///< m
  GrowVector y0;         ///< r
};

struct SparseQpOptions {
  double tolerance = 1e-13;  ///< residual that ends the solve
  double accept = 1e-10;     ///< residual that is solved where rounding came first
  int max_iterations = 120;  ///< linear systems factored
};

struct SparseKineticQpSolution {
  GrowVector x;   ///< n
  GrowVector mu;  ///< m, multipliers of C y >= d
  Status status = Status::numerical_error;
  int iterations = 0;     ///< linear systems factored
  double residual = 0.0;  ///< of the returned point, see above
};

/// Memory kept between calls; grows on first use.
struct SparseKineticQpWorkspace {
  BlockLu lu;
  std::vector<int> sizes, clique_begin, clique_blocks;
  std::vector<std::ptrdiff_t> places;  ///< of the blocks that each row adds to
  GrowVector a_norm, c_norm;           ///< |a_j|, |c_i|; zero: nothing moves the row
  GrowVector x, z_lo, z_hi, mu, t;     ///< the point: variables, multipliers of their bounds, of the rows, and the rows' slacks
  GrowVector y, z, g, v;               ///< what follows from x and μ
  GrowVector dx, dz_lo, dz_hi, dmu, dt, dy, dz, dg, dv;
  GrowVector D, rho, goal_lo, goal_hi, E, h, rhs;
  GrowVector polished_x, polished_mu, best_x, best_mu;
  double scale = 1.0;  ///< largest velocity of the data (kg^½ m/s)
};

/// Solves the QP from scratch. Status: solved, inaccurate, iteration_limit, numerical_error (x clipped to the bounds, μ zero). Throws
/// InvalidArgument on sizes.
void sparse_kinetic_qp(const SparseKineticQp& problem, const SparseQpOptions& options, SparseKineticQpWorkspace& workspace,
                       SparseKineticQpSolution& solution);

}  // namespace stiction
