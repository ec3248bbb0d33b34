// Union-find over 0..n-1, and the sets it ends with.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

namespace stiction {

class DisjointSets {
 public:
  DisjointSets() = default;
  explicit DisjointSets(int size) { reset(size); }

  /// Every element is a set of its own; memory is kept.
  void reset(int size) {
    parent_.resize(size);
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  int find(int i) {
    while (parent(i) != i) i = parent(i) = parent(parent(i));
    return i;
  }
  /// The smaller index becomes the root, so sets come out in a fixed order.
  void join(int i, int j) {
    i = find(i);
    j = find(j);
    if (i > j) std::swap(i, j);
    parent(j) = i;
  }
  /// Sets ordered by their first element, each in ascending order.
  std::vector<std::vector<int>> sets() {
    std::vector<std::vector<int>> out;
    std::vector<int> place(parent_.size(), -1);
    for (int i = 0; i < static_cast<int>(parent_.size()); ++i) {
      int& set = place[find(i)];
      if (set < 0) {
        set = static_cast<int>(out.size());
        out.emplace_back();
      }
      out[set].push_back(i);
    }
    return out;
  }

 private:
  int& parent(int i) { return parent_[i]; }
  std::vector<int> parent_;
};

}  // namespace stiction
