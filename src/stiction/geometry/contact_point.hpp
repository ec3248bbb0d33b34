// One contact point between two geometries, and its frame.
//
//   φ > 0 apart, φ < 0 penetrating;  n points from B to A;  dφ/dt = n · (velocity of A at p_WC - velocity of B at p_WC)
//
// [n t1 t2] is right-handed and depends on n alone: t1 is world x projected onto the tangent plane (world y where n is within 26 degrees
// of the x axis), so a contact on the ground keeps the world's x and y, and frames turn continuously with the normal elsewhere.
#pragma once

#include <cstdint>

#include <Eigen/Core>

namespace stiction {

struct ContactPoint {
  int geometry_a = -1, geometry_b = -1;  ///< indices into the scene's geometries
  int body_a = -1, body_b = -1;          ///< body indices as given to the scene; -1 is the world
  /// World (m): on the surface of a static B, else midway between the two; all points of a face in one plane, where its gap is least.
  Eigen::Vector3d p_WC = Eigen::Vector3d::Zero();
  Eigen::Vector3d n = Eigen::Vector3d::UnitZ();  ///< unit normal from B to A, world
  Eigen::Vector3d t1 = Eigen::Vector3d::UnitX();
  Eigen::Vector3d t2 = Eigen::Vector3d::UnitY();
  double gap = 0.0;          ///< signed distance φ (m)
  std::uint64_t id = 0;      ///< same from step to step while the same features touch; unique within one detection; 0: none
  double mu = 0.0;           ///< friction coefficient of the pair, infinity allowed
  double restitution = 0.0;  ///< of the pair, in [0, 1]

  /// Contact frame in the world, columns n t1 t2.
  Eigen::Matrix3d R_WC() const {
    Eigen::Matrix3d R;
    R << n, t1, t2;
    return R;
  }
};

/// Sets t1, t2 from a unit n, as above.
void contact_tangents(const Eigen::Vector3d& n, Eigen::Vector3d& t1, Eigen::Vector3d& t2);

}  // namespace stiction
