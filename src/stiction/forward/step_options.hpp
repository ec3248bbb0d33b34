// What a stepper can do of what it is asked for: options and drives that do not fit are refused by name.
#pragma once

#include <string_view>

#include "stiction/forward/step.hpp"

namespace stiction {

/// What options are called that were given, by a program or a file; empty: not given.
struct GivenOptions {
  std::string_view integrator{}, impact_model{}, impact_order{}, acceptable{};
  std::string_view time_tolerance{}, rest_speed{}, integration_tolerance{}, most_events{};
};
/// Throws InvalidArgument on one that would change nothing: it was meant for something else.
void refuse_idle(const StepOptions& options, const GivenOptions& given);

/// Throws InvalidArgument on options out of range, or that do not go together in this world.
void validate(const World& world, const StepOptions& options);

/// Drives under a scheme: the energy-momentum scheme finds its bias without servos, and event_driven its events without what has a slope or
/// couples joints. Throws InvalidArgument.
void validate(const World& world, Scheme scheme, const Drives& drives);

}  // namespace stiction
