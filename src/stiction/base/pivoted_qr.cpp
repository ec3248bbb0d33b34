#include "stiction/base/pivoted_qr.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace stiction {

using Eigen::Index;

GrowMatrix& PivotedQr::reset(Index rows, Index cols) {
  a_.resize(rows, cols);
  return a_;
}

void PivotedQr::swap_columns(Index j, Index k) {
  if (j == k) return;
  for (Index i = 0; i < a_.rows(); ++i) std::swap(a_(i, j), a_(i, k));
  std::swap(order_[j], order_[k]);
}

void PivotedQr::factor(double threshold, double least) {
  const Index m = a_.rows(), n = a_.cols();
  order_.resize(n);
  std::iota(order_.begin(), order_.end(), Index{0});
  beta_.resize(std::min(m, n));
  square_.resize(n);
  rank_ = 0;
  double largest = least;
  for (Index k = 0; k < std::min(m, n); ++k) {
    // Lengths are taken anew in every step: rows of closed loops are few, and a running update loses digits.
    Index pivot = k;
    for (Index j = k; j < n; ++j) {
      square_[j] = a_.col(j).tail(m - k).squaredNorm();
      if (square_[j] > square_[pivot]) pivot = j;
    }
    swap_columns(k, pivot);
    const double length = std::sqrt(square_[pivot]);
    largest = std::max(largest, length);
    if (!(length > threshold * largest)) return;
    ++rank_;
    // v = (x + sign(x_0) |x| e_0) / (x_0 + sign(x_0) |x|), beta = 1 + |x_0| / |x|.
    const double first = a_(k, k), signed_length = first < 0.0 ? -length : length;
    beta_[k] = 1.0 + std::abs(first) / length;
    a_.col(k).tail(m - k - 1) /= first + signed_length;
    a_(k, k) = -signed_length;
    for (Index j = k + 1; j < n; ++j) reflect(k, a_.data() + j * m);
  }
}

void PivotedQr::reflect(Index k, double* x) const {
  const Index tail = a_.rows() - k - 1;
  const Eigen::Map<const Eigen::VectorXd> v(a_.data() + k * a_.rows() + k + 1, tail);
  Eigen::Map<Eigen::VectorXd> below(x + k + 1, tail);
  const double along = beta_[k] * (x[k] + v.dot(below));
  x[k] -= along;
  below -= along * v;
}

void PivotedQr::apply(Eigen::Ref<Eigen::VectorXd> x) const {
  for (Index k = rank_ - 1; k >= 0; --k) reflect(k, x.data());
}

void PivotedQr::apply_transposed(Eigen::Ref<Eigen::VectorXd> x) const {
  for (Index k = 0; k < rank_; ++k) reflect(k, x.data());
}

void LeastSquares::factor(double threshold) {
  transposed_.factor(threshold);
  const Index rank = transposed_.rank(), rows = transposed_.cols();
  GrowMatrix& left = left_.reset(rows, rank);
  for (Index i = 0; i < rank; ++i) {
    for (Index j = 0; j < rows; ++j) left(j, i) = j >= i ? transposed_.r(i, j) : 0.0;
  }
  left_.factor(0.0);  // full rank by now
}

void LeastSquares::solve(const Eigen::Ref<const Eigen::VectorXd>& b, GrowVector& x) {
  const Index rank = transposed_.rank(), rows = transposed_.cols();
  work_.resize(rows);
  for (Index j = 0; j < rows; ++j) work_[j] = b[transposed_.column(j)];
  left_.apply_transposed(work_);
  x.setZero(transposed_.rows());
  for (Index i = left_.rank() - 1; i >= 0; --i) {
    double sum = work_[i];
    for (Index j = i + 1; j < left_.rank(); ++j) sum -= left_.r(i, j) * work_[j];
    work_[i] = sum / left_.r(i, i);
  }
  for (Index i = 0; i < rank && i < left_.rank(); ++i) x[left_.column(i)] = work_[i];
  transposed_.apply(x);
}

}  // namespace stiction
