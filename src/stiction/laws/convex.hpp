// The laws that lead to a low-rank convex program in generators: frictionless, no_slip and anitescu.
//
//   minimise |Aᵀx|²/2 + cᵀx,  lo <= x <= hi                       generators.hpp;  y = Aᵀx unique
// whose optimality conditions are the law's: each generator's velocity a_jᵀy + c_j >= 0, = 0 where x_j > 0. Solver by default:
// no_slip and frictionless without bounded rows as [ZD15 section 3]: FIND-INDICES eliminates the tangential rows, principal
// pivoting solves the LCP in the normals (`solve_by_pivoting`); everything else by the bounded active set (`solve_by_active_set`).
// Cost O(r³ + n r²). Tangential rows of no_slip that contradict each other (splaying feet [ZD15 section 3.5]) leave a residual that
// the certificate shows; with the active set they are reported infeasible.
#pragma once

#include "stiction/laws/generators.hpp"
#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/programs/lcp/find_indices.hpp"
#include "stiction/programs/lcp/ppm.hpp"
#include "stiction/programs/qp/bounded_qp.hpp"

namespace stiction {

struct ConvexWorkspace {
  Generators generators;
  BoundedQpWorkspace qp;
  BoundedQpSolution qp_solution;
  IndependentRows tangents;
  PpmWorkspace ppm;
  PpmSolution ppm_solution;
  std::vector<int> candidates;
  std::vector<double> rows, normals;  ///< 3n x r when R_t has several blocks; n x (r - tangents)
  GrowVector q, y, head;
};

/// law: frictionless, no_slip or anitescu.
void solve_by_active_set(const ReducedProblem& problem, const SolveOptions& options, ConvexWorkspace& workspace, Impulses& impulses);
/// law: frictionless or no_slip, no bounded rows.
void solve_by_pivoting(const ReducedProblem& problem, const SolveOptions& options, ConvexWorkspace& workspace, Impulses& impulses);

}  // namespace stiction
