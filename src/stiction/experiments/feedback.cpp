#include "stiction/experiments/feedback.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stiction {

LargestStep largest_stable_step(const TryStep& attempt, int bisections) {
  LargestStep best;
  double unstable = 0.0;
  const auto is_stable = [&](double h) {
    const std::optional<TrackingRun> run = attempt(h);
    if (run) best = {h, *run};
    if (!run) unstable = h;
    return run.has_value();
  };
  constexpr double kFirst = 1e-3;
  for (double h = kFirst; is_stable(h);) {
    if (h == kLongestControlStep) return best;
    h = std::min(2.0 * h, kLongestControlStep);
  }
  constexpr double kShortest = 1e-5;
  for (double h = 0.5 * kFirst; best.h == 0.0 && h >= kShortest; h *= 0.5) is_stable(h);
  if (best.h == 0.0) return best;
  for (int k = 0; k < bisections; ++k) is_stable(0.5 * (best.h + unstable));
  return best;
}

std::optional<double> error_on_path(const Eigen::Ref<const Eigen::VectorXd>& before, const Eigen::Ref<const Eigen::VectorXd>& after,
                                    double t, double h, const std::function<Eigen::VectorXd(double)>& wanted) {
  constexpr int kPoints = 8;
  constexpr double kLost = 0.5;
  double sum = 0.0;
  for (int i = 1; i <= kPoints; ++i) {
    const double s = static_cast<double>(i) / kPoints;
    const Eigen::VectorXd error = (before + s * (after - before) - wanted(t + s * h)).cwiseAbs();
    if (!(error.maxCoeff() <= kLost)) return std::nullopt;
    sum += error.mean();
  }
  return sum / kPoints;
}

void add_tracking_rows(ExperimentReport& report, const std::string& robot, const std::string& drive, const LargestStep& found,
                       const std::optional<PublishedTracking>& published, const std::optional<PublishedTracking>& published_base,
                       double base_seconds, const std::string& note) {
  const auto add = [&](const char* quantity, const char* unit, double ours, double reference, const std::string& text) {
    ExperimentRow row{robot, drive, quantity, unit, reference, published ? Reference::published : Reference::none, {}, text};
    if (found.h > 0.0) row.ours = {ours};
    if (found.h == 0.0) row.note = "not stable at any step tried";
    report.rows.push_back(row);
  };
  const PublishedTracking p = published.value_or(PublishedTracking{});
  add("largest stable step", "s", found.h, p.step, note);
  add("mean error there", "rad", found.run.error, p.error, "");
  const double ratio = published_base ? p.seconds / published_base->seconds : 0.0;
  add("run time, of explicit PD's", "", found.run.seconds / base_seconds, ratio, "");
}

ExperimentReport run_feedback(const ExperimentOptions& options) {
  ExperimentReport report;
  report.steps = options.quick ? std::vector<double>{0.1, 0.02, 0.004} : std::vector<double>{0.1, 0.05, 0.02, 0.01, 0.004, 0.001};
  add_feedback_arm(report, options);
  add_feedback_quadruped(report, options);
  report.legend =
      "Largest steps by doubling from 1 ms, then bisection, up to 0.1 s. Errors of rows with a largest step are against the published "
      "figure;\n"
      "errors by step are against our own run at the shortest step that the setting names.";
  return report;
}

}  // namespace stiction
