#include "stiction/programs/lcp/find_indices.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

/// Square of the largest row norm among the candidates; a NaN or infinity anywhere in them comes out as not finite.
template <class RowAt>
double largest_square(const Eigen::Ref<const RowMatrix>& A, int count, RowAt row_at) {
  double largest = 0.0, check = 0.0;
  for (int t = 0; t < count; ++t) {
    const double square = A.row(row_at(t)).squaredNorm();
    largest = std::max(largest, square);
    check += square;
  }
  return std::isfinite(check) ? largest : check;
}

template <class RowAt>
void select(const Eigen::Ref<const RowMatrix>& A, int count, RowAt row_at, const FindIndicesOptions& options, IndependentRows& result) {
  const int r = static_cast<int>(A.cols());
  const double largest = largest_square(A, count, row_at);
  if (!std::isfinite(largest)) {
    throw InvalidArgument("A", "finite rows of representable length", std::to_string(largest));
  }
  const double floor = options.largest_tolerance * std::sqrt(largest);
  for (int t = 0; t < count && result.basis.rank() < r; ++t) {
    const int i = row_at(t);
    const double* row = A.data() + A.outerStride() * i;
    const double least = std::max(floor, options.own_tolerance * A.row(i).norm());
    if (!(result.basis.distance(row) > least)) continue;
    result.basis.project(row, result.scratch.data());
    result.basis.append(result.scratch.data());
    result.indices.push_back(i);
  }
}

}  // namespace

void find_indices(const Eigen::Ref<const RowMatrix>& A, std::span<const int> candidates, const FindIndicesOptions& options,
                  IndependentRows& result) {
  const int n = static_cast<int>(A.rows()), r = static_cast<int>(A.cols());
  result.indices.clear();
  result.indices.reserve(static_cast<std::size_t>(r));
  result.basis.reset(r);
  result.scratch.resize(r);
  if (candidates.empty()) {
    select(
        A, n, [](int t) { return t; }, options, result);
    return;
  }
  for (const int i : candidates) {
    if (i < 0 || i >= n) throw InvalidArgument("candidates", "row indices below " + std::to_string(n), std::to_string(i));
  }
  select(
      A, static_cast<int>(candidates.size()), [&](int t) { return candidates[static_cast<std::size_t>(t)]; }, options, result);
}

}  // namespace stiction
