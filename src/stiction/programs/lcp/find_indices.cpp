#include "stiction/programs/lcp/find_indices.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

/// Squares of the candidates' norms, and the largest; a NaN or infinity anywhere in them comes out as not finite.
double measure_rows(const Eigen::Ref<const RowMatrix>& A, std::span<const int> candidates, GrowVector& squares) {
  const Eigen::Index r = A.cols();
  double largest = 0.0, check = 0.0;
  squares.resize(static_cast<Eigen::Index>(candidates.size()));
  for (std::size_t t = 0; t < candidates.size(); ++t) {
    const double* row = A.data() + A.outerStride() * candidates[t];
    double square = 0.0;
    for (Eigen::Index j = 0; j < r; ++j) square += row[j] * row[j];
    squares[static_cast<Eigen::Index>(t)] = square;
    largest = std::max(largest, square);
    check += square;
  }
  return std::isfinite(check) ? largest : check;
}

/// One pass in order; `result.nearest` becomes the largest relative distance that was passed over.
void sweep(const Eigen::Ref<const RowMatrix>& A, std::span<const int> candidates, double floor, double tolerance, IndependentRows& result) {
  const int r = static_cast<int>(A.cols());
  result.nearest = 0.0;
  for (std::size_t t = 0; t < candidates.size() && result.basis.rank() < r; ++t) {
    const double* row = A.data() + A.outerStride() * candidates[t];
    const double norm = std::sqrt(result.squares[static_cast<Eigen::Index>(t)]), distance = result.basis.distance(row);
    if (!(distance > std::max(floor, tolerance * norm))) {
      if (distance > floor) result.nearest = std::max(result.nearest, distance / norm);
      continue;
    }
    result.basis.project(row, result.scratch.data());
    result.basis.append(result.scratch.data());
    result.indices.push_back(candidates[t]);
  }
}

}  // namespace

void find_indices(const Eigen::Ref<const RowMatrix>& A, std::span<const int> candidates, const FindIndicesOptions& options,
                  IndependentRows& result) {
  const int n = static_cast<int>(A.rows()), r = static_cast<int>(A.cols());
  result.indices.clear();
  result.indices.reserve(r);
  result.basis.reset(r);
  result.scratch.resize(r);
  for (const int i : candidates) {
    if (i < 0 || i >= n) throw InvalidArgument("candidates", "row indices below " + std::to_string(n), std::to_string(i));
  }
  const double largest = measure_rows(A, candidates, result.squares);
  if (!std::isfinite(largest)) {
    throw InvalidArgument("A", "finite rows of representable length", std::to_string(largest));
  }
  constexpr double kStep = 1e-3, kNoise = 1e-12;
  const double floor = kNoise * std::sqrt(largest);
  double tolerance = std::max(options.own_tolerance, options.preferred_tolerance);
  sweep(A, candidates, floor, tolerance, result);
  while (tolerance > options.own_tolerance && result.nearest > options.own_tolerance && result.basis.rank() < A.cols()) {
    tolerance = std::max(options.own_tolerance, kStep * tolerance);
    sweep(A, candidates, floor, tolerance, result);
  }
}

}  // namespace stiction
