#include "stiction/experiments/starleth_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "stiction/experiments/small_world.hpp"
#include "stiction/experiments/trot_control.hpp"
#include "stiction/model/cut_joints.hpp"
#include "stiction/model/equality_error.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kFriction = 0.8;                                        // [G14]
constexpr double kStiffness = 30000.0, kDamping = 50.0, kWeight = 23.0;  // N/m, N s/m [G14], kg
constexpr double kTrotSpeed = 0.1;                                       // m/s
constexpr double kFeedback = 1000.0, kFeedbackRate = 60.0;               // 1/s², 1/s: damped, and h k_v far below 1
constexpr double kPush = 40.0, kPushStart = 0.5, kPushEnd = 0.7;         // N, s: 1.7 m/s, twice what tips it over
constexpr double kSettled = 1.0;                                         // s, from which on drift is measured
constexpr double kAcceptable = 1e-4;                                     // a step that an iteration leaves short is still a step

constexpr std::array kConfigurations{StarlethConfiguration{"Cm", false, Coordinates::minimal, Solver::automatic, false, 0.0, 8900, 11.5},
                                     StarlethConfiguration{"HmJ", true, Coordinates::minimal, Solver::jor, false, 0.6, 5400, 13.5},
                                     StarlethConfiguration{"HmS", true, Coordinates::minimal, Solver::sor, false, 0.6, 4700, 11.8},
                                     StarlethConfiguration{"HEJD", true, Coordinates::extended, Solver::jor, false, 0.6, 2700, 6.8},
                                     StarlethConfiguration{"HEJP", true, Coordinates::extended, Solver::jor, true, 0.5, 2900, 7.1},
                                     StarlethConfiguration{"HESD", true, Coordinates::extended, Solver::sor, false, 0.6, 2500, 6.1},
                                     StarlethConfiguration{"HESP", true, Coordinates::extended, Solver::sor, true, 0.6, 2400, 6.0},
                                     StarlethConfiguration{"HMJD", true, Coordinates::maximal, Solver::jor, false, 1.0, 1600, 4.1},
                                     StarlethConfiguration{"HMJP", true, Coordinates::maximal, Solver::jor, true, 0.4, 600, 1.5},
                                     StarlethConfiguration{"HMSD", true, Coordinates::maximal, Solver::sor, false, 1.0, 1600, 3.9},
                                     StarlethConfiguration{"HMSP", true, Coordinates::maximal, Solver::sor, true, 0.6, 800, 2.0}};

/// Contacts are those with the ground [G14].
World make_world(Coordinates coordinates) {
  const TrotPlanner planner(links_legs(), links_trot(), links_standing_posture());
  return links_on_ground(planner.standing_posture(), kFriction, coordinates, false);
}

StepOptions step_options(const StarlethConfiguration& c, const StarlethPlan& plan, double mass) {
  StepOptions options;
  options.scheme = Scheme::moreau_midpoint;
  options.assemble.dt = c.hard ? kStarlethTick : 0.5 * kStarlethTick;  // two updates per control update [G14]
  options.assemble.loop_recovery = plan.loop_recovery;
  options.recovery = plan.recovery;
  options.contact.law = !c.hard ? Law::stick_slip_spring : plan.published_rule ? Law::moreau : Law::coulomb_cone;
  options.contact.solver = c.solver;
  if (c.hard) options.contact.alpha = c.alpha;
  options.contact.bilateral_by_prox = c.bilateral_by_prox;
  options.contact.tolerance = plan.tolerance;
  options.acceptable = kAcceptable;
  if (!c.hard) {
    ContactMaterial spring;
    spring.stiffness = spring.stiffness_tangential = kStiffness * mass / kWeight;
    spring.damping = spring.damping_tangential = kDamping * mass / kWeight;
    options.assemble.material = spring;
  }
  return options;
}

