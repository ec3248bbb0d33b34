// What a run did in all, and why it ended.
#pragma once

#include "stiction/forward/step.hpp"
#include "stiction/record/metrics.hpp"

namespace stiction {

enum class Stop {
  duration,  ///< the duration is over
  refused,   ///< a step could not be certified, or would not have stayed finite: `last` has its report, the stepper its problem
  asked,     ///< RunOptions::until
};

/// Counts and extremes are those of the steps taken.
struct RunSummary {
  Stop stop = Stop::duration;
  StepReport last;  ///< of the last step tried
  long steps = 0;
  long at_acceptable = 0;  ///< missed the tolerance and met `acceptable`
  long retried = 0;        ///< a part was solved again cold
  long halved = 0;
  long corrections_refused = 0;  ///< overlap was left as it was
  Mean contacts, iterations;
  double worst_residual = 0.0;                                                       ///< scaled
  double penetration_start = 0.0, deepest_penetration = 0.0, penetration_end = 0.0;  ///< m: before the first step, of all, before the last
  std::array<double, kStages> seconds{};                                             ///< wall time per stage

  void add(const StepReport& report, int contact_count);
  /// "solved": every step met the tolerance; "acceptable": some met `acceptable` alone; otherwise that of the step that was refused.
  std::string_view status() const;
};

}  // namespace stiction
