#include "stiction/problem/solution.hpp"

#include <array>

namespace stiction {

std::string_view to_string(Status status) {
  constexpr std::array<std::string_view, 6> names{"solved",     "inaccurate",      "ray_termination",
                                                  "infeasible", "iteration_limit", "numerical_error"};
  const std::size_t k = static_cast<std::size_t>(status);
  return k < names.size() ? names[k] : "unknown";
}

void InfeasibilityRay::clear() {
  for (GrowVector* x : {&impulses, &bounded_impulses, &prescribed_impulses}) x->resize(0);
  work = 0.0;
  proof = false;
}

}  // namespace stiction
