#include "stiction/forward/events.hpp"

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/names.hpp"
#include "stiction/base/ranges.hpp"

namespace stiction {

namespace {

constexpr std::array<std::string_view, 3> kIntegratorNames{"symplectic_euler", "rk4", "rk45"};
constexpr std::array<std::string_view, 2> kImpactNames{"newton", "poisson"};
constexpr std::array<std::string_view, 2> kOrderNames{"simultaneous", "sequential"};
constexpr std::array<std::string_view, 6> kEventNames{"impact", "rest", "stick", "slip", "release", "jam"};

}  // namespace

std::string_view to_string(Integrator integrator) { return kIntegratorNames[static_cast<std::size_t>(integrator)]; }
Integrator integrator_from_string(std::string_view name) { return value_named<Integrator>("integrator", kIntegratorNames, name); }
std::string integrator_names() { return joined_names(kIntegratorNames); }

std::string_view to_string(ImpactModel model) { return kImpactNames[static_cast<std::size_t>(model)]; }
ImpactModel impact_model_from_string(std::string_view name) { return value_named<ImpactModel>("impact_model", kImpactNames, name); }
std::string impact_model_names() { return joined_names(kImpactNames); }

std::string_view to_string(ImpactOrder order) { return kOrderNames[static_cast<std::size_t>(order)]; }
ImpactOrder impact_order_from_string(std::string_view name) { return value_named<ImpactOrder>("impact_order", kOrderNames, name); }
std::string impact_order_names() { return joined_names(kOrderNames); }

std::string_view to_string(EventKind kind) { return kEventNames[static_cast<std::size_t>(kind)]; }

void validate(const EventOptions& options) {
  require_listed("events.integrator", options.integrator, kIntegrators.back());
  require_listed("events.impact", options.impact, ImpactModel::poisson);
  require_listed("events.order", options.order, ImpactOrder::sequential);
  require_positive("events.time_tolerance", options.time_tolerance);
  require_positive("events.rest_speed", options.rest_speed);
  require_positive("events.integration_tolerance", options.integration_tolerance);
  if (options.most_events <= 0) throw InvalidArgument("events.most_events", "a number > 0", fmt::format("{}", options.most_events));
}

}  // namespace stiction
