// stiction experiment trot: the trotting quadruped of [ZD15], Tables 3-5, Figs. 11-13, with the published figures beside ours.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/experiment.hpp"
#include "cli/progress.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/experiments/trot_figures.hpp"
#include "stiction/sim/model_path.hpp"

namespace stiction::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kQuickDuration = 1.5;  // s: the longest of which all rows take less than 40 s

struct TrotCommand {
  std::vector<std::string> controllers, grounds;
  std::string mu, objective, setup = "ours", simulator = "paper";
  double duration = 30.0;
  int starts = 5;
  bool quick = false;
  std::optional<double> lookahead;
  std::string log, record, model = "links.urdf";
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

Json number(double value) { return std::isfinite(value) ? Json(value) : Json("inf"); }
Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

struct Measure {
  const char* name;
  double TrotResult::*member;
  bool of_predictions = false;  ///< of the controllers that predict forces alone
};
constexpr Measure kMeasures[] = {{"position_error", &TrotResult::position_error},
                                 {"velocity_error", &TrotResult::velocity_error},
                                 {"torque_rate", &TrotResult::torque_rate},
                                 {"torque_rate_max", &TrotResult::torque_rate_max},
                                 {"torque_mean", &TrotResult::torque_mean},
                                 {"force_error", &TrotResult::force_error, true},
                                 {"force_error_relative", &TrotResult::force_error_relative, true},
                                 {"force_error_of_mean", &TrotResult::force_error_of_mean, true},
                                 {"stance_error_of_mean", &TrotResult::stance_error_of_mean, true},
                                 {"touchdown_error_of_mean", &TrotResult::touchdown_error_of_mean, true},
                                 {"unambiguous_error_of_mean", &TrotResult::unambiguous_error_of_mean, true},
                                 {"worst_residual", &TrotResult::worst_residual}};

bool is_measured(const Measure& m, const TrotResult& r) {
  return !m.of_predictions || predicts_forces(trot_controller_from_string(r.controller));
}

Json run_to_json(const TrotResult& r) {
  Json out;
  out["seed"] = r.seed;
  out["duration"] = r.duration;
  out["fell"] = r.fell;
  for (const Measure& m : kMeasures) out[m.name] = is_measured(m, r) ? Json(r.*m.member) : Json();
  out["ambiguous_steps"] = r.ambiguous_steps;
  out["touchdown_steps"] = r.touchdown_steps;
  out["unloaded_steps"] = r.unloaded_steps;
  out["steps"] = r.steps;
  out["uncertified"] = r.uncertified;
  out["failures"] = r.failures;
  out["cold_starts"] = r.cold;
  out["saturated_steps"] = r.saturated_steps;
  out["repaired_steps"] = r.repaired_steps;
  out["self_contacts"] = r.self_contacts;
  out["controller_us"] = {{"median", r.controller_us_median}, {"p99", r.controller_us_p99}, {"max", r.controller_us_max}};
  out["waypoints"] = r.waypoints;
  return out;
}

Json row_to_json(const std::vector<TrotResult>& runs) {
  const TrotResult& first = runs.front();
  Json out;
  out["controller"] = first.controller;
  out["objective"] = first.objective;
  out["setup"] = first.setup;
  out["ground"] = first.ground;
  out["simulator"] = first.simulator;
  out["mu"] = first.ground == to_string(TrotGround::hills) ? Json() : number(first.mu);  // of hills: by patch
  out["lookahead"] = first.lookahead;
  for (const Measure& m : kMeasures) {
    const MedianWorst x = median_worst(runs, m.member);
    const bool measured = is_measured(m, first);
    out[m.name] = {{"median", measured ? Json(x.median) : Json()}, {"worst", measured ? Json(x.worst) : Json()}};
  }
  out["published"] = {
      {"position_error", number(first.published.position_error)},    {"velocity_error", number(first.published.velocity_error)},
      {"torque_rate", number(first.published.torque_rate)},          {"torque_mean", number(first.published.torque_mean)},
      {"force_error_relative", number(first.published.force_error)}, {"force_error", number(first.published.force_newtons)}};
  out["runs"] = Json::array();
  for (const TrotResult& r : runs) out["runs"].push_back(run_to_json(r));
  return out;
}

constexpr const char* kTrotRow =
    "{:<9} {:<11} {:<8} {:>4}  {:>5} {:>5}  {:>20}  {:>18}  {:>24}  {:>20}  {:>12}  {:>9}  {:>9}  {:>20}  {:>18}  {:>24}  {:>7}\n";

std::string table_header() {
  return fmt::format(kTrotRow, "ground", "controller", "program", "mu", "fell", "way", "|q - q_des| rad", "|v - v_des| rad/s",
                     "force error %", "force error N", "of mean %", "landing %", "unique %", "|dtau/dt| N m/s", "|tau| N m",
                     "fail/sat/repair/other", "resid.");
}

std::string rounded(double value, int digits) {
  return value != 0.0 && value < 0.5 * std::pow(10.0, -digits) ? fmt::format("{:.0e}", value) : fmt::format("{:.{}f}", value, digits);
}

std::string cell(const std::vector<TrotResult>& runs, double TrotResult::*member, int digits, double factor = 1.0) {
  const MedianWorst x = median_worst(runs, member);
  return fmt::format("{}/{}", rounded(factor * x.median, digits), rounded(factor * x.worst, digits));
}

// "median/worst (published)"
std::string cell(const std::vector<TrotResult>& runs, double TrotResult::*member, const std::optional<double>& published, int digits,
                 double factor = 1.0) {
  return fmt::format("{} {:>8}", cell(runs, member, digits, factor),
                     published ? fmt::format("({:.{}f})", factor * *published, digits) : "(-)");
}

template <class Count>
long total(const std::vector<TrotResult>& runs, Count TrotResult::*member) {
  long sum = 0;
  for (const TrotResult& r : runs) sum += static_cast<long>(r.*member);
  return sum;
}

std::string table_row(const std::vector<TrotResult>& runs) {
  const TrotResult& first = runs.front();
  const PublishedTrot& p = first.published;
  const bool predicts = predicts_forces(trot_controller_from_string(first.controller));
  const auto mean_waypoints = static_cast<double>(total(runs, &TrotResult::waypoints)) / static_cast<double>(runs.size());
  return fmt::format(kTrotRow, first.ground, first.controller, first.objective.empty() ? "-" : first.objective,
                     first.ground == to_string(TrotGround::hills) ? "-" : fmt::format("{}", first.mu),
                     fmt::format("{}/{}", total(runs, &TrotResult::fell), runs.size()), fmt::format("{:.1f}", mean_waypoints),
                     cell(runs, &TrotResult::position_error, p.position_error, 4),
                     cell(runs, &TrotResult::velocity_error, p.velocity_error, 2),
                     predicts ? cell(runs, &TrotResult::force_error_relative, p.force_error, 2, 100.0) : "-",
                     predicts ? cell(runs, &TrotResult::force_error, p.force_newtons, 2) : "-",
                     predicts ? cell(runs, &TrotResult::force_error_of_mean, 1, 100.0) : "-",
                     predicts ? fmt::format("{:.2g}", 100.0 * median_worst(runs, &TrotResult::touchdown_error_of_mean).median) : "-",
                     predicts ? fmt::format("{:.2g}", 100.0 * median_worst(runs, &TrotResult::unambiguous_error_of_mean).median) : "-",
                     cell(runs, &TrotResult::torque_rate, p.torque_rate, 0), cell(runs, &TrotResult::torque_mean, p.torque_mean, 2),
                     fmt::format("{}/{}/{}/{}", total(runs, &TrotResult::failures), total(runs, &TrotResult::saturated_steps),
                                 total(runs, &TrotResult::repaired_steps), total(runs, &TrotResult::ambiguous_steps)),
                     fmt::format("{:.0e}", median_worst(runs, &TrotResult::worst_residual).worst));
}

constexpr const char* kTrotLegend =
    R"(Median/worst of the starts, in brackets the published value [ZD15, Tables 3-5]; (-): not reported, or the robot fell. way: way-points
reached, mean. compliant: springs and dampers, 1 mm deep under the standing robot. hills: rigid, 3 cm high, mu uniform in [0.1, 1.5]
by patch, known to the controllers with mu. mu inf: ground and id-lcp-mu have 100, id-qp-mu 1.5, the others infinity, where the convex
QP (anitescu) is no slip: its row is id-lcp-inf. Force error: predicted against simulated summed normal force, touchdown included,
mean of the ratios step by step (of steps that bear a tenth of the weight), mean in N, and that mean over the mean force; the same of
landing steps, in which a foot starts to bear force, and without the steps counted under other (unique). fail/sat/repair/other:
control periods, of all starts, that fell back to the PID, met a torque limit, or had their request replaced by one that the contacts
allow; steps in which ground and controller (one law, one problem) moved differently, and both points are certified: the law allows
several motions. resid.: largest scaled residual of any accepted solve of both. Torque rates at their largest are those of landings,
with stage II and without; between landings stage II has the lower ones (--plot).)";

