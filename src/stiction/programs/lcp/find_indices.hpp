// FIND-INDICES: the first rows, in order, of a wide set that are linearly independent.
//
//   Given rows a_i of A (n x r) with Xᵀ M⁻¹ X = A_S A_Sᵀ, pick S greedily such that A_S A_Sᵀ is non-singular.
//
// Source: [ZD15, Alg. 1; D14, Alg. 2], there on X and M, with the bilateral rows P or J put first in the order. Greedy
// selection gives a subset of largest size (a matroid).
// Departs from it: no Cholesky factorisation of a Gram matrix, whose success says nothing about rank within rounding;
// instead row i is taken when its distance from the span of the rows before exceeds both
//   own_tolerance |a_i|        (a row is judged by its own size, whatever its units), and
//   1e-12 max_j |a_j|   (rows that are rounding noise beside the others are passed over).
// The distance is measured on an orthonormal basis of the complement (row_basis.hpp), exact to rounding. With `preferred_tolerance`,
// rows that stand farther out than that go first, in order, and nearer ones follow by factors of 1000: the same rank, a far better
// conditioned subset where the greedy order would take two nearly parallel rows.
// Cost: n r for the norms, r (r - k) per row tried, O(r²) per row taken; stops as soon as rank r is reached.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "stiction/base/blocks.hpp"
#include "stiction/base/row_basis.hpp"

namespace stiction {

struct FindIndicesOptions {
  double own_tolerance = 1e-10;
  double preferred_tolerance = 0.0;  ///< relative to |a_i| as own_tolerance is; up to own_tolerance: rows strictly in order
};

/// S and the factor A_Sᵀ = Q R: `basis.span()`, `basis.complement()`, `basis.triangle()`.
struct IndependentRows {
  std::vector<int> indices;
  RowBasis basis;
  double nearest = 0.0;  ///< largest distance / |a_i| among the rows passed over: what a smaller own_tolerance would still find
  GrowVector scratch, squares;
};

/// Rows of A (n x r, row-major) tried in the order of `candidates`. Reuses `result`'s memory.
/// Throws InvalidArgument when a candidate is out of range or a row holds NaN or infinity.
void find_indices(const Eigen::Ref<const RowMatrix>& A, std::span<const int> candidates, const FindIndicesOptions& options,
                  IndependentRows& result);

}  // namespace stiction
