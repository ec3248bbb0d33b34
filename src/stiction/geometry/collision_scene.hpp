// The geometries of a scene, and the contact points between them at given body poses.
//
// Stages of a detection: broad phase (axis-aligned boxes grown by the margin, sweep along x) -> one routine per kind of pair -> contact
// manifold -> contact points, ordered by pair and then by feature: same poses, same bits.
// Manifolds: box on plane its corners, face on face the corners of the overlap polygon, capsule on plane two points, standing
// cylinder six rim points and the lowest one, lying cylinder two, convex mesh its vertices, surfaces (triangle mesh, height map) one
// point per touching vertex, and per crossing of convex edges. Only points with gap <= margin; every gap is that of its own point.
// In a pair, A is the geometry that moves when one of them is fixed, and the one with the lower index otherwise.
// Surfaces are one-sided: the solid lies behind their triangles. A pair of two fixed geometries or of one body is never tested.
// Which pairs: those whose flags fit and which are neither of one group nor disabled, and declared ones.
// Pair material: mu = min(mu_A, mu_B) at the point, restitution = max(e_A, e_B), unless `set_pair_material` says otherwise.
// Cost: O(n log n + overlapping pairs). No allocation once the buffers have seen the worst case. One thread per scene.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Geometry>

#include "stiction/geometry/contact_point.hpp"
#include "stiction/model/shape.hpp"

namespace stiction {

/// A shape to collide, fixed to a body.
struct SceneGeometry {
  std::string name;  ///< unique names are needed only by the functions that take names
  int body = -1;     ///< index into the poses; -1: fixed to the world, `placement` is then its world pose
  Eigen::Isometry3d placement = Eigen::Isometry3d::Identity();  ///< shape frame in the body frame
  Shape shape;
  double friction = 1.0;        ///< sliding friction, >= 0, infinity allowed
  FrictionPatches patches;      ///< in place of friction, where there are any
  double restitution = 0.0;     ///< Newton restitution, in [0, 1]
  bool fixed = false;           ///< the body never moves (always so for body -1)
  unsigned type = 1, mask = 1;  ///< a and b may collide when a.type & b.mask or b.type & a.mask
  int group = -1;               ///< geometries of one group never collide; -1: none
  bool frictionless = false;    ///< mu of a pair is 0 where both geometries are
};

class CollisionScene {
 public:
  /// Loads mesh files, builds hulls and search trees. Throws InvalidArgument naming the geometry when a shape is degenerate (zero
  /// size, flat hull, no triangle with area, a half-space or height map that moves), FileError when a mesh file cannot be read.
  explicit CollisionScene(std::vector<SceneGeometry> geometries);
  ~CollisionScene();
  /// A copy has its own poses and pairs and shares hulls, surfaces and trees.
  CollisionScene(const CollisionScene& other);
  CollisionScene& operator=(const CollisionScene& other);
  CollisionScene(CollisionScene&&) noexcept;
  CollisionScene& operator=(CollisionScene&&) noexcept;

  std::span<const SceneGeometry> geometries() const;
  /// Number of poses that `update_poses` expects at least: highest body index + 1.
  int bodies() const;
  /// Distance of the farthest point of a geometry's shape from the shape's origin (m); 0 for a half-space.
  double reach(int geometry) const;

  void disable_geometries(int geometry_a, int geometry_b);
  /// The two collide whatever their flags, groups and disabled pairs say, unless they are of one body or both fixed.
  void declare_pair(int geometry_a, int geometry_b);
  /// Whether the two are ever tested.
  bool may_collide(int geometry_a, int geometry_b) const;
  /// Material of one pair in place of the rule above. Throws on mu < 0, NaN, or restitution outside [0, 1].
  void set_pair_material(int geometry_a, int geometry_b, double mu, double restitution);

  /// World poses of the bodies. Throws InvalidArgument naming the body on numbers that are not finite or a rotation that is not
  /// orthonormal to 1e-6; the scene keeps its poses then.
  void update_poses(std::span<const Eigen::Isometry3d> X_WB);

  /// All contact points with gap <= margin (m, >= 0) at the last poses; `contacts` is overwritten and keeps its memory.
  void detect(double margin, std::vector<ContactPoint>& contacts);
  /// The same where each body (m, >= 0, of at least `bodies()`) adds its own to the margin of a pair, the world 0: what is far from all
  /// that is fast needs no wide one.
  void detect(double margin, std::span<const double> body_margin, std::vector<ContactPoint>& contacts);
  /// Smallest gap (m) of the contact points of two geometries at the last poses, whether or not they may collide; infinite when it is
  /// above the margin (m, >= 0).
  double gap(int geometry_a, int geometry_b, double margin);

  /// What whoever made the scene left out, for people to read.
  std::vector<std::string> warnings;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stiction
