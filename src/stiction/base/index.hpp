// Eigen counts with signed numbers, the standard library with unsigned ones.
#pragma once

#include <cstddef>

namespace stiction {

/// The place of a container that a signed index, never negative, names.
constexpr std::size_t at(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

}  // namespace stiction
