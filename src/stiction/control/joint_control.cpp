#include "stiction/control/joint_control.hpp"

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Ref = Eigen::Ref<const Eigen::VectorXd>;

void feed_back(const JointControlOptions& options, const DesiredMotion& desired, const Ref& q, const Ref& v, JointControlState& state,
               Eigen::VectorXd& u) {
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

void add_extra(const char* name, const Ref& extra, Eigen::VectorXd& values) {
  if (extra.size() == 0) return;
  require_size(name, extra.size(), values.size());
  require_finite(name, extra);
  values += extra;
}

}  // namespace

void validate(const JointControlOptions& options) {
  validate(options.feedback);
  require_positive("dt", options.dt);
  require_positive("lookahead", options.lookahead);
}

void joint_reference(const JointControlOptions& options, const DesiredMotion& desired, const Ref& q, const Ref& v, const Ref& a_extra,
                     JointControlState& state, JointReference& reference) {
  feed_back(options, desired, q, v, state, reference.a);
  require_finite("desired.a", desired.a);
  reference.a += desired.a;
  add_extra("a_extra", a_extra, reference.a);
  reference.v = v + options.lookahead * reference.a;
}

void joint_pid(const JointControlOptions& options, const DesiredMotion& desired, const Ref& q, const Ref& v, const Ref& tau_extra,
               JointControlState& state, Eigen::VectorXd& tau) {
  feed_back(options, desired, q, v, state, tau);
  add_extra("tau_extra", tau_extra, tau);
}

SensedForces::SensedForces(Eigen::Index size, int delay) {
  if (delay < 1) throw InvalidArgument("delay", "at least 1", std::to_string(delay));
  samples_.assign(delay, Eigen::VectorXd::Zero(size));
}

void SensedForces::push(const Ref& force) {
  require_size("force", force.size(), samples_.front().size());
  samples_[next_] = force;
  next_ = (next_ + 1) % static_cast<int>(samples_.size());
}

}  // namespace stiction
