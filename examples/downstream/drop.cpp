// A box falls 5 cm and comes to rest on the ground, which then bears its weight.
#include <cmath>
#include <cstdio>

#include "stiction/sim/simulation.hpp"
#include "stiction/version.hpp"

int main() {
  using namespace stiction;
  const Box cube{Eigen::Vector3d::Constant(0.1)};
  FreeBody box;
  box.name = "box";
  box.mass = 2.0;
  box.inertia = solid_inertia(cube, box.mass);
  box.pose.translation().z() = 0.15;
  box.shapes = {{cube}};
  WorldBuilder builder;
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}});
  builder.add_free_body(box);
  const World world = builder.build();

  Simulation simulation(Stepper(world, make_scene(world, /*friction=*/0.5), {}), initial_state(world));
  RunOptions run;
  run.duration = 0.5;
  simulation.run(run);
  const Stepper& stepper = simulation.stepper();
  double force = 0.0;
  for (Eigen::Index i = 0; i < stepper.problem().contacts(); ++i) force += stepper.solution().impulses[3 * i] / stepper.problem().dt;
  std::printf("stiction %s: the ground bears %.3f N of %.3f N\n", STICTION_VERSION_STRING, force, 2.0 * 9.81);
  return std::abs(force - 2.0 * 9.81) < 1e-6 ? 0 : 1;
}
