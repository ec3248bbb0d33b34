#pragma once

#include "stiction/model/world.hpp"

namespace stiction {

/// Whether a joint joins one body to what stands still: nothing that moves carries it, and it carries no other joint. joint: one of
/// world.joints().
bool joins_one_body(const World& world, const Joint& joint);

}  // namespace stiction
