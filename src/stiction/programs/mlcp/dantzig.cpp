#include "stiction/programs/mlcp/dantzig.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Place = DantzigWorkspace::Place;

constexpr double kDependent = 1e-11;  // relative distance from the span of C below which a generator counts as dependent
constexpr double kNoise = 1e-12;      // relative Δw below which a finished row is not in the way
constexpr double kAccepted = 10.0;    // residual over tolerance that counts as solved
constexpr int kPlainRounds = 4;       // rounds without friction rows; further ones only repair rounding
constexpr int kFrictionRounds = 60;   // rounds with friction rows
constexpr int kStalled = 6;           // rounds without progress after which the best point is final

/// What stops a drive.
struct Event {
  enum class Kind { none, at_rest, own_bound, leaves, joins };
  double step = kInfinity;
  Kind kind = Kind::none;
  Index row = -1;        ///< that joins
  std::size_t slot = 0;  ///< of C that leaves

  void offer(double at, Kind what, Index which, std::size_t position = 0) {
    if (!(at < step)) return;
    *this = {std::max(at, 0.0), what, which, position};
  }
};

Place& place(DantzigWorkspace& ws, Index i) { return ws.place[i]; }

Place place_at(const DantzigWorkspace& ws, Index i) {
  if (ws.lo[i] == ws.hi[i]) return Place::fixed;
  return ws.x[i] <= ws.lo[i] ? Place::lower : ws.x[i] >= ws.hi[i] ? Place::upper : Place::idle;
}

void refresh(const Mlcp& p, DantzigWorkspace& ws) {
  ws.y.setZero();
  for (Index i = 0; i < p.size(); ++i) {
    if (ws.x[i] != 0.0) ws.y += ws.x[i] * p.R.row(i);
  }
  ws.w.noalias() = p.R.map() * ws.y;
  ws.w += p.q.map();
}

double rest(const Mlcp& p, const DantzigWorkspace& ws, Index i, double tolerance) {
  double terms = 0.0;
  for (Index k = 0; k < p.size(); ++k) terms += ws.norms[k] * std::abs(ws.x[k]);
  return tolerance * (ws.norms[i] * terms + std::abs(p.q[i]));
}

/// Row i, strictly inside its bounds, joins C if its generator is independent of it; otherwise it is idle.
void join(const Mlcp& p, DantzigWorkspace& ws, Index i) {
  place(ws, i) = Place::idle;
  if (ws.basis.rank() == ws.basis.dimension()) return;
  if (!(ws.basis.project(p.R.row_data(i), ws.d.data()) > kDependent * ws.norms[i])) return;
  ws.basis.append(ws.d.data());
  ws.clamped.push_back(static_cast<int>(i));
  place(ws, i) = Place::inside;
}

/// Takes the row at this slot out of C; idle rows that depended on it may come in.
void leave(const Mlcp& p, DantzigWorkspace& ws, std::size_t slot) {
  const Index i = ws.clamped[slot];
  ws.basis.remove(static_cast<int>(slot));
  ws.clamped.erase(ws.clamped.begin() + static_cast<std::ptrdiff_t>(slot));
  ws.x[i] = ws.dx[static_cast<Index>(slot)] < 0.0 ? ws.lo[i] : ws.hi[i];
  place(ws, i) = place_at(ws, i);
  for (Index k = 0; k < p.size(); ++k) {
    if (place(ws, k) == Place::idle) join(p, ws, k);
  }
}

/// Direction of a drive of row i with Δx_i = sign: ws.dx on C, ws.dy, ws.dw. False when a_i depends on C, so that dy = 0.
bool aim(const Mlcp& p, DantzigWorkspace& ws, Index i, double sign) {
  const Index k = ws.basis.rank(), r = ws.basis.dimension();
  const double distance = ws.basis.project(p.R.row_data(i), ws.d.data());
  ws.dx.head(k) = -sign * ws.d.head(k);
  ws.basis.solve_upper(ws.dx.data());
  if (distance > kDependent * ws.norms[i]) {
    ws.dy.noalias() = ws.basis.complement() * ws.d.segment(k, r - k);
    ws.dy *= sign;
    ws.dw.noalias() = p.R.map() * ws.dy;
    return true;
  }
  for (Index c = 0; c < k; ++c) {
    const double weight = ws.norms[ws.clamped[c]];
    if (std::abs(ws.dx[c]) * weight <= kDependent * ws.norms[i]) ws.dx[c] = 0.0;  // rounding, and must not stop the slide
  }
  return false;
}

