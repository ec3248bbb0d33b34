// Proof that a request has no answer: no motion v meets the law's conditions on velocities together with the rows.
//
//   u_N + c >= 0,  no_slip: u_T = 0 on closed contacts,  anitescu: u + c e_N ∈ K*;   J_b v = b or one-sided;   v_P = v_prescribed
// is a system of linear inequalities; by Farkas' lemma it has no solution exactly when there are multipliers
//   ν_i in the law's cone of impulses (e_N for laws with Coulomb or viscous friction: their friction never refuses a motion),
//   β_j of the sign of an infinite bound, any on bilateral rows, π any,    Jᵀν + J_bᵀβ + E_Pᵀπ = 0,
//   ν_N·c - β·b - π·v_prescribed < 0                                        = work of (ν, β, π) at every v
// moreau asks the same of its closed contacts with c = ε_N u_N⁻ (problem/newton_impact.hpp), todorov what anitescu asks, of contacts
// without regularization. Contacts that give way (those of todorov with regularization, of sap and of the compliant laws) ask nothing of
// a motion: their steps have a solution unless the rows contradict themselves, and ν = 0.
// max_dissipation is a program that may also have no least value: c of its bounded rows (max_dissipation.hpp) falls without end along a ray
// in the pyramids of closed contacts. Its optimality is a demand on velocities too, on those of g + y_free, which has no offset:
//   J ṽ ∈ dual pyramid,  J_b (ṽ + v_0) - b >= 0 (<= 0)  with ṽ = 0 on the bilateral and prescribed rows, v_0 the motion of least energy on
//   them; ν in the pyramids, Jᵀν + J_bᵀβ + E_Pᵀπ = 0 as above,  β·(J_b v_0 - b) < 0
// A problem known only by its contacts: R_tᵀν + B_tᵀβ = 0 and ν·(u_free + c e_N) + β·w_free < 0, or β·(w_free - B_t y_free) < 0.
// Demands on velocities are all that is refuted: complementarity is left out. A request that some motion meets may still have no solution
// under Coulomb's law when joints are driven against a jam; nothing is proved then.
// Found as the direction in which the dual, min |Aᵀx|²/2 + cᵀx over the law's generators, falls without end [bounded_qp.hpp]. For the
// Stewart-Trinkle LCP this is what a proving ray of Lemke's path is too: its rows of slip speeds force the tangential part to zero.
#pragma once

#include "stiction/laws/generators.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/solution.hpp"
#include "stiction/programs/qp/bounded_qp.hpp"

namespace stiction {

struct InfeasibilityWorkspace {
  Generators generators;
  BoundedQpWorkspace qp;
  BoundedQpSolution solution;
  ContactProblem still;
  Reduction still_reduction;
  GrowVector beta, offset, angle, left;
  std::vector<char> closed;
};

/// Which contacts are closed (n flags), and the offsets c of their normals (n, m/s), as the law's demands have them.
void read_contacts(const ContactProblem& problem, const SolveOptions& options, std::vector<char>& closed, GrowVector& offset);

/// Looks for a proof, in bounded work; at once false where no offset, bounded row or prescribed velocity asks for motion. `reduction` is
/// the problem's. True when `ray` proves that the law has no solution, false when none was found; `ray` is then empty.
bool find_infeasibility(const ContactProblem& problem, Reduction& reduction, const SolveOptions& options, InfeasibilityWorkspace& workspace,
                        InfeasibilityRay& ray);

/// The same for a problem known only by its contacts. Never for one whose W has a defect: what that adds to u is not in the proof.
bool find_infeasibility(const ReducedProblem& problem, const SolveOptions& options, InfeasibilityWorkspace& workspace,
                        InfeasibilityRay& ray);

/// Checks a proof from the problem and the ray alone: membership in the cones exactly, what is left of the momentum so small that only
/// velocities a million times larger than the problem's could make up for the work. Throws InvalidArgument on sizes.
bool proves_infeasible(const ContactProblem& problem, const SolveOptions& options, const InfeasibilityRay& ray,
                       InfeasibilityWorkspace& workspace);
/// The same for a problem known only by its contacts; the ray has no prescribed impulses.
bool proves_infeasible(const ReducedProblem& problem, const SolveOptions& options, const InfeasibilityRay& ray,
                       InfeasibilityWorkspace& workspace);
/// The same with their own workspace.
bool proves_infeasible(const ContactProblem& problem, const SolveOptions& options, const InfeasibilityRay& ray);
bool proves_infeasible(const ReducedProblem& problem, const SolveOptions& options, const InfeasibilityRay& ray);

}  // namespace stiction
