// Position correction: undoes overlap at the stated rate, moves no point farther than the overlap is deep, makes no velocity, and leaves
// alone what cannot be undone.
#include <random>

#include <gtest/gtest.h>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/base/rotation.hpp"
#include "stiction/forward/free_motion.hpp"
#include "stiction/forward/step.hpp"

namespace stiction::position_correction_test {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kGamma = 0.2, kAllowed = 1e-6;

void add_plane(WorldBuilder& builder, const Vector3d& normal = Vector3d::UnitZ(), double offset = 0.0) {
  StaticBody plane;
  plane.name = "plane" + std::to_string(builder.build().bodies().size());
  plane.pose.linear() = rotation_of_z(normal);
  plane.pose.translation() = offset * normal;
  plane.shapes.push_back({HalfSpace{}, Eigen::Isometry3d::Identity(), 0.5});
  builder.add_static_body(plane);
}

void add_body(WorldBuilder& builder, const std::string& name, const Shape& shape, const Eigen::Isometry3d& pose) {
  FreeBody body;
  body.name = name;
  body.mass = 1.0;
  body.shapes.push_back({shape, Eigen::Isometry3d::Identity(), 0.5});
  body.inertia = solid_inertia(shape, body.mass);
  body.pose = pose;
  builder.add_free_body(body);
}

Eigen::Isometry3d at(double x, double y, double z) {
  Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
  X.translation() << x, y, z;
  return X;
}

Stepper stepper_for(const World& world) {
  StepOptions options;
  options.contact.law = Law::coulomb_cone;
  options.recovery = kGamma;
  options.allowed_penetration = kAllowed;
  return {world, make_scene(world, 0.5), options};
}

// A box that starts tilted, one edge deep in the ground: under event_driven the corners that overlap come out by a share a step.
TEST(PositionCorrection, EventsTellWhatLiftingABodyAddedToItsEnergy) {
  WorldBuilder builder;
  add_plane(builder);
  add_body(builder, "box", Box{Vector3d(0.1, 0.1, 0.05)}, at(0, 0, 0.055));
  StepOptions options;
  options.scheme = Scheme::event_driven;
  options.recovery = kGamma;
  options.allowed_penetration = kAllowed;
  Stepper stepper(builder.build(), make_scene(builder.build(), 0.0), options);
  State state = initial_state(stepper.world());
  state.q.tail<4>() = Eigen::Quaterniond(Eigen::AngleAxisd(0.2, Vector3d::UnitY())).coeffs();
  WorldData data(stepper.world());
  const auto energy = [&] {
    update(stepper.world(), state.q, state.v, data);
    return kinetic_energy(stepper.world(), data, state.v) + potential_energy(stepper.world(), data);
  };
  double before = energy();
  const StepReport report = stepper.step(VectorXd::Zero(6), state);
  ASSERT_TRUE(report.accepted);
  const double gained = energy() - before;
  EXPECT_GT(gained, 1e-3);
  EXPECT_GT(report.correction.lifted, 0.95 * gained);
  EXPECT_LT(report.correction.lifted, 1.05 * gained);
}

// Penetration d falls as d' = (1 - γ') d, γ' below γ by the softness alone, at most a hundredth of it, until it is one that is left alone.
TEST(PositionCorrection, ABoxOneCentimetreDeepRisesAtTheStatedRateWithoutVelocity) {
  WorldBuilder builder;
  add_plane(builder);
  add_body(builder, "box", Box{Vector3d(0.1, 0.1, 0.05)}, at(0, 0, 0.04));
  Stepper stepper = stepper_for(builder.build());
  State state = initial_state(stepper.world());
  double depth = 0.01;
  int k = 0;
  for (; depth > kAllowed; ++k) {
    const StepReport report = stepper.step(VectorXd::Zero(6), state);
    ASSERT_EQ(report.status, Status::solved);
    ASSERT_TRUE(report.correction.asked && !report.correction.refused);
    EXPECT_LE(report.correction.residual, 1e-9);
    EXPECT_LT(state.v.norm(), 1e-12);
    const double after = 0.05 - state.q[2], share = (depth - after) / depth;
    EXPECT_LE(share, kGamma * (1.0 + 1e-9)) << k;
    EXPECT_GE(share, 0.99 * kGamma) << k;
    EXPECT_NEAR(report.correction.lifted, stepper.world().bodies()[1].mass * 9.81 * (depth - after), 1e-14);
    depth = after;
  }
  EXPECT_NEAR(k, std::log(0.01 / kAllowed) / -std::log1p(-kGamma), 1.5);
  EXPECT_LT(state.q.head<2>().norm(), 1e-12);
  const double left = state.q[2];
  EXPECT_FALSE(stepper.step(VectorXd::Zero(6), state).correction.asked);
  EXPECT_NEAR(state.q[2], left, 1e-15);
}

// A velocity that leaves the ground undoes what it undoes; only the rest is corrected.
TEST(PositionCorrection, AVelocityThatSeparatesIsNotCorrectedTwice) {
  WorldBuilder builder;
  add_plane(builder);
  add_body(builder, "ball", Sphere{0.1}, at(0, 0, 0.095));
  Stepper stepper = stepper_for(builder.build());
  State state = initial_state(stepper.world());
  state.v[2] = 0.5;
  ASSERT_TRUE(stepper.step(VectorXd::Zero(6), state).accepted);
  const double risen = state.q[2] - 0.095, by_velocity = 1e-3 * (0.5 - 9.81e-3), share = kGamma * 0.005;
  EXPECT_LE(risen, share * (1.0 + 1e-9));
  EXPECT_GE(risen, by_velocity + 0.99 * (share - by_velocity));
}

// A cable on a drum, which only pulls, and a stop have rows of the same bounds: the cable does not hold a position, the stop does.
TEST(PositionCorrection, WhatARowIsDecidesWhetherItHoldsAPosition) {
  WorldBuilder builder;
  add_plane(builder);
  add_body(builder, "ball", Sphere{0.1}, at(0, 0, 0.095));
  Stepper stepper = stepper_for(builder.build());
  stepper.prepare(initial_state(stepper.world()), VectorXd::Zero(6));
  ContactProblem p = stepper.problem();
  p.impulse.setZero();
  p.J_b = BlockRows::from_dense(1, -Eigen::RowVectorXd::Unit(6, 2), p.M.sizes());  // against rising
  p.b = p.lo = VectorXd::Zero(1);
  p.hi = VectorXd::Constant(1, 1e3);
  p.row_ids.clear();
  for (const RowKind kind : {RowKind::motor, RowKind::friction, RowKind::limit}) {
    p.row_kinds.assign(1, kind);
    SolveWorkspace workspace;
    Solution solution;
    solve(p, {}, workspace, solution);
    ASSERT_LT(solution.v.norm(), 1e-12);
    VectorXd shift = VectorXd::Zero(6);
    CorrectionOptions options;
    options.recovery = kGamma;
    options.allowed = kAllowed;
    PositionCorrection correction;
    correction.add(p, {stepper.world(), stepper.data(), initial_state(stepper.world()).q, stepper.reach(), workspace.reduction}, solution,
                   std::vector<char>(1, 1), options, shift);
    const double risen = p.dt * shift[2], share = kGamma * 0.005;
    if (kind == RowKind::limit) {
      EXPECT_LT(risen, 0.01 * share);
    } else {
      EXPECT_GT(risen, 0.99 * share) << to_string(kind);
    }
  }
}

// A drive without limits holds its joint in position too, whether its row is eliminated or iterated on.
TEST(PositionCorrection, DrivesWithoutLimitsHoldPositions) {
  WorldBuilder builder;
  add_plane(builder);
  builder.add_robot_text(R"(<mujoco><worldbody><body pos="0 0 0.095"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="1"/></body>
    <body pos="1 0 0.095"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="1"/></body></worldbody></mujoco>)");
  const World world = builder.build();
  for (const bool iterated : {false, true}) {
    StepOptions options = stepper_for(world).options();
    options.contact.solver = Solver::jor;
    options.contact.bilateral_by_prox = iterated;
    Stepper stepper(world, make_scene(world, 0.5), options);
    stepper.set_drives({{{0, 0.0}}, {}});
    State state = initial_state(world);
    for (int k = 0; k < 5; ++k) ASSERT_TRUE(stepper.step(VectorXd::Zero(2), state).accepted) << iterated;
    EXPECT_NEAR(state.q[0], 0.0, 1e-9) << iterated;
    EXPECT_GT(state.q[1], 0.5 * kGamma * 0.005) << iterated;
  }
}

/// A body on four legs of hinges whose feet are 8 to 11 mm deep; each hinge would lift its foot.
World standing() {
  WorldBuilder builder;
  add_plane(builder);
  builder.add_robot_text(R"(<mujoco><worldbody><body pos="0 0 0.21"><freejoint/><geom type="box" size="0.2 0.1 0.05" mass="5"/>
    <body pos="0.2 0.1 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.1 0 -0.15" size="0.01" mass="0.2" contype="0"
      conaffinity="0"/><geom pos="0.1 0 -0.2" size="0.02" mass="0.1"/></body>
    <body pos="0.2 -0.1 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.1 0 -0.15" size="0.01" mass="0.2" contype="0"
      conaffinity="0"/><geom pos="0.1 0 -0.201" size="0.02" mass="0.1"/></body>
    <body pos="-0.2 0.1 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.1 0 -0.15" size="0.01" mass="0.2" contype="0"
      conaffinity="0"/><geom pos="0.1 0 -0.198" size="0.02" mass="0.1"/></body>
    <body pos="-0.2 -0.1 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.1 0 -0.15" size="0.01" mass="0.2" contype="0"
      conaffinity="0"/><geom pos="0.1 0 -0.2" size="0.02" mass="0.1"/></body></body></worldbody></mujoco>)");
  return builder.build();
}

// Joints end each step at the velocities and places that their drives ask for, whatever the drives' limits, and the body rises instead.
TEST(PositionCorrection, JointsWhoseDrivesHoldAreNotTurned) {
  const World world = standing();
  const int joints = world.nv() - 6;
  for (const Scheme scheme : {Scheme::semi_implicit_euler, Scheme::moreau_midpoint, Scheme::energy_momentum, Scheme::event_driven}) {
    for (const double limit : {kInfinity, 1e6, 1e3}) {
      for (const double speed : {0.0, 0.3}) {
        StepOptions options = stepper_for(world).options();
        options.scheme = scheme;
        Stepper stepper(world, make_scene(world, 0.0), options);
        Drives drives;
        for (int j = 6; j < world.nv(); ++j) drives.velocity.push_back({j, j % 2 == 0 ? speed : -speed, -limit, limit});
        stepper.set_drives(drives);
        State state = initial_state(world);
        state.v << 0.1, -0.05, 0.0, 0.1, 0.2, -0.1, 0.1, -0.2, 0.3, 0.2;
        VectorXd place = state.q.tail(joints), asked(joints);
        for (int j = 0; j < joints; ++j) asked[j] = drives.velocity[j].velocity;
        for (int k = 0; k < 60; ++k) {
          ASSERT_TRUE(stepper.step(VectorXd::Zero(world.nv()), state).accepted) << to_string(scheme) << limit;
          if (scheme == Scheme::energy_momentum && speed > 0.0) continue;  // its joints follow the midpoint
          place += 1e-3 * asked;
          ASSERT_LT((state.v.tail(joints) - asked).norm(), 1e-9) << to_string(scheme) << " " << limit << " " << k;
          // in part by the velocities before, or knocked by an impact, which no limited drive holds against
          if ((k == 0 && scheme != Scheme::semi_implicit_euler) || !stepper.events().empty()) place = state.q.tail(joints);
          ASSERT_LT((state.q.tail(joints) - place).norm(), 1e-9) << to_string(scheme) << " " << limit << " " << k;
        }
        stepper.prepare(state, VectorXd::Zero(world.nv()));
        if (speed > 0.0) continue;  // what moves may have feet in the air
        EXPECT_GT(stepper.problem().gap.minCoeff(), -1e-4) << to_string(scheme) << " " << limit;
      }
    }
  }
}

// A drive that gives all that it can holds nothing.
TEST(PositionCorrection, DrivesAtTheirLimitsGiveWay) {
  WorldBuilder builder;
  add_plane(builder);
  builder.add_robot_text(R"(<mujoco><worldbody><body pos="0 0 0.095"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="1"/></body>
    <body pos="1 0 0.095"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="1"/></body></worldbody></mujoco>)");
  const World world = builder.build();
  for (const Scheme scheme : {Scheme::semi_implicit_euler, Scheme::moreau_midpoint, Scheme::energy_momentum, Scheme::event_driven}) {
    SCOPED_TRACE(to_string(scheme));
    StepOptions options = stepper_for(world).options();
    options.scheme = scheme;
    Stepper stepper(world, make_scene(world, 0.5), options);
    stepper.set_drives({{{0, 0.0, -1e3, 1e3}, {1, 0.0, -1.0, 1.0}}, {}});
    State state = initial_state(world);
    for (int k = 0; k < 5; ++k) ASSERT_TRUE(stepper.step(VectorXd::Zero(2), state).accepted);
    EXPECT_NEAR(state.q[0], 0.0, 1e-12);
    EXPECT_GT(state.q[1], 0.5 * kGamma * 0.005);
  }
}

// A turntable whose rim lies in the ground: its axis is the normal, tilted by `tilt`.
World turntable(double tilt) {
  WorldBuilder builder;
  add_plane(builder);
  RobotOptions options;
  options.pose.linear() = Eigen::AngleAxisd(0.5 * M_PI + tilt, Vector3d::UnitX()).toRotationMatrix();
  options.pose.translation().z() = 0.045;
  builder.add_robot_text(R"(<robot name="table"><link name="base"/><link name="plate"><inertial><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0.3 0 0.1"/><geometry><sphere radius="0.05"/></geometry></collision>
    <collision><origin xyz="0.2 0 -0.1"/><geometry><sphere radius="0.05"/></geometry></collision></link>
    <joint name="turn" type="continuous"><parent link="base"/><child link="plate"/><axis xyz="0 1 0"/></joint></robot>)",
                         options);
  return builder.build();
}