TrotOptions gait(StarlethMotion motion) {
  TrotOptions plan = links_trot();
  plan.gait.period = kStarlethPeriod;
  if (motion != StarlethMotion::trot) plan.start_time = std::numeric_limits<double>::max();
  return plan;
}

TrotRun controller(bool hard) {
  TrotRun run;
  run.controller = hard ? TrotController::id_lcp_mu : TrotController::pid;
  run.mu = kFriction;
  run.dt = kStarlethTick;
  run.setup.kp = kFeedback;
  run.setup.kd = kFeedbackRate;
  run.setup.lookahead = kStarlethTick;
  run.setup.stabilises = true;
  run.setup.plans_contacts = true;  // a foot that has sunk in asks for no jump
  return run;
}

// |(LF + RH) - (RF + LH)| over the sum, 0 in the air.
double uneven(const std::array<double, kTrotLegs>& force) {
  const double one = force[0] + force[3], other = force[1] + force[2];
  return one + other > 0.0 ? std::abs(one - other) / (one + other) : 0.0;
}

class Trial {
 public:
  Trial(const StarlethConfiguration& configuration, const StarlethPlan& plan)
      : plan_(plan),
        world_(make_world(configuration.coordinates)),
        uncut_(world_.uncut()),
        stepper_(world_, make_scene(world_, kFriction), step_options(configuration, plan, world_.robots()[0].mass)),
        control_(uncut_, controller(configuration.hard), gait(plan.motion)),
        data_(world_),
        whole_(uncut_),
        state_(initial_state(world_)),
        joints_(initial_state(uncut_)),
        updates_(configuration.hard ? 1 : 2) {
    tau_.setZero(world_.nv());
    joint_tau_.setZero(uncut_.nv());
    for (std::size_t f = 0; f < feet_.size(); ++f) feet_[f] = world_.link(kTrotFeet[f]);
    start_ = opening();
    place_ = state_.q.head<2>();
  }

  StarlethTrial run() {
    const long ticks = std::lround(plan_.duration / kStarlethTick);
    for (long k = 0; k < ticks && out_.failure.empty(); ++k) {
      const double t = static_cast<double>(k) * kStarlethTick;
      control(t);
      for (int u = 0; u < updates_ && out_.failure.empty(); ++u) step(t, t >= plan_.duration - kStarlethPeriod);
    }
    finish();
    return std::move(out_);
  }

 private:
  void control(double t) {
    update(world_, state_.q, state_.v, data_);
    to_uncut(world_, data_, state_.q, state_.v, joints_.q, joints_.v);
    update(uncut_, joints_.q, joints_.v, whole_);
    const PlanarTwist command =
        plan_.motion == StarlethMotion::trot && t >= kTrotSettle ? PlanarTwist{kTrotSpeed, 0.0, 0.0} : PlanarTwist{};
    const VectorXd& torques = control_.update(t, command, {joints_.v[0], joints_.v[1], joints_.v[5]}, {whole_, joints_, {}});
    joint_tau_.setZero();
    for (std::size_t i = 0; i < control_.joints().size(); ++i) joint_tau_[control_.joints()[i]] = torques[static_cast<Index>(i)];
    tau_.setZero();
    add_uncut_forces(world_, data_, joint_tau_, tau_);
    if (plan_.motion == StarlethMotion::pushed_over && t >= kPushStart && t < kPushEnd) {
      const int base = world_.joints()[0].body;
      add_wrench(world_, data_, base, data_.X_WB[base].translation(), kPush * Vector3d::UnitY(), Vector3d::Zero(), tau_);
    }
  }

