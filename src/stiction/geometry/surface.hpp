// Triangle surfaces: triangle meshes and height maps, with what contact asks of them.
//
// One-sided: the solid lies behind the triangles. An edge is *convex* when its dihedral bulges outwards (or it has one triangle only); a
// vertex is when all its edges fall away from some direction. Only convex edges and vertices can touch a flat or round thing without a
// face touching it too, so flat inner edges never make contacts. Frame: the surface's own. A tree of boxes finds triangles.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <string_view>
#include <vector>

#include <Eigen/Geometry>

#include "stiction/model/shape.hpp"

namespace stiction {

struct Surface {
  struct Triangle {
    std::array<int, 3> v{};
    std::array<int, 3> edge{};       ///< edge k joins v[k] and v[k + 1]
    Eigen::Vector3d normal, center;  ///< center of a ball around it, in its plane
    double radius = 0.0;
    bool hollow = false;  ///< has a concave edge
    /// Tangent of the widest angle between `normal` and a normal of its convex edges and vertices; infinite where no bound is known.
    double lean = std::numeric_limits<double>::infinity();
  };
  struct Edge {
    int a = 0, b = 0;
    int left = -1, right = -1;  ///< triangles; right is -1 on a boundary
    bool convex = false, concave = false;
    double bend = 1.0;    ///< sine of the dihedral, 1 beyond a right angle
    double spread = 0.0;  ///< of the normals of a convex edge from `outward` (rad)
    Eigen::Vector3d outward = Eigen::Vector3d::Zero(), along = outward, into_left = outward,
                    into_right = into_left;  ///< unit; the latter square to the edge, into its triangles
    /// Bound of the angle between `outward` and the normals of a convex edge (rad): one at a border, or flat to the slack of the strict
    /// cone, has normals to its back.
    double normals_bound() const { return right >= 0 && spread > 1e-5 ? spread : std::numbers::pi; }
  };
  struct Node {
    Eigen::Vector3d lower, upper;
    int right = -1;            ///< second child; the first follows its parent; -1: leaf
    int begin = 0, count = 0;  ///< of `order`
  };

  std::vector<Eigen::Vector3d> vertices;
  std::vector<Triangle> triangles;
  std::vector<Edge> edges;
  std::vector<int> patch;                        ///< per triangle, the flat patch it belongs to
  std::vector<int> spoke_begin, spokes;          ///< vertices joined to a vertex by an edge
  std::vector<Eigen::Vector3d> vertex_normal;    ///< angle-weighted
  std::vector<double> vertex_spread;             ///< bound of the normals of a convex vertex from there (rad); pi where none is known
  std::vector<char> vertex_convex, vertex_open;  ///< the latter: on an open border
  std::vector<int> convex_vertices;
  bool open = false;  ///< has a border
  std::vector<Node> nodes;
  std::vector<int> order;
  Eigen::Vector3d box_center = Eigen::Vector3d::Zero(), box_half = Eigen::Vector3d::Zero();

  const Eigen::Vector3d& vertex(int i) const { return vertices[i]; }
  const Triangle& triangle(int i) const { return triangles[i]; }
  const Edge& edge(int i) const { return edges[i]; }
  std::span<const int> spokes_of(int v) const {
    const std::size_t k = static_cast<std::size_t>(v);
    return {spokes.data() + spoke_begin[k], static_cast<std::size_t>(spoke_begin[k + 1] - spoke_begin[k])};
  }
  struct Nearest {
    int triangle = -1;
    double distance = std::numeric_limits<double>::infinity();
    bool behind = false;  ///< p is, from the pseudo-normal of its nearest feature (Baerentzen and Aanaes, 2005)
  };
  /// Of some triangles, the one nearest to p.
  Nearest nearest(const Eigen::Vector3d& p, std::span<const int> triangles) const;
  /// Whether p lies behind the nearest of some triangles.
  bool contains(const Eigen::Vector3d& p, std::span<const int> near) const { return nearest(p, near).behind; }
  /// The same, of all triangles within `reach` (m) of p in x, y and z.
  bool contains(const Eigen::Vector3d& p, double reach, std::vector<int>& scratch) const;
  /// The triangle nearest to p where p lies in the solid of a closed surface, at any depth; else -1.
  int cover(const Eigen::Vector3d& p, std::vector<int>& scratch) const;
  /// Whether an open border is nearer to p, seen along the surface, than a depth (m) that p has in the solid.
  bool is_near_border(const Eigen::Vector3d& p, double depth, std::vector<int>& scratch) const;
  /// Triangles whose boxes meet [lower, upper], ascending; `found` keeps its memory.
  void query(const Eigen::Vector3d& lower, const Eigen::Vector3d& upper, std::vector<int>& found) const;
};

/// Triangles without area and repeated ones are dropped, equal vertices joined; a closed mesh that is inside out is turned. Throws
/// InvalidArgument naming `argument` when no triangle is left and, if asked for `one_side`, where two with a common edge do not face to it.
Surface make_surface(const TriangleMesh& mesh, std::string_view argument, bool one_side = false);
/// Top, side walls and floor of the solid below the samples; top only where `bottom` touches them.
Surface make_surface(const HeightMap& map, std::string_view argument);

}  // namespace stiction
