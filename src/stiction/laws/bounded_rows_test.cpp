// Joint limits, dry friction, motors and friction boxes: laws with bounded rows against closed forms, against each other and against the
// optimality conditions.
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::bounded_rows_test {
namespace {

using namespace testing_problems;

constexpr double kDt = 0.01, kG = 9.81;

void add_row(ContactProblem& p, const MatrixXd& row, double b, double lo, double hi) {
  const int size = p.velocities();
  const Eigen::Index m = p.bounded_rows();
  MatrixXd rows(m + 1, size);
  if (m > 0) rows.topRows(m) = p.J_b.to_dense();
  rows.row(m) = row;
  p.J_b = BlockRows::from_dense(1, rows, std::span(&size, 1));
  for (auto [x, value] : {std::pair{&p.b, b}, {&p.lo, lo}, {&p.hi, hi}}) {
    x->resize(m + 1);
    (*x)[m] = value;
  }
}

/// Pendulum of mass m at distance l: one coordinate, its angle from the vertical; a contact that is far away.
ContactProblem pendulum(double m, double l, double angle, double omega) {
  ContactProblem p = make_contact_problem(MatrixXd::Constant(1, 1, m * l * l), VectorXd::Constant(1, omega), MatrixXd::Zero(3, 1),
                                          VectorXd::Constant(1, 0.5), kDt);
  p.gap[0] = 1.0;
  p.impulse[0] = -kDt * m * kG * l * std::sin(angle);
  return p;
}

constexpr std::array kRigid{Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu, Law::max_dissipation};

TEST(DryFriction, HoldsAPendulumUpToItsTorqueAndBrakesItBeyond) {
  const double m = 2.0, l = 0.5, friction = 4.0;  // N m; the weight's moment is 9.81 sin(angle)
  for (const Law law : kRigid) {
    for (const double angle : {0.2, 0.4, -0.4}) {
      ContactProblem held = pendulum(m, l, angle, 0.0);
      add_row(held, MatrixXd::Ones(1, 1), 0.0, -kDt * friction, kDt * friction);
      const Solution s = solve(held, with(law));
      EXPECT_EQ(s.status, Status::solved) << to_string(law);
      EXPECT_NEAR(s.v[0], 0.0, 1e-11) << to_string(law);
      EXPECT_NEAR(s.bounded_impulses[0], kDt * m * kG * l * std::sin(angle), 1e-11) << to_string(law);
    }
    ContactProblem falls = pendulum(m, l, 1.2, 0.0);
    add_row(falls, MatrixXd::Ones(1, 1), 0.0, -kDt * friction, kDt * friction);
    const double rate = (-m * kG * l * std::sin(1.2) + friction) / (m * l * l);
    EXPECT_NEAR(solve(falls, with(law)).v[0], kDt * rate, 1e-11) << to_string(law);
    ContactProblem swings = pendulum(m, l, 0.0, 3.0);
    add_row(swings, MatrixXd::Ones(1, 1), 0.0, -kDt * friction, kDt * friction);
    EXPECT_NEAR(solve(swings, with(law)).v[0], 3.0 - kDt * friction / (m * l * l), 1e-11) << to_string(law);
  }
}

TEST(DryFriction, AndContactFrictionHoldABoxOnASlopeTogether) {
  // Along the slope a dry-friction rail with half of the pull, the contacts the rest.
  const double slope = 0.5, mass = 2.0, pull = kDt * mass * kG * std::sin(slope), press = kDt * mass * kG * std::cos(slope);
  MatrixXd rail = MatrixXd::Zero(1, 6);
  rail(0, 0) = 1.0;
  for (const Law law : {Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu, Law::max_dissipation}) {
    ContactProblem p = box_on_slope(mass, {0.3, 0.2, 0.05}, slope, 0.6 * std::tan(slope), kDt, Vector3d::Zero());
    add_row(p, rail, 0.0, -0.5 * pull, 0.5 * pull);
    const Solution s = solve(p, with(law));
    EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << s.certificate.worst();
    EXPECT_LT(s.v.norm(), 1e-10) << to_string(law);
    EXPECT_NEAR(s.impulses[0] + s.impulses[3] + s.impulses[6] + s.impulses[9], press, 1e-9);
    p.lo[0] = -0.1 * pull;
    p.hi[0] = 0.1 * pull;  // 0.3 of the pull is left, which the relaxed laws turn into gliding in part
    const double left = 0.3 * kDt * kG * std::sin(slope), v = solve(p, with(law)).v[0];
    if (law == Law::coulomb_pyramid || law == Law::coulomb_cone) {
      EXPECT_NEAR(v, left, 1e-11) << to_string(law);
    } else {
      EXPECT_GT(v, 0.5 * left) << to_string(law);
    }
  }
}

TEST(MaxDissipation, JointLimitsAndMotorsStopWhereTheyShould) {
  ContactProblem p = pendulum(1.0, 1.0, 0.0, 2.0);
  add_row(p, -MatrixXd::Ones(1, 1), -0.5, 0.0, kInfinity);  // omega <= 0.5
  EXPECT_NEAR(solve(p, with(Law::max_dissipation)).v[0], 0.5, 1e-13);
  p.v[0] = 0.3;
  EXPECT_NEAR(solve(p, with(Law::max_dissipation)).v[0], 0.3, 1e-13);  // far from the limit it does nothing
  p = pendulum(1.0, 1.0, 0.0, 0.0);
  add_row(p, MatrixXd::Ones(1, 1), 1.5, -10.0, 10.0);  // a motor with a target
  EXPECT_NEAR(solve(p, with(Law::max_dissipation)).v[0], 1.5, 1e-13);
  p.hi[0] = 1.0;
  EXPECT_NEAR(solve(p, with(Law::max_dissipation)).v[0], 1.0, 1e-13);
}

TEST(MaxDissipation, WithBoxesItIsTheLeastKineticEnergy) {
  // Of all impulses within cones and boxes: random feasible ones, and the conditions by the certificate.
  std::mt19937 rng(5);
  std::normal_distribution<double> normal;
  int active = 0, compared = 0;
  for (int trial = 0; trial < 40; ++trial) {
    ContactProblem p = random_robot(rng, 9, 1 + trial % 5, 0.4);
    for (int j = 6; j < 9; ++j) add_row(p, MatrixXd(VectorXd::Unit(9, j).transpose()), 0.0, -0.05, 0.05);
    const Solution s = solve(p, with(Law::max_dissipation));
    ASSERT_EQ(s.status, Status::solved) << trial << " " << s.certificate.worst();
    const MatrixXd M = p.M.to_dense(), J = p.J.to_dense();
    const double energy = s.v.dot(M * s.v);
    EXPECT_LE(s.bounded_impulses.cwiseAbs().maxCoeff(), 0.05 * (1.0 + 1e-12));
    active += s.bounded_impulses.cwiseAbs().maxCoeff() > 0.05 * (1.0 - 1e-9) ? 1 : 0;
    std::vector<char> closed;
    find_closed(p, closed);
    for (int other = 0; other < 30; ++other) {
      VectorXd lambda = s.impulses, beta = s.bounded_impulses;
      for (int i = 0; i < p.contacts(); ++i) {
        if (closed[i] == 0) continue;
        lambda[3 * i] = std::abs(lambda[3 * i] + 0.01 * normal(rng));
        lambda[3 * i + 1] = 0.4 * lambda[3 * i] * std::sin(static_cast<double>(other));
        lambda[3 * i + 2] = 0.0;
      }
      for (int j = 0; j < 3; ++j) beta[j] = std::clamp(beta[j] + 0.02 * normal(rng), -0.05, 0.05);
      VectorXd momentum = M * p.v + p.impulse + J.transpose() * lambda;
      momentum.tail(3) += beta;
      const VectorXd v = M.llt().solve(momentum), u = J * v;
      bool feasible = true;
      for (int i = 0; i < p.contacts(); ++i) feasible = feasible && (closed[i] == 0 || u[3 * i] >= 0.0);
      if (!feasible) continue;
      ++compared;
      EXPECT_GE(v.dot(M * v), energy * (1.0 - 1e-9)) << trial;
    }
  }
  EXPECT_GT(active, 10);
  EXPECT_GT(compared, 100);
}

struct Case {
  Law law;
  Solver solver, reference;
};

class RowByRowAgrees : public testing::TestWithParam<Case> {};

TEST_P(RowByRowAgrees, WithTheLawsOwnSolver) {
  const Case c = GetParam();
  std::mt19937 rng(17);
  int solved = 0, agreed = 0;
  constexpr int kTrials = 30;
  for (int trial = 0; trial < kTrials; ++trial) {
    ContactProblem p = random_robot(rng, 9 + trial % 5, 1 + trial % 5, 0.1 + 0.1 * (trial % 4));
    if (trial % 2 == 0) add_row(p, MatrixXd(VectorXd::Unit(p.velocities(), 7).transpose()), 0.1, -0.02, 0.03);
    if (trial % 3 == 0) add_row(p, MatrixXd(VectorXd::Unit(p.velocities(), 8).transpose()), -0.1, 0.0, kInfinity);
    const Solution s = solve(p, with(c.law, c.solver));
    EXPECT_TRUE(s.v.allFinite());
    if (s.status != Status::solved) continue;
    ++solved;
    const Solution reference = solve(p, with(c.law, c.reference));
    ASSERT_EQ(reference.status, Status::solved) << trial;
    agreed += (s.v - reference.v).norm() < 1e-6 * (1.0 + s.v.norm()) ? 1 : 0;
  }
  const bool slow = c.law == Law::no_slip && c.solver == Solver::pgs;  // its rows are nearly dependent
  EXPECT_GE(solved, slow ? kTrials / 4 : kTrials);
  EXPECT_GE(agreed, c.law == Law::coulomb_pyramid ? solved - 1 : solved);  // the motion under Coulomb's law need not be unique
}

INSTANTIATE_TEST_SUITE_P(
    Laws, RowByRowAgrees,
    testing::Values(Case{Law::frictionless, Solver::dantzig, Solver::active_set}, Case{Law::frictionless, Solver::pgs, Solver::active_set},
                    Case{Law::no_slip, Solver::dantzig, Solver::active_set}, Case{Law::no_slip, Solver::pgs, Solver::active_set},
                    Case{Law::anitescu, Solver::dantzig, Solver::active_set}, Case{Law::anitescu, Solver::pgs, Solver::active_set},
                    Case{Law::coulomb_pyramid, Solver::dantzig, Solver::interior_point},
                    Case{Law::coulomb_pyramid, Solver::pgs, Solver::interior_point}),
    [](const auto& instance) { return std::string(to_string(instance.param.law)) + "_" + std::string(to_string(instance.param.solver)); });

TEST(RowByRow, RefusesWhatHasNoBox) {
  ContactProblem p = box_on_slope(1.0, {0.1, 0.1, 0.1}, 0.0, 0.5, kDt, Vector3d::Zero());
  SolveOptions eight = with(Law::coulomb_pyramid, Solver::dantzig);
  eight.edges = 8;
  EXPECT_THROW(solve(p, eight), InvalidArgument);
  EXPECT_THROW(solve(p, with(Law::coulomb_cone, Solver::dantzig)), InvalidArgument);
  EXPECT_THROW(solve(p, with(Law::max_dissipation, Solver::pgs)), InvalidArgument);
  p.mu.setConstant(kInfinity);
  EXPECT_THROW(solve(p, with(Law::coulomb_pyramid, Solver::pgs)), InvalidArgument);
  EXPECT_EQ(solve(p, with(Law::no_slip, Solver::dantzig)).status, Status::solved);
}

}  // namespace
}  // namespace stiction::bounded_rows_test
