// One step of 1 ms of four small scenes, law coulomb_cone, all options at their defaults but for the clock of its stages, which is off as
// MuJoCo's is: from a state to the next, control included.
//
//   box_slides, box_sticks   1 kg, 0.2 m cube on an incline of 15°, μ = 0.2 and 0.5, 2 s
//   row_of_boxes             four 1 kg, 0.1 m boxes held up by friction (μ = 0.5) between two 1 kg pushers that are pushed together with
//                            100 N, 1 s
//   solo12_stands            Solo12 on its four feet (spheres r = 16 mm, μ = 0.6) under a joint PD, kp = 10, kd = 0.1 N m, 2 s
//
// An iteration is one step; the scene starts anew when its time is over. Counters are those of the first run: `creep_m` is how far what
// should rest has moved (box_slides: how far it is from where it should be), of Solo12's feet in the second half; contacts and iterations
// are the mean of a step.
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <span>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/benchmarks.hpp"
#include "stiction/forward/step.hpp"
#include "stiction/model/robots_for_test.hpp"

namespace stiction::bench {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kStep = 1e-3, kGravity = 9.81;

struct SmallScene {
  Stepper stepper;
  State start;
  int steps;
  std::function<void(const State&, VectorXd& tau)> control;
  std::function<double(const Stepper&, const State& middle, const State& end)> creep;  ///< m
};

Stepper stepper_for(const World& world, CollisionScene scene) {
  StepOptions options;
  options.assemble.dt = kStep;
  options.timed = false;
  return {world, std::move(scene), options};
}

FreeBody cube(std::string name, double half, const Vector3d& position) {
  FreeBody body;
  body.name = std::move(name);
  body.mass = 1.0;
  body.shapes.push_back({Box{Vector3d::Constant(half)}});
  body.inertia = solid_inertia(body.shapes.front().shape, body.mass);
  body.pose.translation() = position;
  return body;
}

void no_control(const State&, VectorXd&) {}

SmallScene box_on_incline(double mu) {
  constexpr double kAngle = std::numbers::pi / 12.0, kHalf = 0.1, kTime = 2.0;
  WorldBuilder builder;
  builder.set_gravity(kGravity * Vector3d(std::sin(kAngle), 0.0, -std::cos(kAngle)));
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}});
  builder.add_free_body(cube("box", kHalf, {0.0, 0.0, kHalf}));
  const World world = builder.build();
  const double fall = std::max(0.0, std::sin(kAngle) - mu * std::cos(kAngle)) * kGravity;
  constexpr int kSteps = 2000;
  // Velocities first, so the box goes h²/2 a further in each step than the parabola.
  const double way = 0.5 * fall * kTime * (kTime + kStep);
  return {stepper_for(world, make_scene(world, mu)), initial_state(world), kSteps, no_control,
          [way](const Stepper&, const State&, const State& end) { return std::abs(end.q[0] - way); }};
}

// A box of 0.1 x 0.2 x 0.2 m that slides along x, as a robot without a base.
std::string pusher(int side) {
  return fmt::format(R"(<robot name="pusher_{0}"><link name="rail_{0}"/><link name="pusher_{0}">
    <inertial><mass value="1"/><inertia ixx="0.0066667" iyy="0.0041667" izz="0.0041667" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.1 0.2 0.2"/></geometry></collision></link>
    <joint name="slide_{0}" type="prismatic"><parent link="rail_{0}"/><child link="pusher_{0}"/><axis xyz="1 0 0"/>
    <limit lower="-10" upper="10" effort="1e6" velocity="1e6"/></joint></robot>)",
                     side);
}

SmallScene row_of_boxes() {
  constexpr double kPush = 100.0, kHalf = 0.05;
  constexpr int kSteps = 1000;
  WorldBuilder builder;
  for (int k = 0; k < 4; ++k) builder.add_free_body(cube(fmt::format("box_{}", k), kHalf, {-0.15 + 0.1 * k, 0.0, 0.0}));
  for (const int side : {-1, 1}) {
    RobotOptions options;
    options.pose.translation().x() = 0.25 * side;
    builder.add_robot_text(pusher(side), options);
  }
  const World world = builder.build();
  const int left = world.joints()[world.joint("slide_-1")].v;
  const int right = world.joints()[world.joint("slide_1")].v;
  return {stepper_for(world, make_scene(world, 0.5)), initial_state(world), kSteps,
          [left, right](const State&, VectorXd& tau) {
            tau[left] = kPush;
            tau[right] = -kPush;
          },
          [](const Stepper& stepper, const State&, const State& end) {
            double sag = 0.0;
            for (const Block& block : stepper.world().blocks()) {
              if (block.robot < 0) sag = std::max(sag, std::abs(end.q[block.q + 2]));
            }
            return sag;
          }};
}

constexpr std::array kFeet{"FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"};
constexpr double kFootRadius = 0.016;
constexpr double kStiffness = 10.0, kDamping = 0.1;  // of the joints' control (N m, N m s)

