// Gait timing: when each foot stands and when it swings [ZD15, sections 6.1 and 6.6].
//
//   phase(t) = frac(t / T)                                       in [0, 1)
//   s_i(t)   = frac(t / T - touchdown_i)                         cycles since leg i touched down, in [0, 1)
//   stance of leg i: s_i < duty_i;  swing: duty_i <= s_i < 1;  lift-off at s_i = duty_i, touchdown at s_i = 0
// T (s) period, duty_i the fraction of the cycle in stance, touchdown_i the phase of touchdown. Times within
// kPhaseTolerance cycles before an event count as at the event, so that multiples of a control period land on it.
#pragma once

#include <vector>

#include <Eigen/Core>

namespace stiction {

inline constexpr double kPhaseTolerance = 1e-9;

/// A periodic gait of any number of legs; the vectors have one entry per leg.
struct GaitParameters {
  double period = 0.3;              ///< T (s), >= 1e-3
  std::vector<double> duty_factor;  ///< in (0, 1]; 1 never swings, and the base goes nowhere
  std::vector<double> touchdown;    ///< phase in [0, 1)
  double step_height = 0.015;       ///< apex of the swing above the line from lift-off to touchdown (m), >= 0

  int legs() const { return static_cast<int>(touchdown.size()); }
};

/// The trot of [ZD15, section 6.6]: T = 0.3 s, duty 0.75, height 0.015 m, touchdowns {0.25, 0.75, 0.75, 0.25} for LF, RF, LH, RH.
GaitParameters published_trot();

/// Throws InvalidArgument.
void validate(const GaitParameters& gait);

/// frac(t / T) in [0, 1).
double phase(const GaitParameters& gait, double t);
/// Cycles since the last touchdown of a leg, in [0, 1).
double leg_phase(const GaitParameters& gait, int leg, double t);
bool in_stance(const GaitParameters& gait, int leg, double t);
/// Time (s) until the next lift-off, > 0 (a lift-off at t itself has passed); infinity when the leg never swings.
double time_to_liftoff(const GaitParameters& gait, int leg, double t);
/// Time (s) until the next touchdown, > 0; infinity when the leg never swings.
double time_to_touchdown(const GaitParameters& gait, int leg, double t);
double stance_duration(const GaitParameters& gait, int leg);  ///< duty T (s)
double swing_duration(const GaitParameters& gait, int leg);   ///< (1 - duty) T (s)

}  // namespace stiction
