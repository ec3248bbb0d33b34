// By how much the state misses what a file demands beyond its tree.
#pragma once

#include "stiction/model/dynamics.hpp"

namespace stiction {

/// connect and weld: `position` = p_A - p_B (m); weld: `rotation` = log(R_A R_Bᵀ) (rad); world axes. joint: position.x = q_a - r_a - P(x),
/// x = q_b - r_b, with slope = P'(x) and curvature = P''(x).
struct EqualityError {
  Eigen::Vector3d position = Eigen::Vector3d::Zero(), rotation = Eigen::Vector3d::Zero();
  Eigen::Vector3d p_A = Eigen::Vector3d::Zero(), p_B = Eigen::Vector3d::Zero();  ///< the points that shall coincide, in the world
  double slope = 0.0, curvature = 0.0;
};

/// At q (nq), with the placements of `data` there.
EqualityError equality_error(const World& world, const WorldData& data, const Equality& equality,
                             const Eigen::Ref<const Eigen::VectorXd>& q);

}  // namespace stiction
