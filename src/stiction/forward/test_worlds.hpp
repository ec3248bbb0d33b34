// Worlds that tests of several rooms step.
#pragma once

#include <string>

#include "stiction/model/world.hpp"

namespace stiction {

/// Boxes askew above each other, so that they fall in a heap of several connected parts.
inline World falling_boxes(int boxes) {
  WorldBuilder builder;
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}});
  for (int i = 0; i < boxes; ++i) {
    FreeBody box;
    box.name = "box" + std::to_string(i);
    box.mass = 1.0 + 0.1 * i;
    box.shapes.push_back({Box{Eigen::Vector3d(0.1, 0.08, 0.05)}});
    box.inertia = solid_inertia(box.shapes.front().shape, box.mass);
    box.pose.translation() = Eigen::Vector3d(0.3 * (i % 2) + 0.02 * i, 0.01 * i, 0.1 + 0.06 * i);
    box.pose.linear() = Eigen::AngleAxisd(0.2 * i, Eigen::Vector3d(1, 2, 1).normalized()).toRotationMatrix();
    builder.add_free_body(box);
  }
  return builder.build();
}

}  // namespace stiction
