// A box above the ground and its stepper, for the tests of the stepper.
#pragma once

#include "stiction/forward/step.hpp"

namespace stiction::step_testing {

inline World box_on_ground(double height, double mu = 0.5) {
  WorldBuilder builder;
  StaticBody ground;
  ground.name = "ground";
  ground.shapes.push_back({HalfSpace{}, Eigen::Isometry3d::Identity(), mu});
  builder.add_static_body(ground);
  FreeBody box;
  box.name = "box";
  box.mass = 2.0;
  box.shapes.push_back({Box{Eigen::Vector3d(0.1, 0.1, 0.05)}, Eigen::Isometry3d::Identity(), mu});
  box.inertia = solid_inertia(box.shapes.front().shape, box.mass);
  box.pose.translation().z() = height;
  builder.add_free_body(box);
  return builder.build();
}

inline StepOptions options_with(Law law, double dt = 1e-3) {
  StepOptions options;
  options.assemble.dt = dt;
  options.contact.law = law;
  return options;
}

inline Stepper stepper_for(const World& world, const StepOptions& options) { return {world, make_scene(world, 0.5), options}; }

}  // namespace stiction::step_testing
