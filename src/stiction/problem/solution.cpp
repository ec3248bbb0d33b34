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

}  // namespace stiction
