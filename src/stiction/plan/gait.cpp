#include "stiction/plan/gait.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {
constexpr double kNever = std::numeric_limits<double>::infinity();

double duty(const GaitParameters& gait, int leg) { return gait.duty_factor[leg]; }

// Fraction of x, where a value just below the next integer counts as that integer.
double cycle_fraction(double x) {
  const double fraction = x - std::floor(x);
  return fraction < 1.0 - kPhaseTolerance ? fraction : 0.0;
}
}  // namespace

GaitParameters published_trot() {
  GaitParameters gait;
  gait.period = 0.3;
  gait.duty_factor = {0.75, 0.75, 0.75, 0.75};
  gait.touchdown = {0.25, 0.75, 0.75, 0.25};
  gait.step_height = 0.015;
  return gait;
}

void validate(const GaitParameters& gait) {
  constexpr double kLeastPeriod = 1e-3;  // s: no control period of a robot is shorter, and a gait within one would not be seen
  if (!(gait.period >= kLeastPeriod) || std::isinf(gait.period))
    throw InvalidArgument("period", fmt::format("a finite number >= {} s", kLeastPeriod), fmt::format("{}", gait.period));
  if (!(gait.step_height >= 0.0) || std::isinf(gait.step_height)) {
    throw InvalidArgument("step_height", "a finite number >= 0", fmt::format("{}", gait.step_height));
  }
  require_size("duty_factor", static_cast<Eigen::Index>(gait.duty_factor.size()), gait.legs());
  for (int leg = 0; leg < gait.legs(); ++leg) {
    const double touchdown = gait.touchdown[leg];
    if (!(duty(gait, leg) > 0.0 && duty(gait, leg) <= 1.0)) {
      throw InvalidArgument(fmt::format("duty_factor[{}]", leg), "a number in (0, 1]", fmt::format("{}", duty(gait, leg)));
    }
    if (!(touchdown >= 0.0 && touchdown < 1.0)) {
      throw InvalidArgument(fmt::format("touchdown[{}]", leg), "a number in [0, 1)", fmt::format("{}", touchdown));
    }
  }
}

double phase(const GaitParameters& gait, double t) { return cycle_fraction(t / gait.period); }

double leg_phase(const GaitParameters& gait, int leg, double t) { return cycle_fraction(t / gait.period - gait.touchdown[leg]); }

bool in_stance(const GaitParameters& gait, int leg, double t) {
  return duty(gait, leg) >= 1.0 || leg_phase(gait, leg, t) < duty(gait, leg) - kPhaseTolerance;
}

double time_to_liftoff(const GaitParameters& gait, int leg, double t) {
  if (duty(gait, leg) >= 1.0) return kNever;
  const double until = duty(gait, leg) - leg_phase(gait, leg, t);
  return gait.period * (until > kPhaseTolerance ? until : until + 1.0);
}

double time_to_touchdown(const GaitParameters& gait, int leg, double t) {
  return duty(gait, leg) >= 1.0 ? kNever : gait.period * (1.0 - leg_phase(gait, leg, t));
}

double stance_duration(const GaitParameters& gait, int leg) { return gait.period * duty(gait, leg); }
double swing_duration(const GaitParameters& gait, int leg) { return gait.period * (1.0 - duty(gait, leg)); }

}  // namespace stiction
