#include "stiction/control/torque_limits.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "stiction/base/errors.hpp"

namespace stiction {

int clamp_torques(const Eigen::Ref<const Eigen::VectorXd>& limit, Eigen::Ref<Eigen::VectorXd> tau, std::vector<signed char>& saturation) {
  require_size("limit", limit.size(), tau.size());
  require_nonnegative("limit", limit, true);
  for (Eigen::Index i = 0; i < tau.size(); ++i) {
    if (std::isnan(tau[i])) throw InvalidArgument("tau[" + std::to_string(i) + "]", "a number", "nan");
  }
  saturation.assign(tau.size(), 0);
  int cut = 0;
  for (Eigen::Index i = 0; i < tau.size(); ++i) {
    if (std::abs(tau[i]) <= limit[i]) continue;
    saturation[i] = tau[i] > 0.0 ? 1 : -1;
    tau[i] = std::clamp(tau[i], -limit[i], limit[i]);
    ++cut;
  }
  return cut;
}

}  // namespace stiction
