#include "stiction/control/operational_space.hpp"

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {
void clear_masked(std::span<const char> mask, Eigen::VectorXd& values) {
  for (std::size_t foot = 0; foot < mask.size(); ++foot) {
    if (mask[foot] == 0) values.segment<3>(3 * static_cast<Eigen::Index>(foot)).setZero();
  }
}
}  // namespace

void operational_space_pid(const PidGains& gains, const FootMotion& desired, const FootMotion& actual,
                           const Eigen::Ref<const Eigen::MatrixXd>& jacobian, double dt, OperationalSpaceState& state,
                           Eigen::Ref<Eigen::VectorXd> tau, std::span<const char> mask) {
  const Eigen::Index n = gains.size();
  require_size("desired.position", desired.position.size(), n);
  require_size("desired.velocity", desired.velocity.size(), n);
  require_size("actual.position", actual.position.size(), n);
  require_size("actual.velocity", actual.velocity.size(), n);
  require_size("jacobian rows", jacobian.rows(), n);
  require_size("jacobian columns", jacobian.cols(), tau.size());
  if (!mask.empty()) require_size("mask (3 per foot)", 3 * static_cast<Eigen::Index>(mask.size()), n);

  state.force.resize(n);
  state.error = desired.position - actual.position;
  state.error_rate = desired.velocity - actual.velocity;
  clear_masked(mask, state.error);  // before the PID, so that the integral of a foot left out rests
  clear_masked(mask, state.error_rate);
  pid(gains, state.error, state.error_rate, dt, state.pid, state.force);
  clear_masked(mask, state.force);
  tau.noalias() = jacobian.transpose() * state.force;
}

}  // namespace stiction
