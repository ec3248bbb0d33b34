// The robot cut apart moves as the whole one; the sweep finds the published shape.
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
  Matrix6Xd base(6, stepper.world().nv());  // twist about the world's origin
  frame_jacobian(stepper.world(), stepper.data(), stepper.world().joints()[0].body, Eigen::Vector3d::Zero(), base);
  EXPECT_LT((base * a.v - b.v.head<6>()).norm(), 1e-9);
  EXPECT_GT(a.v.norm(), 1e-3);
  double weight_a = 0.0, weight_b = 0.0;
  for (int i = 0; i < whole.contacts(); ++i) {
    weight_a += a.impulses[3 * i];
    weight_b += b.impulses[3 * i];
  }
  EXPECT_NEAR(weight_a, weight_b, 1e-9);
  EXPECT_GT(weight_a, 0.0);
}

// What [G14] says of its Fig. 6: every configuration has an upper limit of α and is fastest close to it; SOR converges faster than JOR
// where bilateral rows are iterated on, but not in minimal coordinates.
TEST(AlphaSweep, HasALimitAndIsFastestCloseToIt) {
  Scene scene = quadruped();
  scene.duration = 0.3;
  AlphaSweepOptions options;
  options.alphas = {0.2, 0.4, 0.6, 0.9, 1.2, 1.5, 1.7, 1.95};
  options.stride = 50;
  options.max_iterations = 1500;
  const AlphaSweep sweep = sweep_alpha(scene, options);
  EXPECT_EQ(sweep.steps, 300);
  ASSERT_GE(sweep.problems, 3);
  ASSERT_EQ(sweep.curves.size(), 6u);
  for (const AlphaCurve& c : sweep.curves) {
    ASSERT_EQ(c.points.size(), options.alphas.size()) << c.name;
    ASSERT_TRUE(c.largest.has_value() && c.fastest.has_value()) << c.name;
    double fewest = kInfinity;
    for (std::size_t k = 0; k < c.points.size(); ++k) {
      EXPECT_EQ(c.points[k].alpha, options.alphas[k]);
      EXPECT_EQ(c.points[k].failures > 0, c.points[k].alpha > *c.largest) << c.name << " " << c.points[k].alpha;
      if (c.points[k].failures > 0) continue;
      EXPECT_LE(c.points[k].mean_iterations, c.points[k].most_iterations) << c.name;
      fewest = std::min(fewest, c.points[k].mean_iterations);
      if (c.points[k].alpha == *c.fastest) {
        EXPECT_EQ(c.points[k].mean_iterations, fewest) << c.name;
      }
    }
    // Past its limit; HMSP, whose limit is SOR's own of 2, all but.
    EXPECT_TRUE(c.points.back().failures > 0 || c.points.back().mean_iterations > 5.0 * fewest) << c.name;
    EXPECT_EQ(*c.largest == options.alphas.back(), c.name == "HMSP") << c.name;
    EXPECT_GE(*c.fastest, 0.7 * *c.largest) << c.name;
    EXPECT_LT(fewest, 0.75 * c.points.front().mean_iterations) << c.name;
  }
  const auto iterations = [&](int curve) { return sweep.curves[static_cast<std::size_t>(curve)].points[2].mean_iterations; };  // α = 0.6
  EXPECT_NEAR(iterations(1) / iterations(0), 1.0, 0.05);
  EXPECT_LT(iterations(3), 0.9 * iterations(2));
  EXPECT_LT(iterations(5), 0.95 * iterations(4));
}

TEST(AlphaSweep, RelaxationsOutOfOrderAreRefused) {
  AlphaSweepOptions options;
  options.alphas = {0.5, 0.2};
  EXPECT_THROW(sweep_alpha(quadruped(), options), InvalidArgument);
  options.alphas = {0.5, 2.0};
  EXPECT_THROW(sweep_alpha(quadruped(), options), InvalidArgument);
}

}  // namespace
}  // namespace stiction
