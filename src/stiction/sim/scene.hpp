// Scenes as TOML files: what is in the world, how it starts, and how it is stepped. docs/scenes.md describes every key.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stiction/forward/step.hpp"

namespace stiction {

/// A joint that a scene holds at a position by a proportional-derivative torque, within the joint's effort limit.
struct HeldJoint {
  int q = 0, v = 0;                 ///< coordinates, of `world.uncut()` where robots are cut
  double target = 0.0;              ///< rad or m
  double kp = 0.0, kd = 0.0;        ///< N m/rad and N m s/rad, or N/m and N s/m
  double effort_limit = kInfinity;  ///< motor_limit of the joint
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
  /// Torques (nv) of the held joints at a state. Where robots are cut it allocates.
  void held_torques(const State& state, Eigen::VectorXd& tau) const;

  std::shared_ptr<CollisionCache> collision;  ///< made by the constructor, safe to share between threads
};

/// Gives the body of a free joint this velocity of its origin (m/s) and angular velocity (rad/s), world axes; the state has body axes.
/// Throws InvalidArgument for other bodies.
void set_velocity(const World& world, int body, const Eigen::Vector3d& linear, const Eigen::Vector3d& angular, State& state);

/// Mass (kg) or density (kg/m³), of which one is given, and centre of mass (body frame) and inertia about it (body axes), for which those
/// of the homogeneous solid of the body's shapes stand in. Throws InvalidArgument, FileError where those cannot be computed.
void set_inertia(FreeBody& body, std::optional<double> mass, std::optional<double> density, const std::optional<Eigen::Vector3d>& com,
                 const std::optional<Eigen::Matrix3d>& inertia);

/// `name`: a file, or a scene that comes with stiction (model_path.hpp). `coordinates`: of all its robots, in place of what it says.
/// Throws FileError naming file, line and key.
Scene load_scene(const std::string& name, std::optional<Coordinates> coordinates = {});

}  // namespace stiction
