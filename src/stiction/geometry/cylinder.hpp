// Points that stand for a cylinder's round parts in a contact manifold.
//
// A cap touches at six rim points fixed to the body, and at the rim point farthest along the contact direction once the cap is tilted:
// so a standing cylinder has a steady footprint (inscribed hexagon) and a tilted or rolling one the exact lowest point.
//
// Of what overlaps no point may come or go but at depth zero: the elastic energy of a compliant law, the sum of k φ²/2 over the points,
// would jump. So every point of both rims counts while it overlaps, and with the sine ρ of the tilt the hexagons fade out. Their gaps are
//
//   φ = φ_corner + w(ρ),   w = r (ρ - ρ₁)² / (2 (1 - ρ₁)) from ρ₁ on,
//
// less than 0.3 r deep none bears of a lying cylinder, which so rolls on its two lowest points. A gap whose gradient is no unit force at
// the point given would make energy: the point is where the force k φ has the moment that w asks for, the corner moved up the cap by
// dw/dρ <= r.
#pragma once

#include <array>

#include "stiction/geometry/convex.hpp"

namespace stiction {

inline constexpr int kCapPoints = 6;
inline constexpr int kCapCorners = kCapPoints + 1;
inline constexpr int kOverlapPoints = 2 * kCapCorners;

struct RimPoint {
  Eigen::Vector3d p;  ///< world
  int name = 0;
};

/// A rim point as it bears.
struct BearingPoint {
  Eigen::Vector3d rim;  ///< world
  Eigen::Vector3d p;    ///< where it bears: a faded corner is moved, and higher by w
  int name = 0;
};

/// While it overlaps.
struct OverlapPoint : BearingPoint {
  double side = 0.0;    ///< cap: -1 or +1
  bool lowest = false;  ///< the one farthest along the contact direction of its cap
  bool beside = false;  ///< a corner as low as that one, whose place it leaves to it
};

/// Name of the rim point farthest along the contact direction, on the cap at -z or +z.
constexpr int lowest_name(double side) { return side < 0.0 ? 100 : 200; }
/// Of end 0 or 1 of a rod, from -z to +z.
inline int end_name(const Convex& rod, int end) { return rod.is_cylinder() ? lowest_name(end == 0 ? -1.0 : 1.0) : end; }

/// Rim points of the cap at `side` (-1 or +1), counter-clockwise about +z; with the one farthest along d (unit) in its place.
int cap_corners(const Convex& cylinder, double side, const Eigen::Vector3d& d, std::array<RimPoint, kCapCorners>& corners);
/// All points of both rims that bear when they overlap along d (unit).
int overlap_points(const Convex& cylinder, const Eigen::Vector3d& d, std::array<OverlapPoint, kOverlapPoints>& points);

/// Points by which a cylinder bears on the plane n·x = offset (n unit): those of its lower cap, or the ends of its lowest line, and all
/// others that overlap.
int points_on_plane(const Convex& cylinder, const Eigen::Vector3d& n, double offset, std::array<BearingPoint, kOverlapPoints>& points);

/// How a corner fades when the cap is tilted.
struct CornerFade {
  double lift = 0.0;                                ///< w, m
  Eigen::Vector3d shift = Eigen::Vector3d::Zero();  ///< square to d, m
};
CornerFade corner_fade(const Convex& cylinder, const Eigen::Vector3d& d);

/// Farthest rim point of that cap along d; d not parallel to the axis.
Eigen::Vector3d farthest_on_rim(const Convex& cylinder, double side, const Eigen::Vector3d& d);

/// Signed distance of a point to the cylinder, and the outward unit normal there (both in the cylinder's frame).
double cylinder_distance(const Convex& cylinder, const Eigen::Vector3d& local, Eigen::Vector3d& normal);

}  // namespace stiction
