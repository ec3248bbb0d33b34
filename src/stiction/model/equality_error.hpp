// By how much the state misses what a file demands beyond its tree.
#pragma once

#include "stiction/model/dynamics.hpp"

namespace stiction {

/// connect, weld, hinge: `position` = p_A - p_B (m), slide: what of it is across the axis. weld, slide: `rotation` = log(R_A R_Bᵀ) (rad),
/// hinge: a_B x a_A, the axis of A seen from that of B. World axes. joint: position.x = q_a - r_a - P(x), x = q_b - r_b, with slope = P'(x)
/// and curvature = P''(x).
struct EqualityError {
  Eigen::Vector3d position = Eigen::Vector3d::Zero(), rotation = Eigen::Vector3d::Zero();
  /// The points of the bodies whose motion against each other is held, in the world: those that shall coincide; of a slide both are p_A.
  Eigen::Vector3d p_A = Eigen::Vector3d::Zero(), p_B = Eigen::Vector3d::Zero();
  /// Of a hinge or slide: a_B and two directions across it, columns, fixed to B.
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();
  double slope = 0.0, curvature = 0.0;
};

/// At q (nq), with the placements of `data` there.
EqualityError equality_error(const World& world, const WorldData& data, const Equality& equality,
                             const Eigen::Ref<const Eigen::VectorXd>& q);

}  // namespace stiction
