// The wall time of a step's stages. Internal.
#pragma once

#include <chrono>

#include "stiction/forward/step.hpp"

namespace stiction {

/// Adds the time since its construction or the end of the last stage to a stage, where the step is timed.
class StageClock {
 public:
  StageClock(StepReport& report, bool timed) : report_(report), timed_(timed), start_(now()) {}
  void end(Stage stage) {
    if (!timed_) return;
    const Clock::time_point end = now();
    report_.seconds[static_cast<std::size_t>(stage)] += std::chrono::duration<double>(end - start_).count();
    start_ = end;
  }
  /// Leaves out the time since the last stage, which another clock has counted.
  void restart() { start_ = now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point now() const { return timed_ ? Clock::now() : Clock::time_point(); }

  StepReport& report_;
  bool timed_;
  Clock::time_point start_;
};

}  // namespace stiction
