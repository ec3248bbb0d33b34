// What every solver of a linear complementarity problem returns, and the residual it is judged by.
//
//   LCP(q, M):  w = M z + q,  0 <= w ⊥ z >= 0                                                          [ZD15, Eq. 109]
//
// `residual` is dimensionless and computed from the returned z alone: row i counts
//   (M z + q)_i < 0:  -(M z + q)_i / s_i,     otherwise  min((M z + q)_i / s_i, z_i / |z|_inf),
// with s_i = |q_i| + |z|_inf Σ_j |M_ij|, the size of the terms that row i adds up. The returned z and w are both exactly
// non-negative and complementary; what rounding left over is in the residual.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "stiction/base/grow.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction {

struct LcpSolution {
  GrowVector z;             ///< n
  GrowVector w;             ///< n
  std::vector<int> active;  ///< indices whose z is in the basis (the "non-basic" set B̄ of [ZD15]), the next solve's warm start
  Status status = Status::numerical_error;
  double residual = 0.0;        ///< see the file comment; below the solver's tolerance when solved
  int pivots = 0;               ///< changes of the basis by one index
  double regularisation = 0.0;  ///< eps of M + eps I that led to the answer, 0 when none was needed
  /// n; when no solution was found along a ray: u >= 0, scaled to |u|_inf = 1. Empty otherwise.
  GrowVector ray;
  /// The ray proves that no z >= 0 has M z + q >= 0: Mᵀu <= 0 and q·u < 0 hold to rounding (Farkas).
  bool infeasible = false;
};

/// Residual of z for LCP(q, M) as defined above; M n x n, q and z n, z >= 0. Infinity when z is not finite.
double lcp_residual(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q,
                    const Eigen::Ref<const Eigen::VectorXd>& z);

/// The same from w = M z + q and row_sums_i = Σ_j |M_ij|.
double lcp_residual(const Eigen::Ref<const Eigen::VectorXd>& row_sums, const Eigen::Ref<const Eigen::VectorXd>& q,
                    const Eigen::Ref<const Eigen::VectorXd>& z, const Eigen::Ref<const Eigen::VectorXd>& w);

/// Whether u >= 0 proves that no z >= 0 has M z + q >= 0: Mᵀu <= 0 and q·u < 0 (Farkas). In floating point: -q·u stands
/// out of rounding, and what is left of (Mᵀu)⁺ would need z a million times larger than the terms of q call for.
bool is_farkas_ray(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q,
                   const Eigen::Ref<const Eigen::VectorXd>& u);

}  // namespace stiction
