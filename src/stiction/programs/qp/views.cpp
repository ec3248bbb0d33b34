#include "stiction/programs/qp/views.hpp"

#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

void require_finite_entries(std::string_view argument, VectorView values) {
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      throw InvalidArgument(fmt::format("{}[{}]", argument, i), "a finite number", fmt::format("{}", values[i]));
  }
}

}  // namespace stiction
