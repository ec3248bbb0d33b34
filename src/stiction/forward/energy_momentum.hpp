// Energy-momentum midpoint scheme: the balance of each kinematic tree over the whole step, exact in momentum and in energy.
//
//   q_m = q ⊕ (h/2) w,  q⁺ = q ⊕ h w,  w = (v + v⁺)/2                            symmetric, so of second order
//   M(q_m) (v⁺ - v) = h (tau - b̄) + J(q_m)ᵀ λ,   the law at v⁺
//   b̄ of a free root:  ΔP = h F + ∫λ,  ΔK = h N + ∫λ  in place of its rows of the bias: P momentum, K angular momentum about the centre of
//                      mass, at q and q⁺ in the axes of the world; F, N weight and tau
//   b̄ of the joints:   bias(q_m, w) + s y,  y = M(q_m) (w - ξ),  s such that Δ(T + V) = w·(h tau + Jᵀλ)   [Gonzalez 1996]
// ξ is the rigid motion that has the momenta of w: y has none, and on the joints it is what they feel whose root gives way; along M_jj w_j
// those of a light base would be thrown about. What hangs on the world has ξ = 0.
// A free root turns by the Cayley map of h ω_w (quaternion (1, h ω_w/2), normalised), which carries angular momentum over exactly
// [Austin, Krishnaprasad, Wang 1993]; its centre of mass moves by h (P + P⁺)/(2 m), along its parabola. What is free therefore keeps
// momentum and energy to rounding at any step, and a robot on a fixed base its energy. s = O(h²); the energy error it corrects is O(w_j).
// b̄ is that of v⁺: a fixed point, sought by Newton's method with M for the derivative (a pass gains a factor of h |ω|) while the impulses
// of contacts and rows but those of loops are held; then all are solved for again, kSolves times at most. Where the passes do not converge
// the step is halved: h |ω| of joints has to be below one or so; a free body's rotation has its solution from free_motion.hpp at any spin.
// Gaps and limits are those of half a step ahead at v, as in moreau_midpoint: φ_M + h N v⁺ >= 0. So are N, S and T, in the axes of the
// world, about each tree's centre of mass: what an impact stops is h/4 |v⁺ - v| farther back at q_m, and a point that stayed where it was
// would be many radii of a small ball beside it, where its spin could meet the law while the ball goes on. Moments of contacts between free
// trees still cancel: each is h/4 ΔP/m farther at q_m, and its arms are shorter by the part of that which is of neither contacts nor
// weight. Springs and damping of joints act at (q_m, w). Dry friction of a joint is that of v⁺, unless the joint turns back within the step
// by so much that its work λ·w would be positive: then it acts beyond v⁺ = -v alone, as friction against w would. Impacts, and friction
// whose direction turns within a step, are of first order. Closed loops, rows J of error e, asked for the speed b(q) (equality_rows.hpp):
// trees that they join are balanced as one,
//   e(q⁺) = e(q) + (h/2) (J(q) v + b)    by the speeds J(q_m) w that e(q⁺) calls for, by least squares: rows may repeat
//   Δ(T + V) leaves out λ·(J(q_m) w - (J(q) v + b)/2)     so that, closed at both ends, their forces do no work [Gonzalez 1999]
//   J(q⁺) v⁺ = b     by M⁻¹ Jᵀ at q⁺, the energy that this takes given back along v⁺ - ξ
// Targets are in the range of J(q_m), whose rows differ from those of q by O(h).
// Cost: M and bias at q_m and at q⁺ in every pass, some five per solve.
#pragma once

#include <cstdint>
#include <vector>

#include "stiction/base/null_space.hpp"
#include "stiction/forward/kinematic_trees.hpp"
#include "stiction/forward/position_shift.hpp"
#include "stiction/forward/scheme.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction {

class EnergyMomentum {
 public:
  static constexpr int kSolves = 8;  ///< smooth motion settles in two or three; of an impact each leaves a quarter or so

  explicit EnergyMomentum(const World& world);

  /// Reads the start of a step; `at`: the midpoint that its velocity leads to, of the first problem. loop_recovery: that of
  /// AssembleOptions.
  void start(const World& world, double h, double loop_recovery, const PhasePoint& from, PhasePoint& at);
  /// The rows of a problem assembled at the midpoint as the scheme has them: of contacts, of joints whose friction turns back, of loops.
  void pose(ContactProblem& problem);
  enum class Progress { settled, moved, diverged };
  /// From the solution of `problem`, posed at (at, data), to b̄ at its velocity, and on to the fixed point at its impulses. settled: the
  /// problem has this b̄ already, to `tolerance` of its momenta. moved: `at` and `data` are those of the new midpoint, where the problem is
  /// to be assembled again and given its impulse by `set_impulse`. last: no solve but one is left, and what has not settled by then to
  /// kUnsettled has diverged.
  Progress advance(const World& world, const PhasePoint& from, const Eigen::Ref<const Eigen::VectorXd>& tau, const ContactProblem& problem,
                   const Solution& solution, double tolerance, bool last, PhasePoint& at, WorldData& data);
  /// The known impulse with which the impulses held lead to the fixed point.
  void set_impulse(ContactProblem& problem);
  /// The end of the step. step: with its answer, and shift (nv): δ, where h δ is the shift of positions, in the axes of `at`;
  /// scratch afterwards.
  double finish(const World& world, double h, const PhasePoint& from, const PhasePoint& at, const SolvedStep& step, GrowVector& shift,
                PhasePoint& end);

