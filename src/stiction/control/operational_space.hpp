// Feedback in operational space: a PID on foot positions in the base frame, mapped to the joints.
//
//   f = kp (x_d - x) + kd (ẋ_d - ẋ) + ki ∫(x_d - x) dt           3F, virtual force on each foot (N)
//   τ = Jᵀ f                                                     nj, joint torques (N m)
// with x the F foot positions stacked (3F), J = ∂x/∂q (3F x nj, the base held fixed). Gains of the published runs of [ZD15]:
// kp 1000 N/m, kd 10 N s/m, ki 0.01 N/(m s) per axis. Cost O(3F nj).
#pragma once

#include "stiction/control/pid.hpp"

namespace stiction {

struct FootMotion {
  Eigen::Ref<const Eigen::VectorXd> position;  ///< 3F, base frame (m)
  Eigen::Ref<const Eigen::VectorXd> velocity;  ///< 3F (m/s)
};

/// Memory of the operational-space PID.
struct OperationalSpaceState {
  PidState pid;
  Eigen::VectorXd error, error_rate;
  Eigen::VectorXd force;  ///< 3F, the last virtual forces
};

/// tau (nj) of the foot PID; `gains` has 3F components. Throws InvalidArgument when sizes differ.
void operational_space_pid(const PidGains& gains, const FootMotion& desired, const FootMotion& actual,
                           const Eigen::Ref<const Eigen::MatrixXd>& jacobian, double dt, OperationalSpaceState& state,
                           Eigen::Ref<Eigen::VectorXd> tau);

}  // namespace stiction
