// What JOR and SOR share whether G is formed or not: the stopping test, and 1 / G_ll.
#pragma once

#include <algorithm>
#include <cmath>

#include "stiction/problem/reduced.hpp"

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

/// Whether bilateral rows were eliminated, and the others are known before that: the direct variant [G14, Eq. 20].
inline bool is_direct(const ReducedProblem& p) { return p.Rt_before.cols() > 0; }

/// 1 / G_ll of G before the elimination, where it is known; 0 where an impulse moves nothing.
inline double inverse_normal(const ReducedProblem& p, int i) {
  return p.Rt.is_zero(i, 0) ? 0.0 : inverse_or_zero((is_direct(p) ? p.Rt_before : p.Rt).row_square(i, 0));
}
/// That of the larger of the two tangents.
inline double inverse_tangent(const ReducedProblem& p, int i) {
  const BlockRows& rows = is_direct(p) ? p.Rt_before : p.Rt;
  const bool fixed = p.Rt.is_zero(i, 1) && p.Rt.is_zero(i, 2);
  return fixed ? 0.0 : inverse_or_zero(std::max(rows.row_square(i, 1), rows.row_square(i, 2)));
}
inline double inverse_row(const ReducedProblem& p, int j) {
  return p.Bt.is_zero(j, 0) ? 0.0 : inverse_or_zero((is_direct(p) ? p.Bt_before : p.Bt).row_square(j, 0));
}

}  // namespace stiction
