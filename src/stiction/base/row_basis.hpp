// Orthogonal factorisation of a set of rows that grows and shrinks by one row at a time:
//
//   A_Kᵀ = Q [R; 0],   Q r x r orthogonal, R k x k upper triangular, A_K k x r of full row rank, k <= r.
//
// The first k columns of Q span the rows, the others their orthogonal complement, so the distance of a further row from the
// span is the norm of the tail of Qᵀa, exact to rounding without re-orthogonalisation. Appending costs O(r²) (one
// Householder reflection), removing O(r k) (Givens rotations). RᵀR is the Cholesky factor of A_K A_Kᵀ that [ZD15, section
// 3.7] updates; working on A_K itself keeps the condition number from being squared.
#pragma once

#include <Eigen/Core>

#include "stiction/base/grow.hpp"

namespace stiction {

class RowBasis {
 public:
  /// No rows, in R^dimension.
  void reset(int dimension);
  int dimension() const { return dimension_; }
  int rank() const { return rank_; }

  /// d = Qᵀ row (both of size r). Returns the norm of the tail d[k..r), the distance of `row` from the span.
  double project(const double* row, double* d) const;
  /// The same distance without the head of d: O(r (r - k)).
  double distance(const double* row) const;
  /// Appends the row that `project` turned into d; its tail must not be zero. Uses d as scratch.
  void append(double* d);
  /// Removes row j of 0..k-1; later rows move up by one.
  void remove(int j);

  /// x <- R⁻¹ x and x <- R⁻ᵀ x, x of size k.
  void solve_upper(double* x) const;
  void solve_lower(double* x) const;

  /// r x k orthonormal columns that span the rows, in their order.
  auto span() const { return q_.leftCols(rank_); }
  /// r x (r - k) orthonormal columns that span the complement.
  auto complement() const { return q_.rightCols(dimension_ - rank_); }
  /// k x k; only the upper triangle is defined.
  auto triangle() const { return r_.topLeftCorner(rank_, rank_); }

 private:
  int dimension_ = 0, rank_ = 0;
  GrowMatrix q_, r_;
};

}  // namespace stiction
