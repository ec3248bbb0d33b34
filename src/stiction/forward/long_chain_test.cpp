// A chain of a thousand links: what is cubic in memory or in pairs of links does not come to an end here.
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/assemble/overlap_filter.hpp"
#include "stiction/forward/step.hpp"

namespace stiction::long_chain_test {
namespace {

constexpr int kLinks = 1000;
constexpr double kMass = 0.1, kLength = 0.1;

/// Links along x, hinges in turn about y and z; `twins`: the last link also has a sphere inside that of the last but two.
World chain(bool twins, double third_mass = kMass) {
  std::string text = "<robot name='chain'>";
  for (int i = 0; i < kLinks; ++i) {
    text += fmt::format(
        "<link name='l{0}'><inertial><origin xyz='{1} 0 0'/><mass value='{2}'/><inertia ixx='{3}' iyy='{3}' izz='{3}' ixy='0' ixz='0' "
        "iyz='0'/></inertial><collision><origin xyz='{1} 0 0'/><geometry><sphere radius='0.02'/></geometry></collision>",
        i, 0.5 * kLength, i == 2 ? third_mass : kMass, i == 2 ? 1e-3 * third_mass : 1e-3 * kMass);
    if (twins && i == kLinks - 1) {
      text += fmt::format("<collision><origin xyz='{} 0 0'/><geometry><sphere radius='0.01'/></geometry></collision>", -1.5 * kLength);
    }
    text += "</link>";
  }
  for (int i = 0; i + 1 < kLinks; ++i) {
    text += fmt::format(
        "<joint name='j{0}' type='continuous'><parent link='l{0}'/><child link='l{1}'/><origin xyz='{2} 0 0'/><axis xyz='0 {3} "
        "{4}'/></joint>",
        i, i + 1, kLength, i % 2, 1 - i % 2);
  }
  RobotOptions options;
  options.base = BaseKind::floating;
  WorldBuilder builder;
  builder.add_robot_text(text + "</robot>", options);
  return builder.build();
}

// Free fall: the centre of mass has g, and no joint turns.
TEST(LongChain, FallsAsABody) {
  const World world = chain(false);
  ASSERT_EQ(world.nv(), kLinks + 5);
  StepOptions options;
  options.assemble.dt = 1e-3;
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  WorldData data(world);
  update(world, state.q, state.v, data);
  EXPECT_NEAR(center_of_mass(world, data).x(), 0.5 * kLinks * kLength, 1e-9);
  EXPECT_NEAR(data.M.block(0)(0, 0), kLinks * kMass, 1e-9);
  for (int i = 1; i <= 2; ++i) {
    ASSERT_EQ(stepper.step(Eigen::VectorXd::Zero(world.nv()), state).status, Status::solved);
    EXPECT_NEAR(state.v[2], -9.81e-3 * i, 1e-9);
    EXPECT_LE(state.v.tail(kLinks - 1).lpNorm<Eigen::Infinity>(), 1e-8);
  }
}

// Of half a million pairs of links, the one that overlaps is found.
TEST(LongChain, OneOverlapIsFoundAmongAllPairs) {
  const World world = chain(true);
  const CollisionScene scene = make_scene(world, 0.5);
  ASSERT_EQ(scene.warnings.size(), 1u);
  EXPECT_NE(scene.warnings[0].find("l997 - l999"), std::string::npos) << scene.warnings[0].substr(0, 200);
}

// Links without mass between joints that line up leave an inertia of zero, wherever they are; a long chain of light links does not.
TEST(LongChain, IsNotSingularForBeingLong) { EXPECT_NO_THROW(chain(false, 1e-6)); }

}  // namespace
}  // namespace stiction::long_chain_test
