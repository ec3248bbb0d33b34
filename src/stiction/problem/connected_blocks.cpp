#include "stiction/problem/connected_blocks.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stiction/base/disjoint_sets.hpp"
#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// Of the smallest runs along the diagonal that no entry of M joins.
std::vector<int> runs_of(const MatrixXd& M) {
  std::vector<int> sizes;
  Index begin = 0, end = 0;  // of the run so far: an entry reaches as far as `end`
  for (Index j = 0; j < M.cols(); ++j) {
    Index last = M.rows() - 1;
    while (last > std::max(j, end) && M(last, j) == 0.0 && M(j, last) == 0.0) --last;
    end = std::max({end, j, last});
    if (end > j) continue;
    sizes.push_back(static_cast<int>(j + 1 - begin));
    begin = j + 1;
  }
  return sizes;
}

void join(const BlockRows& rows, DisjointSets& sets, std::vector<char>& touched) {
  for (int g = 0; g < rows.groups(); ++g) {
    for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) {
      touched[rows.entry_block(e)] = 1;
      sets.join(rows.entry_block(rows.entry_begin(g)), rows.entry_block(e));
    }
  }
}

}  // namespace

void set_blocks(ContactProblem& p, std::span<const int> sizes) {
  const bool sums =
      std::ranges::all_of(sizes, [](int size) { return size >= 0; }) && std::accumulate(sizes.begin(), sizes.end(), 0LL) == p.velocities();
  if (!sums) throw InvalidArgument("blocks", fmt::format("sizes that sum to {}", p.velocities()), "others");
  MatrixXd rest = p.M.to_dense();
  BlockDiagonal split(sizes);
  for (int k = 0; k < split.blocks(); ++k) {
    auto part = rest.block(split.offset(k), split.offset(k), sizes[k], sizes[k]);
    split.block(k) = part;
    part.setZero();
  }
  if (!rest.isZero(0.0)) throw InvalidArgument("blocks", "sizes of blocks that hold all of M", "entries outside them");
  p.J = BlockRows::from_dense(3, p.J.to_dense(), sizes);
  p.J_b = BlockRows::from_dense(1, p.J_b.to_dense(), sizes);
  p.M = std::move(split);
}

void find_blocks(ContactProblem& p) {
  const std::vector<int> runs = runs_of(p.M.to_dense());
  if (runs.size() <= 1) return;
  const int count = static_cast<int>(runs.size());
  DisjointSets sets(count);
  std::vector<char> touched(runs.size(), 0);
  join(BlockRows::from_dense(3, p.J.to_dense(), runs), sets, touched);
  join(BlockRows::from_dense(1, p.J_b.to_dense(), runs), sets, touched);
  const auto together = [&](int k) { return (touched[k] == 0 && touched[k - 1] == 0) || sets.find(k) == sets.find(k - 1); };
  std::vector<int> sizes{runs[0]};
  for (int k = 1; k < count; ++k) {
    if (together(k)) {
      sizes.back() += runs[k];
    } else {
      sizes.push_back(runs[k]);
    }
  }
  set_blocks(p, sizes);
}

}  // namespace stiction
