// The low-rank LCP of low_rank_lcp.hpp by the dual active-set method of Goldfarb and Idnani (1983) for
//
//   minimise |y|²/2  subject to  A y + q >= 0,   whose multipliers are z: 0 <= w = A Aᵀz + q ⊥ z >= 0.
//
// The most violated row enters along the path on which z stays >= 0; rows that block it leave on the way. The objective rises with
// every row that enters, so no set repeats. A row that depends on A_K enters only in exchange for another; when no exchange is possible,
// u >= 0 with Aᵀu = 0, q·u < 0 is returned: proof that q is outside the solvable set. For q in the range of A that cannot happen. A
// warm start takes over the last call's set, so forces stay on the same points [ZD15, section 3.6]; a set that still solves the problem
// is returned without a pivot.
#pragma once

#include "stiction/programs/lcp/low_rank_lcp.hpp"

namespace stiction {

/// Solves the LCP. A n x r (rows may be strided: every third row of N S T groups), q n. `warm`: indices to start from, those
/// out of range or dependent are passed over; may be the solution's own `active`.
/// Status: solved; infeasible (ray set); inaccurate; iteration_limit. Throws InvalidArgument on sizes, NaN and infinity.
void goldfarb_idnani(const Eigen::Ref<const RowMatrix>& A, const Eigen::Ref<const Eigen::VectorXd>& q, std::span<const int> warm,
                     const LowRankLcpOptions& options, LowRankLcpWorkspace& workspace, LowRankLcpSolution& solution);

}  // namespace stiction
