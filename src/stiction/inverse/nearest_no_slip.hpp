// Desired joint velocities that planted contacts refuse, replaced by the nearest that they can follow [ZD15, Eqs. 40-43], in closed form.
//
//   minimise |v' - v_des|²  over the joint velocities v'  subject to  [S; T] v⁺ = 0 on contacts without slip for some motion of the base
// With R_T = Q [R; 0] the tangential rows in the r coordinates that are not driven and J_q their columns of the driven joints, the base
// takes up what is in the range of R_T and nothing else:
//   Q₂ᵀJ_q v' = 0,   ρ = Q₂ᵀJ_q v_des ≠ 0   =>   v' = v_des - (Q₂ᵀJ_q)⁺ ρ
// by the least-norm solution of base/pivoted_qr.hpp. R ends at pivots of 1e-3 of its first (soles almost in one plane): along what is left
// out the base would have to move a thousand times as fast as its feet, and is taken to move as it did before the step, so that J_q v_des
// has its share in ρ. Cost 4 n r joints flops. Normals are left out: where they refuse v' too, the caller has to look further.
#pragma once

#include <span>
#include <vector>

#include "stiction/base/pivoted_qr.hpp"
#include "stiction/problem/standard_form.hpp"

namespace stiction {

struct NearestNoSlipWorkspace {
  GrowMatrix columns;  ///< tangential rows x joints, J_q, then Qᵀ J_q
  GrowVector motion, slip, change;
  std::vector<int> rows;   ///< tangential rows of the half spaces, in the form
  std::vector<int> joint;  ///< nv: place among the joints, -1 of the others
  PivotedQr base;
  LeastSquares range;
};

/// `form`: of the problem with these joints prescribed, of family associated; it has no other rows. Writes the velocities, one per joint.
/// No allocation once the sizes have been seen.
void nearest_no_slip(const ProblemView& problem, const StandardForm& form, std::span<const int> joints,
                     const Eigen::Ref<const Eigen::VectorXd>& v_desired, NearestNoSlipWorkspace& workspace, GrowVector& nearest);

}  // namespace stiction