 private:
  /// Of the energy: joints that carry less cannot make up for what friction, or the closing of loops, takes from the whole.
  static constexpr double kResting = 1e-6;

  struct Tree : KinematicTree {
    bool floats = false;  ///< its root is a free joint, with armature or without: free, it is without
    double mass = 0.0;
    Eigen::Vector3d aside;                ///< h/4 of the velocity that pushes and loops give it, world axes (m): see above
    Eigen::Vector3d momentum, spin, com;  ///< of a free tree before the step: P, K, centre of mass; world axes
    double kinetic = 0.0;                 ///< before the step (J)
    double rise = 0.0;                    ///< of the potential energy over the step (J)
    /// Centre of mass in the axes of a root that is a free joint, whatever armature and damping add to M.
    Eigen::Vector3d center(const BlockDiagonal& M) const;
  };
  /// Trees that loops join; most trees are alone.
  struct Group {
    std::vector<int> trees;
    bool is_held = false;    ///< by the world: nothing is carried over
    bool is_open = false;    ///< a loop of it, before the step
    double loop_work = 0.0;  ///< λ·(J(q) v + b)/2 of its loops (J)
  };
  /// Of a free tree at v⁺: momenta, and the origin of its root after half of the step and after all of it.
  struct Flight {
    Eigen::Vector3d linear, spin, way, place, half_way;
  };

  void find_groups(const World& world);
  void keep_contacts(ContactProblem& problem);
  void turn_impulses(const BlockDiagonal& M, const Eigen::VectorXd& q, bool to_world, Eigen::VectorXd& impulses) const;
  bool find_turned(const ContactProblem& problem, const Solution& solution, double tolerance);
  void turn_friction(ContactProblem& problem) const;
  void close_loops(ContactProblem& problem);
  Flight flight(double h, const WorldData& data, const Tree& tree) const;
  void follow(const World& world, double h, const PhasePoint& from);
  void place_free_roots(double h, const WorldData& data);
  void balance(const World& world, double h, const WorldData& data, Tree& tree);
  void conserve_energy(const World& world, double h, const WorldData& data, const Group& group);
  void measure(int block);
  void measure_impulses(const World& world, const Eigen::Ref<const Eigen::VectorXd>& tau, const ContactProblem& problem,
                        const Solution& solution, const PhasePoint& at, const WorldData& data);
  double correct(const ContactProblem& problem);
  void inner_motion(const Group& group, const WorldData& data, const PhasePoint& x, Eigen::VectorXd& out) const;
  double kinetic(const Group& group, const WorldData& data, const Eigen::VectorXd& v) const;
  double magnitude(const World& world, const Group& group) const;

  void start_loops(const World& world, double h, double recovery, const PhasePoint& from);
  void read_loops(const World& world, double recovery, const WorldData& data, const PhasePoint& x);
  void factor(const BlockDiagonal& M);
  void take_rows(ContactProblem& problem, int first) const;
  void span_loops(const BlockRows& J, int first);
  void least_change(const GrowVector& speeds, Eigen::VectorXd& v);
  void unwhiten(Eigen::VectorXd& x) const;
  void hold_loops(const World& world, double h, WorldData& data);
  void measure_loops(const World& world, double h);
  void close_step();
  void close_speeds(const World& world, PhasePoint& x);
  void settle_speeds(const World& world);

  std::vector<Tree> trees_;
  std::vector<Group> groups_;
  std::vector<int> group_of_row_;  ///< per equality row
  WorldData start_, end_;
  PositionShift shift_;
  PhasePoint middle_, last_;  ///< (q_m, w), before the first solution q_M; (q⁺, v⁺)
  Eigen::VectorXd origin_;    ///< nv, v with the linear velocities of free roots in the axes of the world
  Eigen::VectorXd forward_;   ///< nv, v⁺ in the same
  Eigen::VectorXd change_;    ///< nv, v⁺ - v in the axes of the midpoint
  Eigen::VectorXd rows_;      ///< nv, M (v⁺ - v) + h b̄, less what joint damping does
  Eigen::VectorXd given_;     ///< nv, Jᵀλ, on free roots in the axes of the world about the trees' centres of mass
  Eigen::VectorXd held_;      ///< nv, the same at q_m in its axes
  Eigen::VectorXd scratch_;   ///< nv
  Eigen::VectorXd scale_;     ///< per block, twice the energies of its motion before and of every impulse by itself (J)
  BlockDiagonal factors_;
  ContactProblem loops_;         ///< the equality rows alone, at the start or the end
  NullSpace span_;               ///< of J L⁻ᵀ, M = L Lᵀ
  bool known_ = false;           ///< `middle_` and `miss_` are those of a solution of this step
  GrowVector recovery_, asked_;  ///< per equality row: b, J(q) v + b
  GrowVector wanted_, miss_;     ///< per equality row: e(q⁺) that is asked for, 2/h of what e(q⁺) has more
  GrowVector lambda_;            ///< per equality row, impulse
  GrowVector speeds_, right_;    ///< per equality row
  Eigen::VectorXd held_loops_;   ///< nv, Jᵀλ of the equality rows
  Eigen::VectorXd pull_;         ///< nv
  BlockRows contacts_;  ///< rows of contacts at q_M, columns of free roots in the axes of the world about the trees' centres of mass
  std::vector<std::uint64_t> turned_;  ///< names of the rows of joints whose friction acts beyond v⁺ = -v
};

}  // namespace stiction
