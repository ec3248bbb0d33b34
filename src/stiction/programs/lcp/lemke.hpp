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
// among ties, smaller pivots allowed, with four covering vectors d in turn; then Tikhonov, M + eps I with eps growing tenfold from 1e-14 to
// 1e-4 of the equilibrated M ([D14, section VII-A]: "Lemke's Algorithm, employing Tikhonov regularization as necessary").
//
// Departs from LEMKE (Fackler, Miranda) and from the papers: M is equilibrated, M -> D M D with D diagonal of powers of two;
// the basis found is solved again on the original M with iterative refinement, after a regularised solve too, so eps
// chooses a basis and never enters the answer; a warm start is tried as a basis only (paper: warm-starting the path itself
// leads to excessive pivoting) and dropped for the cold path when it isn't complementary.
// Cost per pivot: m n + 2 m² multiply-adds with m positive z (lemke_path.hpp); usually fewer than 2 n pivots.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "stiction/programs/lcp/lcp_solution.hpp"
#include "stiction/programs/lcp/lemke_path.hpp"
#include "stiction/programs/lcp/lu.hpp"

namespace stiction {

struct LemkeOptions {
  double tolerance = 1e-12;        ///< largest `residual` that counts as solved
  double pivot_tolerance = 1e-10;  ///< smallest pivot, relative to the largest entry of its column
  double tie_tolerance = 1e-9;     ///< slack of the ratio test, relative to the equilibrated q
  int max_pivots = 0;              ///< on the first path, 0 means 200 + 10 n; a fall-back path gets at most that default
  bool fall_back = true;           ///< allow the fall-backs
};

/// Memory of `lemke`, reused between calls; allocates only when n exceeds every earlier n.
struct LemkeWorkspace {
  Equilibration equilibration;
  LemkePath path;
  DenseLu lu;
  GrowVector z, w, defect;   ///< n, the point under refinement
  std::vector<int> support;  ///< its basic z
};

/// Solves LCP(q, M). `warm`: indices of z to try first as a basis (LcpSolution::active of an earlier call), may be empty.
/// Status: solved; ray_termination (z = 0, ray set, infeasible when it proves that nothing is feasible, as it does for
/// copositive-plus M); inaccurate (residual above the tolerance); iteration_limit. Throws InvalidArgument on sizes and on NaN or infinity.
void lemke(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q, std::span<const int> warm,
           const LemkeOptions& options, LemkeWorkspace& workspace, LcpSolution& solution);

}  // namespace stiction
