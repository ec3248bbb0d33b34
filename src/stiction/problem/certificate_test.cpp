// The certificate's natural map, angle and energy balance on points whose residuals are known in closed form.
#include "stiction/problem/certificate.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>

#include "stiction/problem/reduced.hpp"
#include "stiction/problem/reduced_certificate.hpp"
#include "stiction/problem/sections.hpp"
#include "stiction/problem/test_terms.hpp"

namespace stiction::certificate_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kMass = 2.0, kMu = 0.5;

// A point mass on a plane, contact frame = world with the normal first; judged at λ with the velocity that λ leads to.
Certificate judge(const TestLaw& law, const Vector3d& v, const Vector3d& lambda, double mu = kMu) {
  const ContactProblem p =
      make_contact_problem(kMass * MatrixXd::Identity(3, 3), v, MatrixXd::Identity(3, 3), Eigen::Matrix<double, 1, 1>(mu), 0.01);
  return certify(p, terms_of(p, law), v + lambda / kMass, lambda, VectorXd(0), VectorXd(0));
}

TestLaw polygon(int edges) { return {.edges = edges}; }

TEST(NaturalMap, PolygonSlidesAlongItsVertex) {
  // Slip between two vertices of the square at 0.3 rad: friction points along -S.
  const Vector3d v(-1.0, 5.0 * std::cos(0.3), 5.0 * std::sin(0.3)), lambda(kMass, -kMu * kMass, 0.0);
  const Certificate good = judge(polygon(4), v, lambda);
  EXPECT_LT(good.worst(), 1e-14);
  EXPECT_NEAR(good.dissipation_angle, std::atan2(v[2], v[1] - kMu), 1e-12);
  EXPECT_LE(good.dissipation_angle, std::numbers::pi / 4);
  // The disc's answer is outside of it, and friction along the other vertex dissipates less.
  EXPECT_GT(judge(polygon(4), v, Vector3d(kMass, -kMu * kMass * std::cos(0.3), -kMu * kMass * std::sin(0.3))).natural_map.raw, 1e-2);
  EXPECT_GT(judge(polygon(4), v, Vector3d(kMass, 0.0, -kMu * kMass)).natural_map.raw, 1e-2);
}

TEST(NaturalMap, NoSlipIsAHalfSpace) {
  const TestLaw law{.family = Family::associated, .friction = kInfinity};
  const Vector3d v(-1.0, 5.0, -3.0);
  EXPECT_LT(judge(law, v, -kMass * v).worst(), 1e-15);
  EXPECT_NEAR(judge(law, v, -kMass * Vector3d(v[0], v[1], 0.9 * v[2])).natural_map.raw, 0.3, 1e-14);  // slip left over
  EXPECT_NEAR(judge(law, v, -kMass * Vector3d(0.9 * v[0], v[1], v[2])).natural_map.raw, 0.1, 1e-14);  // approach left over
  const Certificate pulled = judge(law, Vector3d(1.0, 0.0, 0.0), Vector3d(-kMass, 0.0, 0.0));
  EXPECT_GT(pulled.natural_map.raw, 0.1);  // at rest, but held by tension
}

TEST(NaturalMap, RelaxedPolygonAndDisc) {
  TestLaw law{.family = Family::associated};
  for (const int edges : {0, 6}) {
    law.edges = edges;
    // Along S: λ = a (1, -μ, 0), u = (μ |u_S|, u_S, 0).
    const double slip = 5.0, approach = 1.0, a = kMass * (approach + kMu * slip) / (1.0 + kMu * kMu);
    const Certificate good = judge(law, Vector3d(-approach, slip, 0.0), Vector3d(a, -kMu * a, 0.0));
    EXPECT_LT(good.worst(), 1e-14) << edges;
    EXPECT_LT(good.dissipation_angle, 1e-12) << edges;
    EXPECT_GT(judge(law, Vector3d(-approach, slip, 0.0), 0.9 * Vector3d(a, -kMu * a, 0.0)).natural_map.raw, 1e-2) << edges;
  }
}

TEST(Units, SlipUnderNoSlipIsNoWork) {
  const Vector3d v(-1.0, 5.0, -3.0);
  const Certificate c = judge({.family = Family::associated, .friction = kInfinity}, v, -kMass * Vector3d(v[0], v[1], 0.9 * v[2]));
  EXPECT_EQ(c.dissipation.raw, 0.0);
  EXPECT_GT(c.natural_map.scaled, 0.05);
}

