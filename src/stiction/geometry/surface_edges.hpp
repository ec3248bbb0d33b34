// Convex edges of a surface against the edges and round parts of a shape.
//
//   touch    where the nearest points lie on both edges, along the normal n square to both, in the normal cones of both; for a cylinder
//            n is where s(n) (separation.hpp) is greatest among the normals of the surface's edge
//   neither  where they cross with n near the cones: corners of a patch
#pragma once

#include "stiction/geometry/surface_contacts.hpp"
#include "stiction/geometry/surface_features.hpp"

namespace stiction {

void meet_edges(const FeatureSet& f, const Surface& s, const std::vector<int>& edges, SurfaceContacts& out);
/// The polytope in the surface's frame; `near` keeps the edges that may meet it.
void meet_edges(const Convex& shape, const Surface& s, const std::vector<int>& edges, std::vector<int>& near, SurfaceContacts& out);
/// The cylinder in the surface's frame; `rims` have the chords between the fixed points of its caps.
void meet_edges(const Convex& cylinder, const FeatureSet& rims, const Surface& s, const std::vector<int>& edges, SurfaceContacts& out);

}  // namespace stiction
