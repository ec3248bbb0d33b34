// A control loop's Coulomb law: how many linear systems the slowest state of a standing biped takes.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "bench/biped.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"

namespace stiction::coulomb_budget_test {
namespace {

// Systems of the slowest of 64 states, from the second round on. What is asked for is off by some of its own rounding.
int slowest(const bench::Biped& biped, bool warm, int roundings) {
  InverseOptions options;
  options.contact.law = Law::coulomb_pyramid;
  options.contact.warm_start = warm;
  InverseWorkspace workspace;
  InverseSolution s;
  int most = 0;
  const std::size_t states = biped.problems.size();
  for (std::size_t call = 0; call < 2 * states; ++call) {
    const bench::BipedProblem& p = biped.problems[call % states];
    const Eigen::VectorXd v_desired = (1.0 + roundings * std::numeric_limits<double>::epsilon()) * p.v_desired;
    inverse_dynamics(p.problem, biped.joints, v_desired, {}, options, workspace, s);
    EXPECT_EQ(s.status, Status::solved) << call;
    if (call >= states) most = std::max(most, s.iterations);
  }
  return most;
}

// Where a foot comes or goes, two heels share the load while velocities differ by 1e-8 m/s: with three contacts more a round, four steps
// from a warm start, or Newton given up at a rise from so little, these states took the central path and 51 to 60 systems. At 64
// contacts rounding decides whether the slowest from a warm start takes 20 or 34.
TEST(CoulombBudget, OfABipedOnManyContactsNoStateTakesAPathThatCreeps) {
  constexpr int kStates = 64, kCold = 40;
  struct Case {
    int contacts, warm;
  };
  for (const auto [contacts, warm] : {Case{24, 30}, Case{40, 30}, Case{64, 40}}) {
    const bench::Biped biped = bench::make_biped(contacts, 0.6, kStates);
    for (const int roundings : {-4, 0, 4}) {
      EXPECT_LE(slowest(biped, true, roundings), warm) << contacts;
      EXPECT_LE(slowest(biped, false, roundings), kCold) << contacts;
    }
  }
}

}  // namespace
}  // namespace stiction::coulomb_budget_test
