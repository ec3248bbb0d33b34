#include "step_settings.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction::python {

namespace {

bool has_polygon(const StepOptions& options) {
  const auto is_so = [](const PairMaterial& pair) { return pair.law && is_polygonal(*pair.law); };
  return is_polygonal(options.contact.law) || std::ranges::any_of(options.assemble.pairs, is_so);
}

/// An argument that would change nothing was meant for something else.
void refuse_idle(const StepSettings& s, const StepOptions& options) {
  const bool events = options.scheme == Scheme::event_driven;
  for (const auto& [name, given] :
       {std::pair("integrator", &s.integrator), {"impact_model", &s.impact_model}, {"impact_order", &s.impact_order}}) {
    if (*given && !events)
      throw InvalidArgument(name, "None unless scheme is 'event_driven'", fmt::format("scheme '{}'", to_string(options.scheme)));
  }
  if (s.edges && !has_polygon(options))
    throw InvalidArgument("edges", "None unless a law has a friction polygon",
                          fmt::format("{} with law '{}'", options.contact.edges, to_string(options.contact.law)));
  if (!s.acceptable) return;
  if (options.strict) throw InvalidArgument("acceptable", "None where strict is True", fmt::format("{:g}", options.acceptable));
  if (options.acceptable < options.contact.tolerance)
    throw InvalidArgument("acceptable", fmt::format("a number >= tolerance ({:g})", options.contact.tolerance),
                          fmt::format("{:g}", options.acceptable));
}

}  // namespace

StepOptions read_step_options(const StepSettings& s, StepOptions options) {
  if (s.dt) options.assemble.dt = read_real(*s.dt, "dt");
  if (s.law) options.contact.law = law_from_string(read_text(*s.law, "law"));
  if (s.solver) options.contact.solver = solver_from_string(read_text(*s.solver, "solver"));
  if (s.scheme) options.scheme = scheme_from_string(read_text(*s.scheme, "scheme"));
  if (s.integrator) options.events.integrator = integrator_from_string(read_text(*s.integrator, "integrator"));
  if (s.impact_model) options.events.impact = impact_model_from_string(read_text(*s.impact_model, "impact_model"));
  if (s.impact_order) options.events.order = impact_order_from_string(read_text(*s.impact_order, "impact_order"));
  if (s.tolerance) options.contact.tolerance = read_real(*s.tolerance, "tolerance");
  if (s.acceptable) options.acceptable = read_real(*s.acceptable, "acceptable");
  if (s.strict) options.strict = read_flag(*s.strict, "strict");
  if (s.sub_steps) options.sub_steps = read_integer(*s.sub_steps, "sub_steps");
  if (s.edges) options.contact.edges = read_integer(*s.edges, "edges");
  if (s.choice) options.contact.choice = choice_from_string(read_text(*s.choice, "choice"));
  if (s.recovery) options.recovery = read_real(*s.recovery, "recovery");
  if (s.friction) options.assemble.friction = read_real(*s.friction, "friction");
  if (options.assemble.friction && !(*options.assemble.friction >= 0.0))
    throw InvalidArgument("friction", "a number >= 0 or infinity", fmt::format("{}", *options.assemble.friction));
  require_positive("dt", options.assemble.dt);
  validate(options.contact);
  refuse_idle(s, options);
  return options;
}

}  // namespace stiction::python
