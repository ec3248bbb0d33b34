#include <cmath>

#include <fmt/format.h>

#include "stiction/experiments/small_world.hpp"
#include "stiction/experiments/textbook.hpp"

namespace stiction {
namespace {

using Eigen::Matrix2d;
using Eigen::Vector2d;
using Eigen::Vector3d;

// --- Compliant contact: a spring along the normal, friction μ λ_N min(1, slip/v_s).
constexpr double kPointMass = 2.0, kPointMu = 0.5;

/// A point of 2 kg that slides along x and z, a sphere of 0.1 m with its lowest point on the ground.
World sliding_point(double mass = kPointMass) {
  WorldBuilder builder;
  builder.add_static_body(plane("ground", Vector3d::UnitZ()));
  add_mjcf(builder, fmt::format(R"(<worldbody><body name="brick"><joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1"/><inertial pos="0 0 0" mass="{}" diaginertia="1 1 1"/>
      <geom type="sphere" size="0.1" pos="0 0 0.1"/></body></worldbody>)",
                                mass));
  return builder.build();
}

RunSetting compliant(double stiffness, double damping) {
  RunSetting setting{.law = Law::regularized_stiction, .mu = kPointMu};
  setting.material.emplace();
  setting.material->stiffness = stiffness;
  setting.material->damping = damping;
  setting.material->stiction_speed = 1e-2;
  return setting;
}

void add_compliant(ExperimentReport& report) {
  const std::string law = "regularized_stiction";
  const double humanoid = 180.0;
  add_solve(report, "compliant contact", law, {{"penetration, 180 kg on m g/1 mm", "m", 1e-3}}, [&] {
    Run run(sliding_point(humanoid), compliant(humanoid * kGravity / 1e-3, 2e4));
    run.until(2.0);  // the damper's time constant d/k is 11 ms
    return std::vector<double>{-run.state.q[1]};
  });
  const double pull = 0.4 * kPointMu * kPointMass * kGravity;
  add_solve(report, "compliant contact", law,
            {{"creep under 0.4 of the friction limit", "m/s", 0.4e-2, "v_s = 10 mm/s times the share: held by a rigid law"},
             {"friction while it creeps", "N", -pull}},
            [&] {
              Run run(sliding_point(), compliant(1e5, 2e3));
              for (int k = 0; k < 2000; ++k) run.step(Vector2d(pull, 0.0));
              return std::vector<double>{run.state.v[0], run.solution().impulses[1] / run.h()};
            });
  add_solve(report, "compliant contact", law, {{"deceleration of a slide", "m/s²", -kPointMu * kGravity}}, [&] {
    Run run(sliding_point(), compliant(1e5, 2e3));
    run.until(0.5);  // settled
    run.state.v[0] = 1.0;
    run.until(0.6);
    return std::vector<double>{(run.state.v[0] - 1.0) / 0.1};
  });
}

// --- Impact map without friction, of a straight double pendulum whose tip hits the ground (no velocity forces there).
void add_impact_map(ExperimentReport& report) {
  const double angle = 0.6, e = 0.7, radius = 0.05, inertia = 0.3;  // of the lower link about its centre, at its end
  const Vector2d v(-2.0, -1.0);
  // Angles from hanging down: the tip is at height -(cos q1 + cos(q1 + q2)).
  Matrix2d M;
  M << 1.0 + 4.0 + inertia, 2.0 + inertia, 2.0 + inertia, 1.0 + inertia;
  const Vector2d n(2.0 * std::sin(angle), std::sin(angle));
  const Vector2d w = M.ldlt().solve(n);
  const Vector2d after = v - (1.0 + e) * w * n.dot(v) / n.dot(w);
  for (const Law law : {Law::frictionless, Law::coulomb_cone, Law::moreau, Law::anitescu}) {
    add_solve(report, "impact map, arm without friction", std::string(to_string(law)),
              {{"velocity after, upper", "rad/s", after[0]}, {"velocity after, lower", "rad/s", after[1]}}, [&] {
                WorldBuilder builder;
                builder.set_gravity(Vector3d::Zero());
                builder.add_static_body(plane("ground", Vector3d::UnitZ(), Vector3d(0.0, 0.0, -2.0 * std::cos(angle) - radius)));
                add_mjcf(builder, R"(<default><joint axis="0 -1 0"/></default><worldbody>
                  <body><joint name="q1"/><inertial pos="0 0 -1" mass="1" diaginertia="1e-15 1e-15 1e-15"/>
                    <body pos="0 0 -1"><joint name="q2"/><inertial pos="0 0 -1" mass="1" diaginertia="0.3 0.3 0.3"/>
                      <geom type="sphere" size="0.05" pos="0 0 -1"/></body></body></worldbody>)");
                Run run(builder.build(), {.law = law, .mu = 0.0, .restitution = e});
                run.state.q << angle, 0.0;
                run.state.v = v;
                run.step();
                return std::vector<double>{run.state.v[0], run.state.v[1]};
              });
  }
}

// --- Rolling ball: hollow sphere, I = 2/3 m r², friction that stops the contact point.
void add_rolling_ball(ExperimentReport& report) {
  const double r = 0.2, e = 0.6, vx = 1.5, vz = -2.0, spin = 4.0;  // θ as in the text: u_T = ẋ + r θ̇, so ω_y = -θ̇
  FreeBody ball = solid("ball", Sphere{r}, 0.5, Vector3d(0.0, 0.0, r));
  ball.inertia = 2.0 / 3.0 * ball.mass * r * r * Eigen::Matrix3d::Identity();
  const auto bounce = [&](const RunSetting& setting) {
    WorldBuilder builder;
    builder.set_gravity(Vector3d::Zero());
    builder.add_static_body(plane("ground", Vector3d::UnitZ()));
    builder.add_free_body(ball);
    Run run(builder.build(), setting);
    run.set_velocity(0, Vector3d(vx, 0.0, vz), Vector3d(0.0, -spin, 0.0));
    run.step();
    return std::vector<double>{run.velocity(0).x(), run.velocity(0).z(), -run.spin(0).y()};
  };
  const std::vector<Quantity> sticks{{"velocity along x after", "m/s", 0.6 * vx - 0.4 * r * spin},
                                     {"velocity along z after", "m/s", -e * vz},
                                     {"spin after", "rad/s", -0.6 / r * vx + 0.4 * spin}};
  for (const Law law : {Law::no_slip, Law::coulomb_cone, Law::coulomb_pyramid, Law::moreau}) {
    const std::string setting = law == Law::no_slip ? "no_slip" : fmt::format("{}, μ = 1", to_string(law));
    add_solve(report, "rolling ball, reset at impact", setting, sticks, [&] { return bounce({.law = law, .mu = 1.0, .restitution = e}); });
  }
  // Friction too weak to stop the contact point: its impulse is μ (1 + e) m |ż|.
  const double mu = 0.1, kick = mu * (1.0 + e) * std::abs(vz);
  add_solve(report, "rolling ball, reset at impact", "coulomb_cone, μ = 0.1",
            {{"velocity along x after", "m/s", vx - kick, "slides: friction at its limit"},
             {"velocity along z after", "m/s", -e * vz},
             {"spin after", "rad/s", spin - 1.5 * kick / r}},
            [&] { return bounce({.mu = mu, .restitution = e}); });
}

// --- Guards and resets: a ball falls, hits (guard φ = 0), is reset by -e; a pull lifts a ball off where its force reaches 0.
void add_hybrid(ExperimentReport& report) {
  const double height = 0.5, e = 0.8, speed = std::sqrt(2.0 * kGravity * height);
  add_runs(report, "hybrid model: falling ball", "guard φ = 0, reset -e",
           {{"time of the guard", "s", speed / kGravity}, {"speed after the reset", "m/s", e * speed}, {"apex", "m", e * e * height}},
           [&](double h) {
             Run run(on_ground(solid("ball", Sphere{0.1}, 1.0, Vector3d(0.0, 0.0, 0.1 + height))), {.h = h, .restitution = e});
             while (run.velocity(0).z() <= 0.0) run.step();
             const double time = run.state.time, up = run.velocity(0).z();
             while (run.velocity(0).z() > 0.0) run.step();
             return std::vector<double>{time, up, run.position(0).z() - 0.1};
           });
  add_runs(report, "hybrid model: lift-off", "guard λ = 0",
           {{"time of the guard", "s", 1.0, "pull of m g t/(1 s)"}, {"height at 1.5 s", "m", kGravity * 0.125 / 6.0}}, [&](double h) {
             Run run(sliding_point(), {.h = h});
             double opened = 0.0;
             while (run.state.time < 1.5 - 0.5 * h) {
               const double middle = run.state.time + 0.5 * h;
               run.step(Vector2d(0.0, kPointMass * kGravity * middle));
               if (opened == 0.0 && run.normal_force() == 0.0) opened = run.state.time - h;
             }
             return std::vector<double>{opened, run.state.q[1]};
           });
}

}  // namespace

void add_textbook_impacts(ExperimentReport& report) {
  add_compliant(report);
  add_impact_map(report);
  add_rolling_ball(report);
  add_hybrid(report);
}

}  // namespace stiction
