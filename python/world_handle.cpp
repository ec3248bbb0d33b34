#include "world_handle.hpp"

#include "stiction/base/errors.hpp"

namespace stiction::python {

WorldHandle::WorldHandle(const Eigen::Vector3d& gravity, double friction) : stale_(true) {
  if (!(friction >= 0.0)) throw InvalidArgument("friction", "a number >= 0 or infinity", std::to_string(friction));
  builder_.emplace();
  builder_->set_gravity(gravity);
  scene_.default_friction = friction;
}

WorldBuilder& WorldHandle::builder() {
  if (!builder_) throw InvalidArgument("World.from_scene", "nothing to be added to a world from a scene file", "an addition");
  stale_ = true;
  return *builder_;
}

void WorldHandle::set_restitution(int body, double restitution) {
  scene_.restitution.resize(static_cast<std::size_t>(body) + 1, 0.0);
  scene_.restitution.back() = restitution;
}

void WorldHandle::add_robot(const std::string& file, const RobotOptions& options) { builder().add_robot(file, options); }

void WorldHandle::add_body(const FreeBody& body, double restitution) { set_restitution(builder().add_free_body(body), restitution); }

void WorldHandle::add_static(const StaticBody& body, double restitution) { set_restitution(builder().add_static_body(body), restitution); }

const Scene& WorldHandle::scene() {
  if (stale_) {
    scene_.world = builder_->build();
    scene_.start = initial_state(scene_.world);
    scene_.restitution.resize(scene_.world.bodies().size(), 0.0);
    stale_ = false;
  }
  return scene_;
}

WorldProblem WorldHandle::problem(const Scene& scene, const State& state, const Eigen::VectorXd& tau, double dt,
                                  std::optional<double> friction) {
  const std::lock_guard lock(mutex_);
  if (!stepper_ || &stepper_->world().impl() != &scene.world.impl()) stepper_.emplace(scene.make_stepper());
  StepOptions options = scene.options;
  options.assemble.dt = dt;
  stepper_->set_options(options);
  stepper_->prepare(state, tau);
  WorldProblem out{stepper_->problem(), stepper_->contacts(), scene.world};
  if (friction) out.mu.setConstant(*friction);
  validate(out);
  return out;
}

}  // namespace stiction::python
