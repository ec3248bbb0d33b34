// Desired joint velocities that planted contacts refuse, replaced by the nearest that they can follow [ZD15, Eqs. 40-43], in closed form.
//
//   minimise |v' - v_des|²  over the joint velocities v'  subject to  [S; T] v⁺ = 0 on contacts without slip and N v⁺ + c = 0 on those that
//   bear a load in the refused solution, for some motion of the base
// With R = Q [R₁; 0] these rows in the r coordinates that are not driven and J_q their columns of the driven joints, the base takes up what
// is in the range of R and nothing else:
//   ρ = Q₂ᵀ(u + c) ≠ 0 at the refused motion   =>   v' = v_des - (Q₂ᵀJ_q)⁺ ρ
// by the least-norm solution of base/pivoted_qr.hpp. R₁ ends at pivots of 1e-3 of its first: soles almost in one plane hold the base so
// poorly by their tangents that it would have to move a thousand times as fast as its feet. Those directions are the normals' matter, which
// hold them where they bear (the solver's active normals are independent of the tangents, so that they ask nothing of the joints that the
// refused solution does not meet); where none do, the base is taken to move as in the refused solution, whose slip has its share in ρ.
// A solution that has other normals bear moves the base otherwise, and what these tangents see of that, a thousandth at most, is slip
// again: projected from that solution in turn, it vanishes like a geometric series. Cost 4 n r joints flops. Where other normals refuse v',
// the caller has to look further.
#pragma once

#include <span>
#include <vector>

#include "stiction/base/pivoted_qr.hpp"
#include "stiction/problem/solution.hpp"
#include "stiction/problem/standard_form.hpp"

namespace stiction {

struct NearestNoSlipWorkspace {
  GrowMatrix columns;  ///< rows x joints, J_q, then Qᵀ J_q
  GrowVector slip, rho, change;
  std::vector<int> rows;   ///< tangents of the half spaces, normals that bear, in the form
  std::vector<int> joint;  ///< nv: place among the joints, -1 of the others
  PivotedQr base, range;   ///< of R and of Q₂ᵀJ_q
  LeastSquares rank_rows;  ///< of the rows of `range`
};

/// `form`: of the problem with these joints prescribed, of family associated; it has no other rows. `refused`: its solution, which has
/// `velocities`, v_des, one per joint; they become v'. No allocation once the sizes have been seen.
void nearest_no_slip(const ProblemView& problem, const StandardForm& form, const Solution& refused, std::span<const int> joints,
                     GrowVector& velocities, NearestNoSlipWorkspace& workspace);

}  // namespace stiction
