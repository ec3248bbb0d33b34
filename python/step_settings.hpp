// How a world is stepped, as Python says it: what is None is the scene's.
#pragma once

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
  std::optional<Real> friction, recovery;
  std::optional<Text> scheme, integrator, impact_model, impact_order;
  std::optional<Integer> sub_steps;
};

/// The scene's options with these in their place. Throws InvalidArgument or TypeError naming the argument.
StepOptions read_step_options(const StepSettings& settings, StepOptions options);

}  // namespace stiction::python
