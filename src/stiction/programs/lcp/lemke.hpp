// Lemke's complementary pivoting for a dense LCP:  w = M z + q,  0 <= w ⊥ z >= 0,  M n x n, q n.
//
// Source: Lemke 1965, as used by [ZD15, section 4.2]; Cottle, Pang, Stone, The Linear Complementarity Problem, Alg. 4.4.5.
// Adds d z0 with d > 0, follows the path of almost complementary bases from z0 large until z0 leaves (a solution) or the
// entering variable meets no bound (a ray). For copositive-plus M, PSD included, a ray proves that no z is feasible; the
// friction LCP of Stewart and Trinkle is copositive and a solution is always found [ZD15, section 4.2.1]. A ray is checked by itself.
//
// Ties in the ratio test are broken lexicographically on the rows of [B⁻¹q, B⁻¹], so degenerate problems cannot cycle; z0
// leaves when it is among the ties. Rows within rounding of the smallest ratio count as ties (Harris).
// Fall-backs, each taken only while the point found misses the tolerance and no infeasibility was proved: the largest pivot
// among ties, smaller pivots allowed, with four covering vectors d in turn. Tikhonov's term ([D14, section VII-A]: "as necessary") was
// never necessary after these.
//
// Departs from LEMKE (Fackler, Miranda) and from the papers: M is equilibrated, M -> D M D with D diagonal of powers of two; the basis
// found is refined iteratively on the original M. No warm start, which leads to excessive pivoting [ZD15]. Cost per pivot: m n + 2 m²
// multiply-adds with m positive z (lemke_path.hpp); usually fewer than 2 n pivots.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "stiction/programs/lcp/lcp_solution.hpp"
#include "stiction/programs/lcp/lemke_path.hpp"

namespace stiction {

struct LemkeOptions {
  double tolerance = 1e-12;  ///< largest `residual` that counts as solved
  int max_pivots = 0;        ///< of all paths together; 0 means 200 + 10 n of each, which is the most that a fall-back path gets
};

/// Memory of `lemke`, reused between calls; allocates only when n exceeds every earlier n.
struct LemkeWorkspace {
  Equilibration equilibration;
  LemkePath path;
  GrowVector z, w;           ///< n, the point under refinement
  std::vector<int> support;  ///< its basic z
};

/// Solves LCP(q, M).
/// Status: solved; ray_termination (z = 0, ray set, infeasible when it proves that nothing is feasible, as it does for
/// copositive-plus M); inaccurate (residual above the tolerance); iteration_limit. Throws InvalidArgument on sizes and on NaN or infinity.
void lemke(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q, const LemkeOptions& options,
           LemkeWorkspace& workspace, LcpSolution& solution);

}  // namespace stiction
