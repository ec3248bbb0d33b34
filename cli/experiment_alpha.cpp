// stiction experiment alpha: iterations of JOR and SOR against their relaxation, [G14, Fig. 6].
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/experiment.hpp"
#include "stiction/experiments/alpha_sweep.hpp"
#include "stiction/sim/scene.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction::cli {
namespace {

nlohmann::ordered_json optional_number(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

struct AlphaCommand {
  std::string scene = "scenes/quadruped.toml";
  std::optional<double> duration, dt;
  bool quick = false;
  AlphaSweepOptions options;
};

nlohmann::ordered_json curve_to_json(const AlphaCurve& curve) {
  nlohmann::ordered_json out;
  out["name"] = curve.name;
  out["coordinates"] = curve.coordinates;
  out["scheme"] = curve.scheme;
  out["largest_alpha"] = optional_number(curve.largest);
  out["fastest_alpha"] = optional_number(curve.fastest);
  out["published"] = {{"chosen_alpha", optional_number(curve.published_alpha)}};
  out["points"] = nlohmann::ordered_json::array();
  for (const AlphaPoint& p : curve.points) {
    out["points"].push_back(
        {{"alpha", p.alpha}, {"mean_iterations", p.mean_iterations}, {"most_iterations", p.most_iterations}, {"failures", p.failures}});
  }
  return out;
}

constexpr const char* kAlphaLegend =
    "Mean iterations from zero impulses to |step| <= |impulse| T_rel + T_abs; N!: N problems did not converge. [G14] prints its Fig. 6 as "
    "curves\n"
    "without numbers and states: every configuration has an upper limit of alpha, the fastest alpha is close to it, SOR converges faster\n"
    "than JOR where bilateral rows are iterated on (HMJP, HMSP) but not in minimal coordinates; it chose half the limit, in brackets.\n"
    "Direct bilateral rows (D): alpha / G_ll with G of the coordinates that the robot is written in, extended (E) or maximal (M).\n"
    "The problems are those of another scene (--scene): a quadruped that lands and stands under a stiff joint hold at a step of 1 ms,\n"
    "pushed sideways meanwhile; the paper's are of StarLETH under a locomotion controller at 400 Hz. So numbers of iterations are not\n"
    "comparable with the paper's; what may be compared is the shape of the curves.";

void print_alpha_table(const AlphaSweep& sweep) {
  fmt::print("{} problems from {} steps, {:.2f} closed contacts each\n{:>6}", sweep.problems, sweep.steps, sweep.mean_contacts, "alpha");
  for (const AlphaCurve& c : sweep.curves) fmt::print("  {:>11}", fmt::format("{} {}", c.name, c.scheme));
  fmt::print("\n");
  for (std::size_t k = 0; k < sweep.curves.front().points.size(); ++k) {
    fmt::print("{:>6.2f}", sweep.curves.front().points[k].alpha);
    for (const AlphaCurve& c : sweep.curves) {
      const AlphaPoint& p = c.points[k];
      fmt::print("  {:>11}", p.failures == 0 ? fmt::format("{:.1f}", p.mean_iterations) : fmt::format("{}!", p.failures));
    }
    fmt::print("\n");
  }
  const auto row = [&](const char* name, auto value) {
    fmt::print("{:>6}", name);
    for (const AlphaCurve& c : sweep.curves) fmt::print("  {:>11}", value(c));
    fmt::print("\n");
  };
  const auto text = [](const std::optional<double>& x) { return x ? fmt::format("{:.2f}", *x) : std::string("-"); };
  row("limit", [&](const AlphaCurve& c) { return fmt::format("{} ({:.1f})", text(c.largest), 2.0 * c.published_alpha.value_or(NAN)); });
  row("best", [&](const AlphaCurve& c) { return text(c.fastest); });
  fmt::print("{}\n", kAlphaLegend);
}

int alpha(const AlphaCommand& command, const Session& session) {
  const Scene scene = load_scene(command.scene);
  print_warnings(Simulation(scene).warnings(), session);
  AlphaSweepOptions options = command.options;
  options.duration = command.duration;
  options.dt = command.dt;
  if (command.quick) options.duration = std::min(command.duration.value_or(scene.duration), 0.25);
  const AlphaSweep sweep = sweep_alpha(command.scene, options);
  if (session.prints_table()) print_alpha_table(sweep);
  nlohmann::ordered_json out;
  out["problems"] = sweep.problems;
  out["steps"] = sweep.steps;
  out["mean_contacts"] = sweep.mean_contacts;
  out["tolerance"] = command.options.tolerance;
  out["warm_start"] = command.options.warm_start;
  out["curves"] = nlohmann::ordered_json::array();
  for (const AlphaCurve& c : sweep.curves) out["curves"].push_back(curve_to_json(c));
  write_result(session, out);
  return sweep.problems > 0 ? kOk : kNumericalFailure;
}

}  // namespace

void add_alpha(CLI::App& sub, Session& session) {
  auto command = std::make_shared<AlphaCommand>();
  sub.add_option("--scene", command->scene, "Scene with one floating robot")->capture_default_str();
  sub.add_option("--duration", command->duration, "Simulated time (s; default: the scene's)");
  sub.add_option("--dt", command->dt, "Step (s; default: the scene's)");
  sub.add_option("--alpha", command->options.alphas, "Relaxations, ascending in (0, 2); may be repeated (default: 0.1 to 1.9)");
  sub.add_option("--tolerance", command->options.tolerance, "T_rel = T_abs (the latter in N s)")->capture_default_str();
  sub.add_option("--max-iterations", command->options.max_iterations, "After which a problem counts as not converging")
      ->capture_default_str();
  sub.add_option("--push", command->options.push, "Sideways force on the base in the middle fifth of the run (N)")->capture_default_str();
  sub.add_option("--stride", command->options.stride, "Every so many steps a problem is taken")->capture_default_str();
  sub.add_flag("--warm-start", command->options.warm_start, "Start from the impulses of the problem before instead of zero");
  sub.add_flag("--quick", command->quick, "0.25 s at most");
  sub.callback([command, &session] { session.run = [command, &session] { return alpha(*command, session); }; });
}

}  // namespace stiction::cli
