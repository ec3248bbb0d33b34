#include "stiction/experiments/starleth.hpp"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "stiction/experiments/starleth_run.hpp"

namespace stiction {

namespace {

constexpr double kPublishedBilateral = 0.59, kPublishedUnilateral = 750.0;  // µm/min [G14, section "Accuracy"]
constexpr double kPublishedSinking = 4.4;                                   // mm
constexpr double kMicrometresPerMinute = 6e7;                               // of 1 m/s

const StarlethConfiguration& configuration(std::string_view name) {
  return *std::ranges::find(starleth_configurations(), name, &StarlethConfiguration::name);
}

const char* rule(const StarlethConfiguration& c, bool published) {
  return !c.hard ? "springs" : published ? "closed at the midpoint" : "gaps known ahead";
}

StarlethTrial complete(const StarlethConfiguration& c, const StarlethPlan& plan) {
  StarlethTrial trial = run_starleth_trial(c, plan);
  if (!trial.failure.empty()) throw RunFailed(trial.failure);
  return trial;
}

Quantity alone(std::string name, std::string unit, std::string note = {}) {
  return {std::move(name), std::move(unit), 0.0, std::move(note), Reference::none};
}

Quantity published(std::string name, std::string unit, double reference, std::string note = {}) {
  return {std::move(name), std::move(unit), reference, std::move(note), Reference::published};
}

double microseconds(const StarlethTrial& t, std::initializer_list<Stage> stages) {
  double sum = 0.0;
  for (const Stage s : stages) sum += 1e6 * t.by_stage[static_cast<std::size_t>(s)];
  return sum;
}

/// What comparisons need of the runs of Table 1.
struct Measured {
  double evaluations = 0.0, iterations = 0.0;
};
using Table = std::map<std::string, Measured, std::less<>>;

void add_table(ExperimentReport& report, bool published_rule, double duration, Table& table) {
  Figure split{"one step [G14, Fig. 7], " + std::string(published_rule ? "closed at the midpoint" : "gaps known ahead"),
               "configuration: 1 Cm, HmJ, HmS, HEJD, HEJP, HESD, HESP, HMJD, HMJP, HMSD, 11 HMSP",
               "µs",
               false,
               true,
               false,
               {{"M, h", {}, {}}, {"collision detection", {}, {}}, {"rows and solving", {}, {}}}};
  double place = 0.0;
  for (const StarlethConfiguration& c : starleth_configurations()) {
    place += 1.0;
    if (!c.hard && !published_rule) continue;
    const std::vector<Quantity> quantities{published("evaluations per second", "1/s", c.evaluations),
                                           published("real-time factor", "", c.real_time),
                                           alone("iterations per step", ""),
                                           alone("M and h", "µs"),
                                           alone("collision detection", "µs"),
                                           alone("rows and solving", "µs"),
                                           alone("deepest penetration", "mm"),
                                           alone("steps above the tolerance", "")};
    add_solve(report, fmt::format("{}: {}", c.name, to_string(c.coordinates)), rule(c, published_rule), quantities, [&] {
      StarlethPlan plan;
      plan.duration = duration;
      plan.published_rule = published_rule;
      const StarlethTrial t = complete(c, plan);
      const double evaluations = static_cast<double>(t.steps) / t.seconds;
      table[std::string(c.name)] = {evaluations, t.iterations};
      const std::array parts{microseconds(t, {Stage::update}), microseconds(t, {Stage::detect}),
                             microseconds(t, {Stage::assemble, Stage::solve, Stage::project, Stage::integrate})};
      for (std::size_t k = 0; k < parts.size(); ++k) {
        split.curves[k].x.push_back(place);
        split.curves[k].y.push_back(parts[k]);
      }
      return std::vector{evaluations,     duration / t.seconds,
                         t.iterations,    parts[0],
                         parts[1],        parts[2],
                         1e3 * t.deepest, static_cast<double>(t.at_acceptable + t.halved)};
    });
  }
  report.figures.push_back(split);
}

/// Who needs more sweeps, and more time, on the same robot under the same rule. [G14]: SOR converges faster, but not in minimal
/// coordinates.
void add_comparison(ExperimentReport& report, bool published_rule, const Table& table) {
  constexpr std::array<std::array<const char*, 2>, 5> kPairs{
      {{"HmJ", "HmS"}, {"HEJD", "HESD"}, {"HEJP", "HESP"}, {"HMJD", "HMSD"}, {"HMJP", "HMSP"}}};
  for (const auto& [j, s] : kPairs) {
    const StarlethConfiguration &jor = configuration(j), &sor = configuration(s);
    const auto a = table.find(j), b = table.find(s);
    const std::vector<Quantity> quantities{alone("iterations", "", jor.alpha == sor.alpha ? "" : "of different alpha"),
                                           published("time per step", "", jor.evaluations / sor.evaluations)};
    add_solve(report, fmt::format("SOR over JOR: {} / {}", s, j), rule(jor, published_rule), quantities, [&] {
      if (a == table.end() || b == table.end()) throw RunFailed("one of the two did not come to its end");
      return std::vector{b->second.iterations / a->second.iterations, a->second.evaluations / b->second.evaluations};
    });
  }
}

void add_drift(ExperimentReport& report, bool quick) {
  StarlethPlan stand;
  stand.motion = StarlethMotion::stand;
  stand.duration = quick ? 4.0 : 60.0;
  for (const bool rule_of_paper : {true, false}) {
    for (const double tolerance : {stand.tolerance, 1e-9}) {
      add_solve(report, "HmJ standing", rule(configuration("HmJ"), rule_of_paper),
                {published("unilateral drift, feet sink by", "µm/min", kPublishedUnilateral,
                           fmt::format("nothing undone, tolerance {:.0e}", tolerance)),
                 alone("one diagonal bears more, over the sum", "", "asked for: a foot that is to open, however slowly, bears nothing")},
                [&] {
                  StarlethPlan plan = stand;
                  plan.published_rule = rule_of_paper;
                  plan.tolerance = tolerance;
                  const StarlethTrial t = complete(configuration("HmJ"), plan);
                  return std::vector{kMicrometresPerMinute * t.sinking_rate, t.diagonal};
                });
    }
  }
  StarlethPlan trot;
  trot.duration = quick ? 2.0 : 20.0;
  add_solve(report, "Cm trotting", "springs", {published("feet sink in by", "mm", kPublishedSinking, "deepest foot, mean over time")},
            [&] { return std::vector{1e3 * complete(configuration("Cm"), trot).depth}; });
  for (const char* name : {"HEJD", "HMJD"}) {
    for (const double recovery : {0.0, 0.2, 1.0}) {
      const std::string note = recovery == 0.0 ? "published: nothing undone" : fmt::format("{} of it undone per step", recovery);
      add_solve(report, fmt::format("{} trotting", name), "gaps known ahead",
                {published("bilateral drift", "µm/min", kPublishedBilateral, note), alone("widest opening of a joint", "µm", note)}, [&] {
                  StarlethPlan plan = trot;
                  plan.published_rule = false;
                  plan.loop_recovery = recovery;
                  const StarlethTrial t = complete(configuration(name), plan);
                  return std::vector{kMicrometresPerMinute * t.opening_rate, 1e6 * t.widest};
                });
    }
  }
}

void add_push_over(ExperimentReport& report) {
  StarlethPlan plan;
  plan.motion = StarlethMotion::pushed_over;
  plan.duration = 2.5;
  for (const bool rule_of_paper : {true, false}) {
    for (const char* name : {"Cm", "HmJ", "HmS", "HESD", "HMSD"}) {
      const StarlethConfiguration& c = configuration(name);
      if (!c.hard && !rule_of_paper) continue;
      const std::vector<Quantity> quantities{alone("tilt at the end", "rad"), alone("contacts that bear at once, most", ""),
                                             alone("iterations per step", ""), alone("steps above the tolerance", "", "of 1000; Cm: 2000"),
                                             alone("deepest penetration", "mm")};
      add_solve(report, fmt::format("{} pushed over", c.name), rule(c, rule_of_paper), quantities, [&] {
        StarlethPlan own = plan;
        own.published_rule = rule_of_paper;
        const StarlethTrial t = complete(c, own);
        return std::vector{t.tilt, static_cast<double>(t.most_contacts), t.iterations, static_cast<double>(t.at_acceptable + t.halved),
                           1e3 * t.deepest};
      });
    }
  }
}

void add_force(ExperimentReport& report) {
  Figure figure{"left front foot over a gait cycle [G14, Fig. 5]", "s", "normal force, N", false, false, false, {}};
  for (const bool rule_of_paper : {true, false}) {
    for (const char* name : {"Cm", "HmJ"}) {
      const StarlethConfiguration& c = configuration(name);
      if (!c.hard && !rule_of_paper) continue;
      StarlethPlan plan;
      plan.duration = 0.2 + 3.0 * kStarlethPeriod;
      plan.published_rule = rule_of_paper;
      StarlethTrial trial = run_starleth_trial(c, plan);
      figure.curves.push_back({fmt::format("{}, {}", name, rule(c, rule_of_paper)), std::move(trial.cycle), std::move(trial.force)});
    }
  }
  report.figures.push_back(figure);
}

}  // namespace

ExperimentReport run_starleth(const ExperimentOptions& options) {
  ExperimentReport report;
  for (const bool rule_of_paper : {true, false}) {
    Table table;
    add_table(report, rule_of_paper, options.quick ? 1.2 : 20.0, table);
    add_comparison(report, rule_of_paper, table);
  }
  add_drift(report, options.quick);
  add_push_over(report);
  add_force(report);
  report.legend =
      R"(Moreau's midpoint scheme at the controller's 400 Hz (springs: 800 Hz), trotting at 1.25 Hz. Example: configuration of [G14, Table 1],
H hard or C compliant, m/E/M minimal, extended, maximal coordinates, J/S JOR or SOR, D/P bilateral rows direct or by prox. Setting:
which contacts bear, those closed at the midpoint as published, or all that would close within the step. Robot: models/links.urdf,
4.8 kg, of StarLETH's tree; robot, controller and machine are others than the paper's, so ratios between rows tell, not seconds.
Iterations per step and steps above the tolerance are by the engine's certificate, 1e-6 of the scales of the problem, where the paper ends
once impulses change by less than T_rel, T_abs = 1e-6: neither is comparable with the paper's numbers, nor with those of `alpha`.
Penetration is not undone (recovery 0), as published. Cm under joint and foot PID: inverse dynamics for rigid ground falls on springs.
SOR over JOR: [G14] finds SOR ahead where bilateral rows are iterated on (HMSP: 0.75 of the time), not in minimal coordinates.
Rows eliminated directly (D) leave r = alpha / G_ll to G of the coordinates that the robot is written in [G14, Eq. 15]: HMJD, gaps known
ahead, takes 145 iterations at an alpha of 0.6, 87 at its published 1 and 52 at 1.9. SOR updates bilateral impulses after all contacts, and
feet of different legs meet through these alone: on feet HESD and HMSD take the steps of HEJD and HMJD.
A joint that was cut closes its error in the next step here (drift rows: by the share noted); the published scheme lets it drift, by
(w h)² l / 2 a step where a lever l turns at w: in maximal coordinates joints are open by 1.1 mm within 3 s, the robot sinks onto its
trunk, and with up to ten contacts at once HMJD takes 4000 iterations a step.)";
  return report;
}

}  // namespace stiction
