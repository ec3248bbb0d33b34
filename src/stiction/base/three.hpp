// Vectors of three in the first places of a vector of four, whose last is zero, and matrices of three such columns: a column is then
// loaded, scaled, added and crossed whole, in a third of the instructions. A pose of Eigen's has its columns like this, but for the 1 that
// ends the last.
#pragma once

#include <cstring>

#include <Eigen/Geometry>

#include "stiction/base/wide_vectors.hpp"

namespace stiction::three {

/// Reads three numbers.
STICTION_INLINE Four load(const double* from) { return Four{from[0], from[1], from[2], 0.0}; }
/// Writes three numbers.
STICTION_INLINE void store(Four x, double* to) { std::memcpy(to, &x, 3 * sizeof(double)); }

STICTION_INLINE Four next(Four x) { return __builtin_shufflevector(x, x, 1, 2, 0, 3); }
STICTION_INLINE Four cross(Four a, Four b) { return next(a * next(b) - next(a) * b); }
STICTION_INLINE double dot(Four a, Four b) {
  const Four product = a * b;
  return product[0] + product[1] + product[2];
}

/// In memory, wherever that is: without its instructions the compiler aligns a vector of four like one of two.
using Stored = double __attribute__((vector_size(32), aligned(8)));

struct Columns {
  Stored column[3];
};

/// A x.
STICTION_INLINE Four times(const Columns& A, const double* x) { return A.column[0] * x[0] + A.column[1] * x[1] + A.column[2] * x[2]; }
STICTION_INLINE Four times(const Columns& A, Four x) { return A.column[0] * x[0] + A.column[1] * x[1] + A.column[2] * x[2]; }
/// A B, of B the columns `stride` apart.
STICTION_INLINE Columns times(const Columns& A, const double* B, int stride) {
  return {{times(A, B), times(A, B + stride), times(A, B + 2 * stride)}};
}

STICTION_INLINE Columns rotation(const Eigen::Isometry3d& X) {
  const double* from = X.data();
  return {{load_four(from), load_four(from + 4), load_four(from + 8)}};
}
/// The place ends in the 1 of a pose.
STICTION_INLINE void set_pose(const Columns& R, Four place, Eigen::Isometry3d& X) {
  const Four one{0.0, 0.0, 0.0, 1.0}, end = place + one;
  for (int j = 0; j < 3; ++j) std::memcpy(X.data() + 4 * j, &R.column[j], sizeof(Four));
  std::memcpy(X.data() + 12, &end, sizeof(Four));
}

}  // namespace stiction::three
