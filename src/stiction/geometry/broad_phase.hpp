// Sweep and prune along x: pairs of axis-aligned boxes that come within a margin of each other.
#pragma once

#include <utility>
#include <vector>

#include <Eigen/Core>

namespace stiction {

class BroadPhase {
 public:
  struct Box {
    Eigen::Vector3d lower = Eigen::Vector3d::Zero(), upper = Eigen::Vector3d::Zero();
    int id = 0;
  };
  std::vector<Box> boxes;  ///< set by the caller; order doesn't matter and is kept nearly sorted from step to step

  /// Appends pairs (i, j), i < j, of ids whose boxes are within `margin` along every axis, in no particular order.
  /// O(n + overlaps along x) when little has moved.
  void sweep(double margin, std::vector<std::pair<int, int>>& pairs);
};

}  // namespace stiction
