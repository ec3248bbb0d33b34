// The laws that the interior point of programs/cone solves: Coulomb's over the disc or a polygon, and the convex ones as its relaxed form
//
//   K ∋ λ ⊥ u + c e_N ∈ K*       anitescu: disc or polygon, μ = 0 on open contacts;  frictionless: μ = 0, the half line;  no_slip: the half
//                                space on closed contacts, as a half line and two bilateral rows u_T = 0
// A half space as the cone of a huge μ would do as well, but steps of the interior point are short near such a wide cone: on walls of 256
// bricks it needs a hundred times the iterations. A contact that nothing in the problem can move (a driven arm's link on the ground) bears
// nothing: its impulse changes no velocity, is whatever the law allows at a velocity that is given, and grows without bound along the
// central path. Redundant tangential rows are no trouble: the solver takes bilateral rows by proximal steps. Cost: that of the solver,
// block-sparse over the bodies; 10 to 25 linear systems for the laws without friction cones.
#pragma once

#include <vector>

#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/contact_subset.hpp"
#include "stiction/problem/reduced.hpp"
#include "stiction/programs/cone/cone.hpp"

namespace stiction {

struct InteriorWorkspace {
  ReducedProblem problem;     ///< with the law's μ and rows, where they are not the problem's own
  ContactSubset movable;      ///< of it, where others cannot be moved
  std::vector<int> sticking;  ///< contacts of no_slip whose tangential rows are among its bounded rows
  ConeWorkspace cone;
  ConeSolution solution;
  std::vector<ConeRecord>* log = nullptr;  ///< the iterations are appended
};

/// law: frictionless, no_slip, coulomb_pyramid, coulomb_cone, moreau (its closed contacts, shifted) or anitescu.
void solve_by_interior_point(const ReducedProblem& problem, const SolveOptions& options, InteriorWorkspace& workspace, Impulses& impulses);

/// Coulomb's law over the disc from a point whose pattern of stick and slip is right or nearly so. `impulses` change when that is solved
/// (true).
bool polish_disc(const ReducedProblem& problem, const Impulses& start, InteriorWorkspace& workspace, Impulses& impulses);

}  // namespace stiction
