// The world that Python sees: what was added so far, or a scene from a file.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "stiction/experiments/scene.hpp"

namespace stiction::python {

/// Collects robots and bodies and builds the world when it is first needed. `scene` and additions are called with the interpreter's
/// lock held, `problem` without: it has its own.
class WorldHandle {
 public:
  WorldHandle(const Eigen::Vector3d& gravity, double friction);
  explicit WorldHandle(Scene scene) : scene_(std::move(scene)) {}

  void add_robot(const std::string& file, const RobotOptions& options);
  void add_body(const FreeBody& body, double restitution);
  void add_static(const StaticBody& body, double restitution);

  /// The world with its materials, options and start.
  const Scene& scene();
  const World& world() { return scene().world; }

  /// Everything at (q, v) short of solving. `friction` replaces the coefficient of every contact.
  WorldProblem problem(const Scene& scene, const State& state, const Eigen::VectorXd& tau, double dt, std::optional<double> friction);

 private:
  WorldBuilder& builder();
  void set_restitution(int body, double restitution);

  std::optional<WorldBuilder> builder_;  ///< absent for a scene from a file
  Scene scene_;
  bool stale_ = false;
  std::mutex mutex_;  ///< of the stepper
  std::optional<Stepper> stepper_;
};

}  // namespace stiction::python
