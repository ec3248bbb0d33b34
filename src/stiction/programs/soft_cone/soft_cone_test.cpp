// Soft cone programs against closed forms, and against the interior point on an equivalent hard program.
#include "stiction/programs/soft_cone/soft_cone.hpp"

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/programs/cone/test_scenes.hpp"

namespace stiction::soft_cone_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test_scenes::Random;
using test_scenes::uniform;

std::vector<SoftContact> contacts_of(const ReducedProblem& p, double softness) {
  std::vector<SoftContact> contacts(p.contacts());
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    contacts[i].mu = p.mu[static_cast<Eigen::Index>(i)];
    contacts[i].normal = contacts[i].tangential = softness;
  }
  return contacts;
}

// G + R = [R_t √R][R_t √R]ᵀ: a hard program with 3 n more columns, for a solver that knows no softness.
ReducedProblem hardened(const ReducedProblem& p, const std::vector<SoftContact>& contacts) {
  const Eigen::Index n3 = p.Rt.rows(), r = p.Rt.cols(), m = p.bounded_rows();
  MatrixXd rows = MatrixXd::Zero(n3, r + n3), bounded = MatrixXd::Zero(m, r + n3);
  rows.leftCols(r) = p.Rt.to_dense();
  bounded.leftCols(r) = p.Bt.to_dense();
  ReducedProblem out = p;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Eigen::Index k = 3 * static_cast<Eigen::Index>(i);
    for (Eigen::Index j = 0; j < 3; ++j) rows(k + j, r + k + j) = std::sqrt(j == 0 ? contacts[i].normal : contacts[i].tangential);
    out.u_free.segment<3>(k) -= contacts[i].reference;
  }
  const int size = static_cast<int>(r + n3);
  out.Rt = BlockRows::from_dense(3, rows, std::span(&size, 1));
  out.Bt = BlockRows::from_dense(1, bounded, std::span(&size, 1));
  out.y_free.setZero(size);
  return out;
}

void add_rows(ReducedProblem& p, int m, Random& random) {
  MatrixXd rows(m, p.Rt.cols());
  for (Eigen::Index i = 0; i < rows.size(); ++i) rows.data()[i] = test_scenes::normal(random);
  p.Bt = BlockRows::from_dense(1, rows, p.Rt.block_sizes());
  p.w_free.resize(m);
  p.lo.resize(m);
  p.hi.resize(m);
  for (int j = 0; j < m; ++j) {
    p.w_free[j] = test_scenes::normal(random);
    p.lo[j] = j % 2 == 0 ? 0.0 : -0.3;
    p.hi[j] = j % 2 == 0 ? kInfinity : 0.2;
  }
}

TEST(SoftCone, SoftRowsTakeOneRound) {
  // Softer than a tenth of the first proximity: Newton alone, which frictionless contacts end in finitely many steps.
  const ReducedProblem p =
      test_scenes::reduced_problem(MatrixXd::Identity(3, 3), MatrixXd::Identity(3, 3), Vector3d(-2.0, 0.0, 0.0), VectorXd::Zero(1), {3});
  SoftConeOptions options;
  for (const double softness : {0.2 * options.proximity, 2.0 * options.proximity}) {
    SoftConeWorkspace w;
    SoftConeSolution s;
    soft_cone(p, contacts_of(p, softness), options, w, s);
    EXPECT_EQ(s.status, Status::solved);
    EXPECT_NEAR(s.lambda[0], 2.0 / (1.0 + softness), 1e-12);  // rounding of u over the softness
    EXPECT_EQ(s.rounds, 1);
    EXPECT_EQ(s.iterations, 1);
  }
}

TEST(SoftCone, OneSphereInClosedForm) {
  // G = 1/m I: falling at 2 m/s with softness R, λ_N = 2 / (1/m + R).
  const double mass = 3.0, softness = 0.2;
  ReducedProblem p = test_scenes::reduced_problem(mass * MatrixXd::Identity(3, 3), MatrixXd::Identity(3, 3), Vector3d(-2.0, 0.0, 0.0),
                                                  VectorXd::Constant(1, 0.4), {3});
  SoftConeWorkspace w;
  SoftConeSolution s;
  soft_cone(p, contacts_of(p, softness), {}, w, s);
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_NEAR(s.lambda[0], 2.0 / (1.0 / mass + softness), 1e-14);
  // Sliding: ũ on the boundary of K*, λ on the boundary of K against it; with u_T = (5, 0): one unknown a along (1, -μ).
  p.u_free = Vector3d(-2.0, 5.0, 0.0);
  soft_cone(p, contacts_of(p, softness), {}, w, s);
  const double mu = 0.4, along = (2.0 + mu * 5.0) / ((1.0 / mass + softness) * (1.0 + mu * mu));
  EXPECT_NEAR((s.lambda - Vector3d(along, -mu * along, 0.0)).norm(), 0.0, 1e-13);
}

