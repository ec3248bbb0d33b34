// Farkas vectors: proof that a request has no answer, for no motion v meets what the law asks of velocities together with the rows.
//
//   ũ = Tᵀ J v + c ∈ C*  of the contacts that bear,   J_b v = b or one-sided,   v_P = v_prescribed
// with C the recession of the law's terms (problem/contact_terms.hpp): the cone of the family associated, the half line of the others
// (their friction never refuses a motion), nothing of contacts that give way. By Farkas' lemma these linear inequalities have no solution
// exactly when there are multipliers
//   ν̂_i ∈ C_i,  β_j of the sign of an infinite bound, any on bilateral rows,  π any,    Jᵀν + J_bᵀβ + E_Pᵀπ = 0,
//   ν̂·c - β·b - π·v_prescribed < 0                                       = work of (ν, β, π) at every v
// The family energy is a program that may also have no least value: c of its bounded rows (max_dissipation.hpp) falls without end along a
// ray in its cones. Its optimality is a demand on velocities too, on those of g + y_free, which has no offset:
//   J ṽ ∈ dual cone,  J_b (ṽ + v_0) - b >= 0 (<= 0)  with ṽ = 0 on the bilateral and prescribed rows, v_0 the motion of least energy on
//   them; ν in the cones, Jᵀν + J_bᵀβ + E_Pᵀπ = 0 as above,  β·(J_b v_0 - b) < 0
// A problem known only by its contacts: R_tᵀν + B_tᵀβ = 0 and ν·u_free + ν̂·c + β·w_free < 0, or β·(w_free - B_t y_free) < 0.
// Demands on velocities are all that is refuted: complementarity is left out. A request that some motion meets may still have no solution
// under Coulomb's law when joints are driven against a jam; nothing is proved then.
// Found as the direction in which the dual, min |Aᵀx|²/2 + cᵀx over the law's generators, falls without end [kinetic_qp.hpp]. For the
// Stewart-Trinkle LCP this is what a proving ray of Lemke's path is too: its rows of slip speeds force the tangential part to zero.
#pragma once

#include "stiction/laws/generators.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/sections.hpp"
#include "stiction/problem/solution.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/qp/kinetic_qp.hpp"

namespace stiction {

struct InfeasibilityWorkspace {
  Generators generators;
  KineticQpWorkspace qp;
  KineticQpSolution solution;
  Reduction still_reduction;
  StandardForm form;  ///< of the recession
  LawTerms recession;
  GrowVector beta, left, cone, zero;
  SectionShape section;
};

/// True when ν = `impulses` (3n) of the contacts, completed by multipliers of the bilateral rows and prescribed coordinates, is a proof;
/// `ray` is then the whole of it, otherwise empty.
bool complete_proof(const ProblemView& problem, Reduction& reduction, const LawTerms& terms,
                    const Eigen::Ref<const Eigen::VectorXd>& impulses, InfeasibilityWorkspace& workspace, InfeasibilityRay& ray);
/// The same for a problem known only by its contacts.
bool complete_proof(const ReducedProblem& problem, const LawTerms& terms, const Eigen::Ref<const Eigen::VectorXd>& impulses,
                    InfeasibilityWorkspace& workspace, InfeasibilityRay& ray);

/// Looks for a proof, in bounded work; at once false where no offset, bounded row or prescribed velocity asks for motion. `reduction` is
/// the problem's. True when `ray` proves that the law has no solution, false when none was found; `ray` is then empty.
bool find_infeasibility(const ProblemView& problem, Reduction& reduction, const LawTerms& terms, InfeasibilityWorkspace& workspace,
                        InfeasibilityRay& ray);

/// The same for a problem known only by its contacts. Never for one whose W has a defect: what that adds to u is not in the proof.
bool find_infeasibility(const ReducedProblem& problem, const LawTerms& terms, InfeasibilityWorkspace& workspace, InfeasibilityRay& ray);

/// Checks a proof from the problem, its law and the ray alone: membership in the cones exactly, what is left of the momentum so small that
/// only velocities a million times larger than the problem's could make up for the work. Throws InvalidArgument on sizes.
bool proves_infeasible(const ProblemView& problem, const LawModel& law, const InfeasibilityRay& ray);
/// The same for a problem known only by its contacts; the ray has no prescribed impulses.
bool proves_infeasible(const ReducedProblem& problem, const LawModel& law, const InfeasibilityRay& ray);

}  // namespace stiction
