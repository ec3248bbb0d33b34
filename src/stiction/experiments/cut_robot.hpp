// One robot in redundant velocity coordinates [G14, section "Description of the quadrupedal robot"]: cut into subsystems at some of its
// joints, which come back as five bilateral rows each.
//
//   extended   every joint of the base is cut: base and limbs are subsystems (StarlETH: 38 coordinates, 20 bilateral rows)
//   maximal    every joint is cut: each body is a subsystem (78 coordinates, 60 rows)
// Coordinates of a subsystem: twist of its root body about the world's origin (linear, angular; world axes), then the rates of its own
// joints. M, impulses and contact rows follow from the body Jacobians; gyroscopic wrenches are included, products of joint rates with the
// motion of their axes are not. Contact velocities and multipliers are those of the minimal problem when the robot is at rest.
#pragma once

#include <span>

#include "stiction/geometry/contact_point.hpp"
#include "stiction/model/dynamics.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

enum class Cut { extended, maximal };

/// The step of `minimal` over redundant coordinates: same dt, mu, restitution, gap, material and, for the forces `tau` (nv) of its step,
/// the same loads. `data` is updated at the state of `minimal`; its contacts are `contacts`. The world holds one robot with a floating base
/// and revolute joints without armature. Throws InvalidArgument otherwise.
ContactProblem cut_robot(const World& world, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& tau,
                         std::span<const ContactPoint> contacts, const ContactProblem& minimal, Cut cut);

}  // namespace stiction