TEST(SoftCone, AgreesWithTheInteriorPoint) {
  Random random(3);
  SoftConeWorkspace w;
  ConeWorkspace cone_workspace;
  int most = 0;
  for (int trial = 0; trial < 60; ++trial) {
    ReducedProblem p = test_scenes::random_problem(1 + trial % 8, 6 + trial % 7, random);
    if (trial % 3 == 0) add_rows(p, 3, random);
    const double softness = trial % 4 == 0 ? 0.0 : std::pow(10.0, uniform(random, -5.0, 1.0));
    const int edges = trial % 2 == 0 ? 6 : 0;
    std::vector<SoftContact> contacts = contacts_of(p, softness);
    for (SoftContact& c : contacts) c.tangential *= 0.1, c.reference[0] = uniform(random, -0.3, 0.3);
    SoftConeSolution s;
    soft_cone(p, contacts, {.edges = edges}, w, s);
    ASSERT_EQ(s.status, Status::solved) << trial << " " << s.natural_map;
    most = std::max(most, s.iterations);
    ConeSolution reference;
    const ConeOptions options{.edges = edges, .relaxed = true};
    const ReducedProblem hard = hardened(p, contacts);
    solve_cone(hard, options, cone_workspace, reference);
    ASSERT_EQ(reference.status, Status::solved) << trial;
    GrowVector y(p.Rt.cols()), y_reference(p.Rt.cols());
    y.setZero(), y_reference.setZero();
    p.Rt.add_transposed(s.lambda, y), p.Rt.add_transposed(reference.lambda, y_reference);
    p.Bt.add_transposed(s.beta, y), p.Bt.add_transposed(reference.beta, y_reference);
    EXPECT_NEAR((y - y_reference).norm(), 0.0, 1e-8 * (1.0 + y.norm())) << trial;
  }
  EXPECT_LT(most, 120);
  RecordProperty("most_iterations", most);
}

// How far a contact is open, where it bears nothing: no digit of the others'.
TEST(SoftCone, AFarContactCostsNoDigits) {
  Random random(11);
  for (int trial = 0; trial < 20; ++trial) {
    const ReducedProblem p = test_scenes::random_problem(4, 8, random);
    std::vector<SoftContact> contacts = contacts_of(p, 1e-4);
    VectorXd near;
    for (const double open : {1e3, 1e9}) {
      contacts[0].reference[0] = -open;
      SoftConeWorkspace w;
      SoftConeSolution s;
      soft_cone(p, contacts, {}, w, s);
      ASSERT_EQ(s.status, Status::solved) << trial << " " << open;
      EXPECT_EQ(s.lambda[0], 0.0);
      if (near.size() == 0) near = s.lambda;
      EXPECT_LT((s.lambda - near).norm(), 1e-10 * (1.0 + near.norm())) << trial << " " << open;
    }
  }
}

TEST(SoftCone, SixtyFourBodies) {
  Random random(5);
  const ReducedProblem p = test_scenes::brick_wall(64, random);
  ASSERT_EQ(p.rank_bound(), 384);
  SoftConeWorkspace w;
  for (const double softness : {1e-1, 1e-3, 0.0}) {
    SoftConeSolution s;
    soft_cone(p, contacts_of(p, softness), {}, w, s);
    EXPECT_EQ(s.status, Status::solved) << softness << " " << s.natural_map << " in " << s.iterations << ", " << s.rounds;
    EXPECT_LE(s.natural_map, 1e-10) << softness;
    RecordProperty("iterations_" + std::to_string(softness), s.iterations);
  }
}

