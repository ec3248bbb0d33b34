#include "stiction/laws/law.hpp"

#include <array>

#include "stiction/base/names.hpp"
#include "stiction/laws/lowering.hpp"

namespace stiction {

namespace {

constexpr std::array<std::string_view, kSolvers.size()> kSolverNames{
    "auto", "goldfarb_idnani", "ppm", "lemke", "enumerate", "active_set", "interior_point", "dantzig", "pgs", "jor", "sor", "newton"};
constexpr std::array<std::string_view, 2> kVariantNames{"stewart_trinkle", "anitescu_potra"};
constexpr std::array<std::string_view, 2> kSlipNames{"after", "before"};
constexpr std::array<std::string_view, 4> kChoiceNames{"warm_start", "least_norm", "closest_to_last", "least_torque"};

}  // namespace

std::string_view to_string(Solver solver) { return kSolverNames[static_cast<std::size_t>(solver)]; }

Solver solver_from_string(std::string_view name) { return value_named<Solver>("solver", kSolverNames, name); }

std::string_view to_string(PyramidVariant variant) { return kVariantNames[variant == PyramidVariant::stewart_trinkle ? 0 : 1]; }
PyramidVariant pyramid_variant_from_string(std::string_view name) { return value_named<PyramidVariant>("variant", kVariantNames, name); }

std::string_view to_string(ViscousSlip slip) { return kSlipNames[slip == ViscousSlip::after ? 0 : 1]; }
ViscousSlip viscous_slip_from_string(std::string_view name) { return value_named<ViscousSlip>("viscous_slip", kSlipNames, name); }

std::string_view to_string(Choice choice) { return kChoiceNames[static_cast<std::size_t>(choice)]; }
Choice choice_from_string(std::string_view name) { return value_named<Choice>("choice", kChoiceNames, name); }

bool is_polygonal(Law law) { return row_of(law).section == Section::polygon || row_of(law).section == Section::either; }

std::string solver_names() { return joined_names(kSolverNames); }

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
