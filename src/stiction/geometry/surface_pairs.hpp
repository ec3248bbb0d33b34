// Contacts of a triangle surface with a convex shape or another surface, feature against feature.
//
//   vertices of the shape    against triangles: height above the face it projects into, or distance to a convex edge or vertex
//   convex surface vertices  against the shape's faces and edges, or the cylinder
//   convex surface edges     against the shape's edges, or the cylinder
// Every gap is the exact signed distance of its two features. Which of them count: see surface_contacts.hpp. A vertex below the surface is
// pushed out through the nearest face, and through every face of a hollow it is in.
// Cost: O(log triangles + candidates × features of the shape).
#pragma once

#include <vector>

#include "stiction/geometry/closest.hpp"
#include "stiction/geometry/convex_pairs.hpp"
#include "stiction/geometry/surface_contacts.hpp"
#include "stiction/geometry/surface_features.hpp"

namespace stiction {

struct SurfaceScratch {
  struct Near {
    int triangle = 0;
    double height = 0.0;
    TrianglePoint at;
  };
  struct Below {
    double height = 0.0;
    int triangle = 0;
    bool over = false;  ///< the point is over the triangle, not only near it in a hollow
  };
  /// Triangles that the vertices of each cluster of a polytope may be near, or behind, at [begin[i], begin[i + 1]).
  struct Reach {
    std::vector<std::size_t> begin;
    std::vector<int> triangles;
    std::vector<int> of_any;  ///< that any vertex may
  };
  std::vector<Near> near;
  Reach reach;
  std::vector<int> around;
  std::vector<int> triangles, other_triangles, reached, convex_vertices, convex_edges, near_edges;
  FeatureSet shape, other;
  std::vector<Below> below;
  SurfaceContacts::Scratch contacts;
};

/// Surface placed in the world.
struct PlacedSurface {
  const Surface* surface = nullptr;
  Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
};

/// Normals from the surface to the shape.
void collide_convex_surface(const Convex& shape, const PlacedSurface& surface, SurfaceScratch& scratch, ContactSink& sink);
void collide_surfaces(const PlacedSurface& a, const PlacedSurface& b, SurfaceScratch& scratch, ContactSink& sink);
/// Convex vertices of the surface within the margin of the half-space.
void collide_surface_plane(const PlacedSurface& surface, const Plane3& plane, ContactSink& sink);

}  // namespace stiction
