#include <cmath>

#include <fmt/format.h>

#include "stiction/experiments/classics.hpp"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr double kRadius = 0.1;
constexpr double kRolls = 1e-9;  // m/s, the tolerance of the solves: slower slip is none
const double kSlope = 20.0 * M_PI / 180.0;

/// A round body, its inertia factor I/(m r²), and what a rolling one has of g sin θ.
struct Round {
  const char* name;
  Shape shape;
  double inertia;
};

Run round_on_incline(const Round& body, RunSetting setting) {
  const Vector3d n(std::sin(kSlope), 0.0, std::cos(kSlope));
  const Eigen::Matrix3d lying = Eigen::AngleAxisd(0.5 * M_PI, Vector3d::UnitX()).toRotationMatrix();  // a disc's axis along y
  WorldBuilder builder;
  builder.add_static_body(plane("incline", n));
  builder.add_free_body(solid("round", body.shape, 1.0, kRadius * n, lying));
  return {builder.build(), setting};
}

/// Down the incline, and the slip of the contact point there.
double down(const Run& run) { return run.velocity(0).dot(Vector3d(std::cos(kSlope), 0.0, -std::sin(kSlope))); }
double slip(const Run& run) { return down(run) - kRadius * run.spin(0).y(); }

void add_round_on_incline(ExperimentReport& report) {
  const std::vector<Round> bodies{{"sphere", Sphere{kRadius}, 0.4}, {"disc", Cylinder{kRadius, 0.02}, 0.5}};
  for (const Round& body : bodies) {
    const std::string example = fmt::format("{} on an incline of 20°", body.name);
    const double needed = body.inertia / (1.0 + body.inertia) * std::tan(kSlope), low = 0.5 * needed;
    const double rolling = kGravity * std::sin(kSlope) / (1.0 + body.inertia);
    const double sliding = kGravity * (std::sin(kSlope) - low * std::cos(kSlope)),
                 turning = low * kGravity * std::cos(kSlope) / (body.inertia * kRadius);
    for (const LawChoice& law : rigid_laws()) {
      add_solve(report, example, law.name,
                {{"acceleration, rolling", "m/s²", rolling},
                 {"slip after 1 s, rolling", "m/s", 0.0},
                 {"least μ that rolls", "", needed},
                 {"acceleration at half of it", "m/s²", sliding},
                 {"angular acceleration at half of it", "rad/s²", turning}},
                [&] {
                  RunSetting setting = law.setting;
                  setting.mu = 2.0 * needed;
                  Run rolls = round_on_incline(body, setting);
                  rolls.until(1.0);
                  const double least = threshold(low, 2.0 * needed, [&](double mu) {
                    setting.mu = mu;
                    Run run = round_on_incline(body, setting);
                    run.until(0.02);
                    return std::abs(slip(run)) < kRolls;
                  });
                  setting.mu = low;
                  Run slides = round_on_incline(body, setting);
                  slides.until(1.0);
                  return std::vector<double>{down(rolls), slip(rolls), least, down(slides), slides.spin(0).y()};
                });
    }
  }
}

constexpr double kHardlySlips = 1e-4;  // m/s: laws that are not Coulomb's come to rolling only in the end

void add_slide_to_roll(ExperimentReport& report) {
  const double mu = 0.2, v = 2.0;
  const std::vector<Quantity> quantities{{"time until it rolls", "s", 2.0 * v / (7.0 * mu * kGravity)},
                                         {"distance until it rolls", "m", 12.0 * v * v / (49.0 * mu * kGravity)},
                                         {"speed then", "m/s", 5.0 * v / 7.0}};
  std::vector<LawChoice> laws = rigid_laws();
  for (const Scheme scheme : kSchemes) {
    if (scheme != Scheme::semi_implicit_euler) laws.push_back({fmt::format("coulomb_cone, {}", to_string(scheme)), {.scheme = scheme}});
  }
  for (const LawChoice& law : laws) {
    add_runs(report, "ball that slides, then rolls", law.name, quantities, [&](double h) {
      RunSetting setting = law.setting;
      setting.h = h;
      setting.mu = mu;
      Run run(on_ground(solid("ball", Sphere{kRadius}, 1.0, Vector3d(0.0, 0.0, kRadius))), setting);
      run.set_velocity(0, Vector3d(v, 0.0, 0.0), Vector3d::Zero());
      const auto slips = [&] { return run.velocity(0).x() - kRadius * run.spin(0).y(); };
      double before = v, last = v, at = 0.0, speed = v;
      while (run.state.time < 1.0) {
        at = run.position(0).x();
        speed = run.velocity(0).x();
        run.step();
        const double now = slips();
        if (std::abs(now) < kHardlySlips) {
          const double braking = before - last, share = braking > 0.0 ? std::min(1.0, last / braking) : 1.0;  // of the last step
          return std::vector<double>{run.state.time - h + share * h, at + share * h * 0.5 * (speed + run.velocity(0).x()),
                                     run.velocity(0).x()};
        }
        before = last;
        last = now;
      }
      throw RunFailed(fmt::format("still slips at {:.2g} m/s after 1 s", slips()));
    });
  }
}

}  // namespace

void add_classics_rolling(ExperimentReport& report) {
  add_round_on_incline(report);
  add_slide_to_roll(report);
}

}  // namespace stiction
