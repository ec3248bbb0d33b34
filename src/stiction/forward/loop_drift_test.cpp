// Drift that contacts nearly refuse to undo, in closed form: a loop along x, a contact without slip along (1, σ). Loops whose joints are
// driven without limits: what drives ask is motion that velocities have.
#include "stiction/forward/loop_drift.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/forward/step.hpp"
#include "stiction/laws/solve_memory.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::loop_drift_test {
namespace {

using namespace testing_problems;

constexpr double kRate = 5e-3;

ContactProblem loop_and_contact(double sigma, const VectorXd& before) {
  MatrixXd J(3, 3);
  J << 0, 0, 1, 1, sigma, 0, 1, sigma, 0;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(3, 3), before, J, VectorXd::Constant(1, 0.5), 1e-3);
  p.impulse[2] = -1e-5;
  p.J_b = BlockRows::from_dense(1, Eigen::RowVector3d(1.0, 0.0, 0.0), p.M.sizes());
  p.b = VectorXd::Constant(1, kRate);
  p.lo = VectorXd::Constant(1, -kInfinity);
  p.hi = VectorXd::Constant(1, kInfinity);
  return p;
}

// v⁺ = (b, -b/σ, 0): energy b²/(2σ²) from nothing, beside b²/2 that the drift alone takes.
TEST(LoopDrift, IsMagnifiedWhereContactsMakeTenOfIt) {
  for (const VectorXd& before : {VectorXd(Vector3d::Zero()), VectorXd(Vector3d(-1e-4, 1e-4, 0.0))}) {
    for (const double sigma : {0.3, 0.11, 0.09, 1e-2, 1e-3}) {
      const ContactProblem p = loop_and_contact(sigma, before);
      SolveWorkspace w;
      Solution s;
      solve(p, with(Law::no_slip), w, s);
      ASSERT_EQ(s.status, Status::solved) << sigma;
      EXPECT_NEAR(s.v[1], -kRate / sigma, 1e-9 / sigma);
      LoopDrift drift;
      EXPECT_EQ(drift.is_magnified(p, s, w.reduction), sigma < 0.1) << sigma;
      GrowVector moved = VectorXd(VectorXd::Zero(3));
      drift.add(moved);
      EXPECT_EQ(moved.norm(), 0.0);
      drift.withhold(p, w.reduction);
      drift.add(moved);
      EXPECT_LT((moved - kRate * VectorXd::Unit(3, 0)).norm(), 1e-15) << sigma;
    }
  }
}

// What motors ask of the same row is theirs to give, however much the contact makes of it.
TEST(LoopDrift, IsNotWhatMotorsAsk) {
  ContactProblem p = loop_and_contact(1e-3, Vector3d::Zero());
  p.row_kinds = {RowKind::motor};
  SolveWorkspace w;
  Solution s;
  solve(p, with(Law::no_slip), w, s);
  EXPECT_FALSE(LoopDrift{}.is_magnified(p, s, w.reduction));
}

constexpr double kFriction = 0.5, kGravity = 9.81, kDt = 1e-3;

constexpr const char* kPlatform = R"(<mujoco model="platform"><worldbody><body pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0"/>
    <geom type="box" size="0.5 0.5 0.02" mass="5"/></body></worldbody></mujoco>)";

// A parallelogram of one degree of freedom: v = (ω, -ω, ω), q as its integral.
constexpr const char* kParallelogram =
    R"(<mujoco model="linkage">
    <default><geom type="capsule" size="0.02" mass="1" contype="0" conaffinity="0"/><joint axis="0 1 0"/></default>
    <worldbody><body pos="0 2 2"><joint/><geom fromto="0 0 0 0 0 -0.2"/><body pos="0 0 -0.2"><joint/><geom fromto="0 0 0 0.4 0 0"/>
      <body name="rocker" pos="0.4 0 0"><joint/><geom fromto="0 0 0 0 0 0.2"/></body></body></body></worldbody>
    <equality><connect body1="rocker" anchor="0 0 0.2"/></equality></mujoco>)";

// Two links whose tip is pinned: no degree of freedom.
constexpr const char* kTriangle =
    R"(<mujoco model="linkage">
    <default><geom type="capsule" size="0.02" mass="1" contype="0" conaffinity="0"/><joint axis="0 1 0"/></default>
    <worldbody><body pos="0 2 2"><joint/><geom fromto="0 0 0 0.3 0 0.1"/><body name="b" pos="0.3 0 0.1"><joint/>
      <geom fromto="0 0 0 0.2 0 -0.3"/></body></body></worldbody><equality><connect body1="b" anchor="0.2 0 -0.3"/></equality></mujoco>)";

