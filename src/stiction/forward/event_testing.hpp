// Worlds and runs that tests of the event-driven scheme share.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/forward/step.hpp"
#include "stiction/forward/test_worlds.hpp"

namespace stiction::event_testing {

using Eigen::Vector3d;
using Eigen::VectorXd;

inline constexpr double kG = 9.81;
inline constexpr double kTime = 1e-9;  // s, to which events are found

inline StepOptions event_options(double h, Integrator integrator = Integrator::rk4) {
  StepOptions options;
  options.assemble.dt = h;
  options.scheme = Scheme::event_driven;
  options.events.integrator = integrator;
  return options;
}

inline Stepper stepper_for(const World& world, const StepOptions& options, double restitution = 0.0) {
  const std::vector<double> bounce(world.bodies().size(), restitution);
  return {world, make_scene(world, 0.5, bounce), options};
}

/// All events of a run, by steps that end where they should.
inline std::vector<Event> run(Stepper& stepper, State& state, double duration, const VectorXd& tau) {
  std::vector<Event> events;
  const double h = stepper.options().assemble.dt;
  const long steps = std::lround(duration / h);
  for (long k = 0; k < steps; ++k) {
    const StepReport report = stepper.step(tau, state);
    EXPECT_TRUE(report.accepted) << k;
    EXPECT_EQ(report.without_events, 0.0) << k;
    events.insert(events.end(), stepper.events().begin(), stepper.events().end());
  }
  EXPECT_NEAR(state.time, static_cast<double>(steps) * h, 1e-13 * static_cast<double>(steps));
  return events;
}
inline std::vector<Event> run(Stepper& stepper, State& state, double duration) {
  return run(stepper, state, duration, VectorXd::Zero(stepper.world().nv()));
}

inline std::vector<double> times_of(const std::vector<Event>& events, EventKind kind) {
  std::vector<double> times;
  for (const Event& e : events) {
    if (e.kind == kind) times.push_back(e.time);
  }
  return times;
}

inline FreeBody solid(const std::string& name, const Shape& shape, double mass, const Vector3d& position, double mu) {
  FreeBody body;
  body.name = name;
  body.mass = mass;
  body.inertia = solid_inertia(shape, mass);
  body.shapes.push_back({shape, Eigen::Isometry3d::Identity(), mu});
  body.pose.translation() = position;
  return body;
}

/// A plane tilted about y by `angle`, downhill along its x, and a body in the plane's axes.
inline World on_slope(double angle, double mu, const Shape& shape, double height) {
  const Eigen::AngleAxisd tilt(angle, Vector3d::UnitY());
  WorldBuilder builder;
  StaticBody slope{"slope", Eigen::Isometry3d(tilt), {{HalfSpace{}, Eigen::Isometry3d::Identity(), mu}}};
  builder.add_static_body(slope);
  FreeBody body = solid("body", shape, 2.0, Vector3d::Zero(), mu);
  body.pose = Eigen::Isometry3d(tilt) * Eigen::Translation3d(0, 0, height);
  builder.add_free_body(body);
  return builder.build();
}

inline World ball_above_ground(double height, double mu = 0.0) { return on_slope(0.0, mu, Sphere{0.1}, 0.1 + height); }

inline constexpr double kRadius = 0.1;

}  // namespace stiction::event_testing
