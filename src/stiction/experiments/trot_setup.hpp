// Who controls the trot of [ZD15, section 6], and with which set-up: gains, look-ahead, contacts, friction and limits, in one table.
//
//   controllers   pid            joint PID, foot PID and stabiliser
//                 id-sensed-1    inverse dynamics from the contact forces of the last step, ID(t_{i-1})
//                 id-sensed-2    the same one step later, ID(t_{i-2})
//                 id-qp-mu       inverse dynamics, convex QP with friction (section 5), least torque (stage II)
//                 id-qp-inf      the same with mu = infinity
//                 id-lcp-mu      inverse dynamics, Coulomb LCP (section 4)
//                 id-lcp-inf     inverse dynamics, no-slip LCP (section 3)
//   objectives    kinetic        the QP of the paper (law max_dissipation)
//                 anitescu       the convex relaxation whose inverse is exact (law anitescu)
//   set-ups       2014, 2015     the two published ones; no single published file carries every parameter that the paper names
//                 paper          what the text says: errors fed back into the desired accelerations (section 6.2; gains of 2015), look-
//                                ahead of 2014, the simulator's own contacts ("identical data", section 6.4), no word of torque limits
//                 ours           gains that damp a touchdown, look-ahead of one step, torque limits of 4 N m, no stabiliser
// 2015 falls with most controllers on rough ground: no torque limit acts, feet wedge there (docs/laws.md), and 5e4 1/s² with 100 1/s
// damps a touchdown to 0.22 of critical. Its published gains are 1e4 to 1e5 1/s², 5e4 on slippery ground. On rough ground both kinetic
// QPs walk with 1e4, the LCPs and id-qp-inf with 4 N m.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stiction/control/pid.hpp"
#include "stiction/laws/law.hpp"

namespace stiction {

enum class TrotController { pid, id_sensed_1, id_sensed_2, id_qp_mu, id_qp_inf, id_lcp_mu, id_lcp_inf };
enum class QpObjective { kinetic, anitescu };

/// What the robot walks on. compliant: springs and dampers that give way by 1 mm under the standing robot [ZD15, section 6.5]. hills: the
/// height map of [ZD15, section 6.5], rigid, bumps of 3 cm at most, friction uniform in [0.1, 1.5] per patch.
enum class TrotGround { rigid, compliant, hills };

/// How a set-up feeds errors back to inverse dynamics.
struct TrotSetup {
  std::string_view name;
  bool adds_torques;    ///< PID and stabiliser as torques on top of the inverse dynamics of the plan; otherwise as accelerations
  double kp, kd;        ///< of those accelerations, 1/s² and 1/s
  bool damps_motion;    ///< kd acts on -v in place of v_des - v
  double lookahead;     ///< h of the inverse dynamics, s
  double torque_limit;  ///< N m
  bool plans_contacts;  ///< contacts are the feet that stand and are planned to, without gap; otherwise what the simulator sees
  bool stabilises;      ///< the stabiliser of [ZD15, section 6.2] acts
};

/// Gains of the PID baseline, which every set-up shares and falls back to: N m/rad and N/m, their rates and integrals.
struct TrotPid {
  double joint_kp = 10.0, joint_kv = 0.1, joint_ki = 0.003;
  double foot_kp = 1000.0, foot_kv = 10.0, foot_ki = 0.01;
};

/// Largest mu of id-qp-mu, published in 2015: without it, id-qp-mu on ground of infinite friction would be id-qp-inf again.
inline constexpr double kFrictionCap = 1.5;
/// Tikhonov's term of id-qp-inf with the kinetic objective, relative to 1/mass of the robot: see soften_contacts.
inline constexpr double kTikhonov = 1e-3;

/// All set-ups, and one by name. Throws InvalidArgument that lists the names known.
const std::vector<TrotSetup>& trot_setups();
const TrotSetup& trot_setup_from_string(std::string_view name);

std::string_view to_string(TrotController controller);
std::string_view to_string(QpObjective objective);
std::string_view to_string(TrotGround ground);
/// Throw InvalidArgument that lists the names known.
TrotController trot_controller_from_string(std::string_view name);
QpObjective qp_objective_from_string(std::string_view name);
TrotGround trot_ground_from_string(std::string_view name);
std::vector<TrotController> all_trot_controllers();
std::vector<TrotGround> all_trot_grounds();

bool is_qp(TrotController controller);
/// Predicts contact forces: all but the PID and those that sense them.
bool predicts_forces(TrotController controller);
bool assumes_no_slip(TrotController controller);

/// Law of the controller's inverse dynamics; frictionless, without contacts, where it senses the forces.
Law controller_law(TrotController controller, QpObjective objective);
/// Friction of the ground at mu = infinity: no foot of the trot slips at it, and Coulomb's law stays Coulomb's.
inline constexpr double kHighFriction = 100.0;
double ground_friction(double mu);
/// Friction that the controller reckons with on ground of friction mu: infinite for those that assume no slip.
double controller_friction(TrotController controller, double mu);

}  // namespace stiction
