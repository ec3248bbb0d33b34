// Stage I of the convex inverse dynamics in the paper's two set-ups [ZD15, sections 5.1.1 to 5.1.3], and the choice between them.
//
//   plain    X = [M Pᵀ; P 0] is factored whole; its velocity block V = (X⁻¹)_vv = F Fᵀ gives R_t = J F [ZD15, Eqs. 69-73]
//   reduced  M⁻¹ = [D E; Eᵀ G] by blocks (base, joints); D - E G⁻¹ Eᵀ = L⁻ᵀ L⁻¹, v_b = p + Z z          [ZD15, Eqs. 74-95]
// Both end in the same `ReducedProblem` as `reduce`, up to an orthogonal change of y, so one QP solver serves all three. Which needs
// fewer operations depends on the robot: flop counts of Tables 1 and 2, for m velocities, nq driven joints, n contacts and k
// friction edges. (The totals quoted in the text for Table 1 come out exactly when F X⁻¹ Fᵀ costs 2 m n² k² - m n k; the printed row
// lacks a factor n. Table 2 as printed exceeds its quoted totals by less than 1 %.) `reduce` costs less than either: Z selects the
// base, so only the 6 x 6 composite inertia is factored; these forms are kept to reproduce the paper and as references for it.
#pragma once

#include "stiction/problem/reduced.hpp"

namespace stiction {

enum class StageOneForm { plain, reduced };

struct StageOneFlops {
  double plain = 0.0;    ///< [ZD15, Table 1]
  double reduced = 0.0;  ///< [ZD15, Table 2]
  StageOneForm cheaper() const { return plain <= reduced ? StageOneForm::plain : StageOneForm::reduced; }
};

/// m velocities, nq < m driven joints, n contacts, k friction edges.
StageOneFlops stage_one_flops(int velocities, int joints, int contacts, int edges);

/// The reduced problem of one robot (M of one block) whose prescribed rows are set, by the chosen set-up. Throws InvalidArgument when M
/// has several blocks, when there are further rows in J_b, or when every velocity is prescribed.
ReducedProblem stage_one_setup(const ContactProblem& problem, StageOneForm form);

}  // namespace stiction
