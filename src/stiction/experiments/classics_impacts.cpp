#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "stiction/experiments/classics.hpp"

namespace stiction {
namespace {

using Eigen::Matrix2d;
using Eigen::Vector2d;
using Eigen::Vector3d;

// --- Bouncing ball.
void add_bounce(ExperimentReport& report) {
  const double height = 1.0, e = 0.8, radius = 0.1;
  const std::vector<Quantity> quantities{{"apex 1", "m", std::pow(e, 2) * height},
                                         {"apex 2", "m", std::pow(e, 4) * height},
                                         {"apex 3", "m", std::pow(e, 6) * height},
                                         {"time of rest (Zeno)", "s", std::sqrt(2.0 * height / kGravity) * (1.0 + e) / (1.0 - e)}};
  std::vector<LawChoice> laws;
  for (const Scheme scheme : kSchemes) {
    for (const Law law : {Law::coulomb_cone, Law::moreau}) {
      const std::string beside = scheme == Scheme::semi_implicit_euler ? "" : fmt::format(", {}", to_string(scheme));
      laws.push_back({std::string(to_string(law)) + beside, {.law = law, .scheme = scheme}});
    }
  }
  for (const LawChoice& law : laws) {
    add_runs(report, "bouncing ball", law.name, quantities, [&](double h) {
      RunSetting setting = law.setting;
      setting.h = h;
      setting.restitution = e;
      Run run(on_ground(solid("ball", Sphere{radius}, 1.0, Vector3d(0.0, 0.0, radius + height))), setting);
      std::vector<double> figures;
      double last = 0.0, highest = 0.0;
      int at_rest = 0;
      std::optional<double> rest;                      // where events are told
      while (run.state.time < 10.0 && at_rest < 10) {  // ten steps at rest: a turning point is one
        run.step();
        for (const Event& event : run.stepper().events()) {
          if (event.kind == EventKind::rest) rest = event.time;
        }
        const double now = run.velocity(0).z(), z = run.position(0).z() - radius;
        highest = now > 0.0 || last > 0.0 ? std::max(highest, z) : 0.0;
        if (last > 0.0 && now <= 0.0 && figures.size() < 3) figures.push_back(highest);
        at_rest = std::abs(now) < kStill ? at_rest + 1 : 0;
        last = now;
      }
      if (at_rest < 10) throw RunFailed("not at rest after 10 s");
      figures.push_back(rest.value_or(run.state.time - 10.0 * h));
      return figures;
    });
  }
}

// --- Cradle of three balls of one mass, e = 1, the first one comes in at 1 m/s.
void add_cradle(ExperimentReport& report) {
  const double radius = 0.05, speed = 1.0;
  const auto balls = [&](double gap, RunSetting setting) {
    WorldBuilder builder;
    builder.set_gravity(Vector3d::Zero());
    for (int k = 0; k < 3; ++k) {
      builder.add_free_body(solid(fmt::format("ball {}", k), Sphere{radius}, 1.0, Vector3d(k * (2.0 * radius + gap), 0.0, 0.0)));
    }
    setting.restitution = 1.0;
    Run run(builder.build(), setting);
    run.set_velocity(0, Vector3d(speed, 0.0, 0.0), Vector3d::Zero());
    run.until(0.1);
    std::vector<double> v(5, 0.0);
    for (int k = 0; k < 3; ++k) {
      v[k] = run.velocity(k).x();
      v[3] += run.velocity(k).x();
      v[4] += 0.5 * run.velocity(k).squaredNorm();
    }
    return v;
  };
  const auto quantities = [&](double a, double b, double c) {
    return std::vector<Quantity>{{"velocity, ball 1", "m/s", a},
                                 {"velocity, ball 2", "m/s", b},
                                 {"velocity, ball 3", "m/s", c},
                                 {"momentum", "kg m/s", speed},
                                 {"energy", "J", 0.5 * speed * speed}};
  };
  const RunSetting poisson{.scheme = Scheme::event_driven, .events = {.impact = ImpactModel::poisson}};
  const std::vector<LawChoice> laws{{"coulomb_cone", {}},
                                    {"moreau", {.law = Law::moreau}},
                                    {"anitescu", {.law = Law::anitescu}},
                                    {"coulomb_cone, event_driven", {.scheme = Scheme::event_driven}},
                                    {"coulomb_cone, event_driven, Poisson", poisson}};
  for (const LawChoice& law : laws) {
    add_solve(report, "cradle, balls touch: simultaneous", law.name, quantities(-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0),
              [&] { return balls(0.0, law.setting); });
  }
  for (const ImpactModel model : {ImpactModel::newton, ImpactModel::poisson}) {
    RunSetting setting{.scheme = Scheme::event_driven, .events = {.impact = model, .order = ImpactOrder::sequential}};
    const std::string name = fmt::format("coulomb_cone, event_driven, {}", model == ImpactModel::newton ? "Newton" : "Poisson");
    add_solve(report, "cradle, balls touch: one after another", name, quantities(0.0, 0.0, 1.0), [&] { return balls(0.0, setting); });
  }
  for (const LawChoice& law : laws) {
    add_solve(report, "cradle, 10 mm apart: one after another", law.name, quantities(0.0, 0.0, 1.0),
              [&] { return balls(1e-2, law.setting); });
  }
}

// --- Rocking block, 0.2 m wide and 0.6 m high: it comes down from one edge on the other.
const Vector3d kBlock(0.1, 0.1, 0.3);
const double kSlenderness = std::atan2(kBlock.x(), kBlock.z());

/// The tilt to which the block rises on its other edge, let go at 0.1 rad: its energy above that of standing is cut by the ratio squared.
double tilt_after(double ratio, double tilt) {
  const double standing = std::cos(kSlenderness);
  return kSlenderness - std::acos(standing + ratio * ratio * (std::cos(kSlenderness - tilt) - standing));
}

void add_rocking(ExperimentReport& report) {
  const double ratio = 1.0 - 1.5 * std::pow(std::sin(kSlenderness), 2), omega = 1.0, start = 0.1;
  std::vector<LawChoice> laws = rigid_laws();
  laws.push_back({"no_slip", {.law = Law::no_slip}});
  laws.push_back({"coulomb_cone, event_driven", {.scheme = Scheme::event_driven}});
  for (const LawChoice& law : laws) {
    RunSetting setting = law.setting;
    setting.mu = 1.0;
    add_solve(report, "rocking block (Housner)", law.name, {{"ω⁺/ω⁻, the impact alone", "", ratio}}, [&] {
      WorldBuilder builder;
      builder.set_gravity(Vector3d::Zero());
      builder.add_static_body(plane("ground", Vector3d::UnitZ()));
      builder.add_free_body(solid("block", Box{kBlock}, 1.0, Vector3d(0.0, 0.0, kBlock.z())));
      Run run(builder.build(), setting);
      run.set_velocity(0, omega * Vector3d(kBlock.z(), 0.0, -kBlock.x()), Vector3d(0.0, omega, 0.0));
      run.step();
      return std::vector<double>{run.spin(0).y() / omega};
    });
    add_runs(report, "rocking block (Housner)", law.name,
             {{"tilt after it, let go at 0.1 rad", "rad", tilt_after(ratio, start),
               law.setting.law == Law::no_slip ? "held by friction on the edge that is about to touch" : ""}},
             [&](double h) {
               setting.h = h;
               const Eigen::Matrix3d tilted = Eigen::AngleAxisd(-start, Vector3d::UnitY()).toRotationMatrix();  // on its left edge
               const Vector3d edge(-kBlock.x(), 0.0, -kBlock.z());
               Run run(on_ground(solid("block", Box{kBlock}, 1.0, -(tilted * edge), tilted)), setting);
               double highest = 0.0;
               while (run.state.time < 2.0) {
                 run.step();
                 highest = std::max(highest, run.rotation(0)(0, 2));  // sin of the tilt to the right
                 if (highest > 0.0 && run.spin(0).y() <= 0.0) break;
               }
               return std::vector<double>{std::asin(highest)};
             });
  }
}

// --- Painlevé's rod: a slender rod of 1 kg and 2 l = 1 m whose lower end slides on the ground towards what it leans away from.
constexpr double kHalfRod = 0.5;

Run sliding_rod(double angle, RunSetting setting, double speed) {
  const double tip_x = -kHalfRod * std::cos(angle), tip_z = -kHalfRod * std::sin(angle), ball = 0.01;
  WorldBuilder builder;
  builder.add_static_body(plane("ground", Vector3d::UnitZ(), Vector3d(0.0, 0.0, tip_z)));
  // The end is the lowest point of a small ball, so that the contact point is the tip itself.
  add_mjcf(builder,
           fmt::format(R"(<worldbody><body name="rod"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <joint name="turn" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="{0} {0} {0}"/>
      <geom type="sphere" size="{1}" pos="{2} 0 {3}"/></body></worldbody>)",
                       kHalfRod * kHalfRod / 3.0, ball, tip_x, tip_z + ball));
  Run run(builder.build(), setting);
  run.state.v << -speed, 0.0, 0.0;
  return run;
}

/// Inverse inertia that the tip shows along the normal and the tangent, from the contact rows of a step.
Matrix2d tip_mobility(double angle) {
  Run run = sliding_rod(angle, {}, 1.0);
  run.step();
  const auto rows = run.problem().J.to_dense();
  const Eigen::MatrixXd G = rows * run.problem().M.to_dense().ldlt().solve(rows.transpose());
  return G.topLeftCorner<2, 2>();
}

void add_painleve(ExperimentReport& report) {
  for (const double angle : {std::atan(2.0), M_PI / 4.0}) {
    const double s = std::sin(angle), c = std::cos(angle);
    add_solve(report, "Painlevé's rod", "contact rows",
              {{fmt::format("least μ of the paradox, tan θ = {:.0f}", std::tan(angle)), "", (1.0 + 3.0 * c * c) / (3.0 * s * c)}}, [&] {
                const Matrix2d G = tip_mobility(angle);
                return std::vector<double>{G(0, 0) / std::abs(G(0, 1))};
              });
  }
  const double angle = std::atan(2.0), s = std::sin(angle), c = std::cos(angle), h = 1e-3, speed = 1.0;
  Matrix2d G;  // m = 1 kg
  G << 1.0 + 3.0 * c * c, -3.0 * s * c, -3.0 * s * c, 1.0 + 3.0 * s * s;
  for (const double mu : {1.2, 1.5}) {
    const bool paradox = mu > 4.0 / 3.0;
    const std::string example = fmt::format("Painlevé's rod, tan θ = 2, μ = {}", mu);
    // Slides on: λ_T = μ λ_N against the slip. In the paradox no such λ exists, and the tip is caught: u = 0 after the step.
    const Vector2d free(-kGravity * h, -speed);
    Vector2d lambda = Vector2d(1.0, mu) * kGravity * h / (G(0, 0) + mu * G(0, 1));
    if (paradox) lambda = -G.ldlt().solve(free);
    const Vector2d after = paradox ? Vector2d(0.0, 0.0) : Vector2d(free + G * lambda);
    for (const LawChoice& law : rigid_laws()) {
      RunSetting setting = law.setting;
      setting.mu = mu;
      setting.h = h;
      const bool is_coulomb = law.setting.law != Law::max_dissipation && law.setting.law != Law::anitescu;
      const std::string what = paradox      ? "no sliding solution exists: the tip is caught"
                               : is_coulomb ? "slides on"
                                            : "not Coulomb's: nearly caught, thrown up";
      add_solve(report, example, law.name,
                {{"λ_N", "N s", lambda[0], what}, {"slip after", "m/s", after[1]}, {"normal velocity after", "m/s", 0.0}}, [&] {
                  Run run = sliding_rod(angle, setting, speed);
                  run.step();
                  const auto u = run.solution().u.head<3>();
                  return std::vector<double>{run.solution().impulses[0], u[1], u[0]};
                });
    }
    if (!paradox) continue;
    for (const LawChoice& law : soft_laws()) {
      RunSetting setting = law.setting;
      setting.mu = mu;
      setting.h = h;
      add_solve(report, example, law.name,
                {{"time until slip is below 1 % of it", "s", 0.0, "gives way, and is caught as it sinks in", Reference::none}}, [&] {
                  Run run = sliding_rod(angle, setting, speed);
                  while (run.state.time < 0.1) {
                    run.step();
                    if (std::abs(run.solution().u[1]) < 0.01 * speed) return std::vector<double>{run.state.time};
                  }
                  throw RunFailed("slides on for 0.1 s");
                });
    }
  }
}

}  // namespace

void add_classics_impacts(ExperimentReport& report) {
  add_bounce(report);
  add_cradle(report);
  add_rocking(report);
  add_painleve(report);
}

}  // namespace stiction