// What would be the same run under another name is left out: no slip on ground that is Coulomb's, in the second table.
bool is_repeated(const TrotRun& run) { return run.same_law && assumes_no_slip(run.controller) && !std::isinf(run.mu); }

void add_runs_on(TrotGround ground, const TrotCommand& c, const std::vector<TrotController>& controllers, TrotRun run,
                 std::vector<TrotRun>& runs) {
  std::vector<double> mus{0.1, INFINITY};
  if (!c.mu.empty()) mus = {parse_mu(c.mu)};
  if (ground == TrotGround::hills) mus = {INFINITY};  // each patch has its own
  run.ground = ground;
  for (const double mu : mus) {
    run.mu = mu;
    for (const TrotController controller : controllers) {
      run.controller = controller;
      if (run.same_law && !predicts_forces(controller)) continue;
      std::vector<QpObjective> objectives{QpObjective::kinetic};
      if (controller == TrotController::id_qp_mu && c.objective.empty()) objectives.push_back(QpObjective::anitescu);
      if (!c.objective.empty()) objectives = {qp_objective_from_string(c.objective)};
      for (const QpObjective objective : objectives) {
        run.objective = objective;
        if (!is_repeated(run)) runs.push_back(run);
      }
    }
  }
}

std::vector<TrotRun> plan_runs(const TrotCommand& c) {
  if (c.simulator != "paper" && c.simulator != "same") {
    throw InvalidArgument("--simulator", "paper or same", fmt::format("'{}'", c.simulator));
  }
  std::vector<TrotController> controllers;
  for (const std::string& name : c.controllers) controllers.push_back(trot_controller_from_string(name));
  if (controllers.empty()) controllers = all_trot_controllers();
  std::vector<TrotGround> grounds;
  for (const std::string& name : c.grounds) grounds.push_back(trot_ground_from_string(name));
  if (grounds.empty()) grounds = c.simulator == "same" ? std::vector{TrotGround::rigid} : all_trot_grounds();
  const bool plans_contacts = trot_setup_from_string(c.setup).plans_contacts;  // on the level, where none is named
  if (c.grounds.empty() && plans_contacts) std::erase(grounds, TrotGround::hills);
  std::vector<TrotRun> runs;
  TrotRun run;
  run.model = model_path(c.model);
  run.setup = trot_setup_from_string(c.setup);
  if (c.lookahead) run.setup.lookahead = *c.lookahead;
  run.duration = c.duration;
  run.log = c.log;
  run.record = c.record;
  run.same_law = c.simulator == "same";
  for (const TrotGround ground : grounds) add_runs_on(ground, c, controllers, run, runs);
  return runs;
}

