// Convex cone programs with softness, solved by Newton's method on their unconstrained primal in the r-space:
//
//   dual     min ½ λᵀ(G + R) λ + λᵀ(u_free - û) + bounded rows      λ_i ∈ K_i, β ∈ [lo, hi], R_i = diag(R_n, R_t, R_t) >= 0
//   primal   min ½|y|² + Σ ½ |P_i(-R_i⁻¹(u_i - û_i))|²_{R_i},       u = R_t y + u_free, P_i the projection on K_i in the metric R_i
//   optimal  K_i ∋ λ_i ⊥ u_i + R_i λ_i - û_i ∈ K_i*
// K_i: circular or polygonal friction cone, half space (μ = ∞), or one of its faces. The primal is strictly convex with a continuous,
// piecewise smooth gradient y - R_tᵀ λ(y); its Hessian I + Σ R_iᵀ D_i R_i, D_i = R_i⁻½ P' R_i⁻½, is r x r and block-sparse. Line search:
// root of the derivative along the step, O(n) an evaluation. [Todorov 2014; Castro, Permenter, Han 2022, section IV].
// Hard rows (R_i below a tenth of `proximity` times G_ii; the bounded rows, which are exact) take part by proximal points: R_i is raised by
// δ and û_i by δ λ_i of the last round, whose limit is the hard program. For R = 0 this is the method of multipliers on
// min ½|y|² s.t. u - û ∈ K*, the primal of Anitescu's step. Infeasible: λ grows along a direction of the recession cone, which is checked.
// Warm starts: full Newton steps on λ = P_i(δ λ - u + û) first, in the metric R + δ, δ = G_ii, the natural map: contacts keep the states
// that the λ given tells, of which u = -R λ alone, so much smaller, would say nothing once u_free has changed.
// Stopping test: natural map |λ - P_K(λ - ρ (u + R λ - û))|_inf / ρ <= tolerance * velocity scale, from (λ, β) alone.
// Departs from the sources in using no Delassus approximation and in the hard rows.
// Cost per iteration: n r² + r³, or the block-sparse one.
#pragma once

#include <vector>

#include "stiction/problem/reduced.hpp"
#include "stiction/problem/sections.hpp"
#include "stiction/problem/solution.hpp"
#include "stiction/programs/cone/rspace.hpp"

namespace stiction {

/// The program's data of one contact.
struct SoftContact {
  /// Of the friction cone: all of it, the ray `ray`, the cone of `ray` and `other_ray`, the apex, or (mu infinite) the tangents alone.
  enum class Face : char { cone, ray, sector, apex, tangents };
  double normal = 0.0, tangential = 0.0;                ///< R_n, R_t (1/kg), >= 0
  Eigen::Vector3d reference = Eigen::Vector3d::Zero();  ///< û (m/s)
  double mu = 0.0;                                      ///< friction coefficient, infinity allowed
  Face face = Face::cone;
  Eigen::Vector3d ray = Eigen::Vector3d::UnitX();        ///< of the faces ray and sector
  Eigen::Vector3d other_ray = Eigen::Vector3d::UnitX();  ///< of the sector, as long as `ray`: neighbouring vertices of a polygon
};

struct SoftConeOptions {
  int edges = 0;             ///< 0: disc; k >= 4: polygon with k vertices
  double tolerance = 1e-12;  ///< natural map over the largest entry of u_free - û, w_free
  int max_iterations = 500;  ///< linear systems factored
  double proximity = 1e-3;   ///< first δ of the hard rows as a share of G_ii; lowered where convergence is slow
  bool warm_start = false;   ///< start from the impulses in the solution when their sizes fit
  bool bounded_rows = true;  ///< false: leave the rows of B_t out
};

struct SoftConeSolution {
  GrowVector lambda;  ///< 3n, contact impulses N S T (N s)
  GrowVector beta;    ///< m, impulses of the bounded rows
  Status status = Status::numerical_error;
  int iterations = 0;        ///< linear systems factored
  int rounds = 0;            ///< of proximal points
  double natural_map = 0.0;  ///< m/s, of the returned point
};

/// Memory kept between calls; grows on first use.
struct SoftConeWorkspace {
  RSpace space;
  SectionShape shape;
  GrowVector softness;                ///< 2n, normal and tangential, hard rows raised by δ
  GrowVector hard, hard_rows;         ///< 2n and m, the part δ that is taken back
  GrowVector diagonal, row_diagonal;  ///< 2n and m, of G
  GrowVector shift, row_shift;        ///< 3n, m: u - R_t y and w - B_t y of the round
  GrowVector y, u, w, lambda, beta;   ///< the point
  GrowVector dy, du, dw, gradient, D, Db, trial, trial_beta, best, best_beta, lambda_round, beta_round;
};

/// Solves the program of `contacts` (n) on the geometry of `problem` (R_t, u_free, mu unused, B_t, w_free, lo, hi). Status: solved,
/// inaccurate (rounding came first), infeasible (proved by a direction), iteration_limit, numerical_error (impulses zero).
/// Throws InvalidArgument when sizes disagree or edges is neither 0 nor >= 4.
void soft_cone(const ReducedProblem& problem, const std::vector<SoftContact>& contacts, const SoftConeOptions& options,
               SoftConeWorkspace& workspace, SoftConeSolution& solution);

}  // namespace stiction
