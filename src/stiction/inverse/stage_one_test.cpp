#include "stiction/inverse/stage_one.hpp"

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction {
namespace {

using namespace testing_problems;

ContactProblem prescribed_robot(unsigned seed, int nv, int contacts) {
  std::mt19937 rng(seed);
  ContactProblem p = random_robot(rng, nv, contacts, 0.5);
  for (int j = 6; j < nv; ++j) p.prescribed.push_back(j);
  p.v_prescribed = VectorXd::LinSpaced(nv - 6, -0.2, 0.3);
  return p;
}

TEST(StageOne, BothSetupsAreTheReductionUpToARotation) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const ContactProblem p = prescribed_robot(seed, 18, 4);
    Reduction reduction;
    reduce(p, reduction);
    const MatrixXd Rt = reduction.reduced.Rt.to_dense();
    for (const StageOneForm form : {StageOneForm::plain, StageOneForm::reduced}) {
      const ReducedProblem s = stage_one_setup(p, form);
      const MatrixXd St = s.Rt.to_dense();
      EXPECT_NEAR((St * St.transpose() - Rt * Rt.transpose()).norm(), 0.0, 1e-9 * Rt.squaredNorm());
      EXPECT_NEAR((s.u_free - reduction.reduced.u_free).norm(), 0.0, 1e-10);
      EXPECT_NEAR((St * s.y_free - Rt * reduction.reduced.y_free).norm(), 0.0, 1e-9);
    }
  }
}

TEST(StageOne, TheSameMotionFromEverySetup) {
  const ContactProblem p = prescribed_robot(9, 18, 6);
  for (const Law law : {Law::max_dissipation, Law::anitescu, Law::no_slip}) {
    SolveOptions options;
    options.law = law;
    SolveWorkspace w;
    Impulses impulses;
    Reduction reduction;
    reduce(p, reduction);
    const auto velocity = [&](const ReducedProblem& r) {
      solve_reduced(r, options, w, impulses);
      EXPECT_EQ(impulses.status, Status::solved);
      const MatrixXd Rt = r.Rt.to_dense();
      return VectorXd(Rt * (Rt.transpose() * impulses.lambda) + r.u_free);
    };
    const VectorXd u = velocity(reduction.reduced);
    EXPECT_NEAR((velocity(stage_one_setup(p, StageOneForm::plain)) - u).norm(), 0.0, 1e-8) << to_string(law);
    EXPECT_NEAR((velocity(stage_one_setup(p, StageOneForm::reduced)) - u).norm(), 0.0, 1e-8) << to_string(law);
  }
}

TEST(StageOne, FlopCountsOfThePaper) {
  const StageOneFlops sixteen = stage_one_flops(18, 16, 4, 4), twelve = stage_one_flops(18, 12, 4, 4);
  EXPECT_DOUBLE_EQ(std::round(sixteen.plain), 77729.0);
  EXPECT_DOUBLE_EQ(std::round(twelve.plain), 62109.0);
  EXPECT_NEAR(sixteen.reduced / 73163.0, 1.0, 0.01);
  EXPECT_NEAR(twelve.reduced / 102457.0, 1.0, 0.01);
  EXPECT_EQ(sixteen.cheaper(), StageOneForm::reduced);
  EXPECT_EQ(twelve.cheaper(), StageOneForm::plain);
}

TEST(StageOne, RefusesWhatItCannotReduce) {
  ContactProblem p = prescribed_robot(2, 9, 1);
  p.prescribed = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  p.v_prescribed = VectorXd::Zero(9);
  EXPECT_THROW(stage_one_setup(p, StageOneForm::plain), InvalidArgument);
}

}  // namespace
}  // namespace stiction
