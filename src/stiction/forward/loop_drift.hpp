// Drift of loops that contacts nearly refuse to undo, undone in position alone.
//
// Loops are at their drift's rate b at the end of a step (assemble/equality_rows.hpp), which the motion v_d of least kinetic energy T_d
// would do. Contacts that hold what v_d moves turn it into another motion at the same rates, and give the world for it
//   D = -v_d·r - |v⁺ - v_free|²_M / 2,   r the impulses of contacts and bounded rows (nv), v_free the motion without them        (J)
// beside the work that they do at their own velocities, less what they take of the motion before. Where contacts without slip and loops
// contradict each other but for σ of the rows' lengths, D is T_d/σ²: of drifts of 5 mm/s and σ = 3e-5 hundreds of joules. Such a step is
// solved at rates of zero, and v_d moves positions and no velocities, as undoing overlap does: contacts give way by no more than drift.
#pragma once

#include "stiction/problem/reduced.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction {

class LoopDrift {
 public:
  /// A step begins: its loops are solved at the rates of their drift.
  void start() { motion_.resize(0); }
  /// True where the solution has D above a hundred T_d, the most that planted feet and the robot that they carry call for, and above
  /// `notable` of the kinetic energy at v⁺. `reduction` is that of the problem.
  bool is_magnified(const ContactProblem& problem, const Solution& solution, Reduction& reduction, double notable = 0.0);
  /// Takes v_d of the problem: the step is to be solved at rates of zero.
  void withhold(const ContactProblem& problem, Reduction& reduction) { least_motion_of(problem, reduction, motion_); }
  /// Adds what was withheld to the velocities (nv) that move positions.
  void add(GrowVector& velocity) const;

 private:
  // v_d
  void least_motion_of(const ContactProblem& problem, Reduction& reduction, GrowVector& motion);

  GrowVector motion_;  ///< nv, or empty
  GrowVector asked_, rates_, momentum_, change_, change_momentum_;
};

}  // namespace stiction
