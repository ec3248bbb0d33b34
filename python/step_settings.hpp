// How a world is stepped, as Python says it: what is None is the scene's.
#pragma once

#include <optional>

#include <nanobind/stl/optional.h>

#include "arguments.hpp"
#include "stiction/sim/scene.hpp"

namespace stiction::python {

struct StepSettings {
  std::optional<Real> dt;
  std::optional<Text> law, solver;
  std::optional<Real> tolerance, acceptable;
  std::optional<Flag> strict;
  std::optional<Integer> edges;
  std::optional<Text> choice;
  std::optional<Real> friction, recovery, loop_recovery;
  std::optional<Text> scheme, integrator, impact_model, impact_order;
  std::optional<Real> time_tolerance, rest_speed, integration_tolerance;
  std::optional<Integer> most_events, sub_steps;
  std::optional<nb::dict> material;
};

/// Types of arguments.
template <class... T>
struct Types {};

/// `function(before..., settings, after...)` as Python calls it: with the settings as arguments of their own.
template <class... Before, class... After, class Function>
auto with_settings(Types<Before...>, Types<After...>, Function function) {
  using MaybeReal = std::optional<Real>;
  using MaybeText = std::optional<Text>;
  using MaybeInteger = std::optional<Integer>;
  return [function](Before... before, MaybeReal dt, MaybeText law, MaybeText solver, MaybeReal tolerance, MaybeReal acceptable,
                    std::optional<Flag> strict, MaybeInteger edges, MaybeText choice, MaybeReal friction, MaybeReal recovery,
                    MaybeReal loop_recovery, MaybeText scheme, MaybeText integrator, MaybeText impact_model, MaybeText impact_order,
                    MaybeReal time_tolerance, MaybeReal rest_speed, MaybeReal integration_tolerance, MaybeInteger most_events,
                    MaybeInteger sub_steps, std::optional<nb::dict> material, After... after) {
    return function(static_cast<Before&&>(before)...,
                    StepSettings{dt,          law,          solver,       tolerance,      acceptable,    strict,
                                 edges,       choice,       friction,     recovery,       loop_recovery, scheme,
                                 integrator,  impact_model, impact_order, time_tolerance, rest_speed,    integration_tolerance,
                                 most_events, sub_steps,    material},
                    static_cast<After&&>(after)...);
  };
}

/// Calls `define(arguments...)` with the settings' names, all None if not given, and what comes after dt only by name.
template <class Define>
void with_setting_names(Define define) {
  using namespace nb::literals;
  const nb::none none;
  define("dt"_a = none, nb::kw_only(), "law"_a = none, "solver"_a = none, "tolerance"_a = none, "acceptable"_a = none, "strict"_a = none,
         "edges"_a = none, "choice"_a = none, "friction"_a = none, "recovery"_a = none, "loop_recovery"_a = none, "scheme"_a = none,
         "integrator"_a = none, "impact_model"_a = none, "impact_order"_a = none, "time_tolerance"_a = none, "rest_speed"_a = none,
         "integration_tolerance"_a = none, "most_events"_a = none, "sub_steps"_a = none, "material"_a = none);
}

/// Those that were given, by name.
nb::dict given(const StepSettings& settings);

/// The scene's options with these in their place. Throws InvalidArgument or TypeError naming the argument.
StepOptions read_step_options(const StepSettings& settings, StepOptions options);

}  // namespace stiction::python
