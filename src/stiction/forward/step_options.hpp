// What a stepper can do of what it is asked for: options and drives that do not fit are refused by name.
#pragma once

#include "stiction/forward/step.hpp"

namespace stiction {

/// Throws InvalidArgument on options out of range, or that do not go together in this world.
void validate(const World& world, const StepOptions& options);

/// Drives under a scheme: the energy-momentum scheme finds its bias without servos, and event_driven its events without what has a slope or
/// couples joints. Throws InvalidArgument.
void validate(const World& world, Scheme scheme, const Drives& drives);

}  // namespace stiction
