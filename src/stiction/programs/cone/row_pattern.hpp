// Where the products Rᵀ D R of block-sparse rows fall in a BlockLu.
#pragma once

#include <cstddef>
#include <vector>

#include "stiction/base/blocks.hpp"
#include "stiction/programs/cone/block_lu.hpp"

namespace stiction {

/// One clique per group of rows: the blocks that it touches. `begin` starts with a 0 (BlockLu::analyze).
void append_cliques(const BlockRows& rows, std::vector<int>& begin, std::vector<int>& blocks);

/// Places of the blocks that each group adds to, entries a x b row by row; constant until the pattern changes.
void append_places(const BlockRows& rows, const BlockLu& lu, std::vector<std::ptrdiff_t>& places);

}  // namespace stiction
