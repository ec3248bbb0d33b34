#include <cmath>

#include <fmt/format.h>

#include "stiction/experiments/classics.hpp"

namespace stiction {
namespace {

using Eigen::Vector3d;

// --- Free body: a brick thrown about its axis of intermediate inertia, which turns over and over.
void add_free_body(ExperimentReport& report, double duration) {
  const Vector3d inertia(0.01, 0.02, 0.025), spin(0.1, 10.0, 0.2), velocity(1.0, 2.0, -0.5);
  const double mass = 3.0;
  for (const Scheme scheme : kSchemes) {
    add_runs(report, "free body, tumbling for 10 s", std::string(to_string(scheme)),
             {{"energy: share off", "", 0.0},
              {"angular momentum, length: share off", "", 0.0},
              {"angular momentum, direction: off", "rad", 0.0},
              {"momentum: share off", "", 0.0}},
             [&](double h) {
               FreeBody brick = solid("brick", Box{Vector3d(0.1, 0.1, 0.1)}, mass, Vector3d::Zero());
               brick.inertia = inertia.asDiagonal();
               WorldBuilder builder;
               builder.set_gravity(Vector3d::Zero());
               builder.add_free_body(brick);
               Run run(builder.build(), {.h = h, .scheme = scheme});
               run.set_velocity(0, velocity, spin);
               const auto momentum = [&] { return Vector3d(run.rotation(0) * inertia.cwiseProduct(run.state.v.segment<3>(3))); };
               const Vector3d start = momentum();
               const double energy = run.energy();
               run.until(duration);
               const Vector3d end = momentum();
               return std::vector<double>{run.energy() / energy - 1.0, end.norm() / start.norm() - 1.0,
                                          std::atan2(end.cross(start).norm(), end.dot(start)),
                                          (run.velocity(0) - velocity).norm() / velocity.norm()};
             });
  }
}

// --- Double pendulum, which has no friction.
void add_double_pendulum(ExperimentReport& report, double duration) {
  for (const Scheme scheme : kSchemes) {
    add_runs(report, "double pendulum, 10 s", std::string(to_string(scheme)),
             {{"energy: share off at the end", "", 0.0}, {"energy: largest share off", "", 0.0}}, [&](double h) {
               WorldBuilder builder;
               add_mjcf(builder, R"(<default><joint axis="0 1 0"/></default><worldbody>
                 <body><joint name="q1"/><inertial pos="0 0 -0.5" mass="1" diaginertia="0.083 0.083 0.001"/>
                   <body pos="0 0 -1"><joint name="q2"/><inertial pos="0 0 -0.5" mass="1" diaginertia="0.083 0.083 0.001"/></body></body>
                 </worldbody>)");
               Run run(builder.build(), {.h = h, .scheme = scheme});
               const double lowest = run.energy();  // hanging down
               run.state.q << 1.0, 0.5;
               const double start = run.energy();
               double worst = 0.0, last = 0.0;
               const auto steps = std::lround(duration / h);
               for (long k = 0; k < steps; ++k) {
                 run.step();
                 last = std::abs(run.energy() - start) / (start - lowest);
                 worst = std::max(worst, last);
               }
               return std::vector<double>{last, worst};
             });
  }
}

}  // namespace

void add_classics_free(ExperimentReport& report, const ExperimentOptions& /*options*/) {
  add_free_body(report, 10.0);
  add_double_pendulum(report, 10.0);
}

}  // namespace stiction
