// Robots driven by error feedback, and the largest step that each kind of drive is stable at [ZD-EF, section IV, Tables I and II].
//
//   PD                  τ = k_p (q_d - q) + k_d (v_d - v) of the start of the step
//   servo               the same at its end (drive/joint_drives.hpp)
//   ID as control       τ of inverse dynamics, contacts included, handed to the simulator                      [ZD-EF, Fig. 2a]
//   ID as constraint    velocity drives in the simulator's own contact problem, torque limits included         [ZD-EF, Fig. 2b, Eq. 2]
//   in parts            the same, joints measured once a step, contacts solved several times along the plan
// A run is stable when every step is taken and no joint is ever 0.5 rad off; the largest stable step is found from 1 ms by doubling, then
// by bisection, up to 0.1 s. Errors are means over joints and time of |q_d - q| along the path that the robot moves on, within steps too.
#pragma once

#include <functional>
#include <optional>

#include <Eigen/Core>

#include "stiction/experiments/report.hpp"

namespace stiction {

/// `quick`: 2 s in place of 5, fewer steps of the bisection, a coarser reference.
ExperimentReport run_feedback(const ExperimentOptions& options);

/// Part of it. The UR10 follows 0.5 rad sin(π t) on every joint.
void add_feedback_arm(ExperimentReport& report, const ExperimentOptions& options);
/// The quadruped of [ZD15] on ground of friction 0.8: every joint a sinusoid, and the trot.
void add_feedback_quadruped(ExperimentReport& report, const ExperimentOptions& options);

/// What one run measured.
struct TrackingRun {
  double error = 0.0;    ///< rad
  double seconds = 0.0;  ///< wall time of its steps
};

/// A run at a step (s); nothing where it is not stable.
using TryStep = std::function<std::optional<TrackingRun>(double h)>;

struct LargestStep {
  double h = 0.0;  ///< s; 0: none that was tried
  TrackingRun run;
};
inline constexpr double kLongestControlStep = 0.1;  ///< s [ZD-EF]
LargestStep largest_stable_step(const TryStep& attempt, int bisections);

/// Mean over joints and time of |wanted - q| (rad) on the straight path of a step from `before` to `after` that starts at t (s); nothing
/// where a joint is 0.5 rad off.
std::optional<double> error_on_path(const Eigen::Ref<const Eigen::VectorXd>& before, const Eigen::Ref<const Eigen::VectorXd>& after,
                                    double t, double h, const std::function<Eigen::VectorXd(double time)>& wanted);

/// The published row beside ours.
struct PublishedTracking {
  double step, error, seconds;  ///< s, rad, s
};
/// Rows of one drive: largest step, error there, wall time over `base` (that of the first row of its robot).
void add_tracking_rows(ExperimentReport& report, const std::string& robot, const std::string& drive, const LargestStep& found,
                       const std::optional<PublishedTracking>& published, const std::optional<PublishedTracking>& published_base,
                       double base_seconds, const std::string& note);

}  // namespace stiction
