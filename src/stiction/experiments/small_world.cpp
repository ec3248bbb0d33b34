#include "stiction/experiments/small_world.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/rotation.hpp"
#include "stiction/experiments/trot_control.hpp"
#include "stiction/sim/model_path.hpp"
#include "stiction/sim/scene.hpp"

namespace stiction {
namespace {

Stepper make_stepper(const World& world, const StepOptions& options, double restitution) {
  const std::vector<double> restitutions(world.bodies().size(), restitution);
  return {world, make_scene(world, 0.5, restitutions), options};
}

}  // namespace

StepOptions step_options(const RunSetting& setting) {
  StepOptions options;
  options.assemble.dt = setting.h;
  options.assemble.friction = setting.mu;
  options.assemble.material = setting.material;
  options.contact.law = setting.law;
  options.contact.solver = setting.solver;
  options.contact.edges = setting.edges;
  options.contact.align_edges = setting.align_edges;
  options.scheme = setting.scheme;
  options.events = setting.events;
  return options;
}

Run::Run(const World& world, const RunSetting& setting) : Run(world, step_options(setting), setting.restitution) {}

Run::Run(const World& world, const StepOptions& options, double restitution)
    : state(initial_state(world)), stepper_(make_stepper(world, options, restitution)) {}

void Run::step(const Eigen::Ref<const Eigen::VectorXd>& tau) {
  const StepReport report = stepper_.step(tau, state);
  if (!report.accepted) {
    throw RunFailed(fmt::format("refused at {:.4g} s: {}, residual {:.1e}", state.time, to_string(report.status), report.residual));
  }
}

void Run::until(double time) {
  const auto steps = std::lround((time - state.time) / h());
  for (long k = 0; k < steps; ++k) step();
}

double Run::normal_force() const {
  double sum = 0.0;
  for (int i = 0; i < problem().contacts(); ++i) sum += solution().impulses[3 * i];
  return sum / problem().dt;
}

Eigen::Matrix3d Run::rotation(int body) const {
  return Eigen::Quaterniond(Eigen::Vector4d(state.q.segment<4>(7 * body + 3))).toRotationMatrix();
}

void Run::set_velocity(int body, const Eigen::Vector3d& linear, const Eigen::Vector3d& angular) {
  state.v.segment<3>(6 * body) = rotation(body).transpose() * linear;
  state.v.segment<3>(6 * body + 3) = rotation(body).transpose() * angular;
}

double Run::energy() const {
  WorldData data(world());
  update(world(), state.q, state.v, data);
  return kinetic_energy(world(), data, state.v) + potential_energy(world(), data);
}

Eigen::VectorXd vector(std::initializer_list<double> values) {
  Eigen::VectorXd out(static_cast<Eigen::Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

double threshold(double low, double high, const std::function<bool(double)>& holds) {
  constexpr int kHalvings = 40;  // of an interval of the order of 1: to 1e-12
  const bool at_low = holds(low);
  if (holds(high) == at_low) throw RunFailed(fmt::format("no threshold between {:g} and {:g}", low, high));
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (low + high);
    (holds(middle) == at_low ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

StaticBody plane(const std::string& name, const Eigen::Vector3d& normal, const Eigen::Vector3d& point, std::optional<double> friction) {
  StaticBody body;
  body.name = name;
  body.pose.linear() = rotation_of_z(normal);
  body.pose.translation() = point;
  body.shapes.push_back({HalfSpace{}, Eigen::Isometry3d::Identity(), friction});
  return body;
}

World links_on_ground(const Eigen::Ref<const Eigen::VectorXd>& posture, double friction, Coordinates coordinates, bool self_collision) {
  RobotOptions robot;
  robot.base = BaseKind::floating;
  robot.pose.translation().z() = kTrotFootRadius - links_nominal_feet()(2, 0);
  robot.self_collision = self_collision;
  const std::string file = model_path("links.urdf");
  WorldBuilder names;
  names.add_robot(file, robot);
  const World plain = names.build();
  for (Eigen::Index j = 0; j < posture.size(); ++j) robot.joints[joint_at(plain, plain.actuated()[j])->name].position = posture[j];
  robot.coordinates = coordinates;
  WorldBuilder builder;
  builder.add_robot(file, robot);
  builder.add_static_body(plane("ground", Eigen::Vector3d::UnitZ(), Eigen::Vector3d::Zero(), friction));
  return builder.build();
}

FreeBody solid(const std::string& name, const Shape& shape, double mass, const Eigen::Vector3d& position, const Eigen::Matrix3d& rotation) {
  FreeBody body;
  body.name = name;
  body.mass = mass;
  body.inertia = solid_inertia(shape, mass);
  body.shapes.push_back({shape});
  body.pose.translation() = position;
  body.pose.linear() = rotation;
  return body;
}

World on_ground(const FreeBody& body) {
  WorldBuilder builder;
  builder.add_static_body(plane("ground", Eigen::Vector3d::UnitZ()));
  builder.add_free_body(body);
  return builder.build();
}

void add_mjcf(WorldBuilder& builder, const std::string& content) { builder.add_robot_text("<mujoco>" + content + "</mujoco>"); }

}  // namespace stiction
