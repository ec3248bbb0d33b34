#include "stiction/laws/law.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stiction/base/errors.hpp"
#include "stiction/laws/lowering.hpp"

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

bool is_polygonal(Law law) { return row_of(law).section == Section::polygon || row_of(law).section == Section::either; }

std::string solver_names() { return fmt::format("{}", fmt::join(kSolverNames, ", ")); }

namespace {

constexpr unsigned bit(Solver solver) { return 1U << static_cast<unsigned>(solver); }

// Sets of solvers in laws.def.
constexpr unsigned kPivoting = bit(Solver::goldfarb_idnani) | bit(Solver::ppm), kActiveSet = bit(Solver::active_set),
                   kInterior = bit(Solver::interior_point), kNewton = bit(Solver::newton), kLemke = bit(Solver::lemke),
                   kLcp = kLemke | bit(Solver::enumerate), kRowwise = bit(Solver::dantzig) | bit(Solver::pgs),
                   kProx = bit(Solver::jor) | bit(Solver::sor);

constexpr std::array kRows{
#define STICTION_LAW(name, family, joins, section, contact, gaps, reads, needs, solvers) \
  LawRow{Family::family,                                                                 \
         Joins::joins,                                                                   \
         Section::section,                                                               \
         ContactKind::contact,                                                           \
         Gaps::gaps,                                                                     \
         Reads::reads,                                                                   \
         needs,                                                                          \
         (solvers) | bit(Solver::automatic),                                             \
         lower_##name},
#include "stiction/problem/laws.def"
#undef STICTION_LAW
};

}  // namespace

const LawRow& row_of(Law law) { return kRows[static_cast<std::size_t>(law)]; }

bool can_solve(Law law, Solver solver) { return (row_of(law).solvers & bit(solver)) != 0; }

}  // namespace stiction
