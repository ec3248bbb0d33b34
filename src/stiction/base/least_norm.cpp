#include "stiction/base/least_norm.hpp"

#include <Eigen/QR>

namespace stiction {

Eigen::VectorXd least_norm_solution(const Eigen::Ref<const Eigen::MatrixXd>& A, const Eigen::Ref<const Eigen::VectorXd>& b) {
  const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> factors(A);
  return factors.solve(b);
}

}  // namespace stiction
