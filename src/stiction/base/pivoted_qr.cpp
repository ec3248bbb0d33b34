#include "stiction/base/pivoted_qr.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "stiction/base/wide_vectors.hpp"

namespace stiction {

using Eigen::Index;

namespace {

// x <- x - β (x_0 + v·x_below) (1, v), n numbers below x_0; returns |x_below|² of the result.
STICTION_INLINE double reflect_in_place(double beta, const double* v, Index n, double* x) {
  double* below = x + 1;
  Four sum{}, other{};
  Index i = 0;
  for (; i + 8 <= n; i += 8) {
    sum += load_four(v + i) * load_four(below + i);
    other += load_four(v + i + 4) * load_four(below + i + 4);
  }
  double along = x[0];
  for (Index j = i; j < n; ++j) along += v[j] * below[j];
  along = beta * (along + sum_of(sum + other));
  x[0] -= along;
  sum = other = Four{};
  for (Index j = 0; j < i; j += 8) {
    const Four first = load_four(below + j) - load_four(v + j) * along;
    const Four second = load_four(below + j + 4) - load_four(v + j + 4) * along;
    sum += first * first;
    other += second * second;
    store_four(first, below + j);
    store_four(second, below + j + 4);
  }
  double square = 0.0;
  for (; i < n; ++i) {
    below[i] -= v[i] * along;
    square += below[i] * below[i];
  }
  return square + sum_of(sum + other);
}

double reflect_narrow(double beta, const double* v, Index n, double* x) { return reflect_in_place(beta, v, n, x); }
STICTION_WIDE double reflect_wide(double beta, const double* v, Index n, double* x) { return reflect_in_place(beta, v, n, x); }

}  // namespace

GrowMatrix& PivotedQr::reset(Index rows, Index cols) {
  a_.resize(rows, cols);
  return a_;
}

void PivotedQr::swap_columns(Index j, Index k) {
  if (j == k) return;
  for (Index i = 0; i < a_.rows(); ++i) std::swap(a_(i, j), a_(i, k));
  std::swap(order_[j], order_[k]);
  std::swap(square_[j], square_[k]);
}

void PivotedQr::factor(double threshold, double least) {
  const Index m = a_.rows(), n = a_.cols();
  order_.resize(n);
  std::iota(order_.begin(), order_.end(), Index{0});
  beta_.resize(std::min(m, n));
  square_.resize(n);
  rank_ = 0;
  double largest = least;
  for (Index j = 0; j < n; ++j) square_[j] = a_.col(j).squaredNorm();
  for (Index k = 0; k < std::min(m, n); ++k) {
    // Lengths are those of what is left of the columns: a running update would lose digits.
    Index pivot = k;
    for (Index j = k + 1; j < n; ++j) {
      if (square_[j] > square_[pivot]) pivot = j;
    }
    swap_columns(k, pivot);
    const double length = std::sqrt(square_[k]);
    largest = std::max(largest, length);
    if (!(length > threshold * largest)) return;
    ++rank_;
    // v = (x + sign(x_0) |x| e_0) / (x_0 + sign(x_0) |x|), beta = 1 + |x_0| / |x|.
    const double first = a_(k, k), signed_length = first < 0.0 ? -length : length;
    beta_[k] = 1.0 + std::abs(first) / length;
    a_.col(k).tail(m - k - 1) /= first + signed_length;
    a_(k, k) = -signed_length;
    for (Index j = k + 1; j < n; ++j) square_[j] = reflect(k, a_.data() + j * m);
  }
}

double PivotedQr::reflect(Index k, double* x) const {
  const double* v = a_.data() + k * a_.rows() + k + 1;
  const Index tail = a_.rows() - k - 1;
  return wide_vectors() ? reflect_wide(beta_[k], v, tail, x + k) : reflect_narrow(beta_[k], v, tail, x + k);
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
