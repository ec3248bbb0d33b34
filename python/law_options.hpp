// The options of a solve as Python gives them.
#pragma once

#include <optional>
#include <vector>

#include "arguments.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"

namespace stiction::python {

/// What `solve`, `inverse` and the checks of proofs share.
struct LawArguments {
  Text law, solver;
  Real tolerance;
  Integer edges;
  Text variant;
  Flag align_edges;
  Text viscous_slip;
  Real alpha;
  Integer max_sweeps, max_factorizations, max_pivots, threads;
  Flag bilateral_by_prox;
};

/// `choice` stays as it is, `warm_start` is off. Throws InvalidArgument or TypeError.
SolveOptions read_options(const LawArguments& arguments);

/// Throws InvalidArgument for an argument that would change nothing under these laws of contacts; none: the law of the options.
void refuse_idle(const SolveOptions& options, const std::vector<Law>& of_contacts, Choice choice = Choice::warm_start);

/// The options that say what a law demands, as the checks of proofs need them. Whether they fit it, `validate` says with the problem's
/// laws.
SolveOptions read_law(const Text& law, const Integer& edges, const Text& variant, const Flag& align_edges);

/// λ_ref of choice closest_to_last, (n, 3) as 3n numbers; empty with every other choice, which must come without. `kept`: a workspace has
/// them where none are given, which is empty too.
Eigen::VectorXd read_last(const std::optional<ArrayLike>& last, Choice choice, Eigen::Index contacts, bool kept);

/// What `inverse` is asked for.
struct Request {
  std::vector<int> joints;
  Eigen::VectorXd v_desired;   ///< one per joint
  std::vector<double> limits;  ///< one per joint (N m or N); empty: none, or all infinite
};
Request read_request(const ArrayLike& joints, const ArrayLike& v_desired, const std::optional<ArrayLike>& torque_limits);

}  // namespace stiction::python
