// A solution as Python sees it.
#pragma once

#include <vector>

#include "stiction/inverse/inverse_dynamics.hpp"

namespace stiction::python {

/// Forward or inverse, with what is needed to look into it later.
struct Solved : InverseSolution {
  SolveOptions options;
  std::vector<int> joints;  ///< driven by `inverse`
  bool limited = false;     ///< by torque limits
};

}  // namespace stiction::python
