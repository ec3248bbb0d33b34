#include "stiction/programs/lcp/lcp_solution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {

namespace {

/// |z'|_inf with z' = D⁻¹z; division by a power of two is exact.
double largest_scaled(const Eigen::Ref<const Eigen::VectorXd>& z, const GrowVector& scale) {
  return z.size() == 0 ? 0.0 : z.cwiseQuotient(scale).lpNorm<Eigen::Infinity>();
}

}  // namespace

void equilibrate(const Eigen::Ref<const Eigen::MatrixXd>& M, Equilibration& equilibration) {
  const Eigen::Index n = M.rows();
  auto& [scale, row_sums, largest, column] = equilibration;
  scale.resize(n);
  scale.setOnes();
  for (int sweep = 0; sweep < 2; ++sweep) {
    largest.setZero(n);
    for (Eigen::Index j = 0; j < n; ++j) {
      column = scale[j] * M.col(j).cwiseAbs().cwiseProduct(scale);
      largest = largest.cwiseMax(column);
      largest[j] = std::max(largest[j], column.maxCoeff());
    }
    for (Eigen::Index i = 0; i < n; ++i) {
      if (largest[i] > 0.0) scale[i] *= std::exp2(std::round(-0.5 * std::log2(largest[i])));
    }
  }
  row_sums.setZero(n);
  for (Eigen::Index j = 0; j < n; ++j) row_sums += scale[j] * M.col(j).cwiseAbs();
  row_sums = row_sums.cwiseProduct(scale);
}

double lcp_residual(const Equilibration& equilibration, const Eigen::Ref<const Eigen::VectorXd>& q,
                    const Eigen::Ref<const Eigen::VectorXd>& z, const Eigen::Ref<const Eigen::VectorXd>& w) {
  constexpr double kCancellation = 1e2;
  const GrowVector& scale = equilibration.scale;
  const double size_q = q.size() == 0 ? 0.0 : q.cwiseProduct(scale).lpNorm<Eigen::Infinity>();
  const double size_z = largest_scaled(z, scale);
  double residual = 0.0;
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    if (!std::isfinite(w[i]) || !std::isfinite(z[i]) || z[i] < 0.0) return std::numeric_limits<double>::infinity();
    if (w[i] == 0.0 || (w[i] > 0.0 && z[i] == 0.0)) continue;
    const double size_w = size_q + std::min(size_z * equilibration.row_sums[i], kCancellation * size_q);
    const double row = size_w > 0.0 ? std::abs(w[i]) * scale[i] / size_w : 1.0;
    residual = std::max(residual, w[i] < 0.0 ? row : std::min(row, z[i] / scale[i] / size_z));
  }
  return residual;
}

double lcp_residual(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q,
                    const Eigen::Ref<const Eigen::VectorXd>& z) {
  Equilibration equilibration;
  equilibrate(M, equilibration);
  const Eigen::VectorXd w = M * z + q;
  return lcp_residual(equilibration, q, z, w);
}

bool is_farkas_ray(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q,
                   const Eigen::Ref<const Eigen::VectorXd>& u) {
  constexpr double kRounding = 1e-13, kFarBeyond = 1e6;
  if (u.size() == 0 || !(u.minCoeff() >= 0.0) || !(u.maxCoeff() > 0.0)) return false;
  double excess = 0.0;
  for (Eigen::Index j = 0; j < M.cols(); ++j) {
    const double product = M.col(j).dot(u), terms = M.col(j).cwiseAbs().dot(u);
    if (!std::isfinite(terms)) return false;
    if (product > 0.0) excess = std::max(excess, product / terms);
  }
  const double product = q.dot(u), terms = q.cwiseAbs().dot(u);
  return -product > kRounding * terms && excess * kFarBeyond * terms <= -product;
}

}  // namespace stiction
