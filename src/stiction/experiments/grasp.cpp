#include "stiction/experiments/grasp.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

#include <fmt/format.h>

#include "stiction/experiments/small_world.hpp"
#include "stiction/record/metrics.hpp"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr double kGraspStep = 0.01;  // s [D14, section VII-A]
constexpr int kPublishedSteps = 10;  // of each trial of Table I
constexpr int kPublishedBoxes = 2;   // three pairs of bodies, 36 contacts
constexpr double kLost = 1e-3;       // m: a box that hangs so far below its place is no longer held
constexpr double kTableFriction = 100.0;

GraspSetting no_slip(Solver solver, const std::string& name, bool corner_normals) {
  return {.name = name, .law = Law::no_slip, .solver = solver, .corner_normals = corner_normals};
}
GraspSetting stewart_trinkle(Solver solver, const std::string& name, bool corner_normals) {
  return {.name = name, .law = Law::coulomb_pyramid, .solver = solver, .corner_normals = corner_normals, .mu = kTableFriction};
}

/// What one start did.
struct Grip {
  int held = 0;              ///< steps in which every box was held
  Mean iterations, bearing;  ///< per step; contacts that bear force, per pair of bodies
  double seconds = 0.0;      ///< per step
  double sag = 0.0;          ///< m, at the end
  double residual = 0.0;     ///< largest, scaled, of the steps taken
  int contacts = 0;
  std::string failure;
  std::vector<double> energy;  ///< J, after each step
};

Grip hold(const GraspSetting& setting, int boxes, int steps, double jitter = 0.0, std::uint64_t seed = 1) {
  HeldRow row(setting, boxes, kGraspStep, jitter, seed);
  Grip trial;
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < steps; ++k) {
    const bool solved = row.step();
    trial.iterations.add(row.solution().iterations);
    if (!solved) {
      trial.failure =
          fmt::format("step {}: {}, residual {:.0e}", k + 1, to_string(row.solution().status), row.solution().certificate.worst());
      break;
    }
    trial.residual = std::max(trial.residual, row.solution().certificate.worst());
    trial.contacts = static_cast<int>(row.contacts().size());
    int bearing = 0;
    for (int i = 0; i < trial.contacts; ++i) bearing += row.solution().impulses[3 * i] > 1e-9 * kGraspForce * kGraspStep ? 1 : 0;
    trial.bearing.add(static_cast<double>(bearing) / (boxes + 1));
    trial.energy.push_back(row.relative_energy());
    trial.sag = row.sag();
    if (trial.sag > kLost) break;
    trial.held = k + 1;
  }
  trial.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(trial.iterations.count());
  return trial;
}

/// The least of five starts that differ by a micrometre, the first exact.
int least_held(const GraspSetting& setting, int boxes, int steps, std::uint64_t seed) {
  constexpr double kJitter = 1e-6;
  int least = hold(setting, boxes, steps).held;
  for (std::uint64_t k = 0; k < 4; ++k) least = std::min(least, hold(setting, boxes, steps, kJitter, seed + k).held);
  return least;
}

/// Table I and its text: time over that of Stewart-Trinkle by Lemke, pivots per step, contacts of a pair that bear force, steps.
struct PublishedGrasp {
  std::optional<double> time_ratio = {}, mean_pivots = {}, most_pivots = {}, bearing = {};
  std::string_view held = {};  ///< a bound, which has no error
};

/// Rows of one setting; `base`: seconds of the first one's trials, which sets it.
void add_table_row(ExperimentReport& report, const GraspSetting& setting, const PublishedGrasp& published, double& base,
                   const ExperimentOptions& options) {
  const int trials = options.quick ? 3 : 10, steps = options.quick ? 20 : 100;
  Mean seconds;
  Grip trial;
  for (int k = 0; k < trials; ++k) {
    trial = hold(setting, kPublishedBoxes, kPublishedSteps);
    seconds.add(trial.seconds);
  }
  const auto add = [&](const char* quantity, double ours, const std::optional<double>& reference, const std::string& note) {
    const Reference source = reference ? Reference::published : Reference::none;
    report.rows.push_back({"Table I, 2 boxes, 10 steps", setting.name, quantity, "", reference.value_or(0.0), source, {ours}, note});
  };
  add("contacts", trial.contacts, setting.corner_normals ? std::optional(36.0) : std::nullopt, trial.failure);
  if (base > 0.0) add("time, of the first row's", seconds.mean() / base, published.time_ratio, "");
  if (base == 0.0) base = seconds.mean();
  add("pivots or iterations, mean", trial.iterations.mean(), published.mean_pivots, "");
  add("pivots or iterations, most", trial.iterations.maximum(), published.most_pivots, "");
  add("contacts per pair that bear force", trial.bearing.mean(), published.bearing, "");
  add("steps held, least of 5 starts", least_held(setting, kPublishedBoxes, steps, options.seed), {},
      published.held.empty() ? fmt::format("of {}", steps) : fmt::format("of {}; published: {}", steps, published.held));
}

