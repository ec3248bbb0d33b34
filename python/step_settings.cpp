#include "step_settings.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "contact_laws.hpp"
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
  if (s.loop_recovery) options.assemble.loop_recovery = read_real(*s.loop_recovery, "loop_recovery");
  if (s.time_tolerance) options.events.time_tolerance = read_real(*s.time_tolerance, "time_tolerance");
  if (s.rest_speed) options.events.rest_speed = read_real(*s.rest_speed, "rest_speed");
  if (s.integration_tolerance) options.events.integration_tolerance = read_real(*s.integration_tolerance, "integration_tolerance");
  if (s.most_events) options.events.most_events = read_integer(*s.most_events, "most_events");
  if (s.material) options.assemble.material = read_materials(*s.material, 1)[0];
  if (s.friction) options.assemble.friction = read_real(*s.friction, "friction");
  if (options.assemble.friction) require_friction("friction", *options.assemble.friction);
  require_share("loop_recovery", options.assemble.loop_recovery);
  require_positive("dt", options.assemble.dt);
  validate(options.contact);
  refuse_idle(options, {.integrator = s.integrator ? "integrator" : "",
                        .impact_model = s.impact_model ? "impact_model" : "",
                        .impact_order = s.impact_order ? "impact_order" : "",
                        .acceptable = s.acceptable ? "acceptable" : "",
                        .time_tolerance = s.time_tolerance ? "time_tolerance" : "",
                        .rest_speed = s.rest_speed ? "rest_speed" : "",
                        .integration_tolerance = s.integration_tolerance ? "integration_tolerance" : "",
                        .most_events = s.most_events ? "most_events" : ""});
  if (s.edges && !has_polygon(options))
    throw InvalidArgument("edges", "None unless a law has a friction polygon",
                          fmt::format("{} with law '{}'", options.contact.edges, to_string(options.contact.law)));
  return options;
}

nb::dict given(const StepSettings& s) {
  nb::dict out;
  const auto add = [&out](const char* name, const auto& value) {
    if (value) out[name] = *value;
  };
  add("dt", s.dt), add("law", s.law), add("solver", s.solver), add("tolerance", s.tolerance), add("acceptable", s.acceptable);
  add("strict", s.strict), add("edges", s.edges), add("choice", s.choice), add("friction", s.friction), add("recovery", s.recovery);
  add("loop_recovery", s.loop_recovery), add("scheme", s.scheme), add("integrator", s.integrator), add("impact_model", s.impact_model);
  add("impact_order", s.impact_order), add("time_tolerance", s.time_tolerance), add("rest_speed", s.rest_speed);
  add("integration_tolerance", s.integration_tolerance), add("most_events", s.most_events), add("sub_steps", s.sub_steps);
  add("material", s.material);
  return out;
}

}  // namespace stiction::python
