#include "stiction/experiments/drop.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <variant>

#include "stiction/sim/observers.hpp"

namespace stiction {

namespace {

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
  double gap = data.X_WB[first_moving(world)].translation().z();  // of a robot without shapes
  bool any = false;
  for (const ContactPoint& c : points) {
    const auto plane = [&](int g) { return std::holds_alternative<HalfSpace>(scene.geometries()[g].shape); };
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

/// How far and how fast the bodies move from step to step. An observer by reference.
class MotionWatch {
 public:
  MotionWatch(const World& world, const Stepper& stepper, const State& start, DropResult& out)
      : world_(world), reach_(stepper.reach()), before_(world), after_(world), out_(out) {
    update(world_, start.q, start.v, after_);
    out_.height_start = height();
  }

  void operator()(const StepTaken& step) {
    const double dt = step.stepper.options().assemble.dt;
    std::swap(before_, after_);
    update(world_, step.state.q, step.state.v, after_);
    for (std::size_t b = 0; b < reach_.size(); ++b) {
      // The velocity after the step at the place before it is the one that moved the body.
      const Vector6d start = body_velocity(world_, before_, static_cast<int>(b), step.state.v), end = after_.V_WB[b];
      const double speed = std::max(speed_of(start, reach_[b]), speed_of(end, reach_[b]));
      out_.fastest = std::max(out_.fastest, speed);
      const double moved = (after_.X_WB[b].translation() - before_.X_WB[b].translation()).norm() - step.report.correction.farthest;
      out_.jump = std::max(out_.jump, moved - dt * speed);
      constexpr double kSmall = 1e-6;  // m
      if (dt * speed > kSmall) out_.jump_share = std::max(out_.jump_share, moved / (dt * speed) - 1.0);
    }
  }

  /// Bound on the height of the highest point of a moving body (m).
  double highest() const {
    double top = 0.0;
    for (std::size_t b = 0; b < after_.X_WB.size(); ++b) {
      if (world_.bodies()[b].block >= 0) top = std::max(top, after_.X_WB[b].translation().z() + reach_[b]);
    }
    return top;
  }
  double height() const { return after_.X_WB[first_moving(world_)].translation().z(); }

 private:
  static double speed_of(const Vector6d& V, double reach) { return V.head<3>().norm() + reach * V.tail<3>().norm(); }

  const World& world_;
  const std::vector<double>& reach_;
  WorldData before_, after_;
  DropResult& out_;
};

void describe(const Simulation& simulation, DropResult& out) {
  const World& world = simulation.world();
  out.robot = world.robots().front().name;
  out.warnings = simulation.warnings();
  out.nv = world.nv();
  out.bodies = static_cast<int>(world.bodies().size());
  out.geometries = static_cast<int>(world.geometries().size());
  out.mass = mass_of(world);
  for (const Joint& joint : world.joints()) {
    if (joint.nv == 1) out.joints.emplace_back(joint.name, simulation.state().q[joint.q]);
  }
}

}  // namespace

DropResult drop(const std::string& file, const DropOptions& options, ContactProblem* failed) {
  DropResult out;
  out.file = file;
  const World world = load(file, options);
  State start = initial_state(world);
  out.clearance = place(world, options, start.q);
  Simulation simulation({world, make_scene(world, options.friction), options.step}, start);
  describe(simulation, out);
  MotionWatch motion(world, simulation.stepper(), start, out);
  EnergyWatch energy(world, start);
  out.energy_scale = out.mass * world.gravity().norm() * motion.highest();
  out.run = simulation.run({.duration = options.duration, .observers = {std::ref(motion), std::ref(energy)}});
  if (out.run.stop == Stop::refused && failed != nullptr) *failed = simulation.stepper().problem();
  out.energy_rise = energy.rise();
  out.time = simulation.state().time;
  out.height_end = motion.height();
  return out;
}

}  // namespace stiction
