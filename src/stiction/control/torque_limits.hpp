// Symmetric torque limits: tau is clamped to [-limit, limit], and the caller learns which joints were.
#pragma once

#include <vector>

#include <Eigen/Core>

namespace stiction {

/// Clamps tau (nj) in place to |tau_j| <= limit_j (N m, infinity allowed). `saturation` is resized to nj: -1 or +1 where the
/// torque was cut at that bound, 0 elsewhere. Returns how many were cut. Throws InvalidArgument on a NaN torque (tau is then
/// unchanged) or limits of another size or negative.
int clamp_torques(const Eigen::Ref<const Eigen::VectorXd>& limit, Eigen::Ref<Eigen::VectorXd> tau, std::vector<signed char>& saturation);

}  // namespace stiction
