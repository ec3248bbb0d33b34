#include "stiction/laws/law.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

constexpr std::array<std::string_view, kSolvers.size()> kSolverNames{
    "auto", "goldfarb_idnani", "ppm", "lemke", "enumerate", "active_set", "interior_point", "dantzig", "pgs", "jor", "sor", "newton"};

}  // namespace

std::string_view to_string(Solver solver) { return kSolverNames[static_cast<std::size_t>(solver)]; }

Solver solver_from_string(std::string_view name) {
  for (const Solver solver : kSolvers) {
    if (to_string(solver) == name) return solver;
  }
  throw InvalidArgument("solver", fmt::format("one of {}", solver_names()), fmt::format("'{}'", name));
}

std::string_view to_string(PyramidVariant variant) {
  return variant == PyramidVariant::stewart_trinkle ? "stewart_trinkle" : "anitescu_potra";
}

PyramidVariant pyramid_variant_from_string(std::string_view name) {
  for (const PyramidVariant variant : {PyramidVariant::stewart_trinkle, PyramidVariant::anitescu_potra}) {
    if (to_string(variant) == name) return variant;
  }
  throw InvalidArgument("variant", "one of stewart_trinkle, anitescu_potra", fmt::format("'{}'", name));
}

std::string_view to_string(ViscousSlip slip) { return slip == ViscousSlip::after ? "after" : "before"; }

ViscousSlip viscous_slip_from_string(std::string_view name) {
  for (const ViscousSlip slip : {ViscousSlip::after, ViscousSlip::before}) {
    if (to_string(slip) == name) return slip;
  }
  throw InvalidArgument("viscous_slip", "one of after, before", fmt::format("'{}'", name));
}

std::string_view to_string(Choice choice) {
  constexpr std::array<std::string_view, 4> kNames{"warm_start", "least_norm", "closest_to_last", "least_torque"};
  return kNames[static_cast<std::size_t>(choice)];
}

Choice choice_from_string(std::string_view name) {
  for (const Choice choice : {Choice::warm_start, Choice::least_norm, Choice::closest_to_last, Choice::least_torque}) {
    if (to_string(choice) == name) return choice;
  }
  throw InvalidArgument("choice", "one of warm_start, least_norm, closest_to_last, least_torque", fmt::format("'{}'", name));
}

bool is_polygonal(Law law) { return law == Law::coulomb_pyramid || law == Law::anitescu || law == Law::max_dissipation; }

std::string solver_names() { return fmt::format("{}", fmt::join(kSolverNames, ", ")); }

bool can_solve(Law law, Solver solver) {
  if (solver == Solver::automatic)
    return std::ranges::any_of(kSolvers, [&](Solver s) { return s != Solver::automatic && can_solve(law, s); });
  const bool by_rows = solver == Solver::dantzig || solver == Solver::pgs;
  const bool prox = solver == Solver::jor || solver == Solver::sor;
  const bool interior = solver == Solver::interior_point, newton = solver == Solver::newton;
  switch (law) {
    case Law::frictionless:
      return is_pivoting(solver) || solver == Solver::active_set || interior || newton || by_rows || prox;
    case Law::no_slip:
      return is_pivoting(solver) || solver == Solver::active_set || interior || by_rows;
    case Law::viscous:
      return is_pivoting(solver) || solver == Solver::active_set || newton;
    case Law::coulomb_pyramid:
      return solver == Solver::interior_point || solver == Solver::lemke || solver == Solver::enumerate || by_rows || prox;
    case Law::coulomb_cone:
    case Law::moreau:
      return solver == Solver::interior_point || prox;
    case Law::anitescu:
      return solver == Solver::active_set || solver == Solver::interior_point || solver == Solver::newton || by_rows;
    case Law::todorov:
    case Law::sap:
    case Law::linear_penalty:
    case Law::stick_slip_spring:
    case Law::regularized_stiction:
    case Law::hunt_crossley:
      return solver == Solver::newton;
    case Law::max_dissipation:
      return solver == Solver::active_set || interior;
    default:
      return false;
  }
}

LawConditions conditions(const SolveOptions& options) {
  LawConditions c;
  switch (options.law) {
    case Law::frictionless:
      c.frictionless = true;
      break;
    case Law::no_slip:
      c.no_slip = c.friction_needs_contact = true;
      break;
    case Law::viscous:
      c.viscous = c.friction_needs_contact = true;
      c.friction_cone = c.dissipation = false;
      c.slip_before = options.viscous_slip == ViscousSlip::before;
      break;
    case Law::coulomb_pyramid:
      c.edges = options.edges;
      c.touching_only = options.variant == PyramidVariant::anitescu_potra;
      break;
    case Law::coulomb_cone:
      break;
    case Law::linear_penalty:
    case Law::stick_slip_spring:
    case Law::regularized_stiction:
    case Law::hunt_crossley:
      c.compliant = options.law;
      break;
    case Law::moreau:
      c.newton_impact = true;
      break;
    case Law::anitescu:
      c.relaxed = c.friction_needs_contact = true;
      c.normal_complementarity = false;
      c.edges = options.edges;
      break;
    case Law::todorov:
    case Law::sap:
      c.relaxed = true;
      c.normal_complementarity = c.non_penetration = false;
      c.softness = options.law == Law::sap ? Softness::compliant : Softness::regularized;
      break;
    case Law::max_dissipation:
      c.normal_complementarity = c.dissipation = c.bound_complementarity = false;
      c.friction_needs_contact = true;
      c.edges = options.edges;
      break;
    default:
      break;
  }
  c.aligned = options.align_edges && c.edges > 0;
  return c;
}

}  // namespace stiction
