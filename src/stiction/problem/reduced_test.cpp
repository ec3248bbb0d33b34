// The reduction against dense linear algebra: the KKT system of the bilateral rows, solved as one matrix.
#include "stiction/problem/reduced.hpp"

#include <array>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/LU>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/base/least_norm.hpp"
#include "stiction/problem/certificate.hpp"
#include "stiction/problem/contact_subset.hpp"
#include "stiction/problem/test_terms.hpp"

namespace stiction::reduced_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_spd(int n) {
  const MatrixXd a = MatrixXd::Random(n, n);
  return a * a.transpose() + MatrixXd::Identity(n, n);
}

// Three bodies (6, 6, 3 velocities), contacts on and between them, bilateral rows inside and across bodies.
ContactProblem three_bodies(unsigned seed) {
  std::srand(seed);
  const std::vector<int> sizes{6, 6, 3};
  ContactProblem p;
  p.dt = 0.01;
  p.M.reset(sizes);
  for (int k = 0; k < 3; ++k) p.M.block(k) = random_spd(sizes[k]);
  p.v = VectorXd::Random(15);
  p.impulse = VectorXd::Random(15);
  MatrixXd J = MatrixXd::Random(9, 15);
  J.block(0, 6, 3, 9).setZero();
  J.block(3, 12, 3, 3).setZero();
  J.block(6, 0, 3, 6).setZero();
  p.J = BlockRows::from_dense(3, J, sizes);
  p.mu = VectorXd::Constant(3, 0.5);
  p.restitution.setZero(3);
  p.gap.setZero(3);
  p.J_b.reset(1, sizes);
  return p;
}

void add_rows(ContactProblem& p, const MatrixXd& rows, double lo, double hi) {
  p.J_b = BlockRows::from_dense(1, rows, p.M.sizes());
  p.b = VectorXd::Random(rows.rows());
  p.lo = VectorXd::Constant(rows.rows(), lo);
  p.hi = VectorXd::Constant(rows.rows(), hi);
}

// M v⁺ = M v + p + Cᵀλ_c + Jᵀλ, C v⁺ = c, solved densely.
VectorXd dense_velocity(const ContactProblem& p, const MatrixXd& C, const VectorXd& c, const VectorXd& lambda) {
  const MatrixXd M = p.M.to_dense();
  const int nv = p.velocities(), m = static_cast<int>(C.rows());
  MatrixXd kkt = MatrixXd::Zero(nv + m, nv + m);
  kkt << M, -C.transpose(), C, MatrixXd::Zero(m, m);
  VectorXd rhs(nv + m);
  rhs << M * p.v + p.impulse + p.J.to_dense().transpose() * lambda, c;
  return least_norm_solution(kkt, rhs).head(nv);
}

// G of the coordinates that the system is written in: rows of contacts and bounded rows times M⁻¹ of the free coordinates, bilateral rows
// or not, and R of compliant rows.
TEST(Reduced, KeepsTheRowsBeforeTheElimination) {
  ContactProblem p = three_bodies(3);
  MatrixXd rows = MatrixXd::Random(4, 15);
  rows.topRightCorner(2, 3).setZero();
  add_rows(p, rows, -kInfinity, kInfinity);
  p.lo.tail(2).setConstant(-1.0);
  p.hi.tail(2).setConstant(1.0);
  p.row_compliance = Eigen::Vector4d(0.0, 0.0, 0.0, 0.25);
  p.prescribed = {4};
  p.v_prescribed = VectorXd::Constant(1, 0.1);
  Reduction reduction;
  reduce(p, reduction);
  EXPECT_EQ(reduction.reduced.Rt_before.cols() + reduction.reduced.Rt_before.groups(), 0);
  reduce(p, reduction, {.rows_before = true});
  std::vector<Eigen::Index> free;
  for (int j = 0; j < 15; ++j) {
    if (j != 4) free.push_back(j);
  }
  MatrixXd W(11, 15), before(11, reduction.reduced.Rt_before.cols());
  W << p.J.to_dense(), rows.bottomRows(2);
  before << reduction.reduced.Rt_before.to_dense(), reduction.reduced.Bt_before.to_dense();
  const MatrixXd inertia = p.M.to_dense()(free, free), part = W(Eigen::all, free);
  MatrixXd G = part * inertia.inverse() * part.transpose();
  G(10, 10) += 0.25;
  EXPECT_LT((before * before.transpose() - G).norm(), 1e-12 * G.norm());
  p.lo.head(2).setConstant(-1.0);  // nothing is eliminated but the prescribed coordinate
  reduce(p, reduction, {.rows_before = true});
  EXPECT_EQ(reduction.reduced.Rt_before.cols(), 0);
}

