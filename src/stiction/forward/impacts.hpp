// Impacts: velocities after what is closed at q has met, by the impulses of a rigid law alone.
//
//   newton     M (v⁺ - v) = Jᵀ λ, the law at v⁺ with u_N⁺ >= -ε u_N⁻ where a contact comes in faster than the rest speed, less where that
//              would give energy (bounces.hpp)
//   poisson    compression: the same with ε = 0, impulses λ_c. Expansion [Anitescu & Potra 1997; Glocker & Pfeiffer 1995]:
//                M (v⁺ - v_c) = Nᵀ (ε λ_cN + λ_N) + Tᵀ λ_T,   0 <= λ_N ⊥ u_N⁺ >= 0,   λ_T in the section of radius μ (ε λ_cN + λ_N)
//              A contact of known pressure is one whose normal row is a coordinate of its own, pressed on by ε λ_cN, and whose tangents
//              are the real ones; the real contact beside it bears λ_N. So expansion is the same law once more.
//   jam        under a push of the forces for so short a time δ that they alter v by kPush of itself. Where sliding forces do not exist
//              [Painlevé], the law at velocity level has no solution near v⁺ = v however small δ is: an impulse without collision
//              [Stewart 2000].
// simultaneous: all contacts in one solve. sequential: the contact that comes in fastest alone, as often as one comes in, kMostInTurn
// times; what then still comes in is met at once. Joint limits, loops and drives without torque limit take part in every solve.
#pragma once

#include "stiction/forward/acceleration_level.hpp"
#include "stiction/forward/bounces.hpp"

namespace stiction {

class Impacts {
 public:
  std::vector<ContactPoint> contacts;  ///< closed
  std::vector<ClosedRow> rows;         ///< limits that are reached, drives without limit

  /// Velocities after all impacts at (q, v) of `data`; v in place. False, with v as it was, when a solve missed the tolerance.
  bool meet(const EventSetting& setting, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& q, Eigen::VectorXd& v);
  /// The same under a push of the smooth forces, whose acceleration without contact is `free` (nv). False also where nothing is caught.
  bool jam(const EventSetting& setting, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& q, const GrowVector& free,
           Eigen::VectorXd& v);

  /// 3n, one per row and one per row of closed loops, of the last call (N s).
  const GrowVector& impulses() const { return impulses_; }
  auto row_impulses() const { return bounded_impulses_.tail(std::ssize(rows)); }
  auto equality_impulses() const { return bounded_impulses_.head(bounded_impulses_.size() - std::ssize(rows)); }

  SolveTally tally;

 private:
  static constexpr int kAll = -1;
  void assemble_problem(const EventSetting& setting, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& q,
                        const Eigen::VectorXd& v, int only);
  bool solve_problem(const EventSetting& setting, const ContactProblem& problem, double acceptable);
  bool solve_bounces(const EventSetting& setting);
  bool meet_once(const EventSetting& setting, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& q, int only,
                 Eigen::VectorXd& v);
  bool expand(const EventSetting& setting, Eigen::VectorXd& v);
  bool still_coming(const EventSetting& setting, const WorldData& data, const Eigen::VectorXd& v) const;

  AssembleOptions closed_;
  ContactProblem problem_, expansion_;
  SolveWorkspace workspace_;
  Solution solution_;
  Bounces bounces_;
  std::vector<ContactPoint> taken_;
  std::vector<std::size_t> taken_index_;
  std::vector<int> sizes_, pressed_;
  Eigen::VectorXd before_;
  GrowVector asked_, restitution_, compression_, impulses_, bounded_impulses_, approach_;
};

}  // namespace stiction
