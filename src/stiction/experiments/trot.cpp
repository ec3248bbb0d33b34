#include "stiction/experiments/trot.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/control/inverse_dynamics_control.hpp"
#include "stiction/control/operational_space.hpp"
#include "stiction/control/stabilizer.hpp"
#include "stiction/control/torque_limits.hpp"
#include "stiction/forward/step.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/plan/patrol.hpp"
#include "stiction/plan/trot_planner.hpp"
#include "stiction/record/csv_log.hpp"
#include "stiction/record/metrics.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::array kControllers{TrotController::pid, TrotController::id_qp_mu, TrotController::id_qp_inf, TrotController::id_lcp_mu,
                                  TrotController::id_lcp_inf};
constexpr int kLegs = 4, kJoints = 12;
constexpr double kFootRadius = 0.01, kStanceHeight = 0.14, kSettle = 0.2;
constexpr std::array<const char*, kLegs> kFeet{"LF_foot", "RF_foot", "LH_foot", "RH_foot"};
// Feedback of the inverse-dynamics controllers: critically damped at 40 rad/s, an acceleration per error.
constexpr double kFeedbackRate = 40.0;

World make_world(const TrotRun& run) {
  WorldBuilder builder;
  RobotOptions robot;
  robot.base = BaseKind::floating;
  robot.pose.translation().z() = kStanceHeight + kFootRadius;
  builder.add_robot(run.model, robot);
  StaticBody ground;
  ground.name = "ground";
  ground.shapes.push_back({HalfSpace{}, Eigen::Isometry3d::Identity(), run.mu});
  builder.add_static_body(ground);
  return builder.build();
}

Law controller_law(const TrotRun& run) {
  switch (run.controller) {
    case TrotController::id_qp_mu:
    case TrotController::id_qp_inf:
      return run.objective == QpObjective::kinetic ? Law::max_dissipation : Law::anitescu;
    case TrotController::id_lcp_inf:
      return Law::no_slip;
    case TrotController::id_lcp_mu:
    case TrotController::pid:
      break;
  }
  return std::isinf(run.mu) ? Law::no_slip : Law::coulomb_pyramid;
}

bool assumes_no_slip(TrotController c) { return c == TrotController::id_qp_inf || c == TrotController::id_lcp_inf; }

// The controller's own law where that is a law of the ground too, Coulomb's elsewhere.
Law simulator_law(const TrotRun& run) {
  if (run.simulator) return *run.simulator;
  const Law own = controller_law(run);
  const bool differs = own == Law::max_dissipation || (assumes_no_slip(run.controller) && !std::isinf(run.mu));
  if (!differs) return own;
  return std::isinf(run.mu) ? Law::no_slip : Law::coulomb_pyramid;
}

double lookahead_of(const TrotRun& run) {
  constexpr double kPublished = 0.005;
  return run.lookahead.value_or(controller_law(run) == Law::max_dissipation ? kPublished : run.dt);
}

StepOptions step_options(const TrotRun& run) {
  StepOptions options;
  options.assemble.dt = run.dt;
  options.contact.law = simulator_law(run);
  return options;
}

/// One run: world, planner, controller and what is recorded of it.
class Trot {
 public:
  explicit Trot(const TrotRun& run);
  TrotResult run();

 private:
  void control(double t);
  void control_pid();
  void control_inverse();
  bool try_inverse(std::span<const double> limits);
  void stretch_problem(double factor);
  void record(double t, const StepReport& report);
  void record_forces();
  void write_log(double t);
  bool has_fallen() const;
  PlanarPose base_pose() const;
  PlanarTwist base_twist() const;
  static std::vector<std::string> log_columns(const World& world);

  const TrotRun& options_;
  Stepper stepper_;
  State state_;
  std::vector<int> joints_;        ///< velocity coordinates of the actuated joints
  std::array<int, kLegs> feet_{};  ///< bodies
  std::vector<double> limits_;
  TrotPlanner planner_;
  Patrol patrol_{published_patrol()};
  JointControlOptions joint_options_;
  JointControlState joint_state_;
  JointCommand command_;
  OperationalSpaceState foot_state_;
  InverseOptions inverse_options_;
  InverseWorkspace inverse_workspace_;
  InverseSolution inverse_;
  GrowVector mu_;
  VectorXd q_, v_, tau_, tau_full_, foot_force_predicted_, foot_force_, last_foot_force_, extra_;
  DesiredMotion desired_;
  bool predicted_ = false, held_ = false;
  double controller_us_ = 0.0;
  TrackingMetrics tracking_;
  ForceMetrics forces_, touchdown_forces_;
  std::vector<double> times_;
  TrotResult result_;
  std::optional<CsvLog> log_;
};

