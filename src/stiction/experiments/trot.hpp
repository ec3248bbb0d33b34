// The trotting quadruped of [ZD15, section 6]: models/links.urdf patrols between way-points on rigid ground.
//
//   controllers   pid           joint PID, foot PID and stabiliser, torques clamped
//                 id-qp-mu      inverse dynamics, convex QP with friction (section 5), least torque (stage II)
//                 id-qp-inf     the same with mu = infinity
//                 id-lcp-mu     inverse dynamics, Coulomb LCP (section 4)
//                 id-lcp-inf    inverse dynamics, no-slip LCP (section 3)
// Both QP controllers come with two objectives: the paper's kinetic energy (law max_dissipation) and the convex relaxation whose inverse
// is exact (law anitescu). Simulator and controller share law and step, but where the paper's own set-up is meant: the kinetic-energy
// objective runs against Coulomb's law with the published look-ahead, and a controller that assumes no slip walks on ground with
// the friction it has.
// Errors are means over joints and time, forces sums of normals over the feet, as in Tables 3 to 5. A touchdown step is one in which
// a foot that bore no force starts to.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stiction/experiments/published.hpp"
#include "stiction/laws/law.hpp"

namespace stiction {

enum class TrotController { pid, id_qp_mu, id_qp_inf, id_lcp_mu, id_lcp_inf };
enum class QpObjective { kinetic, anitescu };

std::string_view to_string(TrotController controller);
std::string_view to_string(QpObjective objective);
/// Throw InvalidArgument that lists the names known.
TrotController trot_controller_from_string(std::string_view name);
QpObjective qp_objective_from_string(std::string_view name);
std::vector<TrotController> all_trot_controllers();

struct TrotRun {
  std::string model;  ///< path of links.urdf
  TrotController controller = TrotController::id_lcp_mu;
  QpObjective objective = QpObjective::anitescu;
  std::optional<Law> simulator;     ///< absent: the controller's own law; Coulomb's (no_slip when mu is infinite) where the two differ
  std::optional<double> lookahead;  ///< s, of the inverse dynamics; absent: dt, or the published 0.005 for the kinetic objective
  double mu = 0.1;                  ///< of the ground, infinity allowed
  double duration = 30.0;           ///< s
  double dt = 1e-3;                 ///< s, of simulator and controller
  std::string log;                  ///< CSV file, empty for none
  /// Called now and then with the share done in [0, 1].
  std::function<void(double)> progress;
};

struct TrotResult {
  std::string controller, objective, simulator;
  double mu = 0.0, duration = 0.0;  ///< duration reached (s)
  double lookahead = 0.0;           ///< s
  bool fell = false;
  double fell_at = 0.0;                                                ///< s
  double position_error = 0.0, velocity_error = 0.0;                   ///< rad, rad/s
  double torque_rate = 0.0, torque_rate_max = 0.0, torque_mean = 0.0;  ///< N m/s, N m/s, N m
  double force_error = 0.0, force_error_relative = 0.0;                ///< N and relative, away from touchdown steps
  double touchdown_error_relative = 0.0;                               ///< on touchdown steps
  long touchdown_steps = 0, steps = 0;
  double worst_residual = 0.0;   ///< largest scaled residual of any accepted solve, simulator and controller
  long uncertified = 0;          ///< steps whose certificate missed the tolerance; none of them is accepted by the simulator
  long controller_failures = 0;  ///< steps on which no inverse solve was certified and the last torques were held
  long saturated_steps = 0;      ///< steps on which a torque limit was active
  long repaired_steps = 0;       ///< steps whose desired velocities contradicted the contacts [ZD15, section 3.5]
  double controller_us_median = 0.0, controller_us_p99 = 0.0, controller_us_max = 0.0;  ///< inverse dynamics per call
  int waypoints = 0;                                                                    ///< reached
  PublishedTrot published;
  std::vector<std::string> warnings;  ///< of the robot's file
};

/// Throws InvalidArgument on options out of range, FileError on a missing model.
TrotResult run_trot(const TrotRun& run);

}  // namespace stiction
