// How far an interior point may go.
#pragma once

namespace stiction {

inline constexpr double kLongestStep = 2.0;  ///< what lies beyond need not be known

/// Shortens the step to where x + step dx is zero.
inline void shorten(double x, double dx, double& step) {
  if (x + step * dx < 0.0) step = -x / dx;
}

}  // namespace stiction