/// The robots one after another, and on the platform a box, where it is among them.
World world_of(const std::vector<std::string>& robots) {
  WorldBuilder builder;
  builder.set_gravity({0.0, 0.0, -kGravity});
  for (const std::string& robot : robots) builder.add_robot_text(robot);
  FreeBody box;
  box.name = "box";
  box.mass = 1.0;
  box.shapes.push_back({Box{Vector3d(0.1, 0.1, 0.05)}, Eigen::Isometry3d::Identity(), kFriction});
  box.inertia = solid_inertia(box.shapes[0].shape, box.mass);
  box.pose.translation().z() = 0.17;
  if (std::ranges::find(robots, kPlatform) != robots.end()) builder.add_free_body(box);
  return builder.build();
}

Stepper stepper_for(const World& world, Scheme scheme, double loop_recovery = 1.0) {
  StepOptions options;
  options.assemble.dt = kDt;
  options.assemble.loop_recovery = loop_recovery;
  options.scheme = scheme;
  return {world, make_scene(world, kFriction), options};
}

/// Way (m or rad) of what is at `speed` from the end of its first step on, after k steps.
double way(Scheme scheme, int k, double speed) { return kDt * speed * (scheme == Scheme::moreau_midpoint ? k - 0.5 : k); }

// A box on a platform that starts at once slides until friction has brought it to the platform's speed.
TEST(LoopDrift, DrivesBesideALoopHaveTheirSpeeds) {
  constexpr double kSpeed = 0.4;
  const World world = world_of({kPlatform, kParallelogram});
  const Eigen::Index box = world.nq() - 7;
  for (const Scheme scheme : {Scheme::semi_implicit_euler, Scheme::moreau_midpoint}) {
    for (const double omega : {0.0, 0.05, 0.5, 3.0}) {
      Stepper stepper = stepper_for(world, scheme);
      stepper.set_drives({{{0, kSpeed}, {1, omega}}, {}});
      State state = initial_state(world);
      double carried = state.q[box], before = 0.0;
      for (int k = 1; k <= 200; ++k) {
        ASSERT_EQ(stepper.step(VectorXd::Zero(world.nv()), state).status, Status::solved);
        ASSERT_NEAR(state.v[0], kSpeed, 1e-12);
        ASSERT_NEAR(state.v[1], omega, 1e-12);
        // Rates of the loop's drift are those of h ω² that the last step left.
        ASSERT_NEAR(state.v[2], -omega, 1e-12 + 2.0 * kDt * omega * omega) << omega;
        ASSERT_NEAR(state.v[3], omega, 1e-12 + 2.0 * kDt * omega * omega) << omega;
        ASSERT_NEAR(state.q[0], way(scheme, k, kSpeed), 1e-9);
        ASSERT_NEAR(state.q[1], way(scheme, k, omega), 1e-9);
        const double now = std::min(kSpeed, k * kDt * kFriction * kGravity);
        carried += kDt * (scheme == Scheme::moreau_midpoint ? 0.5 * (before + now) : now);
        before = now;
        ASSERT_NEAR(state.q[box], carried, 1e-7) << omega << " " << k;
      }
    }
  }
}

// Drives of two joints of one degree of freedom.
TEST(LoopDrift, DrivesThatContradictALoopAreRefused) {
  for (const auto& [linkage, first, second] : {std::tuple{kParallelogram, 0.5, 0.4}, std::tuple{kTriangle, 0.3, -0.1}}) {
    for (const auto& robots : {std::vector<std::string>{kPlatform, linkage}, {linkage, kPlatform}, {linkage}}) {
      const World world = world_of(robots);
      const int at = robots[0] == kPlatform ? 1 : 0;
      for (const Scheme scheme : {Scheme::semi_implicit_euler, Scheme::moreau_midpoint, Scheme::energy_momentum, Scheme::event_driven}) {
        for (const double recovery : {0.0, 1.0}) {
          Stepper stepper = stepper_for(world, scheme, recovery);
          stepper.set_drives({{{at, first}, {at + 1, second}}, {}});
          const State start = initial_state(world);
          State state = start;
          const StepReport report = stepper.step(VectorXd::Zero(world.nv()), state);
          EXPECT_FALSE(report.accepted) << to_string(scheme);
          EXPECT_EQ(report.status, Status::infeasible) << to_string(scheme);
          EXPECT_EQ(state.q, start.q);
          EXPECT_EQ(state.v, start.v);
        }
      }
    }
  }
}

