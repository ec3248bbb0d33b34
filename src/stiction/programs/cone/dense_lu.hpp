// LU with partial pivoting of small dense blocks, in place and without allocation: the kernels of the block-sparse factorisation.
// Column-major, leading dimension = size.
#pragma once

#include <cmath>
#include <utility>

namespace stiction::dense_lu {

/// P A = L U in place (unit lower triangle below the diagonal, inverses of U's diagonal on it). Row k was swapped with pivot[k]. False when
/// singular or not finite.
inline bool factor(double* a, int n, int* pivot) {
  for (int k = 0; k < n; ++k) {
    double* column = a + k * n;
    int p = k;
    double best = std::abs(column[k]);
    for (int i = k + 1; i < n; ++i) {
      const double value = std::abs(column[i]);
      if (value > best) best = value, p = i;
    }
    pivot[k] = p;
    if (!(best > 0.0) || !std::isfinite(best)) return false;
    if (p != k) {
      for (int j = 0; j < n; ++j) std::swap(a[j * n + k], a[j * n + p]);
    }
    const double inverse = 1.0 / column[k];
    column[k] = inverse;
    for (int i = k + 1; i < n; ++i) column[i] *= inverse;
    for (int j = k + 1; j < n; ++j) {
      double* target = a + j * n;
      const double factor = target[k];
      for (int i = k + 1; i < n; ++i) target[i] -= factor * column[i];
    }
  }
  return true;
}

/// B <- L⁻¹ P B, B n x columns.
inline void solve_lower(const double* a, int n, const int* pivot, double* b, int columns) {
  for (int c = 0; c < columns; ++c, b += n) {
    for (int k = 0; k < n; ++k) {
      if (pivot[k] != k) std::swap(b[k], b[pivot[k]]);
    }
    for (int k = 0; k < n; ++k) {
      const double factor = b[k];
      for (int i = k + 1; i < n; ++i) b[i] -= factor * a[k * n + i];
    }
  }
}

/// b <- U⁻¹ b.
inline void solve_upper(const double* a, int n, double* b) {
  for (int k = n - 1; k >= 0; --k) {
    b[k] *= a[k * n + k];
    const double factor = b[k];
    for (int i = 0; i < k; ++i) b[i] -= factor * a[k * n + i];
  }
}

/// B <- B U⁻¹, B rows x n.
inline void solve_upper_right(const double* a, int n, double* b, int rows) {
  for (int k = 0; k < n; ++k) {
    double* target = b + k * rows;
    for (int j = 0; j < k; ++j) {
      const double factor = a[k * n + j];
      const double* source = b + j * rows;
      for (int i = 0; i < rows; ++i) target[i] -= factor * source[i];
    }
    const double inverse = a[k * n + k];
    for (int i = 0; i < rows; ++i) target[i] *= inverse;
  }
}

}  // namespace stiction::dense_lu
