// Scenes as TOML files: what is in the world, how it starts, and how it is stepped. docs/scenes.md describes every key.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stiction/forward/step.hpp"

namespace stiction {

/// A joint that a scene holds at a position by a proportional-derivative torque, within the joint's effort limit.
struct HeldJoint {
  int q = 0, v = 0;           ///< coordinates
  double target = 0.0;        ///< rad or m
  double kp = 0.0, kd = 0.0;  ///< N m/rad and N m s/rad, or N/m and N s/m
  double effort_limit = kInfinity;
};

struct CollisionCache;

struct Scene {
  Scene();

  World world;
  std::vector<double> restitution;  ///< per body
  double default_friction = 0.5;
  StepOptions options;
  State start;
  double duration = 1.0;  ///< s
  std::vector<HeldJoint> held;

  /// Hulls and search trees are built by the first call for this world, and shared by the later ones and by copies of the scene.
  Stepper make_stepper() const { return make_stepper(options); }
  Stepper make_stepper(const StepOptions& other_options) const;
  /// Torques (nv) of the held joints at a state.
  void held_torques(const State& state, Eigen::VectorXd& tau) const;

  std::shared_ptr<CollisionCache> collision;  ///< made by the constructor, safe to share between threads
};

/// `name`: a file, or a scene that comes with stiction (model_path.hpp). Throws FileError naming file, line and key.
Scene load_scene(const std::string& name);

}  // namespace stiction
