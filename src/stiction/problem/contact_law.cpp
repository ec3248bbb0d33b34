#include "stiction/problem/contact_law.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

constexpr std::array<std::string_view, kLaws.size()> kNames{"frictionless",
                                                            "no_slip",
                                                            "viscous",
                                                            "coulomb_pyramid",
                                                            "coulomb_cone",
                                                            "moreau",
                                                            "anitescu",
                                                            "todorov",
                                                            "sap",
                                                            "max_dissipation",
                                                            "stick_slip_spring",
                                                            "linear_penalty",
                                                            "regularized_stiction",
                                                            "hunt_crossley"};

}  // namespace

std::string_view to_string(Law law) { return kNames[static_cast<std::size_t>(law)]; }

Law law_from_string(std::string_view name) {
  for (const Law law : kLaws) {
    if (to_string(law) == name) return law;
  }
  throw InvalidArgument("law", fmt::format("one of {}", law_names()), fmt::format("'{}'", name));
}

std::string law_names() { return fmt::format("{}", fmt::join(kNames, ", ")); }

}  // namespace stiction
