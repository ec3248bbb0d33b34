// What h δ, a shift of positions between two steps, does to velocities. The same v has another energy where it has turned joints: half as
// much again, of a base of 24 g that carries 30 kg, by 14 mm of overlap undone in one step. So every body keeps the velocity of its centre
// of mass (world axes) and its angular velocity (own axes), u, and what the joints at the new place do not let pass is taken off, as a blow
// of theirs would:
//   v' = M⁻¹ Jᵀ 𝓜 u at q ⊕ h δ, J, 𝓜 of the bodies and of armatures,   T' = T - ½ (u - J v')ᵀ 𝓜 (u - J v') <= T
// Linear momentum stays; what is lost is of the second order in h δ.
#pragma once

#include <vector>

#include "stiction/forward/kinematic_trees.hpp"
#include "stiction/forward/scheme.hpp"
#include "stiction/model/dynamics.hpp"

namespace stiction {

class PositionShift {
 public:
  explicit PositionShift(const World& world);
  /// Whether the shift δ (nv) moves a tree with joints: what moves without keeps its velocities by itself.
  bool turns_joints(const Eigen::Ref<const Eigen::VectorXd>& delta) const;
  /// x <- x.q ⊕ h δ and the velocities there. from: at x.q, but for where free roots are. delta (nv): m/s and rad/s, linear ones of free
  /// roots in their axes at `axes` (nq); scratch afterwards.
  void apply(const World& world, double h, const WorldData& from, const Eigen::Ref<const Eigen::VectorXd>& axes,
             Eigen::Ref<Eigen::VectorXd> delta, PhasePoint& x);

 private:
  std::vector<KinematicTree> jointed_;
  std::vector<char> moves_;   ///< per tree of these
  std::vector<Vector6d> u_;   ///< per body
  Eigen::VectorXd momentum_;  ///< nv
  BlockDiagonal factors_;
  WorldData to_;
};

}  // namespace stiction
