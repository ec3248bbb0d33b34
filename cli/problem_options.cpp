#include "cli/problem_options.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"

namespace stiction::cli {

namespace {

/// Each once.
std::string names_of(const std::vector<Law>& laws) {
  std::set<std::string_view> names;
  for (const Law law : laws) names.insert(to_string(law));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// An option that would change nothing was meant for something else.
void refuse_idle(const ProblemOptions& options, const std::vector<Law>& laws, Choice choice) {
  if (options.edges && std::ranges::none_of(laws, [&](Law law) { return reads_edges(law, choice); }))
    throw InvalidArgument("--edges", "none unless a law has a friction polygon",
                          fmt::format("{} with law {}", *options.edges, names_of(laws)));
  if (options.viscous_slip && std::ranges::find(laws, Law::viscous) == laws.end())
    throw InvalidArgument("--viscous-slip", "none unless a law is viscous",
                          fmt::format("{} with law {}", *options.viscous_slip, names_of(laws)));
}

}  // namespace

std::string ProblemOptions::obeyed(const std::vector<Law>& of_contacts) const { return of_contacts.empty() ? law : names_of(of_contacts); }

SolveOptions ProblemOptions::to_solve_options(const std::vector<Law>& of_contacts, Choice choice) const {
  SolveOptions options;
  options.law = law_from_string(law);
  if (!of_contacts.empty() && given("--law"))
    throw InvalidArgument(
        "--law",
        fmt::format("none beside a file whose contacts name their own ({}; `stiction compare` takes every law)", names_of(of_contacts)),
        law);
  refuse_idle(*this, of_contacts.empty() ? std::vector{options.law} : of_contacts, choice);
  options.solver = solver_from_string(solver);
  stiction::refuse_idle(options, choice,
                        {.alpha = given("--alpha") ? "--alpha" : "",
                         .max_sweeps = given("--max-sweeps") ? "--max-sweeps" : "",
                         .max_pivots = given("--max-pivots") ? "--max-pivots" : ""});
  options.tolerance = tolerance;
  options.edges = edges.value_or(options.edges);
  options.variant = pyramid_variant_from_string(variant);
  if (viscous_slip) options.viscous_slip = viscous_slip_from_string(*viscous_slip);
  options.align_edges = align_edges;
  options.alpha = alpha;
  options.max_sweeps = max_sweeps;
  options.max_factorizations = max_factorizations;
  options.max_pivots = max_pivots;
  options.bilateral_by_prox = bilateral_by_prox;
  return options;
}

void add_problem_options(CLI::App& sub, ProblemOptions& options) {
  options.app = &sub;
  sub.add_option("FILE", options.file, "Contact problem: .json, .npz, Siconos text or FCLIB")->required();
  sub.add_option("--law", options.law, "Contact law, unless contacts of the file name their own: " + law_names())->capture_default_str();
  sub.add_option("--solver", options.solver, "Solver: " + solver_names())->capture_default_str();
  sub.add_option("--tolerance", options.tolerance, "Largest scaled residual that counts as solved")
      ->check(positive_number())
      ->capture_default_str();
  sub.add_option("--edges", options.edges, "Edges of the friction pyramid, at least 4 (default: 4); law anitescu: 0 is the disc");
  sub.add_option("--variant", options.variant,
                 "Gaps: stewart_trinkle (every contact, with its gap) or anitescu_potra (touching contacts only)")
      ->capture_default_str();
  sub.add_flag("--align-edges", options.align_edges, "Turn each contact's polygon so that a vertex opposes its slip before the step");
  sub.add_option("--viscous-slip", options.viscous_slip, "Law viscous: friction opposes the slip after (default) or before the step");
  sub.add_option("--alpha", options.alpha, "Relaxation of jor and sor, in (0, 2)")->capture_default_str();
  sub.add_option("--max-factorizations", options.max_factorizations,
                 "Linear systems of interior_point and newton at most, fall-backs included")
      ->capture_default_str();
  sub.add_option("--max-pivots", options.max_pivots, "Pivots of the pivoting and active-set solvers at most; 0: their own bound")
      ->capture_default_str();
  sub.add_option("--max-sweeps", options.max_sweeps, "Sweeps of jor, sor and pgs at most")->capture_default_str();
  sub.add_flag("--bilateral-by-prox", options.bilateral_by_prox, "jor and sor: iterate on bilateral rows instead of eliminating them");
}

nlohmann::ordered_json certificate_json(const Certificate& c) {
  nlohmann::ordered_json out;
  for (const NamedResidual& r : kResiduals) out[r.name] = {{"raw", (c.*r.member).raw}, {"scaled", (c.*r.member).scaled}, {"unit", r.unit}};
  out["dissipation_angle"] = c.dissipation_angle;
  out["energy_change"] = c.energy_change;
  out["finite"] = c.finite;
  out["worst"] = c.finite ? nlohmann::ordered_json(c.worst()) : nlohmann::ordered_json("inf");
  return out;
}

Promises promises_of(const ContactProblem& problem, const LawTerms& law) {
  Promises out{law, true, !problem.prescribed.empty(), problem.bounded_rows() > 0};
  for (int j = 0; j < problem.bounded_rows(); ++j) out.bilateral |= is_bilateral(problem, j);
  return out;
}

Promises promises_of(const ReducedProblem& problem, const LawTerms& law) { return {law, false, false, problem.bounded_rows() > 0}; }

namespace {

bool is_promised(const NamedResidual& row, const Promises& p) {
  const auto is = [&](Residual Certificate::*member) { return row.member == member; };
  const auto any = [&](auto asks) { return std::ranges::any_of(p.law.contacts, asks); };
  const bool function = p.law.family == Family::constitutive, energy = p.law.family == Family::energy;
  const auto is_dual = [&](const ContactTerms& t) { return !t.coulomb && t.mu > 0.0 && !std::isinf(t.mu); };
  if (is(&Certificate::momentum)) return p.inertia;
  if (is(&Certificate::bilateral)) return p.bilateral;
  if (is(&Certificate::bounds)) return p.bounded;
  if (is(&Certificate::constitutive))
    return function || any([&](const ContactTerms& t) { return t.is_half_space() && t.tangential_compliance > 0.0; });
  if (is(&Certificate::natural_map)) return !function;
  if (is(&Certificate::penetration)) return !function && any([](const ContactTerms& t) { return t.normal_compliance == 0.0; });
  if (is(&Certificate::cone)) return any([&](const ContactTerms& t) { return !t.is_half_space(); });
  if (is(&Certificate::normal_complementarity)) return !function && !energy && any([&](const ContactTerms& t) { return !is_dual(t); });
  if (is(&Certificate::relaxation)) return !function && !energy && any(is_dual);
  if (is(&Certificate::dissipation)) return any([](const ContactTerms& t) { return t.coulomb && t.mu > 0.0; });
  return true;
}

}  // namespace

std::string certificate_text(const Certificate& c, const Promises& promises) {
  std::string out = fmt::format("{:<24} {:>12} {:>12}\n", "residual", "raw", "scaled");
  for (const NamedResidual& r : kResiduals) {
    const Residual& value = c.*r.member;
    if (value.raw == 0.0 && value.scaled == 0.0 && !is_promised(r, promises)) continue;
    out += fmt::format("{:<24} {:>12.3e} {:>12.3e}  {:<5} {}\n", r.name, value.raw, value.scaled, r.unit, r.meaning);
  }
  return out + fmt::format("energy change {:.6e} J, dissipation angle {:.3e} rad", c.energy_change, c.dissipation_angle);
}

}  // namespace stiction::cli
