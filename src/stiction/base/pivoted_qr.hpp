// Householder QR with column pivoting in memory that is reused: A P = Q R, A m x n of any rank.
//
//   rank        diagonal entries of R above `threshold` times the largest, those of later columns being zero [Golub & Van Loan, 5.4.2]
//   Q           m x m, as reflectors; the first `rank` columns span the range of A, the others its orthogonal complement
// Unblocked: for the few dozen rows of closed loops. Cost 2 m n rank flops. Nothing is allocated when the sizes have been seen.
#pragma once

#include <vector>

#include "stiction/base/grow.hpp"

namespace stiction {

class PivotedQr {
 public:
  /// m x n, unspecified entries, to be filled in before `factor`.
  GrowMatrix& reset(Eigen::Index rows, Eigen::Index cols);
  /// Pivots are judged beside the largest one, or beside `least` where that is larger.
  void factor(double threshold, double least = 0.0);

  Eigen::Index rows() const { return a_.rows(); }
  Eigen::Index cols() const { return a_.cols(); }
  Eigen::Index rank() const { return rank_; }
  /// Column of A at place j.
  Eigen::Index column(Eigen::Index j) const { return order_[j]; }
  /// R's entry, i <= j, columns in the order of the places.
  double r(Eigen::Index i, Eigen::Index j) const { return a_(i, j); }
  /// x <- Q x and x <- Qᵀ x (m entries).
  void apply(Eigen::Ref<Eigen::VectorXd> x) const;
  void apply_transposed(Eigen::Ref<Eigen::VectorXd> x) const;

 private:
  void swap_columns(Eigen::Index j, Eigen::Index k);
  /// x <- H_k x; |x|² of its entries after k.
  double reflect(Eigen::Index k, double* x) const;

  GrowMatrix a_;     // R above the diagonal, reflectors v (v_k = 1 not stored) below it
  GrowVector beta_;  // H_k = I - beta_k v vᵀ
  GrowVector square_;
  std::vector<Eigen::Index> order_;
  Eigen::Index rank_ = 0;
};

/// Least-norm least-squares solution of A x = b, from the factors of Aᵀ and, where A's rows are dependent, of the rows that are left.
class LeastSquares {
 public:
  /// Aᵀ (columns of A x rows of A), to be filled in before `factor`.
  GrowMatrix& reset(Eigen::Index rows, Eigen::Index cols) { return transposed_.reset(cols, rows); }
  void factor(double threshold);
  Eigen::Index rank() const { return transposed_.rank(); }
  /// Q of Aᵀ: its first `rank` columns span the rows of A, the others are A's null space.
  const PivotedQr& rows() const { return transposed_; }
  /// b: as many entries as A has rows; x: as many as it has columns.
  void solve(const Eigen::Ref<const Eigen::VectorXd>& b, GrowVector& x);

 private:
  PivotedQr transposed_, left_;  // Aᵀ P = Q R; Rᵀ (rows of A x rank) = Q' R'
  GrowVector work_;
};

}  // namespace stiction