TrotPlanner make_planner() {
  TrotOptions options;
  options.nominal_feet = links_nominal_feet();
  options.start_time = kSettle;
  VectorXd standing(kJoints);
  standing << 0.3927, 0.7854, 1.5708, -0.3927, -0.7854, -1.5708, -0.3927, -0.7854, -1.5708, 0.3927, 0.7854, 1.5708;
  return {links_legs(), options, standing};
}

Stepper make_stepper(const TrotRun& run) {
  World world = make_world(run);
  CollisionScene scene = make_scene(world, kInfinity);
  for (const CollisionGeometry& g : world.geometries()) {
    for (const CollisionGeometry& other : world.geometries()) {
      const bool both_robot =
          world.bodies()[static_cast<std::size_t>(g.body)].robot >= 0 && world.bodies()[static_cast<std::size_t>(other.body)].robot >= 0;
      if (both_robot && g.body < other.body) scene.disable_bodies(g.body, other.body);
    }
  }
  return {std::move(world), std::move(scene), step_options(run)};
}

Trot::Trot(const TrotRun& run)
    : options_(run), stepper_(make_stepper(run)), state_(initial_state(stepper_.world())), planner_(make_planner()) {
  const World& world = stepper_.world();
  joints_.assign(world.actuated().begin(), world.actuated().end());
  require_size("actuated joints of the model", static_cast<Index>(joints_.size()), kJoints);
  for (std::size_t i = 0; i < feet_.size(); ++i) feet_[i] = world.body(kFeet[i]);
  for (const Joint& joint : world.joints()) {
    if (joint.actuated) limits_.push_back(joint.effort_limit);
  }
  state_.q.tail(kJoints) = planner_.standing_posture();
  const bool pid = run.controller == TrotController::pid;
  const double rate = kFeedbackRate;
  joint_options_.feedback = pid ? PidGains::uniform(kJoints, 10.0, 0.1, 0.003) : PidGains::uniform(kJoints, rate * rate, 2.0 * rate, 0.0);
  joint_options_.dt = run.dt;
  joint_options_.lookahead = lookahead_of(run);
  require_positive("lookahead", joint_options_.lookahead);
  joint_options_.torque_limit = Eigen::Map<const VectorXd>(limits_.data(), kJoints);
  inverse_options_.contact.law = controller_law(run);
  const bool qp = run.controller == TrotController::id_qp_mu || run.controller == TrotController::id_qp_inf;
  inverse_options_.choice = qp ? Choice::least_torque : Choice::warm_start;
  tau_.setZero(kJoints);
  tau_full_.setZero(world.nv());
  foot_force_predicted_.setZero(kLegs);
  foot_force_.setZero(kLegs);
  last_foot_force_.setZero(kLegs);
  extra_.setZero(kJoints);
  if (!run.log.empty()) log_.emplace(run.log, log_columns(world));
  result_.controller = to_string(run.controller);
  result_.objective = qp ? to_string(run.objective) : "";
  result_.simulator = to_string(stepper_.options().contact.law);
  result_.mu = run.mu;
  result_.lookahead = joint_options_.lookahead;
  result_.published = published_trot_results(result_.controller, std::isinf(run.mu));
}

PlanarPose Trot::base_pose() const {
  const Eigen::Quaterniond rotation(state_.q[6], state_.q[3], state_.q[4], state_.q[5]);
  return planar_pose(state_.q.head<3>(), rotation.toRotationMatrix());
}

PlanarTwist Trot::base_twist() const { return {state_.v[0], state_.v[1], state_.v[5]}; }

bool Trot::has_fallen() const {
  const Eigen::Quaterniond rotation(state_.q[6], state_.q[3], state_.q[4], state_.q[5]);
  return state_.q[2] < 0.5 * kStanceHeight || (rotation * Eigen::Vector3d::UnitZ()).z() < 0.5 || !state_.q.allFinite();
}

