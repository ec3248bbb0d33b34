// Contact routines of half-spaces and convex shapes. Each adds the points of one pair with gap <= sink.margin, normals from the second
// shape to the first (turned by the sink when it flips).
//
//   half-space       every vertex (rim point, end) within the margin that no neighbour lies steeply below; exact
//   sphere pairs     nearest point in closed form; exact, inside too
//   capsule, capsule nearest points, and both ends' own nearest points when the axes are nearly parallel
//   box, box         separating axes, overlap of faces
//   others           `signed_distance`, overlap of support features; of rods (cylinders, capsules) that are nearly parallel both ends too
#pragma once

#include "stiction/geometry/manifold.hpp"

namespace stiction {

/// Half-space n·x <= offset (world); plane normal n.
struct Plane3 {
  Eigen::Vector3d n;
  double offset = 0.0;
};

/// A vertex is left out of a manifold when the direction to a neighbour makes more than this with the way down: the neighbour, deeper by
/// that fraction of the edge, holds in its place.
inline constexpr double kSteep = 0.8;
/// Points of one pair beyond this number are thinned: see thin_out. What a step costs grows with them, and 16 corners of a circle lie
/// within 2 % of its radius of all of it.
inline constexpr int kMaxPoints = 16;

void collide_convex_plane(const Convex& shape, const Plane3& plane, ContactSink& sink, std::vector<int>& scratch);
/// First shape a sphere, second any convex shape but a hull.
void collide_sphere(const Convex& sphere, const Convex& other, ContactSink& sink);
void collide_capsules(const Convex& a, const Convex& b, ContactSink& sink);
void collide_boxes(const Convex& a, const Convex& b, Gjk& gjk, ContactSink& sink);
void collide_convex(const Convex& a, const Convex& b, Gjk& gjk, ContactSink& sink);

/// Keeps of contacts [first, end), in order, when they are more than kMaxPoints: the deepest; the corners of the hull of those that touch,
/// the farthest out first, up to 12; and as far as there is room the outermost ones on seven sides, and those that touch first when the
/// body tilts to one of eight.
void thin_out(std::vector<RawContact>& contacts, std::size_t first);

}  // namespace stiction