Event first_event(const Mlcp& p, const DantzigWorkspace& ws, Index i, double sign, bool moves) {
  Event event;
  if (moves) event.offer(std::abs(ws.w[i]) / ws.dy.squaredNorm(), Event::Kind::at_rest, i);
  event.offer(sign > 0.0 ? ws.hi[i] - ws.x[i] : ws.x[i] - ws.lo[i], Event::Kind::own_bound, i);
  for (std::size_t slot = 0; slot < ws.clamped.size(); ++slot) {
    const Index k = ws.clamped[slot];
    const double dx = ws.dx[static_cast<Index>(slot)];
    if (dx == 0.0) continue;
    event.offer((dx < 0.0 ? ws.x[k] - ws.lo[k] : ws.hi[k] - ws.x[k]) / std::abs(dx), Event::Kind::leaves, k, slot);
  }
  if (!moves) return event;
  const double noise = kNoise * ws.dy.norm();
  for (Index k = 0; k < p.size(); ++k) {
    const Place at = ws.place[k];
    const double toward = at == Place::lower ? -ws.dw[k] : at == Place::upper ? ws.dw[k] : 0.0;
    if (k == i || toward <= noise * ws.norms[k]) continue;
    event.offer(std::max(0.0, at == Place::lower ? ws.w[k] : -ws.w[k]) / toward, Event::Kind::joins, k);
  }
  return event;
}

/// Moves x_i until row i meets its conditions. solved, infeasible or iteration_limit.
Status drive(const Mlcp& p, Index i, double tolerance, int limit, DantzigWorkspace& ws, MlcpSolution& s) {
  place(ws, i) = place_at(ws, i);
  if (place(ws, i) == Place::fixed) return Status::solved;
  while (true) {
    if (!std::isfinite(ws.w[i])) return Status::numerical_error;
    const double sign = ws.w[i] < 0.0 ? 1.0 : -1.0;
    const Place where = place_at(ws, i);
    place(ws, i) = where;
    if (where == (sign > 0.0 ? Place::upper : Place::lower)) return Status::solved;
    if (std::abs(ws.w[i]) <= rest(p, ws, i, tolerance)) {
      if (where == Place::idle) join(p, ws, i);
      return Status::solved;
    }
    if (s.pivots >= limit) return Status::iteration_limit;
    place(ws, i) = Place::waiting;
    const bool moves = aim(p, ws, i, sign);
    const Event event = first_event(p, ws, i, sign, moves);
    if (event.step == kInfinity) return Status::infeasible;
    ++s.pivots;
    ws.x[i] += event.step * sign;
    for (std::size_t slot = 0; slot < ws.clamped.size(); ++slot) {
      ws.x[ws.clamped[slot]] += event.step * ws.dx[static_cast<Index>(slot)];
    }
    switch (event.kind) {
      case Event::Kind::own_bound:
        ws.x[i] = sign > 0.0 ? ws.hi[i] : ws.lo[i];
        place(ws, i) = place_at(ws, i);
        refresh(p, ws);
        return Status::solved;
      case Event::Kind::at_rest:
        join(p, ws, i);
        refresh(p, ws);
        return Status::solved;
      case Event::Kind::leaves:
        leave(p, ws, event.slot);
        break;
      case Event::Kind::joins:
        join(p, ws, event.row);
        if (place(ws, event.row) == Place::idle) place(ws, event.row) = place_at(ws, event.row);
        break;
      case Event::Kind::none:
        break;
    }
    refresh(p, ws);
  }
}

/// w_C = 0 to rounding: Δx_C = -(T ᵀT)⁻¹ w_C, clipped to the bounds.
void refine(const Mlcp& p, DantzigWorkspace& ws) {
  const Index k = ws.basis.rank();
  for (Index c = 0; c < k; ++c) ws.dx[c] = -ws.w[ws.clamped[c]];
  ws.basis.solve_lower(ws.dx.data());
  ws.basis.solve_upper(ws.dx.data());
  if (!ws.dx.head(k).allFinite()) return;
  for (Index c = 0; c < k; ++c) {
    const Index i = ws.clamped[c];
    ws.x[i] = std::clamp(ws.x[i] + ws.dx[c], ws.lo[i], ws.hi[i]);
  }
  refresh(p, ws);
}