// Drives that hold what the loop holds.
TEST(LoopDrift, DrivesAtRestMayHoldALoop) {
  const World world = world_of({kPlatform, kTriangle});
  for (const Scheme scheme : {Scheme::semi_implicit_euler, Scheme::moreau_midpoint}) {
    Stepper stepper = stepper_for(world, scheme);
    stepper.set_drives({{{0, 0.4}, {1, 0.0}, {2, 0.0}}, {}});
    const State start = initial_state(world);
    State state = start;
    for (int k = 1; k <= 50; ++k) {
      ASSERT_EQ(stepper.step(VectorXd::Zero(world.nv()), state).status, Status::solved);
      ASSERT_NEAR(state.v[0], 0.4, 1e-12);
      ASSERT_NEAR(state.q[0], way(scheme, k, 0.4), 1e-9);
      ASSERT_LT((state.q.segment<2>(1) - start.q.segment<2>(1)).norm(), 1e-12);
    }
  }
}

// A gear v_b = 2 v_a and a belt between the same joints whose ratio is a hair off: together they hold both. The belt does not close the
// gear.
TEST(LoopDrift, ALoopOfWhichDrivesLeaveAHairHolds) {
  const World world =
      world_of({R"(<mujoco><worldbody><body><joint name="a"/><inertial pos="0 0 0" mass="1" diaginertia="0.3 0.3 0.3"/></body>
    <body><joint name="b"/><inertial pos="0 0 0" mass="1" diaginertia="0.05 0.05 0.05"/></body></worldbody>
    <equality><joint joint1="b" joint2="a" polycoef="0 2"/></equality></mujoco>)"});
  Stepper stepper = stepper_for(world, Scheme::semi_implicit_euler);
  stepper.set_drives({{}, {}, {{{{0, -2.0 - 2e-5}, {1, 1.0}}}}});
  State state = initial_state(world);
  for (int k = 0; k < 20; ++k) {
    ASSERT_TRUE(stepper.step(Eigen::Vector2d(1.0, 0.0), state).accepted);
    ASSERT_LT(state.v.norm(), 1e-9);
  }
}

// Two hanging links of 0.3 m and 1 kg each, their tip connected to a point 0.8 m away: the loop never closes. Pointing at it they have the
// height of 0.6 m of the way there, and beside that no more than a quarter above what the pair would carry as one body at 1 m/s. A point
// that they reach only nearly straight is reached within a second, at 1 m/s.
TEST(LoopDrift, ALoopOutOfReachGivesNoMoreThanOneBodysEnergy) {
  constexpr double kHigh = 0.1;
  for (const double away : {0.8, 0.61, 0.585, 0.5}) {
    const World world = world_of({fmt::format(R"(<mujoco>
    <default><geom type="capsule" size="0.02" mass="1" contype="0" conaffinity="0"/><joint axis="0 1 0"/></default>
    <worldbody><site name="t" pos="{} 0 {}"/><body><joint/><geom fromto="0 0 0 0 0 -0.3"/>
      <body pos="0 0 -0.3"><joint/><geom fromto="0 0 0 0.02 0 -0.3"/><site name="s" pos="0.02 0 -0.3"/></body></body></worldbody>
    <equality><connect site1="s" site2="t"/></equality></mujoco>)",
                                              away, kHigh)});
    const double pointing = kGravity * 0.6 * kHigh / std::hypot(away, kHigh), given = 1.25 * 0.5 * 2.0;
    for (const Scheme scheme : {Scheme::semi_implicit_euler, Scheme::moreau_midpoint}) {
      for (const double h : {2e-3, 1e-3, 2.5e-4}) {
        StepOptions options;
        options.assemble.dt = h;
        options.scheme = scheme;
        Stepper stepper(world, make_scene(world, kFriction), options);
        State state = initial_state(world);
        WorldData data(world);
        VectorXd errors(count_equality_rows(world));
        double most = -kInfinity;
        while (state.time < 1.5) {
          ASSERT_TRUE(stepper.step(VectorXd::Zero(2), state).accepted);
          update(world, state.q, state.v, data);
          most = std::max(most, kinetic_energy(world, data, state.v) + potential_energy(world, data));
        }
        equality_row_errors(world, data, state.q, errors);
        fmt::print("[ reach    ] {} m, {}, {} ms: {:.2f} J at most, open by {:.1e} m\n", away, to_string(scheme), 1e3 * h, most,
                   errors.norm());
        EXPECT_LT(most, pointing + given);
        EXPECT_LT(errors.norm(), away < 0.6 ? 1e-3 : away);
      }
    }
  }
}

}  // namespace
}  // namespace stiction::loop_drift_test
