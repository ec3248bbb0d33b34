// One contact problem, any law, any solver, one certificate:
//
//   parts (islands.hpp) -> reduce -> lower -> standard form -> the program of the law's family, by its solver -> impulses of the contacts
//   -> complete, certify
// The status is `solved` only when the certificate's worst scaled residual is within options.tolerance; otherwise it is what the
// solver said, or `inaccurate`. The returned point is finite always: a solver that fails returns zero impulses and says so.
//
//   family         solver automatic                                               its fall-back (counted in Solution::fallbacks)
//   associated     few free velocities: goldfarb_idnani on half lines and half    the dense method, where the block-sparse one fails;
//                  spaces, active_set on polygons or with bounded rows; many:     over the disc the polish of the point found
//                  interior_point; contacts that give way and discs: newton
//   coulomb        interior_point                                                 Lemke's path (discs: on polygons, as a start);
//                                                                                 μ = ∞: none
//   energy         active_set, of many free velocities interior_point             the other one
//   constitutive   newton                                                         none
#pragma once

#include "stiction/laws/box_rows.hpp"
#include "stiction/laws/choice.hpp"
#include "stiction/laws/compliant.hpp"
#include "stiction/laws/convex.hpp"
#include "stiction/laws/infeasibility.hpp"
#include "stiction/laws/interior.hpp"
#include "stiction/laws/islands.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/laws/lowering.hpp"
#include "stiction/laws/max_dissipation.hpp"
#include "stiction/laws/prox_law.hpp"
#include "stiction/laws/pyramid_lcp.hpp"
#include "stiction/laws/soft_cones.hpp"
#include "stiction/laws/viscous.hpp"
#include "stiction/laws/warm_start.hpp"
#include "stiction/problem/contact_weights.hpp"
#include "stiction/problem/reduced.hpp"
#include "stiction/problem/solution.hpp"
#include "stiction/problem/standard_form.hpp"

namespace stiction {

/// Memory of `solve`, reused between calls: no heap allocation once every size has been seen. Not to be shared between threads.
struct SolveWorkspace {
  Reduction reduction;
  LawTerms terms;     ///< of the problem being solved
  StandardForm form;  ///< of the same
  Impulses impulses;  ///< of the contacts of the problem
  Impulses cone;      ///< of those in standard form, in its coordinates
  Impulses fallback, first, uncorrected;
  ContactWeightsScratch weights;
  GrowVector solved_impulses;
  GrowVector found, found_rows;  ///< impulses before the choice (3n, m), where one was asked for: the next solve starts from them, inside
                                 ///< the cones on whose edges the shortest may lie; empty: the answer's
  ConvexWorkspace convex;
  MaxDissipationWorkspace max_dissipation;
  PyramidLcpWorkspace pyramid;
  ViscousWorkspace viscous;
  ReducedProblem without_defect;
  InfeasibilityWorkspace infeasibility;
  BoxRowsWorkspace box_rows;
  SoftConesWorkspace soft;
  ChoiceWorkspace choice;
  ProxLawWorkspace prox;
  CompliantWorkspace compliant;
  InteriorWorkspace interior;
  CertificateWorkspace certificate;
  Certificate compared;
  WarmStart start;
  std::vector<std::uint64_t> listed, listed_rows;  ///< names of the contacts and rows that the programs' own memory is about, in its order
  Islands islands;
  std::vector<SolveWorkspace> workers;  ///< of the parts
  bool reduced_whole = true;            ///< `reduction` and `impulses` are the last problem's, which was solved as one
};

/// Throws InvalidArgument on an option that is out of range or does not fit the law, as every `solve` does.
void validate(const SolveOptions& options);
/// The same for a problem whose contacts name these laws, or none; options.law counts in the latter case alone.
void validate(const SolveOptions& options, const std::vector<Law>& laws);

/// Impulses of the law on a reduced problem; status as the solver reports it, uncertified. Leaves terms and standard form in the workspace.
void solve_reduced(const ReducedProblem& problem, const SolveOptions& options, SolveWorkspace& workspace, Impulses& impulses);

/// The solver that `solver` names, or the one that `automatic` stands for on this problem.
Solver choose_solver(const StandardForm& form, Solver solver);
/// The same for a problem and a law.
Solver choose_solver(const ReducedProblem& problem, const SolveOptions& options);

/// Solves a valid problem (see `validate`); throws InvalidArgument on an option that does not fit the law.
void solve(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& workspace, Solution& solution);

/// The problem that the workspace solved last, not by its parts, by the same options at other prescribed velocities: what depends on its
/// rows alone is kept.
void solve_again(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& workspace, Solution& solution);

/// The same for a problem known only by its contacts, u = W λ + q: `v` and `prescribed_impulses` stay empty.
void solve(const ReducedProblem& problem, const SolveOptions& options, SolveWorkspace& workspace, Solution& solution);

/// Brings reduction, impulses, terms and form of the workspace to those of the whole problem, where `solve` went by its parts; terms and
/// form only where one program takes all its laws.
void reduce_whole(const ProblemView& problem, const SolveOptions& options, const Solution& solution, SolveWorkspace& workspace);

/// The next solve, of contacts with these names, starts from these impulses (3n; N s), and Choice::closest_to_last stays close to them.
void start_from(std::span<const std::uint64_t> ids, const GrowVector& impulses, SolveWorkspace& workspace);

/// What programs remember in the order of the contacts is no longer true. Impulses by name stay.
void forget_positions(SolveWorkspace& workspace);

/// Velocities, bilateral impulses, certificate and status from `workspace.impulses`; reduction, terms and form of the workspace are the
/// problem's.
void complete(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& workspace, Solution& solution);
/// The same for a problem known only by its contacts.
void complete(const ReducedProblem& problem, const SolveOptions& options, SolveWorkspace& workspace, Solution& solution);

/// Whether no program can be asked: an inertia that rounding left without a factor, or a value that overflowed, is in the reduction or the
/// form. Then `solution` is zero impulses under `numerical_error`.
bool gives_up(const ProblemView& problem, const SolveWorkspace& workspace, Solution& solution);
bool gives_up(const ReducedProblem& problem, const SolveWorkspace& workspace, Solution& solution);

/// The same with validation and its own workspace.
Solution solve(const ProblemView& problem, const SolveOptions& options = {});
Solution solve(const ReducedProblem& problem, const SolveOptions& options = {});

}  // namespace stiction