// A body of so many coordinates is factored in panels, a smaller one column by column.
TEST(Reduction, SmallAndLargeBodiesAlike) {
  for (const int n : {255, 256, 400}) {
    const std::vector<int> sizes{n};
    ContactProblem p;
    p.dt = 0.01;
    p.M.reset(sizes);
    p.M.block(0) = random_spd(n);
    p.v = VectorXd::Random(n);
    p.impulse = VectorXd::Random(n);
    const MatrixXd J = MatrixXd::Random(3, n), M = p.M.to_dense();
    p.J = BlockRows::from_dense(3, J, sizes);
    p.mu = VectorXd::Constant(1, 0.5);
    p.restitution.setZero(1);
    p.gap.setZero(1);
    p.J_b.reset(1, sizes);
    Reduction red;
    reduce(p, red);
    const Eigen::LDLT<MatrixXd> factor(M);
    const VectorXd free = p.v + factor.solve(p.impulse);
    EXPECT_LE((red.v_free - free).norm(), 1e-9 * free.norm()) << n;
    const MatrixXd W = J * factor.solve(J.transpose()), Rt = red.reduced.Rt.to_dense();
    EXPECT_LE((Rt * Rt.transpose() - W).norm(), 1e-9 * W.norm()) << n;
  }
}

void expect_reduction_matches(const ContactProblem& p, const MatrixXd& C, const VectorXd& c, int expected_rank) {
  validate(p);
  Reduction red;
  reduce(p, red);
  const ReducedProblem& r = red.reduced;
  EXPECT_EQ(r.rank_bound(), expected_rank);
  const MatrixXd J = p.J.to_dense(), Rt = r.Rt.to_dense();
  const VectorXd zero = VectorXd::Zero(9), free = dense_velocity(p, C, c, zero);
  EXPECT_NEAR((red.v_free - free).norm(), 0.0, 1e-9);
  EXPECT_NEAR((r.u_free - J * free).norm(), 0.0, 1e-9);
  const VectorXd lambda = VectorXd::Random(9);
  const VectorXd v_plus = dense_velocity(p, C, c, lambda);
  EXPECT_NEAR((Rt * (Rt.transpose() * lambda) + r.u_free - J * v_plus).norm(), 0.0, 1e-9);
  GrowVector recovered, lambda_b, lambda_p;
  const VectorXd beta = VectorXd::Zero(static_cast<Eigen::Index>(red.bounded.size()));
  recover_velocity(red, lambda, beta, recovered);
  EXPECT_NEAR((recovered - v_plus).norm(), 0.0, 1e-9);
  lambda_b.setZero(p.bounded_rows());
  recover_bilateral(p, red, recovered, lambda, lambda_b, lambda_p);
  const Certificate cert = certify(p, terms_of(p), recovered, lambda, lambda_b, lambda_p);
  EXPECT_LT(cert.momentum.scaled, 1e-12);
  EXPECT_LT(cert.bilateral.scaled, 1e-10);
}

TEST(Reduce, FreeBodies) { expect_reduction_matches(three_bodies(1), MatrixXd(0, 15), VectorXd(0), 15); }

// Sets of coupled bodies whose members lie apart, one of which begins with a body that is prescribed as a whole.
TEST(Reduce, CoupledBodiesThatAreNoNeighbours) {
  std::srand(5);
  const std::vector<int> sizes{2, 3, 1, 4, 2, 3};
  ContactProblem p;
  p.dt = 0.01;
  p.M.reset(sizes);
  for (int k = 0; k < 6; ++k) p.M.block(k) = random_spd(sizes[k]);
  p.v = VectorXd::Random(15);
  p.impulse = VectorXd::Random(15);
  p.J = BlockRows::from_dense(3, MatrixXd::Random(9, 15), sizes);
  p.mu = VectorXd::Constant(3, 0.5);
  p.restitution.setZero(3);
  p.gap.setZero(3);
  MatrixXd rows = MatrixXd::Zero(3, 15);
  for (const auto& [row, a, b] : {std::array{0, 0, 4}, std::array{1, 4, 2}, std::array{2, 5, 1}}) {
    for (const int k : {a, b}) rows.row(row).segment(p.M.offset(k), p.M.block_size(k)).setRandom();
  }
  add_rows(p, rows, -kInfinity, kInfinity);
  p.prescribed = {0, 1};
  p.v_prescribed = Eigen::Vector2d(0.3, -0.2);
  MatrixXd C(5, 15);
  C << rows, MatrixXd::Identity(2, 15);
  VectorXd c(5);
  c << p.b, p.v_prescribed;
  expect_reduction_matches(p, C, c, 10);
}

