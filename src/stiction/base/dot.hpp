// Sums over short runs of numbers, in order and inlined: where runs are of 3 to 40, the call and the alignment of a general product cost
// more than the sum.
#pragma once

#include <cstddef>
#include <cstring>

namespace stiction {

using Two = double __attribute__((vector_size(16)));

inline double dot(const double* a, const double* b, std::ptrdiff_t n) {
  Two first{}, second{};  // so that one addition need not wait for the other
  std::ptrdiff_t k = 0;
  for (; k + 4 <= n; k += 4) {
    Two a0, a1, b0, b1;
    std::memcpy(&a0, a + k, sizeof(Two));
    std::memcpy(&b0, b + k, sizeof(Two));
    std::memcpy(&a1, a + k + 2, sizeof(Two));
    std::memcpy(&b1, b + k + 2, sizeof(Two));
    first += a0 * b0;
    second += a1 * b1;
  }
  first += second;
  double sum = first[0] + first[1];
  for (; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/// y += s a.
inline void add_scaled(const double* a, double s, double* y, std::ptrdiff_t n) {
  std::ptrdiff_t k = 0;
  for (; k + 2 <= n; k += 2) {
    Two from, to;
    std::memcpy(&from, a + k, sizeof(Two));
    std::memcpy(&to, y + k, sizeof(Two));
    to += s * from;
    std::memcpy(y + k, &to, sizeof(Two));
  }
  if (k < n) y[k] += s * a[k];
}

/// y += s a + t b.
inline void add_scaled(const double* a, double s, const double* b, double t, double* y, std::ptrdiff_t n) {
  std::ptrdiff_t k = 0;
  for (; k + 2 <= n; k += 2) {
    Two first, second, to;
    std::memcpy(&first, a + k, sizeof(Two));
    std::memcpy(&second, b + k, sizeof(Two));
    std::memcpy(&to, y + k, sizeof(Two));
    to += s * first + t * second;
    std::memcpy(y + k, &to, sizeof(Two));
  }
  if (k < n) y[k] += s * a[k] + t * b[k];
}

}  // namespace stiction
