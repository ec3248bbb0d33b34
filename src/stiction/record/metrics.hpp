// Running means over a trajectory, as the published tables define them.
#pragma once

#include <cmath>
#include <optional>

#include <Eigen/Core>

namespace stiction {

/// Mean and maximum of a sequence of numbers.
class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
    maximum_ = count_ == 1 ? value : std::fmax(maximum_, value);
  }
  long count() const { return count_; }
  double sum() const { return sum_; }
  double mean() const { return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_); }
  double maximum() const { return maximum_; }

 private:
  double sum_ = 0.0, maximum_ = 0.0;
  long count_ = 0;
};

/// Tracking and torque smoothness [ZD15, Tables 3 and 4]: means over joints and time.
struct TrackingMetrics {
  Mean position;     ///< E[|q - q_des|] (rad)
  Mean velocity;     ///< E[|v - v_des|] (rad/s)
  Mean torque;       ///< E[|tau|] (N m)
  Mean torque_rate;  ///< E[|Δtau|/h] (N m/s), largest entry in maximum()

  /// One step of h seconds. Sizes nj.
  void add(const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& q_des,
           const Eigen::Ref<const Eigen::VectorXd>& v, const Eigen::Ref<const Eigen::VectorXd>& v_des,
           const Eigen::Ref<const Eigen::VectorXd>& tau, double h);

 private:
  Eigen::VectorXd last_tau_;
};

/// Predicted against simulated summed normal force [ZD15, Table 5].
struct ForceMetrics {
  Mean difference;     ///< |Σ f_N predicted - Σ f_N simulated| (N)
  Mean simulated;      ///< Σ f_N simulated (N)
  Mean ratio;          ///< difference over simulated force, on steps that bear at least `least`
  double least = 0.0;  ///< N

  void add(double predicted, double actual) {
    difference.add(std::abs(predicted - actual));
    simulated.add(actual);
    if (actual > 0.0 && actual >= least) ratio.add(std::abs(predicted - actual) / actual);
  }
  /// Mean difference over mean simulated force.
  double relative() const { return simulated.mean() > 0.0 ? difference.mean() / simulated.mean() : 0.0; }
};

}  // namespace stiction