TEST(Units, RelaxationIsASpeedRawAndScaled) {
  // At rest under half of the load, ũ inside the dual cone and not orthogonal to λ.
  const Vector3d v(1.0, 0.0, 0.0), lambda(kMass, 0.0, 0.0);
  const Certificate c = judge({.family = Family::associated}, v, lambda);
  EXPECT_NEAR(c.relaxation.raw, lambda.dot(v + lambda / kMass) / c.impulse_scale, 1e-14);
  EXPECT_NEAR(c.relaxation.scaled, c.relaxation.raw / c.velocity_scale, 1e-14);
}

TEST(NaturalMap, InfiniteFrictionTakesTheBetterBranch) {
  EXPECT_LT(judge({}, Vector3d(1.0, 3.0, 0.0), Vector3d::Zero(), kInfinity).worst(), 1e-15);  // leaves
  EXPECT_LT(judge({}, Vector3d(-1.0, 3.0, 0.0), Vector3d(kMass, -3.0 * kMass, 0.0), kInfinity).worst(), 1e-15);
  EXPECT_NEAR(judge({}, Vector3d(-1.0, 3.0, 0.0), Vector3d(kMass, -2.9 * kMass, 0.0), kInfinity).natural_map.raw, 0.1, 1e-13);
}

TEST(NaturalMap, InfiniteFrictionAsksForTouch) {
  // It stops the slip of a contact that leaves at 1 m/s.
  const Certificate hung = judge({}, Vector3d(1.0, 3.0, 0.0), Vector3d(0.0, -3.0 * kMass, 0.0), kInfinity);
  EXPECT_NEAR(hung.natural_map.raw, 1.0, 1e-13);
  EXPECT_NEAR(hung.normal_complementarity.raw, 3.0 * kMass, 1e-13);
  EXPECT_LT(judge({}, Vector3d(0.0, 3.0, 0.0), Vector3d(0.0, -3.0 * kMass, 0.0), kInfinity).worst(), 1e-15);  // one that stays
}

TEST(NaturalMap, InfiniteFrictionThatSlipsBearsNoLoad) {
  const auto slips = [](const TestLaw& law, double load, double friction) {
    return judge(law, Vector3d(-load, 3.0, 1.0), kMass * Vector3d(load, -friction, 0.0), kInfinity);
  };
  EXPECT_LT(slips(polygon(4), 0.0, 1.0).worst(), 1e-15);  // against the vertex nearest to the slip
  EXPECT_GT(slips({}, 0.0, 1.0).natural_map.raw, 0.1);    // the disc's is against the slip itself,
  EXPECT_LT(judge({}, Vector3d(0.0, 3.0, 1.0), kMass * Vector3d(0.0, -1.5, -0.5), kInfinity).worst(), 1e-15);
  EXPECT_GT(slips(polygon(4), 0.0, 4.5).natural_map.raw, 0.1);  // and never along it,
  EXPECT_GT(slips(polygon(4), 0.0, 4.5).dissipation.raw, 0.1);
  EXPECT_GT(slips(polygon(4), 1.0, 1.0).natural_map.raw, 0.1);  // nor with a load
  EXPECT_GT(slips(polygon(4), 1.0, 1.0).dissipation.raw, 0.1);
}

TEST(NaturalMap, GivenMotionLeavesNoFrictionToAContactThatOpens) {
  ContactProblem p = make_contact_problem(kMass * MatrixXd::Identity(3, 3), Vector3d(1.0, 3.0, 0.0), MatrixXd::Identity(3, 3),
                                          VectorXd::Constant(1, kInfinity), 0.01);
  p.prescribed = {0, 1, 2};
  p.v_prescribed = Vector3d(1.0, 0.0, 0.0);
  const Vector3d friction(0.0, -3.0 * kMass, 0.0), none = Vector3d::Zero();
  EXPECT_GT(certify(p, terms_of(p), p.v_prescribed, friction, VectorXd(0), none).worst(), 0.1);
  EXPECT_LT(certify(p, terms_of(p), p.v_prescribed, none, VectorXd(0), friction).worst(), 1e-15);
}

// A driven slider that rests on a wall: any push is in balance with its torque, and velocities never show it.
Certificate driven_slider(double push) {
  ContactProblem p = make_contact_problem(MatrixXd::Identity(1, 1), VectorXd::Zero(1), MatrixXd(Vector3d(1.0, 0.0, 0.0)),
                                          Eigen::Matrix<double, 1, 1>(kMu), 0.01);
  p.impulse = VectorXd::Constant(1, -0.1);
  p.prescribed = {0};
  p.v_prescribed = VectorXd::Zero(1);
  return certify(p, terms_of(p), VectorXd::Zero(1), Vector3d(push, 0.0, 0.0), VectorXd(0), VectorXd::Constant(1, 0.1 - push));
}

