// What the peers return is judged like our own: by the certificate, on problems with one answer.
#include "stiction/baselines/baselines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"
#include "stiction/problem/reduced_certificate.hpp"

namespace stiction::baselines_test {
namespace {

ReducedProblem reduced(const ContactProblem& problem) {
  Reduction reduction;
  reduce(problem, reduction);
  return reduction.reduced;
}

// Those that this build lacks are skipped by name, so that the summary of a run says what was left out.
class EachBaseline : public testing::TestWithParam<Baseline> {
 protected:
  void SetUp() override {
    if (!is_built(GetParam())) GTEST_SKIP() << "built without " << to_string(GetParam());
  }
};

// A peer may give up (Siconos' Lemke does on some of these), but what it calls solved must be.
TEST_P(EachBaseline, WhatItCallsSolvedIsSolved) {
  std::mt19937 rng(3);
  int converged = 0;
  for (int trial = 0; trial < 10; ++trial) {
    ReducedProblem p = reduced(testing_problems::random_robot(rng, 12, 3, 0.6));
    p.offset[1] = 0.2;
    SolveOptions options;
    options.law = law_of(GetParam());
    const BaselineSolution answer = solve_by_baseline(GetParam(), p);
    const Certificate certificate = certify(p, lowered(p, options), answer.lambda, Eigen::VectorXd(0));
    converged += answer.converged;
    if (answer.converged) {
      EXPECT_LT(certificate.worst(), 1e-6) << trial;
    }
    EXPECT_GT(answer.seconds, 0.0);
  }
  EXPECT_GE(converged, 6);
}

TEST_P(EachBaseline, RefusesWhatItCannotRead) {
  ContactProblem bounded = testing_problems::box_on_slope(1.0, {0.1, 0.1, 0.1}, 0.1, 0.5, 1e-3, {1.0, 0.0, 0.0});
  bounded.J_b = BlockRows::from_dense(1, Eigen::MatrixXd::Identity(1, 6), bounded.M.sizes());
  bounded.b.setZero(1);
  bounded.lo.setZero(1);
  bounded.hi = Eigen::VectorXd::Ones(1);
  EXPECT_THROW(solve_by_baseline(GetParam(), reduced(bounded)), InvalidArgument);
  ContactProblem glued = testing_problems::box_on_slope(1.0, {0.1, 0.1, 0.1}, 0.1, kInfinity, 1e-3, {1.0, 0.0, 0.0});
  EXPECT_THROW(solve_by_baseline(GetParam(), reduced(glued)), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(All, EachBaseline, testing::ValuesIn(kBaselines),
                         [](const auto& each) { return std::string(to_string(each.param)); });

// Pinocchio's PGS lays W on the stack: 360 contacts are more than the usual one holds.
TEST(Baselines, ManyContactsDoNotEndTheProgram) {
  if (!is_built(Baseline::pinocchio_pgs)) GTEST_SKIP() << "built without Pinocchio's solvers";
  constexpr int n = 360;
  const Eigen::MatrixXd W = Eigen::MatrixXd::Identity(3 * n, 3 * n);
  const Eigen::VectorXd q = Eigen::Vector3d(-1.0, 0.0, 0.0).replicate(n, 1);
  BaselineOptions options;
  options.max_iterations = 3;
  const BaselineSolution answer =
      solve_by_baseline(Baseline::pinocchio_pgs, reduce_dense(W, q, Eigen::VectorXd::Constant(n, 0.5)), options);
  EXPECT_NEAR(answer.lambda[0], 1.0, 1e-6);
}

// The convex QP has one motion, whoever solves it, and so has the certificate one verdict; W that is no R_t R_tᵀ is no QP.
TEST(Baselines, ProxqpFindsTheMotionOfOurQp) {
  if (!is_built(Baseline::proxqp)) GTEST_SKIP() << "built without ProxSuite";
  std::mt19937 rng(8);
  for (int trial = 0; trial < 12; ++trial) {
    ReducedProblem p = reduced(testing_problems::random_robot(rng, 8 + trial, 2 + trial % 6, 0.6));
    if (trial % 3 == 0) p.offset[0] = 0.2;
    BaselineOptions options;
    options.edges = trial % 2 == 0 ? 4 : 8;
    SolveOptions ours;
    ours.law = Law::anitescu;
    ours.edges = options.edges;
    const BaselineSolution theirs = solve_by_baseline(Baseline::proxqp, p, options);
    ASSERT_TRUE(theirs.converged) << trial;
    const Eigen::MatrixXd Rt = p.Rt.to_dense();
    const Solution own = solve(p, ours);
    ASSERT_EQ(own.status, Status::solved) << trial;
    EXPECT_LT((Rt.transpose() * (theirs.lambda - own.impulses)).norm(), 1e-7) << trial;
    p.defect = 0.01 * Eigen::MatrixXd::Identity(p.Rt.rows(), p.Rt.rows());
    EXPECT_THROW(solve_by_baseline(Baseline::proxqp, p, options), InvalidArgument);
  }
}

TEST(Baselines, WhatIsNotBuiltIsRefusedByName) {
  const ReducedProblem p = reduced(testing_problems::box_on_slope(1.0, {0.1, 0.1, 0.1}, 0.1, 0.5, 1e-3, {1.0, 0.0, 0.0}));
  for (const Baseline baseline : kBaselines) {
    if (is_built(baseline)) continue;
    EXPECT_THROW(solve_by_baseline(baseline, p), InvalidArgument) << to_string(baseline);
  }
}

}  // namespace
}  // namespace stiction::baselines_test