  void step(double t, bool last_cycle) {
    const StepReport report = stepper_.step(tau_, state_);
    if (!report.accepted) {
      out_.failure = fmt::format("refused at {:.3f} s with a residual of {:.1e}", t, report.residual);
      return;
    }
    ++out_.steps;
    out_.at_acceptable += report.at_acceptable() ? 1 : 0;
    out_.halved += report.halved ? 1 : 0;
    for (std::size_t s = 0; s < kStages; ++s) out_.by_stage[s] += report.seconds[s];
    int bearing = 0;
    std::array<double, kTrotLegs> force{};
    for (int i = 0; i < stepper_.problem().contacts(); ++i) {
      const double impulse = stepper_.solution().impulses[3 * i];
      const ContactPoint& contact = stepper_.contacts()[i];
      bearing += impulse > 0.0 ? 1 : 0;
      for (std::size_t f = 0; f < feet_.size(); ++f) {
        const int foot = world_.links()[feet_[f]].body;
        if (contact.body_a == foot || contact.body_b == foot) force[f] += impulse / stepper_.problem().dt;
      }
    }
    out_.contacts += bearing;
    out_.most_contacts = std::max(out_.most_contacts, bearing);
    if (bearing > 0) {
      out_.iterations += report.iterations;
      ++in_contact_;
    }
    if (last_cycle) {
      out_.cycle.push_back(state_.time - plan_.duration + kStarlethPeriod);
      out_.force.push_back(force[0]);
    }
    if (state_.time > kSettled) {
      out_.deepest = std::max(out_.deepest, report.deepest_penetration);
      out_.depth += report.deepest_penetration;
      out_.diagonal += uneven(force);
      ++settled_;
    }
    if (state_.time < 0.5 * kStarlethTick + kSettled) sunk_ = foot_depth();
    out_.widest = std::max(out_.widest, opening());
  }

  double opening() {
    if (world_.cuts().empty()) return 0.0;
    double worst = 0.0;
    update_kinematics(world_, state_.q, data_);
    for (const CutJoint& cut : world_.cuts()) {
      const Equality& rows = world_.equalities()[cut.equality];
      worst = std::max(worst, equality_error(world_, data_, rows, state_.q).position.norm());
    }
    return worst;
  }

  // In the ground; a foot above it has not risen out of anything.
  double foot_depth() {
    update_kinematics(world_, state_.q, data_);
    double sum = 0.0;
    for (const int link : feet_) sum += std::max(0.0, kTrotFootRadius - link_pose(world_, data_, link).translation().z()) / kTrotLegs;
    return sum;
  }

  void finish() {
    for (const double s : out_.by_stage) out_.seconds += s;
    for (double& s : out_.by_stage) s /= static_cast<double>(std::max(1L, out_.steps));
    out_.iterations /= static_cast<double>(std::max(1L, in_contact_));
    out_.contacts /= static_cast<double>(std::max(1L, out_.steps));
    out_.depth /= static_cast<double>(std::max(1L, settled_));
    out_.diagonal /= static_cast<double>(std::max(1L, settled_));
    out_.opening_rate = (opening() - start_) / state_.time;
    if (state_.time > kSettled) out_.sinking_rate = (foot_depth() - sunk_) / (state_.time - kSettled);
    const Eigen::Quaterniond R(Eigen::Vector4d(state_.q.segment<4>(3)));
    out_.tilt = std::acos(std::clamp((R * Vector3d::UnitZ()).z(), -1.0, 1.0));
    out_.distance = (state_.q.head<2>() - place_).norm();
    if (out_.failure.empty() && plan_.motion != StarlethMotion::pushed_over && out_.tilt > 1.0) out_.failure = "fell";
  }

  const StarlethPlan plan_;
  World world_, uncut_;
  Stepper stepper_;
  TrotControl control_;
  WorldData data_, whole_;
  State state_, joints_;
  int updates_;
  std::array<int, kTrotLegs> feet_{};
  VectorXd tau_, joint_tau_;
  Eigen::Vector2d place_;
  double start_ = 0.0, sunk_ = 0.0;
  long in_contact_ = 0, settled_ = 0;
  StarlethTrial out_;
};

}  // namespace

std::span<const StarlethConfiguration> starleth_configurations() { return kConfigurations; }

StarlethTrial run_starleth_trial(const StarlethConfiguration& configuration, const StarlethPlan& plan) {
  return Trial(configuration, plan).run();
}

}  // namespace stiction
