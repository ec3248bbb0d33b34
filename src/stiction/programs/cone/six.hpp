// Kernels on blocks of six, the velocities of a free body, as vectors of 4 + 2 numbers. Blocks are column-major unless said otherwise.
//
// Inlined into callers that are built twice (base/wide_vectors.hpp).
#pragma once

#include <cmath>
#include <cstring>
#include <utility>

#include "stiction/base/wide_vectors.hpp"

namespace stiction::six {

using Two = double __attribute__((vector_size(16)));
struct Vector {
  Four head;
  Two tail;
};

STICTION_INLINE void load(const double* from, Vector& x) {
  std::memcpy(&x.head, from, sizeof(Four));
  std::memcpy(&x.tail, from + 4, sizeof(Two));
}
STICTION_INLINE void store(const Vector& x, double* to) {
  std::memcpy(to, &x.head, sizeof(Four));
  std::memcpy(to + 4, &x.tail, sizeof(Two));
}
/// The first two of four: of a factor for all six, the register that holds it.
STICTION_INLINE Two low(const Four& x) { return __builtin_shufflevector(x, x, 0, 1); }
STICTION_INLINE void add(const Vector& x, double factor, Vector& sum) {
  const Four all = {factor, factor, factor, factor};
  sum.head += x.head * all;
  sum.tail += x.tail * low(all);
}
STICTION_INLINE void subtract(const Vector& x, double factor, Vector& sum) {
  const Four all = {factor, factor, factor, factor};
  sum.head -= x.head * all;
  sum.tail -= x.tail * low(all);
}
/// sum += a x, number by number.
STICTION_INLINE void add_products(const double* a, const Vector& x, Vector& sum) {
  Vector row;
  load(a, row);
  sum.head += row.head * x.head;
  sum.tail += row.tail * x.tail;
}
STICTION_INLINE double total(const Vector& x) {
  const Two sum = low(x.head) + __builtin_shufflevector(x.head, x.head, 2, 3) + x.tail;
  return sum[0] + sum[1];
}
STICTION_INLINE double dot(const double* row, const Vector& x) {
  Vector products{};
  add_products(row, x, products);
  return total(products);
}

/// C -= A B with B row-major.
STICTION_INLINE void subtract_product(const double* a, const double* b, double* c) {
  Vector a0, a1, a2, a3, a4, a5;
  load(a, a0);
  load(a + 6, a1);
  load(a + 12, a2);
  load(a + 18, a3);
  load(a + 24, a4);
  load(a + 30, a5);
  for (int j = 0; j < 6; ++j, c += 6, ++b) {
    Vector column;
    load(c, column);
    subtract(a0, b[0], column);
    subtract(a1, b[6], column);
    subtract(a2, b[12], column);
    subtract(a3, b[18], column);
    subtract(a4, b[24], column);
    subtract(a5, b[30], column);
    store(column, c);
  }
}

/// T = D R with R and T 3 x 6 and D 3 x 3, all row-major.
STICTION_INLINE void product(const double* d, const double* r, double* t) {
  Vector r0, r1, r2;
  load(r, r0);
  load(r + 6, r1);
  load(r + 12, r2);
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i, d += 3, t += 6) {
    Vector row{r0.head * d[0], r0.tail * d[0]};
    add(r1, d[1], row);
    add(r2, d[2], row);
    store(row, t);
  }
}

/// C += Lᵀ T with L and T 3 x 6, row-major.
STICTION_INLINE void add_transposed_product(const double* l, const double* t, double* c) {
  Vector l0, l1, l2;
  load(l, l0);
  load(l + 6, l1);
  load(l + 12, l2);
  for (int j = 0; j < 6; ++j, ++t, c += 6) {
    Vector column;
    load(c, column);
    add(l0, t[0], column);
    add(l1, t[6], column);
    add(l2, t[12], column);
    store(column, c);
  }
}

/// C += d l rᵀ.
STICTION_INLINE void add_normal_product(const double* l, double d, const double* r, double* c) {
  Vector row;
  load(l, row);
  for (int j = 0; j < 6; ++j, c += 6) {
    Vector column;
    load(c, column);
    add(row, d * r[j], column);
    store(column, c);
  }
}

/// y -= A x.
STICTION_INLINE void subtract_columns(const double* a, const double* x, double* y) {
  Vector sum;
  load(y, sum);
  for (int l = 0; l < 6; ++l) {
    Vector column;
    load(a + 6 * l, column);
    subtract(column, x[l], sum);
  }
  store(sum, y);
}

