// What the two pivoting methods of the low-rank LCP share:
//
//   w = A Aᵀ z + q,  0 <= w ⊥ z >= 0,   A n x r row-major (rows a_i of the whitened Jacobian), A Aᵀ never formed.
//
// Both keep an active set K (the "non-basic" set B̄ of [ZD15, Alg. 2]) whose rows are independent, so at most rank(A) entries of z are
// positive [ZD15, Theorem 1], and on it A_K A_Kᵀ z_K = -q_K, y = A_Kᵀ z_K. They differ in how K changes: `goldfarb_idnani`, `ppm`.
//
// Stopping test of both: w_i >= -tolerance (|q_i| + |a_i| |y|) - ε_i |y| for all i, z >= 0, w = 0 on K, where a_i is known to ε_i. w_i is
// compared in units of |a_i|, so that rescaling a row changes nothing. Cost: n r to price the rows and O(r²) to update the factor
// (row_basis.hpp) per pivot; memory n + O(r²).
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "stiction/base/blocks.hpp"
#include "stiction/base/row_basis.hpp"
#include "stiction/programs/lcp/lcp_solution.hpp"

namespace stiction {

struct LowRankLcpOptions {
  double tolerance = 1e-12;  ///< see the stopping test
  int max_pivots = 0;        ///< 0 means 100 + 20 (n + r)
  /// n, ε_i >= 0: rounding of the rows, where a projection took most of their length; empty: none beyond that of doubles.
  std::span<const double> rounding = {};
  double length = 0.0;  ///< of the y that is in q already: what q is known to is ε_i times that
};

/// `residual` is the largest of -w_i and |w_active| over |q_i| + |a_i| |y|, from w = A Aᵀ z + q; `infeasible` and `ray` as
/// in LcpSolution, with Aᵀu = 0.
struct LowRankLcpSolution : LcpSolution {
  GrowVector y;  ///< r, Aᵀz: the same for every solution z
};

/// Memory reused between calls; allocates only when n or r exceeds every earlier one.
struct LowRankLcpWorkspace {
  RowBasis basis;
  std::vector<int> active;
  GrowVector inverse_norm, d, direction, z_active, correction;
};

/// One solve's active set K with the factor A_Kᵀ = Q [R; 0], z_K, and y = A_Kᵀ z_K.
class ActiveRows {
 public:
  /// Sizes everything and starts from no rows, z = 0. Throws InvalidArgument on sizes, NaN and infinity.
  ActiveRows(const Eigen::Ref<const RowMatrix>& A, const Eigen::Ref<const Eigen::VectorXd>& q, const LowRankLcpOptions& options,
             LowRankLcpWorkspace& workspace, LowRankLcpSolution& solution);

 protected:
  const double* row(int i) const { return A_.data() + A_.outerStride() * i; }
  auto row_vector(int i) const { return Eigen::Map<const Eigen::VectorXd>(row(i), r_); }
  int rank() const { return ws_.basis.rank(); }
  bool is_null(int i) const { return ws_.inverse_norm[i] == 0.0; }
  double rounding(int i) const { return options_.rounding.empty() ? 0.0 : options_.rounding[i]; }
  /// Whether row i stands out of the span of the active rows by more than rounding, `tail` being its distance from it.
  bool is_independent(int i, double tail) const { return tail * ws_.inverse_norm[i] > kDependent && tail > rounding(i); }
  /// A row a_i = 0 with q_i < 0, which nothing can satisfy; -1 when there is none.
  int unreachable_row() const;

  /// The indices of `warm` that are in range and independent.
  void start_from(std::span<const int> warm);
  bool append(int i);  ///< false: depends on the active rows, and is left out
  void remove(int position);
  /// z_K = -(RᵀR)⁻¹ q_K with one step of refinement on the rows themselves, then y.
  void solve_active();
  /// Position in K of the least z_K that is negative beyond rounding, or -1.
  int most_negative() const;
  /// Fills w = A y + q; the row of least w_i / |a_i|, or -1 when all are non-negative to tolerance.
  int most_violated();
  /// Writes z, w, the active set and the residual as they stand, w = A y + q being up to date.
  Status finish();

  static constexpr double kDependent = 1e-10;  ///< of |a_i|: a row this close to the span of the active rows depends on them
  const Eigen::Ref<const RowMatrix>& A_;
  const Eigen::Ref<const Eigen::VectorXd>& q_;
  const LowRankLcpOptions& options_;
  LowRankLcpWorkspace& ws_;
  LowRankLcpSolution& solution_;
  int n_, r_, max_pivots_;
  double length_ = 0.0;  ///< |y|, enlarged where the terms of y cancel to rounding

 private:
  /// The terms of w_i, of which it may miss the tolerance, and what rounding of the row leaves of them.
  double size(int i) const {
    return std::abs(q_[i]) + (is_null(i) ? 0.0 : length_ / ws_.inverse_norm[i]) +
           rounding(i) * (length_ + options_.length) / options_.tolerance;
  }
  void measure_rows();
};

}  // namespace stiction
