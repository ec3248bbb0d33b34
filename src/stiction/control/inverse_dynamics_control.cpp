#include "stiction/control/inverse_dynamics_control.hpp"

#include <algorithm>

#include "stiction/base/errors.hpp"
#include "stiction/control/torque_limits.hpp"

namespace stiction {

namespace {

// The feedback alone, into command.a_ref.
void feedback(const JointControlOptions& options, const DesiredMotion& desired, const Eigen::Ref<const Eigen::VectorXd>& q,
              const Eigen::Ref<const Eigen::VectorXd>& v, JointControlState& state, Eigen::VectorXd& u) {
  const Eigen::Index n = options.feedback.size();
  require_size("desired.q", desired.q.size(), n);
  require_size("desired.v", desired.v.size(), n);
  require_size("desired.a", desired.a.size(), n);
  require_size("q", q.size(), n);
  require_size("v", v.size(), n);
  state.error = desired.q - q;
  state.error_rate = desired.v - v;
  u.resize(n);
  pid(options.feedback, state.error, state.error_rate, options.dt, state.pid, u, state.saturation);
}

void add_extra(const char* name, const Eigen::Ref<const Eigen::VectorXd>& extra, Eigen::VectorXd& values) {
  if (extra.size() == 0) return;
  require_size(name, extra.size(), values.size());
  require_finite(name, extra);
  values += extra;
}

void limit_torques(const JointControlOptions& options, JointControlState& state, JointCommand& command) {
  command.saturated = options.torque_limit.size() == 0 ? 0 : clamp_torques(options.torque_limit, command.tau, state.saturation);
}

}  // namespace

void validate(const JointControlOptions& options) {
  validate(options.feedback);
  require_positive("dt", options.dt);
  require_positive("lookahead", options.lookahead);
  if (options.torque_limit.size() == 0) return;
  require_size("torque_limit", options.torque_limit.size(), options.feedback.size());
  require_nonnegative("torque_limit", options.torque_limit, true);
}

void reference_acceleration(const JointControlOptions& options, const DesiredMotion& desired, const Eigen::Ref<const Eigen::VectorXd>& q,
                            const Eigen::Ref<const Eigen::VectorXd>& v, const Eigen::Ref<const Eigen::VectorXd>& a_extra,
                            JointControlState& state, JointCommand& command) {
  feedback(options, desired, q, v, state, command.a_ref);
  require_finite("desired.a", desired.a);
  command.a_ref += desired.a;
  add_extra("a_extra", a_extra, command.a_ref);
  command.v_ref = v + options.lookahead * command.a_ref;
}

void inverse_dynamics_control(const JointControlOptions& options, const DesiredMotion& desired, const Eigen::Ref<const Eigen::VectorXd>& q,
                              const Eigen::Ref<const Eigen::VectorXd>& v, const Eigen::Ref<const Eigen::VectorXd>& a_extra,
                              const InverseDynamics& inverse, JointControlState& state, JointCommand& command) {
  reference_acceleration(options, desired, q, v, a_extra, state, command);
  command.tau.setZero(options.feedback.size());
  command.status = inverse(command.v_ref, command.tau);
  if (!command.tau.allFinite()) {
    command.tau.setZero();
    command.status = Status::numerical_error;
  }
  limit_torques(options, state, command);
}

void joint_pid_control(const JointControlOptions& options, const DesiredMotion& desired, const Eigen::Ref<const Eigen::VectorXd>& q,
                       const Eigen::Ref<const Eigen::VectorXd>& v, const Eigen::Ref<const Eigen::VectorXd>& tau_extra,
                       JointControlState& state, JointCommand& command) {
  feedback(options, desired, q, v, state, command.tau);
  add_extra("tau_extra", tau_extra, command.tau);
  command.a_ref.setZero(command.tau.size());
  command.v_ref = desired.v;
  command.status = Status::solved;
  limit_torques(options, state, command);
}

SensedForces::SensedForces(Eigen::Index size, int delay) {
  if (delay < 1) throw InvalidArgument("delay", "at least 1", std::to_string(delay));
  samples_.assign(static_cast<std::size_t>(delay), Eigen::VectorXd::Zero(size));
}

void SensedForces::push(const Eigen::Ref<const Eigen::VectorXd>& force) {
  require_size("force", force.size(), samples_.front().size());
  samples_[static_cast<std::size_t>(next_)] = force;
  next_ = (next_ + 1) % static_cast<int>(samples_.size());
}

}  // namespace stiction
