// All basic solutions of a small LCP  w = M z + q, 0 <= w ⊥ z >= 0, and the one closest to a given point.
//
// The set of solutions is a union of polyhedra, one per support S of z. Every vertex of it is found: for each of the 2ⁿ
// supports, M_SS z_S = -q_S with z_S > 0 and w >= 0. Where M_SS has nullity v > 0 and the system is consistent, vertices
// are where v further rows w_i vanish; each choice of rows is tried. An isolated solution is a vertex, and a set of
// solutions that isn't empty has one, so an empty result proves that the LCP has no solution (up to the tolerance).
//
// Source: [ZD15, Alg. 3], recursion turned into a loop over supports. Departs from it: Alg. 3 skips singular A_S silently.
// Cost: 2ⁿ (n/2)³/3 multiply-adds plus the choices of rows at singular supports; memory O(n²) plus the solutions found.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "stiction/programs/lcp/lcp_solution.hpp"

namespace stiction {

struct EnumerateOptions {
  double tolerance = 1e-9;  ///< of signs and of consistency, relative to the rows' terms as in LcpSolution::residual
  int max_size = 20;        ///< largest n accepted
};

/// Memory of the enumeration, reused between calls.
struct EnumerateWorkspace {
  GrowMatrix system;  ///< rows of [M_S, -q_S] under elimination with complete pivoting
  std::vector<int> support, rows, columns;
  GrowVector z, w;  ///< the vertex being visited
  GrowVector row_norm, x;
  std::vector<double> vertices;  ///< those found at one singular support
};

/// Solutions in order of their support read as a binary number.
struct LcpSolutions {
  int size = 0, count = 0;
  std::vector<double> values;  ///< count x size, one solution after the other
  bool complete = true;        ///< false when there are more than are kept, 100 000

  auto z(int k) const { return Eigen::Map<const Eigen::VectorXd>(values.data() + Eigen::Index{k} * size, size); }
};

/// All basic solutions. Throws InvalidArgument on sizes, NaN, infinity or n > max_size.
void enumerate(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q, const EnumerateOptions& options,
               EnumerateWorkspace& workspace, LcpSolutions& solutions);

/// MINDIFF [ZD15, Alg. 3]: the basic solution whose x = T z + c is closest to x0 (Euclidean norm); for an MLCP with
/// unknowns x, T = -A⁻¹C and c = -A⁻¹g [ZD15, Eq. 114]. T m x n, c and x0 m. Status infeasible when there is no
/// solution. Where solutions are not isolated, points between basic ones are not considered.
void mindiff(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q,
             const Eigen::Ref<const Eigen::MatrixXd>& T, const Eigen::Ref<const Eigen::VectorXd>& c,
             const Eigen::Ref<const Eigen::VectorXd>& x0, const EnumerateOptions& options, EnumerateWorkspace& workspace,
             LcpSolution& solution);

}  // namespace stiction
