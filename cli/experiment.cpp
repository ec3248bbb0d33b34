// stiction experiment NAME: a published experiment, with the published figures beside ours.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/experiments/alpha_sweep.hpp"
#include "stiction/experiments/model_path.hpp"
#include "stiction/experiments/trot.hpp"

namespace stiction::cli {
namespace {

struct TrotCommand {
  std::vector<std::string> controllers;
  std::string mu, objective, simulator;
  double duration = 30.0;
  std::optional<double> lookahead;
  std::string log, model = "links.urdf";
};

double parse_mu(const std::string& text) {
  if (text == "inf" || text == "infinity") return INFINITY;
  std::size_t used = 0;
  double value = NAN;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != text.size() || !(value >= 0.0)) throw InvalidArgument("--mu", "a number >= 0 or inf", fmt::format("'{}'", text));
  return value;
}

nlohmann::ordered_json number(double value) { return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json("inf"); }
nlohmann::ordered_json number(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json to_json(const TrotResult& r) {
  nlohmann::ordered_json out;
  out["controller"] = r.controller;
  out["objective"] = r.objective;
  out["simulator"] = r.simulator;
  out["mu"] = number(r.mu);
  out["lookahead"] = r.lookahead;
  out["duration"] = r.duration;
  out["fell"] = r.fell;
  out["position_error"] = r.position_error;
  out["velocity_error"] = r.velocity_error;
  out["torque_rate"] = r.torque_rate;
  out["torque_rate_max"] = r.torque_rate_max;
  out["torque_mean"] = r.torque_mean;
  out["force_error"] = r.force_error;
  out["force_error_relative"] = r.force_error_relative;
  out["touchdown_error_relative"] = r.touchdown_error_relative;
  out["touchdown_steps"] = r.touchdown_steps;
  out["steps"] = r.steps;
  out["worst_residual"] = r.worst_residual;
  out["uncertified"] = r.uncertified;
  out["controller_failures"] = r.controller_failures;
  out["saturated_steps"] = r.saturated_steps;
  out["repaired_steps"] = r.repaired_steps;
  out["controller_us"] = {{"median", r.controller_us_median}, {"p99", r.controller_us_p99}, {"max", r.controller_us_max}};
  out["waypoints"] = r.waypoints;
  out["published"] = {{"position_error", number(r.published.position_error)},
                      {"velocity_error", number(r.published.velocity_error)},
                      {"torque_rate", number(r.published.torque_rate)},
                      {"torque_mean", number(r.published.torque_mean)},
                      {"force_error_relative", number(r.published.force_error)}};
  return out;
}

std::string published(const std::optional<double>& value, int digits) { return value ? fmt::format("({:.{}f})", *value, digits) : "(-)"; }
std::string published_percent(const std::optional<double>& value) { return value ? fmt::format("({:.2f} %)", 100.0 * *value) : "(-)"; }

constexpr const char* kHeader = "{:<11} {:<9} {:<15} {:>5}  {:>9}  {:>18}  {:>18}  {:>17}  {:>17}  {:>23}  {:>9}  {:>8}\n";

std::string table_header() {
  return fmt::format(kHeader, "controller", "objective", "simulator law", "mu", "completed", "|q - q_des| rad", "|v - v_des| rad/s",
                     "|dtau/dt| N m/s", "|tau| N m", "force error", "touchdown", "residual");
}

std::string table_row(const TrotResult& r) {
  const bool predicts = r.controller != "pid";
  return fmt::format(
      kHeader, r.controller, r.objective.empty() ? "-" : r.objective, r.simulator, r.mu,
      r.fell ? fmt::format("fell {:.1f}s", r.fell_at) : fmt::format("{:.1f} s", r.duration),
      fmt::format("{:.5f} {:>8}", r.position_error, published(r.published.position_error, 4)),
      fmt::format("{:.4f} {:>8}", r.velocity_error, published(r.published.velocity_error, 4)),
      fmt::format("{:.2f} {:>8}", r.torque_rate, published(r.published.torque_rate, 1)),
      fmt::format("{:.4f} {:>8}", r.torque_mean, published(r.published.torque_mean, 4)),
      predicts ? fmt::format("{:.2e} % {:>10}", 100.0 * r.force_error_relative, published_percent(r.published.force_error)) : "-",
      predicts ? fmt::format("{:.1e} %", 100.0 * r.touchdown_error_relative) : "-", fmt::format("{:.1e}", r.worst_residual));
}

constexpr const char* kLegend =
    "In brackets the published value [ZD15, Tables 3-5]; (-): not reported, the robot fell. Force error: predicted against simulated\n"
    "summed normal force, relative, away from touchdown steps; `touchdown`: on the steps in which a foot starts to bear force.\n"
    "Residual: largest scaled residual of any accepted solve of simulator and controller.";

std::vector<TrotRun> plan_runs(const TrotCommand& c) {
  std::vector<TrotController> controllers;
  for (const std::string& name : c.controllers) controllers.push_back(trot_controller_from_string(name));
  if (controllers.empty()) controllers = all_trot_controllers();
  std::vector<double> mus{0.1, INFINITY};
  if (!c.mu.empty()) mus = {parse_mu(c.mu)};
  std::vector<TrotRun> runs;
  for (const double mu : mus) {
    for (const TrotController controller : controllers) {
      TrotRun run;
      run.model = model_path(c.model);
      run.controller = controller;
      run.mu = mu;
      run.duration = c.duration;
      run.log = c.log;
      run.lookahead = c.lookahead;
      if (!c.simulator.empty()) run.simulator = law_from_string(c.simulator);
      const bool qp = controller == TrotController::id_qp_mu || controller == TrotController::id_qp_inf;
      std::vector<QpObjective> objectives{QpObjective::anitescu};
      if (qp && c.objective.empty()) objectives = {QpObjective::kinetic, QpObjective::anitescu};
      if (!c.objective.empty()) objectives = {qp_objective_from_string(c.objective)};
      for (const QpObjective objective : objectives) {
        run.objective = objective;
        runs.push_back(run);
      }
    }
  }
  if (!c.log.empty() && runs.size() > 1) {
    throw InvalidArgument("--log", "one run (name --controller, --mu and, for id-qp-*, --objective)", fmt::format("{} runs", runs.size()));
  }
  return runs;
}

int trot(const TrotCommand& command, const Session& session) {
  std::vector<TrotRun> runs = plan_runs(command);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const bool table = !session.quiet && (!session.json || *session.json != "-");
  if (table) fmt::print("{}", table_header());
  bool failed = false;
  for (TrotRun& run : runs) {
    ProgressBar bar(fmt::format("{} mu {}", to_string(run.controller), run.mu), !session.quiet);
    run.progress = [&bar](double share) { bar.update(share); };
    const TrotResult result = run_trot(run);
    bar.clear();
    if (rows.empty()) print_warnings(result.warnings, session);  // one robot for all runs
    failed |= result.uncertified > 0;
    rows.push_back(to_json(result));
    if (table) {
      fmt::print("{}", table_row(result));
      std::fflush(stdout);
    }
  }
  if (table) fmt::print("{}\n", kLegend);
  if (session.json) write_text(*session.json, rows.dump(2));
  return failed ? kNumericalFailure : kOk;
}

struct AlphaCommand {
  std::string scene = "scenes/quadruped.toml";
  std::optional<double> duration, dt;
  AlphaSweepOptions options;
};

nlohmann::ordered_json to_json(const AlphaCurve& curve) {
  nlohmann::ordered_json out;
  out["name"] = curve.name;
  out["coordinates"] = curve.coordinates;
  out["scheme"] = curve.scheme;
  out["largest_alpha"] = number(curve.largest);
  out["fastest_alpha"] = number(curve.fastest);
  out["published"] = {{"chosen_alpha", number(curve.published_alpha)}};
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
    "than JOR where bilateral rows are iterated on (HMJP, HMSP) but not in minimal coordinates; it chose half the limit, in brackets.";

void print_alpha_table(const AlphaSweep& sweep) {
  fmt::print("{} problems from {} steps, {:.2f} closed contacts each\n{:>6}", sweep.problems, sweep.steps, sweep.mean_contacts, "alpha");
  for (const AlphaCurve& c : sweep.curves) fmt::print("  {:>14}", fmt::format("{} {}", c.name, c.scheme));
  fmt::print("\n");
  for (std::size_t k = 0; k < sweep.curves.front().points.size(); ++k) {
    fmt::print("{:>6.2f}", sweep.curves.front().points[k].alpha);
    for (const AlphaCurve& c : sweep.curves) {
      const AlphaPoint& p = c.points[k];
      fmt::print("  {:>14}", p.failures == 0 ? fmt::format("{:.1f}", p.mean_iterations) : fmt::format("{}!", p.failures));
    }
    fmt::print("\n");
  }
  const auto row = [&](const char* name, auto value) {
    fmt::print("{:>6}", name);
    for (const AlphaCurve& c : sweep.curves) fmt::print("  {:>14}", value(c));
    fmt::print("\n");
  };
  const auto text = [](const std::optional<double>& x) { return x ? fmt::format("{:.2f}", *x) : std::string("-"); };
  row("limit", [&](const AlphaCurve& c) { return fmt::format("{} ({:.1f})", text(c.largest), 2.0 * c.published_alpha.value_or(NAN)); });
  row("best", [&](const AlphaCurve& c) { return text(c.fastest); });
  fmt::print("{}\n", kAlphaLegend);
}

int alpha(const AlphaCommand& command, const Session& session) {
  Scene scene = load_scene(model_path(command.scene));
  print_warnings(scene.world, session);
  if (command.duration) scene.duration = *command.duration;
  if (command.dt) scene.options.assemble.dt = *command.dt;
  const AlphaSweep sweep = sweep_alpha(scene, command.options);
  if (!session.quiet && (!session.json || *session.json != "-")) print_alpha_table(sweep);
  if (session.json) {
    nlohmann::ordered_json out;
    out["problems"] = sweep.problems;
    out["steps"] = sweep.steps;
    out["mean_contacts"] = sweep.mean_contacts;
    out["tolerance"] = command.options.tolerance;
    out["warm_start"] = command.options.warm_start;
    out["curves"] = nlohmann::ordered_json::array();
    for (const AlphaCurve& c : sweep.curves) out["curves"].push_back(to_json(c));
    write_text(*session.json, out.dump(2));
  }
  return sweep.problems > 0 ? kOk : kNumericalFailure;
}

void add_alpha(CLI::App& experiment, Session& session) {
  CLI::App& sub = add_subcommand(experiment, "alpha", "Iterations of JOR and SOR against their relaxation, [G14], Fig. 6", session);
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
  sub.callback([command, &session] { session.run = [command, &session] { return alpha(*command, session); }; });
}

}  // namespace

void add_experiment(CLI::App& app, Session& session) {
  CLI::App& experiment = *app.add_subcommand("experiment", "A published experiment, with the published figures beside ours");
  experiment.require_subcommand(1);
  add_alpha(experiment, session);
  add_drop(experiment, session);
  CLI::App& sub = add_subcommand(experiment, "trot", "The trotting quadruped of [ZD15], Tables 3-5 on rigid ground", session);
  auto command = std::make_shared<TrotCommand>();
  sub.add_option("--controller", command->controllers, "pid, id-qp-mu, id-qp-inf, id-lcp-mu or id-lcp-inf; may be repeated (default: all)");
  sub.add_option("--mu", command->mu, "Friction of the ground, a number >= 0 or inf (default: 0.1, then inf)");
  sub.add_option("--duration", command->duration, "Simulated time (s)")->capture_default_str();
  sub.add_option("--objective", command->objective, "Of the QP controllers: kinetic (the paper's) or anitescu (default: both)");
  sub.add_option("--simulator", command->simulator,
                 "Contact law of the simulator (default: the controller's own where that describes the ground)");
  sub.add_option("--lookahead", command->lookahead, "Of the inverse dynamics (s; default: the step, 0.005 for the kinetic objective)");
  sub.add_option("--log", command->log, "CSV file, one row per step");
  sub.add_option("--model", command->model, "The quadruped's URDF")->capture_default_str();
  sub.callback([command, &session] { session.run = [command, &session] { return trot(*command, session); }; });
}

}  // namespace stiction::cli
