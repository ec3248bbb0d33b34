#include "stiction/programs/qp/bounded_qp.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/problem/contact_problem.hpp"
#include "stiction/programs/qp/qp_residual.hpp"

namespace stiction {

namespace {

constexpr double kAccepted = 10.0;  // residual over tolerance up to which a solve counts as solved

}  // namespace

Status bounded_qp(const BoundedQp& problem, const QpOptions& options, BoundedQpWorkspace& workspace, BoundedQpSolution& solution) {
  require_positive("tolerance", options.tolerance);
  if (!problem.t.empty()) require_size("t", problem.t.size(), problem.A.cols());
  require_finite_entries("t", problem.t);
  ActiveSet& engine = workspace.engine;
  engine.start(problem.A, problem.c, problem.lo, problem.hi, is_zero(problem.t) && is_zero(problem.c) ? VectorView() : problem.x0);
  if (!problem.t.empty()) engine.target() = problem.t.map();
  Status status = engine.minimise(options);
  solution.x = engine.x();
  solution.y = engine.y();
  if (!solution.y.allFinite() || !solution.x.allFinite()) {
    set_nearest_to_zero(problem.A.rows(), problem.lo, problem.hi, solution.x);
    solution.y.noalias() = problem.A.map().transpose() * solution.x;
    status = Status::numerical_error;
  }
  solution.direction = engine.direction();
  solution.pivots = engine.pivots();
  solution.residual = qp_residual(problem, solution.x, workspace.residual, solution.gradient).worst();
  if (status == Status::solved && !(solution.residual <= kAccepted * options.tolerance)) status = Status::inaccurate;
  if (status == Status::inaccurate && !problem.x0.empty()) {  // rounding of x0 is all that is left where the solution is zero
    BoundedQp cold = problem;
    cold.x0 = {};
    return bounded_qp(cold, options, workspace, solution);
  }
  return solution.status = status;
}

}  // namespace stiction
