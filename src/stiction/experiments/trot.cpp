#include "stiction/experiments/trot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/random.hpp"
#include "stiction/experiments/trot_control.hpp"
#include "stiction/experiments/trot_measures.hpp"
#include "stiction/experiments/trot_record.hpp"
#include "stiction/geometry/terrain.hpp"
#include "stiction/plan/patrol.hpp"
#include "stiction/sim/observers.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kPublishedLowFriction = 0.1;                // beside infinity
constexpr double kStanceHeight = 0.14;                       // m, of the base above the ground's feet
constexpr double kSmoothest = 0.1, kRoughest = 1.5;          // friction of the hills [ZD15, section 6.5]
constexpr double kJointSpread = 0.01, kHeadingSpread = 0.1;  // rad, of perturbed starts

// The ground has the law and the friction that the controller reckons with.
bool is_same(const TrotRun& run) { return run.same_law && predicts_forces(run.controller); }

double friction_of_ground(const TrotRun& run) {
  if (run.ground == TrotGround::hills) return kRoughest;
  return is_same(run) ? controller_friction(run.controller, run.mu) : ground_friction(run.mu);
}

Law law_of_ground(const TrotRun& run) {
  if (run.ground == TrotGround::compliant) return Law::stick_slip_spring;
  return is_same(run) ? controller_law(run.controller, run.objective) : Law::coulomb_pyramid;
}

BodyShape surface_of(const TrotRun& run) {
  if (run.ground != TrotGround::hills) return {HalfSpace{}, Eigen::Isometry3d::Identity(), friction_of_ground(run)};
  return make_terrain({.kind = TerrainKind::hills, .seed = run.terrain_seed, .friction = std::array{kSmoothest, kRoughest}});
}

/// Gives way by 1 mm under the standing robot [ZD15, section 6.5]; its published damping, and along the ground the same, of which the paper
/// says nothing.
ContactMaterial compliant_ground(const World& world) {
  constexpr double kSink = 1e-3, kDamping = 100.0;  // m, N s/m
  ContactMaterial material;
  material.stiffness = world.robots()[0].mass * world.gravity().norm() / (kTrotLegs * kSink);
  material.damping = kDamping;
  material.stiffness_tangential = material.stiffness;
  material.damping_tangential = kDamping;
  return material;
}

World make_world(const TrotRun& run) {
  WorldBuilder builder;
  RobotOptions robot;
  robot.base = BaseKind::floating;
  robot.pose.translation().z() = kStanceHeight + kTrotFootRadius;
  builder.add_robot(run.model, robot);
  StaticBody ground;
  ground.name = "ground";
  ground.shapes.push_back(surface_of(run));
  builder.add_static_body(ground);
  return builder.build();
}

Stepper make_stepper(const TrotRun& run, const World& world) {
  StepOptions options;
  options.assemble.dt = run.dt;
  options.contact.law = law_of_ground(run);
  if (run.ground == TrotGround::compliant) options.assemble.material = compliant_ground(world);
  return {world, make_scene(world, friction_of_ground(run)), options};
}

// Height of the highest point of the ground under a foot whose centre is at p in x and y (m).
double ground_under(const Shape& surface, const Eigen::Vector3d& p) {
  if (std::holds_alternative<HalfSpace>(surface)) return 0.0;
  constexpr int kReach = 10;  // mm, the foot's radius
  double highest = -kInfinity;
  for (int i = -kReach; i <= kReach; ++i) {
    for (int j = -kReach; j <= kReach; ++j) highest = std::max(highest, *terrain_height(surface, p.x() + 1e-3 * i, p.y() + 1e-3 * j));
  }
  return highest;
}

// The standing posture, perturbed where the run has a seed, with the lowest foot on the ground.
State make_start(const TrotRun& run, const World& world, const TrotPlanner& planner) {
  State state = initial_state(world);
  state.q.tail(kTrotJoints) = planner.standing_posture();
  double yaw = 0.0;
  if (run.seed != 0) {
    Uniform random(run.seed);
    for (Index j = state.q.size() - kTrotJoints; j < state.q.size(); ++j) state.q[j] += kJointSpread * random(-1.0, 1.0);
    yaw = kHeadingSpread * random(-1.0, 1.0);
    state.q.segment<4>(3) << 0.0, 0.0, std::sin(0.5 * yaw), std::cos(0.5 * yaw);
  }
  const BodyShape surface = surface_of(run);
  double height = -kInfinity;
  for (const Leg& leg : planner.legs()) {
    LegVector q(static_cast<Index>(leg.joints.size()));
    for (std::size_t k = 0; k < leg.joints.size(); ++k) q[static_cast<Index>(k)] = state.q[state.q.size() - kTrotJoints + leg.joints[k]];
    Eigen::Vector3d p;
    LegJacobian jacobian;
    leg.kinematics(q, p, jacobian);
    height = std::max(height, ground_under(surface.shape, Eigen::AngleAxisd(yaw, Eigen::Vector3d::UnitZ()) * p) - p.z());
  }
  state.q[2] = kTrotFootRadius + height;
  return state;
}

