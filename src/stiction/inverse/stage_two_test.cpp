// Least torque where rows of J_b leave a choice, and after a repair.
#include <array>
#include <numeric>

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::stage_two_test {
namespace {

using namespace testing_problems;
using Eigen::Vector2d;

InverseOptions least_torque(Law law = Law::coulomb_cone) {
  InverseOptions options;
  options.contact.law = law;
  options.choice = Choice::least_torque;
  return options;
}

/// Unit masses at rest under an impulse, no contacts, rows J_b v = 0 with bounds; h = 1 s.
ContactProblem with_rows(const VectorXd& impulse, const MatrixXd& rows, double lo, double hi) {
  const Eigen::Index nv = impulse.size(), m = rows.rows();
  ContactProblem p = make_contact_problem(MatrixXd::Identity(nv, nv), VectorXd::Zero(nv), MatrixXd(0, nv), VectorXd(0), 1.0);
  p.impulse = impulse;
  p.J_b = BlockRows::from_dense(1, rows, p.M.sizes());
  p.b = VectorXd::Zero(m);
  p.lo = VectorXd::Constant(m, lo);
  p.hi = VectorXd::Constant(m, hi);
  return p;
}

TEST(StageTwo, MotorsOfOneLoopShareTheLoad) {
  const ContactProblem p = with_rows(Vector2d(10.0, 0.0), Eigen::RowVector2d(1.0, -1.0), -kInfinity, kInfinity);
  const InverseSolution s = inverse_dynamics(p, std::vector{0, 1}, Vector2d::Zero(), {}, least_torque());
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_TRUE(s.choice_met);
  EXPECT_LT((s.tau - Vector2d(-5.0, -5.0)).norm(), 1e-9);
  EXPECT_NEAR(s.bounded_impulses[0], -5.0, 1e-9);
  EXPECT_LE(s.certificate.worst(), 1e-9);
}

// Load of 10 N s on a driven joint that shall stay: the stop takes all, dry friction as much as it can, a stop that it leaves nothing.
TEST(StageTwo, EndStopsAndDryFrictionTakeWhatTheyCan) {
  const std::vector<int> joint{0};
  const VectorXd load = VectorXd::Constant(1, -10.0), stays = VectorXd::Zero(1), leaves = VectorXd::Constant(1, 0.5);
  const MatrixXd row = MatrixXd::Ones(1, 1);
  const auto torque = [&](double lo, double hi, const VectorXd& desired) {
    const InverseSolution s = inverse_dynamics(with_rows(load, row, lo, hi), joint, desired, {}, least_torque());
    EXPECT_EQ(s.status, Status::solved);
    EXPECT_TRUE(s.choice_met);
    return s.tau[0];
  };
  EXPECT_NEAR(torque(0.0, kInfinity, stays), 0.0, 1e-9);
  EXPECT_NEAR(torque(-3.0, 3.0, stays), 7.0, 1e-9);
  EXPECT_NEAR(torque(0.0, kInfinity, leaves), 10.5, 1e-9);
  EXPECT_NEAR(torque(-3.0, 3.0, leaves), 13.5, 1e-9);
}

// Loops through free coordinates and contacts that press: no combination of impulses that the free coordinates do not feel has a share in
// the torques.
TEST(StageTwo, TorquesAreOrthogonalToWhatLoopsAndContactsCanDo) {
  int chosen = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 rng(seed);
    std::normal_distribution<double> normal;
    const auto gaussian = [&] { return normal(rng); };
    const int nv = 8, driven = 5, loops = 1 + static_cast<int>(seed % 4), n = static_cast<int>(seed % 3);
    const MatrixXd A = MatrixXd::NullaryExpr(nv, nv, gaussian);
    MatrixXd J = MatrixXd::Zero(3 * n, nv);
    for (int i = 0; i < n; ++i) J.row(3 * i) = MatrixXd::NullaryExpr(1, nv, gaussian);
    ContactProblem p = make_contact_problem(A * A.transpose() + MatrixXd::Identity(nv, nv), VectorXd::Zero(nv), J, VectorXd::Zero(n), 1.0);
    const MatrixXd rows = MatrixXd::NullaryExpr(loops, nv, gaussian);
    p.impulse = VectorXd::NullaryExpr(nv, gaussian);
    p.J_b = BlockRows::from_dense(1, rows, p.M.sizes());
    p.b = VectorXd::Zero(loops);
    p.lo = VectorXd::Constant(loops, -kInfinity);
    p.hi = VectorXd::Constant(loops, kInfinity);
    std::vector<int> joints(driven);
    std::iota(joints.begin(), joints.end(), 0);
    const InverseSolution s = inverse_dynamics(p, joints, VectorXd::Zero(driven), {}, least_torque(Law::frictionless));
    ASSERT_EQ(s.status, Status::solved) << seed;
    EXPECT_TRUE(s.choice_met) << seed;
    MatrixXd pushing = rows;
    for (int i = 0; i < n; ++i) {
      if (s.impulses[3 * i] < 1e-9) continue;
      pushing.conservativeResize(pushing.rows() + 1, Eigen::NoChange);
      pushing.bottomRows(1) = J.row(3 * i);
    }
    const MatrixXd free = pushing.rightCols(nv - driven).transpose();
    const Eigen::FullPivLU<MatrixXd> lu(free);
    if (lu.dimensionOfKernel() == 0) continue;
    ++chosen;
    EXPECT_LT((lu.kernel().transpose() * pushing.leftCols(driven) * s.tau).norm(), 1e-7 * (1.0 + s.tau.norm())) << seed;
    const VectorXd balance = p.M.to_dense() * s.v - p.impulse - J.transpose() * s.impulses - rows.transpose() * s.bounded_impulses;
    EXPECT_LT((balance.head(driven) - s.tau).norm(), 1e-9) << seed;
    EXPECT_LT(balance.tail(nv - driven).norm(), 1e-9) << seed;
  }
  EXPECT_GT(chosen, 10);
}

TEST(StageTwo, NoAllocationOnceTheSizesAreKnown) {
  if (!allocations_are_counted()) GTEST_SKIP() << "sanitizers own malloc in this build";
  ContactProblem p = with_rows(Vector2d(10.0, 0.0), Eigen::RowVector2d(1.0, -1.0), -kInfinity, kInfinity);
  const VectorXd still = VectorXd::Zero(2);
  InverseWorkspace w;
  InverseSolution s;
  const auto control = [&] {
    for (const double load : {10.0, -3.0}) {
      p.impulse[0] = load;
      inverse_dynamics(p, std::array{0, 1}, still, {}, least_torque(), w, s);
    }
  };
  control();
  const std::size_t before = allocation_count();
  control();
  EXPECT_EQ(allocation_count() - before, 0u);
  EXPECT_TRUE(s.choice_met);
  EXPECT_LT((s.tau - Vector2d(1.5, 1.5)).norm(), 1e-9);
}

// A finger that shall go through a wall and is pushed at it anyway: it stops, and the wall bears the push.
TEST(StageTwo, FollowsARepair) {
  MatrixXd J = MatrixXd::Zero(3, 1);
  J(0, 0) = -1.0;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(1, 1), VectorXd::Zero(1), J, VectorXd::Constant(1, 0.5), 0.01);
  p.impulse[0] = 3.0;
  for (const Law law : {Law::frictionless, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu}) {
    const InverseSolution s = inverse_dynamics(p, std::vector{0}, VectorXd::Constant(1, 2.0), {}, least_torque(law));
    EXPECT_EQ(s.status, Status::solved) << to_string(law);
    EXPECT_TRUE(s.repaired) << to_string(law);
    EXPECT_TRUE(s.choice_met) << to_string(law);
    EXPECT_NEAR(s.tau[0], 0.0, 1e-7) << to_string(law);
    EXPECT_NEAR(s.impulses[0], 3.0, 1e-9) << to_string(law);
  }
}

}  // namespace
}  // namespace stiction::stage_two_test
