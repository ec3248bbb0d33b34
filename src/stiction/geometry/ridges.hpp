// Ends of the stretch that two all but parallel lines of contact share: an edge along an edge, a capsule or a cylinder along an edge.
//
// Turned against each other by no more than rounding, two such lines cross at one point, and the overlap of the faces beside them has one
// end of the stretch: on which side the other end falls, rounding decides. A roller on two edges would rest on one diagonal or the other.
#pragma once

#include "stiction/geometry/manifold.hpp"

namespace stiction {

/// Adds both ends, where the lines touch along n, at the height that the surfaces beside the lines leave between them; contacts from
/// `first` on that stand between the lines there give way. Nothing for two rods, which have ends of their own.
void add_ridge_ends(const Convex& a, const Convex& b, const Axis& axis, std::size_t first, ContactSink& sink);

}  // namespace stiction
