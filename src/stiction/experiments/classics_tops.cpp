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

}  // namespace

void add_classics_tops(ExperimentReport& report) {
  add_disc(report);
  add_tippe_top(report);
}

}  // namespace stiction
