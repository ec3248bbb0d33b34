// Contacts of a triangle surface with a convex shape or another surface, feature against feature.
//
//   vertices of the shape    against triangles: height above the face it projects into, or distance to a convex edge or vertex
//   convex surface vertices  against the shape's faces (or its segment, or the cylinder)
//   edges of the shape       against convex surface edges, where they cross
// A feature pair counts when the contact direction lies in the normal cones of both (with slack for faces and crossings, so that a foot
// that rests on a step keeps all corners of its overlap polygon). Every gap is the exact signed distance of its two features. A vertex
// below the surface is pushed out through the nearest face, and through every face of a hollow it is in.
// Cost: O(log triangles + candidates × features of the shape).
#pragma once

#include <vector>

#include "stiction/geometry/closest.hpp"
#include "stiction/geometry/convex_pairs.hpp"
#include "stiction/geometry/surface.hpp"

namespace stiction {

/// Vertices and edges of one shape in the frame of the surface they meet.
struct FeatureSet {
  struct Vertex {
    Eigen::Vector3d p;
    std::uint64_t name = 0;
    int spoke_begin = 0, spoke_count = 0;
  };
  struct Edge {
    Eigen::Vector3d a = Eigen::Vector3d::Zero(), b = a;
    Eigen::Vector3d into_left = a, into_right = a;  ///< unit, square to the edge, into its two faces
    double bend = 1.0;                              ///< sine of the dihedral, 1 beyond a right angle
    int faces = 0;                                  ///< 0: segment, any direction is normal
    std::uint64_t name = 0;
  };
  std::vector<Vertex> vertices;
  std::vector<Edge> edges;
  std::vector<Eigen::Vector3d> spokes;  ///< unit directions to the neighbours
  double radius = 0.0;                  ///< rounding
  double reach = 0.0;                   ///< deepest penetration of a vertex that is looked for (m)
  double thickness = 0.0;               ///< and of an edge

  void clear() { vertices.clear(), edges.clear(), spokes.clear(); }
};

struct SurfaceScratch {
  struct Near {
    int triangle = 0;
    double height = 0.0;
    TrianglePoint at;
  };
  std::vector<Near> near;
  std::vector<int> around;
  std::vector<int> triangles, other_triangles, convex_vertices, convex_edges;
  FeatureSet shape, other;
  std::vector<std::pair<double, int>> below;
  Polytope edge = make_segment(1.0);
  std::vector<RawContact> found;
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
