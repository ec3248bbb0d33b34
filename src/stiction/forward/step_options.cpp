#include "stiction/forward/step_options.hpp"

#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/ranges.hpp"

namespace stiction {

namespace {

/// Laws that have an acceleration level, and worlds whose joints are all coordinates.
void validate_events(const World& world, const StepOptions& options) {
  if (options.scheme != Scheme::event_driven) return;
  const auto require_fit = [](Law law) {
    if (fits_events(law)) return;
    throw InvalidArgument(
        "law", "one of coulomb_cone, coulomb_pyramid, coulomb_ellipse, moreau, no_slip, viscous, frictionless under event_driven",
        fmt::format("'{}'", to_string(law)));
  };
  require_fit(options.contact.law);
  for (const PairMaterial& pair : options.assemble.pairs) require_fit(pair.law.value_or(options.contact.law));
  const AssembleOptions& rows = options.assemble;
  for (const CutJoint& cut : world.cuts()) {
    const bool ends = rows.joint_limits && (std::isfinite(cut.joint.lower) || std::isfinite(cut.joint.upper));
    if (cut.joint.nv == 1 && (ends || (rows.dry_friction && cut.joint.dry_friction > 0.0)))
      throw InvalidArgument("scheme",
                            "another than event_driven where a cut joint has limits or dry friction, whose events it does not know",
                            fmt::format("joint '{}'", cut.joint.name));
  }
}

void validate_ranges(const StepOptions& options) {
  validate(options.contact);
  require_listed("scheme", options.scheme, kSchemes.back());
  validate(options.events);
  const int most = options.scheme == Scheme::event_driven ? 1 : 1'000'000;  // events cut a step as it is
  if (options.sub_steps < 1 || options.sub_steps > most)
    throw InvalidArgument("sub_steps", most == 1 ? "1 under event_driven" : "an integer from 1 to 1e6", std::to_string(options.sub_steps));
  if (!(options.acceptable >= 0.0)) throw InvalidArgument("acceptable", "a number >= 0", std::to_string(options.acceptable));
  require_share("recovery", options.recovery);
  if (!(options.allowed_penetration >= 0.0))
    throw InvalidArgument("allowed_penetration", "a number >= 0", std::to_string(options.allowed_penetration));
}

}  // namespace

void refuse_idle(const StepOptions& options, const GivenOptions& given) {
  for (const std::string_view name : {given.integrator, given.impact_model, given.impact_order, given.time_tolerance, given.rest_speed,
                                      given.integration_tolerance, given.most_events}) {
    if (!name.empty() && options.scheme != Scheme::event_driven)
      throw InvalidArgument(name, "none unless the scheme is event_driven", fmt::format("scheme {}", to_string(options.scheme)));
  }
  if (!given.integration_tolerance.empty() && options.events.integrator != Integrator::rk45)
    throw InvalidArgument(given.integration_tolerance, "none unless the integrator is rk45",
                          fmt::format("integrator {}", to_string(options.events.integrator)));
  if (given.acceptable.empty()) return;
  if (options.strict) throw InvalidArgument(given.acceptable, "none beside strict", fmt::format("{:g}", options.acceptable));
  if (options.acceptable < options.contact.tolerance)
    throw InvalidArgument(given.acceptable, fmt::format("a number >= the tolerance of {:g}", options.contact.tolerance),
                          fmt::format("{:g}", options.acceptable));
}

void validate(const World& world, Scheme scheme, const Drives& drives) {
  validate(world, drives);
  if (!drives.servos.empty() && scheme == Scheme::energy_momentum)
    throw InvalidArgument("drives.servos", "none under the scheme energy_momentum", fmt::format("{}", drives.servos.size()));
  if (has_more_than_velocities(drives) && (scheme == Scheme::energy_momentum || scheme == Scheme::event_driven))
    throw InvalidArgument("drives",
                          "no no-load speeds, velocity rows or servos with limits (those of a robot's file too) under this scheme",
                          std::string(to_string(scheme)));
}

void validate(const World& world, const StepOptions& options) {
  validate(world, options.assemble);
  validate_ranges(options);
  validate_events(world, options);
  validate(world, options.scheme, options.assemble.drives);
}

}  // namespace stiction
