#pragma once

#include "stiction/base/grow.hpp"

namespace stiction {

struct QpOptions {
  double tolerance = 1e-13;  ///< scaled, see the stopping test of each program
  int max_pivots = 0;        ///< 0: 20 (n + r) + 200
};

class ActiveSet {};

}  // namespace stiction
