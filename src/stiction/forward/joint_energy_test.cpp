// Energy of links that swing fast for the step, under schemes that make some of their own.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/forward/step.hpp"

namespace stiction::joint_energy_test {
namespace {

using Eigen::VectorXd;

/// Four links of 0.5 kg and 0.3 m in flight, on hinges about y and z in turn; nothing acts on them.
World flying_chain() {
  std::string text = "<mujoco><worldbody>";
  for (int i = 0; i < 4; ++i) {
    const std::string joint = i == 0 ? "<freejoint/>" : fmt::format("<joint type='hinge' axis='0 {} {}'/>", i % 2, 1 - i % 2);
    text += fmt::format("<body pos='{} 0 0'>{}", i == 0 ? 0.0 : 0.3, joint) +
            "<geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.02' mass='0.5' contype='0' conaffinity='0'/>";
  }
  WorldBuilder builder;
  builder.set_gravity(Eigen::Vector3d::Zero());
  builder.add_robot_text(text + "</body></body></body></body></worldbody></mujoco>");
  return builder.build();
}

class JointEnergyOf : public testing::TestWithParam<Scheme> {};

// Without what is taken back, a thousand steps end with 1e17 J or are refused on the way there.
TEST_P(JointEnergyOf, AFlyingChainIsBounded) {
  constexpr double h = 5e-3, speed = 10.0;
  const World world = flying_chain();
  StepOptions options;
  options.scheme = GetParam();
  options.assemble.dt = h;
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  for (int j = 0; j < world.nv(); ++j) state.v[j] = speed * (j % 2 == 0 ? 1.0 : -0.6);
  WorldData data(world);
  const auto energy = [&] {
    update(world, state.q, state.v, data);
    return kinetic_energy(world, data, state.v);
  };
  const double start = energy();
  double most = start, turn = 0.0;
  int halved = 0;
  for (int k = 0; k < 1000; ++k) {
    const StepReport report = stepper.step(VectorXd::Zero(world.nv()), state);
    ASSERT_EQ(report.status, Status::solved) << k;
    halved += report.halved ? 1 : 0;
    most = std::max(most, energy());
    turn = std::max(turn, h * state.v.tail(3).lpNorm<Eigen::Infinity>());
  }
  fmt::print("[ flight   ] {}: {:.2f} of the energy at most, turns by {:.2f} rad, {} steps halved\n", to_string(GetParam()), most / start,
             turn, halved);
  EXPECT_LT(most, 4.0 * start);
}

INSTANTIATE_TEST_SUITE_P(Schemes, JointEnergyOf, testing::Values(Scheme::semi_implicit_euler, Scheme::moreau_midpoint),
                         [](const auto& scheme) { return std::string(to_string(scheme.param)); });

}  // namespace
}  // namespace stiction::joint_energy_test
