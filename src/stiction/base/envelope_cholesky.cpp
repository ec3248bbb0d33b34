#include "stiction/base/envelope_cholesky.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

#include "stiction/base/dot.hpp"

namespace stiction {

namespace {

using Eigen::Index;

// By Eigen's panels, which matter where the matrix no longer fits a cache.
void factor_in_panels(GrowMatrix& rows) {
  Eigen::Ref<Eigen::MatrixXd> in_place(rows);
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>, Eigen::Upper> llt(in_place);
  if (llt.info() != Eigen::Success) rows.setConstant(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

GrowMatrix& EnvelopeCholesky::reset(Index n) {
  rows_.resize(n, n);
  reciprocal_.resize(n);
  first_.resize(n);
  return rows_;
}

void EnvelopeCholesky::factor() {
  constexpr Index kPanels = 256;  // half a megabyte
  const Index n = size();
  for (Index i = 0; i < n; ++i) {
    Index first = 0;
    while (first < i && rows_(first, i) == 0.0) ++first;
    first_[i] = static_cast<int>(first);
  }
  if (n >= kPanels) {
    factor_in_panels(rows_);
    reciprocal_ = rows_.diagonal().cwiseInverse();
    return;
  }
  for (Index i = 0; i < n; ++i) {
    double* row = rows_.data() + i * n;
    const Index first = first_[i];
    for (Index j = first; j < i; ++j) {
      const double* other = rows_.data() + j * n;
      const Index begin = std::max<Index>(first, first_[j]);
      row[j] = (row[j] - dot(row + begin, other + begin, j - begin)) * reciprocal_[j];
    }
    row[i] = std::sqrt(row[i] - dot(row + first, row + first, i - first));
    reciprocal_[i] = 1.0 / row[i];
  }
}

void EnvelopeCholesky::solve_lower(double* x) const {
  const Index n = size();
  Index start = 0;
  while (start < n && x[start] == 0.0) ++start;
  for (Index i = start; i < n; ++i) {
    const Index begin = std::max<Index>(start, first_[i]);
    x[i] = (x[i] - dot(rows_.data() + i * n + begin, x + begin, i - begin)) * reciprocal_.data()[i];
  }
}

void EnvelopeCholesky::solve_upper(double* x) const {
  const Index n = size();
  for (Index i = n; i-- > 0;) {
    const double* row = rows_.data() + i * n;
    x[i] *= reciprocal_.data()[i];
    add_scaled(row + first_[i], -x[i], x + first_[i], i - first_[i]);
  }
}

}  // namespace stiction
