// Principal pivoting for the low-rank LCP of rigid contact without a friction cone:
//
//   w = A Aᵀ z + q,  0 <= w ⊥ z >= 0,   A n x r row-major (rows a_i of the whitened Jacobian), A Aᵀ never formed.
//
// Source: [ZD15, Alg. 2 and Appendix C, D; D14, Alg. 1]. `active` is their non-basic set B̄: A_K has full row rank, so at most
// rank(A) entries of z are positive [ZD15, Theorem 1]. The most violated row enters; a row whose z would turn negative
// leaves. A warm start takes over the last call's set, so forces stay on the same points [ZD15, section 3.6]; a set that
// still solves the problem is returned without a pivot.
//
// Stopping test: w_i >= -tolerance (|q_i| + |a_i| |y|) for all i, z >= 0, w = 0 on the active set; y = Aᵀz (unique).
//
// Departs from Alg. 2: (1) its rule adds the row of least w, then drops the index of least z of a system solved before the
// row was added; it can cycle and can ask for a singular A_K. Here the row enters along the path on which z stays >= 0, and
// the index that blocks it leaves: the dual active-set step of Goldfarb and Idnani for min |y|²/2, A y + q >= 0. That
// objective rises with every row that enters, so no set repeats. (2) w_i is compared in units of |a_i|, so that rescaling a
// row changes nothing. (3) A row that depends on A_K enters only in exchange for another; when no exchange is possible, u >= 0 with
// Aᵀu = 0, q·u < 0 is returned: proof that q is outside the solvable set. For q in the range of A that cannot happen.
//
// Cost: n r to price the rows and O(r²) to update the factor (row_basis.hpp) per pivot; memory n + O(r²).
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "stiction/base/blocks.hpp"
#include "stiction/programs/lcp/lcp_solution.hpp"
#include "stiction/programs/lcp/row_basis.hpp"

namespace stiction {

struct PpmOptions {
  double tolerance = 1e-12;       ///< see the stopping test
  double rank_tolerance = 1e-10;  ///< a row this close to the span of the active rows, relative to |a_i|, depends on them
  int max_pivots = 0;             ///< 0 means 100 + 20 (n + r)
};

/// `residual` is the largest of -w_i and |w_active| over |q_i| + |a_i| |y|, from w = A Aᵀ z + q; `infeasible` and `ray` as
/// in LcpSolution, with Aᵀu = 0.
struct PpmSolution : LcpSolution {
  GrowVector y;  ///< r, Aᵀz: the same for every solution z
};

/// Memory of `ppm`, reused between calls; allocates only when n or r exceeds every earlier one.
struct PpmWorkspace {
  RowBasis basis;
  std::vector<int> active;
  GrowVector inverse_norm, slack, d, direction, z_active, correction;
};

/// Solves the LCP. A n x r (rows may be strided: every third row of N S T groups), q n. `warm`: indices to start from, those
/// out of range or dependent are passed over; may be the solution's own `active`.
/// Status: solved; infeasible (ray set); inaccurate; iteration_limit. Throws InvalidArgument on sizes, NaN and infinity.
void ppm(const Eigen::Ref<const RowMatrix>& A, const Eigen::Ref<const Eigen::VectorXd>& q, std::span<const int> warm,
         const PpmOptions& options, PpmWorkspace& workspace, PpmSolution& solution);

}  // namespace stiction
