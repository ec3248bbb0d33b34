// Soft laws next to hard ones: what Newton on the primal leaves in rounding, the polish takes away.
#include "stiction/laws/interior.hpp"

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"
#include "stiction/problem/reduced_certificate.hpp"

namespace stiction::soft_polish_test {
namespace {

using namespace testing_problems;

ContactProblem softened(std::mt19937& rng, int n, double regularization) {
  ContactProblem p = random_robot(rng, 12, n, 0.5);
  p.material.assign(n, {.stiffness = 1e4, .dissipation_time = 0.01, .regularization = regularization});
  if (n > 1) p.mu[1] = kInfinity;
  return p;
}

// From a point that is wrong by a thousandth it returns the one Newton found.
TEST(SoftPolish, FindsThePointOfThePrimal) {
  std::mt19937 rng(5);
  for (int trial = 0; trial < 12; ++trial) {
    ContactProblem p = softened(rng, 1 + trial % 4, trial % 3 == 0 ? 1e-6 : 1e-2);
    const Law law = trial % 2 == 0 ? Law::todorov : Law::sap;
    SolveWorkspace w;
    Solution s;
    solve(p, with(law), w, s);
    ASSERT_EQ(s.status, Status::solved) << trial;
    Impulses moved = w.impulses;
    moved.lambda *= 1.001;
    InteriorWorkspace polish;
    ASSERT_TRUE(can_polish_convex(w.form));
    polish_convex(w.form, 1000, polish, moved);
    EXPECT_EQ(moved.status, Status::solved) << trial;
    EXPECT_LE(certify(w.reduction.reduced, lowered(w.reduction.reduced, with(law)), moved.lambda, moved.beta).worst(), 1e-10) << trial;
    EXPECT_NEAR((moved.lambda - w.impulses.lambda).norm(), 0.0, 1e-6 * w.impulses.lambda.norm()) << trial;
  }
}

TEST(SoftPolish, NothingOverPolygonsOrWithoutACone) {
  std::mt19937 rng(6);
  Reduction reduction;
  reduce(softened(rng, 2, 1e-3), reduction);
  for (const Law law : {Law::anitescu, Law::coulomb_cone}) {
    StandardForm form;
    make_standard_form(reduction.reduced, lowered(reduction.reduced, with(law)), form);
    EXPECT_FALSE(can_polish_convex(form));
  }
}

TEST(SoftPolishAllocation, NoneAfterWarmUp) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  std::mt19937 rng(7);
  const ContactProblem p = softened(rng, 4, 1e-3);
  SolveWorkspace w;
  Solution s;
  solve(p, with(Law::todorov), w, s);
  InteriorWorkspace polish;
  Impulses start = w.impulses, moved = start;
  for (int k = 0; k < 2; ++k) {
    moved = start;
    polish_convex(w.form, 1000, polish, moved);
  }
  moved = start;
  const std::size_t before = allocation_count();
  polish_convex(w.form, 1000, polish, moved);
  EXPECT_EQ(allocation_count() - before, 0u);
}

}  // namespace
}  // namespace stiction::soft_polish_test
