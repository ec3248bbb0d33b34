// Mass, centre of mass and rotational inertia of a rigid body: composition, change of frame, physical consistency.
#pragma once

#include <string>
#include <string_view>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "stiction/model/shape.hpp"

namespace stiction {

struct Inertial {
  double mass = 0.0;                                  ///< kg
  Eigen::Vector3d com = Eigen::Vector3d::Zero();      ///< in the body frame (m)
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  ///< about the centre of mass, body axes (kg m²)
};

/// The same body seen from frame A, X_AB the placement of its frame in A.
Inertial transformed(const Eigen::Isometry3d& X_AB, const Inertial& body);
/// Two bodies rigidly joined, in one frame (parallel-axis theorem).
Inertial operator+(const Inertial& a, const Inertial& b);

/// Of a homogeneous sphere, box, capsule or cylinder of this density (kg/m³). Throws InvalidArgument otherwise.
Inertial homogeneous_solid(const Shape& shape, double density);
/// Of the homogeneous solid inside a closed surface: volume integrals of 1, x and x xᵀ as sums over the tetrahedra between its triangles
/// and a point (divergence theorem; Mirtich, Fast and Accurate Computation of Polyhedral Mass Properties, 1996).
Inertial solid_inside(const TriangleMesh& surface, double density);
/// Of a sheet of this density (kg/m²) over the triangles.
Inertial shell_on(const TriangleMesh& surface, double density);
/// The sum of the pyramids over all triangles, each counted as positive whichever way it faces, as MuJoCo's inertia="legacy": those that
/// give the centre of mass have their apex in the surface's centroid, those that give mass and inertia in the centre of mass. The solid
/// inside where that is seen whole from both.
Inertial solid_of_pyramids(const TriangleMesh& surface, double density);
/// Why a surface encloses no solid, empty when it does: every edge is shared by triangles in opposite senses, which face outwards.
/// Vertices at one place are one vertex, as files repeat them.
std::string surface_defect(const TriangleMesh& surface);

/// Why no rigid body has this inertia, empty when one does: finite, mass >= 0, principal moments >= 0 that satisfy the triangle
/// inequality to 1e-3 (files round their digits). Rods and point masses, with moments of zero, pass.
std::string inertia_defect(const Inertial& body);

}  // namespace stiction
