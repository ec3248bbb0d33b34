// Read-only views of a vector and of a row-major matrix: what a QP's data are given as. Like std::string_view they own nothing,
// may be empty (the argument is left out) and must not outlive what they look at.
#pragma once

#include <cassert>
#include <string_view>

#include <Eigen/Core>

#include "stiction/base/blocks.hpp"
#include "stiction/base/grow.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

class VectorView {
 public:
  VectorView() = default;
  template <class Derived>
  requires(bool(Derived::IsVectorAtCompileTime) && bool(Derived::Flags & Eigen::DirectAccessBit))
      VectorView(const Eigen::MatrixBase<Derived>& v)  // NOLINT(google-explicit-constructor): a view converts as string_view does
      : data_(v.derived().data()), size_(v.size()) {
    assert(v.derived().innerStride() == 1);
  }
  VectorView(const double* data, Eigen::Index size) : data_(data), size_(size) {}

  Eigen::Index size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const double* data() const { return data_; }
  double operator[](Eigen::Index i) const { return data_[i]; }
  Eigen::Map<const Eigen::VectorXd> map() const { return {data_, size_}; }

 private:
  const double* data_ = nullptr;
  Eigen::Index size_ = 0;
};

/// Row-major matrix. A column-major r x n matrix B is given as `B.transpose()`.
class RowsView {
 public:
  using Map = Eigen::Map<const RowMatrix, Eigen::Unaligned, Eigen::OuterStride<>>;

  RowsView() = default;
  template <class Derived>
  requires(bool(Derived::IsRowMajor) && bool(Derived::Flags & Eigen::DirectAccessBit))
      RowsView(const Eigen::MatrixBase<Derived>& m)  // NOLINT(google-explicit-constructor)
      : data_(m.derived().data()), rows_(m.rows()), cols_(m.cols()), stride_(m.derived().outerStride()) {
    assert(m.derived().innerStride() == 1 || m.cols() <= 1);
  }
  RowsView(const double* data, Eigen::Index rows, Eigen::Index cols, Eigen::Index stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {}

  Eigen::Index rows() const { return rows_; }
  Eigen::Index cols() const { return cols_; }
  Eigen::Index stride() const { return stride_; }
  bool empty() const { return rows_ == 0; }
  const double* row_data(Eigen::Index i) const { return data_ + i * stride_; }
  Map map() const { return {data_, rows_, cols_, Eigen::OuterStride<>(stride_)}; }
  /// Row i as a column vector.
  Eigen::Map<const Eigen::VectorXd> row(Eigen::Index i) const { return {row_data(i), cols_}; }

 private:
  const double* data_ = nullptr;
  Eigen::Index rows_ = 0, cols_ = 0, stride_ = 0;
};

/// Bounds that are left out: zero below, none above.
inline double bound_below(VectorView lo, Eigen::Index j) { return lo.empty() ? 0.0 : lo[j]; }
inline double bound_above(VectorView hi, Eigen::Index j) { return hi.empty() ? kInfinity : hi[j]; }
/// x of n entries within the bounds, nearest to zero.
void set_nearest_to_zero(Eigen::Index n, VectorView lo, VectorView hi, GrowVector& x);

/// A violation over the size of its terms: zero of none, infinity of one that is not a number or has no terms.
inline double ratio(double value, double scale) {
  if (value <= 0.0) return 0.0;
  return value < kInfinity && scale > 0.0 && scale < kInfinity ? value / scale : kInfinity;
}

inline bool is_zero(VectorView v) { return v.empty() || v.map().isZero(0.0); }
/// Throws InvalidArgument naming the first entry that is NaN or infinite.
void require_finite_entries(std::string_view argument, VectorView values);

}  // namespace stiction
