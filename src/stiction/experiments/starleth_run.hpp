// One run of the configurations of [G14, Table 1]: a quadruped of 13 bodies and 12 hinges under a controller of 400 Hz, stepped with
// Moreau's midpoint scheme in minimal, extended or maximal coordinates.
//
//   robot        models/links.urdf in StarLETH's place, whose masses and lengths the paper does not give: the same tree of 13 bodies and
//                12 hinges, hence 18, 38 and 78 coordinates. It touches the ground with all links, not with feet and joints alone.
//   controller   inverse dynamics of the trot [ZD15] (id-lcp-mu, planned feet) in place of [G14, Ref. 22]. It knows joints only, whatever
//                the coordinates, and is the same for all.
//                On four feet its answer loads one diagonal or the other, in turn, as the simulation returns: with twelve joints
//                prescribed the robot is a rigid table. What the tolerance leaves in the velocities is fed back, so one foot is asked to
//                open (at 1e-7 m/s where the tolerance is 1e-6, at 1e-10 m/s where 1e-9) and bears nothing. The choice among redundant
//                forces (least torque) is left where all four rest, and is even. Rocking about the diagonals, feet lift by up to 0.5 mm.
//                On springs it falls, as do the trot's other inverse dynamics, all of which take the ground for rigid: there (Cm) joint
//                and foot PID of the trot walk.
//   gait         period 0.8 s [G14]; in stance for 0.75 of it, which the paper leaves open
//   tolerance    1e-6 of the certificate, and up to 1e-4 a step goes on: velocities of contacts right to 1e-4 of those of the step. The
//                paper ends where impulses change by less than 1e-6 N s, 1e-5 m/s of a foot of 0.1 kg.
//   contacts     published: those closed at the midpoint bear (law moreau) [G14, Eq. 7]. Or gaps known ahead (law coulomb_cone, the same
//                scheme): a foot lifted by rounding is closed again within its step, where the published rule lets it go for one.
//   compliant    Alg. 1 (law stick_slip_spring), its constants scaled by the robots' masses (23 kg [G14, Ref. 15])
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/forward/step.hpp"
#include "stiction/sim/run_summary.hpp"

namespace stiction {

/// A row of [G14, Table 1], with its published figures.
struct StarlethConfiguration {
  std::string_view name;
  bool hard = true;
  Coordinates coordinates = Coordinates::minimal;
  Solver solver = Solver::jor;
  bool bilateral_by_prox = false;
  double alpha = 0.6;
  double evaluations = 0.0;  ///< per second
  double real_time = 0.0;    ///< simulated over computing time
};
std::span<const StarlethConfiguration> starleth_configurations();

enum class StarlethMotion { trot, stand, pushed_over };

struct StarlethPlan {
  StarlethMotion motion = StarlethMotion::trot;
  double duration = 20.0;                      ///< s
  bool published_rule = true;                  ///< of contacts that bear; else gaps are known ahead
  double recovery = 0.0, loop_recovery = 1.0;  ///< StepOptions::recovery, and AssembleOptions::loop_recovery; both 0 in [G14]
  double tolerance = 1e-6;                     ///< of the certificate
};

struct StarlethTrial {
  std::string failure;  ///< why the run ended before its time; empty: it did not
  long steps = 0, at_acceptable = 0, halved = 0;
  double seconds = 0.0;                    ///< of all steps, the controller left out
  std::array<double, kStages> by_stage{};  ///< s, of one step
  double iterations = 0.0;                 ///< mean of steps in contact
  double contacts = 0.0;                   ///< mean number that bears
  int most_contacts = 0;
  double opening_rate = 0.0;         ///< m/s, of the cut joint that opened most
  double widest = 0.0;               ///< m, that a cut joint was open
  double sinking_rate = 0.0;         ///< m/s, at which the feet sink into the ground, mean over them from 1 s on
  double deepest = 0.0;              ///< m, penetration from 1 s on
  double depth = 0.0;                ///< m, that of the deepest contact, mean from 1 s on
  double diagonal = 0.0;             ///< mean from 1 s on of what one diagonal bears more than the other, over the sum of both
  double tilt = 0.0;                 ///< rad, of the base at the end
  double distance = 0.0;             ///< m, of the base in the plane
  std::vector<double> cycle, force;  ///< s and N: normal force on the left front foot in the last gait cycle
};

inline constexpr double kStarlethTick = 1.0 / 400.0;  ///< s, of the controller
inline constexpr double kStarlethPeriod = 0.8;        ///< s, of the gait

StarlethTrial run_starleth_trial(const StarlethConfiguration& configuration, const StarlethPlan& plan);

}  // namespace stiction