/// y -= A x with A row-major.
STICTION_INLINE void subtract_rows(const double* a, const double* x, double* y) {
  Vector right;
  load(x, right);
  for (int i = 0; i < 6; ++i) y[i] -= dot(a + 6 * i, right);
}

/// A <- Aᵀ.
STICTION_INLINE void transpose(double* a) {
  for (int i = 0; i < 6; i += 2) {
    for (int j = 0; j <= i; j += 2) {
      Two p0, p1, q0, q1;
      std::memcpy(&p0, a + 6 * j + i, sizeof(Two));
      std::memcpy(&p1, a + 6 * j + 6 + i, sizeof(Two));
      std::memcpy(&q0, a + 6 * i + j, sizeof(Two));
      std::memcpy(&q1, a + 6 * i + 6 + j, sizeof(Two));
      const Two t0 = __builtin_shufflevector(p0, p1, 0, 2), t1 = __builtin_shufflevector(p0, p1, 1, 3);
      const Two s0 = __builtin_shufflevector(q0, q1, 0, 2), s1 = __builtin_shufflevector(q0, q1, 1, 3);
      std::memcpy(a + 6 * i + j, &t0, sizeof(Two));
      std::memcpy(a + 6 * i + 6 + j, &t1, sizeof(Two));
      std::memcpy(a + 6 * j + i, &s0, sizeof(Two));
      std::memcpy(a + 6 * j + 6 + i, &s1, sizeof(Two));
    }
  }
}

/// P A = L U in place, as dense_lu::factor.
STICTION_INLINE bool factor(double* a, int* pivot) {
  static constexpr double kBelow[6][6] = {{0, 1, 1, 1, 1, 1}, {0, 0, 1, 1, 1, 1}, {0, 0, 0, 1, 1, 1},
                                          {0, 0, 0, 0, 1, 1}, {0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0}};
  for (int k = 0; k < 6; ++k) {
    double* column = a + 6 * k;
    int p = k;
    double best = std::abs(column[k]);
    for (int i = k + 1; i < 6; ++i) {
      const double value = std::abs(column[i]);
      if (value > best) best = value, p = i;
    }
    pivot[k] = p;
    if (!(best > 0.0) || !std::isfinite(best)) return false;
    if (p != k) {
      for (int j = 0; j < 6; ++j) std::swap(a[6 * j + k], a[6 * j + p]);
    }
    const double inverse = 1.0 / column[k];
    Vector multipliers, below;
    load(column, multipliers);
    load(kBelow[k], below);
    multipliers.head *= below.head * inverse;
    multipliers.tail *= below.tail * inverse;
    for (int j = k + 1; j < 6; ++j) {
      Vector target;
      load(a + 6 * j, target);
      subtract(multipliers, a[6 * j + k], target);
      store(target, a + 6 * j);
    }
    column[k] = inverse;
    for (int i = k + 1; i < 6; ++i) column[i] *= inverse;
  }
  return true;
}

/// B <- L⁻¹ P B with B row-major.
STICTION_INLINE void solve_lower_rows(const double* a, const int* pivot, double* b) {
  for (int k = 0; k < 6; ++k) {
    if (pivot[k] == k) continue;
    Vector x, y;
    load(b + 6 * k, x);
    load(b + 6 * pivot[k], y);
    store(y, b + 6 * k);
    store(x, b + 6 * pivot[k]);
  }
  for (int i = 1; i < 6; ++i) {
    Vector row;
    load(b + 6 * i, row);
    for (int k = 0; k < i; ++k) {
      Vector other;
      load(b + 6 * k, other);
      subtract(other, a[6 * k + i], row);
    }
    store(row, b + 6 * i);
  }
}

/// B <- B U⁻¹.
STICTION_INLINE void solve_upper_right(const double* a, double* b) {
  for (int k = 0; k < 6; ++k) {
    Vector column;
    load(b + 6 * k, column);
    for (int j = 0; j < k; ++j) {
      Vector other;
      load(b + 6 * j, other);
      subtract(other, a[6 * k + j], column);
    }
    column.head *= a[7 * k];
    column.tail *= a[7 * k];
    store(column, b + 6 * k);
  }
}

}  // namespace stiction::six