TEST(SoftCone, WithoutFrictionEachContactIsASpringThatOnlyPushes) {
  Random random(11);
  SoftConeWorkspace w;
  int pushing = 0, open = 0;
  for (int trial = 0; trial < 20; ++trial) {
    ReducedProblem p = trial % 2 == 0 ? test_scenes::brick_wall(6, random) : test_scenes::random_problem(5, 9, random);
    p.mu.setZero();
    const double softness = std::pow(10.0, uniform(random, -4.0, 0.0));
    SoftConeSolution s;
    soft_cone(p, contacts_of(p, softness), {}, w, s);
    ASSERT_EQ(s.status, Status::solved) << trial;
    const MatrixXd R = p.Rt.to_dense();
    const VectorXd u = R * (R.transpose() * s.lambda) + p.u_free;
    for (int i = 0; i < p.contacts(); ++i) {
      EXPECT_NEAR(softness * s.lambda[3 * i], std::max(0.0, -u[3 * i]), 1e-10 * largest_entry(p.u_free)) << trial;  // m/s
      EXPECT_EQ(s.lambda.segment<2>(3 * i + 1).norm(), 0.0);
      ++(s.lambda[3 * i] > 0.0 ? pushing : open);
    }
  }
  EXPECT_GT(pushing, 20);
  EXPECT_GT(open, 20);
}

// Solutions scale with u_free, and every contact keeps its state: one system where that is a half line's, a few where cones are round.
TEST(SoftCone, AWarmStartKeepsTheStatesOfContacts) {
  Random random(11);
  for (const double mu : {0.0, 0.6}) {
    int cold = 0, warm = 0;
    for (int k = 0; k < 20; ++k) {
      ReducedProblem p = test_scenes::random_problem(12, 24, random);
      p.mu.setConstant(mu);
      const std::vector<SoftContact> contacts = contacts_of(p, 0.1);
      SoftConeOptions options;
      SoftConeWorkspace w;
      SoftConeSolution s;
      soft_cone(p, contacts, options, w, s);
      ASSERT_EQ(s.status, Status::solved);
      cold += s.iterations;
      const GrowVector lambda = s.lambda;
      p.u_free *= 0.8;
      options.warm_start = true;
      soft_cone(p, contacts, options, w, s);
      ASSERT_EQ(s.status, Status::solved);
      EXPECT_LE((s.lambda - 0.8 * lambda).cwiseAbs().maxCoeff(), 1e-9 * lambda.maxCoeff());
      warm += s.iterations;
    }
    EXPECT_LE(warm, mu == 0.0 ? 2 * 20 : cold / 2);
  }
}

TEST(SoftCone, ConvergesQuadratically) {
  Random random(11);
  const ReducedProblem p = test_scenes::random_problem(8, 12, random);
  SoftConeWorkspace w;
  SoftConeSolution s;
  soft_cone(p, contacts_of(p, 0.1), {}, w, s);
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_LE(s.iterations, 15);
  const int cold = s.iterations;
  soft_cone(p, contacts_of(p, 0.1), {.warm_start = true}, w, s);
  EXPECT_LT(s.iterations, cold);
  EXPECT_LE(s.natural_map, 1e-12 * largest_entry(p.u_free));
}

TEST(SoftCone, ProvesInfeasibility) {
  // Two plates close on a body that cannot move: u_free < 0 on a row that nothing moves; softness makes it feasible again.
  ReducedProblem p = test_scenes::random_problem(2, 6, *std::make_unique<Random>(7));
  MatrixXd rows = p.Rt.to_dense();
  rows.bottomRows(3) = rows.topRows(3);
  rows.row(3) *= -1.0;
  p.Rt = BlockRows::from_dense(3, rows, p.Rt.block_sizes());
  p.u_free << -1.0, 0.0, 0.0, -1.0, 0.0, 0.0;
  p.mu.setZero();
  SoftConeWorkspace w;
  SoftConeSolution s;
  soft_cone(p, contacts_of(p, 0.0), {}, w, s);
  EXPECT_EQ(s.status, Status::infeasible) << s.natural_map;
  EXPECT_TRUE(s.lambda.allFinite());
  soft_cone(p, contacts_of(p, 0.01), {}, w, s);
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_NEAR(s.lambda[0], 100.0, 1e-9);
}

TEST(SoftCone, RefusesBadInput) {
  Random random(7);
  const ReducedProblem p = test_scenes::random_problem(2, 6, random);
  SoftConeWorkspace w;
  SoftConeSolution s;
  EXPECT_THROW(soft_cone(p, {}, {}, w, s), InvalidArgument);
  EXPECT_THROW(soft_cone(p, contacts_of(p, -1.0), {}, w, s), InvalidArgument);
  EXPECT_THROW(soft_cone(p, contacts_of(p, 0.1), {.edges = 3}, w, s), InvalidArgument);
}

}  // namespace
}  // namespace stiction::soft_cone_test