TEST(PositionCorrection, AContactThatNoJointCanOpenIsNone) {
  Stepper stepper = stepper_for(turntable(0.0));
  State state = initial_state(stepper.world());
  for (int k = 0; k < 50; ++k) {
    const StepReport report = stepper.step(VectorXd::Zero(1), state);
    ASSERT_EQ(report.status, Status::solved);
    ASSERT_LT(std::abs(state.q[0]), 1e-9) << k;
  }
}

// A lever short of the penetration, down to next to nothing: the plate may turn, but no point of it by more than the ground is deep.
TEST(PositionCorrection, AShortLeverMovesNoPointFartherThanThePenetration) {
  for (const double tilt : {1e-15, 1e-13, 1e-11, 1e-9, 1e-6, 1e-4, 1e-2}) {
    Stepper stepper = stepper_for(turntable(tilt));
    State state = initial_state(stepper.world());
    for (int k = 0; k < 20; ++k) {
      const double before = state.q[0];
      const StepReport report = stepper.step(VectorXd::Zero(1), state);
      ASSERT_TRUE(report.accepted) << tilt;
      EXPECT_LE(report.correction.farthest, report.deepest_penetration * (1 + 1e-9));
      const double by_speed = 1e-3 * std::abs(state.v[0]);
      EXPECT_LE(0.25 * (std::abs(state.q[0] - before) - by_speed), report.deepest_penetration * (1 + 1e-9)) << tilt << " " << k;
    }
  }
}