// The step's problem over the look-ahead: impulses grow with time, velocities that close a distance shrink.
void Trot::stretch_problem(double factor) {
  ContactProblem& p = stepper_.problem();
  p.dt *= factor;
  p.impulse *= factor;
  p.b /= factor;
  p.lo *= factor;
  p.hi *= factor;
}

bool Trot::try_inverse(std::span<const double> limits) {
  ContactProblem& problem = stepper_.problem();
  mu_ = problem.mu;
  if (assumes_no_slip(options_.controller)) problem.mu.setConstant(kInfinity);
  const double factor = joint_options_.lookahead / options_.dt;
  stretch_problem(factor);
  inverse_dynamics(problem, joints_, command_.v_ref, limits, inverse_options_, inverse_workspace_, inverse_);
  stretch_problem(1.0 / factor);
  problem.mu = mu_;
  return inverse_.status == Status::solved;
}

void Trot::control_inverse() {
  reference_acceleration(joint_options_, desired_, q_, v_, extra_, joint_state_, command_);
  const auto start = std::chrono::steady_clock::now();
  bool solved = try_inverse({});
  const bool saturates = solved && ((inverse_.tau.cwiseAbs() - joint_options_.torque_limit).maxCoeff() > 0.0);
  if (!solved || saturates) {
    if (saturates) ++result_.saturated_steps;
    if (inverse_options_.contact.law == Law::max_dissipation) {
      solved = solved && saturates;
    } else {
      solved = try_inverse(limits_);
    }
  }
  controller_us_ = 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  times_.push_back(controller_us_);
  held_ = !solved;
  if (inverse_.repaired) ++result_.repaired_steps;
  if (held_) {
    ++result_.controller_failures;
    return;
  }
  result_.worst_residual = std::max(result_.worst_residual, inverse_.certificate.worst());
  tau_ = inverse_.tau.cwiseMax(-joint_options_.torque_limit).cwiseMin(joint_options_.torque_limit);
  predicted_ = true;
}

void Trot::control_pid() {
  joint_pid_control(joint_options_, desired_, q_, v_, extra_, joint_state_, command_);
  tau_ = command_.tau;
  if (command_.saturated > 0) ++result_.saturated_steps;
}

void Trot::control(double t) {
  q_ = state_.q.tail(kJoints);
  v_.resize(kJoints);
  for (std::size_t i = 0; i < joints_.size(); ++i) v_[static_cast<Index>(i)] = state_.v[joints_[i]];
  const PlanarTwist command = t < kSettle ? PlanarTwist{} : patrol_.update(t, base_pose());
  desired_ = planner_.update(t, command, base_twist()).joints;
  predicted_ = false;
  stepper_.prepare(state_, VectorXd::Zero(state_.v.size()));
  if (options_.controller == TrotController::pid) {
    control_pid();
  } else {
    control_inverse();
  }
  for (std::size_t i = 0; i < joints_.size(); ++i) tau_full_[joints_[i]] = tau_[static_cast<Index>(i)];
}

void Trot::record_forces() {
  const auto sum = [&](const GrowVector& impulses, VectorXd& out) {
    out.setZero();
    for (std::size_t i = 0; i < stepper_.contacts().size(); ++i) {
      for (std::size_t f = 0; f < feet_.size(); ++f) {
        if (stepper_.contacts()[i].body_a == feet_[f]) out[static_cast<Index>(f)] += impulses[3 * static_cast<Index>(i)] / options_.dt;
      }
    }
  };
  last_foot_force_ = foot_force_;
  sum(stepper_.solution().impulses, foot_force_);
  if (!predicted_) return;
  sum(inverse_.impulses, foot_force_predicted_);
  foot_force_predicted_ *= options_.dt / joint_options_.lookahead;
  const bool touchdown = ((foot_force_.array() > 0.0) && (last_foot_force_.array() <= 0.0)).any();
  (touchdown ? touchdown_forces_ : forces_).add(foot_force_predicted_.sum(), foot_force_.sum());
}

void Trot::record(double t, const StepReport& report) {
  tracking_.add(q_, desired_.q, v_, desired_.v, tau_, options_.dt);
  record_forces();
  if (report.attempts > 1) result_.uncertified += report.attempts - 1;
  result_.worst_residual = std::max(result_.worst_residual, stepper_.solution().certificate.worst());
  if (log_) write_log(t);
}