/// Bounds of row i at the present normal forces, and x_i within them.
void take_bounds(const Mlcp& p, DantzigWorkspace& ws, Index i) {
  ws.lo[i] = p.lower(i, ws.x);
  ws.hi[i] = p.upper(i, ws.x);
  ws.x[i] = std::clamp(ws.x[i], ws.lo[i], ws.hi[i]);
}

/// One round over all rows from ws.x.
Status round(const Mlcp& p, const DantzigOptions& options, DantzigWorkspace& ws, MlcpSolution& s) {
  const Index n = p.size(), r = p.R.cols();
  const int limit = options.max_pivots > 0 ? options.max_pivots : s.pivots + static_cast<int>(20 * (n + r) + 200);
  ws.basis.reset(static_cast<int>(r));
  ws.clamped.clear();
  std::fill(ws.place.begin(), ws.place.end(), Place::waiting);
  for (Index i = 0; i < n; ++i) {
    // Before the first round friction rows are at zero; later the bounds follow the forces of the round before.
    if (p.normal_of(i) < 0 || s.sweeps > 0) take_bounds(p, ws, i);
  }
  refresh(p, ws);
  for (const int row : ws.order) {
    if (p.normal_of(row) >= 0 && s.sweeps == 0) {
      take_bounds(p, ws, row);
      refresh(p, ws);
    }
    const Status status = drive(p, row, options.tolerance, limit, ws, s);
    if (status != Status::solved) return status;
  }
  refine(p, ws);
  return Status::solved;
}

void keep_best(const Mlcp& p, DantzigWorkspace& ws, MlcpSolution& s) {
  const double residual = mlcp_residual(p, ws.norms, ws.x, ws.y, ws.w);
  if (!(residual < s.residual)) return;
  s.residual = residual;
  s.x = ws.x;
}

void start(const Mlcp& p, DantzigWorkspace& ws, MlcpSolution& s) {
  const Index n = p.size(), r = p.R.cols();
  row_norms(p, ws.norms);
  for (GrowVector* v : {&ws.lo, &ws.hi, &ws.w, &ws.dw}) v->resize(n);
  for (GrowVector* v : {&ws.y, &ws.d, &ws.dx, &ws.dy}) v->resize(r);
  ws.x.setZero(n);
  if (!p.x0.empty()) ws.x = p.x0.map();
  ws.place.resize(n);
  ws.clamped.reserve(r);
  ws.order.clear();
  for (const bool friction : {false, true}) {
    for (Index i = 0; i < n; ++i) {
      if ((p.normal_of(i) >= 0) == friction) ws.order.push_back(static_cast<int>(i));
    }
  }
  s.pivots = s.sweeps = 0;
  s.residual = kInfinity;
}

/// After an overflow: x nearest to zero.
void return_rest(const Mlcp& p, DantzigWorkspace& ws, MlcpSolution& s) {
  for (Index i = 0; i < p.size(); ++i) ws.x[i] = p.normal_of(i) < 0 ? std::clamp(0.0, p.lo[i], p.hi[i]) : 0.0;
  keep_best(p, ws, s);
  s.x = ws.x;
}

}  // namespace

Status dantzig(const Mlcp& p, const DantzigOptions& options, DantzigWorkspace& ws, MlcpSolution& s) {
  check(p);
  require_positive("tolerance", options.tolerance);
  start(p, ws, s);
  const bool friction = std::any_of(p.normal.begin(), p.normal.end(), [](int j) { return j >= 0; });
  const int rounds = friction ? kFrictionRounds : kPlainRounds;
  const double accepted = kAccepted * options.tolerance;
  Status status = Status::solved;
  for (int stalled = 0; s.sweeps < rounds && stalled < kStalled && s.residual > accepted;) {
    const double before = s.residual;
    status = round(p, options, ws, s);
    ++s.sweeps;
    if (status == Status::infeasible) break;
    keep_best(p, ws, s);
    if (status != Status::solved) break;
    stalled = s.residual < 0.9 * before ? 0 : stalled + 1;
  }
  if (status == Status::infeasible) keep_best(p, ws, s);
  if (!(s.residual < kInfinity)) {
    return_rest(p, ws, s);
    if (status == Status::solved) status = Status::numerical_error;
  }
  if (s.residual <= accepted) {
    status = Status::solved;
  } else if (status == Status::solved) {
    status = Status::inaccurate;
  }
  return s.status = status;
}

}  // namespace stiction
