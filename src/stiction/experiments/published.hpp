// Published figures that the experiments print beside ours. Missing: not reported ("-": the robot fell).
#pragma once

#include <optional>
#include <string_view>

namespace stiction {

struct PublishedTrot {
  std::optional<double> position_error;  ///< rad, [ZD15, Table 3]
  std::optional<double> velocity_error;  ///< rad/s, [ZD15, Table 3]
  std::optional<double> torque_rate;     ///< N m/s, [ZD15, Table 4] (one value per controller, terrain not stated)
  std::optional<double> torque_mean;     ///< N m, [ZD15, Table 4]
  std::optional<double> force_error;     ///< relative, [ZD15, Table 5]
  std::optional<double> force_newtons;   ///< N, [ZD15, Table 5]
};

/// `ground` rigid or compliant; `high_friction` is mu = infinity, otherwise 0.1. Names as TrotController's.
PublishedTrot published_trot_results(std::string_view controller, std::string_view ground, bool high_friction);

/// Mean joint error of ID(t_i) over that of the PID on the height map [ZD15, section 7.4].
inline constexpr double kPublishedHillsRatio = 0.81;
/// Largest torque rate of ID(t_i)_QP,mu with stage II over that without [ZD15, section 7.2, Fig. 11].
inline constexpr double kPublishedSmoothing = 1e-5;

/// α that [G14, Table 1] chose for a configuration (HmJ, HmS, HEJP, ...): half of the largest that converges. Absent for other names.
std::optional<double> published_prox_alpha(std::string_view name);

}  // namespace stiction
