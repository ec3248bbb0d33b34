#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/rotation.hpp"
#include "stiction/experiments/classics.hpp"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr double kSlidingMu = 0.5;
const Vector3d kHalf(0.1, 0.1, 0.05);

double radians(double degrees) { return degrees * M_PI / 180.0; }

// --- Incline: a plane that falls at a slope in the direction of an azimuth; the contact's first tangent lies along azimuth 0.
Vector3d incline_normal(double slope, double azimuth) {
  return {std::sin(slope) * std::cos(azimuth), std::sin(slope) * std::sin(azimuth), std::cos(slope)};
}

Run box_on_incline(double slope, double azimuth, RunSetting setting) {
  setting.mu = kSlidingMu;
  const Vector3d n = incline_normal(slope, azimuth);
  WorldBuilder builder;
  builder.add_static_body(plane("incline", n));
  builder.add_free_body(solid("box", Box{kHalf}, 1.0, kHalf.z() * n, rotation_of_z(n)));
  return {builder.build(), setting};
}

/// `between`: the way down is halfway between the tangents, which lie in the plane; otherwise along the first.
double steepest_that_holds(bool between, const RunSetting& setting) {
  return std::tan(threshold(0.2, 0.6, [&](double slope) {
    const double azimuth = between ? std::acos(1.0 / std::hypot(1.0, std::cos(slope))) : 0.0;
    Run run = box_on_incline(slope, azimuth, setting);
    run.until(0.02);
    return run.velocity(0).norm() < kStill;
  }));
}

void add_incline(ExperimentReport& report) {
  const double gentle = std::atan(0.9 * kSlidingMu), steep = std::atan(1.5 * kSlidingMu);
  const double a = kGravity * (std::sin(steep) - kSlidingMu * std::cos(steep));
  std::vector<LawChoice> laws = rigid_laws();
  for (LawChoice& law : soft_laws()) laws.push_back(std::move(law));
  for (const LawChoice& law : laws) {
    if (!law.setting.material) {
      add_solve(report, "incline", law.name, {{"steepest that holds, tan θ", "", kSlidingMu}},
                [&] { return std::vector<double>{steepest_that_holds(false, law.setting)}; });
    }
    if (law.name.ends_with("4 edges")) {
      add_solve(report, "incline", law.name, {{"the same, down between two vertices", "", kSlidingMu, "a pyramid has μ cos 45° there"}},
                [&] { return std::vector<double>{steepest_that_holds(true, law.setting)}; });
    }
    add_solve(report, "incline", law.name, {{"creep in 1 s at tan θ = 0.9 μ", "m", 0.0}, {"acceleration at tan θ = 1.5 μ", "m/s²", a}},
              [&] {
                Run run = box_on_incline(gentle, 0.0, law.setting);
                run.until(1.0);  // what is soft settles
                const Vector3d settled = run.position(0);
                run.until(2.0);
                Run slide = box_on_incline(steep, 0.0, law.setting);
                slide.until(1.0);
                const Vector3d down(std::cos(steep), 0.0, -std::sin(steep));
                return std::vector<double>{(run.position(0) - settled).norm(), slide.velocity(0).dot(down)};
              });
  }
}

// --- Sliding stop on level ground.
struct SlidingStop {
  double distance, sideways, time;
};

/// The time of rest within the last step is where the speeds of the two steps before it point to.
SlidingStop slide_to_rest(double angle, double speed, RunSetting setting) {
  setting.mu = kSlidingMu;
  Run run(on_ground(solid("box", Box{kHalf}, 1.0, Vector3d(0.0, 0.0, kHalf.z()))), setting);
  const Vector3d along(std::cos(angle), std::sin(angle), 0.0), across(-along.y(), along.x(), 0.0);
  run.set_velocity(0, speed * along, Vector3d::Zero());
  double before = speed, last = speed, time = 0.0;
  while (run.state.time < 1.0) {
    run.step();
    const double now = run.velocity(0).head<2>().norm();
    if (now < kStill) {
      const double braking = (before - last) / run.h();
      time = run.state.time - run.h() * (1.0 - (braking > 0.0 ? std::min(1.0, last / (run.h() * braking)) : 1.0));
      break;
    }
    before = last;
    last = now;
  }
  if (time == 0.0) throw RunFailed(fmt::format("still moves at {:.2g} m/s after 1 s", last));
  return {run.position(0).dot(along), std::abs(run.position(0).dot(across)), time};
}

void add_sliding_stop(ExperimentReport& report) {
  const double speed = 1.0, distance = speed * speed / (2.0 * kSlidingMu * kGravity), time = speed / (kSlidingMu * kGravity);
  std::vector<LawChoice> laws = rigid_laws();
  laws.push_back({"coulomb_pyramid, 4 edges aligned", {.law = Law::coulomb_pyramid, .align_edges = true}});
  laws.push_back({"coulomb_pyramid, 32 edges", {.law = Law::coulomb_pyramid, .edges = 32}});
  for (const LawChoice& law : laws) {
    add_runs(report, "sliding stop", law.name,
             {{"distance", "m", distance},
              {"time", "s", time},
              {"distance, 30° to the first tangent", "m", distance},
              {"time, 30°", "s", time},
              {"strays sideways, 30°", "m", 0.0}},
             [&](double h) {
               RunSetting setting = law.setting;
               setting.h = h;
               const SlidingStop along = slide_to_rest(0.0, speed, setting), turned = slide_to_rest(radians(30.0), speed, setting);
               return std::vector<double>{along.distance, along.time, turned.distance, turned.time, turned.sideways};
             });
  }
}

}  // namespace

void add_classics_sliding(ExperimentReport& report) {
  add_incline(report);
  add_sliding_stop(report);
}

}  // namespace stiction
