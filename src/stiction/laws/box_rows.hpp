// Programs as mixed complementarity problems with bounds (programs/mlcp), for solvers that move one row at a time: dantzig and pgs.
//
//   associated   the generators of half lines, half spaces and polygons with their bounds
//   coulomb      four edges: rows N and D_± = (±S + T)/√2 with |x_±| <= μ x_N/√2, bounds that follow the normal force. The section with
//                vertices at ±μ λ_N on the axes is this box turned by 45°, so box friction is the law itself and not an approximation.
//                Other sections have no box; μ = ∞ has no bounds: both are refused.
// Bounded rows follow with their own bounds.
#pragma once

#include "stiction/laws/generators.hpp"
#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/mlcp/dantzig.hpp"
#include "stiction/programs/mlcp/pgs.hpp"

namespace stiction {

struct BoxRowsWorkspace {
  Generators generators;
  std::vector<int> normal;
  GrowVector x0;
  DantzigWorkspace dantzig;
  PgsWorkspace pgs;
  MlcpSolution solution;
};

/// solver: dantzig or pgs. Throws InvalidArgument on edges or mu that have no box.
void solve_by_box_rows(const StandardForm& form, const SolverOptions& options, BoxRowsWorkspace& workspace, Impulses& impulses);

}  // namespace stiction