bool has_fallen(const State& state) {
  return state.q[2] < 0.5 * kStanceHeight || (base_rotation(state) * Eigen::Vector3d::UnitZ()).z() < 0.5 || !state.q.allFinite();
}

/// One run: simulation, controller, patrol and measures.
class Trot {
 public:
  explicit Trot(const TrotRun& run)
      : run_(run),
        world_(make_world(run)),
        control_(world_, run),
        simulation_(make_stepper(run, world_), make_start(run, world_, control_.planner())),
        measures_(world_, run),
        nothing_(VectorXd::Zero(world_.nv())),
        sensed_(nothing_) {
    if (!run.record.empty()) record_.emplace(world_, simulation_.state());
  }

  TrotResult run() {
    TrotResult result = describe();
    RunOptions plan{.duration = run_.duration};
    plan.control = [this](Simulation&, VectorXd& tau) { control(tau); };
    plan.observers = {[this](const StepTaken& step) { measure(step); }};
    constexpr long kProgressSteps = 100;
    if (run_.progress) plan.observers.push_back(report_progress(run_.progress, kProgressSteps));
    plan.until = [](const Simulation& simulation) { return has_fallen(simulation.state()); };
    const RunSummary summary = simulation_.run(plan);
    result.fell = summary.stop != Stop::duration;
    if (result.fell) result.fell_at = time_;
    result.duration = simulation_.state().time;
    result.steps = summary.steps;
    result.uncertified = summary.at_acceptable + (summary.stop == Stop::refused ? 1 : 0);
    result.waypoints = patrol_.reached();
    measures_.finish(control_, result);
    if (record_) record_->save(run_.record, simulation_.stepper(), summary);
    return result;
  }

 private:
  TrotResult describe() {
    TrotResult result;
    result.controller = to_string(run_.controller);
    result.objective = is_qp(run_.controller) ? to_string(run_.objective) : "";
    result.setup = run_.setup.name;
    result.ground = to_string(run_.ground);
    result.simulator = to_string(simulation_.stepper().options().contact.law);
    result.mu = run_.mu;
    result.lookahead = run_.setup.lookahead;
    result.seed = run_.seed;
    result.warnings = simulation_.warnings();
    const bool is_published = run_.ground != TrotGround::hills && (run_.mu == kPublishedLowFriction || std::isinf(run_.mu));
    if (is_published) result.published = published_trot_results(result.controller, result.ground, std::isinf(run_.mu));
    return result;
  }

  void control(VectorXd& tau) {
    const State& state = simulation_.state();
    time_ = static_cast<double>(simulation_.steps()) * run_.dt;
    const Stepper& stepper = simulation_.prepare(nothing_);
    const PlanarTwist command = time_ < kTrotSettle
                                    ? PlanarTwist{}
                                    : patrol_.update(time_, planar_pose(state.q.head<3>(), base_rotation(state).toRotationMatrix()));
    const VectorXd& torques =
        control_.update(time_, command, {state.v[0], state.v[1], state.v[5]}, {stepper.data(), state, stepper.contacts()});
    for (std::size_t i = 0; i < control_.joints().size(); ++i) tau[control_.joints()[i]] = torques[static_cast<Index>(i)];
  }

  void measure(const StepTaken& step) {
    measures_.record(step, control_);
    if (record_) record_->add(step, control_);
    sensed_.setZero();
    step.stepper.problem().J.add_transposed(step.stepper.solution().impulses, sensed_);
    sensed_ /= step.stepper.problem().dt;
    control_.sense(sensed_);
  }

  const TrotRun& run_;
  World world_;
  TrotControl control_;
  Simulation simulation_;
  Patrol patrol_{published_patrol()};
  TrotMeasures measures_;
  std::optional<TrotRecord> record_;
  VectorXd nothing_, sensed_;
  double time_ = 0.0;  ///< s, start of the last step
};

}  // namespace

void validate(const TrotRun& run) {
  if (!(run.mu >= 0.0)) throw InvalidArgument("mu", "a number >= 0 or inf", fmt::format("{}", run.mu));
  require_positive("dt", run.dt);
  static_cast<void>(steps_in(run.duration, run.dt));
  require_positive("lookahead", run.setup.lookahead);
  if (run.ground == TrotGround::hills && run.setup.plans_contacts) {
    throw InvalidArgument("setup", "one whose contacts are those of the simulator, on hills", std::string(run.setup.name));
  }
  if (run.ground != TrotGround::rigid && run.same_law)
    throw InvalidArgument("same_law", "rigid, level ground", std::string(to_string(run.ground)));
}

TrotResult run_trot(const TrotRun& run) {
  validate(run);
  return Trot(run).run();
}

MedianWorst median_worst(std::span<const TrotResult> runs, double TrotResult::*member) {
  if (runs.empty()) throw InvalidArgument("runs", "at least one", "none");
  std::vector<double> values;
  for (const TrotResult& r : runs) values.push_back(r.*member);
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return {0.5 * (values[(n - 1) / 2] + values[n / 2]), values.back()};
}

}  // namespace stiction
