// Convex programs in generators: the family associated without compliance, over half lines, half spaces and polygons.
//
//   minimise |Aᵀx|²/2 + cᵀx,  lo <= x <= hi                       generators.hpp;  y = Aᵀx unique
// whose optimality conditions are the law's: each generator's velocity a_jᵀy + c_j >= 0, = 0 where x_j > 0. Half lines and half spaces
// without bounded rows as [ZD15 section 3]: FIND-INDICES eliminates the tangential rows of the half spaces, a pivoting method solves the
// LCP in the normals (`solve_by_pivoting`); everything else by the bounded active set (`solve_by_active_set`). Many bodies go to
// interior.hpp. Cost O(r³ + n r²). Tangential rows within 1e-3 of the span of others (soles almost in one plane) are eliminated only when
// slip is left on them otherwise, in steps down to 1e-10: taken at once they would cost as many digits, and huge impulses (`well_apart`:
// never, and the slip is told). Tangential rows that contradict each other (splaying feet [ZD15 section 3.5]) are reported infeasible: by
// pivoting with the Farkas vector that `tangents_contradict` finds on their QR factorisation.
#pragma once

#include "stiction/base/pivoted_qr.hpp"
#include "stiction/laws/generators.hpp"
#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/lcp/find_indices.hpp"
#include "stiction/programs/lcp/low_rank_lcp.hpp"
#include "stiction/programs/qp/kinetic_qp.hpp"

namespace stiction {

struct ConvexWorkspace {
  Generators generators;
  KineticQpWorkspace qp;
  KineticQpSolution qp_solution;
  IndependentRows tangents;
  double distance = 0.0;   ///< that these are apart from each other
  bool same_rows = false;  ///< R and the half spaces are those of the last solve: tangents found at the same distance stay, and `range`
  LowRankLcpWorkspace lcp;
  LowRankLcpSolution lcp_solution;
  std::vector<int> candidates;        ///< tangential rows of half spaces
  std::vector<int> moving;            ///< those of them that are more than rounding
  std::vector<double> rows, normals;  ///< 3n x r when R_t has several blocks; n x (r - tangents)
  GrowVector q, y, head, rest;
  GrowVector rounding;     ///< of the rows of the normals beside the tangents
  PivotedQr range;         ///< of the tangential rows of half spaces, `candidates`: see tangents_contradict
  bool has_range = false;  ///< `range` is factored for the rows of the last solve
  int factored_range = 0;  ///< times that it was, in all
  GrowVector slip;         ///< their velocities u_T that no motion removes
};

/// What was found of the rows of the last problem is not that of the next.
inline void forget_rows(ConvexWorkspace& w) {
  w.distance = 0.0;
  w.has_range = false;
}

/// Half lines, half spaces and polygons.
void solve_by_active_set(const StandardForm& form, const SolverOptions& options, ConvexWorkspace& workspace, Impulses& impulses);
/// Half lines and half spaces, no bounded rows. Solver ppm, or goldfarb_idnani for any other.
void solve_by_pivoting(const ReducedProblem& problem, const SolverOptions& options, ConvexWorkspace& workspace, Impulses& impulses);

/// Whether no motion keeps the half spaces (μ = ∞) of a problem in standard form from slipping: u_T = 0 has no solution y, judged by the
/// distance of u_free's tangential part from the range of the tangential rows against rounding [ZD15, section 3.5], whatever the normals
/// say. With R_T = Q [R; 0] the slip that stays is ρ = (I - Q₁Q₁ᵀ) u_free,T in `workspace.slip`, and -ρ on the rows `workspace.candidates`
/// is a Farkas vector: R_Tᵀρ = 0, ρ·u_free,T = |ρ|² > 0. `workspace.range` keeps the factors. Cost 2 n r² flops.
bool tangents_contradict(const ReducedProblem& problem, ConvexWorkspace& workspace);

}  // namespace stiction
