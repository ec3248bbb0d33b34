#pragma once

#include "stiction/model/world.hpp"

namespace stiction {

/// Whether nothing that moves carries a joint: what it moves, its own coordinates move alone.
bool is_root(const World& world, const Joint& joint);

}  // namespace stiction
