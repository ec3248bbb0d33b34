// Among the contact impulses with the same motion, one by a rule that makes them a continuous function of the problem:
//
//   minimise ½ |λ' - λ_ref|²  subject to  R λ' = R λ,  λ'_i in the face that the law leaves to contact i at its velocity u_i
//   Choice::least_norm       λ_ref = 0: redundant contacts share the load evenly, and no two push against each other
//   Choice::closest_to_last  λ_ref = impulses of the last step: what need not change does not, a new contact starts with what it must carry
// Faces are those of problem/indeterminacy: apex (open), one ray or two neighbours (sliding), the cone (sticking). The minimiser is unique;
// bounded rows that move keep their impulses, those that do not (torque limits, motors, dry friction, end stops that hold) may have any
// within their bounds. Method of multipliers: soft cone programs ½|R λ' - t|² + ½ε|λ' - λ_ref|², t += R (λ - λ') until |R (λ - λ')| meets
// `kMotion` of the largest |R_i λ_i|. A few r x r systems, O(n r²) each. Rows take part by an active set: those between their bounds are
// projected out, R on the complement of their span; those at a bound are known; multipliers free them. In the coordinates of the cones
// (problem/standard_form.hpp), which is the metric of |λ'|. Contacts that give way leave no choice; the family energy leaves the whole
// cone.
#pragma once

#include "stiction/base/row_basis.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/soft_cone/soft_cone.hpp"

namespace stiction {

struct ChoiceWorkspace {
  GrowVector last;    ///< 3n, λ_ref of closest_to_last: `solve` leaves its impulses here; a caller whose contacts changed re-sorts them
  GrowVector chosen;  ///< 3k, the result
  std::vector<SoftContact> contacts;
  SoftConeWorkspace program;
  SoftConeSolution solution;
  SectionShape shape;
  GrowVector reference;  ///< 3k, λ_ref; empty: zero
  GrowVector u, y, target, reached, last_target, last_reached, step, change;
  GrowVector multipliers;  ///< of the motion, times ε
  int rounds = 0;

  /// Where bounded rows are chosen too: of each, between its bounds, at one of them, or no part of the choice.
  enum class Side : char { free, lo, hi, held };
  std::vector<Side> sides;
  std::vector<int> free;     ///< rows that are projected out
  RowBasis basis;            ///< of these
  ReducedProblem projected;  ///< on their complement
  GrowVector rows;           ///< m, the result
  GrowVector motion, speeds, goal, whole, wanted, row, coordinates;
};

/// Fills `workspace.chosen` (3k) and `rows` (m) from the solved point (lambda 3k, beta; motion as Impulses::motion, may be empty) and
/// workspace.reference, in the coordinates of the standard form. False when the rounds did not meet the motion; neither is then to be used.
bool choose_impulses(const StandardForm& form, const Eigen::Ref<const Eigen::VectorXd>& lambda,
                     const Eigen::Ref<const Eigen::VectorXd>& beta, const Eigen::Ref<const Eigen::VectorXd>& motion,
                     ChoiceWorkspace& workspace, GrowVector& rows);

}  // namespace stiction
