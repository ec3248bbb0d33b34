// LU with partial pivoting of dense blocks, in place and without allocation: the kernels of the block-sparse factorisation.
// Column-major, leading dimension = size.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "stiction/programs/cone/panels.hpp"

namespace stiction::dense_lu {

inline constexpr int kPanel = 8;  ///< columns that are eliminated together

/// Columns [begin, end) of rows [begin, n), which the columns before have already reached. Rows are swapped in these columns alone.
inline bool factor_panel(double* a, int n, int begin, int end, int* pivot) {
  for (int k = begin; k < end; ++k) {
    double* column = a + std::ptrdiff_t{k} * n;
    int p = k;
    double best = std::abs(column[k]);
    for (int i = k + 1; i < n; ++i) {
      const double value = std::abs(column[i]);
      if (value > best) best = value, p = i;
    }
    pivot[k] = p;
    if (!(best > 0.0) || !std::isfinite(best)) return false;
    if (p != k) {
      for (int j = begin; j < end; ++j) std::swap(a[std::ptrdiff_t{j} * n + k], a[std::ptrdiff_t{j} * n + p]);
    }
    const double inverse = 1.0 / column[k];
    column[k] = inverse;
    for (int i = k + 1; i < n; ++i) column[i] *= inverse;
    for (int j = k + 1; j < end; ++j) {
      double* target = a + std::ptrdiff_t{j} * n;
      const double factor = target[k];
      for (int i = k + 1; i < n; ++i) target[i] -= factor * column[i];
    }
  }
  return true;
}

/// P A = L U in place (unit lower triangle below the diagonal, inverses of U's diagonal on it). Row k was swapped with pivot[k]. False when
/// singular or not finite.
inline bool factor(double* a, int n, int* pivot) {
  if (n <= 2 * kPanel) return factor_panel(a, n, 0, n, pivot);
  for (int begin = 0; begin < n; begin += kPanel) {
    const int end = std::min(begin + kPanel, n);
    if (!factor_panel(a, n, begin, end, pivot)) return false;
    for (int j = 0; j < n; ++j) {
      if (j >= begin && j < end) continue;
      double* target = a + std::ptrdiff_t{j} * n;
      for (int k = begin; k < end; ++k) std::swap(target[k], target[pivot[k]]);
      if (j < begin) continue;
      std::array<double, kPanel> factors{};
      for (int k = begin; k < end; ++k) {
        const double factor = target[k];
        factors[k - begin] = -factor;
        for (int i = k + 1; i < end; ++i) target[i] -= factor * a[std::ptrdiff_t{k} * n + i];
      }
      if (end - begin == kPanel) panels::add<kPanel, 1>(a + std::ptrdiff_t{begin} * n + end, n, factors, n - end, target + end);
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
