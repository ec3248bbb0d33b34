// Ranges of numbers that several rooms take, each said once.
#pragma once

#include <string_view>

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

/// A value of an enumeration that counts from 0 to `last`, not another number.
template <class Enum>
void require_listed(std::string_view argument, Enum value, Enum last) {
  const auto number = static_cast<long long>(value), most = static_cast<long long>(last);
  if (number < 0 || number > most)
    throw InvalidArgument(argument, fmt::format("one of the {} values of its enumeration", most + 1), fmt::format("{}", number));
}

}  // namespace stiction
