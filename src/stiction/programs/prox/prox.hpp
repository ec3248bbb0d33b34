// Normal-cone inclusions as proximal-point equations, iterated in the impulses [G14, Eqs. 11-19]:
//
//   λ_N = max(0, λ_N - r_N ξ_N)                       ξ_N = u_N + c
//   λ_T = proj(λ_T - r_T u_T), on the disc of radius μ λ_N, or on the polygon with k vertices
//   β   = clamp(β - r_B w, lo, hi)                    infinite bounds: a bilateral row, the projection is the identity [G14, Eq. 14]
//   r = α / G_ll, the larger of the two tangents' G_ll for r_T;   u = R_t y + u_free,  w = B_t y + w_free,  y = R_tᵀ λ + B_tᵀ β
// JOR projects every contact and row at the same y; SOR updates y after each [G14, Eqs. 18-19], contacts first, then rows. The disc
// takes the normal impulse just projected. One iteration costs two products with R_t and B_t, 12 r multiplications per contact, or, where
// 3n + m rows of one robot are fewer than 2r, one with G, which is formed once.
//
// Bilateral rows that `reduce` has eliminated are the direct variant [G14, Eq. 20]: they are at rest at λ^k, so u is that of the reduced
// R_t; but G_ll in r is of G = WᵀM⁻¹W, of the coordinates that the system is written in [G14, Eq. 15], and within a sweep SOR moves these
// by M⁻¹W Δλ [G14, Eq. 18] until the bilateral impulses follow at its end, in place of [G14, Eq. 19]. Both are read from Rt_before and
// Bt_before; a problem without them has its own G. The impulses of eliminated rows follow from the others and are not in the stopping test.
//
// Stopping test, every component: |λ^{k+1} - λ^k| <= |λ^k| T_rel + T_abs [G14], after at most `max_iterations`. The test bounds the step
// and not the error, so a finite `velocity_tolerance` asks besides for a natural map below it and tightens T_rel and T_abs until then. α in
// (0, 2); JOR converges for symmetric G up to 2 / the largest eigenvalue of diag(G)⁻¹ G, which shrinks with contacts that act on the same
// coordinates. Departure: `adapt` lowers α by a factor 0.7 when the steps grow, or 100/α of them have brought no progress.
#pragma once

#include "stiction/problem/reduced.hpp"
#include "stiction/problem/solution.hpp"
#include "stiction/programs/prox/dense_prox.hpp"

namespace stiction {

struct ProxOptions {
  double alpha = 0.6;                     ///< relaxation, in (0, 2); 0.6 is what [G14, Table 1] chose for minimal coordinates
  int max_iterations = 10000;             ///< sweeps over all contacts and rows
  double relative_tolerance = 1e-6;       ///< T_rel [G14]
  double absolute_tolerance = 1e-6;       ///< T_abs (N s) [G14]
  double velocity_tolerance = kInfinity;  ///< m/s, natural map of the returned point; infinity leaves the stopping test as published
  int edges = 0;                          ///< 0: friction disc; k >= 3: polygon with k vertices at angles 2πj/k from the first tangent
  bool adapt = false;                     ///< lower α where the iteration does not converge
  bool warm_start = false;                ///< start from the impulses in the solution when their sizes fit
};

struct ProxSolution {
  GrowVector lambda;                        ///< 3n, contact impulses N S T (N s)
  GrowVector beta;                          ///< m, impulses of the rows of B_t (N s)
  Status status = Status::numerical_error;  ///< solved, iteration_limit, or numerical_error (diverged; the impulses are zero)
  int iterations = 0;
  double residual = 0.0;  ///< m/s, largest |x - prox(x - ξ/G_ll)| G_ll over normals, tangents and rows of the returned point
  double alpha = 0.0;     ///< with which it ended
};

/// Memory of one solver, reused between calls.
struct ProxWorkspace {
  bool by_matrix = false;  ///< sweeps by G, in `dense`; else by R_t and B_t, in what follows
  DenseProx dense;
  GrowVector y, y_next;                                     ///< r
  GrowVector moved;                                         ///< Σ W Δλ of a sweep of SOR, of the columns of Rt_before
  GrowVector inverse_normal, inverse_tangent, inverse_row;  ///< 1 / G_ll, 0 where an impulse moves nothing
  SectionShape shape;
};

/// Over-relaxed Jacobi. Throws InvalidArgument when sizes disagree or options are out of range.
void jor(const ReducedProblem& problem, const ProxOptions& options, ProxWorkspace& workspace, ProxSolution& solution);

/// Over-relaxed Gauss-Seidel. Throws as `jor`.
void sor(const ReducedProblem& problem, const ProxOptions& options, ProxWorkspace& workspace, ProxSolution& solution);

}  // namespace stiction