void print_title(const TrotCommand& c, const TrotRun& run, std::uint64_t seed) {
  fmt::print("set-up {}, look-ahead {} s, torque limit {} N m, contacts {}, ground: {}; {:g} s, {} perturbed starts (seeds {} to {})\n",
             run.setup.name, run.setup.lookahead, run.setup.torque_limit, run.setup.plans_contacts ? "as planned" : "as they are",
             run.same_law ? "the controller's own law and friction" : "coulomb_pyramid, 4 edges (Stewart-Trinkle), where it is rigid",
             c.duration, c.starts, seed, seed + static_cast<std::uint64_t>(c.starts) - 1);
}

std::vector<TrotResult> run_starts(TrotRun run, const TrotCommand& c, const Session& session) {
  std::vector<TrotResult> results;
  ProgressBar bar(fmt::format("{} mu {}", to_string(run.controller), run.mu), !session.quiet);
  for (int k = 0; k < c.starts; ++k) {
    run.seed = session.seed + static_cast<std::uint64_t>(k);
    run.progress = [&bar, &c, k](double share) { bar.update((k + share) / c.starts); };
    results.push_back(run_trot(run));
  }
  bar.clear();
  return results;
}

void print(const TrotClaim& c) { fmt::print("{}: {:.2g} (published {:g})\n", c.quantity, c.ours, c.published); }