void add_table(ExperimentReport& report, const ExperimentOptions& options) {
  constexpr double kLemke = 10.9681, kActiveSet = 1.9892, kPpm = 1.6680;  // s, Table I
  for (const bool triple : {true, false}) {
    const auto named = [&](const char* method) { return fmt::format("{}, {} per pair", method, triple ? 12 : 4); };
    double base = 0.0;
    const auto add = [&](const GraspSetting& setting, const PublishedGrasp& published) {
      add_table_row(report, setting, published, base, options);
    };
    add(stewart_trinkle(Solver::lemke, named("Stewart-Trinkle, Lemke"), triple), {.held = "about 10"});
    add(no_slip(Solver::active_set, named("no-slip, active-set QP"), triple), {.time_ratio = kActiveSet / kLemke, .held = "at least 100"});
    add(no_slip(Solver::ppm, named("no-slip, modified PPM"), triple),
        {.time_ratio = kPpm / kLemke, .mean_pivots = 5.5, .most_pivots = 7.0, .bearing = 2.0, .held = "at least 100"});
    add(no_slip(Solver::automatic, named("no-slip, default"), triple), {});
    add(stewart_trinkle(Solver::automatic, named("Stewart-Trinkle, default"), triple), {});
  }
}

// --- The row of n boxes, on the four corners of each face.
void add_rows_of_boxes(ExperimentReport& report, const ExperimentOptions& options) {
  const std::vector<GraspSetting> settings{no_slip(Solver::ppm, "no-slip, modified PPM", false),
                                           no_slip(Solver::automatic, "no-slip, default", false),
                                           stewart_trinkle(Solver::lemke, "Stewart-Trinkle, Lemke", false),
                                           stewart_trinkle(Solver::automatic, "Stewart-Trinkle, default", false)};
  // Lemke's pivots on hundreds of variables are the cost of it all.
  const auto steps_of = [&](const GraspSetting& setting, int boxes) {
    if (options.quick) return 2;
    return setting.solver == Solver::lemke && boxes > 4 ? kPublishedSteps : 100;
  };
  Figure energy{"kinetic energy of the boxes relative to the grippers", "step of 0.01 s", "J", false, true, false, {}},
      work{"pivots or iterations per step", "boxes", "", true, true, false, {}},
      time{"time per step, of no-slip by modified PPM with 2 boxes", "boxes", "", true, true, false, {}};
  for (const GraspSetting& setting : settings) {
    work.curves.push_back({setting.name, {}, {}});
    time.curves.push_back({setting.name, {}, {}});
  }
  double base = 0.0;
  for (const int boxes : {2, 3, 4, 6, 8, 10, 12, 16, 20}) {
    for (std::size_t s = 0; s < settings.size(); ++s) {
      const int steps = steps_of(settings[s], boxes);
      const Grip trial = hold(settings[s], boxes, steps);
      if (base == 0.0) base = trial.seconds;
      work.curves[s].x.push_back(boxes);
      work.curves[s].y.push_back(trial.iterations.mean());
      time.curves[s].x.push_back(boxes);
      time.curves[s].y.push_back(trial.seconds / base);
      if (boxes == 2 || boxes == 20) {
        energy.curves.push_back({fmt::format("{}, {} boxes", settings[s].name, boxes), {}, trial.energy});
        for (std::size_t k = 0; k < trial.energy.size(); ++k) energy.curves.back().x.push_back(static_cast<double>(k) + 1.0);
      }
      const auto add = [&](const char* quantity, const char* unit, double ours, const std::string& note) {
        report.rows.push_back(
            {fmt::format("row of {} boxes", boxes), settings[s].name, quantity, unit, 0.0, Reference::none, {ours}, note});
      };
      add("steps held", "", trial.held, trial.failure.empty() ? fmt::format("of {}", steps) : trial.failure);
      add("sag at the end", "m", trial.sag, "");
      add("largest residual", "", trial.residual, "");
      add("pivots or iterations, mean", "", trial.iterations.mean(), "");
      add("time per step, of PPM's with 2", "", trial.seconds / base, "");
    }
  }
  report.figures.insert(report.figures.end(), {energy, work, time});
}

