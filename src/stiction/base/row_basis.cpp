#include "stiction/base/row_basis.hpp"

#include <cassert>
#include <cmath>

namespace stiction {

namespace {

using ConstVectorMap = Eigen::Map<const Eigen::VectorXd>;
using VectorMap = Eigen::Map<Eigen::VectorXd>;

}  // namespace

void RowBasis::reset(int dimension) {
  dimension_ = dimension;
  rank_ = 0;
  q_.resize(dimension, dimension);
  q_.setIdentity();
  r_.resize(dimension, dimension);
}

double RowBasis::project(const double* row, double* d) const {
  const ConstVectorMap a(row, dimension_);
  for (int j = 0; j < dimension_; ++j) d[j] = q_.col(j).dot(a);
  return ConstVectorMap(d + rank_, dimension_ - rank_).norm();
}

namespace {

/// As RowBasis::distance, with the dimension known: floating bases with driven joints have six.
template <int R>
double distance_in(const double* q, int rank, const double* row) {
  using Row = Eigen::Matrix<double, R, 1>;
  const Row a = Eigen::Map<const Row>(row);
  double square = 0.0;
  for (int j = rank; j < R; ++j) {
    const double x = Eigen::Map<const Row>(q + j * R).dot(a);
    square += x * x;
  }
  return std::sqrt(square);
}

}  // namespace

double RowBasis::distance(const double* row) const {
  if (dimension_ == 6) return distance_in<6>(q_.data(), rank_, row);
  const ConstVectorMap a(row, dimension_);
  double square = 0.0;
  for (int j = rank_; j < dimension_; ++j) {
    const double x = q_.col(j).dot(a);
    square += x * x;
  }
  return std::sqrt(square);
}

void RowBasis::append(double* d) {
  assert(rank_ < dimension_);
  const int k = rank_, tail = dimension_ - k;
  VectorMap v(d + k, tail);
  const double length = v.norm();
  assert(length > 0.0);
  for (int i = 0; i < k; ++i) r_(i, k) = d[i];
  // Reflects the tail onto its first axis: H = I - 2 v vᵀ / vᵀv with v = tail ± |tail| e1, sign against cancellation.
  const double diagonal = v[0] > 0.0 ? -length : length;
  v[0] -= diagonal;
  const double beta = -1.0 / (diagonal * v[0]);  // 2 / vᵀv
  auto q2 = q_.rightCols(tail);
  for (int i = 0; i < dimension_; ++i) {
    double x = 0.0;
    for (int j = 0; j < tail; ++j) x += q2(i, j) * v[j];
    x *= beta;
    for (int j = 0; j < tail; ++j) q2(i, j) -= x * v[j];
  }
  r_(k, k) = diagonal;
  ++rank_;
}

void RowBasis::remove(int j) {
  assert(j >= 0 && j < rank_);
  for (int c = j; c + 1 < rank_; ++c) {
    // Column c+1 moves to c and has one entry below the diagonal, which a rotation of rows c and c+1 clears.
    r_.col(c).head(c + 2) = r_.col(c + 1).head(c + 2);
    const double a = r_(c, c), b = r_(c + 1, c), length = std::hypot(a, b);
    const double cosine = a / length, sine = b / length;
    r_(c, c) = length;
    for (int i = c + 2; i < rank_; ++i) {
      const double upper = r_(c, i), lower = r_(c + 1, i);
      r_(c, i) = cosine * upper + sine * lower;
      r_(c + 1, i) = cosine * lower - sine * upper;
    }
    for (int i = 0; i < dimension_; ++i) {
      const double left = q_(i, c), right = q_(i, c + 1);
      q_(i, c) = cosine * left + sine * right;
      q_(i, c + 1) = cosine * right - sine * left;
    }
  }
  --rank_;
}

void RowBasis::solve_upper(double* x) const {
  for (int i = rank_ - 1; i >= 0; --i) {
    x[i] /= r_(i, i);
    for (int j = 0; j < i; ++j) x[j] -= r_(j, i) * x[i];
  }
}

void RowBasis::solve_lower(double* x) const {
  for (int i = 0; i < rank_; ++i) {
    double sum = x[i];
    for (int j = 0; j < i; ++j) sum -= r_(j, i) * x[j];
    x[i] = sum / r_(i, i);
  }
}

}  // namespace stiction