TEST(Scale, AHugeAnswerIsAResidual) {
  EXPECT_LT(driven_slider(0.1).worst(), 1e-14);
  EXPECT_LT(driven_slider(1e3).worst(), 1e-11);  // squeezing with ten thousand times the load is a motion's own business
  for (const double push : {1e8, 1e20}) EXPECT_GT(driven_slider(push).worst(), 1e-8) << push;
  EXPECT_EQ(driven_slider(1e20).impulse_scale, 0.1);
}

// Torque and speed of a motor that pushes with all it has against a wall: its limit is the scale, where it is reached.
TEST(Scale, LimitsCountWhereTheyAreReached) {
  ContactProblem p = make_contact_problem(MatrixXd::Identity(1, 1), VectorXd::Zero(1), MatrixXd(Vector3d(1.0, 0.0, 0.0)),
                                          Eigen::Matrix<double, 1, 1>(kMu), 0.01);
  p.J_b = BlockRows::from_dense(1, MatrixXd::Identity(1, 1), p.M.sizes());
  p.b = VectorXd::Constant(1, -2.0);
  const auto push = [&](double limit, double beta) {
    p.lo = VectorXd::Constant(1, -limit);
    p.hi = VectorXd::Constant(1, limit);
    return certify(p, terms_of(p), VectorXd::Zero(1), Vector3d(beta, 0.0, 0.0), VectorXd::Constant(1, -beta), VectorXd(0));
  };
  const Certificate full = push(1e6, 1e6);
  EXPECT_LT(full.worst(), 2e-10);
  EXPECT_EQ(full.impulse_scale, 1e6);
  EXPECT_EQ(full.velocity_scale, 2.0);
  const Certificate half = push(1e6, 5e5);
  EXPECT_EQ(half.impulse_scale, 2.0);
  EXPECT_GT(half.worst(), 0.5);
  // Whatever the limit, digits that the motion needs are lost.
  EXPECT_GT(push(1e9, 1e9).worst(), 1e-8);
  EXPECT_GT(push(1e15, 1e15).worst(), 0.1);
}

// What rounding leaves of a motion that has ended, the smallest numbers of all, asks nothing of the impulses. The same share of a motion
// that is one is a residual.
TEST(Scale, TheRestsOfAMotionAreNone) {
  ContactProblem p = make_contact_problem(MatrixXd::Identity(1, 1), VectorXd::Zero(1), MatrixXd(Vector3d(1.0, 0.0, 0.0)),
                                          Eigen::Matrix<double, 1, 1>(kMu), 0.01);
  for (const double v : {0.0, 5e-324, 5e-316, 1e-200, 1e-150}) {
    p.v = VectorXd::Constant(1, -v);
    EXPECT_LT(certify(p, terms_of(p), p.v, Vector3d::Zero(), VectorXd(0), VectorXd(0)).worst(), 1e-9) << v;
    Reduction reduction;
    reduce(p, reduction);
    EXPECT_LT(certify(reduction.reduced, terms_of(reduction.reduced), Vector3d::Zero(), VectorXd(0)).worst(), 1e-9) << v;
  }
  for (const double v : {1e-130, 1e-12, 1.0}) {
    p.v = VectorXd::Constant(1, -v);
    EXPECT_GT(certify(p, terms_of(p), p.v, Vector3d::Zero(), VectorXd(0), VectorXd(0)).worst(), 0.5) << v;
  }
}

// A blade of half angle α between a wall and a wedge's face magnifies its load 1/(2 sin α) times; a short lever as its arms: no residual.
TEST(Scale, WedgesAndLeversMagnify) {
  const double load = 0.1, angle = 1e-4;
  MatrixXd J = MatrixXd::Zero(6, 2);
  J.row(0) << std::cos(angle), std::sin(angle);
  J.row(3) << -std::cos(angle), std::sin(angle);
  ContactProblem p = make_contact_problem(MatrixXd::Identity(2, 2), VectorXd::Zero(2), J, VectorXd::Zero(2), 0.01);
  p.impulse = Eigen::Vector2d(0.0, -load);
  VectorXd lambda = VectorXd::Zero(6);
  lambda[0] = lambda[3] = load / (2.0 * std::sin(angle));
  EXPECT_LT(certify(p, terms_of(p), VectorXd::Zero(2), lambda, VectorXd(0), VectorXd(0)).worst(), 1e-11);
  ContactProblem lever = make_contact_problem(MatrixXd::Identity(1, 1), VectorXd::Zero(1), MatrixXd(Vector3d(1e-4, 0.0, 0.0)),
                                              Eigen::Matrix<double, 1, 1>(kMu), 0.01);
  lever.impulse = VectorXd::Constant(1, -load);
  EXPECT_LT(certify(lever, terms_of(lever), VectorXd::Zero(1), Vector3d(load / 1e-4, 0.0, 0.0), VectorXd(0), VectorXd(0)).worst(), 1e-11);
}

