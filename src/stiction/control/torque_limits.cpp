#include "stiction/control/torque_limits.hpp"

#include <cmath>
#include <string>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

void validate(const Eigen::Ref<const Eigen::VectorXd>& limit, const Eigen::Ref<const Eigen::VectorXd>& tau) {
  require_size("limit", limit.size(), tau.size());
  require_nonnegative("limit", limit, true);
  for (Eigen::Index i = 0; i < tau.size(); ++i) {
    if (std::isnan(tau[i])) throw InvalidArgument("tau[" + std::to_string(i) + "]", "a number", "nan");
  }
}

int clamp_valid(const Eigen::Ref<const Eigen::VectorXd>& limit, Eigen::Ref<Eigen::VectorXd> tau) {
  int cut = 0;
  for (Eigen::Index i = 0; i < tau.size(); ++i) {
    cut += std::abs(tau[i]) > limit[i] ? 1 : 0;
    tau[i] = clamp_torque(tau[i], limit[i]);
  }
  return cut;
}

}  // namespace

int clamp_torques(const Eigen::Ref<const Eigen::VectorXd>& limit, Eigen::Ref<Eigen::VectorXd> tau) {
  validate(limit, tau);
  return clamp_valid(limit, tau);
}

int clamp_torques(const Eigen::Ref<const Eigen::VectorXd>& limit, Eigen::Ref<Eigen::VectorXd> tau, std::vector<signed char>& saturation) {
  validate(limit, tau);
  saturation.assign(tau.size(), 0);
  for (Eigen::Index i = 0; i < tau.size(); ++i) {
    if (std::abs(tau[i]) > limit[i]) saturation[i] = tau[i] > 0.0 ? 1 : -1;
  }
  return clamp_valid(limit, tau);
}

}  // namespace stiction
