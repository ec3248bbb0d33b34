// Every law against closed-form physics, against its other solvers, and through its certificate.
#include "stiction/laws/solve.hpp"

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/laws/lowering.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::solve_test {
namespace {

using namespace testing_problems;

constexpr double kDt = 0.01, kG = 9.81;

TEST(Incline, SticksBelowTheFrictionAngleWithoutCreep) {
  const double slope = 0.3;
  for (const Law law : {Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu, Law::no_slip}) {
    const Solution s = solve(box_on_slope(2.0, {0.3, 0.2, 0.05}, slope, 1.1 * std::tan(slope), kDt, Vector3d::Zero()), with(law));
    EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << s.certificate.worst();
    EXPECT_LT(s.v.norm(), 1e-10) << to_string(law);
    double weight = 0.0;
    for (int i = 0; i < 4; ++i) weight += s.impulses[3 * i];
    EXPECT_NEAR(weight, 2.0 * kG * std::cos(slope) * kDt, 1e-9) << to_string(law);
  }
}

TEST(Incline, SlidesAboveItAtTheClosedFormRate) {
  const double slope = 0.5, mu = 0.2;
  for (const Law law : {Law::coulomb_pyramid, Law::coulomb_cone}) {
    const Solution s = solve(box_on_slope(2.0, {0.3, 0.2, 0.05}, slope, mu, kDt, {0.4, 0.0, 0.0}), with(law));
    EXPECT_EQ(s.status, Status::solved) << to_string(law);
    EXPECT_NEAR(s.v[0], 0.4 + kDt * kG * (std::sin(slope) - mu * std::cos(slope)), 1e-9) << to_string(law);
    EXPECT_NEAR(s.v[2], 0.0, 1e-9);
  }
}

TEST(Incline, FrictionlessSlidesFreely) {
  const Solution s = solve(box_on_slope(2.0, {0.3, 0.2, 0.05}, 0.5, 0.9, kDt, Vector3d::Zero()), with(Law::frictionless));
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_NEAR(s.v[0], kDt * kG * std::sin(0.5), 1e-12);
}

TEST(SlidingBox, TheDiscIsIsotropicAndTheRelaxationGlides) {
  const double mu = 0.5;
  for (const double angle : {0.0, 0.4, 1.3, 2.9}) {
    const Vector3d v(std::cos(angle), std::sin(angle), 0.0);
    const Solution s = solve(box_on_slope(1.0, {0.3, 0.3, 0.01}, 0.0, mu, kDt, v), with(Law::coulomb_cone));
    EXPECT_EQ(s.status, Status::solved);
    EXPECT_NEAR(s.v.head<2>().norm(), 1.0 - mu * kG * kDt, 1e-8);
  }
  // Anitescu's relaxation lifts a sliding contact: u_N = mu |u_T| where the disc would keep it closed.
  const Solution s = solve(box_on_slope(1.0, {0.3, 0.3, 0.01}, 0.0, mu, kDt, {1.0, 0.0, 0.0}), with(Law::anitescu));
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_NEAR(s.v[2], mu * s.v[0], 1e-6);
}

// These laws are in proportion to velocities of any size, also where the squares of small ones are no numbers.
TEST(SlidingBox, BrakesInProportionAtAnySpeed) {
  for (const Law law : {Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::anitescu}) {
    const auto at = [&](double speed) {
      ContactProblem p = box_on_slope(1.0, {0.3, 0.3, 0.1}, 0.0, 0.5, kDt, speed * Vector3d(1.0, 0.5, -0.3));
      p.impulse.setZero();
      p.v[4] = 0.3 * speed;
      return solve(p, with(law));
    };
    const Solution expected = at(1.0);
    ASSERT_EQ(expected.status, Status::solved) << to_string(law);
    for (const double speed : {0x1p-400, 0x1p-530, 0x1p-560, 0x1p-900}) {
      const Solution s = at(speed);
      EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << speed << " " << s.certificate.worst();
      EXPECT_LT((s.v / speed - expected.v).norm(), 1e-8) << to_string(law) << " " << speed;
    }
  }
}

TEST(Restitution, BallReboundsWithNewtonsCoefficient) {
  MatrixXd J = body_rows({0, 0, -0.1}, upright());
  VectorXd v = VectorXd::Zero(6);
  v[2] = -3.0;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(6, 6), v, J, VectorXd::Constant(1, 0.3), kDt);
  p.restitution[0] = 0.8;
  for (const Law law : {Law::frictionless, Law::coulomb_pyramid, Law::coulomb_cone}) {
    EXPECT_NEAR(solve(p, with(law)).v[2], 2.4, 1e-9) << to_string(law);
  }
  p.gap[0] = 0.1;  // too far to touch within the step
  EXPECT_NEAR(solve(p, with(Law::coulomb_pyramid)).v[2], -3.0, 1e-12);
}

TEST(OpenGap, ClosesWithinTheStepAndNoFurther) {
  ContactProblem p = make_contact_problem(MatrixXd::Identity(6, 6), -2.0 * VectorXd::Unit(6, 2), body_rows({0, 0, 0}, upright()),
                                          VectorXd::Constant(1, 0.3), kDt);
  p.gap[0] = 0.005;
  for (const Law law : {Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu}) {
    EXPECT_NEAR(solve(p, with(law)).v[2], -0.5, 1e-9) << to_string(law);
  }
}

// A box that left the ground a step ago: its weight brings it back within the next, and it has friction there under laws that want it of
// what touches alone; thrown up faster it flies.
TEST(OpenGap, WhatComesBackWithinTheStepHasFriction) {
  const double gap = 2e-6, rise = 0.5 * kDt * kG, slip = 0.01;
  for (const Law law : {Law::no_slip, Law::anitescu, Law::viscous, Law::coulomb_cone}) {
    ContactProblem p = box_on_slope(2.0, {0.3, 0.2, 0.0}, 0.0, 0.5, kDt, {slip, 0.0, rise});
    p.gap.setConstant(gap);
    p.material.assign(4, {.viscosity = 1e9});
    Reduction reduction;
    reduce(p, reduction);
    for (const Solution& s : {solve(p, with(law)), solve(reduction.reduced, with(law))}) {
      EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << s.certificate.worst();
      double normal = 0.0, friction = 0.0;
      for (int i = 0; i < 4; ++i) normal += s.impulses[3 * i], friction += s.impulses[3 * i + 1];
      EXPECT_NEAR(normal, 2.0 * (kDt * kG - rise - gap / kDt), 1e-9) << to_string(law);
      EXPECT_NEAR(friction, -2.0 * slip, 1e-8) << to_string(law);
    }
    p.v[2] = 2.0 * kDt * kG;
    const Solution s = solve(p, with(law));
    EXPECT_EQ(s.status, Status::solved) << to_string(law);
    EXPECT_EQ(s.impulses.norm(), 0.0) << to_string(law);
  }
}

struct Pair {
  Law law;
  Solver a, b;
};

class SolversAgree : public testing::TestWithParam<Pair> {};

TEST_P(SolversAgree, OnVelocity) {
  const Pair pair = GetParam();
  std::mt19937 rng(7);
  SolveWorkspace wa, wb;
  Solution a, b;
  for (int trial = 0; trial < 60; ++trial) {
    const ContactProblem p = random_robot(rng, 8 + trial % 12, 1 + trial % 6, 0.2 + 0.1 * (trial % 7));
    solve(p, with(pair.law, pair.a), wa, a);
    solve(p, with(pair.law, pair.b), wb, b);
    EXPECT_EQ(a.status, Status::solved) << trial << " " << a.certificate.worst();
    EXPECT_EQ(b.status, Status::solved) << trial << " " << b.certificate.worst();
    EXPECT_NEAR((a.v - b.v).norm(), 0.0, 1e-7) << trial;
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, SolversAgree,
                         testing::Values(Pair{Law::frictionless, Solver::goldfarb_idnani, Solver::active_set},
                                         Pair{Law::no_slip, Solver::goldfarb_idnani, Solver::active_set},
                                         Pair{Law::frictionless, Solver::goldfarb_idnani, Solver::interior_point},
                                         Pair{Law::frictionless, Solver::goldfarb_idnani, Solver::newton},
                                         Pair{Law::frictionless, Solver::goldfarb_idnani, Solver::lemke},
                                         Pair{Law::no_slip, Solver::goldfarb_idnani, Solver::interior_point},
                                         Pair{Law::anitescu, Solver::active_set, Solver::interior_point},
                                         Pair{Law::max_dissipation, Solver::active_set, Solver::interior_point},
                                         Pair{Law::coulomb_pyramid, Solver::interior_point, Solver::lemke}),
                         [](const auto& instance) {
                           return std::string(to_string(instance.param.law)) + "_" + std::string(to_string(instance.param.a)) + "_" +
                                  std::string(to_string(instance.param.b));
                         });

TEST(MaxDissipation, IsOptimalAndNeverAddsEnergy) {
  std::mt19937 rng(11);
  for (int trial = 0; trial < 60; ++trial) {
    const ContactProblem p = random_robot(rng, 9, 1 + trial % 8, 0.1 * (trial % 9));
    const Solution s = solve(p, with(Law::max_dissipation));
    EXPECT_EQ(s.status, Status::solved) << trial << " " << s.certificate.worst();
    SolveWorkspace w;
    Solution coulomb;
    solve(p, with(Law::coulomb_pyramid), w, coulomb);
    const MatrixXd M = p.M.to_dense();
    EXPECT_LE(s.v.dot(M * s.v), coulomb.v.dot(M * coulomb.v) * (1.0 + 1e-9)) << trial;  // Coulomb's point is feasible for the QP
  }
}

TEST(BoundedRows, JointLimitAndDryFrictionInEveryLaw) {
  // A 1-dof slider: pushed with 3 N s against dry friction of 1 N s it moves at 2 m/s, and a limit 0.5 m/s away stops it there.
  for (const Law law : {Law::frictionless, Law::no_slip, Law::anitescu, Law::coulomb_pyramid, Law::coulomb_cone}) {
    ContactProblem p =
        make_contact_problem(MatrixXd::Identity(1, 1), VectorXd::Zero(1), MatrixXd::Zero(3, 1), VectorXd::Constant(1, 0.5), kDt);
    p.impulse[0] = 3.0;
    const int size = 1;
    p.J_b = BlockRows::from_dense(1, MatrixXd::Ones(1, 1), std::span(&size, 1));
    p.b = VectorXd::Zero(1);
    p.lo = VectorXd::Constant(1, -1.0);
    p.hi = VectorXd::Constant(1, 1.0);
    Solution s = solve(p, with(law));
    EXPECT_EQ(s.status, Status::solved) << to_string(law);
    EXPECT_NEAR(s.v[0], 2.0, 1e-9) << to_string(law);
    p.impulse[0] = 0.7;
    EXPECT_NEAR(solve(p, with(law)).v[0], 0.0, 1e-9) << to_string(law);
    p.impulse[0] = 3.0;
    p.J_b = BlockRows::from_dense(1, -MatrixXd::Ones(1, 1), std::span(&size, 1));
    p.b = VectorXd::Constant(1, -0.5);
    p.lo = VectorXd::Zero(1);
    p.hi = VectorXd::Constant(1, kInfinity);
    EXPECT_NEAR(solve(p, with(law)).v[0], 0.5, 1e-9) << to_string(law);
  }
}

TEST(Options, RefusesASolverThatCannotServeTheLaw) {
  const ContactProblem p = box_on_slope(1.0, {0.1, 0.1, 0.1}, 0.0, 0.5, kDt, Vector3d::Zero());
  EXPECT_THROW(solve(p, with(Law::no_slip, Solver::lemke)), InvalidArgument);
  EXPECT_THROW(law_from_string("coulomb"), InvalidArgument);
  SolveOptions triangle = with(Law::coulomb_pyramid);
  triangle.edges = 3;
  EXPECT_THROW(solve(p, triangle), InvalidArgument);
  for (const double alpha : {0.0, 2.0, -0.5, std::nan("")}) {
    SolveOptions relaxed = with(Law::coulomb_cone, Solver::sor);
    relaxed.alpha = alpha;
    EXPECT_THROW(solve(p, relaxed), InvalidArgument) << alpha;
  }
  SolveOptions idle = with(Law::coulomb_cone, Solver::sor);
  idle.max_sweeps = 0;
  EXPECT_THROW(solve(p, idle), InvalidArgument);
}

TEST(AsymmetricMatrix, EverySolverMeetsTheMatrixItWasGiven) {
  std::srand(3);
  const Eigen::MatrixXd R = Eigen::MatrixXd::Random(6, 6);
  Eigen::MatrixXd W = R * R.transpose() + Eigen::MatrixXd::Identity(6, 6);
  W(0, 4) += 1e-4;
  W(5, 3) -= 1e-4;
  const Eigen::VectorXd q{{-1.0, 0.3, 0.2, -0.5, 0.1, 0.8}};
  const ReducedProblem p = reduce_dense(W, q, Eigen::Vector2d(0.4, 0.2));
  ASSERT_GT(p.defect.size(), 0);
  for (const Law law :
       {Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::moreau, Law::anitescu, Law::max_dissipation}) {
    for (const Solver solver : kSolvers) {
      if (!can_solve(law, solver)) continue;
      SolveOptions options;
      options.law = law;
      options.solver = solver;
      const Solution s = solve(p, options);
      EXPECT_EQ(s.status, Status::solved) << to_string(law) << " by " << to_string(solver) << ", worst " << s.certificate.worst();
      EXPECT_LT((s.u - W * s.impulses - q).norm(), 1e-12) << to_string(law) << " by " << to_string(solver);
    }
  }
}

TEST(MatrixAlone, MaxDissipationBrakesTheMotionThatTheContactsTell) {
  const ContactProblem box = box_on_slope(2.0, {0.3, 0.2, 0.1}, 0.0, 0.5, 1e-2, {1.0, 0.4, 0.0});
  Reduction reduction;
  reduce(box, reduction);
  const Eigen::MatrixXd R = reduction.reduced.Rt.to_dense();
  const Solution s = solve(reduce_dense(R * R.transpose(), reduction.reduced.u_free, box.mu), with(Law::max_dissipation));
  EXPECT_EQ(s.status, Status::solved);
  const Eigen::VectorXd u = box.J.to_dense() * solve(box, with(Law::max_dissipation)).v;
  EXPECT_LT((s.u - u).norm(), 1e-9);
  EXPECT_LT(u.norm(), 0.99 * (box.J.to_dense() * box.v).norm());
}

TEST(NoContacts, IsAFreeStep) {
  ContactProblem p = make_contact_problem(MatrixXd::Identity(3, 3), VectorXd::Ones(3), MatrixXd(0, 3), VectorXd(0), kDt);
  p.impulse[1] = 2.0;
  for (const Law law : {Law::frictionless, Law::coulomb_pyramid, Law::coulomb_cone, Law::max_dissipation}) {
    const Solution s = solve(p, with(law));
    EXPECT_EQ(s.status, Status::solved);
    EXPECT_NEAR((s.v - Vector3d(1, 3, 1)).norm(), 0.0, 1e-14);
  }
}

// A bound of work holds for all of it, and the best point found comes back.
// As rounding leaves it of bodies very far away: symmetric, and not positive definite.
TEST(LostInertia, IsANumericalErrorOfEveryLaw) {
  ContactProblem p = box_on_slope(1.0, {0.3, 0.3, 0.01}, 0.0, 0.5, kDt, {1.0, 0.0, 0.0});
  p.M.block(0)(3, 3) = -1e-3;
  for (const Law law : kLaws) {
    if (law == Law::sap || row_of(law).family == Family::constitutive) continue;  // which take a material
    SolveWorkspace workspace;
    Solution s;
    solve(p, with(law), workspace, s);
    EXPECT_EQ(s.status, Status::numerical_error) << to_string(law);
    EXPECT_TRUE(s.impulses.isZero(0.0)) << to_string(law);
    EXPECT_EQ(s.v, p.v) << to_string(law);
    EXPECT_EQ(s.certificate.worst(), kInfinity) << to_string(law);
  }
}

TEST(Budget, BoundsFactorizationsPivotsAndSweeps) {
  std::mt19937 rng(21);
  int stopped = 0;
  using Way = std::pair<Law, Solver>;
  for (int trial = 0; trial < 20; ++trial) {
    const ContactProblem p = random_robot(rng, 18, 12, 0.5);
    for (const auto& [law, solver] :
         {Way(Law::coulomb_cone, Solver::automatic), Way(Law::coulomb_pyramid, Solver::automatic), Way(Law::anitescu, Solver::automatic),
          Way(Law::no_slip, Solver::automatic), Way(Law::todorov, Solver::automatic), Way(Law::max_dissipation, Solver::automatic),
          Way(Law::coulomb_pyramid, Solver::lemke), Way(Law::frictionless, Solver::lemke), Way(Law::coulomb_pyramid, Solver::pgs)}) {
      SolveOptions options = with(law);
      options.solver = solver;
      const Solution free = solve(p, options);
      options.max_factorizations = options.max_pivots = options.max_sweeps = 3;
      const Solution bounded = solve(p, options);
      EXPECT_TRUE(bounded.v.allFinite() && bounded.impulses.allFinite()) << to_string(law);
      const int most = law == Law::max_dissipation ? 4 : 3;  // whose last pivot may drop a constraint on its way
      EXPECT_TRUE(bounded.status == Status::solved || bounded.iterations <= most)
          << to_string(law) << " " << to_string(solver) << " " << bounded.iterations;
      if (free.iterations > 6) stopped += bounded.status != Status::solved;
    }
  }
  EXPECT_GT(stopped, 20);
}

}  // namespace
}  // namespace stiction::solve_test
