// Points of a shape against the faces, edges and vertices of a surface near them, and the other way round.
#pragma once

#include <optional>
#include <span>

#include "stiction/geometry/cylinder.hpp"
#include "stiction/geometry/surface_pairs.hpp"

namespace stiction {

/// One point of the shape after the other against the candidate triangles.
class PointContacts {
 public:
  /// `turned`: the points are those of the pair's surface and `s` is its shape, placed so in the frame of the contacts.
  PointContacts(const Surface& s, const std::vector<int>& triangles, SurfaceScratch& scratch, SurfaceContacts& out,
                const Eigen::Isometry3d* turned = nullptr)
      : s_(s), triangles_(triangles), near_(scratch.near), below_(scratch.below), around_(scratch.around), out_(out), turned_(turned) {}

  /// `near`: those of the triangles that the point may be a contact of; `reached`: and those it may be near, or behind.
  void vertex(const FeatureSet& f, const FeatureSet::Vertex& v, std::span<const int> near, std::span<const int> reached);
  /// Vertices of a polytope placed in the surface's frame, against these of the triangles.
  void vertices(const Convex& shape, FeatureSet& f, const std::vector<int>& reached, SurfaceScratch::Reach& scratch);
  /// Points of a cylinder's rims, fixed and farthest along each triangle's normal; the cylinder in the surface's frame.
  void rims(const Convex& cylinder);

 private:
  void find_near(const FeatureSet& f, const FeatureSet::Vertex& v, std::span<const int> near);
  /// Least distance of the point to those of the triangles that are near it.
  double distance_to(const FeatureSet& f, const FeatureSet::Vertex& v, std::span<const int> reached) const;
  /// How far from the middle of a triangle, seen along its normal, a point between two heights above it may be and still make a contact.
  double beside(const Surface::Triangle& tri, double lowest, double highest) const;
  /// Whether find_near may look at the triangle for a point in a ball (its center in the surface's frame).
  bool may_reach(const Eigen::Vector3d& center, double radius, double size, const Surface::Triangle& tri) const;
  void rim_point(const Convex& cylinder, int t, const BearingPoint& q, double lowest);
  void add_feature(const FeatureSet& f, const FeatureSet::Vertex& v, const SurfaceScratch::Near& c);
  void add_below(const FeatureSet& f, const FeatureSet::Vertex& v);
  void add(const Eigen::Vector3d& p, const Eigen::Vector3d& n, double distance, std::uint64_t name, std::uint64_t name_surface, bool touch,
           bool nearest, bool back = false);
  /// Of the point that find_near was called for, found when first asked for.
  bool is_inside(const Eigen::Vector3d& p);
  bool find_inside(const Eigen::Vector3d& p) const;
  bool in_hollow(const TrianglePoint& c, const Surface::Triangle& tri, double height, const Eigen::Vector3d& p) const;
  bool is_nearer(const Eigen::Vector3d& p, double distance) const;
  bool hollow_between(int a, int b) const;
  std::uint64_t patch_name(int t) const { return face_name(s_.patch[t]); }

  const Surface& s_;
  const std::vector<int>& triangles_;
  std::vector<SurfaceScratch::Near>& near_;
  std::vector<SurfaceScratch::Below>& below_;
  std::vector<int>& around_;
  SurfaceContacts& out_;
  const Eigen::Isometry3d* turned_;
  std::optional<bool> inside_;
  double to_surface_ = 0.0;  ///< least distance of the point, behind some triangle, to those near it
};

/// Convex vertices of the surface against the faces and edges of a polytope or segment, or a cylinder, placed in the surface's frame.
void surface_vertices_on_polytope(const Convex& shape, const Surface& s, const std::vector<int>& vertices, SurfaceContacts& out);
void surface_vertices_on_cylinder(const Convex& shape, const Surface& s, const std::vector<int>& vertices, SurfaceContacts& out);

}  // namespace stiction
