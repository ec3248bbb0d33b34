#include "stiction/programs/mlcp/pgs.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Eigen::Index;

constexpr int kCheckEvery = 8;  // sweeps; a test costs as much as one

/// A row of zeros has w = q: x goes to the bound that allows its sign. False when there is none.
bool settle_zero_row(const Mlcp& p, Index i, GrowVector& x) {
  const double bound = p.q[i] < 0.0 ? p.upper(i, x) : p.q[i] > 0.0 ? p.lower(i, x) : x[i];
  if (!std::isfinite(bound)) return false;
  x[i] = std::clamp(bound, p.lower(i, x), p.upper(i, x));
  return true;
}

/// False when a row can never be met.
bool sweep(const Mlcp& p, PgsWorkspace& ws) {
  for (Index i = 0; i < p.size(); ++i) {
    const double square = ws.norms[i] * ws.norms[i];
    if (square == 0.0) {
      if (settle_zero_row(p, i, ws.x)) continue;
      return false;
    }
    const double w = p.R.row(i).dot(ws.y) + p.q[i];
    const double x = std::clamp(ws.x[i] - w / square, p.lower(i, ws.x), p.upper(i, ws.x));
    if (x == ws.x[i]) continue;
    ws.y += (x - ws.x[i]) * p.R.row(i);
    ws.x[i] = x;
  }
  return true;
}

}  // namespace

Status pgs(const Mlcp& p, const PgsOptions& options, PgsWorkspace& ws, MlcpSolution& s) {
  check(p);
  require_positive("tolerance", options.tolerance);
  const Index n = p.size();
  row_norms(p, ws.norms);
  ws.x.setZero(n);
  if (!p.x0.empty()) ws.x = p.x0.map();
  for (Index i = 0; i < n; ++i) ws.x[i] = std::clamp(ws.x[i], p.lower(i, ws.x), p.upper(i, ws.x));
  s.pivots = s.sweeps = 0;
  s.status = Status::iteration_limit;
  s.residual = mlcp_residual(p, ws.norms, ws.x, ws.y, ws.w);
  while (s.status == Status::iteration_limit) {
    if (s.residual <= options.tolerance) s.status = Status::solved;
    if (s.status == Status::solved || s.sweeps >= options.max_sweeps) break;
    const int sweeps = std::min(kCheckEvery, options.max_sweeps - s.sweeps);
    for (int k = 0; k < sweeps && s.status == Status::iteration_limit; ++k, ++s.sweeps) {
      if (!sweep(p, ws)) s.status = Status::infeasible;
    }
    s.residual = mlcp_residual(p, ws.norms, ws.x, ws.y, ws.w);
    if (!(s.residual < kInfinity)) s.status = Status::numerical_error;
  }
  if (!ws.x.allFinite()) {
    ws.x.setZero();
    s.residual = mlcp_residual(p, ws.norms, ws.x, ws.y, ws.w);
  }
  s.x = ws.x;
  return s.status;
}

}  // namespace stiction
