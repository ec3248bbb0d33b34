#include "stiction/programs/qp/views.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

void set_nearest_to_zero(Eigen::Index n, VectorView lo, VectorView hi, GrowVector& x) {
  x.resize(n);
  for (Eigen::Index j = 0; j < n; ++j) x[j] = std::clamp(0.0, bound_below(lo, j), bound_above(hi, j));
}

void require_finite_entries(std::string_view argument, VectorView values) {
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      throw InvalidArgument(fmt::format("{}[{}]", argument, i), "a finite number", fmt::format("{}", values[i]));
  }
}

}  // namespace stiction