// Sticking to rounding is solved however wide the cone, and a creep of a millionth is not.
TEST(NaturalMap, WideConesMeasureSlipAndApproachAlike) {
  for (const double mu : {4.0, 100.0, 1e6}) {
    const auto stuck = [&](double slip, double approach) {
      return judge({}, Vector3d(-1.0, 3.0, 0.0), kMass * Vector3d(1.0 - approach, -3.0 + slip, 0.0), mu).worst();
    };
    EXPECT_LT(stuck(1e-14, 0.0), 1e-12) << mu;
    EXPECT_LT(stuck(0.0, 1e-14), 1e-12) << mu;
    EXPECT_GT(stuck(1e-6, 0.0), 1e-7) << mu;
    EXPECT_GT(stuck(0.0, 1e-6), 1e-7) << mu;
  }
}

// What is no number must not pass as a small residual.
TEST(NaturalMap, IsNoNumberWhereTheContactHasNone) {
  const SectionShape disc;
  for (int k = 0; k < 3; ++k) {
    const Vector3d fine(1e-12, 0.0, 0.0);
    Vector3d broken = fine;
    broken[k] = std::nan("");
    for (const double mu : {0.5, 1.0}) {
      EXPECT_TRUE(std::isnan(contact_natural_map(disc, false, mu, 0.0, 1.0, fine, broken))) << k << " " << mu;
      EXPECT_TRUE(std::isnan(contact_natural_map(disc, false, mu, 0.0, 1.0, broken, fine))) << k << " " << mu;
    }
  }
}

TEST(Energy, WorksOfAPointMass) {
  const Vector3d v(-1.0, 3.0, 4.0), lambda(kMass, -kMu * kMass * 0.6, -kMu * kMass * 0.8);
  const Certificate c = judge({}, v, lambda);
  const double change = 0.5 * kMass * (4.5 * 4.5 - 5.0 * 5.0 - 1.0);
  EXPECT_NEAR(c.energy.kinetic, change, 1e-12);
  EXPECT_NEAR(c.energy.contacts, change, 1e-12);
  EXPECT_NEAR(c.energy_change, change, 1e-12);
  EXPECT_LT(c.energy_balance.raw, 1e-13);
}

// All kinds of impulses at random: the identity holds to rounding, each work is its closed form, and a velocity that does not keep
// the momentum balance breaks it.
TEST(Energy, BalancesWithEveryKindOfRow) {
  std::srand(5);
  for (int trial = 0; trial < 20; ++trial) {
    const MatrixXd a = MatrixXd::Random(8, 8);
    ContactProblem p = make_contact_problem(a * a.transpose() + MatrixXd::Identity(8, 8), VectorXd::Random(8), MatrixXd::Random(9, 8),
                                            Vector3d(0.3, 0.0, kInfinity), 0.01);
    p.impulse = VectorXd::Random(8);
    p.J_b = BlockRows::from_dense(1, MatrixXd::Random(3, 8), p.M.sizes());
    p.b = VectorXd::Random(3);
    p.lo = Vector3d(-0.1, -kInfinity, 0.0);
    p.hi = Vector3d(0.1, kInfinity, kInfinity);
    p.prescribed = {6, 7};
    p.v_prescribed = VectorXd::Random(2);
    const VectorXd lambda = VectorXd::Random(9), lambda_b = VectorXd::Random(3), lambda_p = VectorXd::Random(2);
    VectorXd total = p.impulse + p.J.to_dense().transpose() * lambda + p.J_b.to_dense().transpose() * lambda_b;
    total.tail(2) += lambda_p;
    const VectorXd v_plus = p.v + p.M.to_dense().llt().solve(total), mean = 0.5 * (p.v + v_plus);
    const Certificate c = certify(p, terms_of(p), v_plus, lambda, lambda_b, lambda_p);
    EXPECT_LT(c.energy_balance.scaled, 1e-14);
    EXPECT_NEAR(c.energy.known, p.impulse.dot(mean), 1e-12);
    EXPECT_NEAR(c.energy.contacts, lambda.dot(p.J.to_dense() * mean), 1e-12);
    const VectorXd rows = lambda_b.cwiseProduct(p.J_b.to_dense() * mean);
    EXPECT_NEAR(c.energy.bounded, rows[0] + rows[2], 1e-12);
    EXPECT_NEAR(c.energy.bilateral, rows[1] + lambda_p.dot(mean.tail(2)), 1e-12);
    const VectorXd wrong = v_plus + 1e-3 * VectorXd::Random(8);
    EXPECT_GT(certify(p, terms_of(p), wrong, lambda, lambda_b, lambda_p).energy_balance.raw, 1e-6);
  }
}

}  // namespace
}  // namespace stiction::certificate_test
