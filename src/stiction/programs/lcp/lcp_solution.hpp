// What every solver of a linear complementarity problem returns, and the residual it is judged by.
//
//   LCP(q, M):  w = M z + q,  0 <= w ⊥ z >= 0                                                          [ZD15, Eq. 109]
//
// `residual` is dimensionless and computed from the returned z alone, in the coordinates of the equilibrated problem
// M' = D M D, z' = D⁻¹z, w' = D (M z + q), q' = D q, where rows in m/s and rows in N s have like sizes:
//   residual = max_i  -w'_i / s_i  where w'_i < 0,   min(w'_i / s_i, z'_i / |z'|_inf)  elsewhere,
//   s_i = |q'|_inf + min(|z'|_inf Σ_j |M'_ij|, 100 |q'|_inf).
// Rounding grows with the terms that a row adds up, so s_i does too, but only so far: a huge z that cancels does not count
// as a solution. The returned z and w are exactly non-negative and complementary; what rounding left over is in the residual.
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
  double residual = 0.0;  ///< see the file comment; below the solver's tolerance when solved
  int pivots = 0;         ///< changes of the basis by one index
  /// n; when no solution was found along a ray: u >= 0, scaled to |u|_inf = 1. Empty otherwise.
  GrowVector ray;
  /// The ray proves that no z >= 0 has M z + q >= 0: Mᵀu <= 0 and q·u < 0 hold to rounding (Farkas).
  bool infeasible = false;
};

/// D of M' = D M D, powers of two so that scaling is exact, and the row sums Σ_j |M'_ij|.
struct Equilibration {
  GrowVector scale;     ///< n, diagonal of D
  GrowVector row_sums;  ///< n
  GrowVector largest, column;
};
/// Two sweeps of symmetric equilibration in the infinity norm. M n x n; row_sums are not finite when an entry of M isn't.
void equilibrate(const Eigen::Ref<const Eigen::MatrixXd>& M, Equilibration& equilibration);

/// Residual of z, w = M z + q as defined above; infinity when one of them is not finite or z has a negative entry.
double lcp_residual(const Equilibration& equilibration, const Eigen::Ref<const Eigen::VectorXd>& q,
                    const Eigen::Ref<const Eigen::VectorXd>& z, const Eigen::Ref<const Eigen::VectorXd>& w);
/// The same from M n x n; allocates.
double lcp_residual(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q,
                    const Eigen::Ref<const Eigen::VectorXd>& z);

/// Whether u >= 0 proves that no z >= 0 has M z + q >= 0: Mᵀu <= 0 and q·u < 0 (Farkas). In floating point: -q·u stands
/// out of rounding, and what is left of (Mᵀu)⁺ would need z a million times larger than the terms of q call for.
bool is_farkas_ray(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q,
                   const Eigen::Ref<const Eigen::VectorXd>& u);

}  // namespace stiction
