#include "stiction/experiments/drop.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <variant>

namespace stiction {

namespace {

using Eigen::Vector3d;

bool is_mjcf(const std::string& file) { return std::filesystem::path(file).extension() == ".xml"; }

bool has_plane(const World& world) {
  return std::ranges::any_of(world.geometries(), [](const CollisionGeometry& g) { return std::holds_alternative<HalfSpace>(g.shape); });
}

World load(const std::string& file, const DropOptions& options) {
  WorldBuilder builder;
  RobotOptions robot;
  robot.allow_impossible_inertia = true;  // the question is what is made of a file, not whether it is a good one
  if (options.floating && !is_mjcf(file)) robot.base = BaseKind::floating;
  builder.add_robot(file, robot);
  if (!has_plane(builder.build())) {
    StaticBody plane;
    plane.name = "plane";
    plane.shapes.push_back({HalfSpace{}, Eigen::Isometry3d::Identity(), {}});
    builder.add_static_body(plane);
  }
  return builder.build();
}

/// The first body that moves and weighs something: what an MJCF's slides and hinges of one body come before.
int first_moving(const World& world) {
  const auto bodies = world.bodies();
  const auto found = std::ranges::find_if(bodies, [](const Body& b) { return b.block >= 0 && b.mass > 1e-9; });
  return found == bodies.end() ? 0 : static_cast<int>(found - bodies.begin());
}

/// Height of the robot's lowest point above the planes at q (m).
double lowest(const World& world, const Eigen::VectorXd& q, double friction) {
  constexpr double kFar = 1e3;  // m, every point of the robot is within
  WorldData data(world);
  update_kinematics(world, q, data);
  CollisionScene scene = make_scene(world, friction);
  scene.update_poses(data.X_WB);
  std::vector<ContactPoint> points;
  scene.detect(kFar, points);
  double gap = data.X_WB[static_cast<std::size_t>(first_moving(world))].translation().z();  // of a robot without shapes
  bool any = false;
  for (const ContactPoint& c : points) {
    const auto plane = [&](int g) { return std::holds_alternative<HalfSpace>(scene.geometries()[static_cast<std::size_t>(g)].shape); };
    if (!plane(c.geometry_a) && !plane(c.geometry_b)) continue;
    gap = any ? std::min(gap, c.gap) : c.gap;
    any = true;
  }
  return gap;
}

/// Raises or lowers what floats until the robot's lowest point is at the height asked for; returns that height.
double place(const World& world, const DropOptions& options, Eigen::VectorXd& q) {
  constexpr double kUp = 10.0;  // m, clear of the plane wherever the file has its origin
  const auto raise = [&](double by) {
    bool any = false;
    for (const Joint& joint : world.joints()) {
      if (joint.kind != JointKind::free) continue;
      q[joint.q + 2] += by;
      any = true;
    }
    return any;
  };
  if (!raise(kUp)) return lowest(world, q, options.friction);
  raise(options.clearance - lowest(world, q, options.friction));
  return options.clearance;
}

double mass_of(const World& world) {
  double mass = 0.0;
  for (const Body& b : world.bodies()) mass += b.block >= 0 ? b.mass : 0.0;
  return mass;
}

/// What is followed from step to step.
class Watch {
 public:
  Watch(const World& world, const Stepper& stepper) : world_(world), stepper_(stepper), before_(world), after_(world) {}

  double begin(const State& state) {
    update(world_, state.q, state.v, after_);
    least_energy_ = energy(state);
    return after_.X_WB[static_cast<std::size_t>(first_moving(world_))].translation().z();
  }