// The robot is not turned round and round for an overlap that turning does not undo: a lever of a hundredth of the reach is left alone.
TEST(PositionCorrection, ALeverThatIsNoWayOutIsLeftAlone) {
  Stepper stepper = stepper_for(turntable(1e-3));
  State state = initial_state(stepper.world());
  for (int k = 0; k < 100; ++k) ASSERT_TRUE(stepper.step(VectorXd::Zero(1), state).accepted);
  EXPECT_LT(std::abs(state.q[0]), 1e-3);
}

// Two walls too near each other: the ball between them goes to the middle and stays, and a box elsewhere is corrected all the same.
TEST(PositionCorrection, WhatContradictsItselfIsSharedAndHoldsUpNothingElse) {
  WorldBuilder builder;
  builder.set_gravity(Vector3d::Zero());
  add_plane(builder, Vector3d::UnitX(), -0.095);
  add_plane(builder, -Vector3d::UnitX(), -0.095);
  add_plane(builder, Vector3d::UnitZ(), -1.0);
  add_body(builder, "ball", Sphere{0.1}, at(0.003, 0, 0));
  add_body(builder, "low", Sphere{0.05}, at(0, 1.0, -0.955));
  Stepper stepper = stepper_for(builder.build());
  State state = initial_state(stepper.world());
  double off = 0.003;
  for (int k = 0; k < 100; ++k) {
    const StepReport report = stepper.step(VectorXd::Zero(12), state);
    ASSERT_TRUE(report.accepted);
    EXPECT_FALSE(report.correction.refused);
    EXPECT_LE(std::abs(state.q[0]), off + 1e-15);
    off = std::abs(state.q[0]);
    EXPECT_LT(state.v.norm(), 1e-12);
  }
  EXPECT_LT(off, 1e-6);
  EXPECT_NEAR(state.q[7 + 2], -0.95, 2e-6);
}

