// What the event-driven scheme may be told, and what it tells: integrators, impact models, the events of a step.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace stiction {

/// Between events: first order, keeping positions with the velocity of the end; order 4; order 5 with steps after its own error estimate.
enum class Integrator { symplectic_euler, rk4, rk45 };
inline constexpr std::array kIntegrators{Integrator::symplectic_euler, Integrator::rk4, Integrator::rk45};
std::string_view to_string(Integrator integrator);
/// Throws InvalidArgument that lists the names known, as those below.
Integrator integrator_from_string(std::string_view name);
std::string integrator_names();

/// newton: u_N⁺ >= -ε u_N⁻. poisson: the normal impulse of expansion is at least ε times that of compression.
enum class ImpactModel { newton, poisson };
std::string_view to_string(ImpactModel model);
ImpactModel impact_model_from_string(std::string_view name);
std::string impact_model_names();

/// All closed contacts at once, or one after the other, the fastest approach first.
enum class ImpactOrder { simultaneous, sequential };
std::string_view to_string(ImpactOrder order);
ImpactOrder impact_order_from_string(std::string_view name);
std::string impact_order_names();

struct EventOptions {
  Integrator integrator = Integrator::rk4;
  ImpactModel impact = ImpactModel::newton;
  ImpactOrder order = ImpactOrder::simultaneous;
  double time_tolerance = 1e-9;         ///< s, to which events are found, > 0
  double rest_speed = 1e-6;             ///< m/s, a slower rebound is none, > 0
  double integration_tolerance = 1e-9;  ///< rk45: largest |error|/(1 + |x|) of a piece over coordinates and velocities x, > 0
  int most_events = 200;                ///< pieces that a step may be cut into, > 0; what is left of it is taken at velocity level
};
/// Throws InvalidArgument naming the member.
void validate(const EventOptions& options);

/// impact: a contact, or a joint's end, is hit. rest: one whose rebound would be below the rest speed, at the time when all rebounds would
/// have ended. stick, slip: a slide ends, or begins. release: nothing bears on it any more. jam: no forces exist, an impulse without a
/// collision.
enum class EventKind { impact, rest, stick, slip, release, jam };
std::string_view to_string(EventKind kind);

struct Event {
  double time = 0.0;  ///< s, of the state
  EventKind kind = EventKind::impact;
  std::uint64_t contact = 0;  ///< its id; 0 where a joint is concerned, or all that is closed
  double speed = 0.0;         ///< m/s (rad/s) of approach before an impact, else 0
};

}  // namespace stiction
