// Vertices and edges of a shape or a surface in the frame of the surface they meet, and the normal cones of features.
//
// A cone with slack takes in normals a little outside it: 1e-6 (sine) for rounding where nearest features are wanted, more where the
// corners of a contact patch are.
#pragma once

#include <cstdint>
#include <numbers>
#include <vector>

#include "stiction/geometry/convex.hpp"
#include "stiction/geometry/surface.hpp"

namespace stiction {

inline constexpr double kStrict = 1e-6;
/// A vertex or edge of the shape holds a corner of the patch while no other part of it lies below by more than this; sine of 10 degrees.
inline constexpr double kCrossing = 0.17;

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
    bool ends_a = true, ends_b = true;              ///< false at a vertex that is not convex: the solid may go on beyond that end
    int faces = 0;                                  ///< 0: segment, any direction is normal
    std::uint64_t name = 0;
    Eigen::Vector3d outward = Eigen::Vector3d::Zero();  ///< middle of its normals
    double spread = std::numbers::pi;                   ///< of them from there (rad)
  };
  std::vector<Vertex> vertices;
  std::vector<Edge> edges;
  std::vector<Eigen::Vector3d> spokes;  ///< unit directions to the neighbours
  double size = 0.0;                    ///< deepest penetration of a vertex that is looked for (m)
  double thickness = 0.0;               ///< and of an edge

  void clear() { vertices.clear(), edges.clear(), spokes.clear(); }
};

/// Sizes of a polytope, whose features are taken one at a time; of a cylinder the chords between the fixed points of its caps too.
void collect_features(const Convex& shape, const Eigen::Isometry3d& X, FeatureSet& f);
/// One of a polytope, the vertex's spokes in `f`.
FeatureSet::Vertex vertex_of(const Polytope& core, int v, const Eigen::Isometry3d& X, FeatureSet& f);
FeatureSet::Edge edge_of(const Polytope& core, const Polytope::Edge& e, const Eigen::Isometry3d& X);
/// Convex ones of a surface, from these vertices and edges.
void collect_features(const Surface& s, const std::vector<int>& vertices, const std::vector<int>& edges, const Eigen::Isometry3d& X,
                      FeatureSet& f);
/// Convex vertices and edges of some triangles, ascending.
void collect_convex(const Surface& s, const std::vector<int>& triangles, std::vector<int>& vertices, std::vector<int>& edges);

/// Least extent; for thin sheets a tenth of the largest.
double thickness_of(const Surface& s);

/// n in the normal cone of a surface's vertex or edge. That of an open border reaches around to the back.
bool in_vertex_cone(const Surface& s, int v, const Eigen::Vector3d& n, double slack);
bool in_edge_cone(const Surface::Edge& e, const Eigen::Vector3d& n, double slack);
/// Whether n points to the back at an open border.
bool is_back(const Surface& s, int v, const Eigen::Vector3d& n);
bool is_back(const Surface& s, const Surface::Edge& e, const Eigen::Vector3d& n);
/// -n in the normal cone of the shape's vertex or edge: no neighbour, no face lies further along -n.
bool rests(const FeatureSet& f, const FeatureSet::Vertex& v, const Eigen::Vector3d& n, double slack);
bool rests(const FeatureSet::Edge& e, const Eigen::Vector3d& n, double slack);

}  // namespace stiction
