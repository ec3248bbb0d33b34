// The robot cut apart moves as the whole one; the sweep finds the published shape: a limit, and the fewest iterations below it.
#include "stiction/experiments/alpha_sweep.hpp"

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/experiments/cut_robot.hpp"
#include "test_paths.hpp"

namespace stiction {
namespace {

using Eigen::VectorXd;

Scene quadruped() { return load_scene(STICTION_SOURCE_DIR "/models/scenes/quadruped.toml"); }

class EveryCut : public testing::TestWithParam<Cut> {};
INSTANTIATE_TEST_SUITE_P(Cuts, EveryCut, testing::Values(Cut::extended, Cut::maximal),
                         [](const auto& instance) { return instance.param == Cut::extended ? "extended" : "maximal"; });

TEST_P(EveryCut, MovesAsTheWholeRobot) {
  Scene scene = quadruped();
  scene.options.assemble.joint_limits = scene.options.assemble.dry_friction = false;
  Stepper stepper = scene.make_stepper();
  State state = scene.start;
  VectorXd tau;
  for (int k = 0; k < 400; ++k) {
    scene.held_torques(state, tau);
    ASSERT_TRUE(stepper.step(tau, state).accepted);
  }
  state.v.setZero();
  tau = VectorXd::LinSpaced(stepper.world().nv(), -0.05, 0.05);
  tau.head<6>().setZero();
  stepper.prepare(state, tau);
  const ContactProblem& whole = stepper.problem();
  ASSERT_GE(whole.contacts(), 4);
  const ContactProblem cut = cut_robot(stepper.world(), stepper.data(), tau, stepper.contacts(), whole, GetParam());
  EXPECT_EQ(cut.velocities(), GetParam() == Cut::extended ? 38 : 78);
  EXPECT_EQ(cut.bounded_rows(), GetParam() == Cut::extended ? 20 : 60);
  SolveOptions options;
  options.law = Law::moreau;
  const Solution a = solve(whole, options), b = solve(cut, options);
  ASSERT_EQ(a.status, Status::solved);
  ASSERT_EQ(b.status, Status::solved) << b.certificate.worst();
  VectorXd ua(whole.J.rows()), ub(whole.J.rows());
  whole.J.multiply(a.v, ua);
  cut.J.multiply(b.v, ub);
  EXPECT_LT((ua - ub).norm(), 1e-9);
  double weight_a = 0.0, weight_b = 0.0;
  for (int i = 0; i < whole.contacts(); ++i) {
    weight_a += a.impulses[3 * i];
    weight_b += b.impulses[3 * i];
  }
  EXPECT_NEAR(weight_a, weight_b, 1e-9);
  EXPECT_GT(weight_a, 0.0);
}

TEST(AlphaSweep, HasALimitAndIsFastestBelowIt) {
  Scene scene = quadruped();
  scene.duration = 0.3;
  AlphaSweepOptions options;
  options.alphas = {0.2, 0.6, 1.0, 1.9};
  options.stride = 25;
  options.max_iterations = 500;
  const AlphaSweep sweep = sweep_alpha(scene, options);
  ASSERT_EQ(sweep.curves.size(), 6u);
  EXPECT_GT(sweep.problems, 3);
  const AlphaCurve& jacobi = sweep.curves[0];
  EXPECT_GT(jacobi.points.back().failures, 0);  // JOR past its limit
  ASSERT_TRUE(jacobi.largest.has_value() && jacobi.fastest.has_value());
  EXPECT_LE(*jacobi.fastest, *jacobi.largest);
  for (const AlphaCurve& c : sweep.curves) EXPECT_EQ(c.points.size(), 4u) << c.name;
  options.alphas = {0.5, 0.2};
  EXPECT_THROW(sweep_alpha(scene, options), InvalidArgument);
}

}  // namespace
}  // namespace stiction
