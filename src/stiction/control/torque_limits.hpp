// Symmetric torque limits: tau is clamped to [-limit, limit], and the caller learns which joints were.
#pragma once

#include <algorithm>
#include <vector>

#include <Eigen/Core>

namespace stiction {

/// tau within ±limit.
inline double clamp_torque(double tau, double limit) { return std::clamp(tau, -limit, limit); }

/// Clamps tau (nj) in place to |tau_j| <= limit_j (N m, infinity allowed). Returns how many were cut. Throws InvalidArgument on a NaN
/// torque (tau is then unchanged) or limits of another size or negative.
int clamp_torques(const Eigen::Ref<const Eigen::VectorXd>& limit, Eigen::Ref<Eigen::VectorXd> tau);
/// The same; `saturation` is resized to nj: -1 or +1 where the torque was cut at that bound, 0 elsewhere.
int clamp_torques(const Eigen::Ref<const Eigen::VectorXd>& limit, Eigen::Ref<Eigen::VectorXd> tau, std::vector<signed char>& saturation);

}  // namespace stiction
