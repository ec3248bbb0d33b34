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

/// Least |c - A x|² over x in discs of friction mu with B x = e, by splitting with the cones [Boyd et al. 2011, ADMM].
double least_over_discs(const MatrixXd& A, const VectorXd& c, const MatrixXd& B, const VectorXd& e, double mu) {
  const Eigen::Index n = A.cols(), m = B.rows();
  const double rho = A.squaredNorm() / static_cast<double>(n);
  MatrixXd kkt = MatrixXd::Zero(n + m, n + m);
  kkt.topLeftCorner(n, n) = A.transpose() * A + rho * MatrixXd::Identity(n, n);
  kkt.bottomLeftCorner(m, n) = B;
  kkt.topRightCorner(n, m) = B.transpose();
  const Eigen::FullPivLU<MatrixXd> lu(kkt);
  VectorXd x = VectorXd::Zero(n), z = x, dual = x, right(n + m);
  for (int k = 0; k < 20000; ++k) {
    right << A.transpose() * c + rho * (z - dual), e;
    x = lu.solve(right).head(n);
    dual += x;
    for (Eigen::Index i = 0; i < n; i += 3) {
      const Vector3d p = dual.segment<3>(i);
      const double t = p.tail<2>().norm(), along = (p[0] + mu * t) / (1.0 + mu * mu);
      if (t <= mu * p[0]) {
        z.segment<3>(i) = p;
      } else if (mu * t <= -p[0]) {
        z.segment<3>(i).setZero();
      } else {
        z.segment<3>(i) << along, mu * along / t * p.tail<2>();
      }
    }
    dual -= z;
  }
  return (c - A * x).squaredNorm();
}

constexpr double kDiscMu = 0.4;

/// At rest under loads that random impulses in the cones hold, four contacts, a free base and eight driven joints.
struct Held {
  static constexpr int kBase = 6, kDriven = 8, kContacts = 4, kVelocities = kBase + kDriven;
  ContactProblem problem;
  std::vector<int> joints = std::vector<int>(kDriven);
  double least;  ///< of |tau|² over the discs

  explicit Held(unsigned seed) {
    std::mt19937 rng(seed);
    std::normal_distribution<double> normal;
    const auto gaussian = [&] { return normal(rng); };
    const MatrixXd J = MatrixXd::NullaryExpr(3 * kContacts, kVelocities, gaussian);
    VectorXd held(3 * kContacts);
    for (int i = 0; i < kContacts; ++i) {
      const Vector2d way = Vector2d(gaussian(), gaussian()).normalized();
      held.segment<3>(3 * i) << 1.0, 0.95 * kDiscMu * way;
    }
    problem = make_contact_problem(MatrixXd::Identity(kVelocities, kVelocities), VectorXd::Zero(kVelocities), J,
                                   VectorXd::Constant(kContacts, kDiscMu), 1.0);
    problem.impulse.head(kBase) = -(J.transpose() * held).head(kBase);
    problem.impulse.tail(kDriven) = VectorXd::NullaryExpr(kDriven, gaussian);
    std::iota(joints.begin(), joints.end(), kBase);
    least = least_over_discs(J.transpose().bottomRows(kDriven), -problem.impulse.tail(kDriven), J.transpose().topRows(kBase),
                             -problem.impulse.head(kBase), kDiscMu);
  }

  InverseSolution ask(const InverseOptions& options) const {
    return inverse_dynamics(problem, joints, VectorXd::Zero(kDriven), {}, options);
  }
};

// The least is that of the disc from whatever polygon the search starts, where there are rows too.
TEST(StageTwo, DiscsAreSearchedThemselves) {
  for (const bool with_row : {false, true}) {
    for (unsigned seed = 1; seed <= 12; ++seed) {
      Held held(seed);
      if (with_row) {  // an end stop that the joints rest on but do not press
        ContactProblem& p = held.problem;
        p.J_b = BlockRows::from_dense(1, Eigen::RowVectorXd::Unit(Held::kVelocities, Held::kVelocities - 1), p.M.sizes());
        p.b = VectorXd::Zero(1);
        p.lo = VectorXd::Zero(1);
        p.hi = VectorXd::Constant(1, 1e-300);
      }
      for (const int edges : {4, 64}) {
        InverseOptions options = least_torque();
        options.contact.edges = edges;
        const InverseSolution s = held.ask(options);
        ASSERT_EQ(s.status, Status::solved) << seed;
        EXPECT_TRUE(s.choice_met) << seed << " " << with_row;
        EXPECT_LE(s.certificate.worst(), 1e-9) << seed;
        EXPECT_NEAR(s.tau.squaredNorm(), held.least, 1e-6 * (1.0 + held.least)) << seed << " edges " << edges;
      }
    }
  }
}

