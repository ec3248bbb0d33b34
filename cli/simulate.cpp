// stiction simulate SCENE.toml: runs a scene and prints what happened to it.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/run_log.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/forward/step_options.hpp"
#include "stiction/io/problem_file.hpp"
#include "stiction/record/coordinate_names.hpp"
#include "stiction/sim/model_path.hpp"
#include "stiction/sim/observers.hpp"
#include "stiction/sim/scene.hpp"

namespace stiction::cli {
namespace {

constexpr std::string_view kInterrupted = "interrupted";  // status of a run that a signal ended

struct SimulateOptions {
  std::string scene, log, dump, record;
  std::optional<std::string> law, solver, scheme, coordinates, integrator, impact_model, impact_order;
  std::optional<int> sub_steps;
  std::optional<double> duration, dt, tolerance, acceptable;
  bool strict = false;
};

struct Outcome {
  RunSummary run;
  State end;
  double energy_start = 0.0, energy_end = 0.0;
};

Scene prepare_scene(const SimulateOptions& options) {
  std::optional<Coordinates> coordinates;
  if (options.coordinates) coordinates = coordinates_from_string(*options.coordinates);
  Scene scene = load_scene(options.scene, coordinates);
  if (coordinates && scene.world.robots().empty())
    throw InvalidArgument("--coordinates", "none for a scene without robots", to_string(*coordinates));
  if (options.law) scene.options.contact.law = law_from_string(*options.law);
  if (options.solver) scene.options.contact.solver = solver_from_string(*options.solver);
  if (options.scheme) scene.options.scheme = scheme_from_string(*options.scheme);
  EventOptions& events = scene.options.events;
  if (options.integrator) events.integrator = integrator_from_string(*options.integrator);
  if (options.impact_model) events.impact = impact_model_from_string(*options.impact_model);
  if (options.impact_order) events.order = impact_order_from_string(*options.impact_order);
  if (options.duration) scene.duration = *options.duration;
  if (options.dt) scene.options.assemble.dt = *options.dt;
  if (options.sub_steps) scene.options.sub_steps = *options.sub_steps;
  if (options.tolerance) scene.options.contact.tolerance = *options.tolerance;
  if (options.acceptable) scene.options.acceptable = *options.acceptable;
  if (options.strict) scene.options.strict = true;
  refuse_idle(scene.options, {.integrator = options.integrator ? "--integrator" : "",
                              .impact_model = options.impact_model ? "--impact-model" : "",
                              .impact_order = options.impact_order ? "--impact-order" : "",
                              .acceptable = options.acceptable ? "--acceptable" : ""});
  return scene;
}

Outcome run(const SimulateOptions& options, const Scene& scene, const Session& session) {
  Simulation simulation(scene);
  print_warnings(simulation.warnings(), session);
  if (scene.world.nv() == 0) print_warnings({"nothing in the scene moves: it has no [[robot]] and no [[body]]"}, session);
  static_cast<void>(steps_in(scene.duration, scene.options.assemble.dt));  // throws before files are written
  RunLog log(options.log, scene.world, scene.start);
  Trajectory trajectory;
  trajectory.add(scene.start);
  ProgressBar bar(options.scene, !session.quiet);
  constexpr long kProgressSteps = 64;  // seldom enough to cost nothing
  const Interrupt interrupt;
  RunOptions plan{.duration = scene.duration, .control = hold_joints(scene)};
  plan.until = [](const Simulation&) { return Interrupt::signal() != 0; };
  plan.observers = {report_progress([&bar](double share) { bar.update(share); }, kProgressSteps)};
  if (!options.log.empty()) plan.observers.emplace_back(std::ref(log));
  if (!options.record.empty()) plan.observers.push_back(record_to(trajectory));
  Outcome out;
  out.run = simulation.run(plan);
  bar.clear();
  out.end = simulation.state();
  if (out.run.stop == Stop::asked) {  // said first: to write a long run takes a while
    tell(fmt::format("stiction: interrupted at {:.6g} s; the files that were asked for are written until there\n", out.end.time));
  }
  if (!options.dump.empty()) save_problem(options.dump, simulation.stepper().problem());
  if (!options.record.empty()) {
    record_end(trajectory, simulation.stepper(), out.run, kInterrupted);
    save_trajectory(options.record, scene.world, trajectory);
  }
  out.energy_start = mechanical_energy(scene.world, scene.start);
  out.energy_end = mechanical_energy(scene.world, out.end);
  return out;
}

std::string_view status_of(const Outcome& o) { return o.run.stop == Stop::asked ? kInterrupted : o.run.status(); }

std::string outcome_to_json(const Outcome& o) {
  nlohmann::ordered_json out;
  out["status"] = status_of(o);
  out["time"] = o.end.time;
  out["steps"] = o.run.steps;
  out["steps_at_acceptable"] = o.run.at_acceptable;
  out["retried"] = o.run.retried;
  out["halved"] = o.run.halved;
  out["q"] = std::vector<double>(o.end.q.begin(), o.end.q.end());
  out["v"] = std::vector<double>(o.end.v.begin(), o.end.v.end());
  out["contacts_mean"] = o.run.contacts.mean();
  out["contacts_max"] = o.run.contacts.maximum();
  out["iterations_mean"] = o.run.iterations.mean();
  out["worst_residual"] = o.run.worst_residual;
  out["deepest_penetration"] = o.run.deepest_penetration;
  out["energy_start"] = o.energy_start;
  out["energy_end"] = o.energy_end;
  for (int s = 0; s < kStages; ++s) {
    out["microseconds_per_step"][std::string(to_string(static_cast<Stage>(s)))] = 1e6 * o.run.seconds[s] / std::max(1L, o.run.steps);
  }
  return out.dump(2);
}

void print(const Outcome& o, const Scene& scene) {
  fmt::print("{:.6g} s in {} steps, status {}\n", o.end.time, o.run.steps, status_of(o));
  fmt::print("{} steps above the tolerance {:.1e} but within {:.1e}, {} retried, {} halved\n", o.run.at_acceptable,
             scene.options.contact.tolerance, std::max(scene.options.contact.tolerance, scene.options.acceptable), o.run.retried,
             o.run.halved);
  if (o.run.stop == Stop::refused) fmt::print("the step that ended the run left a residual of {:.1e}\n", o.run.last.residual);
  fmt::print("contacts {:.2f} (most {:.0f}), solver iterations {:.2f}, worst residual {:.1e}, deepest penetration {:.2e} m\n",
             o.run.contacts.mean(), o.run.contacts.maximum(), o.run.iterations.mean(), o.run.worst_residual, o.run.deepest_penetration);
  fmt::print("energy {:.6g} J -> {:.6g} J\n", o.energy_start, o.energy_end);
  const std::vector<std::string> names = position_names(scene.world);
  for (const Joint& joint : scene.world.joints()) {
    if (joint.kind != JointKind::free) continue;
    const std::string_view name = std::string_view(names[joint.q]).substr(0, names[joint.q].rfind(".x"));
    const auto p = o.end.q.segment<3>(joint.q);
    fmt::print("{:<20} at ({: .6f}, {: .6f}, {: .6f}) m, speed {:.3e} m/s\n", name, p[0], p[1], p[2], o.end.v.segment<3>(joint.v).norm());
  }
}

int simulate(const SimulateOptions& options, const Session& session) {
  require_distinct({{"SCENE", model_path(options.scene)},
                    {"--log", options.log},
                    {"--record", options.record},
                    {"--dump", options.dump},
                    {"--json", session.json.value_or("")}});
  const Scene scene = prepare_scene(options);
  const Outcome outcome = run(options, scene, session);
  if (session.json) write_text(*session.json, outcome_to_json(outcome));
  if (session.prints_table()) print(outcome, scene);
  if (outcome.run.stop == Stop::asked) return Interrupt::exit_code();
  return outcome.run.stop == Stop::duration ? kOk : kNumericalFailure;
}

}  // namespace

void add_simulate(CLI::App& app, Session& session) {
  CLI::App& sub = add_subcommand(app, "simulate", "Run a scene", session);
  auto options = std::make_shared<SimulateOptions>();
  sub.add_option("SCENE", options->scene, "Scene file (TOML), or the name of one that comes with stiction (see stiction scenes)")
      ->required();
  sub.add_option("--duration", options->duration, "Simulated time (s; default: the scene's)")->check(positive_number());
  sub.add_option("--dt", options->dt, "Step (s; default: the scene's)")->check(positive_number());
  sub.add_option("--sub-steps", options->sub_steps,
                 "Parts that a step is taken in, each with a solve of its own (default: the scene's, or 1)")
      ->check(positive_number());
  sub.add_option("--law", options->law, "Contact law: " + law_names());
  sub.add_option("--solver", options->solver, "Solver: " + solver_names());
  sub.add_option("--scheme", options->scheme, "Time-integration scheme: " + scheme_names());
  sub.add_option("--integrator", options->integrator, "Of event_driven, between events: " + integrator_names());
  sub.add_option("--impact-model", options->impact_model, "Of event_driven, restitution: " + impact_model_names());
  sub.add_option("--impact-order", options->impact_order, "Of event_driven, impacts at one time: " + impact_order_names());
  sub.add_option("--coordinates", options->coordinates,
                 "Of the scene's robots: minimal, extended (limbs cut off), maximal (every joint cut)");
  sub.add_option("--tolerance", options->tolerance, "Largest scaled residual that a step aims at (default: the scene's)")
      ->check(positive_number());
  sub.add_option("--acceptable", options->acceptable, "Largest scaled residual that a step goes on with, counted (default: the scene's)")
      ->check(nonnegative_number());
  sub.add_flag("--strict", options->strict, "Take only steps that meet the tolerance");
  sub.add_option("--log", options->log, "CSV file, one row per state from t = 0 on")->check(writable_file());
  sub.add_option("--record", options->record, "File (.npz) of the whole run, for stiction view and stiction convert")
      ->check(writable_file({".npz"}));
  sub.add_option("--dump", options->dump, "File (.json or .npz) for the last contact problem, or for the one that failed")
      ->check(writable_file({".json", ".npz"}));
  sub.callback([options, &session] { session.run = [options, &session] { return simulate(*options, session); }; });
}

}  // namespace stiction::cli
