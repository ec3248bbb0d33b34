// A control loop's stage two: how much work the slowest state of a standing biped takes, in pivots.
#include <algorithm>

#include <gtest/gtest.h>

#include "bench/biped.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"

namespace stiction::stage_two_budget_test {
namespace {

// Of 160 weights at most 18 are free at an optimum, six for the motion and one per joint: twice that brings each in once, and takes each
// of the last state's out. Solved on to rounding, states with weights that are zero to rounding took 150.
TEST(StageTwoBudget, OfABipedOnFortyContactsNoStateTakesMorePivotsThanWeightsCanChange) {
  constexpr int kContacts = 40, kStates = 64, kRounds = 2;
  const bench::Biped biped = bench::make_biped(kContacts, 0.6, kStates);
  InverseOptions options;
  options.contact.law = Law::max_dissipation;
  options.choice = Choice::least_torque;
  InverseWorkspace workspace;
  InverseSolution s;
  const int most = 2 * (6 + static_cast<int>(biped.joints.size()));
  for (int call = 0; call < kRounds * kStates; ++call) {
    const bench::BipedProblem& p = biped.problems[call % kStates];
    inverse_dynamics(p.problem, biped.joints, p.v_desired, {}, options, workspace, s);
    ASSERT_EQ(s.status, Status::solved) << call;
    EXPECT_TRUE(s.choice_met) << call;
    EXPECT_LE(s.certificate.worst(), options.contact.tolerance) << call;
    EXPECT_LE(workspace.stage_two.solution.pivots, most) << call;
  }
}

}  // namespace
}  // namespace stiction::stage_two_budget_test
