// stiction simulate SCENE.toml: runs a scene and prints what happened to it.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/run_log.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/experiments/scene.hpp"
#include "stiction/io/problem_file.hpp"
#include "stiction/record/metrics.hpp"
#include "stiction/record/recording.hpp"

namespace stiction::cli {
namespace {

struct SimulateOptions {
  std::string scene, log, dump, record, law, solver;
  std::optional<double> duration, dt, tolerance, acceptable;
  bool strict = false;
};

struct Outcome {
  State end;
  long steps = 0, retried = 0, halved = 0, at_acceptable = 0;
  Mean contacts, iterations;
  double worst_residual = 0.0, failed_residual = 0.0, deepest_penetration = 0.0, energy_start = 0.0, energy_end = 0.0;
  std::array<double, kStages> seconds{};
  Status status = Status::solved;
};

double energy(const World& world, const State& state) {
  WorldData data(world);
  update(world, state.q, state.v, data);
  return kinetic_energy(world, data, state.v) + potential_energy(world, data);
}

Scene prepare_scene(const SimulateOptions& options) {
  Scene scene = load_scene(options.scene);
  if (!options.law.empty()) scene.options.contact.law = law_from_string(options.law);
  if (!options.solver.empty()) scene.options.contact.solver = solver_from_string(options.solver);
  if (options.duration) scene.duration = *options.duration;
  if (options.dt) scene.options.assemble.dt = *options.dt;
  if (options.tolerance) scene.options.contact.tolerance = *options.tolerance;
  if (options.acceptable) scene.options.acceptable = *options.acceptable;
  if (options.strict) scene.options.strict = true;
  constexpr double kMostSteps = 1e9;
  if (const double steps = scene.duration / scene.options.assemble.dt; steps > kMostSteps) {
    throw InvalidArgument("--duration", "at most 1e9 steps of dt", fmt::format("{:.3g}", steps));
  }
  return scene;
}

Outcome run(const SimulateOptions& options, const Session& session) {
  const Scene scene = prepare_scene(options);
  print_warnings(scene.world, session);
  Stepper stepper = scene.make_stepper();
  print_warnings(stepper.scene().warnings, session);
  Outcome out;
  State state = scene.start;
  out.energy_start = energy(scene.world, state);
  RunLog log(options.log, scene.world, state);
  std::optional<Recording> recording;
  if (!options.record.empty()) recording.emplace().add(state);
  ProgressBar bar(options.scene, !session.quiet);
  Eigen::VectorXd tau;
  const long steps = std::lround(scene.duration / scene.options.assemble.dt);
  for (long k = 0; k < steps; ++k) {
    scene.held_torques(state, tau);
    const StepReport report = stepper.step(tau, state);
    if (!report.accepted) {
      out.status = report.status;
      out.failed_residual = report.residual;
      if (!options.dump.empty()) save_problem(options.dump, stepper.problem());
      break;
    }
    ++out.steps;
    out.retried += report.attempts > report.sub_steps;
    out.halved += report.sub_steps > 1;
    if (report.at_acceptable()) ++out.at_acceptable;
    out.contacts.add(stepper.problem().contacts());
    out.iterations.add(report.iterations);
    out.worst_residual = std::max(out.worst_residual, report.residual);
    out.deepest_penetration = std::max(out.deepest_penetration, report.deepest_penetration);
    for (std::size_t s = 0; s < out.seconds.size(); ++s) out.seconds[s] += report.seconds[s];
    log.add(state, stepper.problem().contacts(), report.residual);
    if (recording) recording->add(state, stepper);
    if (k % 64 == 0) bar.update(static_cast<double>(k) / static_cast<double>(steps));
  }
  bar.clear();
  if (!options.dump.empty() && out.status == Status::solved) save_problem(options.dump, stepper.problem());
  if (recording) save_recording(options.record, scene.world, *recording);
  out.end = state;
  out.energy_end = energy(scene.world, state);
  return out;
}

// Of the run: solved, acceptable where some steps missed the tolerance, or that of the step that ended it.
std::string_view status_of(const Outcome& o) {
  return o.status == Status::solved && o.at_acceptable > 0 ? "acceptable" : to_string(o.status);
}

std::string to_json(const Outcome& o) {
  nlohmann::ordered_json out;
  out["status"] = status_of(o);
  out["time"] = o.end.time;
  out["steps"] = o.steps;
  out["steps_at_acceptable"] = o.at_acceptable;
  out["retried"] = o.retried;
  out["halved"] = o.halved;
  out["q"] = std::vector<double>(o.end.q.begin(), o.end.q.end());
  out["v"] = std::vector<double>(o.end.v.begin(), o.end.v.end());
  out["contacts_mean"] = o.contacts.mean();
  out["contacts_max"] = o.contacts.maximum();
  out["iterations_mean"] = o.iterations.mean();
  out["worst_residual"] = o.worst_residual;
  out["deepest_penetration"] = o.deepest_penetration;
  out["energy_start"] = o.energy_start;
  out["energy_end"] = o.energy_end;
  for (int s = 0; s < kStages; ++s) {
    out["microseconds_per_step"][std::string(to_string(static_cast<Stage>(s)))] =
        1e6 * o.seconds[static_cast<std::size_t>(s)] / std::max(1L, o.steps);
  }
  return out.dump(2);
}

void print(const Outcome& o, const Scene& scene) {
  fmt::print("{:.6g} s in {} steps, status {}\n", o.end.time, o.steps, status_of(o));
  fmt::print("{} steps above the tolerance {:.1e} but within {:.1e}, {} retried, {} halved\n", o.at_acceptable,
             scene.options.contact.tolerance, scene.options.acceptable, o.retried, o.halved);
  if (o.status != Status::solved) fmt::print("the step that ended the run left a residual of {:.1e}\n", o.failed_residual);
  fmt::print("contacts {:.2f} (most {:.0f}), solver iterations {:.2f}, worst residual {:.1e}, deepest penetration {:.2e} m\n",
             o.contacts.mean(), o.contacts.maximum(), o.iterations.mean(), o.worst_residual, o.deepest_penetration);
  fmt::print("energy {:.6g} J -> {:.6g} J\n", o.energy_start, o.energy_end);
  for (const Block& block : scene.world.blocks()) {
    const std::string& name = scene.world.bodies()[static_cast<std::size_t>(block.body)].name;
    const auto q = o.end.q.segment(block.q, block.nq);
    if (block.nq < 7) continue;
    fmt::print("{:<20} at ({: .6f}, {: .6f}, {: .6f}) m, speed {:.3e} m/s\n", name, q[0], q[1], q[2], o.end.v.segment<3>(block.v).norm());
  }
}

int simulate(const SimulateOptions& options, const Session& session) {
  const Outcome outcome = run(options, session);
  if (session.json) write_text(*session.json, to_json(outcome));
  if (!session.quiet && (!session.json || *session.json != "-")) print(outcome, prepare_scene(options));
  return outcome.status == Status::solved ? kOk : kNumericalFailure;
}

}  // namespace

void add_simulate(CLI::App& app, Session& session) {
  CLI::App& sub = add_subcommand(app, "simulate", "Run a scene", session);
  auto options = std::make_shared<SimulateOptions>();
  sub.add_option("SCENE", options->scene, "Scene file (TOML), or the name of one that comes with stiction (see stiction scenes)")
      ->required();
  sub.add_option("--duration", options->duration, "Simulated time (s; default: the scene's)")->check(positive_number());
  sub.add_option("--dt", options->dt, "Step (s; default: the scene's)")->check(positive_number());
  sub.add_option("--law", options->law, "Contact law: " + law_names());
  sub.add_option("--solver", options->solver, "Solver: " + solver_names());
  sub.add_option("--tolerance", options->tolerance, "Largest scaled residual that a step aims at (default: the scene's)")
      ->check(positive_number());
  sub.add_option("--acceptable", options->acceptable, "Largest scaled residual that a step goes on with, counted (default: the scene's)")
      ->check(nonnegative_number());
  sub.add_flag("--strict", options->strict, "Take only steps that meet the tolerance");
  sub.add_option("--log", options->log, "CSV file, one row per state from t = 0 on");
  sub.add_option("--record", options->record, "File (.npz) of the whole run, for stiction view");
  sub.add_option("--dump", options->dump, "File (.json or .npz) for the last contact problem, or for the one that failed");
  sub.callback([options, &session] { session.run = [options, &session] { return simulate(*options, session); }; });
}

}  // namespace stiction::cli
