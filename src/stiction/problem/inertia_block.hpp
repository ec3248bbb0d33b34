// The block of M that a velocity coordinate belongs to. Internal.
#pragma once

#include "stiction/base/blocks.hpp"

namespace stiction {

inline int inertia_block(const BlockDiagonal& M, int coordinate) {
  int first = 0, last = M.blocks();
  while (last - first > 1) {
    const int middle = (first + last) / 2;
    (M.offset(middle) <= coordinate ? first : last) = middle;
  }
  return first;
}

}  // namespace stiction
