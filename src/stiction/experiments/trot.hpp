// The trotting quadruped of [ZD15, section 6]: models/links.urdf patrols between way-points on one of three grounds.
//
// Every controller (trot_setup.hpp) walks on the same ground, that of the paper's simulator: Stewart and Trinkle's, law coulomb_pyramid
// with four edges, of friction mu; on compliant ground springs and dampers (law stick_slip_spring). `same_law` has the controller's own law
// and friction there instead. Where mu is infinite, Coulomb's law has kHighFriction. Errors are means over joints and time, forces sums of
// normals over the feet, as in Tables 3 to 5; trot_measures.hpp says how. A run is one perturbed start; `median_worst` sums up several.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stiction/experiments/published.hpp"
#include "stiction/experiments/trot_setup.hpp"

namespace stiction {

struct TrotRun {
  std::string model;  ///< path of links.urdf
  TrotController controller = TrotController::id_lcp_mu;
  QpObjective objective = QpObjective::kinetic;
  TrotSetup setup = trot_setup_from_string("ours");
  TrotGround ground = TrotGround::rigid;
  std::uint64_t terrain_seed = 1;  ///< of the hills
  bool stage_two = true;           ///< least torque among the forces that the law leaves open; false: as the solver finds them
  bool same_law = false;           ///< the ground follows the law and the friction that the controller reckons with
  double mu = 0.1;                 ///< of the ground, infinity allowed
  double duration = 30.0;          ///< s
  double dt = 1e-3;                ///< s, of simulator and controller
  std::uint64_t seed = 0;          ///< of the start's perturbation: joints by up to 0.01 rad, heading by up to 0.1 rad; 0 for none
  std::string log;                 ///< CSV file, empty for none: state, plan and torques at the start of each step, forces of the step
  std::string record;              ///< trajectory (.npz), empty for none, with the feet's targets and the forces predicted and borne
  /// Called now and then with the share done in [0, 1].
  std::function<void(double)> progress;
};

/// Of the run, in windows of kTrotWindow.
struct TrotTrace {
  std::vector<double> time;            ///< s, their ends
  std::vector<double> x, y;            ///< m, of the base at their ends
  std::vector<double> position_error;  ///< rad, mean over joints and time
  std::vector<double> torque_rate;     ///< N m/s, mean over joints, largest of the window
};
inline constexpr double kTrotWindow = 0.02;  ///< s, of 20 steps at 1 ms: long enough that steps are not aliased, short enough for a curve

struct TrotResult {
  std::string controller, objective, setup, simulator, ground;
  double mu = 0.0, duration = 0.0;  ///< duration reached (s)
  double lookahead = 0.0;           ///< s
  std::uint64_t seed = 0;
  bool fell = false;
  double fell_at = 0.0;                                                ///< s
  double position_error = 0.0, velocity_error = 0.0;                   ///< rad, rad/s
  double torque_rate = 0.0, torque_rate_max = 0.0, torque_mean = 0.0;  ///< N m/s, N m/s, N m
  double force_error = 0.0;                                            ///< N, mean |predicted - simulated|, all steps
  double force_error_relative = 0.0;     ///< mean of |predicted - simulated| / simulated, steps that bear a tenth of the weight or more
  double force_error_of_mean = 0.0;      ///< mean |predicted - simulated| over mean simulated force, all steps
  double stance_error_of_mean = 0.0;     ///< the same away from touchdown steps
  double touchdown_error_of_mean = 0.0;  ///< and on them
  /// Steps that took another motion than the controller's, which its law allows too: its point is certified on the step's problem. Counted
  /// where controller and ground solve one problem (same_law, their contacts and look-ahead).
  long ambiguous_steps = 0;
  double unambiguous_error_of_mean = 0.0;  ///< mean |predicted - simulated| over mean simulated force, without those steps
  long touchdown_steps = 0, unloaded_steps = 0, steps = 0;
  double worst_residual = 0.0;  ///< largest scaled residual of any accepted solve, simulator and controller
  long uncertified = 0;         ///< simulator steps whose certificate missed the tolerance: taken at `acceptable`, or the end of the run
  long failures = 0;            ///< control periods without a certified inverse solve: PID
  long cold = 0;                ///< control periods in which only the cold start was certified
  long saturated_steps = 0;     ///< control periods solved with the torque limits as rows: the free torques are beyond, or not certified
  long repaired_steps = 0;      ///< control periods whose desired velocities contradicted the contacts [ZD15, section 3.5]
  long self_contacts = 0;       ///< steps in which links of the robot touched each other
  double controller_us_median = 0.0, controller_us_p99 = 0.0, controller_us_max = 0.0;  ///< inverse dynamics per call
  int waypoints = 0;                                                                    ///< reached
  TrotTrace trace;
  PublishedTrot published;
  std::vector<std::string> warnings;  ///< of the robot's file, and links left out of collision
};

/// Throws InvalidArgument on options out of range, or that do not go together.
void validate(const TrotRun& run);

/// Throws what `validate` throws, and FileError on a missing model.
TrotResult run_trot(const TrotRun& run);

/// The middle value (of an even number: the mean of the two) and the largest.
struct MedianWorst {
  double median = 0.0, worst = 0.0;
};
MedianWorst median_worst(std::span<const TrotResult> runs, double TrotResult::*member);

}  // namespace stiction
