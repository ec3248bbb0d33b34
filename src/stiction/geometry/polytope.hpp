// Convex polyhedra with the adjacency that contact needs, and the support function over it.
//
// The cores of all rounded convex shapes are polytopes: a point (sphere), a segment (capsule), a box, a hull. Points and segments
// have no faces. Coplanar triangles of a hull are merged into one face. Frame: the shape's own. Lengths in m.
#pragma once

#include <array>
#include <numbers>
#include <span>
#include <string_view>
#include <vector>

#include <Eigen/Core>

namespace stiction {

struct Polytope {
  struct Face {
    Eigen::Vector3d normal;  ///< outward unit normal
    double offset = 0.0;     ///< normal · x on the face
    int begin = 0, count = 0;
  };
  struct Edge {
    int a = 0, b = 0;                                                             ///< vertices
    int left_face = -1, right_face = -1;                                          ///< the two faces; -1 on a segment
    Eigen::Vector3d into_left = Eigen::Vector3d::Zero(), into_right = into_left;  ///< unit, square to the edge, into its faces
    Eigen::Vector3d outward = into_left;                                          ///< middle of its normals
    double spread = std::numbers::pi;                                             ///< of them from there (rad)
    double bend = 1.0;                                                            ///< sine of the dihedral, 1 beyond a right angle
  };
  /// A ball around some vertices that lie near each other.
  struct Cluster {
    Eigen::Vector3d center;
    double radius = 0.0;
  };

  static constexpr int kScanned = 24;  ///< vertices up to which a support is looked for among all

  std::vector<Eigen::Vector3d> vertices;
  std::vector<double> by_coordinate;  ///< kScanned x, y and z, zero beyond the vertices; empty where there are more
  std::vector<Face> faces;
  std::vector<int> loops;  ///< vertices of the faces, counter-clockwise from outside, at [begin, begin + count)
  std::vector<Edge> edges;
  std::vector<int> neighbor_begin, neighbors;  ///< vertices joined to a vertex by an edge
  std::vector<Eigen::Vector3d> spokes;         ///< unit, to the neighbours
  std::vector<Cluster> clusters;
  std::vector<int> cluster_of;                                                               ///< per vertex
  std::vector<std::array<int, 2>> neighbor_faces;                                            ///< left and right of the edge to each; -1
  std::vector<int> vertex_face_begin, vertex_faces;                                          ///< faces around a vertex
  Eigen::Vector3d box_center = Eigen::Vector3d::Zero(), box_half = Eigen::Vector3d::Zero();  ///< axis-aligned box

  int size() const { return static_cast<int>(vertices.size()); }
  const Eigen::Vector3d& vertex(int i) const { return vertices[i]; }
  std::span<const int> face_loop(int f) const {
    const Face& face = faces[f];
    return {loops.data() + face.begin, static_cast<std::size_t>(face.count)};
  }
  std::span<const int> neighbors_of(int v) const { return part(neighbor_begin, neighbors, v); }
  std::span<const Eigen::Vector3d> spokes_of(int v) const { return part(neighbor_begin, spokes, v); }
  std::span<const std::array<int, 2>> neighbor_faces_of(int v) const { return part(neighbor_begin, neighbor_faces, v); }
  std::span<const int> faces_of(int v) const { return part(vertex_face_begin, vertex_faces, v); }

  /// Vertex farthest along `direction`, the lowest index among equals found; climbs from `start`. O(sqrt(vertices)) as a rule.
  int support(const Eigen::Vector3d& direction, int start = 0) const;

 private:
  template <class T>
  static std::span<const T> part(const std::vector<int>& begin, const std::vector<T>& items, int i) {
    const std::size_t k = static_cast<std::size_t>(i);
    return {items.data() + begin[k], static_cast<std::size_t>(begin[k + 1] - begin[k])};
  }
};

Polytope make_point();
/// From (0, 0, -half_length) to (0, 0, half_length).
Polytope make_segment(double half_length);
Polytope make_box(const Eigen::Vector3d& half_extents);
/// From a closed convex triangulation, outward counter-clockwise; triangles within `angle` (rad) of coplanar are merged into faces.
/// Vertices no face needs are dropped. Throws InvalidArgument naming `argument` when it isn't closed or convex to 1e-6 of its size.
Polytope make_polytope(std::span<const Eigen::Vector3d> vertices, std::span<const Eigen::Vector3i> triangles, std::string_view argument,
                       double angle = 1e-6);

}  // namespace stiction
