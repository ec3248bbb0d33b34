// Thin QR factors of a set of columns that changes one at a time:  [a_1 ... a_k] = Q R,  Q r x k orthonormal, R k x k upper
// triangular. Appending orthogonalises twice (classical Gram-Schmidt, orthonormal to rounding); removing rotates by Givens. Both
// cost O(r k), and nothing is allocated after `reset` has seen the largest r.
#pragma once

#include "stiction/base/grow.hpp"

namespace stiction {

class ThinQr {
 public:
  using ConstMatrix = Eigen::Map<const Eigen::MatrixXd, Eigen::Unaligned, Eigen::OuterStride<>>;
  using ConstVector = Eigen::Map<const Eigen::VectorXd>;

  /// No columns of height r.
  void reset(Eigen::Index r);
  Eigen::Index rows() const { return q_.rows(); }
  Eigen::Index size() const { return size_; }
  /// Appends a (r entries of norm `norm`) unless its distance to the span of the others is at most tolerance * norm.
  bool append(const double* a, double norm, double tolerance);
  /// Qᵀa of the last `append`, before it: k entries.
  ConstVector projection() const { return {projection_.data(), size_}; }
  void remove(Eigen::Index k);
  /// x <- R⁻¹ x and x <- R⁻ᵀ x, for k entries.
  void solve(double* x) const;
  void solve_transposed(double* x) const;
  ConstMatrix Q() const { return {q_.data(), rows(), size_, Eigen::OuterStride<>(rows())}; }
  ConstMatrix R() const { return {r_.data(), size_, size_, Eigen::OuterStride<>(rows())}; }

 private:
  Eigen::Index size_ = 0;
  GrowMatrix q_, r_;  // rows x rows, the first size_ columns in use
  GrowVector projection_;
};

}  // namespace stiction
