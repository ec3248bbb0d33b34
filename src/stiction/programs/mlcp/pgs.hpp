// Projected Gauss-Seidel for mixed complementarity with bounds (mlcp.hpp), the baseline of game physics [Erleben 2007; ODE quickstep]:
//
//   x_i <- clamp(x_i - (a_iᵀy + q_i)/|a_i|², lo_i, hi_i),  y += Δx_i a_i          in the order of the rows, 4 r operations each
// Friction rows take their bounds from the normal force just found. Matrix-free: A = R Rᵀ is never formed. Converges linearly for a
// problem without friction rows that has a solution, slowly where masses differ or rows are redundant; here for comparison only.
// Stopping test, every eighth sweep, from the point itself (a test on steps inside a sweep would be several times too kind):
// mlcp_residual <= tolerance.
#pragma once

#include "stiction/programs/mlcp/mlcp.hpp"

namespace stiction {

struct PgsOptions {
  double tolerance = 1e-9;  ///< of mlcp_residual
  int max_sweeps = 10000;
};

struct PgsWorkspace {
  GrowVector norms, x, y, w;
};

/// status: solved or iteration_limit; infeasible when a row of zeros can never be met. Allocation and errors as
/// `dantzig`.
Status pgs(const Mlcp& problem, const PgsOptions& options, PgsWorkspace& workspace, MlcpSolution& solution);

}  // namespace stiction
