// Orthonormal basis of the row space of a tall matrix that is wider than its rank.
#pragma once

#include "stiction/base/grow.hpp"
#include "stiction/programs/qp/views.hpp"

namespace stiction {

/// W (n x w) = coordinates (n x rank) basisᵀ (basis w x rank, orthonormal), by Gram-Schmidt on the row with the largest remainder.
/// Cost 2 n w rank. Gives up, and returns false, when the rank exceeds `limit`; rows are in the span to 1e-11 of the largest.
bool find_row_space(RowsView W, Eigen::Index limit, GrowMatrix& basis, GrowMatrix& coordinates, GrowVector& remainders);

}  // namespace stiction
