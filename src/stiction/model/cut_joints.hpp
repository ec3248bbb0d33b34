// A world with robots cut at their joints (RobotOptions::coordinates) and the same world uncut: from the one to the other [G14].
//
//   a joint cut between the bodies P and C comes back as rows of an Equality between them: hinge, slide or connect
//   its position is that of C seen from P, its rate and force act along  J_c = aᵀ (J_C - J_P)
// Controllers, plots and files speak of joints: `to_uncut` gives their positions and rates, `add_uncut_forces` takes their forces.
#pragma once

#include "stiction/model/dynamics.hpp"

namespace stiction {

/// Position of a cut revolute joint (rad, within half a turn of the middle of its limits, of 0 where it has none) or prismatic one (m).
/// `data` has the placements of the state.
double cut_position(const World& world, const WorldData& data, const CutJoint& cut);
/// Its rate (rad/s or m/s) at these velocities of all bodies, as in WorldData::V_WB.
double cut_rate(const World& world, const WorldData& data, std::span<const Vector6d> V_WB, const CutJoint& cut);
/// row += sign aᵀ J of the child or of the parent, for its block; nothing where that stands still.
void add_cut_row(const World& world, const WorldData& data, const CutJoint& cut, bool child, double sign,
                 Eigen::Ref<Eigen::RowVectorXd> row);

/// State of `world.uncut()`: q (nq), v (nv) there. `data` is updated at (q, v) of `world`.
void to_uncut(const World& world, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& q,
              const Eigen::Ref<const Eigen::VectorXd>& v, Eigen::Ref<Eigen::VectorXd> q_uncut, Eigen::Ref<Eigen::VectorXd> v_uncut);
/// The way back, on which every joint closes: `uncut` is the data of `world.uncut()`, updated at (q_uncut, v_uncut).
void from_uncut(const World& world, const WorldData& uncut, const Eigen::Ref<const Eigen::VectorXd>& q_uncut,
                const Eigen::Ref<const Eigen::VectorXd>& v_uncut, Eigen::Ref<Eigen::VectorXd> q, Eigen::Ref<Eigen::VectorXd> v);
/// tau (nv) += the generalised forces (N, N m) that have the work of tau_uncut, forces on the coordinates of `world.uncut()`.
void add_uncut_forces(const World& world, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& tau_uncut,
                      Eigen::Ref<Eigen::VectorXd> tau);

}  // namespace stiction
