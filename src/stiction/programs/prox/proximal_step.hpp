// What JOR and SOR share whether G is formed or not: the stopping test.
#pragma once

#include <cmath>

namespace stiction {

/// The stopping test of a component: |step| <= |λ| relative + absolute.
struct StepTolerance {
  double relative = 0.0, absolute = 0.0;
};

/// Largest |step| / (|λ| relative + absolute) of the components: the test is met at <= 1. A NaN is taken, so that it ends the iteration.
class StepTest {
 public:
  explicit StepTest(const StepTolerance& tolerance) : tolerance_(tolerance) {}
  void add(double before, double after) {
    const double step = std::abs(after - before);
    if (step == 0.0) return;
    const double ratio = step / (std::abs(before) * tolerance_.relative + tolerance_.absolute);
    worst_ = ratio <= worst_ ? worst_ : ratio;
  }
  double worst() const { return worst_; }

 private:
  StepTolerance tolerance_;
  double worst_ = 0.0;
};

inline double inverse_or_zero(double x) { return x > 0.0 ? 1.0 / x : 0.0; }

}  // namespace stiction
