// A body that turns about a ball joint of the world against closed forms of the heavy symmetric top.
#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/forward/step.hpp"
#include "stiction/model/single_body.hpp"

namespace stiction::free_motion_test {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kMass = 2.0, kArm = 0.2, kAxial = 0.02, kAcross = 0.01 + kMass * kArm * kArm;  // kg, m, kg m² about the joint
constexpr double kWeight = 9.81, kStep = 1e-3;

/// A wheel on an axle along x of the body, whose other end is a ball joint.
World gyroscope(double armature) {
  WorldBuilder builder;
  builder.add_robot_text(
      fmt::format("<mujoco><worldbody><body name='wheel'><joint type='ball' armature='{}'/><inertial pos='{} 0 0' mass='{}' "
                  "diaginertia='{} 0.01 0.01'/></body></worldbody></mujoco>",
                  armature, kArm, kMass, kAxial));
  return builder.build();
}

class Gyroscope : public testing::TestWithParam<Scheme> {};
INSTANTIATE_TEST_SUITE_P(Schemes, Gyroscope, testing::ValuesIn(kSchemes), [](const auto& p) { return std::string(to_string(p.param)); });

struct Motion {
  double highest = 0.0;   // of the axle, a unit vector, above the level
  double turned = 0.0;    // rad about z
  double energy = 0.0;    // J, largest change
  double momentum = 0.0;  // kg m²/s, largest change of that about z
};

Motion run(Scheme scheme, const World& world, const VectorXd& v, double duration) {
  StepOptions options;
  options.scheme = scheme;
  options.assemble.dt = kStep;
  Stepper stepper(world, make_scene(world, 0.5), options);
  State state = initial_state(world);
  state.v = v;
  WorldData data(world);
  const auto measure = [&] {
    update(world, state.q, state.v, data);
    const double energy = kinetic_energy(world, data, state.v) + potential_energy(world, data);
    const VectorXd momentum = data.M.to_dense() * state.v;
    return std::pair(energy, (data.X_WB[world.joints()[0].body].linear() * momentum).z());
  };
  const auto start = measure();
  Motion out;
  Vector3d before = Vector3d::UnitX();
  for (int k = 0; k < std::lround(duration / kStep); ++k) {
    EXPECT_EQ(stepper.step(VectorXd::Zero(world.nv()), state).status, Status::solved);
    const auto [energy, momentum] = measure();
    const Vector3d axle = data.X_WB[world.joints()[0].body].linear().col(0);
    out.highest = std::max(out.highest, std::abs(axle.z()));
    out.turned += std::atan2(before.cross(axle).z(), before.dot(axle));
    out.energy = std::max(out.energy, std::abs(energy - start.first));
    out.momentum = std::max(out.momentum, std::abs(momentum - start.second));
    before = axle;
  }
  return out;
}

// A level wheel precesses by Ω = m g l / (I₃ ω) and stays level. With ω × Iω taken explicitly it rises by 27 degrees within a second; by
// the torque at the start of a step alone, by 5. Symplectic Euler starts half a step beside the steady motion, and nutates by that.
TEST_P(Gyroscope, ALevelWheelPrecesses) {
  const double spin = 100.0, rate = kMass * kWeight * kArm / (kAxial * spin);
  const Motion motion = run(GetParam(), gyroscope(0.0), Vector3d(spin, 0.0, rate), 2.0);
  EXPECT_LE(motion.highest, 5e-3);
  EXPECT_NEAR(motion.turned, 2.0 * rate,
              0.5 * std::pow(kStep * spin, 2) * 2.0 * rate);  // the midpoint rule's own error, (h ω)² / 2 at most
  EXPECT_LE(motion.energy, 5e-3 * kMass * kWeight * kArm);
  EXPECT_LE(motion.momentum, 0.02 * kAcross * rate);
}

// An armature, alike about all axes, is inertia that does not turn with the body: L about z counts it apart, so energy is what is known.
TEST_P(Gyroscope, AnArmatureTakesNoEnergy) {
  const Motion motion = run(GetParam(), gyroscope(0.05), Vector3d(60.0, 0.0, 1.0), 1.0);
  EXPECT_LE(motion.energy, 0.02 * kMass * kWeight * kArm);
}

// Alone: one that carries a hinge, one on a hinge and those of a chain are not.
TEST(JoinsOneBody, IsABallThatCarriesNothingOnWhatStandsStill) {
  const auto body = [](std::string_view joints, std::string_view inside = "") {
    return fmt::format("<body>{}<geom size='0.1' pos='0.2 0 0' mass='1'/>{}</body>", joints, inside);
  };
  const std::string alone = body("<joint type='ball' name='alone'/>"), held = body("<joint type='ball'/>"),
                    hinge = body("<joint type='hinge' axis='0 1 0'/>");
  WorldBuilder builder;
  builder.add_robot_text("<mujoco><worldbody>" + alone + body("<joint type='ball'/>", hinge) + body("<joint axis='0 1 0'/>", held) +
                         body("<joint type='ball'/>", held) + body("<joint type='ball' name='alone too'/>") + "</worldbody></mujoco>");
  const World world = builder.build();
  for (const Joint& joint : world.joints()) {
    if (joint.kind != JointKind::spherical) continue;
    EXPECT_EQ(joins_one_body(world, joint), joint.name.starts_with("alone")) << joint.name;
  }
}

}  // namespace
}  // namespace stiction::free_motion_test
