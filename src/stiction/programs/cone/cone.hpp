// Signorini contact with Coulomb friction, solved in the r-space of the reduced problem by Newton's method on the natural map and along the
// central path (search.hpp).
//
//   u = R_t y + u_free,  y = R_tᵀ λ + B_tᵀ β,  w = B_t y + w_free,      0 <= λ_N ⊥ u_N + c >= 0,      β ∈ [lo, hi] ⊥ w
//   disc      λ_T ∈ disc of radius μ λ_N,                          dissipation maximal over the disc
//   polygon   λ_T ∈ polygon with k vertices μ λ_N (cos 2πj/k, sin 2πj/k), dissipation maximal over the polygon: the LCP of
//             Stewart-Trinkle and Anitescu-Potra [ZD15, Eqs. 48-61] with the weights of the k directions summed up
// Both are K ∋ λ ⊥ ũ ∈ K* with De Saxce's ũ = u + (c + μ s(u_T)) e_N, s(u_T) = max {-d·u_T : d in the section} (|u_T| for the
// disc). `relaxed` drops μ s: Anitescu's convex relaxation, whose solution is unique in u.
// Stopping test: natural map max_i |λ_i - P_K(λ_i - ρ ũ_i)|_inf / ρ (m/s), ρ = 1 / mean diag G, evaluated from (λ, β) alone; bounded
// rows enter as |β - P_[lo,hi](β - ρ w)| / ρ.
// μ = 0 is a frictionless contact. μ = ∞ is the limit of the above as μ grows: λ = 0 and u_N + c >= 0, or u_N + c = 0 and either u_T = 0,
// λ_N >= 0, λ_T free, or λ_N = 0 and λ_T against the slip, which is what becomes of sliding; the natural map is the least of the three
// residuals. `relaxed`: u_T = 0 at any load. The path follows a wide cone, Newton's method takes it from there.
// A problem with a defect D (W - R_t R_tᵀ) has u + D λ in every residual; directions leave D out, which is below 1e-3 of W.
// Cost per iteration: n r² + r³ with one block of columns, block-sparse LU with several. Of few contacts the 3n x 3n of G is formed.
#pragma once

#include <vector>

#include "stiction/problem/reduced.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction {

enum class ConePhase : char { newton, smoothing, path };

/// One iteration, for those who want to watch.
struct ConeRecord {
  int iteration;  ///< linear systems factored before it
  ConePhase phase;
  double mean_product;  ///< ν², of every complementarity product of the smoothing and the path (J); 0 for Newton
  double natural_map;   ///< m/s
  double step;          ///< Newton and smoothing: part of Newton's step; path: change of ν over ν, positive where the path turns back
};

struct ConeOptions {
  int edges = 0;              ///< 0: disc; k >= 4: polygon with k vertices
  bool relaxed = false;       ///< Anitescu's convex relaxation
  double tolerance = 5e-10;   ///< natural map below which the status is `solved`: in m/s, times the largest velocity where that is below 1
                              ///< m/s; never finer than rounding of the terms of u
  double acceptable = 0.0;    ///< natural map, counted as `tolerance`, below which the solve ends when `tolerance` is not met within 500
                              ///< factorisations more; 0: there is none
  int max_iterations = 2000;  ///< linear systems factored, all phases and the fall-back together
  bool warm_start = false;    ///< start from the impulses in the solution when their sizes fit
  std::vector<ConeRecord>* log = nullptr;  ///< every iteration is appended
};

struct ConeSolution {
  GrowVector lambda;  ///< 3n, contact impulses N S T (N s)
  GrowVector beta;    ///< m, impulses of the bounded rows
  Status status = Status::numerical_error;
  int iterations = 0;        ///< linear systems factored
  double natural_map = 0.0;  ///< m/s, of the returned point
  int paths = 0;             ///< central paths followed: 0 where Newton sufficed, more than 1 where paths were lost
};

struct ConeWorkspace;  // workspace.hpp

/// Impulses of the law above. Throws InvalidArgument when sizes disagree or `options.edges` is neither 0 nor >= 4.
void solve_cone(const ReducedProblem& problem, const ConeOptions& options, ConeWorkspace& workspace, ConeSolution& solution);

}  // namespace stiction
