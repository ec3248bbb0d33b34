#include "stiction/experiments/walk.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>

#include <fmt/format.h>

#include "stiction/experiments/trot_control.hpp"
#include "stiction/geometry/terrain.hpp"
#include "stiction/plan/patrol.hpp"
#include "stiction/sim/model_path.hpp"

namespace stiction {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kWalkStep = 1e-3, kDuration = 10.0;  // s [D14, section VII-B]
constexpr double kWalkableFriction = 10.0;            // wedges in valleys of 11 degrees and more alone
constexpr double kTableFriction = 100.0;              // Table II
constexpr double kViscosity = 0.1;                    // N s/m, Table III
constexpr double kHeight = 0.14, kReach = 0.2;        // m, of the base above its feet, and of the feet from it
constexpr double kShare = 0.25;                       // of a quick run that the event-driven ones walk
constexpr double kContactsMean = 6.0, kContactsMost = 30.0;
constexpr double kShell = 416.284, kPpm = 301.796;         // s, Table II
constexpr double kLemke = 2936.36, kViscousPpm = 2139.73;  // s, Table III

BodyShape hills() { return make_terrain({.kind = TerrainKind::hills}); }

World make_world() {
  const BodyShape surface = hills();
  double highest = 0.0;  // under the feet
  for (double x = -kReach; x <= kReach; x += 0.01) {
    for (double y = -kReach; y <= kReach; y += 0.01) highest = std::max(highest, *terrain_height(surface.shape, x, y));
  }
  WorldBuilder builder;
  RobotOptions robot;
  robot.base = BaseKind::floating;
  robot.pose.translation().z() = highest + kHeight + kTrotFootRadius;
  builder.add_robot(model_path("links.urdf"), robot);
  StaticBody ground;
  ground.name = "ground";
  ground.shapes.push_back(surface);
  builder.add_static_body(ground);
  return builder.build();
}

TrotRun controller() {
  TrotRun run;
  run.model = model_path("links.urdf");
  run.controller = TrotController::pid;
  return run;
}

Stepper make_stepper(const WalkSetting& setting) {
  const World world = make_world();
  StepOptions options;
  options.assemble.dt = kWalkStep;
  options.assemble.friction = setting.mu;
  options.assemble.material = ContactMaterial{};
  options.assemble.material->viscosity = kViscosity;
  options.assemble.joint_limits = false;  // pivoting in the normals takes no bounded rows; the gait stays away from them
  options.contact.law = setting.law;
  options.contact.solver = setting.solver;
  options.scheme = setting.scheme;
  options.events.integrator = Integrator::rk4;
  return {world, make_scene(world, setting.mu), options};
}

double total(const std::array<double, kStages>& seconds) { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

}  // namespace

WalkRun walk(const WalkSetting& setting, double duration) {
  WalkRun out;
  Stepper stepper = make_stepper(setting);
  const World& world = stepper.world();
  const TrotRun run = controller();
  TrotControl control(world, run);
  Patrol patrol(published_patrol());
  State state = initial_state(world);
  state.q.tail(kTrotJoints) = control.planner().standing_posture();
  VectorXd tau = VectorXd::Zero(world.nv());
  const Eigen::Vector2d start = state.q.head<2>();
  const auto begin = std::chrono::steady_clock::now();
  const long steps = std::lround(duration / kWalkStep);
  for (; out.steps < steps; ++out.steps) {
    const double t = static_cast<double>(out.steps) * kWalkStep;
    const Eigen::Quaterniond R(Eigen::Vector4d(state.q.segment<4>(3)));
    PlanarTwist command{};
    if (t >= kTrotSettle) command = patrol.update(t, planar_pose(state.q.head<3>(), R.toRotationMatrix()));
    stepper.prepare(state, tau);
    const VectorXd& torques = control.update(t, command, {state.v[0], state.v[1], state.v[5]}, {stepper.data(), state, stepper.contacts()});
    for (std::size_t j = 0; j < control.joints().size(); ++j) tau[control.joints()[j]] = torques[static_cast<Index>(j)];
    const StepReport report = stepper.step(tau, state, setting.scheme != Scheme::event_driven);
    out.solve_seconds += total(report.seconds);
    if (!report.accepted) {
      const auto worst = std::ranges::max_element(report.certificate) - report.certificate.begin();
      out.failure = fmt::format("step {}: {}, {} {:.0e} at impulses of {:.0e} N s", out.steps + 1, to_string(report.status),
                                kResiduals[worst].name, report.residual, largest_entry(stepper.solution().impulses));
      break;
    }
    out.contacts.add(static_cast<double>(stepper.contacts().size()));
    if (report.attempts > 0) out.pivots.add(static_cast<double>(report.iterations) / report.attempts);
    out.solves += report.attempts;
    out.at_acceptable += report.at_acceptable() ? 1 : 0;
    out.without_events += report.without_events;
    const bool fallen =
        state.q[2] < 0.5 * kHeight || (Eigen::Quaterniond(Eigen::Vector4d(state.q.segment<4>(3))) * Eigen::Vector3d::UnitZ()).z() < 0.5;
    if (!fallen) continue;
    out.failure = fmt::format("falls after {:.2f} s", state.time);
    break;
  }
  out.walked = state.time;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  out.seconds = seconds / out.walked;
  out.solve_seconds /= out.walked;
  out.distance = (state.q.head<2>() - start).norm();
  return out;
}

namespace {

struct Published {
  std::optional<double> ratio = {};
  bool contacts = false;
};

void add_setting(ExperimentReport& report, const char* table, const WalkSetting& setting, const Published& published, double duration,
                 double& base) {
  const WalkRun run = walk(setting, duration);
  const auto add = [&](const char* quantity, const char* unit, double ours, const std::optional<double>& reference,
                       const std::string& note) {
    const Reference source = reference ? Reference::published : Reference::none;
    report.rows.push_back({table, setting.name, quantity, unit, reference.value_or(0.0), source, {ours}, note});
  };
  add("walked", "s", run.walked, {}, run.failure.empty() ? fmt::format("of {:g}, {:.2f} m", duration, run.distance) : run.failure);
  if (base > 0.0) add("time, of the setting above's", "", run.seconds / base, published.ratio, "");
  base = run.failure.empty() ? run.seconds : 0.0;  // a run that ends early is no measure of another
  const auto of_paper = [&](double value) { return published.contacts ? std::optional(value) : std::nullopt; };
  add("contacts, mean", "", run.contacts.mean(), of_paper(kContactsMean), "");
  add("contacts, most", "", run.contacts.maximum(), of_paper(kContactsMost), "");
  add("pivots per solve, mean", "", run.pivots.mean(), {}, "");
  add("pivots per solve, most", "", run.pivots.maximum(), {}, "");
  add("solves per step", "", static_cast<double>(run.solves) / static_cast<double>(std::max(run.steps, 1L)), {},
      run.without_events > 0.0 ? fmt::format("{:.2g} s at velocity level", run.without_events) : "");
}

/// Where a run of `base` ends early, the time of `other` over the steps that both complete: the least of a few, which take milliseconds.
void add_common_steps(ExperimentReport& report, const char* table, const WalkSetting& base, const WalkSetting& other, double duration) {
  constexpr int kRuns = 5;
  const double common = walk(base, duration).walked;
  double of_base = kInfinity, of_other = kInfinity;
  for (int k = 0; k < kRuns; ++k) {
    of_base = std::min(of_base, walk(base, common).seconds);
    of_other = std::min(of_other, walk(other, common).seconds);
  }
  report.rows.push_back({table,
                         other.name,
                         "time, of the QP's at mu 100",
                         "",
                         kPpm / kShell,
                         Reference::published,
                         {of_other / of_base},
                         fmt::format("over the {} steps that both complete", std::lround(common / kWalkStep))});
}

constexpr const char* kWalkLegend =
    "Times are of the whole simulation per second walked, controls and collision included, both rows of a table in one process, one after\n"
    "the other. The paper's robot, map and gains are not published: here Links of [ZD15] trots under its joint and foot PID over hills of\n"
    "3 cm. Pivots of the QP of Drumwright and Shell are changes of its active set.\n"
    "At a friction of 100 a round foot wedges in a valley of 2 atan(1/100) = 1.15 degrees: the line through its two points, 0.2 mm apart,\n"
    "is in both cones. They squeeze each other to take what spin is left, so the least kinetic energy is at impulses of 1e5 N s and more, "
    "at\n"
    "which the last digits of velocities are work above what a step may go on with: the QP's certificate refuses, no slip has no such "
    "optimum.\n"
    "The ratio of times of whole runs is therefore to the QP at 10, the published one to that at 100.";

}  // namespace

ExperimentReport run_walk(const ExperimentOptions& options) {
  ExperimentReport report;
  const double duration = options.quick ? 1.0 : kDuration;
  double base = 0.0;
  constexpr const char* kSecond = "Table II, symplectic Euler";
  const WalkSetting wedged{"Drumwright-Shell, mu 100", Law::max_dissipation, Solver::automatic, Scheme::semi_implicit_euler,
                           kTableFriction};
  const WalkSetting ppm{"no-slip, modified PPM", Law::no_slip, Solver::ppm};
  add_setting(report, kSecond, wedged, {.contacts = true}, duration, base);
  add_setting(report, kSecond,
              {"Drumwright-Shell, mu 100, interior point", Law::max_dissipation, Solver::interior_point, Scheme::semi_implicit_euler,
               kTableFriction},
              {.contacts = true}, duration, base);
  add_setting(report, kSecond,
              {"Drumwright-Shell, mu 10", Law::max_dissipation, Solver::automatic, Scheme::semi_implicit_euler, kWalkableFriction}, {},
              duration, base);
  add_setting(report, kSecond, ppm, {.ratio = kPpm / kShell, .contacts = true}, duration, base);
  add_common_steps(report, kSecond, wedged, ppm, duration);
  add_setting(report, kSecond, {"no-slip, default", Law::no_slip}, {}, duration, base);
  base = 0.0;
  constexpr const char* kThird = "Table III, event-driven, rk4, viscous 0.1 N s/m";
  const double shorter = options.quick ? kShare * duration : duration;
  add_setting(report, kThird, {"Lemke", Law::viscous, Solver::lemke, Scheme::event_driven, 0.0}, {}, shorter, base);
  add_setting(report, kThird, {"modified PPM", Law::viscous, Solver::ppm, Scheme::event_driven, 0.0}, {.ratio = kViscousPpm / kLemke},
              shorter, base);
  report.legend = kWalkLegend;
  return report;
}

}  // namespace stiction
