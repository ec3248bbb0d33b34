// Normal-cone inclusions, the programs of jor and sor, and Moreau's law with Newton impacts [G14, Eqs. 5-15]:
//
//   ξ_N = u_N⁺ + ε_N u_N⁻,  ξ_T = u_T⁺ + ε_T u_T⁻          closed contacts (problem/newton_impact.hpp); the others bear nothing
//   0 <= λ_N ⊥ ξ_N >= 0,  λ_T in the disc of radius μ λ_N, most dissipative at the slip ξ_T
// The shift ε u⁻ enters the velocities without impulses, after which the program is Coulomb's: the same solvers serve. What differs from
// coulomb_cone: ε_N acts at every closed contact, whatever its approach speed and even when it separates, so simultaneous impacts are
// Newton's (a cradle gives -1/3, 2/3, 2/3); ε_T reverses slip; an open gap does not push back before it is closed.
// Solvers: interior_point (exact cone), jor and sor (iterated to the certificate's tolerance). Cost: those of the solvers.
#pragma once

#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/contact_subset.hpp"
#include "stiction/programs/cone/cone.hpp"
#include "stiction/programs/prox/prox.hpp"

namespace stiction {

struct ProxLawWorkspace {
  ProxWorkspace prox;
  ProxSolution solution;
};

struct MoreauWorkspace {
  ContactSubset closed;  ///< the closed contacts alone, shifted
  Impulses impulses;
};

/// Laws frictionless, coulomb_pyramid and coulomb_cone by options.solver jor or sor.
void solve_by_prox(const ReducedProblem& problem, const SolveOptions& options, ProxLawWorkspace& workspace, Impulses& impulses);

/// The closed contacts of a problem with ε u⁻ added to their velocities and no gap offset.
void make_moreau_problem(const ReducedProblem& problem, MoreauWorkspace& workspace);

/// Impulses of all contacts from those of the closed ones in `workspace.impulses`.
void expand_moreau(const ReducedProblem& problem, const MoreauWorkspace& workspace, Impulses& impulses);

}  // namespace stiction
