// Semi-implicit Euler and Moreau's midpoint evaluate M and C(q, v) v at one configuration, `at`, while v⁺ moves the posture on. What that
// gives to trees of joints by itself, momenta in flight and energy of joints that turn fast, is taken back within the step.
//
//   momenta of a tree in flight, f its weight and the torques on its root:   A(q⁺) v⁺ = A(q) v + h f
//   energy that the scheme adds, w = (v + v⁺)/2:                             e = T(q⁺, v⁺) - T(q, v) - (T_at(v⁺) - T_at(v)) - h w·C v + W
//
// Momenta miss by about h (Ȧ(v⁺) - Ȧ(v)) v⁺: chains with a light base at 50 rad/s by 0.1 m/s in a step of 1 ms, step after step, and energy
// with them, most of what it gains. So the root takes up the difference: the rigid motion of the whole tree at q⁺ by which the first
// equation holds; six equations, exact, and joints keep their velocities. The angular momentum keeps its length, and is turned as that of
// the tree with its joints locked would be, by the rule of free bodies, which keeps energy by a direction of first order. What contacts
// that bear, or loops, hold to something else is left alone, for their laws hold at v⁺; so is a root with drag or armature. A root of two
// slides and the hinge that follows them, square to both, flies as well, in its plane: three of the equations, about the hinge's axis; so
// long as nothing but torques acts on it, no limit either. The same root is moved by what the centre of mass of the tree misses of its way,
// h P⁺/m or, of the midpoint scheme, the mean of that and h P/m: weight would do work along what it drifts, a fold that runs through a
// chain of 1 m by 0.2 m in a quarter of a second.
//
// W is what limits of joints would give, Σ λ w > 0, where no contact bears: they can but take, unless forces turn joints back within the
// step.
// e, to which that motion counts, is zero for exact motion, for vᵀ(Ṁ - 2 C) v = 0; else it is of either sign and of the order of φ² T, φ
// the angle by which the root, if it is free, and the joints on the way to a leaf turn within the step, summed. A step with which the
// scheme would have given a tree more than a twentieth of T, all steps before counted, has its joints braked by an impulse along w_j, in
// the inertia that they feel, whose work is -e: inside a tree, so that it changes neither momentum nor angular momentum. Some more is taken
// back than the step gave, lest every step after it be solved again, as far as that is a small part of what the joints carry; what they
// carry too little to give back stays owed. What was given or lost in excess of a twentieth of what T is by now is forgotten: it went into
// heat, or stays lost; and of a tree at work, as much of it as its work takes of T in a step: where motors and contacts take twenty times
// what the scheme gives, no joint is braked. e is that of v⁺, so the step is solved again until the two agree, and halved where that leads
// nowhere or would turn the joints about. A tree that nothing bears and that has no motors at work is counted in every step, however slow:
// over a minute gains of 1e-5 double T. What of e is rounding of the work of weight and springs, which cancels in it, is no gain: joints
// held at rest, by dry friction say, have no other. Another one, from φ = kFast on: below, its steps are the scheme's to the bit.
#pragma once

#include <span>
#include <vector>

#include "stiction/drive/joint_drives.hpp"
#include "stiction/forward/kinematic_trees.hpp"
#include "stiction/forward/scheme.hpp"
#include "stiction/geometry/contact_point.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction {

class JointEnergy {
 public:
  explicit JointEnergy(const World& world);

  /// What the scheme has given so far is forgotten.
  void reset();
  /// A step begins: no joint is braked.
  void start();
  /// The step is taken: what the scheme gives with it counts. Returns what the brake took back (J).
  double keep();
  /// Whether a step of length h from v to v_plus (nv), a `share` of a whole one, has something to count or to take back: of trees on
  /// which neither contacts, by their impulses (3n), nor drives nor tau (nv) do work, and of those whose joints turn fast.
  bool is_due(const World& world, double h, double share, const Eigen::Ref<const Eigen::VectorXd>& v,
              const Eigen::Ref<const Eigen::VectorXd>& v_plus, const std::vector<ContactPoint>& contacts, const GrowVector& impulses,
              const Drives& drives, const Eigen::Ref<const Eigen::VectorXd>& tau);
  enum class Progress { settled, moved, diverged };
  /// The step is to be solved again for another reason: how far the last solve came says nothing about the next.
  Progress change_of_problem();
  /// Of that step from `from`, evaluated at `at`, where `data` is, to the solution of `problem`, by which bodies have V_plus, and `end`.
  /// moved: the impulse is another one, and the step is to be solved again. diverged: that leads nowhere.
  Progress advance(const World& world, double share, const PhasePoint& from, const PhasePoint& at, const WorldData& data,
                   const ContactProblem& problem, const Solution& solution, std::span<const Vector6d> V_plus,
                   const std::vector<ContactPoint>& contacts, const Eigen::Ref<const Eigen::VectorXd>& tau, const PhasePoint& end);
  /// The impulse, onto the known impulse (nv) of a problem.
  void add_impulse(GrowVector& impulse) const;
  /// Of the step that `advance` found settled: free roots at its end take up what momenta of trees in flight lack, and the ways of their
  /// centres of mass.
  void close_flights(PhasePoint& end) const;
  /// Writes or reads what the next step depends on (base/archive.hpp).
  template <class Archive>
  void carry(Archive& archive) {
    archive(given_);
  }

 private:
  struct Tree : KinematicTree {
    bool is_held = false;      ///< by loops to another tree or to the world, or by drag or armature of its own root
    bool is_due = false;       ///< the step counts
    bool is_idle = false;      ///< neither contacts nor motors do work on it
    bool is_braked = false;    ///< has an impulse
    bool drives_root = false;  ///< drives act on its root
    double gain = 0.0;         ///< J, by the scheme, less what the brake takes back
    double taken = 0.0;        ///< J, what the brake takes back
    double kept = 1.0;         ///< of what was given before, the share that contacts and motors leave
    int root = 0;              ///< coordinates of a root that may fly: 6 of a free joint, 3 of a planar one, else none
    Eigen::Matrix3d axes;      ///< of a planar one, in the world: columns dual to those of its slides, and that of its hinge
    Vector6d closing;          ///< `root` of them: what is added to the root's velocity at the end
    Eigen::Vector3d aside;     ///< and to its place: 3 of a free joint, world axes, or those of two slides (m)

    void leave() {
      gain = taken = 0.0;
      kept = 1.0;
      closing.setZero();
      aside.setZero();
    }
  };
  struct Work {
    double done, rounding;  ///< J
  };
  Work work(const World& world, double h, const Tree& tree, const PhasePoint& at, const WorldData& data, std::span<const Vector6d> V_plus,
            const Eigen::Ref<const Eigen::VectorXd>& tau) const;
  Work limit_work(const Tree& tree, const ContactProblem& problem, const Solution& solution) const;
  double close_flight(const World& world, double h, const WorldData& start, std::span<const Vector6d> V_start, const WorldData& at,
                      const Eigen::Ref<const Eigen::VectorXd>& tau, Tree& tree) const;

  std::vector<Tree> trees_;
  std::vector<double> given_;  ///< per tree, by the scheme in all steps so far (J)
  WorldData start_, end_;
  std::vector<Vector6d> V_start_, V_end_;     ///< per body
  Eigen::VectorXd impulse_, mean_, scratch_;  ///< nv
  std::vector<double> turns_;                 ///< per joint of a tree, φ from the root to it (rad)
  double last_ = 0.0;                         ///< largest share of a tree's energy that the solve before left beyond what a step may gain
};

}  // namespace stiction
