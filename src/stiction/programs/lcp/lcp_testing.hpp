// Random linear complementarity problems and an independent check, for the tests of this folder only.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include <Eigen/Core>

#include "stiction/base/blocks.hpp"
#include "stiction/programs/lcp/enumerate.hpp"

namespace stiction::lcp_testing {

struct Lcp {
  Eigen::MatrixXd M;
  Eigen::VectorXd q;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double normal() { return normal_(engine_); }
  double uniform(double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(engine_); }
  int integer(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(engine_); }
  RowMatrix matrix(int rows, int cols) {
    RowMatrix m(rows, cols);
    for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = normal();
    return m;
  }
  Eigen::VectorXd vector(int size) { return matrix(size, 1); }
  /// Entries from a few small integers: ties and zeros everywhere.
  RowMatrix integers(int rows, int cols, int lo, int hi) {
    RowMatrix m(rows, cols);
    for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = integer(lo, hi);
    return m;
  }

 private:
  std::mt19937 engine_;
  std::normal_distribution<double> normal_;
};

/// Largest violation of z >= 0, w >= 0, z_i w_i = 0 in absolute numbers.
inline double violation(const Lcp& lcp, const Eigen::Ref<const Eigen::VectorXd>& z) {
  const Eigen::VectorXd w = lcp.M * z + lcp.q;
  double worst = z.size() == 0 ? 0.0 : std::max(-z.minCoeff(), -w.minCoeff());
  for (Eigen::Index i = 0; i < z.size(); ++i) worst = std::max(worst, std::min(std::abs(z[i]), std::abs(w[i])));
  return worst;
}

inline LcpSolutions all_solutions(const Lcp& lcp, double tolerance = 1e-9) {
  EnumerateWorkspace workspace;
  LcpSolutions solutions;
  EnumerateOptions options;
  options.tolerance = tolerance;
  enumerate(lcp.M, lcp.q, options, workspace, solutions);
  return solutions;
}

/// Distance of z from the nearest of the enumerated solutions.
inline double distance_to(const LcpSolutions& solutions, const Eigen::Ref<const Eigen::VectorXd>& z) {
  double nearest = kInfinity;
  for (int k = 0; k < solutions.count; ++k) nearest = std::min(nearest, (solutions.z(k) - z).norm());
  return nearest;
}

/// Stewart-Trinkle's LCP [ZD15, Eqs. 57-61] of n contacts with k edges in R^r; z = (f_N, f_F, λ).
/// A is 3n x r, rows N S T per contact; u its 3n free velocities.
inline Lcp stewart_trinkle(const RowMatrix& A, const Eigen::VectorXd& u, const Eigen::VectorXd& mu, int edges) {
  const auto n = static_cast<int>(A.rows()) / 3, size = n * (edges + 2);
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(n * (edges + 1), A.cols());
  Lcp lcp{Eigen::MatrixXd::Zero(size, size), Eigen::VectorXd::Zero(size)};
  for (int i = 0; i < n; ++i) {
    rows.row(i) = A.row(3 * i);
    lcp.q[i] = u[3 * i];
    lcp.M(n + n * edges + i, i) = mu[i];
    for (int e = 0; e < edges; ++e) {
      const double angle = 2.0 * M_PI * e / edges, c = std::cos(angle), s = std::sin(angle);
      const int row = n + i * edges + e;
      rows.row(row) = c * A.row(3 * i + 1) + s * A.row(3 * i + 2);
      lcp.q[row] = c * u[3 * i + 1] + s * u[3 * i + 2];
      lcp.M(row, n + n * edges + i) = 1.0;
      lcp.M(n + n * edges + i, row) = -1.0;
    }
  }
  lcp.M.topLeftCorner(rows.rows(), rows.rows()) = rows * rows.transpose();
  return lcp;
}

}  // namespace stiction::lcp_testing
