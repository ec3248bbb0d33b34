#include "stiction/programs/cone/row_pattern.hpp"

namespace stiction {

void append_cliques(const BlockRows& rows, std::vector<int>& begin, std::vector<int>& blocks) {
  for (int g = 0; g < rows.groups(); ++g) {
    for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) blocks.push_back(rows.entry_block(e));
    begin.push_back(static_cast<int>(blocks.size()));
  }
}

void append_places(const BlockRows& rows, const BlockLu& lu, std::vector<std::ptrdiff_t>& places) {
  for (int g = 0; g < rows.groups(); ++g) {
    for (int a = rows.entry_begin(g); a < rows.entry_end(g); ++a) {
      for (int b = rows.entry_begin(g); b < rows.entry_end(g); ++b)
        places.push_back(lu.block_offset(rows.entry_block(a), rows.entry_block(b)));
    }
  }
}

}  // namespace stiction
