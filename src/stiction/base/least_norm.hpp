#pragma once

#include <Eigen/Core>

namespace stiction {

/// The shortest of the x that make |A x - b| least, by Eigen's complete orthogonal decomposition: compiled once, for it takes seconds.
/// A of any rank, m x n; b: m. Allocates.
Eigen::VectorXd least_norm_solution(const Eigen::Ref<const Eigen::MatrixXd>& A, const Eigen::Ref<const Eigen::VectorXd>& b);

}  // namespace stiction
