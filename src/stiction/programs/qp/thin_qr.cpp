#include "stiction/programs/qp/thin_qr.hpp"

#include <cmath>

namespace stiction {

void ThinQr::reset(Eigen::Index r) {
  size_ = 0;
  q_.resize(r, r);
  r_.resize(r, r);
  projection_.resize(r);
}

bool ThinQr::append(const double* a, double norm, double tolerance) {
  const Eigen::Index rows = this->rows();
  const ConstVector column(a, rows);
  if (size_ == rows) {  // the columns span everything
    for (Eigen::Index i = 0; i < size_; ++i) projection_[i] = q_.col(i).dot(column);
    return false;
  }
  auto q = q_.col(size_);
  auto h = r_.col(size_);
  q = column;
  for (Eigen::Index i = 0; i < size_; ++i) h[i] = q_.col(i).dot(column);
  for (Eigen::Index i = 0; i < size_; ++i) q -= h[i] * q_.col(i);
  for (Eigen::Index i = 0; i < size_; ++i) {
    const double rest = q_.col(i).dot(q);
    h[i] += rest;
    q -= rest * q_.col(i);
  }
  const double distance = q.norm();
  if (!(distance > tolerance * norm)) {
    projection_.head(size_) = h.head(size_);
    return false;
  }
  q *= 1.0 / distance;
  h[size_++] = distance;
  return true;
}

void ThinQr::remove(Eigen::Index k) {
  for (Eigen::Index j = k; j + 1 < size_; ++j) {
    r_.col(j).head(j + 2) = r_.col(j + 1).head(j + 2);
  }
  --size_;
  for (Eigen::Index j = k; j < size_; ++j) {
    const double a = r_(j, j), b = r_(j + 1, j), length = std::hypot(a, b);
    const double cosine = a / length, sine = b / length;
    r_(j, j) = length;
    for (Eigen::Index c = j + 1; c < size_; ++c) {
      const double upper = r_(j, c), lower = r_(j + 1, c);
      r_(j, c) = cosine * upper + sine * lower;
      r_(j + 1, c) = cosine * lower - sine * upper;
    }
    double* left = q_.data() + j * rows();
    double* right = left + rows();
    for (Eigen::Index i = 0; i < rows(); ++i) {
      const double u = left[i], v = right[i];
      left[i] = cosine * u + sine * v;
      right[i] = cosine * v - sine * u;
    }
  }
}

void ThinQr::solve(double* x) const {
  for (Eigen::Index j = size_ - 1; j >= 0; --j) {
    const double* column = r_.data() + j * rows();
    x[j] /= column[j];
    for (Eigen::Index i = 0; i < j; ++i) x[i] -= x[j] * column[i];
  }
}

void ThinQr::solve_transposed(double* x) const {
  for (Eigen::Index j = 0; j < size_; ++j) {
    const double* column = r_.data() + j * rows();
    double sum = x[j];
    for (Eigen::Index i = 0; i < j; ++i) sum -= column[i] * x[i];
    x[j] = sum / column[j];
  }
}

}  // namespace stiction