Vector3d foot_position(const World& world, const WorldData& data, const char* name) {
  const Link& link = world.links()[world.link(name)];
  return (data.X_WB[link.body] * link.X_BL).translation();
}

// Spheres at the feet and the ground, whatever shapes the file has.
CollisionScene feet_on_ground(const World& world, double mu) {
  std::vector<SceneGeometry> geometries(1);
  geometries[0].name = "ground";
  geometries[0].shape = HalfSpace{};
  for (const char* name : kFeet) {
    const Link& link = world.links()[world.link(name)];
    SceneGeometry& foot = geometries.emplace_back();
    foot.name = name;
    foot.body = link.body;
    foot.placement = link.X_BL;
    foot.shape = Sphere{kFootRadius};
    foot.group = 0;
  }
  for (SceneGeometry& geometry : geometries) geometry.friction = mu;
  return CollisionScene(std::move(geometries));
}

SmallScene solo12_stands() {
  constexpr double kMu = 0.6;
  constexpr int kSteps = 2000;
  RobotOptions options;
  options.base = BaseKind::floating;
  for (const char* leg : {"FL", "FR", "HL", "HR"}) {
    const double sign = leg[0] == 'F' ? 1.0 : -1.0;
    options.joints[fmt::format("{}_HAA", leg)].position = 0.0;
    options.joints[fmt::format("{}_HFE", leg)].position = 0.8 * sign;
    options.joints[fmt::format("{}_KFE", leg)].position = -1.6 * sign;
  }
  WorldBuilder builder;
  builder.add_robot(robot_file("solo12"), options);
  const World world = builder.build();
  State start = initial_state(world);
  WorldData data(world);
  update_kinematics(world, start.q, data);
  double lowest = kInfinity;
  for (const char* name : kFeet) lowest = std::min(lowest, foot_position(world, data, name).z());
  start.q[2] += kFootRadius - lowest;
  const VectorXd target = start.q.tail(12);
  return {stepper_for(world, feet_on_ground(world, kMu)), start, kSteps,
          [target](const State& state, VectorXd& tau) {
            tau.tail(12) = kStiffness * (target - state.q.tail(12)) - kDamping * state.v.tail(12);
          },
          [](const Stepper& stepper, const State& middle, const State& end) {
            const World& robot = stepper.world();
            WorldData before(robot), after(robot);
            update_kinematics(robot, middle.q, before);
            update_kinematics(robot, end.q, after);
            double creep = 0.0;
            for (const char* name : kFeet) {
              creep = std::max(creep, (foot_position(robot, after, name) - foot_position(robot, before, name)).head<2>().norm());
            }
            return creep;
          }};
}

// One step; false when it was refused.
bool advance(SmallScene& scene, State& state, VectorXd& tau, StepReport& report) {
  scene.control(state, tau);
  report = scene.stepper.step(tau, state);
  return report.accepted;
}

// A whole run from the start, for the counters; it leaves buffers at their sizes.
bool count(SmallScene& scene, benchmark::State& bench) {
  State state = scene.start, middle;
  VectorXd tau = VectorXd::Zero(scene.stepper.world().nv());
  double contacts = 0.0, iterations = 0.0, worst = 0.0;
  StepReport report;
  for (int k = 0; k < scene.steps; ++k) {
    if (k == scene.steps / 2) middle = state;
    if (!advance(scene, state, tau, report)) return false;
    contacts += scene.stepper.problem().contacts();
    iterations += report.iterations;
    worst = std::max(worst, report.residual);
  }
  bench.counters["creep_m"] = scene.creep(scene.stepper, middle, state);
  bench.counters["contacts"] = contacts / scene.steps;
  bench.counters["iterations"] = iterations / scene.steps;
  bench.counters["residual"] = worst;
  return true;
}

void run(benchmark::State& bench, SmallScene (*make)()) {
  SmallScene scene = make();
  if (!count(scene, bench)) return bench.SkipWithError("a step was refused");
  State state;
  VectorXd tau = VectorXd::Zero(scene.stepper.world().nv());
  StepReport report;
  int left = 0;
  for (auto _ : bench) {
    if (left == 0) {
      bench.PauseTiming();
      state = scene.start;
      scene.stepper.reset();
      left = scene.steps;
      bench.ResumeTiming();
    }
    --left;
    advance(scene, state, tau, report);
  }
}

}  // namespace

void register_all() {
  struct Named {
    const char* name;
    SmallScene (*make)();
  };
  static constexpr Named kScenes[] = {{"box_slides", [] { return box_on_incline(0.2); }},
                                      {"box_sticks", [] { return box_on_incline(0.5); }},
                                      {"row_of_boxes", row_of_boxes},
                                      {"solo12_stands", solo12_stands}};
  for (const Named& scene : kScenes) {
    benchmark::RegisterBenchmark(scene.name, [&scene](benchmark::State& bench) { run(bench, scene.make); })->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace stiction::bench
