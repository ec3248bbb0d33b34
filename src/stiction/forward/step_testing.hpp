// A body above the ground and its stepper, for the tests of the stepper.
#pragma once

#include <cmath>

#include "stiction/forward/step.hpp"

namespace stiction::step_testing {

inline constexpr double kMass = 2.0, kG = 9.81;

/// A body over a half space, gravity turned by `slope` about y.
inline World on_slope(const Shape& shape, double height, double slope, double mu) {
  WorldBuilder builder;
  builder.set_gravity(kG * Eigen::Vector3d(std::sin(slope), 0.0, -std::cos(slope)));
  StaticBody ground;
  ground.name = "ground";
  ground.shapes.push_back({HalfSpace{}, Eigen::Isometry3d::Identity(), mu});
  builder.add_static_body(ground);
  FreeBody body;
  body.name = "body";
  body.mass = kMass;
  body.shapes.push_back({shape, Eigen::Isometry3d::Identity(), mu});
  body.inertia = solid_inertia(shape, kMass);
  body.pose.translation().z() = height;
  builder.add_free_body(body);
  return builder.build();
}

inline World box_on_ground(double height, double mu = 0.5) { return on_slope(Box{Eigen::Vector3d(0.1, 0.1, 0.05)}, height, 0.0, mu); }

inline StepOptions options_with(Law law, double dt = 1e-3) {
  StepOptions options;
  options.assemble.dt = dt;
  options.contact.law = law;
  return options;
}

inline Stepper stepper_for(const World& world, const StepOptions& options) { return {world, make_scene(world, 0.5), options}; }

}  // namespace stiction::step_testing
