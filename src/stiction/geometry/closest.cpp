#include "stiction/geometry/closest.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

namespace stiction {

double closest_on_segment(const Eigen::Vector3d& p, const Eigen::Vector3d& a, const Eigen::Vector3d& b) {
  const Eigen::Vector3d d = b - a;
  return std::clamp(d.dot(p - a) / d.squaredNorm(), 0.0, 1.0);
}

SegmentPair closest_segments(const Eigen::Vector3d& a0, const Eigen::Vector3d& a1, const Eigen::Vector3d& b0, const Eigen::Vector3d& b1) {
  const Eigen::Vector3d u = a1 - a0, v = b1 - b0, w = a0 - b0;
  const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v), uw = u.dot(w), vw = v.dot(w);
  const double cross = u.cross(v).squaredNorm();
  SegmentPair r;
  r.sine = std::sqrt(cross / (uu * vv));
  r.parallel = r.sine < 1e-9;
  r.s = r.parallel ? 0.5 : std::clamp((uv * vw - vv * uw) / cross, 0.0, 1.0);
  r.t = (uv * r.s + vw) / vv;
  if (r.t < 0.0 || r.t > 1.0) {
    r.t = std::clamp(r.t, 0.0, 1.0);
    r.s = std::clamp((uv * r.t - uw) / uu, 0.0, 1.0);
  }
  return r;
}

TrianglePoint closest_on_triangle(const Eigen::Vector3d& p, const Eigen::Vector3d& a, const Eigen::Vector3d& b, const Eigen::Vector3d& c) {
  using R = TriangleRegion;
  const Eigen::Vector3d ab = b - a, ac = c - a, ap = p - a;
  const double d1 = ab.dot(ap), d2 = ac.dot(ap);
  if (d1 <= 0.0 && d2 <= 0.0) return {R::vertex, 0, a};
  const Eigen::Vector3d bp = p - b;
  const double d3 = ab.dot(bp), d4 = ac.dot(bp);
  if (d3 >= 0.0 && d4 <= d3) return {R::vertex, 1, b};
  const double vc = d1 * d4 - d3 * d2;
  if (vc < 0.0 && d1 >= 0.0 && d3 <= 0.0) return {R::edge, 0, a + d1 / (d1 - d3) * ab};
  const Eigen::Vector3d cp = p - c;
  const double d5 = ab.dot(cp), d6 = ac.dot(cp);
  if (d6 >= 0.0 && d5 <= d6) return {R::vertex, 2, c};
  const double vb = d5 * d2 - d1 * d6;
  if (vb < 0.0 && d2 >= 0.0 && d6 <= 0.0) return {R::edge, 2, a + d2 / (d2 - d6) * ac};
  const double va = d3 * d6 - d5 * d4;
  if (va < 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
    return {R::edge, 1, b + (d4 - d3) / ((d4 - d3) + (d5 - d6)) * (c - b)};
  }
  const double sum = va + vb + vc;
  return {R::face, 0, a + (vb / sum) * ab + (vc / sum) * ac};
}

}  // namespace stiction
