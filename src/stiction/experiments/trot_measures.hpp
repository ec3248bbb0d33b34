// What is recorded of a trot, step by step [ZD15, Tables 3 to 5].
//
// Force error: f = Σ f_N over the feet, predicted by the controller and borne in the simulator. The paper's absolute and relative figures
// have no common ratio (3.80 N is 12.53 % for one controller, 1.28 N is 1.55 % for another), so its relative error is no share of a
// fixed force but a mean of step-wise ratios |Δf| / f, here over the steps in which the ground bears a tenth of the weight or more, from
// which on the published controller takes a foot for loaded. Mean |Δf| over mean f is recorded beside it. A touchdown step is one in
// which a foot that bore no force starts to.
// Coulomb's law may allow several motions for one torque. A step is ambiguous when ground and controller solved one problem, moved
// differently, and the controller's point passes the certificate of the ground's problem.
#pragma once

#include <optional>

#include "stiction/experiments/trot.hpp"
#include "stiction/experiments/trot_control.hpp"
#include "stiction/record/csv_log.hpp"
#include "stiction/record/metrics.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction {

class TrotMeasures {
 public:
  TrotMeasures(const World& world, const TrotRun& run);

  /// A step under `control`.
  void record(const StepTaken& step, const TrotControl& control);
  /// Means into the result.
  void finish(const TrotControl& control, TrotResult& result);

 private:
  void trace(const State& state, const TrotControl& control);
  void record_forces(const Stepper& stepper, const TrotControl& control);
  bool is_other_motion(const Stepper& stepper, const InverseSolution& asked);
  void write_log(const State& start, const Stepper& stepper, const TrotControl& control);

  double dt_;
  bool one_problem_;  ///< controller and ground solve the same one
  TrackingMetrics tracking_;
  ForceMetrics forces_, stance_, touchdown_, unambiguous_;
  CertificateWorkspace certificate_workspace_;
  Certificate certificate_;
  std::vector<double> times_;
  TrotTrace trace_;
  Mean window_error_, window_rate_;  ///< of the window that the run is in
  Eigen::VectorXd last_torques_;
  Eigen::Vector4d force_ = Eigen::Vector4d::Zero(), last_force_ = Eigen::Vector4d::Zero();
  double worst_residual_ = 0.0;
  long self_contacts_ = 0, ambiguous_ = 0;
  std::optional<CsvLog> log_;
};

}  // namespace stiction
