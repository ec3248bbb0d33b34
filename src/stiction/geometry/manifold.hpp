// Contact points of two convex shapes from the direction in which they touch.
//
// The support features of both (face, edge or vertex; for a cylinder its cap as a polygon, or the generatrix it lies on) are projected
// along n; the corners of their overlap are the contact points, at most as many as both features have corners together. The gap at a
// corner q is the distance of the two features along n there, z_A(q) - z_B(q), less both roundings: exact at the nearest points, and
// differing from the local distance by the square of the tilt elsewhere. All points of a pair share n.
#pragma once

#include <cstdint>
#include <vector>

#include "stiction/geometry/separation.hpp"

namespace stiction {

struct RawContact {
  Eigen::Vector3d p;          ///< midway between the surfaces, world
  Eigen::Vector3d n;          ///< from B to A
  double gap = 0.0;           ///< m
  double least_gap = gap;     ///< of the contacts on its face: see level_faces
  std::uint64_t feature = 0;  ///< names the touching features within the pair
};

/// Names of features: a vertex or face by its index, an edge by its two vertices. Never 0.
constexpr std::uint64_t vertex_name(int v) { return 1u + static_cast<std::uint64_t>(v); }
constexpr std::uint64_t face_name(int f) { return (std::uint64_t{1} << 60) + static_cast<std::uint64_t>(f); }
constexpr std::uint64_t edge_name(int a, int b) {
  const auto lo = static_cast<std::uint64_t>(a < b ? a : b), hi = static_cast<std::uint64_t>(a < b ? b : a);
  return (std::uint64_t{1} << 61) + (lo << 30) + hi;
}
/// Scrambles a pair of names into one (splitmix64 finaliser).
constexpr std::uint64_t pair_name(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15u + b;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Sine of the tilt below which an edge, a line or a disc counts as square to the normal.
inline constexpr double kSquare = 1e-7;
/// Sine of the angle below which edges that cross share a stretch, not a point.
inline constexpr double kParallel = 1e-3;
/// Sine below which two lines count as side by side: the ends of the stretch that they share may bear too.
inline constexpr double kSlant = 0.1;
/// Surfaces that were laid flush stand off each other by this at most (m), and one may lie deeper by it: twice what is left of an overlap
/// that touches.
inline constexpr double kLaidFlush = 2e-6;
/// Points of one pair within this distance are one (m).
inline constexpr double kSamePoint = 1e-9;

/// Where the routines of a pair put their points. `flip` when they see the pair the other way round.
struct ContactSink {
  std::vector<RawContact>& contacts;
  double margin = 0.0;
  bool flip = false;

  /// Drops points with gap > margin. p is midway between the surfaces.
  void add(const Eigen::Vector3d& p, const Eigen::Vector3d& n, double gap, std::uint64_t feature_a, std::uint64_t feature_b) {
    if (!(gap <= margin)) return;
    contacts.push_back(
        {p, flip ? Eigen::Vector3d(-n) : n, gap, gap, flip ? pair_name(feature_b, feature_a) : pair_name(feature_a, feature_b)});
  }
};

/// Adds the overlap of the support features; false when it misses the nearest points (features beside each other).
bool add_overlap(const Convex& a, const Convex& b, const Axis& axis, ContactSink& sink);
/// Adds the nearest points of the two cores.
void add_nearest(const Convex& a, const Convex& b, const Axis& axis, ContactSink& sink);

/// Moves contacts of a pair that share a normal and lie on one face of either into one plane square to it: midway at the least gap of
/// them, off the middle at the others by half of what their gaps differ, which closes within the step; and notes that gap. With their own
/// heights tangential rows of a face would be independent by that little, and what allows no slip would hold it tilted by impulses without
/// measure.
void level_faces(std::vector<RawContact>& contacts);

}  // namespace stiction
