#include "stiction/problem/contact_weights.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

using Eigen::Index;

// Lower Cholesky factor of a block, column-major.
void factor_block(const Eigen::Map<const Eigen::MatrixXd>& M, double* out) {
  const Index n = M.rows();
  Eigen::Map<Eigen::MatrixXd> L(out, n, n);
  L = M;
  for (Index j = 0; j < n; ++j) {
    for (Index k = 0; k < j; ++k) L.col(j).tail(n - j) -= L(j, k) * L.col(k).tail(n - j);
    L.col(j).tail(n - j) /= std::sqrt(L(j, j));
  }
}

// |L⁻¹ x|² for a row x.
double whitened_square(const Eigen::Map<const Eigen::MatrixXd>& L, const double* row, Eigen::Map<Eigen::VectorXd> x) {
  double sum = 0.0;
  for (Index j = 0; j < L.rows(); ++j) x[j] = row[j];
  for (Index j = 0; j < L.rows(); ++j) {
    x[j] /= L(j, j);
    sum += x[j] * x[j];
    for (Index k = j + 1; k < L.rows(); ++k) x[k] -= L(k, j) * x[j];
  }
  return sum;
}

}  // namespace

void contact_weights(const ProblemView& p, GrowVector& factor, GrowVector& weights) {
  Index entries = 0, largest = 0;
  for (int k = 0; k < p.M.blocks(); ++k) {
    entries += static_cast<Index>(p.M.block_size(k)) * p.M.block_size(k);
    largest = std::max<Index>(largest, p.M.block_size(k));
  }
  factor.resize(entries + largest + p.M.blocks());
  // Where each block's factor starts is kept behind the factors and the scratch row.
  Index start = 0;
  for (int k = 0; k < p.M.blocks(); ++k) {
    factor_block(p.M.block(k), factor.data() + start);
    factor[entries + largest + k] = static_cast<double>(start);
    start += static_cast<Index>(p.M.block_size(k)) * p.M.block_size(k);
  }
  weights.setZero(p.contacts());
  for (int i = 0; i < p.contacts(); ++i) {
    for (int e = p.J.entry_begin(i); e < p.J.entry_end(i); ++e) {
      const int k = p.J.entry_block(e), size = p.J.block_size(k);
      const Eigen::Map<const Eigen::MatrixXd> L(factor.data() + static_cast<Index>(factor[entries + largest + k]), size, size);
      for (int row = 0; row < 3; ++row) {
        weights[i] +=
            whitened_square(L, p.J.entry(e).data() + row * size, Eigen::Map<Eigen::VectorXd>(factor.data() + entries, size)) / 3.0;
      }
    }
  }
}

}  // namespace stiction