TEST(Reduce, PrescribedCoordinates) {
  ContactProblem p = three_bodies(2);
  p.prescribed = {14, 2, 7};
  p.v_prescribed = Eigen::Vector3d(0.3, -0.2, 0.9);
  MatrixXd C = MatrixXd::Zero(3, 15);
  for (int i = 0; i < 3; ++i) C(i, p.prescribed[i]) = 1.0;
  expect_reduction_matches(p, C, p.v_prescribed, 12);
}

// A contact at the centre of a joint that is left free, and a row there: their velocities are those of what is prescribed.
TEST(Reduce, WhatIsLeftOfRowsIsNoneWhereItIsRounding) {
  ContactProblem p = three_bodies(3);
  p.prescribed = {0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14};  // the last three velocities of the first body are free
  p.v_prescribed = VectorXd::Random(12);
  MatrixXd J = p.J.to_dense();
  J.block(0, 3, 2, 3) *= 3e-17;
  J.block(2, 3, 1, 3) *= 1e-9;
  p.J = BlockRows::from_dense(3, J, p.M.sizes());
  add_rows(p, J.topRows(3), 0.0, 1.0);
  Reduction red;
  reduce(p, red);
  const MatrixXd Rt = red.reduced.Rt.to_dense();
  EXPECT_TRUE(Rt.topRows(2).isZero(0.0));
  EXPECT_GT(Rt.row(2).norm(), 0.0);
  EXPECT_EQ(red.fixed, (std::vector<int>{0, 1}));
  EXPECT_NEAR(red.reduced.u_free[0], J.row(0) * red.v_free, 1e-15);
}

// A contact of two driven bodies that move on together has the rounding of their velocities, and nothing that could change it.
TEST(Reduce, VelocityOfWhatNothingMovesIsNoneWhereItIsRounding) {
  ContactProblem p = three_bodies(2);
  for (int j = 0; j < 15; ++j) p.prescribed.push_back(j);
  p.v_prescribed = VectorXd::Random(15);
  MatrixXd J = p.J.to_dense();
  const auto along = p.v_prescribed.transpose() / p.v_prescribed.squaredNorm();
  J.row(0) -= (J.row(0) * p.v_prescribed)[0] * along - 3e-16 * along;
  J.row(3) -= (J.row(3) * p.v_prescribed)[0] * along - 1e-9 * along;
  p.J = BlockRows::from_dense(3, J, p.M.sizes());
  Reduction red;
  reduce(p, red);
  EXPECT_EQ(red.reduced.u_free[0], 0.0);
  EXPECT_NEAR(red.reduced.u_free[3], 1e-9, 1e-14);
  p.v_prescribed *= 2.0;
  ASSERT_TRUE(change_prescribed(p, red));
  EXPECT_EQ(red.reduced.u_free[0], 0.0);
  EXPECT_NEAR(red.reduced.u_free[3], 2e-9, 1e-14);
}

TEST(Reduce, BilateralRowsAcrossBlocksAndRedundant) {
  ContactProblem p = three_bodies(3);
  MatrixXd C = MatrixXd::Random(4, 15);
  C.row(0).tail(9).setZero();
  C.row(1).tail(9).setZero();
  C.row(3) = 2.0 * C.row(2);
  add_rows(p, C, -kInfinity, kInfinity);
  p.b[3] = 2.0 * p.b[2];
  expect_reduction_matches(p, C, p.b, 12);
}

TEST(Reduce, BilateralRowsBesidePrescribed) {
  ContactProblem p = three_bodies(4);
  MatrixXd C = MatrixXd::Zero(2, 15);
  C.leftCols(6) = MatrixXd::Random(2, 6);
  add_rows(p, C, -kInfinity, kInfinity);
  p.prescribed = {0, 13};
  p.v_prescribed = Eigen::Vector2d(0.1, -0.4);
  MatrixXd all = MatrixXd::Zero(4, 15);
  all.topRows(2) = C;
  all(2, 0) = all(3, 13) = 1.0;
  VectorXd target(4);
  target << p.b, p.v_prescribed;
  expect_reduction_matches(p, all, target, 11);
}

