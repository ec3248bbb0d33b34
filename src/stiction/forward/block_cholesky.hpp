// Cholesky factors M = L Lᵀ of an inertia, block by block in its place.
#pragma once

#include <Eigen/Cholesky>

#include "stiction/base/blocks.hpp"

namespace stiction {

/// The lower triangles of the blocks become L; what is above them stays.
inline void factor_in_place(BlockDiagonal& M) {
  for (int k = 0; k < M.blocks(); ++k) {
    Eigen::Map<Eigen::MatrixXd> block = M.block(k);
    Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> llt(block);
  }
}

/// x <- L⁻¹ x, of one or more columns.
template <class Columns>
void whiten(const BlockDiagonal& L, Columns& x) {
  for (int k = 0; k < L.blocks(); ++k) {
    auto part = x.middleRows(L.offset(k), L.block_size(k));
    L.block(k).template triangularView<Eigen::Lower>().solveInPlace(part);
  }
}

/// x <- L⁻ᵀ x.
template <class Columns>
void unwhiten(const BlockDiagonal& L, Columns& x) {
  for (int k = 0; k < L.blocks(); ++k) {
    auto part = x.middleRows(L.offset(k), L.block_size(k));
    L.block(k).transpose().template triangularView<Eigen::Upper>().solveInPlace(part);
  }
}

}  // namespace stiction
