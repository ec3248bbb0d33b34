// The low-rank LCP of low_rank_lcp.hpp by the modified principal pivoting method I as it is printed [ZD15, Alg. 2; D14, Alg. 1]:
//
//   z† = -(A_B̄ A_B̄ᵀ)⁻¹ q_B̄,  w† = A A_B̄ᵀ z† + q.  A row of least w† < 0 enters B̄, and the index of least z† < 0, of the same
//   system, leaves it; without a row to enter the index of least z† < 0 leaves alone; the end is w† >= 0 and z† >= 0.
//
// The rule has no measure that falls from one set to the next: it may return to a set it has seen, and it may ask for a singular
// system, a row that depends on those in B̄. The paper proves neither away. Both are rare and end the solve here, `iteration_limit` and
// `inaccurate`; `goldfarb_idnani` solves the same problem without them and is the default. docs/solvers.md has the counts.
// Departs from the print in the units of w (low_rank_lcp.hpp) and in its tolerance.
#pragma once

#include "stiction/programs/lcp/low_rank_lcp.hpp"

namespace stiction {

/// As `goldfarb_idnani`, but proves nothing: no ray.
void ppm(const Eigen::Ref<const RowMatrix>& A, const Eigen::Ref<const Eigen::VectorXd>& q, std::span<const int> warm,
         const LowRankLcpOptions& options, LowRankLcpWorkspace& workspace, LowRankLcpSolution& solution);

}  // namespace stiction