int trot(TrotCommand command, const Session& session) {
  if (command.quick) {
    command.duration = std::min(command.duration, kQuickDuration);
    command.starts = std::min(command.starts, 1);
  }
  if (command.starts < 1) throw InvalidArgument("--starts", "an integer >= 1", fmt::format("{}", command.starts));
  const std::vector<TrotRun> runs = plan_runs(command);
  if (!(command.log.empty() && command.record.empty()) && (runs.size() > 1 || command.starts > 1)) {
    throw InvalidArgument(command.log.empty() ? "--record" : "--log",
                          "one run (name --ground, --controller, --mu, --starts 1 and, for id-qp-*, --objective)",
                          fmt::format("{} runs", runs.size() * static_cast<std::size_t>(command.starts)));
  }
  require_distinct({{"--model", model_path(command.model)},
                    {"--log", command.log},
                    {"--record", command.record},
                    {"--plot", session.plot.value_or("")},
                    {"--json", session.json.value_or("")}});
  for (const TrotRun& run : runs) validate(run);  // before anything is printed
  Json out{{"rows", Json::array()}, {"claims", Json::array()}, {"figures", Json::array()}};
  Json& rows = out["rows"];
  std::vector<std::vector<TrotResult>> all;
  const bool table = session.prints_table();
  if (table && !runs.empty()) {
    print_title(command, runs.front(), session.seed);
    fmt::print("{}", table_header());
  }
  bool failed = false;
  for (const TrotRun& run : runs) {
    const std::vector<TrotResult> results = run_starts(run, command, session);
    if (rows.empty()) print_warnings(results.front().warnings, session);  // one robot for all runs
    failed |= total(results, &TrotResult::uncertified) > 0;
    rows.push_back(row_to_json(results));
    all.push_back(results);
    if (table) {
      fmt::print("{}", table_row(results));
      std::fflush(stdout);
    }
  }
  if (table) fmt::print("{}\n", kTrotLegend);
  const bool whole = command.controllers.empty() && command.simulator == "paper";
  std::optional<TrotSmoothing> smoothing;
  if (whole) smoothing = run_smoothing(runs.front(), session.seed);
  for (const TrotClaim& c : trot_claims(all, smoothing)) {
    out["claims"].push_back({{"quantity", c.quantity}, {"ours", c.ours}, {"published", c.published}});
    if (table) print(c);
  }
  for (const Figure& figure : trot_figures(all, smoothing)) out["figures"].push_back(to_json(figure));
  write_result(session, out);
  return failed ? kNumericalFailure : kOk;
}

}  // namespace

void add_trot(CLI::App& sub, Session& session) {
  auto command = std::make_shared<TrotCommand>();
  sub.add_option("--controller", command->controllers,
                 "pid, id-sensed-1, id-sensed-2, id-qp-mu, id-qp-inf, id-lcp-mu or id-lcp-inf; may be repeated (default: all)")
      ->check(name_read_by(trot_controller_from_string));
  sub.add_option("--setup", command->setup, "Gains, look-ahead, contacts and limits: 2014, 2015, paper (as published) or ours")
      ->check(name_read_by(trot_setup_from_string))
      ->capture_default_str();
  sub.add_option("--objective", command->objective,
                 "Of the QP controllers: kinetic (the paper's) or anitescu (default: both, of id-qp-inf kinetic alone)")
      ->check(name_read_by(qp_objective_from_string));
  sub.add_option("--mu", command->mu, "Friction of the ground, a number >= 0 or inf (default: 0.1, then inf)")
      ->check(name_read_by(parse_mu));
  sub.add_option("--ground", command->grounds, "rigid, compliant or hills; may be repeated (default: all)")
      ->check(name_read_by(trot_ground_from_string));
  sub.add_option("--simulator", command->simulator, "Law of the ground: paper (Stewart-Trinkle) or same (the controller's own)")
      ->capture_default_str();
  sub.add_option("--duration", command->duration, "Simulated time (s)")->capture_default_str();
  sub.add_option("--starts", command->starts, "Perturbed starts, from --seed on")->capture_default_str();
  sub.add_flag("--quick", command->quick, fmt::format("One start, {:g} s at most", kQuickDuration));
  sub.add_option("--lookahead", command->lookahead, "Of the inverse dynamics (s; default: the set-up's)");
  sub.add_option("--log", command->log, "CSV file, one row per step")->check(writable_file());
  sub.add_option("--record", command->record, "File (.npz) of the whole run, for stiction view and stiction report")
      ->check(writable_file({".npz"}));
  sub.add_option("--model", command->model, "The quadruped's URDF")->capture_default_str();
  sub.callback([command, &session] { session.run = [command, &session] { return trot(*command, session); }; });
}

}  // namespace stiction::cli
