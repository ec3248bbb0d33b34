#include "stiction/control/joint_control.hpp"

#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Ref = Eigen::Ref<const Eigen::VectorXd>;

void feed_back(const JointControlOptions& options, const DesiredMotion& desired, const Ref& q, const Ref& v, JointControlState& state,
               Eigen::VectorXd& u) {
  const Eigen::Index n = options.feedback.size();
  require_joints("desired.q", desired.q, "q", q, n);
  require_joints("desired.v", desired.v, "v", v, n);
  require_size("desired.a", desired.a.size(), n);
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

void require_joints(std::string_view desired_name, const Ref& desired, std::string_view measured_name, const Ref& measured,
                    Eigen::Index size) {
  require_size(desired_name, desired.size(), size);
  require_size(measured_name, measured.size(), size);
  require_finite(desired_name, desired);
  require_finite(measured_name, measured);
  for (Eigen::Index i = 0; i < size; ++i) {
    if (std::isfinite(desired[i] - measured[i])) continue;
    throw InvalidArgument(fmt::format("{}[{}]", desired_name, i),
                          fmt::format("a number whose distance from {}[{}] is finite", measured_name, i),
                          fmt::format("{} with {} there", desired[i], measured[i]));
  }
}

void joint_reference(const JointControlOptions& options, const DesiredMotion& desired, const Ref& q, const Ref& v, const Ref& a_extra,
                     JointControlState& state, JointReference& reference) {
  require_positive("lookahead", options.lookahead);
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
  if (size < 0) throw InvalidArgument("size", "at least 0", std::to_string(size));
  samples_.assign(delay, Eigen::VectorXd::Zero(size));
}

void SensedForces::push(const Ref& force) {
  require_size("force", force.size(), samples_.front().size());
  samples_[next_] = force;
  next_ = (next_ + 1) % static_cast<int>(samples_.size());
}

}  // namespace stiction
