// Desired joint velocities that contacts or rows refuse, replaced by the nearest that some motion can follow [ZD15, Eqs. 40-43].
//
//   minimise |v_d' - v_des|²  over the velocities of all coordinates, v_d' of the driven ones, subject to what each contact's law demands
//   of velocities (no slip, u + c e_N ∈ K*, or no penetration: `recession`; nothing where it gives way) and to bilateral and one-sided rows
// For the disc K is a polygon of 64 edges about one that is larger by m = 1e-3. On the curved boundary of K* itself what can be followed
// touches K* at one motion, where no impulses need exist; inside by m they are of the order 1/√m of what they are elsewhere, and the
// request is off the nearest by one to two thousandths of the slip. Faces of polygons need no such margin, and have a finite method. The
// coordinates that are not driven cost nothing. Each problem solved here is a step by Gauss's principle whose inertia is 1 on the driven
// coordinates and w a_j² on another, from the velocity that the last one reached (proximal point [Rockafellar 1976]): its minimiser is the
// fixed point whatever the weights are, and the distance shrinks by w / (w + σ²) a time, σ the least singular value that matters of the
// rows' free columns in the scale of a_j.
//   a_j  length of the column of coordinate j over the rows, these scaled to length 1: a lever of a millimetre counts as one of a metre
//   w    1e-2 at first, a tenth of it in each further problem, 1e-6 at the least, where the rows' digits are those of a thousandth
// Tangents without slip may come as other rows that say the same (`HeldRows`): those that nearly depend on each other would need a base
// that moves a thousand times as fast as its feet, and more programs than there are.
// Ends when the driven velocities stay within 1e-12 of the speeds: about five problems where σ is about 1. Finite bounds of rows limit
// forces and forbid no motion: a row demands what its infinite ones do, and nothing where it has none.
#pragma once

#include <span>
#include <vector>

#include "stiction/inverse/nearest_no_slip.hpp"
#include "stiction/laws/solve.hpp"

namespace stiction {

struct NearestConsistentWorkspace {
  SolveWorkspace solve;
  BlockDiagonal M;
  GrowVector v, impulse, reached, columns;
  ProblemRows rows;  ///< no coordinate prescribed, none that gives way
  LawTerms demands;
};

/// `held`: rows in place of no slip, and of nothing else, where it has any. `law`: of this problem, whatever its joints; its options say
/// how hard the programs are tried. Writes the velocities, one per joint. False where a problem was not solved: rows contradict each other
/// without any joint. No allocation once the sizes have been seen.
bool nearest_consistent(const ProblemView& problem, const LawTerms& law, const HeldRows& held, std::span<const int> joints,
                        const Eigen::Ref<const Eigen::VectorXd>& v_desired, SolveOptions options, NearestConsistentWorkspace& workspace,
                        GrowVector& nearest);

}  // namespace stiction
