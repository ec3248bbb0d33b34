// Ranges of numbers that several rooms take, each said once.
#pragma once

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

/// A coefficient of friction.
inline void require_friction(std::string_view argument, double value) {
  if (!(value >= 0.0)) throw InvalidArgument(argument, "a number >= 0 or infinity", fmt::format("{}", value));
}

/// A share of a whole, or a coefficient of restitution.
inline void require_share(std::string_view argument, double value) {
  if (!(value >= 0.0 && value <= 1.0)) throw InvalidArgument(argument, "a number in [0, 1]", fmt::format("{}", value));
}

}  // namespace stiction
