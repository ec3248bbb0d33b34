#include "stiction/sim/run_summary.hpp"

#include <algorithm>

namespace stiction {

void RunSummary::add(const StepReport& report, int contact_count) {
  if (steps == 0) penetration_start = report.deepest_penetration;
  ++steps;
  at_acceptable += report.at_acceptable() ? 1 : 0;
  retried += report.cold > 0 ? 1 : 0;
  halved += report.halved ? 1 : 0;
  corrections_refused += report.correction.refused ? 1 : 0;
  contacts.add(contact_count);
  iterations.add(report.iterations);
  worst_residual = std::max(worst_residual, report.residual);
  deepest_penetration = std::max(deepest_penetration, report.deepest_penetration);
  penetration_end = report.deepest_penetration;
  for (std::size_t s = 0; s < seconds.size(); ++s) seconds[s] += report.seconds[s];
}

std::string_view RunSummary::status() const {
  if (stop == Stop::refused) return to_string(last.status);
  return at_acceptable > 0 ? "acceptable" : to_string(Status::solved);
}

}  // namespace stiction
