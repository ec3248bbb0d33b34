#include "stiction/experiments/endurance.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <numbers>

#include <fmt/format.h>

#include "stiction/base/random.hpp"
#include "stiction/base/rotation.hpp"
#include "stiction/experiments/small_world.hpp"
#include "stiction/experiments/trot_control.hpp"
#include "stiction/experiments/trot_setup.hpp"
#include "stiction/sim/model_path.hpp"
#include "stiction/sim/observers.hpp"

namespace stiction {
namespace {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kDropStep = 1e-3;                      // s
constexpr double kStand = 0.3;                          // s until the robot stands
constexpr double kSlowest = 1.5, kFastest = 3.0;        // m/s of the base, pushed: the robot is 0.2 m high, so all go over or far
constexpr double kSpin = 8.0;                           // rad/s, largest
constexpr const char* kSetting = "coulomb_cone, 1 ms";  // of every run

/// What a person would see of several runs together.
struct Tally {
  long ended = 0, steps = 0, at_acceptable = 0, halved = 0;
  double overlap = 0.0;  // m

  void add(const RunSummary& run) {
    ended += run.stop == Stop::refused ? 1 : 0;
    steps += run.steps;
    at_acceptable += run.at_acceptable;
    halved += run.halved;
    overlap = std::max(overlap, run.deepest_penetration);
  }
  static std::vector<Quantity> quantities() {
    return {{"runs ended", ""},
            {"steps above the tolerance", "%", 0.0, "none above 1e-6", Reference::none},
            {"steps taken in parts", "%", 0.0, "", Reference::none},
            {"deepest overlap", "mm", 0.0, "", Reference::none}};
  }
  std::vector<double> figures() const {
    const double share = 100.0 / static_cast<double>(std::max(1L, steps));
    return {static_cast<double>(ended), share * static_cast<double>(at_acceptable), share * static_cast<double>(halved), 1e3 * overlap};
  }
};

template <class T>
std::vector<T> with(std::vector<T> list, std::initializer_list<T> more) {
  list.insert(list.end(), more);
  return list;
}

/// Sum of the normal forces of the last step at points up to this height along `up` (N).
double normal_force_below(const Run& run, const Vector3d& up, double height) {
  double force = 0.0;
  for (int i = 0; i < run.problem().contacts(); ++i) {
    if (run.stepper().contacts()[i].p_WC.dot(up) < height) force += run.solution().impulses[3 * i] / run.h();
  }
  return force;
}

Simulation robot_on_ground() {
  constexpr double kPushFriction = 0.8;
  const World world = links_on_ground(links_standing_posture(), kPushFriction);
  StepOptions options;
  options.assemble.dt = kDropStep;
  return {{world, make_scene(world, kPushFriction), options}, initial_state(world)};
}

Drives hold(const World& world) {
  const TrotPid gains;
  const VectorXd posture = links_standing_posture();
  Drives drives;
  for (Index j = 0; j < kTrotJoints; ++j) drives.servos.push_back({world.actuated()[j], posture[j], 0.0, gains.joint_kp, gains.joint_kv});
  return drives;
}

/// The base's velocity is changed at once, as by a blow.
void push(Simulation& robot, Uniform& uniform) {
  State state = robot.state();
  const double heading = uniform(0.0, 2.0 * std::numbers::pi), speed = uniform(kSlowest, kFastest);
  state.v.head<3>() += speed * Vector3d(std::cos(heading), std::sin(heading), uniform(0.0, 0.5));
  for (int k = 3; k < 6; ++k) state.v[k] += uniform(-kSpin, kSpin);
  robot.restart(state);
}

/// Lowest origin of a moving body (m): below the ground is where nothing may be.
double lowest_origin(const Simulation& robot) {
  WorldData data(robot.world());
  update_kinematics(robot.world(), robot.state().q, data);
  double lowest = kInfinity;
  for (std::size_t b = 0; b < data.X_WB.size(); ++b) {
    if (robot.world().bodies()[b].block >= 0) lowest = std::min(lowest, data.X_WB[b].translation().z());
  }
  return lowest;
}

void add_push_overs(ExperimentReport& report, const ExperimentOptions& options) {
  const int pushes = options.quick ? 10 : 100;
  add_solve(report, fmt::format("{} push-overs", pushes), kSetting,
            with(Tally::quantities(), {{"lowest body at the end", "m", 0.0, "origin; above the ground", Reference::none}}), [&] {
              Uniform uniform(options.seed);
              Simulation standing = robot_on_ground();
              standing.set_drives(hold(standing.world()));
              standing.run({.duration = kStand});
              Tally tally;
              double lowest = kInfinity;
              for (int k = 0; k < pushes; ++k) {
                Simulation robot = standing;
                push(robot, uniform);
                tally.add(robot.run({.duration = 2.0}));
                lowest = std::min(lowest, lowest_origin(robot));
              }
              return with(tally.figures(), {lowest});
            });
}

Eigen::Quaterniond random_turn(Uniform& uniform) {
  const double u = uniform(), a = uniform(0.0, 2.0 * std::numbers::pi), b = uniform(0.0, 2.0 * std::numbers::pi);
  return {std::sqrt(u) * std::cos(b), std::sqrt(1.0 - u) * std::sin(a), std::sqrt(1.0 - u) * std::cos(a), std::sqrt(u) * std::sin(b)};
}

void add_drops(ExperimentReport& report, const ExperimentOptions& options) {
  constexpr double kDrop = 2.0;  // m
  const int drops = options.quick ? 3 : 20;
  add_solve(report, fmt::format("{} drops from {:g} m", drops, kDrop), kSetting,
            with(Tally::quantities(),
                 {{"energy gained, over the fall's", "", 0.0, "but for what undoing overlap lifts: O(h) of the scheme", Reference::none}}),
            [&] {
              Uniform uniform(options.seed);
              Simulation robot = robot_on_ground();
              const State start = robot.state();
              double mass = 0.0;
              for (const Body& b : robot.world().bodies()) mass += b.block >= 0 ? b.mass : 0.0;
              Tally tally;
              double gained = 0.0;
              for (int k = 0; k < drops; ++k) {
                State at = start;
                at.q[2] = kDrop;
                at.q.segment<4>(3) = random_turn(uniform).coeffs();
                robot.restart(at);
                EnergyWatch energy(robot.world(), at);
                double lifted = 0.0, least = energy.start();
                const Observer watch = [&](const StepTaken& step) {
                  energy(step);
                  lifted += step.report.correction.lifted;
                  gained = std::max(gained, (energy.now() - lifted - least) / (mass * kGravity * kDrop));
                  least = std::min(least, energy.now() - lifted);
                };
                tally.add(robot.run({.duration = 2.5, .observers = {watch}}));
              }
              return with(tally.figures(), {gained});
            });
}

// One cube on another, 1 s. Forces are of the last step.
void add_mass_ratios(ExperimentReport& report) {
  constexpr double kSide = 0.1;  // m
  for (const double ratio : {1e2, 1e4, 1e6, 1e-2, 1e-4, 1e-6}) {
    const double lower = std::max(1.0, 1.0 / ratio), upper = std::max(1.0, ratio);
    add_solve(report, "mass ratios", fmt::format("{:g} kg on {:g} kg", upper, lower),
              {{"force on the ground", "N", (lower + upper) * kGravity}, {"sunk in 1 s", "m", 0.0}, {"moved in 1 s", "m", 0.0}}, [&] {
                WorldBuilder builder;
                builder.add_static_body(plane("ground", Vector3d::UnitZ()));
                const Shape cube = Box{Vector3d::Constant(0.5 * kSide)};
                builder.add_free_body(solid("lower", cube, lower, {0.0, 0.0, 0.5 * kSide}));
                builder.add_free_body(solid("upper", cube, upper, {0.0, 0.0, 1.5 * kSide}));
                Run run(builder.build(), {.h = kDropStep});
                run.until(1.0);
                const Vector3d from(0.0, 0.0, 1.5 * kSide), to = run.position(1);
                return std::vector<double>{normal_force_below(run, Vector3d::UnitZ(), 0.5 * kSide), std::abs(to.z() - from.z()),
                                           (to - from).head<2>().norm()};
              });
  }
}

ConvexMesh prism(int corners, double radius, double half_height) {
  ConvexMesh mesh;
  for (int k = 0; k < 2 * corners; ++k) {
    const double a = std::numbers::pi * k / corners * 2.0;
    mesh.vertices.emplace_back(radius * std::cos(a), radius * std::sin(a), k < corners ? -half_height : half_height);
  }
  return mesh;
}

void add_faces(ExperimentReport& report) {
  constexpr int kCorners = 16, kPrisms = 4;
  constexpr double kFacesSlope = 0.35, kPrismRadius = 0.1, kPrismHalf = 0.03;  // rad, below atan 0.5; m
  add_solve(
      report, "faces of 16 points", "4 prisms on a slope of 0.35 rad, coulomb_cone, 1 ms",
      {{"contacts", "", kCorners * kPrisms},
       {"normal force on the slope", "N", kPrisms * kGravity * std::cos(kFacesSlope)},
       {"moved in 5 s, most", "m", 0.0}},
      [&] {
        const Vector3d normal(std::sin(kFacesSlope), 0.0, std::cos(kFacesSlope));
        WorldBuilder builder;
        builder.add_static_body(plane("slope", normal));
        std::vector<Vector3d> start;
        for (int k = 0; k < kPrisms; ++k) {
          start.emplace_back((2 * k + 1) * kPrismHalf * normal);
          FreeBody body = solid(fmt::format("prism {}", k), Cylinder{kPrismRadius, kPrismHalf}, 1.0, start.back(), rotation_of_z(normal));
          body.shapes = {{prism(kCorners, kPrismRadius, kPrismHalf)}};  // as heavy all around as the cylinder
          builder.add_free_body(body);
        }
        Run run(builder.build(), {.h = kDropStep});
        run.until(5.0);
        double moved = 0.0;
        for (int k = 0; k < kPrisms; ++k) moved = std::max(moved, (run.position(k) - start[k]).norm());
        return std::vector<double>{static_cast<double>(run.problem().contacts()), normal_force_below(run, normal, kPrismHalf), moved};
      });
}

/// Memory of this process that is in use (MB); 0 where the system does not say.
double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double whole = 0.0, resident = 0.0;
  file >> whole >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) * 1e-6;
}