// Boxes of any shape, thrust into the ground at random: corners move by the deepest penetration at most, and all come out.
TEST(PositionCorrection, RandomBoxesComeOutAndNoCornerMovesFartherThanThePenetration) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (int trial = 0; trial < 30; ++trial) {
    const Vector3d half(0.02 + 0.2 * std::abs(uniform(random)), 0.02, 0.05 + 0.05 * uniform(random));
    Eigen::Isometry3d pose = at(0, 0, 0);
    pose.linear() = Eigen::Quaterniond(uniform(random), uniform(random), uniform(random), uniform(random)).normalized().toRotationMatrix();
    double lowest = 0.0;
    const auto corner = [&](int i) {
      return Vector3d((i & 1 ? 1 : -1) * half.x(), (i & 2 ? 1 : -1) * half.y(), (i & 4 ? 1 : -1) * half.z());
    };
    for (int i = 0; i < 8; ++i) lowest = std::min(lowest, (pose.linear() * corner(i)).z());
    pose.translation().z() = -lowest - 0.01;
    WorldBuilder builder;
    builder.set_gravity(Vector3d::Zero());
    add_plane(builder);
    add_body(builder, "box", Box{half}, pose);
    Stepper stepper = stepper_for(builder.build());
    State state = initial_state(stepper.world());
    WorldData before(stepper.world()), after(stepper.world());
    for (int k = 0; k < 80; ++k) {
      update_kinematics(stepper.world(), state.q, before);
      const StepReport report = stepper.step(VectorXd::Zero(6), state);
      ASSERT_TRUE(report.accepted && !report.correction.refused);
      update_kinematics(stepper.world(), state.q, after);
      const std::size_t body = static_cast<std::size_t>(stepper.world().body("box"));
      for (int i = 0; i < 8; ++i) {
        const double moved = (after.X_WB[body] * corner(i) - before.X_WB[body] * corner(i)).norm();
        EXPECT_LE(moved, report.deepest_penetration * (1 + 1e-6) + 1e-15) << trial << " " << k;
      }
      EXPECT_LT(state.v.norm(), 1e-12);
    }
    EXPECT_LT(-stepper.problem().gap.minCoeff(), 3e-6) << trial;
  }
}

}  // namespace
}  // namespace stiction::position_correction_test
