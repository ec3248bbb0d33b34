#include "step_settings.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/ranges.hpp"
#include "stiction/forward/step_options.hpp"

namespace stiction::python {

namespace {

bool has_polygon(const StepOptions& options) {
  const auto is_so = [](const PairMaterial& pair) { return pair.law && is_polygonal(*pair.law); };
  return is_polygonal(options.contact.law) || std::ranges::any_of(options.assemble.pairs, is_so);
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
  if (options.assemble.friction) require_friction("friction", *options.assemble.friction);
  require_positive("dt", options.assemble.dt);
  validate(options.contact);
  refuse_idle(options, {.integrator = s.integrator ? "integrator" : "",
                        .impact_model = s.impact_model ? "impact_model" : "",
                        .impact_order = s.impact_order ? "impact_order" : "",
                        .acceptable = s.acceptable ? "acceptable" : ""});
  if (s.edges && !has_polygon(options))
    throw InvalidArgument("edges", "None unless a law has a friction polygon",
                          fmt::format("{} with law '{}'", options.contact.edges, to_string(options.contact.law)));
  return options;
}

}  // namespace stiction::python
