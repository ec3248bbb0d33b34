// Signed distance of two convex cores and its direction.
//
//   s(n) = min_{a in A} n·a - max_{b in B} n·b,     signed distance = max over unit n of s(n)
//
// Apart, the maximum is global and equals the distance; penetrating, it is the least depth over the axes searched. GJK and EPA (Coal)
// give a first direction, good to about 1e-6; the answer is then the best of the axes that the features there can produce (face
// normals, crosses of edges whose arcs on the Gauss map meet, vertex and edge differences, and for cylinders the cap, side and rim
// conditions), each judged by s(n) itself. Boxes use the 15 axes of the separating-axis theorem instead, and GJK only where the nearest
// features are not on them. So the result is exact to rounding and continuous through zero, which the difference of two nearly equal
// witness points is not.
#pragma once

#include <memory>

#include "stiction/geometry/convex.hpp"

namespace stiction {

struct Axis {
  Eigen::Vector3d n = Eigen::Vector3d::UnitZ();  ///< unit, from B to A
  double separation = 0.0;                       ///< s(n) of the cores (m)
  SupportPoint a, b;                             ///< supports of A along -n and of B along n
};

/// Buffers of GJK and EPA.
class Gjk {
 public:
  Gjk();
  ~Gjk();
  /// Buffers hold nothing that is worth a copy.
  Gjk(const Gjk& /*other*/) : Gjk() {}
  Gjk& operator=(const Gjk& /*other*/) { return *this; }
  /// The axis along which the cores are (nearly) farthest apart. No allocation.
  Axis axis(const Convex& a, const Convex& b);

 private:
  struct Impl;
  struct Answer {
    Eigen::Vector3d n;      ///< from B to A
    double distance = 0.0;  ///< what GJK or EPA take for the signed distance along n
  };
  Answer run(const Convex& a, const Convex& b);
  std::unique_ptr<Impl> impl_;
};

/// Exact signed distance of the cores of A and B. Where they are farther apart than `margin`, any axis on which that shows.
Axis signed_distance(const Convex& a, const Convex& b, double margin, Gjk& gjk);

/// Best of the 15 separating axes of two boxes: the signed distance unless the nearest features are a vertex and an edge or vertex. Where
/// one separates them by more than `margin`, that one.
Axis box_axes(const Convex& a, const Convex& b, double margin);

}  // namespace stiction
