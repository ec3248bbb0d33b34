// Moreau's law against the closed forms of Newton's impacts, its three solvers against each other, inverse against forward; and the prox
// solvers of the other laws against the exact ones.
#include "stiction/laws/lowering.hpp"

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"
#include "stiction/problem/test_cut_robot.hpp"

namespace stiction::moreau_test {
namespace {

using namespace testing_problems;

constexpr double kDt = 1e-3;

SolveOptions with(Law law, Solver solver) {
  SolveOptions options;
  options.law = law;
  options.solver = solver;
  return options;
}

class Moreau : public testing::TestWithParam<Solver> {
 protected:
  static Solution solved(const ContactProblem& p) {
    const Solution s = solve(p, with(Law::moreau, GetParam()));
    EXPECT_EQ(s.status, Status::solved) << to_string(s.status) << " " << s.certificate.worst();
    return s;
  }
};
INSTANTIATE_TEST_SUITE_P(Solvers, Moreau, testing::Values(Solver::interior_point, Solver::sor, Solver::jor),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

/// Sphere of mass 1 and radius 0.1 on the ground below it.
ContactProblem sphere(const Vector3d& velocity, const Vector3d& spin, double mu, double restitution, double tangential) {
  MatrixXd M = MatrixXd::Identity(6, 6);
  M.bottomRightCorner<3, 3>() *= 0.4 * 0.1 * 0.1;
  VectorXd v(6);
  v << velocity, spin;
  ContactProblem p = make_contact_problem(M, v, body_rows({0, 0, -0.1}, upright()), VectorXd::Constant(1, mu), kDt);
  p.restitution[0] = restitution;
  p.material.resize(1);
  p.material[0].restitution_tangential = tangential;
  return p;
}

Vector3d contact_velocity(const ContactProblem& p, const GrowVector& v) {
  Vector3d u = Vector3d::Zero();
  p.J.add_group_product(0, v, u);
  return u;
}

TEST_P(Moreau, BallReboundsWithTheNormalCoefficientAtAnySpeed) {
  for (const double speed : {3.0, 1e-3}) {
    EXPECT_NEAR(solved(sphere({0, 0, -speed}, Vector3d::Zero(), 0.3, 0.8, 0.0)).v[2], 0.8 * speed, 1e-9 * speed);
  }
}

TEST_P(Moreau, SuperballReversesItsTangentialVelocity) {
  const ContactProblem p = sphere({2.0, -1.0, -3.0}, {4.0, 1.0, 0.0}, 10.0, 1.0, 1.0);
  const Solution s = solved(p);
  EXPECT_LT((contact_velocity(p, s.v) + contact_velocity(p, p.v)).norm(), 1e-8);
  EXPECT_NEAR(s.certificate.energy_change, 0.0, 1e-8);  // elastic in every direction
}

TEST_P(Moreau, TangentialImpactIsLimitedByFriction) {
  const ContactProblem p = sphere({5.0, 0.0, -1.0}, Vector3d::Zero(), 0.1, 0.5, 1.0);
  const Solution s = solved(p);
  EXPECT_NEAR(s.impulses[0], 1.5, 1e-8);
  EXPECT_NEAR(s.v[0], 5.0 - 0.1 * 1.5, 1e-8);
}

// Three equal balls in a row, the first arrives at speed 1: Newton's law at both contacts at once.
TEST_P(Moreau, CradleIsSimultaneous) {
  MatrixXd J = MatrixXd::Zero(6, 3);
  J.row(0) << -1, 1, 0;
  J.row(3) << 0, -1, 1;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(3, 3), Vector3d(1, 0, 0), J, VectorXd::Zero(2), kDt);
  p.restitution.setOnes();
  const Solution s = solved(p);
  EXPECT_LT((s.v - Vector3d(-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0)).norm(), 1e-8);
}

TEST_P(Moreau, RestsUnderGravityAndCarriesTheWeight) {
  const Solution s = solved(box_on_slope(2.0, {0.3, 0.2, 0.05}, 0.2, 0.5, kDt, Vector3d::Zero()));
  EXPECT_LT(s.v.norm(), 1e-10);
  double weight = 0.0;
  for (int i = 0; i < 4; ++i) weight += s.impulses[3 * i];
  EXPECT_NEAR(weight, 2.0 * 9.81 * std::cos(0.2) * kDt, 1e-10);
}

// Closed means closed half a step ahead; until then a contact bears nothing, though the bodies would meet within the step.
TEST_P(Moreau, OnlyContactsClosedAtTheMidpointBearImpulses) {
  ContactProblem p = sphere({0, 0, -2.0}, Vector3d::Zero(), 0.3, 0.5, 0.0);
  p.gap[0] = 0.6 * kDt * 2.0;
  EXPECT_EQ(solved(p).impulses.norm(), 0.0);
  p.gap[0] = 0.4 * kDt * 2.0;
  EXPECT_NEAR(solved(p).v[2], 1.0, 1e-9);
}

TEST_P(Moreau, InverseGivesBackTheForwardMotion) {
  std::mt19937 rng(17);
  for (int trial = 0; trial < 20; ++trial) {
    ContactProblem p = random_robot(rng, 14, 1 + trial % 3, 0.3);
    p.restitution.setConstant(0.4);
    p.material.resize(p.contacts());
    for (ContactMaterial& m : p.material) m.restitution_tangential = 0.3;
    ContactProblem inverse = p;
    for (int j = 6; j < 14; ++j) inverse.prescribed.push_back(j);
    inverse.v_prescribed = p.v.tail(8);
    const Solution a = solved(inverse);
    p.impulse.tail(8) += a.prescribed_impulses;
    const Solution b = solved(p);
    EXPECT_LT((a.v - b.v).norm(), 1e-9 * std::max(1.0, a.v.norm())) << trial;
  }
}

TEST_P(Moreau, ACertificateOfAnotherPointFails) {
  const ContactProblem p = sphere({0, 0, -3.0}, Vector3d::Zero(), 0.3, 0.8, 0.0);
  const Solution inelastic = solve(sphere({0, 0, -3.0}, Vector3d::Zero(), 0.3, 0.0, 0.0), with(Law::moreau, GetParam()));
  const Certificate c = certify(p, lowered(p, with(Law::moreau, GetParam())), inelastic.v, inelastic.impulses, inelastic.bounded_impulses,
                                inelastic.prescribed_impulses);
  EXPECT_GT(c.worst(), 0.1);
}

struct Case {
  Law law;
  Solver exact, prox;
};
class ProxSolvers : public testing::TestWithParam<Case> {};

TEST_P(ProxSolvers, AgreeWithTheExactOnes) {
  const Case c = GetParam();
  std::mt19937 rng(23);
  SolveWorkspace wa, wb;
  Solution a, b;
  for (int trial = 0; trial < 20; ++trial) {
    const ContactProblem p = random_robot(rng, 12, 1 + trial % 3, 0.3);
    solve(p, with(c.law, c.exact), wa, a);
    solve(p, with(c.law, c.prox), wb, b);
    EXPECT_EQ(b.status, Status::solved) << trial << " " << b.certificate.worst() << " after " << b.iterations;
    EXPECT_LT((a.v - b.v).norm(), 1e-7) << trial;
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, ProxSolvers,
                         testing::Values(Case{Law::frictionless, Solver::goldfarb_idnani, Solver::sor},
                                         Case{Law::frictionless, Solver::goldfarb_idnani, Solver::jor},
                                         Case{Law::coulomb_pyramid, Solver::interior_point, Solver::sor},
                                         Case{Law::coulomb_pyramid, Solver::interior_point, Solver::jor},
                                         Case{Law::coulomb_cone, Solver::interior_point, Solver::sor},
                                         Case{Law::coulomb_cone, Solver::interior_point, Solver::jor},
                                         Case{Law::moreau, Solver::interior_point, Solver::sor},
                                         Case{Law::moreau, Solver::interior_point, Solver::jor}),
                         [](const auto& instance) {
                           return std::string(to_string(instance.param.law)) + "_" + std::string(to_string(instance.param.prox));
                         });

// Direct bilateral rows leave r to G of the coordinates that the robot is written in [G14, Eq. 20]: it is fastest close to α = 2, where in
// minimal coordinates, of the same motion, the iteration ends past 1.
TEST(Bilateral, DirectRowsConvergeUpToTheLimitOfMaximalCoordinates) {
  std::mt19937 rng(11);
  std::normal_distribution<double> normal;
  ContactProblem p = test_scenes::cut_quadruped(0.8, [&] { return normal(rng); });
  p.material.resize(4);
  for (ContactMaterial& m : p.material) {  // axes of coulomb_ellipse
    m.friction_ratio = 0.5;
    m.friction_angle = 0.4;
  }
  for (const Law law : {Law::moreau, Law::coulomb_ellipse}) {
    const Solution exact = solve(p, with(law, Solver::automatic));
    for (const Solver solver : {Solver::jor, Solver::sor}) {
      SolveOptions options = with(law, solver);
      int last = 1 << 30;
      for (const double alpha : {0.2, 1.0, 1.9}) {
        options.alpha = alpha;
        const Solution s = solve(p, options);
        EXPECT_EQ(s.status, Status::solved) << alpha;
        EXPECT_LT((s.v - exact.v).norm(), 1e-5) << alpha;
        EXPECT_LT(s.iterations, last) << alpha;
        last = s.iterations;
      }
    }
  }
}

TEST(Bilateral, ByProxAndByEliminationAgree) {
  std::mt19937 rng(4);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 10; ++trial) {
    ContactProblem p = random_robot(rng, 14, 2, 0.3);
    const MatrixXd rows = MatrixXd::NullaryExpr(3, 14, [&] { return normal(rng); });
    p.J_b = BlockRows::from_dense(1, rows, p.M.sizes());
    p.b = VectorXd::Zero(3);
    p.lo = VectorXd::Constant(3, -kInfinity);
    p.hi = VectorXd::Constant(3, kInfinity);
    SolveOptions options = with(Law::moreau, Solver::sor);
    const Solution direct = solve(p, options);
    options.bilateral_by_prox = true;
    const Solution iterated = solve(p, options);
    EXPECT_EQ(direct.status, Status::solved);
    EXPECT_EQ(iterated.status, Status::solved) << iterated.certificate.worst();
    EXPECT_LT((direct.v - iterated.v).norm(), 1e-7);
    EXPECT_LT((rows * iterated.v).norm(), 1e-7);
  }
  SolveOptions options = with(Law::moreau, Solver::interior_point);
  options.bilateral_by_prox = true;
  EXPECT_THROW(solve(random_robot(rng, 8, 1, 0.3), options), InvalidArgument);
}

}  // namespace
}  // namespace stiction::moreau_test
