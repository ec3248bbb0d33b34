// Problems that come as matrices of numbers, without bodies, become a ReducedProblem. See also `reduce_dense` (reduced.hpp).
//
//   reduce_sparse   u = W λ + q                              W = R_t R_tᵀ + defect, one block of columns per set of coupled contacts
//   reduce_global   M v = H λ + f,  u = Hᵀ v + w             R_tᵀ = L⁻¹ H with M = L Lᵀ, one block of columns per body
// Bodies are the connected components of M's pattern, or runs of six (in the plane three) coordinates where those enclose all
// components: a free body whose inertia happens to be diagonal stays one block.
#pragma once

#include <Eigen/SparseCore>

#include "stiction/problem/reduced.hpp"

namespace stiction {

using SparseMatrix = Eigen::SparseMatrix<double>;

/// The largest magnitude of the entries, 0 without any. Throws InvalidArgument naming an entry that is not finite.
double require_finite_entries(std::string_view argument, const SparseMatrix& matrix);

/// W 3n x 3n, q 3n, mu n. Throws InvalidArgument as `reduce_dense`, and when more than 2600 contacts are coupled (memory).
ReducedProblem reduce_sparse(const SparseMatrix& W, const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& mu,
                             bool symmetric_part = false);

/// M nv x nv symmetric positive definite, H nv x 3n, f nv, w 3n, mu n. Bodies without contacts are left out. Throws InvalidArgument.
ReducedProblem reduce_global(const SparseMatrix& M, const SparseMatrix& H, const Eigen::Ref<const Eigen::VectorXd>& f,
                             const Eigen::Ref<const Eigen::VectorXd>& w, const Eigen::Ref<const Eigen::VectorXd>& mu,
                             int coordinates_per_body = 6);

}  // namespace stiction
