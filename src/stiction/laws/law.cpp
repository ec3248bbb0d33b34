#include "stiction/laws/law.hpp"

#include <array>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

constexpr std::array kLaws{Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu, Law::max_dissipation};
constexpr std::array kSolvers{Solver::automatic, Solver::ppm, Solver::lemke, Solver::enumerate, Solver::active_set, Solver::interior_point};

template <class List>
std::string names(const List& list) {
  std::string out;
  for (const auto item : list) out += fmt::format("{}{}", out.empty() ? "" : ", ", to_string(item));
  return out;
}

template <class List>
auto find_by_name(const List& list, std::string_view argument, std::string_view name) {
  for (const auto item : list) {
    if (to_string(item) == name) return item;
  }
  throw InvalidArgument(argument, fmt::format("one of {}", names(list)), fmt::format("'{}'", name));
}

}  // namespace

std::string_view to_string(Law law) {
  switch (law) {
    case Law::frictionless:
      return "frictionless";
    case Law::no_slip:
      return "no_slip";
    case Law::coulomb_pyramid:
      return "coulomb_pyramid";
    case Law::coulomb_cone:
      return "coulomb_cone";
    case Law::anitescu:
      return "anitescu";
    case Law::max_dissipation:
      return "max_dissipation";
  }
  return "unknown";
}

std::string_view to_string(Solver solver) {
  switch (solver) {
    case Solver::automatic:
      return "auto";
    case Solver::ppm:
      return "ppm";
    case Solver::lemke:
      return "lemke";
    case Solver::enumerate:
      return "enumerate";
    case Solver::active_set:
      return "active_set";
    case Solver::interior_point:
      return "interior_point";
  }
  return "unknown";
}

Law law_from_string(std::string_view name) { return find_by_name(kLaws, "law", name); }
Solver solver_from_string(std::string_view name) { return find_by_name(kSolvers, "solver", name); }
std::string law_names() { return names(kLaws); }
std::string solver_names() { return names(kSolvers); }

bool can_solve(Law law, Solver solver) {
  if (solver == Solver::automatic) return true;
  switch (law) {
    case Law::frictionless:
    case Law::no_slip:
      return solver == Solver::ppm || solver == Solver::active_set;
    case Law::coulomb_pyramid:
      return solver == Solver::interior_point || solver == Solver::lemke || solver == Solver::enumerate;
    case Law::coulomb_cone:
      return solver == Solver::interior_point;
    case Law::anitescu:
      return solver == Solver::active_set || solver == Solver::interior_point;
    case Law::max_dissipation:
      return solver == Solver::active_set;
  }
  return false;
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
    case Law::coulomb_pyramid:
      c.edges = options.edges;
      break;
    case Law::coulomb_cone:
      break;
    case Law::anitescu:
      c.relaxed = c.friction_needs_contact = true;
      c.normal_complementarity = false;
      c.edges = options.edges;
      break;
    case Law::max_dissipation:
      c.normal_complementarity = c.dissipation = c.bound_complementarity = false;
      c.friction_needs_contact = true;
      c.edges = options.edges;
      break;
  }
  return c;
}

}  // namespace stiction
