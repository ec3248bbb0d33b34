#include "stiction/programs/lcp/lu.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stiction {

void DenseLu::reserve(int size) {
  const auto n = static_cast<std::size_t>(size);
  entries_.reserve(n * n);
  order_.reserve(n);
  permuted_.reserve(n);
}

RowMap DenseLu::reset(int size) {
  size_ = size;
  const auto n = static_cast<std::size_t>(size);
  entries_.resize(n * n);
  order_.resize(n);
  permuted_.resize(n);
  std::iota(order_.begin(), order_.end(), 0);
  return {entries_.data(), size, size};
}

bool DenseLu::factor(double tolerance) {
  RowMap a(entries_.data(), size_, size_);
  const double smallest = size_ == 0 ? 0.0 : tolerance * a.cwiseAbs().maxCoeff();
  for (int k = 0; k < size_; ++k) {
    Eigen::Index offset = 0;
    const double pivot = a.col(k).tail(size_ - k).cwiseAbs().maxCoeff(&offset);
    if (!(pivot > smallest)) return false;
    if (offset != 0) {
      a.row(k).swap(a.row(k + offset));
      std::swap(order_[k], order_[k + offset]);
    }
    for (int i = k + 1; i < size_; ++i) {
      if (a(i, k) == 0.0) continue;
      const double factor = a(i, k) /= a(k, k);
      a.row(i).tail(size_ - k - 1).noalias() -= factor * a.row(k).tail(size_ - k - 1);
    }
  }
  return true;
}

void DenseLu::solve(double* x) const {
  const ConstRowMap a(entries_.data(), size_, size_);
  Eigen::Map<Eigen::VectorXd> y(permuted_.data(), size_);
  for (int i = 0; i < size_; ++i) y[i] = x[order_[i]];
  for (int i = 1; i < size_; ++i) y[i] -= a.row(i).head(i).dot(y.head(i));
  for (int i = size_ - 1; i >= 0; --i) {
    y[i] = (y[i] - a.row(i).tail(size_ - i - 1).dot(y.tail(size_ - i - 1))) / a(i, i);
  }
  std::copy(permuted_.begin(), permuted_.begin() + size_, x);
}

}  // namespace stiction
