#include "stiction/experiments/trot_figures.hpp"

#include <cmath>

namespace stiction {
namespace {

std::string label(const TrotResult& r) { return r.objective.empty() ? r.controller : r.controller + " " + r.objective; }

bool is_on(const TrotResult& r, TrotGround ground) { return r.ground == to_string(ground); }

/// Median over the starts of the mean joint error; absent where the row is.
std::optional<double> error_on_hills(TrotRows rows, TrotController controller) {
  for (const std::vector<TrotResult>& starts : rows) {
    if (!is_on(starts.front(), TrotGround::hills) || starts.front().controller != to_string(controller)) continue;
    return median_worst(starts, &TrotResult::position_error).median;
  }
  return {};
}

Figure smoothing_figure(const TrotSmoothing& s) {
  Figure figure{"Fig. 11: largest torque rate of id-qp-mu (rigid, μ 0.1)", "s", "N m/s", false, true, false, {}};
  figure.curves.push_back({"with stage II", s.with.trace.time, s.with.trace.torque_rate});
  figure.curves.push_back({"without", s.without.trace.time, s.without.trace.torque_rate});
  return figure;
}

Figure hills_figure(TrotRows rows) {
  Figure figure{"Fig. 12: joint error on the height map, μ uniform in [0.1, 1.5]", "s", "rad", false, true, false, {}};
  for (const std::vector<TrotResult>& starts : rows) {
    const TrotResult& r = starts.front();
    if (is_on(r, TrotGround::hills)) figure.curves.push_back({label(r), r.trace.time, r.trace.position_error});
  }
  return figure;
}

Figure path_figure(TrotRows rows, bool high) {
  const std::string friction = high ? "high" : "low";
  Figure figure{"Fig. 13: path of the base, rigid ground, " + friction + " friction", "x (m)", "y (m)", false, false, true, {}};
  for (const std::vector<TrotResult>& starts : rows) {
    const TrotResult& r = starts.front();
    if (is_on(r, TrotGround::rigid) && std::isinf(r.mu) == high) figure.curves.push_back({label(r), r.trace.x, r.trace.y});
  }
  return figure;
}

}  // namespace

TrotSmoothing run_smoothing(TrotRun run, std::uint64_t seed) {
  run.controller = TrotController::id_qp_mu;
  run.objective = QpObjective::kinetic;
  run.ground = TrotGround::rigid;
  run.mu = 0.1;
  run.seed = seed;
  TrotSmoothing out;
  out.with = run_trot(run);
  run.stage_two = false;
  out.without = run_trot(run);
  return out;
}

std::vector<TrotClaim> trot_claims(TrotRows rows, const std::optional<TrotSmoothing>& smoothing) {
  std::vector<TrotClaim> out;
  const std::optional<double> pid = error_on_hills(rows, TrotController::pid), id = error_on_hills(rows, TrotController::id_qp_mu);
  if (pid && id) out.push_back({"joint error on hills, id-qp-mu (kinetic) over PID", *id / *pid, kPublishedHillsRatio});
  if (smoothing) {
    const double ratio = smoothing->with.torque_rate_max / smoothing->without.torque_rate_max;
    out.push_back({"largest torque rate of id-qp-mu, with stage II over without", ratio, kPublishedSmoothing});
  }
  return out;
}

std::vector<Figure> trot_figures(TrotRows rows, const std::optional<TrotSmoothing>& smoothing) {
  std::vector<Figure> out;
  if (smoothing) out.push_back(smoothing_figure(*smoothing));
  for (const Figure& figure : {hills_figure(rows), path_figure(rows, true), path_figure(rows, false)}) {
    if (!figure.curves.empty()) out.push_back(figure);
  }
  return out;
}

}  // namespace stiction
