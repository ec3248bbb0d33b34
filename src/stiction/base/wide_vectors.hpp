// Inner loops built twice: for every x86-64 processor, and for 256-bit vectors with fused multiply-add.
//
// What STICTION_INLINE marks is inlined where it is called, so one source serves a caller compiled for the baseline and one that carries
// STICTION_WIDE, called where `wide_vectors()` is true. The layout of Eigen's types is that of the file's flags in both, but what it does
// with them is inlined only by luck: inner loops read plain numbers.
#pragma once

#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define STICTION_WIDE __attribute__((target("avx2,fma")))
#else
#define STICTION_WIDE
#endif
#define STICTION_INLINE inline __attribute__((always_inline))

namespace stiction {

/// True when this processor runs what STICTION_WIDE marks.
inline bool wide_vectors() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return wide;
#else
  return false;
#endif
}

using Four = double __attribute__((vector_size(32)));

/// From and to any address.
STICTION_INLINE Four load_four(const double* from) {
  Four x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
STICTION_INLINE void store_four(const Four& x, double* to) { std::memcpy(to, &x, sizeof x); }
STICTION_INLINE double sum_of(const Four& x) { return (x[0] + x[1]) + (x[2] + x[3]); }
/// |x|, number by number.
STICTION_INLINE Four magnitude(const Four& x) { return x < 0.0 ? -x : x; }

}  // namespace stiction
