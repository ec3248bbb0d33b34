// Proportional-integral-derivative feedback on a vector of errors, each component on its own:
//
//   u = kp e + ki s + kd ė,   s = ∫ e dt                         joints: e (rad), u (N m); feet: e (m), u (N)
//
// with e = desired - actual. [ZD15] calls kd kv. Anti-windup is
// twofold: |ki s| never exceeds `integral_limit`, and a component whose actuator is saturated stops integrating while the
// error pushes it further into saturation (conditional integration [Åström & Hägglund, Advanced PID Control, 3.5]).
// The integral is updated before use (backward Euler). Cost O(n), no allocation.
#pragma once

#include <limits>
#include <span>

#include <Eigen/Core>

namespace stiction {

struct PidGains {
  Eigen::VectorXd kp, kd, ki;                                       ///< n each, >= 0
  double integral_limit = std::numeric_limits<double>::infinity();  ///< bound of |ki s|, in the unit of u

  /// The same gains on n components.
  static PidGains uniform(Eigen::Index n, double kp, double kd, double ki);
  Eigen::Index size() const { return kp.size(); }
};

/// Memory of a PID: one integral per component.
struct PidState {
  Eigen::VectorXd integral;  ///< n, ∫ e dt
};

/// Equal sizes, finite and nonnegative. Throws InvalidArgument.
void validate(const PidGains& gains);

/// u (n) from the error and its rate (n each) over a control period dt (s). The state grows on first use.
/// `saturation` (empty, or n entries of -1, 0, +1 from `clamp_torques` of the last period) freezes the integral of saturated
/// components. Throws InvalidArgument when sizes differ or an error is not finite.
void pid(const PidGains& gains, const Eigen::Ref<const Eigen::VectorXd>& error, const Eigen::Ref<const Eigen::VectorXd>& error_rate,
         double dt, PidState& state, Eigen::Ref<Eigen::VectorXd> u, std::span<const signed char> saturation = {});

}  // namespace stiction