  void step(const State& state, const StepReport& report, double dt, DropResult& out) {
    std::swap(before_, after_);
    update(world_, state.q, state.v, after_);
    const std::vector<double>& reach = stepper_.reach();
    for (std::size_t b = 0; b < reach.size(); ++b) {
      // The velocity after the step at the place before it is the one that moved the body.
      const Vector6d start = body_velocity(world_, before_, static_cast<int>(b), state.v), end = after_.V_WB[b];
      const double speed = std::max(speed_of(start, reach[b]), speed_of(end, reach[b]));
      out.fastest = std::max(out.fastest, speed);
      const double moved = (after_.X_WB[b].translation() - before_.X_WB[b].translation()).norm() - report.correction.farthest;
      out.jump = std::max(out.jump, moved - dt * speed);
      constexpr double kSmall = 1e-6;  // m
      if (dt * speed > kSmall) out.jump_share = std::max(out.jump_share, moved / (dt * speed) - 1.0);
    }
    const double now = energy(state);
    out.energy_rise = std::max(out.energy_rise, now - least_energy_);
    least_energy_ = std::min(least_energy_, now);
  }

  /// Bound on the height of the highest point of a moving body (m).
  double highest() const {
    double top = 0.0;
    for (std::size_t b = 0; b < after_.X_WB.size(); ++b) {
      if (world_.bodies()[b].block >= 0) top = std::max(top, after_.X_WB[b].translation().z() + stepper_.reach()[b]);
    }
    return top;
  }
  double height() const { return after_.X_WB[static_cast<std::size_t>(first_moving(world_))].translation().z(); }

 private:
  static double speed_of(const Vector6d& V, double reach) { return V.head<3>().norm() + reach * V.tail<3>().norm(); }
  double energy(const State& state) const { return kinetic_energy(world_, after_, state.v) + potential_energy(world_, after_); }

  const World& world_;
  const Stepper& stepper_;
  WorldData before_, after_;
  double least_energy_ = 0.0;
};

void record(const StepReport& report, const Stepper& stepper, DropResult& out) {
  ++out.steps;
  out.at_acceptable += report.at_acceptable() ? 1 : 0;
  out.retried += report.attempts > report.sub_steps ? 1 : 0;
  out.halved += report.sub_steps > 1 ? 1 : 0;
  out.corrections_refused += report.correction.refused ? 1 : 0;
  out.mean_iterations += (report.iterations - out.mean_iterations) / static_cast<double>(out.steps);
  out.most_contacts = std::max(out.most_contacts, stepper.problem().contacts());
  out.worst_residual = std::max(out.worst_residual, report.residual);
  out.penetration = std::max(out.penetration, report.deepest_penetration);
  out.penetration_end = report.deepest_penetration;
  if (out.steps == 1) out.penetration_start = report.deepest_penetration;
  if (report.at_acceptable()) out.status = "acceptable";
}

}  // namespace

DropResult drop(const std::string& file, const DropOptions& options, ContactProblem* failed) {
  DropResult out;
  out.file = file;
  const World world = load(file, options);
  State state = initial_state(world);
  out.clearance = place(world, options, state.q);
  Stepper stepper(world, make_scene(world, options.friction), options.step);
  out.robot = world.robots().front().name;
  out.warnings = world.warnings();
  out.warnings.insert(out.warnings.end(), stepper.scene().warnings.begin(), stepper.scene().warnings.end());
  out.nv = world.nv();
  out.bodies = static_cast<int>(world.bodies().size());
  out.geometries = static_cast<int>(world.geometries().size());
  out.mass = mass_of(world);
  Watch watch(world, stepper);
  out.height_start = watch.begin(state);
  out.energy_scale = out.mass * world.gravity().norm() * watch.highest();
  for (const Joint& joint : world.joints()) {
    if (joint.nv == 1) out.joints.emplace_back(joint.name, state.q[joint.q]);
  }
  const Eigen::VectorXd tau = Eigen::VectorXd::Zero(world.nv());
  const double dt = options.step.assemble.dt;
  const long steps = std::lround(options.duration / dt);
  for (long k = 0; k < steps; ++k) {
    const StepReport report = stepper.step(tau, state);
    if (!report.accepted) {
      out.status = to_string(report.status);
      out.worst_residual = std::max(out.worst_residual, report.residual);
      if (failed != nullptr) *failed = stepper.problem();
      break;
    }
    record(report, stepper, out);
    watch.step(state, report, dt, out);
  }
  out.time = state.time;
  out.height_end = watch.height();
  return out;
}

}  // namespace stiction
