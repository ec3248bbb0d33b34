// Programs of the families coulomb and associated by the interior point of programs/cone, over the disc or a polygon:
//
//   K ∋ λ ⊥ u + c e_N (+ De Saxcé) ∈ K*       half lines as cones with μ = 0; half spaces of the family associated as a half line and two
//                                             bilateral rows u_T = 0; compliance as columns (problem/standard_form.hpp, `widen`)
// A half space as the cone of a huge μ would do as well, but steps of the interior point are short near such a wide cone: on walls of 256
// bricks it needs a hundred times the iterations. A contact that nothing in the problem can move (a driven arm's link on the ground) bears
// nothing: its impulse changes no velocity, is whatever the law allows at a velocity that is given, and grows without bound along the
// central path. Redundant tangential rows are no trouble: the solver takes bilateral rows by proximal steps. Cost: that of the solver,
// block-sparse over the bodies; 10 to 25 linear systems for programs without friction cones.
#pragma once

#include <vector>

#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/contact_subset.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/cone/workspace.hpp"

namespace stiction {

struct InteriorWorkspace {
  ReducedProblem problem;     ///< widened and with the rows of half spaces, where the standard form is not rigid and without them
  ContactSubset movable;      ///< of it, where others cannot be moved
  GrowVector squares;         ///< of its contacts' rows
  std::vector<int> sizes;     ///< of its blocks of columns
  std::vector<int> sticking;  ///< half spaces whose tangential rows are among its bounded rows
  ConeWorkspace cone;
  ConeSolution solution;
  std::vector<ConeRecord>* log = nullptr;  ///< the iterations are appended
};

/// Families coulomb and associated.
void solve_by_interior_point(const StandardForm& form, const SolverOptions& options, InteriorWorkspace& workspace, Impulses& impulses);

/// Coulomb's law over the disc from a point whose active set of stick and slip is right or nearly so. `impulses` change when that is solved
/// (true).
bool polish_disc(const ReducedProblem& problem, const Impulses& start, int max_factorizations, InteriorWorkspace& workspace,
                 Impulses& impulses);

/// True when `polish_convex` has something to try: the family associated over the disc.
bool can_polish_convex(const StandardForm& form);
/// Last digits of a convex program over the disc, where Newton on its primal ends in the rounding that compliance close to zero brings:
/// from the point found, with compliance as columns, so nothing is divided by it. Replaces `impulses`; the certificate decides which is
/// better.
void polish_convex(const StandardForm& form, int max_factorizations, InteriorWorkspace& workspace, Impulses& impulses);

}  // namespace stiction
