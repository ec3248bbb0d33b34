// LU factorisation with partial pivoting of a small dense matrix in memory that is kept between calls.
#pragma once

#include <vector>

#include "stiction/base/blocks.hpp"

namespace stiction {

class DenseLu {
 public:
  /// Memory for every size up to this one.
  void reserve(int size);
  /// A k x k row-major matrix to fill in, then `factor`.
  RowMap reset(int size);
  /// False when a pivot is below `tolerance` times the largest entry.
  bool factor(double tolerance = 1e-13);
  /// x <- A⁻¹ x, x of size k.
  void solve(double* x) const;

 private:
  int size_ = 0;
  std::vector<double> entries_;
  std::vector<int> order_;
  mutable std::vector<double> permuted_;
};

}  // namespace stiction
