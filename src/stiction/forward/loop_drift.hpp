// Returns of loops that are open and of joints beyond their limits, where velocities are not to carry them: in positions alone then, as
// overlap is undone. Sets are robots that loops join.
//
// Loops are at their drift's rate b at the end of a step (assemble/equality_rows.hpp), which the motion v_d of least kinetic energy T_d
// would do. Beside a singular configuration, as a linkage's dead centre, second-order drift asks for first-order motion through rows that
// all but vanish. The energy there is what v_d takes, less that of the motion v_r which the same rows had before, and which they end:
//   thrown    T_d > 5/4 (T_r + T_1),   T_1 what the whole set would carry as one body at kClosing, where a loop was open before
// T_r has J v_r = 0 for what was open before: its motion is what closing gave it, and a quarter more in every step has no bound where an
// anchor is out of reach.
// Smooth motion has T_d = T_r up to a step's order, what starts open T_d <= T_1 unless levers speed it up.
// Contacts that hold what v_d moves turn it into another motion at the same rates, and give the world for it
//   D = -v_d·r - |v⁺ - v_free|²_M / 2,   r the impulses of contacts and bounded rows (nv), v_free the motion without them        (J)
// beside the work that they do at their own velocities, less what they take of the motion before. Where contacts without slip and loops
// contradict each other but for σ of the rows' lengths, D is T_d/σ²: of drifts of 5 mm/s and σ = 3e-5 hundreds of joules. Such a step is
// solved at rates of zero, and v_d moves positions and no velocities, as undoing overlap does: contacts give way by no more than drift.
// It moves a set no faster than it moves already, or than as one at kClosing.
// What drives ask is no drift: it stays with velocities, however strong the drives are, and where they contradict a loop no step is found.
// Rows of which the others of a set leave a hair hold nothing: hinges of a planar linkage that have drifted out of its plane, or whose
// axes a file gives by a few digits, would lock it, and what closes the others closes them. A hair is a ten-thousandth of the longest row
// of the same point or the same turn.
// A joint of a set returns from beyond its limit in position alone, by what v⁺ with its return is beyond v⁺ without; where that carries
// more than twice what such joints do at kClosing, all beyond held to them, or less than a hundred T_d of a loop that is thrown, the loop
// contradicts it, and it yields.
#pragma once

#include <vector>

#include "stiction/model/dynamics.hpp"
#include "stiction/problem/reduced.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction {

/// A row that asks a joint to return from beyond its limit: the one that holds it has no upper bound.
bool is_return(const ContactProblem& problem, int row);

class LoopDrift {
 public:
  /// A step begins: all rates are asked for.
  void start();
  /// Leaves out the rows of loops of which other rows of loops leave a hair, and in a step that is not `solved` those of which they leave
  /// less than rounding: the step is to be solved again. False: there are none beyond those that are left out.
  bool leave_repeated(const World& world, const ContactProblem& problem, const Reduction& reduction, bool solved);
  /// True where the solution has D above a hundred T_d, the most that planted feet and the robot that they carry call for, and above
  /// `notable` of the kinetic energy at v⁺. `reduction` is that of the problem.
  bool is_magnified(const ContactProblem& problem, const Solution& solution, Reduction& reduction, double notable = 0.0);
  /// Takes v_d of the sets that are thrown, or of all loops: the step is to be solved again. False: no rates were left to take. `data` is
  /// that of the problem.
  bool withhold_thrown(const World& world, const WorldData& data, const ContactProblem& problem, Reduction& reduction);
  bool withhold(const ContactProblem& problem, Reduction& reduction);
  /// The step is to be solved without the returns of joints in sets. False: there are none. M: that of the world.
  bool withhold_returns(const BlockDiagonal& M, const ContactProblem& problem, const Solution& solution, const Reduction& reduction);
  /// Takes what the returns that were withheld added to v_plus.
  void take_returns(const BlockDiagonal& M, const GrowVector& v_plus);
  /// Rates of what is withheld are zero in the problem, and rows that are left out have no entries other than zero.
  void apply(ContactProblem& problem) const;
  /// Something was withheld.
  bool moves() const { return motion_.size() > 0; }
  /// Adds what was withheld to the velocities (nv) that move positions.
  void add(GrowVector& velocity) const;

 private:
  // v_d
  void least_motion_of(const ContactProblem& problem, Reduction& reduction, GrowVector& motion);
  void read_sets(const ContactProblem& problem, const Reduction& reduction);
  const Reduction& reduction_of_loops(const ContactProblem& problem, const Reduction& reduction);
  double energy_of(int set, const BlockDiagonal& M, const GrowVector& v) const;
  double as_one(int set, const World& world, const WorldData& data, const ContactProblem& problem) const;

  GrowVector motion_;            ///< nv, or empty
  std::vector<char> withheld_;   ///< per row of loops, which are the problem's last, or empty
  std::vector<char> repeated_;   ///< per row of loops: left out; or empty
  GrowVector length_, left_;     ///< per row of loops, whitened, and what the others leave of it
  bool returns_ = false;         ///< those of joints are withheld
  std::vector<int> set_of_;      ///< per block of M: what loops join it with, -1 where none do
  std::vector<char> has_loop_;   ///< per set of blocks that bilateral rows join
  int first_row_ = 0;            ///< of loops
  std::vector<double> closing_;  ///< J per set, T_d where it is thrown, or empty
  std::vector<double> allowed_;  ///< J per set, of what returns add
  GrowVector with_returns_;      ///< nv
  ContactProblem loops_;         ///< the loops' rows without those of drives
  Reduction alone_;
  GrowVector asked_, before_, rates_, momentum_, change_, change_momentum_;
};

}  // namespace stiction
