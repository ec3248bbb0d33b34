#include "world_handle.hpp"

#include <stdexcept>

#include "stiction/base/errors.hpp"
#include "stiction/base/ranges.hpp"
#include "stiction/record/coordinate_names.hpp"
#include "stiction/sim/key_names.hpp"
#include "stiction/sim/model_path.hpp"

namespace stiction::python {

WorldHandle::WorldHandle(const std::optional<Eigen::Vector3d>& gravity, double friction, const std::optional<ContactMaterial>& material)
    : stale_(true) {
  require_friction("friction", friction);
  builder_.emplace();
  if (gravity) builder_->set_gravity(*gravity);
  scene_.default_friction = friction;
  scene_.options.assemble.material = material;
}

WorldHandle::WorldHandle(const std::string& file) : scene_(load_scene(file)), last_read_{model_path(file)} {
  for (const Robot& robot : scene_.world.robots()) last_read_.insert(last_read_.end(), robot.files.begin(), robot.files.end());
  for (const CollisionGeometry& geometry : scene_.world.geometries()) {
    if (const auto* mesh = std::get_if<MeshFile>(&geometry.shape); mesh != nullptr && geometry.link < 0) last_read_.push_back(mesh->path);
  }
}

void WorldHandle::become(WorldHandle& other) {
  scene_ = other.scene();  // built: the hulls of one world are those of the other
  builder_.reset();
  if (other.builder_) builder_.emplace(*other.builder_);
  stale_ = false;
  last_read_ = other.last_read_;
  twists_ = other.twists_;
  speeds_ = other.speeds_;
  data_.reset();
  stepper_.reset();
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

void WorldHandle::add_robot(const std::string& file, const RobotOptions& options) {
  WorldBuilder& into = builder();
  try {
    const bool text = file.starts_with('<') || file.starts_with("\xEF\xBB\xBF<");  // a text may begin with a byte order mark
    static_cast<void>(text ? into.add_robot_text(file, options) : into.add_robot(file, options));
    last_read_ = into.robots().back().files;
  } catch (const InvalidArgument& error) {
    throw std::invalid_argument(by_keys_of_robots(error.what()));
  }
}

void WorldHandle::add_body(const FreeBody& body, double restitution, const Twist& twist) {
  const int index = builder().add_free_body(body);
  set_restitution(index, restitution);
  twists_[index] = twist;
}

void WorldHandle::add_static(const StaticBody& body, double restitution) { set_restitution(builder().add_static_body(body), restitution); }

const Scene& WorldHandle::scene() {
  if (stale_) {
    scene_.world = builder_->build();
    scene_.collision = Scene().collision;  // whoever shares the scene keeps the hulls of the world before
    scene_.start = initial_state(scene_.world);
    scene_.options.assemble.dt = scene_.world.timestep().value_or(AssembleOptions{}.dt);
    scene_.restitution.resize(scene_.world.bodies().size(), 0.0);
    apply_velocities();
    stale_ = false;
  }
  return scene_;
}

void WorldHandle::apply_velocities() {
  for (const auto& [body, twist] : twists_) stiction::set_velocity(scene_.world, body, twist.linear, twist.angular, scene_.start);
  for (const auto& [joint, speed] : speeds_) scene_.start.v[scene_.world.joints()[joint].v] = speed;
}

void WorldHandle::set_velocity(const std::string& name, const Twist& twist) {
  const int body = world().body(name, "name");
  stiction::set_velocity(scene_.world, body, twist.linear, twist.angular, scene_.start);
  twists_[body] = twist;
}

void WorldHandle::set_speed(const std::string& joint, double speed) {
  const int j = world().joint(joint, "name");
  if (world().joints()[j].nv != 1) {
    throw InvalidArgument("velocity", "linear velocity (3,) of what has a free joint, a number for a joint with one coordinate",
                          "a number for '" + joint + "'");
  }
  speeds_[j] = speed;
  apply_velocities();
}

Stepper& WorldHandle::stepper(const Scene& scene) {
  if (!stepper_ || &stepper_->world().impl() != &scene.world.impl()) stepper_.emplace(scene.make_stepper());
  return *stepper_;
}

CollisionScene& WorldHandle::collision_scene() {
  const Scene& made = scene();
  const std::lock_guard lock(mutex_);
  return stepper(made).scene();
}

std::vector<std::string> WorldHandle::warnings() {
  std::vector<std::string> all = world().warnings();
  const std::vector<std::string>& of_scene = collision_scene().warnings;
  all.insert(all.end(), of_scene.begin(), of_scene.end());
  return all;
}

WorldData& WorldHandle::data() {
  if (!data_ || &data_of_.impl() != &world().impl()) {
    data_of_ = world();
    data_.emplace(data_of_);
  }
  return *data_;
}

WorldProblem WorldHandle::problem(const Scene& scene, const State& state, const Eigen::VectorXd& tau, double dt,
                                  std::optional<double> friction) {
  const std::lock_guard lock(mutex_);
  Stepper& prepared = stepper(scene);
  StepOptions options = scene.options;
  options.assemble.dt = dt;
  prepared.set_options(options);
  prepared.prepare(state, tau);
  WorldProblem out = prepared_problem(prepared);
  if (friction) out.mu.setConstant(*friction);
  return out;
}

WorldProblem prepared_problem(const Stepper& stepper) {
  WorldProblem out{stepper.problem(), stepper.contacts(), {}};
  const std::vector<std::string> bodies = body_names(stepper.world());
  for (const ContactPoint& c : out.points) out.bodies.emplace_back(bodies[c.body_a], bodies[c.body_b]);
  validate(out);
  return out;
}

}  // namespace stiction::python
