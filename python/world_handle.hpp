// The world that Python sees: what was added so far, or a scene from a file.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "stiction/sim/scene.hpp"

namespace stiction::python {

/// Collects robots and bodies and builds the world when it is first needed. `scene` and additions are called with the interpreter's
/// lock held, `problem` without: it has its own.
class WorldHandle {
 public:
  WorldHandle(const std::optional<Eigen::Vector3d>& gravity, double friction, const std::optional<ContactMaterial>& material);
  explicit WorldHandle(Scene scene) : scene_(std::move(scene)) {}
  /// A scene from a file, or from those that come with stiction by name.
  explicit WorldHandle(const std::string& file);

  /// Becomes another one of the same world, to be added to by itself: no file is read.
  void become(WorldHandle& other);

  /// `file`: its path, or its text.
  void add_robot(const std::string& file, const RobotOptions& options);
  /// Linear and angular velocity at the start, world axes (m/s, rad/s).
  struct Twist {
    Eigen::Vector3d linear = Eigen::Vector3d::Zero(), angular = Eigen::Vector3d::Zero();
  };
  void add_body(const FreeBody& body, double restitution, const Twist& twist);
  void add_static(const StaticBody& body, double restitution);
  /// Of a free body or floating base by name of the body or of a link of it.
  void set_velocity(const std::string& name, const Twist& twist);
  /// The same of a joint with one coordinate (rad/s or m/s).
  void set_speed(const std::string& joint, double speed);
  void exclude(const std::string& a, const std::string& b) { builder().exclude(a, b); }
  void set_pair(const PairMaterial& pair) { scene_.options.assemble.pairs.push_back(pair); }

  /// The world with its materials, options and start.
  const Scene& scene();
  const World& world() { return scene().world; }
  /// All that the last robot, or the scene, was read from.
  const std::vector<std::string>& last_read() const { return last_read_; }
  /// The shapes of the world as they are to collide, made when it is first needed.
  CollisionScene& collision_scene();
  std::vector<std::string> warnings();
  /// Scratch for functions of a state that hold the interpreter's lock.
  WorldData& data();

  /// Everything at (q, v) short of solving. `friction` replaces the coefficient of every contact.
  WorldProblem problem(const Scene& scene, const State& state, const Eigen::VectorXd& tau, double dt, std::optional<double> friction);

 private:
  WorldBuilder& builder();
  Stepper& stepper(const Scene& scene);
  void set_restitution(int body, double restitution);
  void apply_velocities();

  std::optional<WorldBuilder> builder_;  ///< absent for a scene from a file
  Scene scene_;
  bool stale_ = false;
  std::vector<std::string> last_read_;
  std::map<int, Twist> twists_;    ///< by body, at the start
  std::map<int, double> speeds_;   ///< by joint
  std::optional<WorldData> data_;  ///< of the world that `data_of_` is
  World data_of_;
  std::mutex mutex_;  ///< of the stepper
  std::optional<Stepper> stepper_;
};

/// What a stepper has prepared, checked.
WorldProblem prepared_problem(const Stepper& stepper);

/// Robots and bodies, and their start.
void bind_additions(nanobind::class_<WorldHandle>& world);
void bind_terrain_addition(nanobind::class_<WorldHandle>& world);
/// Who collides with whom, and how.
void bind_pairs(nanobind::class_<WorldHandle>& world);
/// Poses, Jacobians, inertia, forces and energies at a state.
void bind_dynamics(nanobind::class_<WorldHandle>& world);
/// States of cut robots and of the uncut ones.
void bind_cut_joints(nanobind::class_<WorldHandle>& world);

}  // namespace stiction::python
