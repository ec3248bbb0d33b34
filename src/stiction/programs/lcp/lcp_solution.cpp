#include "stiction/programs/lcp/lcp_solution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {

namespace {

double row_residual(double w, double scale, double z, double largest_z) {
  if (w < 0.0) return -w / scale;
  return largest_z > 0.0 && z > 0.0 ? std::min(scale > 0.0 ? w / scale : 0.0, z / largest_z) : 0.0;
}

}  // namespace

double lcp_residual(const Eigen::Ref<const Eigen::VectorXd>& row_sums, const Eigen::Ref<const Eigen::VectorXd>& q,
                    const Eigen::Ref<const Eigen::VectorXd>& z, const Eigen::Ref<const Eigen::VectorXd>& w) {
  const double largest_z = z.size() == 0 ? 0.0 : z.lpNorm<Eigen::Infinity>();
  double residual = 0.0;
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    const double row = row_residual(w[i], std::abs(q[i]) + row_sums[i] * largest_z, z[i], largest_z);
    if (!std::isfinite(w[i]) || !std::isfinite(row) || !(z[i] >= 0.0)) return std::numeric_limits<double>::infinity();
    residual = std::max(residual, row);
  }
  return residual;
}

double lcp_residual(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q,
                    const Eigen::Ref<const Eigen::VectorXd>& z) {
  const Eigen::VectorXd w = M * z + q, row_sums = M.cwiseAbs().rowwise().sum();
  return lcp_residual(row_sums, q, z, w);
}

bool is_farkas_ray(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q,
                   const Eigen::Ref<const Eigen::VectorXd>& u) {
  constexpr double kRounding = 1e-13, kFarBeyond = 1e6;
  if (u.size() == 0 || !(u.minCoeff() >= 0.0) || !(u.maxCoeff() > 0.0)) return false;
  double excess = 0.0;
  for (Eigen::Index j = 0; j < M.cols(); ++j) {
    const double product = M.col(j).dot(u), terms = M.col(j).cwiseAbs().dot(u);
    if (product > 0.0) excess = std::max(excess, product / terms);
  }
  const double product = q.dot(u), terms = q.cwiseAbs().dot(u);
  return -product > kRounding * terms && excess * kFarBeyond * terms <= -product;
}

}  // namespace stiction