std::vector<std::string> Trot::log_columns(const World& world) {
  std::vector<std::string> columns{"time"};
  add_columns(columns, "q", world.nq());
  add_columns(columns, "v", world.nv());
  add_columns(columns, "q_desired", kJoints);
  add_columns(columns, "v_desired", kJoints);
  add_columns(columns, "tau", kJoints);
  for (const char* kind : {"force_predicted", "force_simulated"}) {
    for (const char* foot : kFeet) columns.push_back(fmt::format("{}_{}", kind, foot));
  }
  columns.insert(columns.end(), {"residual_simulator", "residual_controller", "controller_us"});
  return columns;
}

void Trot::write_log(double t) {
  log_->add(t);
  log_->add(state_.q);
  log_->add(state_.v);
  log_->add(desired_.q);
  log_->add(desired_.v);
  log_->add(tau_);
  log_->add(foot_force_predicted_);
  log_->add(foot_force_);
  log_->add(stepper_.solution().certificate.worst());
  log_->add(predicted_ ? inverse_.certificate.worst() : 0.0);
  log_->add(controller_us_);
  log_->end_row();
}

TrotResult Trot::run() {
  result_.warnings = stepper_.world().warnings();
  const long steps = std::lround(options_.duration / options_.dt);
  for (long k = 0; k < steps; ++k) {
    const double t = static_cast<double>(k) * options_.dt;
    control(t);
    const StepReport report = stepper_.step(tau_full_, state_, true);
    if (!report.accepted) {
      ++result_.uncertified;
      result_.fell = true;
    } else {
      record(t, report);
      ++result_.steps;
    }
    result_.duration = state_.time;
    if (result_.fell || has_fallen()) {
      result_.fell = true;
      result_.fell_at = t;
      break;
    }
    if (options_.progress && k % 100 == 0) options_.progress(static_cast<double>(k) / static_cast<double>(steps));
  }
  result_.position_error = tracking_.position.mean();
  result_.velocity_error = tracking_.velocity.mean();
  result_.torque_rate = tracking_.torque_rate.mean();
  result_.torque_rate_max = tracking_.torque_rate.maximum();
  result_.torque_mean = tracking_.torque.mean();
  result_.force_error = forces_.difference.mean();
  result_.force_error_relative = forces_.relative();
  result_.touchdown_error_relative = touchdown_forces_.relative();
  result_.touchdown_steps = touchdown_forces_.difference.count();
  result_.waypoints = patrol_.reached();
  if (!times_.empty()) {
    std::ranges::sort(times_);
    result_.controller_us_median = times_[times_.size() / 2];
    result_.controller_us_p99 = times_[times_.size() * 99 / 100];
    result_.controller_us_max = times_.back();
  }
  return result_;
}

}  // namespace

std::string_view to_string(TrotController controller) {
  constexpr std::array<std::string_view, 5> names{"pid", "id-qp-mu", "id-qp-inf", "id-lcp-mu", "id-lcp-inf"};
  return names[static_cast<std::size_t>(controller)];
}

std::string_view to_string(QpObjective objective) { return objective == QpObjective::kinetic ? "kinetic" : "anitescu"; }

TrotController trot_controller_from_string(std::string_view name) {
  for (const TrotController c : kControllers) {
    if (to_string(c) == name) return c;
  }
  throw InvalidArgument("controller", "one of pid, id-qp-mu, id-qp-inf, id-lcp-mu, id-lcp-inf", fmt::format("'{}'", name));
}

QpObjective qp_objective_from_string(std::string_view name) {
  for (const QpObjective o : {QpObjective::kinetic, QpObjective::anitescu}) {
    if (to_string(o) == name) return o;
  }
  throw InvalidArgument("objective", "kinetic or anitescu", fmt::format("'{}'", name));
}

std::vector<TrotController> all_trot_controllers() { return {kControllers.begin(), kControllers.end()}; }

TrotResult run_trot(const TrotRun& run) {
  if (!(run.mu >= 0.0)) throw InvalidArgument("mu", "a number >= 0 or inf", fmt::format("{}", run.mu));
  require_positive("duration", run.duration);
  require_positive("dt", run.dt);
  return Trot(run).run();
}

}  // namespace stiction
