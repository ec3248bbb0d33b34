#include "stiction/experiments/trot_measures.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "stiction/record/coordinate_names.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

std::vector<std::string> log_columns(const World& world) {
  std::vector<std::string> columns{"time"};
  const auto add = [&](const char* kind, const std::vector<std::string>& names) {
    for (const std::string& name : names) columns.push_back(fmt::format("{} {}", kind, name));
  };
  const std::vector<std::string> velocities = velocity_names(world);
  std::vector<std::string> joints;
  for (const int j : world.actuated()) joints.push_back(velocities[j]);
  add("q", position_names(world));
  add("v", velocities);
  for (const char* kind : {"q_desired", "v_desired", "tau"}) add(kind, joints);
  for (const char* kind : {"force_predicted", "force_simulated"}) {
    for (const char* foot : kTrotFeet) columns.push_back(fmt::format("{} {}", kind, foot));
  }
  columns.insert(columns.end(), {"residual_simulator", "residual_controller", "controller_us"});
  return columns;
}

bool is_self_contact(const World& world, const ContactPoint& c) {
  const auto robot = [&](int body) { return body < 0 ? -1 : world.bodies()[body].robot; };
  return robot(c.body_a) >= 0 && robot(c.body_b) >= 0 && c.gap <= kTouchGap;
}

}  // namespace

TrotMeasures::TrotMeasures(const World& world, const TrotRun& run)
    : dt_(run.dt),
      // The certificate of max_dissipation needs its multipliers, and its inverse is another program.
      one_problem_(run.same_law && !run.setup.plans_contacts && run.setup.lookahead == run.dt &&
                   controller_law(run.controller, run.objective) != Law::max_dissipation) {
  constexpr double kBearing = 0.1;  // of the weight: a ratio to the force of a foot that is lifting off says nothing
  forces_.least = kBearing * world.robots()[0].mass * world.gravity().norm();
  if (!run.log.empty()) log_.emplace(run.log, log_columns(world));
}

bool TrotMeasures::is_other_motion(const Stepper& stepper, const InverseSolution& asked) {
  constexpr double kApart = 1e-6;  // of the velocity scale: a thousand times the tolerance of each
  const Solution& taken = stepper.solution();
  const ContactProblem& p = stepper.problem();
  if (!one_problem_ || taken.status != Status::solved || p.dt != dt_ || asked.impulses.size() != taken.impulses.size()) return false;
  if ((asked.v - taken.v).cwiseAbs().maxCoeff() <= kApart * taken.certificate.velocity_scale) return false;
  const SolveOptions& options = stepper.options().contact;
  certify(p, lowered(p, options), asked.v, asked.impulses, asked.bounded_impulses.head(p.bounded_rows()), taken.prescribed_impulses,
          certificate_workspace_, certificate_);
  return certificate_.worst() <= options.tolerance;
}

void TrotMeasures::record_forces(const Stepper& stepper, const TrotControl& control) {
  last_force_ = force_;
  force_.setZero();
  bool self = false;
  for (std::size_t i = 0; i < stepper.contacts().size(); ++i) {
    const ContactPoint& c = stepper.contacts()[i];
    if (is_self_contact(stepper.world(), c)) {
      self = true;
      continue;
    }
    for (std::size_t f = 0; f < control.feet().size(); ++f) {
      if (c.body_a != control.feet()[f] && c.body_b != control.feet()[f]) continue;
      force_[static_cast<Index>(f)] += stepper.solution().impulses[3 * static_cast<Index>(i)] / stepper.problem().dt;
    }
  }
  self_contacts_ += self ? 1 : 0;
  if (!control.predicted()) return;
  const bool touchdown = ((force_.array() > 0.0) && (last_force_.array() <= 0.0)).any();
  const double predicted = control.normal_forces().sum(), actual = force_.sum();
  forces_.add(predicted, actual);
  (touchdown ? touchdown_ : stance_).add(predicted, actual);
  if (is_other_motion(stepper, control.inverse())) {
    ++ambiguous_;
  } else {
    unambiguous_.add(predicted, actual);
  }
}

void TrotMeasures::record(const StepTaken& step, const TrotControl& control) {
  const DesiredMotion& desired = control.planner().plan().joints;
  tracking_.add(control.q(), desired.q, control.v(), desired.v, control.torques(), dt_);
  trace(step.state, control);
  record_forces(step.stepper, control);
  worst_residual_ = std::max(worst_residual_, step.stepper.solution().certificate.worst());
  if (control.predicted()) worst_residual_ = std::max(worst_residual_, control.inverse().certificate.worst());
  if (control.solved()) times_.push_back(control.microseconds());
  if (log_) write_log(step.before, step.stepper, control);
}

void TrotMeasures::trace(const State& state, const TrotControl& control) {
  const VectorXd& torques = control.torques();
  if (last_torques_.size() > 0) window_rate_.add((torques - last_torques_).cwiseAbs().mean() / dt_);
  last_torques_ = torques;
  window_error_.add((control.q() - control.planner().plan().joints.q).cwiseAbs().mean());
  if (static_cast<double>(window_error_.count()) * dt_ < kTrotWindow - 0.5 * dt_) return;
  trace_.time.push_back(state.time);
  trace_.x.push_back(state.q[0]);
  trace_.y.push_back(state.q[1]);
  trace_.position_error.push_back(window_error_.mean());
  trace_.torque_rate.push_back(window_rate_.maximum());
  window_error_ = {};
  window_rate_ = {};
}

void TrotMeasures::write_log(const State& start, const Stepper& stepper, const TrotControl& control) {
  const DesiredMotion& desired = control.planner().plan().joints;
  log_->add(start.time);
  log_->add(start.q);
  log_->add(start.v);
  log_->add(desired.q);
  log_->add(desired.v);
  log_->add(control.torques());
  log_->add(control.normal_forces());
  log_->add(force_);
  log_->add(stepper.solution().certificate.worst());
  log_->add(control.predicted() ? control.inverse().certificate.worst() : 0.0);
  log_->add(control.microseconds());
  log_->end_row();
}

void TrotMeasures::finish(const TrotControl& control, TrotResult& result) {
  result.position_error = tracking_.position.mean();
  result.velocity_error = tracking_.velocity.mean();
  result.torque_rate = tracking_.torque_rate.mean();
  result.torque_rate_max = tracking_.torque_rate.maximum();
  result.torque_mean = tracking_.torque.mean();
  result.force_error = forces_.difference.mean();
  result.force_error_relative = forces_.ratio.mean();
  result.force_error_of_mean = forces_.relative();
  result.stance_error_of_mean = stance_.relative();
  result.touchdown_error_of_mean = touchdown_.relative();
  result.ambiguous_steps = ambiguous_;
  result.unambiguous_error_of_mean = unambiguous_.relative();
  result.touchdown_steps = touchdown_.difference.count();
  result.unloaded_steps = forces_.difference.count() - forces_.ratio.count();
  result.worst_residual = worst_residual_;
  result.self_contacts = self_contacts_;
  const TrotCounts& counts = control.counts();
  result.failures = counts.failures;
  result.cold = counts.cold;
  result.saturated_steps = counts.saturated;
  result.repaired_steps = counts.repaired;
  result.trace = trace_;
  if (times_.empty()) return;
  std::ranges::sort(times_);
  result.controller_us_median = times_[times_.size() / 2];
  result.controller_us_p99 = times_[times_.size() * 99 / 100];
  result.controller_us_max = times_.back();
}

}  // namespace stiction
