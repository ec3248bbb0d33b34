// Kinematics and dynamics of a world at one state:  M(q) a + h(q, v) = tau + Jᵀ f.
//
//   M   block-diagonal joint-space inertia, armature included: composite rigid bodies per robot, 6 x 6 by hand per free body
//   h   Coriolis, centrifugal, gravity and joint springs (N, N m); joint damping and dry friction are left to the caller
// `WorldData` is the reusable buffer of one thread, sized by its constructor; no function below allocates afterwards, except the
// three that return a vector. Cost of `update` is linear in bodies plus Σ_k nv_k depth_k.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "stiction/base/blocks.hpp"
#include "stiction/base/grow.hpp"
#include "stiction/model/world.hpp"

namespace stiction {

using Vector6d = Eigen::Matrix<double, 6, 1>;
using Matrix3Xd = Eigen::Matrix<double, 3, Eigen::Dynamic>;
using Matrix6Xd = Eigen::Matrix<double, 6, Eigen::Dynamic>;

/// Results of `update`. Static bodies have their placement and zero velocity.
struct WorldData {
  explicit WorldData(const World& world);
  ~WorldData();
  WorldData(const WorldData& other);
  WorldData& operator=(const WorldData& other);
  WorldData(WorldData&&) noexcept;
  WorldData& operator=(WorldData&&) noexcept;

  BlockDiagonal M;                      ///< nv x nv, both triangles filled
  GrowVector bias;                      ///< nv, h(q, v)
  double spring_energy = 0.0;           ///< Σ k (q - reference)² / 2 of the joint springs (J)
  std::vector<Eigen::Isometry3d> X_WB;  ///< per body, placement in the world
  std::vector<Vector6d> V_WB;           ///< per body, velocity of the body's origin then angular velocity, world axes (set by `update`)
  /// Per block, 6 x nv_k: unit motions of the block's coordinates about the world's origin, world axes, linear then angular.
  std::vector<Matrix6Xd> J_W;

  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Everything in `WorldData` at (q, v). q (nq) with unit quaternions, v (nv). Throws InvalidArgument on wrong sizes, values that are not
/// finite, or quaternions further than 1e-6 from unit length.
void update(const World& world, const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& v, WorldData& data);

/// X_WB, J_W and spring_energy only (M, bias and V_WB become stale).
void update_kinematics(const World& world, const Eigen::Ref<const Eigen::VectorXd>& q, WorldData& data);

/// Velocity of the point at p_W (world) fixed to the body = J v_k, world axes. J is 3 x nv of the body's block; 3 x 0 when static.
void point_jacobian(const World& world, const WorldData& data, int body, const Eigen::Vector3d& p_W, Eigen::Ref<Matrix3Xd> J);

/// Velocity of that point, then angular velocity of the body, world axes. J is 6 x nv of the body's block.
void frame_jacobian(const World& world, const WorldData& data, int body, const Eigen::Vector3d& p_W, Eigen::Ref<Matrix6Xd> J);

/// rows += sign R_WCᵀ J_point: contact rows N S T, 3 x nv of the body's block (row-major, as BlockRows stores them).
void add_contact_rows(const World& world, const WorldData& data, int body, const Eigen::Vector3d& p_W, const Eigen::Matrix3d& R_WC,
                      double sign, Eigen::Ref<RowMatrix> rows);

/// Velocity of the body's origin, then angular velocity, world axes, at velocities v (nv) other than those of the last `update`.
Vector6d body_velocity(const World& world, const WorldData& data, int body, const Eigen::Ref<const Eigen::VectorXd>& v);
/// Of all bodies.
void body_velocities(const World& world, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& v, std::vector<Vector6d>& out);

/// Velocity of a body's centre of mass (world axes), its frame at X and moving with V of body_velocity.
inline Eigen::Vector3d center_velocity(const Body& body, const Eigen::Isometry3d& X, const Vector6d& V) {
  return V.head<3>() + V.tail<3>().cross(X.linear() * body.com);
}

/// Whether any coordinate moves two bodies (-1: the world) at the point p_W along the direction n against each other, beyond the rounding
/// of its lever: a link on a plane that its axis is normal to cannot be moved off it.
bool can_separate(const World& world, const WorldData& data, int body_a, int body_b, const Eigen::Vector3d& p_W, const Eigen::Vector3d& n);

/// row += wrenchᵀ J, the generalised force of a wrench (force, then torque; world axes) on the body at p_W; row has nv of its block.
void add_wrench_row(const World& world, const WorldData& data, int body, const Eigen::Vector3d& p_W, const Vector6d& wrench,
                    Eigen::Ref<Eigen::RowVectorXd> row);

/// Σ |J_c v_c| over the coordinates that move the body, at p_W: linear (m/s) and angular (rad/s). |J̇ v| at that point is at most
/// their product. v (nv).
struct MotionBound {
  double linear = 0.0, angular = 0.0;
};
MotionBound motion_bound(const World& world, const WorldData& data, int body, const Eigen::Vector3d& p_W,
                         const Eigen::Ref<const Eigen::VectorXd>& v);
/// tau (nv) += Jᵀ (force, moment): generalised force of a force (N) at the point p_W (world) of a body and a moment (N m), world axes.
void add_wrench(const World& world, const WorldData& data, int body, const Eigen::Vector3d& p_W, const Eigen::Vector3d& force,
                const Eigen::Vector3d& moment, Eigen::Ref<Eigen::VectorXd> tau);

/// A force and a moment that act on a body, constant in world axes at a point that moves with it.
struct AppliedWrench {
  int body = 0;
  Eigen::Vector3d p_B = Eigen::Vector3d::Zero();                                      ///< where the force acts, in the body's frame (m)
  Eigen::Vector3d force = Eigen::Vector3d::Zero(), moment = Eigen::Vector3d::Zero();  ///< N, N m
};
/// tau (nv) += the generalised forces of all of them at the poses of `data`.
void add_wrenches(const World& world, const WorldData& data, std::span<const AppliedWrench> wrenches, Eigen::Ref<Eigen::VectorXd> tau);

/// World placement of a link.
Eigen::Isometry3d link_pose(const World& world, const WorldData& data, int link);

/// q_out = q ⊕ v dt on the manifold (constant body-frame velocity over dt), quaternions renormalised; q_out may be q.
void integrate(const World& world, const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& v, double dt,
               Eigen::Ref<Eigen::VectorXd> q_out);

/// The velocity w (nv) with q1 = q0 ⊕ w over unit time, shortest rotation.
void difference(const World& world, const Eigen::Ref<const Eigen::VectorXd>& q0, const Eigen::Ref<const Eigen::VectorXd>& q1,
                Eigen::Ref<Eigen::VectorXd> w);

/// Zero positions, identity rotations; 1-dof positions moved into their limits.
Eigen::VectorXd neutral(const World& world);

/// Uniform within the limits; unlimited revolute joints in [-pi, pi], prismatic ones and translations in [-1, 1] m, uniform rotations.
Eigen::VectorXd random_configuration(const World& world, std::uint64_t seed);

/// vᵀ M v / 2 at the velocity of the last `update`, armature included (J).
double kinetic_energy(const World& world, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& v);

/// -Σ m g·p_com over the moving bodies, less what is compensated, plus the energy of the joint springs (J); zero height is the world's
/// origin.
double potential_energy(const World& world, const WorldData& data);

/// Of all moving bodies, or of one robot's (its static base left out); world axes (m).
Eigen::Vector3d center_of_mass(const World& world, const WorldData& data);
Eigen::Vector3d center_of_mass(const World& world, const WorldData& data, int robot);

}  // namespace stiction