TEST(Reduce, BoundedRowsStayAsRows) {
  ContactProblem p = three_bodies(5);
  add_rows(p, MatrixXd::Random(2, 15), -0.5, 2.0);
  Reduction red;
  reduce(p, red);
  EXPECT_EQ(red.bounded, (std::vector<int>{0, 1}));
  const MatrixXd M = p.M.to_dense(), C = p.J_b.to_dense(), Bt = red.reduced.Bt.to_dense();
  EXPECT_NEAR((Bt * Bt.transpose() - C * M.inverse() * C.transpose()).norm(), 0.0, 1e-10);
  EXPECT_NEAR((red.reduced.w_free - (C * red.v_free - p.b)).norm(), 0.0, 1e-12);
}

// R stands on the diagonal of the bounded rows' operator, and nothing else of the reduction knows of it.
TEST(Reduce, CompliantRowsHaveTheirOwnColumns) {
  ContactProblem p = three_bodies(5);
  add_rows(p, MatrixXd::Random(3, 15), -0.5, 2.0);
  Reduction red, stiff;
  reduce(p, stiff);
  p.row_compliance = Eigen::Vector3d(0.7, 0.0, 0.2);
  validate(p);
  reduce(p, red);
  const MatrixXd M = p.M.to_dense(), C = p.J_b.to_dense(), Bt = red.reduced.Bt.to_dense(), Rt = red.reduced.Rt.to_dense();
  const MatrixXd R = p.row_compliance.asDiagonal();
  EXPECT_EQ(red.reduced.rank_bound(), 17);
  EXPECT_NEAR((Bt * Bt.transpose() - C * M.inverse() * C.transpose() - R).norm(), 0.0, 1e-10);
  EXPECT_NEAR((Rt.leftCols(15) - stiff.reduced.Rt.to_dense()).norm() + Rt.rightCols(2).norm(), 0.0, 1e-12);
  GrowVector v, v_stiff;
  const VectorXd lambda = VectorXd::Random(9), beta = VectorXd::Random(3);
  recover_velocity(red, lambda, beta, v);
  recover_velocity(stiff, lambda, beta, v_stiff);
  EXPECT_NEAR((v - v_stiff).norm(), 0.0, 1e-12);
  p.hi[0] = kInfinity;
  EXPECT_THROW(validate(p), InvalidArgument);
}

TEST(Reduce, KineticEnergyGradient) {
  ContactProblem p = three_bodies(6);
  p.prescribed = {8};
  p.v_prescribed = Eigen::Matrix<double, 1, 1>(0.7);
  Reduction red;
  reduce(p, red);
  const VectorXd lambda = VectorXd::Random(9);
  GrowVector v_plus;
  recover_velocity(red, lambda, VectorXd(0), v_plus);
  const VectorXd y = red.reduced.Rt.to_dense().transpose() * lambda;
  const MatrixXd M = p.M.to_dense();
  const double change = 0.5 * v_plus.dot(M * v_plus) - 0.5 * red.v_free.dot(M * red.v_free);
  EXPECT_NEAR(change, 0.5 * y.squaredNorm() + y.dot(red.reduced.y_free), 1e-10);
}

// What is kept of the last problem is not kept where the next one differs: in M, in what is prescribed, in what rows tie together.
TEST(Reduce, ReusedReductionGivesTheBitsOfAFreshOne) {
  std::vector<ContactProblem> problems{three_bodies(1), three_bodies(1), three_bodies(2),
                                       three_bodies(2), three_bodies(2), three_bodies(1)};
  problems[3].prescribed = {2, 7};
  problems[3].v_prescribed = VectorXd::Random(2);
  problems[4].prescribed = {3, 7};
  problems[4].v_prescribed = VectorXd::Random(2);
  MatrixXd across = MatrixXd::Random(2, 15);
  across.leftCols(6).setZero();
  add_rows(problems[5], across, -kInfinity, kInfinity);
  problems.push_back(three_bodies(1));
  Reduction reused;
  for (const ContactProblem& p : problems) {
    Reduction fresh;
    reduce(p, reused);
    reduce(p, fresh);
    EXPECT_EQ(reused.v_free, fresh.v_free);
    EXPECT_EQ(reused.reduced.Rt.to_dense(), fresh.reduced.Rt.to_dense());
    EXPECT_EQ(reused.reduced.y_free, fresh.reduced.y_free);
  }
}

TEST(ReduceDense, FactorsRankDeficientDelassus) {
  const MatrixXd R = MatrixXd::Random(9, 4), W = R * R.transpose();
  const ReducedProblem r = reduce_dense(W, VectorXd::Random(9), VectorXd::Constant(3, 0.4));
  EXPECT_EQ(r.rank_bound(), 4);
  EXPECT_NEAR((r.Rt.to_dense() * r.Rt.to_dense().transpose() - W).norm(), 0.0, 1e-12);
  MatrixXd indefinite = W;
  indefinite(0, 0) = -1.0;
  EXPECT_THROW(reduce_dense(indefinite, VectorXd::Zero(9), VectorXd::Constant(3, 0.4)), InvalidArgument);
}

