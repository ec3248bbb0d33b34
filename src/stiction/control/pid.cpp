#include "stiction/control/pid.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/errors.hpp"

namespace stiction {

PidGains PidGains::uniform(Eigen::Index n, double kp, double kd, double ki) {
  PidGains gains;
  gains.kp.setConstant(n, kp);
  gains.kd.setConstant(n, kd);
  gains.ki.setConstant(n, ki);
  return gains;
}

void validate(const PidGains& gains) {
  require_nonnegative("kp", gains.kp);
  require_size("kd", gains.kd.size(), gains.kp.size());
  require_nonnegative("kd", gains.kd);
  require_size("ki", gains.ki.size(), gains.kp.size());
  require_nonnegative("ki", gains.ki);
  if (!(gains.integral_limit >= 0.0)) {
    throw InvalidArgument("integral_limit", "a number >= 0 or infinity", std::to_string(gains.integral_limit));
  }
}

void pid(const PidGains& gains, const Eigen::Ref<const Eigen::VectorXd>& error, const Eigen::Ref<const Eigen::VectorXd>& error_rate,
         double dt, PidState& state, Eigen::Ref<Eigen::VectorXd> u, std::span<const signed char> saturation) {
  validate(gains);
  const Eigen::Index n = gains.size();
  require_size("error", error.size(), n);
  require_size("error_rate", error_rate.size(), n);
  require_size("u", u.size(), n);
  if (!saturation.empty()) require_size("saturation", static_cast<Eigen::Index>(saturation.size()), n);
  require_finite("error", error);
  require_finite("error_rate", error_rate);
  require_positive("dt", dt);
  if (state.integral.size() == 0) state.integral.setZero(n);
  require_size("state.integral", state.integral.size(), n);

  for (Eigen::Index i = 0; i < n; ++i) {
    const bool winding_up = !saturation.empty() && saturation[i] * error[i] > 0.0;
    double& integral = state.integral[i];
    if (!winding_up) integral += dt * error[i];
    if (gains.ki[i] > 0.0) {
      const double bound = gains.integral_limit / gains.ki[i];
      integral = std::clamp(integral, -bound, bound);
    }
    u[i] = gains.kp[i] * error[i] + gains.ki[i] * integral + gains.kd[i] * error_rate[i];
  }
}

}  // namespace stiction
