// The method of multipliers [Hestenes 1969, Powell 1969] with the bounded active set inside, for constraints beside bounds.
//
//   sweep   the minimum within the bounds, constraints being springs of stiffness ω that the multipliers stretch; the first-order update of
//           these, which always converges; the update fitted to the point, free of the rounding that ω multiplies, is what is offered as
//           the solution
// ω grows where a sweep takes too little of the defect away. No assumption of nondegeneracy on the constraints is needed, unlike in a
// primal method. Where they cannot be met the defect tends to what phase one leaves, which is the Farkas vector.
#pragma once

#include <algorithm>
#include <cmath>

#include "stiction/base/grow.hpp"
#include "stiction/problem/contact_problem.hpp"
#include "stiction/programs/qp/active_set.hpp"

namespace stiction::multipliers {

inline constexpr double kStiffer = 30.0;       // factor on ω when the multipliers converge slowly
inline constexpr double kStiffest = 1e9;       // largest ω
inline constexpr double kSlow = 0.2;           // a sweep should reduce the defect at least by this
inline constexpr double kEngine = 1e-14;       // tolerance of the inner active set
inline constexpr double kUndetermined = 1e-9;  // share of a direction of the multipliers below which F does not determine it
inline constexpr double kAccepted = 100.0;     // residual over tolerance up to which it counts as solved when it can get no further
inline constexpr double kCertificate = 1e-9;   // relative tolerance of a proof of infeasibility
inline constexpr double kMet = 1e-12;          // relative defect below which stiffness would only raise rounding
inline constexpr int kCorrections = 2;         // passes of the fit
inline constexpr int kSweeps = 60;
inline constexpr int kStalled = 3;  // sweeps without progress after which an accepted residual is final

/// Of the constraints: relative to their terms, and largest (of any unit that a solve keeps).
struct Defect {
  double relative, size;
};

/// The sweeps of a method that has minimise() -> Status, update() -> Defect, proves_infeasible(), offer() into `solution`, go_on() with the
/// first-order update, stiffen(factor) and pivots().
template <class Method, class Solution>
Status iterate(Method& method, double tolerance, double stiffness, Solution& solution) {
  double last = kInfinity;
  for (int sweep = 0, stalled = 0; sweep < kSweeps && !(stalled >= kStalled && solution.residual <= kAccepted * tolerance); ++sweep) {
    ++solution.sweeps;
    const Status status = method.minimise();
    const Defect defect = method.update();
    const double before = solution.residual;
    if (status == Status::solved && sweep > 1 && defect.relative > kCertificate && method.proves_infeasible()) return Status::infeasible;
    method.offer();
    solution.pivots = method.pivots();
    if (status != Status::solved) return status;
    if (solution.residual <= tolerance) return Status::solved;
    stalled = solution.residual < 0.5 * before ? 0 : stalled + 1;
    method.go_on();
    if (defect.size > kSlow * last && defect.relative > kMet && stiffness < kStiffest) {
      stiffness *= kStiffer;
      method.stiffen(kStiffer);
      last = kInfinity;
    } else {
      last = defect.size;
    }
  }
  return solution.residual <= kAccepted * tolerance ? Status::solved : Status::inaccurate;
}

/// Whether `value`, made of terms of this size, exceeds Σ_j slope(j) x_j over lo <= x <= hi beyond rounding; slopes along infinite bounds
/// up to rounding(j) are none.
template <class Slope, class Rounding>
bool exceeds_reach(double value, double terms, Eigen::Index n, VectorView lo, VectorView hi, Slope slope, Rounding rounding) {
  for (Eigen::Index j = 0; j < n; ++j) {
    const double s = slope(j), bound = s > 0.0 ? bound_above(hi, j) : bound_below(lo, j);
    if (std::isfinite(bound)) {
      value -= s * bound;
      terms += std::abs(s * bound);
    } else if (std::abs(s) > kCertificate * rounding(j)) {
      return false;
    }
  }
  return value > kCertificate * terms;
}

}  // namespace stiction::multipliers