TEST(Validate, NamesTheBadMember) {
  const auto message = [](auto&& change) -> std::string {
    ContactProblem p = three_bodies(7);
    change(p);
    try {
      validate(p);
    } catch (const InvalidArgument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message([](ContactProblem&) {}), "");
  EXPECT_THAT(message([](ContactProblem& p) { p.mu[1] = std::nan(""); }), testing::StartsWith("mu[1]: expected"));
  EXPECT_THAT(message([](ContactProblem& p) { p.mu[2] = -0.1; }), testing::StartsWith("mu[2]"));
  EXPECT_THAT(message([](ContactProblem& p) { p.v[3] = kInfinity; }), testing::StartsWith("v[3]"));
  EXPECT_THAT(message([](ContactProblem& p) { p.M.block(1)(0, 0) = -1.0; }), testing::StartsWith("M block 1"));
  EXPECT_THAT(message([](ContactProblem& p) { p.dt = 0.0; }), testing::StartsWith("dt"));
  EXPECT_THAT(message([](ContactProblem& p) { p.restitution[0] = 1.5; }), testing::StartsWith("restitution[0]"));
  EXPECT_THAT(message([](ContactProblem& p) {
                p.prescribed = {3, 3}, p.v_prescribed = VectorXd::Zero(2);
              }),
              testing::HasSubstr("at most once"));
  EXPECT_EQ(message([](ContactProblem& p) { p.mu[0] = kInfinity; }), "");
  EXPECT_THAT(message([](ContactProblem& p) { p.ids = {1, 2}; }), testing::StartsWith("ids: expected"));
  EXPECT_THAT(message([](ContactProblem& p) { p.ids = {7, 5, 7}; }), testing::StartsWith("ids[2]"));
  EXPECT_THAT(message([](ContactProblem& p) { p.row_ids = {1}; }), testing::StartsWith("row_ids"));
  EXPECT_EQ(message([](ContactProblem& p) { p.ids = {7, 5, 0}; }), "");
  try {
    validate(ReducedProblem{});
    ADD_FAILURE() << "rows of another height were taken";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "Rt: expected rows of height 3, of each contact N, S and T, got height 1");
  }
}

TEST(Reduce, NamesFollowTheirContactsAndRows) {
  ContactProblem p = three_bodies(11);
  MatrixXd rows = MatrixXd::Random(3, 15);
  add_rows(p, rows, -kInfinity, kInfinity);
  p.lo[0] = p.lo[2] = 0.0;  // the second stays bilateral
  p.ids = {30, 10, 20};
  p.row_ids = {9, 8, 7};
  validate(p);
  Reduction reduction;
  reduce(p, reduction);
  EXPECT_THAT(reduction.reduced.ids, testing::ElementsAre(30, 10, 20));
  EXPECT_THAT(reduction.reduced.row_ids, testing::ElementsAre(9, 7));
}

TEST(ReductionAllocation, NoneOnceGrownWithRedundantBilateralRows) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  ContactProblem p = three_bodies(3);
  MatrixXd rows = MatrixXd::Random(5, 15);
  rows.row(4) = rows.row(0) + rows.row(1);
  add_rows(p, rows, -kInfinity, kInfinity);
  const VectorXd lambda = VectorXd::Random(9);
  Reduction reduction;
  GrowVector v, lambda_b, lambda_p;
  const auto run = [&] {
    reduce(p, reduction);
    recover_velocity(reduction, lambda, VectorXd(0), v);
    expand_bounded(p, reduction, VectorXd(0), lambda_b);
    recover_bilateral(p, reduction, v, lambda, lambda_b, lambda_p);
  };
  run();
  run();
  const std::size_t before = allocation_count();
  run();
  EXPECT_EQ(allocation_count() - before, 0u);
}

TEST(NormalOffset, IsTheGapOverTheStepBeyondATenthOfAMicrometre) {
  ContactProblem p = three_bodies(1);
  p.v.setZero();
  p.restitution.setZero();
  GrowVector offset;
  for (const auto& [gap, expected] : {std::pair{-1e-3, 0.0}, std::pair{5e-8, 0.0}, std::pair{2e-7, 2e-5}, std::pair{1e-3, 0.1}}) {
    p.gap.setConstant(gap);
    normal_offset(p, offset);
    EXPECT_NEAR(offset[0], expected, 1e-15);
  }
}

}  // namespace
}  // namespace stiction::reduced_test
