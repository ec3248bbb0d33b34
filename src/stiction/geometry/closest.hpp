// Closest points of segments and triangles, in closed form.
#pragma once

#include <Eigen/Core>

namespace stiction {

/// Parameter in [0, 1] of the point of the segment a b nearest to p.
double closest_on_segment(const Eigen::Vector3d& p, const Eigen::Vector3d& a, const Eigen::Vector3d& b);

struct SegmentPair {
  double s = 0.0, t = 0.0;  ///< parameters in [0, 1] on the first and second segment
  bool parallel = false;    ///< directions within 1e-9 rad: s and t are then one choice of many
  double sine = 0.0;        ///< of the angle between the directions
};
/// Nearest points of segments a0 a1 and b0 b1 (lengths > 0).
SegmentPair closest_segments(const Eigen::Vector3d& a0, const Eigen::Vector3d& a1, const Eigen::Vector3d& b0, const Eigen::Vector3d& b1);

/// Which feature of a triangle is nearest to a point: its inside, edge k (from vertex k to k + 1), or vertex k.
enum class TriangleRegion { face, edge, vertex };
struct TrianglePoint {
  TriangleRegion region = TriangleRegion::face;
  int k = 0;
  Eigen::Vector3d point = Eigen::Vector3d::Zero();
};
TrianglePoint closest_on_triangle(const Eigen::Vector3d& p, const Eigen::Vector3d& a, const Eigen::Vector3d& b, const Eigen::Vector3d& c);

}  // namespace stiction
