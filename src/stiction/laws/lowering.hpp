// A law is lowered once: what it asks of each contact, as terms (problem/contact_terms.hpp) that everything else reads.
//
// A law is one row of problem/laws.def and one function `lower_<name>` that fills the terms of one contact. Before it is called, the scheme
// has filled what depends on the gap: which contacts bear, the offset c, and whether the contact is closed.
//   stewart_trinkle   all bear, c = (φ/h or ε u_N⁻, 0, 0): `normal_offset`               closed: `find_closed`
//   anitescu_potra    contacts with φ <= kTouchGap bear, and what is left of their gap goes        closed: the same
//   gaps: midpoint    (moreau) contacts that touch half a step ahead bear, φ + h u_N⁻/2 <= kTouchGap, c = (ε_N u_N⁻, ε_T u_T⁻)   [G14, Eqs.
//   5-9]
// Contacts that name laws of their own (ContactProblem::laws) are lowered each by its own. Their families decide whether they go together:
//   associated with associated          one convex program, whatever the softness of each
//   coulomb, and with it whatever joins it: half lines and half spaces of the family associated, and compliant laws of linear springs and
//     dampers, which are Coulomb's with compliance: λ_N = (-c - u_N)/R_N, λ_T = -proj(u_T + c_T)/R_T
//   constitutive with constitutive
// Anything else has no one program and is refused.
#pragma once

#include "stiction/laws/law.hpp"
#include "stiction/problem/contact_terms.hpp"
#include "stiction/problem/reduced.hpp"

namespace stiction {

/// What a law may read of a contact.
struct ContactState {
  int index = 0;  ///< for error messages
  double mu = 0.0, gap = 0.0, dt = 1.0;
  bool closed = true;                                  ///< touches within the step, as the scheme has it
  Eigen::Vector3d offset = Eigen::Vector3d::Zero();    ///< c of the scheme (m/s)
  Eigen::Vector3d u_before = Eigen::Vector3d::Zero();  ///< J v (m/s), of laws that read velocity_before
  double weight = 0.0;                                 ///< trace(J_i M⁻¹ J_iᵀ)/3 (1/kg), of laws that read it
  const ContactMaterial* material = nullptr;
  Family family = Family::coulomb;  ///< of the whole problem: a mixture may lower a contact under another one than its law's own
  ViscousSlip viscous_slip = ViscousSlip::after;
};

enum class Section : char { none, disc, polygon, either };
enum class Joins : char { own, coulomb };
enum class ContactKind : char { rigid, soft };
enum class Gaps : char { given, midpoint };
enum class Reads : char { nothing, velocity_before, weight };

/// A row of the table laws.def.
struct LawRow {
  Family family;
  Joins joins;
  Section section;
  ContactKind contact;
  Gaps gaps;
  Reads reads;
  std::string_view needs;  ///< names of kMaterialFields, separated by spaces
  unsigned solvers;        ///< bits of Solver
  void (*lower)(const ContactState& contact, ContactTerms& terms);
};
const LawRow& row_of(Law law);

#define STICTION_LAW(name, ...) void lower_##name(const ContactState& contact, ContactTerms& terms);
#include "stiction/problem/laws.def"
#undef STICTION_LAW

/// True when some contact's law reads it: what `reduce` must fill in.
template <class Problem>
bool reads(const Problem& problem, const LawModel& model, Reads what) {
  bool found = row_of(model.law).reads == what;
  for (const Law law : problem.laws) found = found || row_of(law).reads == what;
  return found;
}

/// The law whose row stands for all contacts: the problem's one law, or of a mixture the solvers that all of them share.
struct LawMix {
  Family family = Family::coulomb;
  int edges = 0;
  unsigned solvers = 0;  ///< bits of Solver
};
/// False where they do not go together.
bool have_one_program(std::span<const Law> laws, const LawModel& model);
/// Throws InvalidArgument naming the two laws that do not go together.
LawMix mix(std::span<const Law> laws, const LawModel& model);
bool can_solve(const LawMix& mix, Solver solver);

/// The terms of every contact; no allocation once the sizes have been seen. Throws InvalidArgument naming the contact and the parameter
/// that the law needs, and on mixtures that have no program. Polygons are turned by the problem's `edge_angle` when it has any.
void lower(const ReducedProblem& problem, const LawModel& model, LawTerms& terms);
/// The same in a value of their own.
LawTerms lowered(const ProblemView& problem, const LawModel& model);
LawTerms lowered(const ReducedProblem& problem, const LawModel& model);

}  // namespace stiction
