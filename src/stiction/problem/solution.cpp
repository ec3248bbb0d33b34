#include "stiction/problem/solution.hpp"

namespace stiction {

std::string_view to_string(Status status) {
  switch (status) {
    case Status::solved:
      return "solved";
    case Status::inaccurate:
      return "inaccurate";
    case Status::ray_termination:
      return "ray_termination";
    case Status::infeasible:
      return "infeasible";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::numerical_error:
      return "numerical_error";
  }
  return "unknown";
}

void InfeasibilityRay::clear() {
  for (GrowVector* x : {&impulses, &bounded_impulses, &prescribed_impulses}) x->resize(0);
  work = 0.0;
  proof = false;
}

}  // namespace stiction
