#include "stiction/forward/scheme.hpp"

#include "stiction/base/names.hpp"

namespace stiction {

namespace {

constexpr std::array<SchemeRow, kSchemes.size()> kRows{{{"semi_implicit_euler", 1.0, 1.0, false, begin_euler, finish_euler},
                                                        {"moreau_midpoint", 0.5, 1.0, true, begin_moreau, finish_moreau},
                                                        {"energy_momentum", 0.25, 0.5, true, nullptr, nullptr},
                                                        {"event_driven", 1.0, 1.0, false, begin_euler, finish_euler}}};

}  // namespace

const SchemeRow& row_of(Scheme scheme) { return kRows[static_cast<std::size_t>(scheme)]; }

std::string_view to_string(Scheme scheme) { return row_of(scheme).name; }

Scheme scheme_from_string(std::string_view name) { return value_named<Scheme>("scheme", kRows, name, &SchemeRow::name); }

std::string scheme_names() { return joined_names(kRows, &SchemeRow::name); }

}  // namespace stiction
