#include "stiction/record/metrics.hpp"

namespace stiction {

void TrackingMetrics::add(const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& q_des,
                          const Eigen::Ref<const Eigen::VectorXd>& v, const Eigen::Ref<const Eigen::VectorXd>& v_des,
                          const Eigen::Ref<const Eigen::VectorXd>& tau, double h) {
  position.add((q - q_des).cwiseAbs().mean());
  velocity.add((v - v_des).cwiseAbs().mean());
  torque.add(tau.cwiseAbs().mean());
  if (last_tau_.size() == tau.size()) torque_rate.add((tau - last_tau_).cwiseAbs().mean() / h);
  last_tau_ = tau;
}

}  // namespace stiction
