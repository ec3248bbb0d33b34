// Stage II of inverse dynamics [ZD15, section 5.1.4, Eqs. 96-106]: of all impulses of contacts and rows with the motion of stage I, those
// of least joint torque.
//
//   minimise |h tau|² = |c - J_Pᵀ λ - J_bPᵀ λ_b|²   subject to  the motion of stage I (r rows),  λ in the law's set at that motion,
//   lo <= λ_b <= hi of rows that are rigid and at their target: loops, end stops, joints that dry friction holds
//   c = (M(v⁺ - v) - p - J_bᵀλ_b of the other rows)[prescribed],  J_P the prescribed columns of J
// The motion is R λ = R λ₀, and where there are rows, Jᵀλ + J_bᵀλ_b on all coordinates that are not driven.
// The law's set at a fixed motion is a polyhedron in the generators: all of the pyramid for the family energy; for those
// with complementarity only generators that rest (a_jᵀy + c_j = 0) may push, and of a disc that slides the ray against its slip. Instead of
// the null space of ZᵀAZ (O(n³) in the paper), the generators are searched directly with the motion as equality (programs/qp/range_qp.hpp):
// O(n (r + joints)²). A disc that sticks has a polygon's edges and stage I's at first, then in each round that of steepest descent of the
// Lagrangian at the optimum over those so far, until none descends (column generation [Dantzig, Wolfe 1960]): the optimum over the disc
// itself.
#pragma once

#include "stiction/laws/generators.hpp"
#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/qp/range_qp.hpp"

namespace stiction {

/// Impulses of contacts (3n), rows of J_b (m) and prescribed coordinates.
struct StageTwoImpulses {
  GrowVector contacts, rows, joints;
};

/// A disc that slides: its contact of the standard form and the direction of its friction.
struct SlidingDisc {
  int contact;
  Eigen::Vector2d friction;
};

struct StageTwoWorkspace {
  Generators generators;
  RangeQpWorkspace qp;
  RangeQpSolution solution;
  std::vector<double> joint_rows, motion_rows;   ///< of the variables: share in the driven joints, in the motion
  std::vector<int> admissible, open_rows, free;  ///< generators; rows that are left to choose; coordinates that are not driven
  std::vector<char> is_driven;
  std::vector<int> discs;                   ///< contacts of `form` whose whole cone may push
  std::vector<SlidingDisc> sliding;         ///< those of which one ray may
  std::vector<Generators::Variable> edges;  ///< of both, beside those of the polygon: the last variables
  bool keeps_motion = false;                ///< of `solution`, to the tolerance of the certificate
  GrowVector target, x0, nu0, lo, hi, y, u, slopes, residual, lambda;
  LawTerms terms;               ///< friction that the motion fixes left out
  StandardForm form;            ///< of these
  GrowVector fixed, free_part;  ///< 3n, friction that the motion fixes and the rest of stage I's impulses
  GrowVector fixed_rows;        ///< m, impulses of the rows that the motion fixes, zero for the others
};

/// Replaces stage I's impulses by those of least torque. The problem has prescribed rows. Returns solved, or why they are not known to be
/// the least: then by the best of that motion that were found, where these take less torque.
/// `terms`: the law's on this problem, of any family but constitutive; discs that stick are searched from the polygon of `options.edges`
/// on. `options.max_pivots` bounds each round.
Status stage_two(const ProblemView& problem, const Reduction& reduction, const LawTerms& terms, const SolveOptions& options,
                 const Eigen::Ref<const Eigen::VectorXd>& v_plus, StageTwoWorkspace& workspace, StageTwoImpulses& impulses);

}  // namespace stiction
