// Contacts that name laws of their own (ContactProblem::laws), as one problem of one law:
//
//   frictionless, no_slip, coulomb_pyramid    coulomb_pyramid with mu = 0, infinity, mu
//   frictionless, no_slip, coulomb_cone       coulomb_cone likewise
//   frictionless, anitescu, todorov, sap      one cone program over the disc, each contact with its own softness (anitescu: none)
//   the compliant laws                        λ = f(u) with each contact's own f
// Other mixtures have no one program and are refused. In a mixture no_slip is Coulomb's law with mu = infinity: unlike no_slip alone, it
// holds nothing where it bears no load.
#pragma once

#include "stiction/laws/law.hpp"
#include "stiction/problem/reduced.hpp"

namespace stiction {

/// For problem.laws of size n > 0: the options of the one law. True when `unified` was filled and is the problem to solve; false when
/// the problem itself is (all contacts of one law, or of compliant ones). Problem: ContactProblem or ReducedProblem.
/// Throws InvalidArgument naming the two laws that do not go together.
template <class Problem>
bool unify(const Problem& problem, const SolveOptions& options, Problem& unified, SolveOptions& one);

extern template bool unify(const ContactProblem&, const SolveOptions&, ContactProblem&, SolveOptions&);
extern template bool unify(const ReducedProblem&, const SolveOptions&, ReducedProblem&, SolveOptions&);

}  // namespace stiction
