// What h δ, a shift of positions between two steps, does to velocities. The same v has another energy where it has turned joints: half as
// much again, of a base of 24 g that carries 30 kg, by 14 mm of overlap undone in one step. So every body keeps the velocity of its centre
// of mass (world axes) and its angular velocity (own axes), u, and what the joints at the new place do not let pass is taken off, as a blow
// of theirs would:
//   v' = M⁻¹ (Jᵀ 𝓜 u + Aᵀ β),  A v' = A v  at q ⊕ h δ,   T' = T - ½ (u - J v')ᵀ 𝓜 (u - J v') + βᵀ A v'
// with J, 𝓜 of the bodies and of armatures, A the rows that held in the step: loops, and drives whose impulse is inside its limits. β adds
// to what a drive gave in the step; one that would go beyond its limit gives that, and holds no more. Servos are forces, without rows.
// A floating tree is turned by h δ as one, too, by I⁻¹ L of h δ about its centre of mass: so far u, less the velocity of that centre, turns
// with it. A shift that moves a tree rigidly leaves the velocities of its joints as they are.
// Linear momentum stays, and nothing gains energy but from drives that move. Speeds of joints that the shift turns and no drive holds
// change by the first order in h δ; what is lost of energy is of the second.
#pragma once

#include <vector>

#include "stiction/forward/kinematic_trees.hpp"
#include "stiction/forward/scheme.hpp"
#include "stiction/model/dynamics.hpp"
#include "stiction/problem/reduced.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction {

/// Whether the solution has a row where it asks for: a bilateral one, or one of a drive whose impulse is inside its bounds.
bool is_held(const ProblemView& problem, const Solution& solution, int row);

/// The step's problem and its answer; empty where there is none.
struct SolvedStep {
  const ContactProblem* problem = nullptr;
  const Solution* solution = nullptr;
};

class PositionShift {
 public:
  explicit PositionShift(const World& world);
  /// Whether the shift δ (nv) moves a tree with joints: what moves without keeps its velocities by itself.
  bool turns_joints(const Eigen::Ref<const Eigen::VectorXd>& delta) const;
  /// x <- x.q ⊕ h δ and the velocities there. from: at x.q, but for where free roots are. delta (nv): m/s and rad/s, linear ones of free
  /// roots in their axes at `axes` (nq); scratch afterwards. step: whose rows are kept. Returns the most that a joint's velocity changes
  /// by, but for free roots (rad/s, m/s).
  double apply(const World& world, double h, const WorldData& from, const Eigen::Ref<const Eigen::VectorXd>& axes,
               Eigen::Ref<Eigen::VectorXd> delta, PhasePoint& x, const SolvedStep& step = {});

 private:
  void carry_along(const World& world, double h, const WorldData& from, const Eigen::Ref<const Eigen::VectorXd>& delta,
                   const KinematicTree& tree, const Eigen::VectorXd& v);
  void list_rows(const SolvedStep& step, const Eigen::VectorXd& v);
  bool release(const SolvedStep& step);

  std::vector<KinematicTree> jointed_;
  std::vector<char> moves_;       ///< per tree of these
  std::vector<Vector6d> u_;       ///< per body
  ContactProblem held_;           ///< momenta and inertia at the new place, and the rows that hold
  std::vector<int> row_of_step_;  ///< per row of these
  Reduction reduction_;
  GrowVector beta_, none_;
  WorldData to_;
};

}  // namespace stiction
