// A box slides on the ground: one step of inverse dynamics for the force that keeps its speed, then forward under that force.
#include <cmath>
#include <cstdio>

#include "stiction/assemble/assemble.hpp"
#include "stiction/forward/step.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"

int main() {
  using namespace stiction;
  const Box cube{Eigen::Vector3d::Constant(0.1)};
  FreeBody box;
  box.name = "box";
  box.mass = 1.0;
  box.inertia = solid_inertia(cube, box.mass);
  box.pose.translation().z() = 0.1;
  box.shapes = {{cube}};

  WorldBuilder builder;
  builder.add_static_body({"ground", Eigen::Isometry3d::Identity(), {{HalfSpace{}}}});
  builder.add_free_body(box);
  const World world = builder.build();
  StepOptions options;
  options.contact.law = Law::coulomb_cone;
  Stepper stepper(world, make_scene(world, /*friction=*/0.3), options);
  State state = initial_state(world);
  state.v[0] = 1.0;  // m/s along x

  Eigen::VectorXd tau = Eigen::VectorXd::Zero(world.nv());
  stepper.prepare(state, tau);
  InverseOptions inverse;
  inverse.contact = options.contact;
  const InverseSolution plan = inverse_dynamics(stepper.problem(), std::vector{0}, Eigen::VectorXd::Ones(1), {}, inverse);
  tau[0] = plan.tau[0];

  const StepReport report = stepper.step(tau, state);
  const bool right = report.accepted && std::abs(state.v[0] - 1.0) < 1e-9 && std::abs(tau[0] - 0.3 * 9.81) < 1e-6;
  std::printf("a push of %.4f N (friction is %.4f N) keeps %.9f m/s\n", tau[0], 0.3 * 9.81, state.v[0]);
  return right ? 0 : 1;
}
