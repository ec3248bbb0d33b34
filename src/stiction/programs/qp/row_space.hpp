// Orthonormal basis of the row space of a tall matrix that is wider than its rank.
#pragma once

#include "stiction/base/row_basis.hpp"
#include "stiction/programs/qp/views.hpp"

namespace stiction {

/// W (n x w) = coordinates (n x rank) times basis.span()ᵀ (w x rank, orthonormal), rows taken in by their largest remainder. Cost
/// 2 n w rank + 4 w² rank. Gives up, and returns false, when the rank exceeds `limit`; rows are in the span to 1e-11 of the largest.
bool find_row_space(RowsView W, Eigen::Index limit, RowBasis& basis, GrowMatrix& coordinates, GrowVector& scratch);

}  // namespace stiction