// --- Statics: each gripper bears half the weight of n boxes by friction under 100 n N.
void add_statics(ExperimentReport& report) {
  for (const int boxes : {2, 20}) {
    const double least = 0.5 * kGraspMass * kGravity / kGraspForce;
    for (const Law law : {Law::coulomb_pyramid, Law::coulomb_cone}) {
      add_solve(report, "statics of the row", fmt::format("{}, {} boxes", to_string(law), boxes),
                {{"gripper friction that holds", "", least}, {"force along the row at a gripper", "N", boxes * kGraspForce}}, [&] {
                  const auto holds = [&](double mu) {
                    HeldRow row({.law = law, .mu = kTableFriction, .gripper_mu = mu}, boxes, kGraspStep);
                    return row.step() && row.sag() < kStill * kGraspStep;
                  };
                  HeldRow row({.law = law, .mu = kTableFriction}, boxes, kGraspStep);
                  if (!row.step()) throw RunFailed("the first step is not solved");
                  return std::vector<double>{threshold(0.5 * least, 2.0 * least, holds), row.gripper_force(0).x()};
                });
    }
  }
}

// --- Stack of cubes of 1 m: mean over boxes and steps of their distance from where they were put.
void add_stack(ExperimentReport& report, const ExperimentOptions& options) {
  constexpr int kBoxes = 10;
  const int steps = options.quick ? 50 : 500;
  struct Choice {
    const char* name;
    Law law;
    Solver solver;
  };
  for (const Choice& choice :
       {Choice{"Stewart-Trinkle, Lemke", Law::coulomb_pyramid, Solver::lemke},
        Choice{"Stewart-Trinkle, default", Law::coulomb_pyramid, Solver::automatic},
        Choice{"exact cone", Law::coulomb_cone, Solver::automatic}, Choice{"no-slip, modified PPM", Law::no_slip, Solver::ppm},
        Choice{"no-slip, default", Law::no_slip, Solver::automatic}}) {
    add_solve(report, "stack of 10 boxes", choice.name,
              {{"mean distance of a box from its place", "m", 0.0}, {"force on the ground", "N", kBoxes * kGraspMass * kGravity}}, [&] {
                WorldBuilder builder;
                builder.add_static_body(plane("ground", Vector3d::UnitZ()));
                for (int i = 0; i < kBoxes; ++i) {
                  FreeBody box = solid(fmt::format("box{}", i), Box{Vector3d::Constant(0.5)}, kGraspMass, Vector3d(0.0, 0.0, i + 0.5));
                  box.inertia = Eigen::Matrix3d::Identity();  // of the released script, in kg m²
                  builder.add_free_body(box);
                }
                RunSetting setting{.law = choice.law, .h = kGraspStep, .mu = 1.0, .solver = choice.solver};
                Run run(builder.build(), setting);
                Mean distance;
                double ground = 0.0;
                for (int k = 0; k < steps; ++k) {
                  run.step();
                  for (int i = 0; i < kBoxes; ++i) distance.add((run.position(i) - Vector3d(0.0, 0.0, i + 0.5)).norm());
                }
                for (std::size_t i = 0; i < run.stepper().contacts().size(); ++i) {
                  const ContactPoint& contact = run.stepper().contacts()[i];
                  const Eigen::Index row = 3 * static_cast<Eigen::Index>(i);
                  const bool on_ground = run.world().bodies()[contact.body_b].block < 0;
                  if (on_ground) ground += run.solution().impulses[row] / kGraspStep;
                }
                return std::vector<double>{distance.mean(), ground};
              });
  }
}

constexpr const char* kGraspLegend =
    "Table I: means of ten trials, collision detection included, each over the time of the same contacts under Stewart-Trinkle by Lemke.\n"
    "Steps are 0.01 s, cold starts; a row is held until a box hangs 1 mm low or a solve misses 1e-6. 12 per pair: the paper's contacts, "
    "each\n"
    "corner three times, once per normal. Published figures are of those, and stand beside both. Why they differ:\n"
    "12 per pair, no-slip: the tangents of one copy are the normals of another, so they settle the motion and no pivot is left to make;\n"
    "even without friction these copies hold the row. Lemke pays for the copies with a thousand pivots where the four corners take 26, so\n"
    "the ratios to it are a hundredth of the published ones. On the four corners they are the published ones, pivots included.\n"
    "Steps held: the paper loses the row under Stewart-Trinkle after about ten steps and blames Lemke's rounding. Here no setting loses "
    "it,\n"
    "but by Lemke the boxes jolt in single steps whose residual is within 1e-10: at a friction of 100 the law allows other motions than "
    "rest.\n"
    "The paper's figure of the kinetic energy has no numbers in its text; --plot draws ours, pivots and times against the number of boxes.";

}  // namespace

ExperimentReport run_grasp(const ExperimentOptions& options) {
  ExperimentReport report;
  add_table(report, options);
  add_rows_of_boxes(report, options);
  add_statics(report);
  add_stack(report, options);
  report.legend = kGraspLegend;
  return report;
}

}  // namespace stiction
