#include "stiction/control/operational_space.hpp"

#include "stiction/base/errors.hpp"

namespace stiction {

void operational_space_pid(const PidGains& gains, const FootMotion& desired, const FootMotion& actual,
                           const Eigen::Ref<const Eigen::MatrixXd>& jacobian, double dt, OperationalSpaceState& state,
                           Eigen::Ref<Eigen::VectorXd> tau) {
  const Eigen::Index n = gains.size();
  require_size("desired.position", desired.position.size(), n);
  require_size("desired.velocity", desired.velocity.size(), n);
  require_size("actual.position", actual.position.size(), n);
  require_size("actual.velocity", actual.velocity.size(), n);
  require_size("jacobian rows", jacobian.rows(), n);
  require_size("jacobian columns", jacobian.cols(), tau.size());

  state.force.resize(n);
  state.error = desired.position - actual.position;
  state.error_rate = desired.velocity - actual.velocity;
  pid(gains, state.error, state.error_rate, dt, state.pid, state.force);
  tau.noalias() = jacobian.transpose() * state.force;
}

}  // namespace stiction
