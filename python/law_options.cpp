#include "law_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"

namespace stiction::python {

SolveOptions read_law(const Text& law, const Integer& edges, const Text& variant, const Flag& align_edges) {
  SolveOptions options;
  options.law = law_from_string(read_text(law, "law"));
  options.edges = read_integer(edges, "edges");
  options.variant = pyramid_variant_from_string(read_text(variant, "variant"));
  options.align_edges = read_flag(align_edges, "align_edges");
  options.warm_start = false;
  return options;
}

SolveOptions read_options(const LawArguments& a) {
  SolveOptions options = read_law(a.law, a.edges, a.variant, a.align_edges);
  options.solver = solver_from_string(read_text(a.solver, "solver"));
  options.tolerance = read_real(a.tolerance, "tolerance");
  options.viscous_slip = viscous_slip_from_string(read_text(a.viscous_slip, "viscous_slip"));
  options.alpha = read_real(a.alpha, "alpha");
  options.max_sweeps = read_integer(a.max_sweeps, "max_sweeps");
  options.max_factorizations = read_integer(a.max_factorizations, "max_factorizations");
  options.max_pivots = read_integer(a.max_pivots, "max_pivots");
  options.threads = read_integer(a.threads, "threads");
  options.bilateral_by_prox = read_flag(a.bilateral_by_prox, "bilateral_by_prox");
  return options;
}

void refuse_idle(const SolveOptions& options, const std::vector<Law>& of_contacts, Choice choice) {
  const std::vector<Law> laws = of_contacts.empty() ? std::vector{options.law} : of_contacts;
  const int usual = SolveOptions{}.edges;
  if (options.edges > usual && std::ranges::none_of(laws, [&](Law law) { return reads_edges(law, choice); }))
    throw InvalidArgument("edges", fmt::format("{} unless a law has a friction polygon", usual),
                          fmt::format("{} with law '{}'", options.edges, to_string(laws[0])));
  const SolveOptions d;
  stiction::refuse_idle(options, choice,
                        {.alpha = options.alpha != d.alpha ? "alpha" : "",
                         .max_sweeps = options.max_sweeps != d.max_sweeps ? "max_sweeps" : "",
                         .max_pivots = options.max_pivots != d.max_pivots ? "max_pivots" : ""});
  if (options.viscous_slip != ViscousSlip::after && std::ranges::find(laws, Law::viscous) == laws.end())
    throw InvalidArgument("viscous_slip", "'after' unless a law is 'viscous'",
                          fmt::format("'{}' with law '{}'", to_string(options.viscous_slip), to_string(laws[0])));
}

Eigen::VectorXd read_last(const std::optional<ArrayLike>& last, Choice choice, Eigen::Index contacts, bool kept) {
  if (choice != Choice::closest_to_last) {
    if (last) throw InvalidArgument("last", "None unless choice is 'closest_to_last'", fmt::format("choice '{}'", to_string(choice)));
    return {};
  }
  if (!last && kept) return {};
  if (!last) throw InvalidArgument("last", "the impulses that choice 'closest_to_last' shall stay close to, or a workspace", "None");
  const Numbers impulses(*last, "last", 2);
  const ConstRowMap rows = impulses.matrix();
  if (rows.rows() != contacts || rows.cols() != 3)
    throw InvalidArgument("last", fmt::format("shape ({}, 3)", contacts), fmt::format("shape ({}, {})", rows.rows(), rows.cols()));
  require_finite("last", rows);
  return impulses.vector();
}

Request read_request(const ArrayLike& joints, const ArrayLike& v_desired, const std::optional<ArrayLike>& torque_limits) {
  Request request;
  request.joints = read_indices(joints, "joints");
  const auto n = static_cast<Eigen::Index>(request.joints.size());
  request.v_desired = per_item(v_desired, "v_desired", n, 0.0);
  if (torque_limits) {
    const Eigen::VectorXd values = for_each_item(torque_limits, "torque_limits", n, kInfinity);
    request.limits.assign(values.begin(), values.end());
  }
  return request;
}

}  // namespace stiction::python
