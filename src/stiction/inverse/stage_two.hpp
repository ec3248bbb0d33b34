// Stage II of inverse dynamics [ZD15, section 5.1.4, Eqs. 96-106]: of all contact impulses with the motion of stage I, those of
// least joint torque.
//
//   minimise |h tau|² = |c - J_Pᵀ λ|²   subject to  R λ = R λ₀ (same motion, r rows),  λ in the law's set at that motion
//   c = (M(v⁺ - v) - p - J_bᵀλ_b)[prescribed],  J_P the prescribed columns of J
// The law's set at a fixed motion is a polyhedron in the generators: all of the pyramid for the family energy; for those
// with complementarity only generators that rest (a_jᵀy + c_j = 0) may push. Instead of the null space of ZᵀAZ (O(n³) in the paper), the
// generators are searched directly with the motion as equality (programs/qp/range_qp.hpp): O(n (r + joints)²).
#pragma once

#include "stiction/laws/generators.hpp"
#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/qp/range_qp.hpp"

namespace stiction {

struct StageTwoWorkspace {
  Generators generators;
  RangeQpWorkspace qp;
  RangeQpSolution solution;
  std::vector<double> joint_rows, motion_rows;  ///< admissible generators: J_P part, R part
  std::vector<int> admissible;
  GrowVector target, x0, nu0, lo, y, u, residual, lambda;
  LawTerms terms;               ///< friction that the motion fixes left out
  StandardForm form;            ///< of these
  GrowVector fixed, free_part;  ///< 3n, friction that the motion fixes and the rest of stage I's impulses
};

/// Replaces `lambda` (3n, stage I) by the impulses of least torque; v_plus and lambda_b (m) are stage I's. The problem has prescribed
/// rows. Returns solved, or why `lambda` was left alone. `terms`: the law's on this problem, of any family but constitutive; discs are
/// searched over the polygon of `options.edges` in them, so a disc that slips is left alone. `options.max_pivots` bounds the search.
Status stage_two(const ProblemView& problem, const Reduction& reduction, const LawTerms& terms, const SolveOptions& options,
                 const Eigen::Ref<const Eigen::VectorXd>& v_plus, const Eigen::Ref<const Eigen::VectorXd>& lambda_b,
                 StageTwoWorkspace& workspace, GrowVector& lambda);

}  // namespace stiction