// Asked for more digits than the search has, it keeps what it found and does not know to be the least (one of these).
TEST(StageTwo, WhatIsAllButTheLeastIsNotThrownAway) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Held held(seed);
    InverseOptions options = least_torque();
    options.contact.tolerance = 1e-11;
    const InverseSolution s = held.ask(options);
    ASSERT_EQ(s.status, Status::solved) << seed;
    EXPECT_NEAR(s.tau.squaredNorm(), held.least, 1e-6 * (1.0 + held.least)) << seed << " " << s.choice_met;
  }
}

// A sledge of a free vertical coordinate under 2 N s on two runners, which push a joint up and down, slides at 1 m/s: the load on the joint
// is borne where the runners share the weight unevenly, each with friction against its slip.
TEST(StageTwo, DiscsThatSlideShareTheLoad) {
  const double mu = 0.2;
  MatrixXd J = MatrixXd::Zero(9, 4);  // x, y, z, joint; a third runner slides with the joint's coordinate out of its reach
  for (int i = 0; i < 3; ++i) J.middleRows<3>(3 * i) << 0, 0, 1, i == 0 ? 1 : i == 1 ? -1 : 0, 1, 0, 0, 0, 0, 1, 0, 0;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(4, 4), VectorXd::Zero(4), J, VectorXd::Constant(3, mu), 1.0);
  p.v << 3.0, 4.0, 0.0, 0.0;
  p.impulse << 0.0, 0.0, -2.0, -1.9;
  const auto ask = [&](Law law, int edges) {
    InverseOptions options = least_torque(law);
    options.contact.edges = edges;
    return inverse_dynamics(p, std::vector{3}, VectorXd::Zero(1), {}, options);
  };
  for (const auto& [law, edges] : {std::pair{Law::coulomb_cone, 4}, {Law::coulomb_cone, 8}, {Law::moreau, 4}, {Law::anitescu, 0}}) {
    const InverseSolution s = ask(law, edges);
    ASSERT_EQ(s.status, Status::solved) << to_string(law);
    EXPECT_TRUE(s.choice_met) << to_string(law);
    EXPECT_NEAR(s.tau[0], 0.0, 1e-9) << to_string(law);
    EXPECT_NEAR(s.impulses[0] - s.impulses[3], 1.9, 1e-9) << to_string(law);
    EXPECT_LE(s.certificate.worst(), 1e-9) << to_string(law);
    for (int i = 0; i < 3; ++i) {
      EXPECT_LT((s.impulses.segment<2>(3 * i + 1) + mu * s.impulses[3 * i] * Vector2d(0.6, 0.8)).norm(), 1e-9) << to_string(law);
    }
  }
}

// A body on four feet whose vertical coordinate is driven: the feet can bear all of its weight, whatever the edges.
TEST(StageTwo, NoTorqueIsTheLeastOverDiscsToo) {
  MatrixXd J(12, 6);
  for (int i = 0; i < 4; ++i) {
    const double x = i < 2 ? -1.0 : 1.0, y = i % 2 == 0 ? -1.0 : 1.0;
    J.middleRows<3>(3 * i) << 0, 0, 1, y, -x, 0, 1, 0, 0, 0, 0, -y, 0, 1, 0, 0, 0, x;
  }
  ContactProblem p = make_contact_problem(MatrixXd::Identity(6, 6), VectorXd::Zero(6), J, VectorXd::Constant(4, 0.5), 1.0);
  p.impulse[2] = -4.0;
  const InverseSolution s = inverse_dynamics(p, std::vector{2}, VectorXd::Zero(1), {}, least_torque());
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_TRUE(s.choice_met);
  EXPECT_NEAR(s.tau[0], 0.0, 1e-9);
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
