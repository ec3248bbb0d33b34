// Points that stand for a cylinder's round parts in a contact manifold.
//
// A cap touches at six rim points fixed to the body, and at the rim point farthest along the contact direction once the cap is tilted:
// so a standing cylinder has a steady footprint (inscribed hexagon) and a tilted or rolling one the exact lowest point.
#pragma once

#include <array>

#include "stiction/geometry/convex.hpp"

namespace stiction {

inline constexpr int kCapPoints = 6;
inline constexpr int kCapCorners = kCapPoints + 1;

struct RimPoint {
  Eigen::Vector3d p;  ///< world
  int name = 0;
};

/// Name of the rim point farthest along the contact direction, on the cap at -z or +z.
constexpr int lowest_name(double side) { return side < 0.0 ? 100 : 200; }
/// Of end 0 or 1 of a rod, from -z to +z.
inline int end_name(const Convex& rod, int end) { return rod.is_cylinder() ? lowest_name(end == 0 ? -1.0 : 1.0) : end; }

/// Rim points of the cap at `side` (-1 or +1), counter-clockwise about +z; with the one farthest along d (unit) in its place.
int cap_corners(const Convex& cylinder, double side, const Eigen::Vector3d& d, std::array<RimPoint, kCapCorners>& corners);
/// Farthest rim point of that cap along d; d not parallel to the axis.
Eigen::Vector3d farthest_on_rim(const Convex& cylinder, double side, const Eigen::Vector3d& d);

/// Signed distance of a point to the cylinder, and the outward unit normal there (both in the cylinder's frame).
double cylinder_distance(const Convex& cylinder, const Eigen::Vector3d& local, Eigen::Vector3d& normal);

}  // namespace stiction
