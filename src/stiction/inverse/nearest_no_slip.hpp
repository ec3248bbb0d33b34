// Desired joint velocities that planted contacts refuse, replaced by the nearest that they can follow [ZD15, Eqs. 40-43], in closed form.
//
//   minimise |v' - v_des|²  over the joint velocities v'  subject to  B v⁺ = b,  the bilateral rows, and  E v⁺ = e,  the tangents of
//   contacts without slip, and the normals and one-sided rows that a given motion touches; for some motion of the other coordinates
// Bilateral rows come first and are exact: the others move by -B_f⁺(B_q v' - b) + Z y, Z the null space of B_f, and where B_f⁺ leaves a
// rest of B_q v' - b, that is a demand on the joints. E_f and E_q are from here on those of y and of joints that take the others with them.
// With E_f D = Q [R₁; ~0] these rows in the coordinates that are not driven (D from the diagonal of M: one unit for all) and E_q their
// columns of the driven joints, the other coordinates take up what is in the range of R₁ and nothing else:
//   ρ = Q₂ᵀ(E v₀ - e) ≠ 0 at v₀: v_des, and a motion v_f of the others   =>   v' = v_des - (Q₂ᵀE_q)⁺ ρ
// by the least-norm solution of base/pivoted_qr.hpp. R₁ ends at pivots of 1e-3 of its first: soles almost in one plane hold the base so
// poorly by their tangents that it would have to move a thousand times as fast as its feet. In those directions the base moves as in v_f,
// of which the rows left see a thousandth at most. So v_f has to be slow: with v_f = 0 and e = 0 standing still is among what is projected
// on, and v' is no farther from v_des than that. The motion that refused v_des is none to start from: contradictory tangents may drive it a
// thousand times as fast as anything asked, and a thousandth of that is of the request's own size.
// Where normals then move the base in those directions, what the tangents see of it is slip again: projected with that motion in turn, it
// vanishes like a geometric series. Cost 4 n f joints flops, f the coordinates that are not driven. Where other normals or one-sided rows
// refuse v', the caller has to look further.
#pragma once

#include <span>
#include <vector>

#include "stiction/base/pivoted_qr.hpp"
#include "stiction/problem/standard_form.hpp"

namespace stiction {

/// Which normals and one-sided rows hold beside tangents and bilateral rows: those that the motion meets to rounding, or none.
enum class OneSided { left_out, touching };

/// Rows a v⁺ = b that say the same as E v⁺ = e but for what is cut off: rows of R₁, which the other coordinates follow, and of Q₂ᵀE_q with
/// those as in v_f. Independent, none nearly so.
struct HeldRows {
  BlockRows rows;         ///< a
  GrowVector targets;     ///< b
  GrowVector row, share;  ///< scratch
};

struct NearestNoSlipWorkspace {
  GrowMatrix columns;                  ///< rows x joints, E_q, then Qᵀ E_q
  GrowMatrix tangents;                 ///< rows x others, E_f D
  GrowMatrix coupled, coupled_joints;  ///< bilateral rows x others, B_f D, and x joints, B_q, then what of it the others do not take up
  LeastSquares couplings;              ///< of B_f D
  GrowVector slip, miss, rho, change, share, scale, motion, u;
  std::vector<int> rows;          ///< of the form's contacts, three each, then of J_b
  std::vector<int> bilateral;     ///< rows of J_b
  std::vector<int> joint, other;  ///< the driven coordinates and the rest
  std::vector<int> place;         ///< nv: among the joints, or -1 - the place among the other coordinates
  PivotedQr base, range;          ///< of E_f D and of Q₂ᵀE_q
  LeastSquares rank_rows;         ///< of the rows of `range`
};

/// `form`: of the problem, whose family is associated; its half spaces do not slip. `motion`: nv, of which the coordinates that are not
/// driven count. `velocities`: v_des, one per joint; they become v'. No allocation once the sizes have been seen.
void nearest_no_slip(const ProblemView& problem, const StandardForm& form, OneSided one_sided,
                     const Eigen::Ref<const Eigen::VectorXd>& motion, std::span<const int> joints, GrowVector& velocities,
                     NearestNoSlipWorkspace& workspace);

/// Those of the last projection.
void take_held_rows(const ProblemView& problem, const NearestNoSlipWorkspace& workspace, HeldRows& held);

}  // namespace stiction
