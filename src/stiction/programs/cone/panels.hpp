// Sums of a few long columns: what the dense blocks of more than six spend their time on. Built twice as in six.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>

#include "stiction/programs/cone/six.hpp"

namespace stiction::panels {

/// c_j += Σ_k x_k f[K j + k] for C columns c_j and K columns x_k of n numbers, all `stride` apart.
template <std::size_t K, std::size_t C>
STICTION_INLINE void add_columns(const double* x, std::ptrdiff_t stride, const std::array<double, K * C>& f, int n, double* c) {
  Four factors[K * C];  // c may be anywhere, so what f holds would be read again and again
#pragma GCC unroll 8
  for (std::size_t k = 0; k < K * C; ++k) factors[k] = Four{f[k], f[k], f[k], f[k]};
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    Four sum[C];
#pragma GCC unroll 2
    for (std::size_t j = 0; j < C; ++j) std::memcpy(&sum[j], c + static_cast<std::ptrdiff_t>(j) * stride + i, sizeof sum[j]);
#pragma GCC unroll 8
    for (std::size_t k = 0; k < K; ++k) {
      Four column;
      std::memcpy(&column, x + static_cast<std::ptrdiff_t>(k) * stride + i, sizeof column);
#pragma GCC unroll 2
      for (std::size_t j = 0; j < C; ++j) sum[j] += column * factors[K * j + k];
    }
#pragma GCC unroll 2
    for (std::size_t j = 0; j < C; ++j) std::memcpy(c + static_cast<std::ptrdiff_t>(j) * stride + i, &sum[j], sizeof sum[j]);
  }
  for (; i < n; ++i) {
    for (std::size_t j = 0; j < C; ++j) {
      double& sum = c[static_cast<std::ptrdiff_t>(j) * stride + i];
      for (std::size_t k = 0; k < K; ++k) sum += x[static_cast<std::ptrdiff_t>(k) * stride + i] * f[K * j + k];
    }
  }
}

template <std::size_t K, std::size_t C>
inline void add_narrow(const double* x, std::ptrdiff_t stride, const std::array<double, K * C>& f, int n, double* c) {
  add_columns<K, C>(x, stride, f, n, c);
}
template <std::size_t K, std::size_t C>
STICTION_WIDE inline void add_wide(const double* x, std::ptrdiff_t stride, const std::array<double, K * C>& f, int n, double* c) {
  add_columns<K, C>(x, stride, f, n, c);
}
template <std::size_t K, std::size_t C>
inline void add(const double* x, std::ptrdiff_t stride, const std::array<double, K * C>& f, int n, double* c) {
  wide_vectors() ? add_wide<K, C>(x, stride, f, n, c) : add_narrow<K, C>(x, stride, f, n, c);
}

}  // namespace stiction::panels