void add_soak(ExperimentReport& report, const ExperimentOptions& options) {
  const double duration = options.quick ? 10.0 : 600.0;
  constexpr double kEvery = 2.0;  // s
  add_solve(report, fmt::format("soak of {:g} s", duration), kSetting,
            with(Tally::quantities(), {{"simulated over real time", "", 0.0, "one thread", Reference::none},
                                       {"memory grown after a tenth of it", "MB", 0.0, "", Reference::none}}),
            [&] {
              Uniform uniform(options.seed);
              Simulation robot = robot_on_ground();
              robot.set_drives(hold(robot.world()));
              Tally tally;
              double memory = 0.0;
              const long pushes = std::lround(duration / kEvery);
              const auto begin = std::chrono::steady_clock::now();
              for (long k = 0; k < pushes && tally.ended == 0; ++k) {
                push(robot, uniform);
                tally.add(robot.run({.duration = kEvery}));
                if (k == pushes / 10) memory = resident_megabytes();
              }
              const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
              return with(tally.figures(), {duration / seconds, resident_megabytes() - memory});
            });
}

}  // namespace

ExperimentReport run_endurance(const ExperimentOptions& options) {
  ExperimentReport report;
  add_push_overs(report, options);
  add_drops(report, options);
  add_mass_ratios(report);
  add_faces(report);
  add_soak(report, options);
  report.legend =
      "Steps above the tolerance of 1e-9 met 1e-6. Pushed: the base gets 1.5 to 3 m/s along the ground, up to 0.5 of that upwards and up "
      "to 8 "
      "rad/s about each axis.\n";
  return report;
}

}  // namespace stiction
