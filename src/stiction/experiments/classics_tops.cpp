#include <cmath>

#include <fmt/format.h>

#include "stiction/experiments/classics.hpp"

namespace stiction {
namespace {

using Eigen::Vector3d;

double turned_by(double from, double to) { return std::remainder(to - from, 2.0 * M_PI); }

// --- Euler's disc in steady precession: tilt α, its centre at rest, no slip. With e the axis, u up the face (z = cos α e + sin α u), the
// rim's lowest point at c = -r u - t/2 e from the centre, ω = Ω sin α (u + t/(2 r) e) and Ω z x (I ω) = c x m g z:
//   Ω² = m g (r cos α - t/2 sin α) / (sin α (I_1 cos α - I_3 t/(2 r) sin α))         thin: 4 g/(r sin α) [Moffatt 2000]
struct Disc {
  double radius = 0.3, thickness = 0.01, mass = 1.0, tilt = 0.0;

  double inertia_axis() const { return 0.5 * mass * radius * radius; }
  double inertia_across() const { return 0.5 * inertia_axis() + mass * thickness * thickness / 12.0; }
  double precession() const {
    const double s = std::sin(tilt), c = std::cos(tilt), half = 0.5 * thickness;
    return std::sqrt(mass * kGravity * (radius * c - half * s) / (s * (inertia_across() * c - inertia_axis() * half / radius * s)));
  }
};

void add_disc(ExperimentReport& report) {
  for (const double degrees : {40.0, 15.0}) {
    Disc disc;
    disc.tilt = degrees * M_PI / 180.0;
    for (const Scheme scheme : kSchemes) {
      add_runs(report, fmt::format("Euler's disc, tilt {:g}°", degrees), std::string(to_string(scheme)),
               {{"precession over 1 s", "rad/s", disc.precession(), "faster, the flatter"}, {"tilt after 1 s", "rad", disc.tilt}},
               [&](double h) {
                 const double s = std::sin(disc.tilt), c = std::cos(disc.tilt), half = 0.5 * disc.thickness;
                 const Eigen::Matrix3d R = Eigen::AngleAxisd(disc.tilt, Vector3d::UnitY()).toRotationMatrix();
                 Run run(
                     on_ground(solid("disc", Cylinder{disc.radius, half}, disc.mass, Vector3d(0.0, 0.0, disc.radius * s + half * c), R)),
                     {.h = h, .scheme = scheme});
                 const Vector3d e = R.col(2), u = -R.col(0);
                 run.set_velocity(0, Vector3d::Zero(), disc.precession() * s * (u + half / disc.radius * e));
                 double azimuth = 0.0, angle = 0.0;
                 const auto steps = std::lround(1.0 / h);
                 for (long k = 0; k < steps; ++k) {
                   run.step();
                   const Vector3d axis = run.rotation(0).col(2);
                   const double now = std::atan2(axis.y(), axis.x());
                   angle += turned_by(azimuth, now);
                   azimuth = now;
                 }
                 return std::vector<double>{angle / run.state.time, std::acos(run.rotation(0)(2, 2))};
               });
    }
  }
}

// --- Tippe top: a ball whose centre of mass lies below its centre turns over under friction that slides, here viscous (dry friction comes
// to rolling first, which keeps the tilt), if it spins fast enough; for I_1 = I_3 any a will do. Jellett's L·c, with c from the centre of
// mass to the contact point, stays what it is whatever the friction.
void add_tippe_top(ExperimentReport& report) {
  const double R = 0.02, a = 0.3 * R, mass = 0.02, start = 0.1, spin = 150.0, inertia = 0.4 * mass * R * R, duration = 8.0;
  for (const Scheme scheme : kSchemes) {
    add_runs(report, "tippe top, 150 rad/s", std::string(to_string(scheme)),
             {{"tilt after 8 s", "rad", M_PI, "turned over"}, {"Jellett's constant: share off", "", 0.0}}, [&](double h) {
               FreeBody top =
                   solid("top", Sphere{R}, mass, Vector3d(0.0, 0.0, R), Eigen::AngleAxisd(start, Vector3d::UnitY()).toRotationMatrix());
               top.com = Vector3d(0.0, 0.0, -a);
               top.inertia = inertia * Eigen::Matrix3d::Identity();
               RunSetting setting{.law = Law::viscous, .h = h, .scheme = scheme};
               setting.material.emplace();
               setting.material->viscosity = 0.3;
               Run run(on_ground(top), setting);
               const Vector3d axis = run.rotation(0).col(2), omega = spin * axis;
               run.set_velocity(0, omega.cross(a * axis), omega);  // the centre of mass at rest
               const auto jellett = [&] { return inertia * run.spin(0).dot(a * run.rotation(0).col(2) - R * Vector3d::UnitZ()); };
               const double before = jellett();
               run.until(duration);
               return std::vector<double>{std::acos(run.rotation(0)(2, 2)), jellett() / before - 1.0};
             });
  }
}

// --- Woodpecker toy: a sleeve with play on a pole, a bird on a spring, three contacts on the pole's right side. Data and a point of the
// cycle of Glocker 1995 (as used by Leine, Glocker and van Campen 2001), whose equations are linear in the angles; ours are not.
struct Woodpecker {
  double height, sleeve, bird, v_height, v_sleeve, v_bird;  // m, rad, absolute angles, positive where the right side goes up
};
constexpr Woodpecker kCycle{0.0, -0.1036, -0.2788, -0.3411, 0.0, -7.4583};

Run woodpecker(double h) {
  const double ball = 1e-5;  // m: corners are the leftmost points of small balls
  WorldBuilder builder;
  builder.add_static_body(plane("pole", Vector3d::UnitX(), Vector3d(0.0025, 0.0, 0.0)));
  add_mjcf(
      builder,
      fmt::format(
          R"(<default><geom type="sphere" size="{0}"/></default><worldbody><body name="sleeve"><joint name="y" type="slide" axis="0 0 1"/>
      <joint name="sleeve" axis="0 -1 0"/><inertial pos="0 0 0" mass="0.0003" diaginertia="5e-9 5e-9 5e-9"/>
      <geom pos="{1} 0 -0.0058"/><geom pos="{1} 0 0.0058"/>
      <body name="bird" pos="0.01 0 0"><joint name="bird" axis="0 -1 0" stiffness="0.0056"/>
        <inertial pos="0.015 0 0" mass="0.0045" diaginertia="7e-7 7e-7 7e-7"/><geom pos="{2} 0 0.02"/></body></body></worldbody>)",
          ball, 0.0031 + ball, 0.015 - 0.0201 + ball));
  const World world = builder.build();
  StepOptions options = step_options({.law = Law::moreau, .h = h, .mu = 0.3});
  PairMaterial beak;
  beak.body_a = world.body("bird");
  beak.body_b = kAnyBody;
  beak.restitution = 0.5;
  options.assemble.pairs.push_back(beak);
  return {world, options, 0.0};
}

void add_woodpecker(ExperimentReport& report) {
  const std::string law = "moreau, a tenth of the step";
  add_runs(report, "woodpecker toy, limit cycle", law,
           {{"bird's angular velocity", "rad/s", kCycle.v_bird,
             "at the published angle of the bird, going down; published model linear in the angles", Reference::published},
            {"sleeve's angle", "rad", kCycle.sleeve, "", Reference::published},
            {"falls at", "m/s", kCycle.v_height, "", Reference::published},
            {"period", "s", 0.0, "", Reference::none},
            {"falls per cycle", "m", 0.0, "", Reference::none}},
           [](double h) {
             Run run = woodpecker(0.1 * h);
             run.state.q << kCycle.height, kCycle.sleeve, kCycle.bird - kCycle.sleeve;
             run.state.v << kCycle.v_height, kCycle.v_sleeve, kCycle.v_bird - kCycle.v_sleeve;
             const auto bird = [&] { return run.state.q[1] + run.state.q[2]; };
             constexpr int kSettled = 10, kCycles = 10;  // settled on its own cycle; the mean of some, since impacts jump by a step
             std::vector<double> sum(5, 0.0);
             double last = bird(), begin = 0.0, height = 0.0;
             bool above = false;
             for (int cycle = 0; cycle < kSettled + kCycles;) {
               if (run.state.time > 5.0) throw RunFailed(fmt::format("{} cycles in 5 s", cycle));
               run.step();
               const Eigen::VectorXd &q = run.state.q, &v = run.state.v;
               if (above && bird() < kCycle.bird) {
                 const double share = (last - kCycle.bird) / (last - bird()), time = run.state.time - (1.0 - share) * run.h();
                 const std::vector<double> now{v[1] + v[2], q[1], v[0], time - begin, height - q[0]};
                 for (std::size_t i = 0; i < now.size() && cycle >= kSettled; ++i) sum[i] += now[i] / kCycles;
                 begin = time;
                 height = q[0];
                 above = false;
                 ++cycle;
               }
               above = above || bird() > 0.0;
               last = bird();
             }
             return sum;
           });
}

void add_rattleback(ExperimentReport& report) {
  add_solve(report, "rattleback", "-", {{"reverses its spin", "", 0.0, "", Reference::none}}, []() -> std::vector<double> {
    throw RunFailed("not run: no smooth shape has two curvatures; an ellipsoid given as a mesh rolls on its facets");
  });
}

}  // namespace

void add_classics_tops(ExperimentReport& report) {
  add_disc(report);
  add_tippe_top(report);
  add_woodpecker(report);
  add_rattleback(report);
}

}  // namespace stiction
