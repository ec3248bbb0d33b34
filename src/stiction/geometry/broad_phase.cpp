#include "stiction/geometry/broad_phase.hpp"

#include <algorithm>

namespace stiction {

void BroadPhase::sweep(double margin, std::vector<std::pair<int, int>>& pairs) {
  // Insertion sort: nearly sorted already.
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    if (boxes[i - 1].lower.x() <= boxes[i].lower.x()) continue;
    const Box box = boxes[i];
    std::size_t k = i;
    for (; k > 0 && boxes[k - 1].lower.x() > box.lower.x(); --k) boxes[k] = boxes[k - 1];
    boxes[k] = box;
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box& a = boxes[i];
    for (std::size_t j = i + 1; j < boxes.size() && boxes[j].lower.x() <= a.upper.x() + margin; ++j) {
      const Box& b = boxes[j];
      const bool near = b.lower.y() <= a.upper.y() + margin && a.lower.y() <= b.upper.y() + margin && b.lower.z() <= a.upper.z() + margin &&
                        a.lower.z() <= b.upper.z() + margin;
      if (near) pairs.emplace_back(std::min(a.id, b.id), std::max(a.id, b.id));
    }
  }
}

}  // namespace stiction
