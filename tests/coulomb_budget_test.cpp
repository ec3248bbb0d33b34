// A control loop's Coulomb law: how many linear systems the slowest state of a standing biped takes.
#include <algorithm>

#include <gtest/gtest.h>

#include "bench/biped.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"

namespace stiction {
namespace {

// Systems of the slowest of 64 states, from the second round on.
int slowest(const bench::Biped& biped, bool warm) {
  InverseOptions options;
  options.contact.law = Law::coulomb_pyramid;
  options.contact.warm_start = warm;
  InverseWorkspace workspace;
  InverseSolution s;
  int most = 0;
  const std::size_t states = biped.problems.size();
  for (std::size_t call = 0; call < 2 * states; ++call) {
    const bench::BipedProblem& p = biped.problems[call % states];
    inverse_dynamics(p.problem, biped.joints, p.v_desired, {}, options, workspace, s);
    EXPECT_EQ(s.status, Status::solved) << call;
    if (call >= states) most = std::max(most, s.iterations);
  }
  return most;
}

// Where a foot comes or goes, two heels share the load while velocities differ by 1e-8 m/s: with three contacts more a round, four steps
// from a warm start, or Newton given up at a rise from so little, these states took the central path and 51 to 60 systems.
TEST(CoulombBudget, OfABipedOnManyContactsNoStateTakesAPathThatCreeps) {
  constexpr int kStates = 64, kWarm = 30, kCold = 40;
  for (const int contacts : {24, 40, 64}) {
    const bench::Biped biped = bench::make_biped(contacts, 0.6, kStates);
    EXPECT_LE(slowest(biped, true), kWarm) << contacts;
    EXPECT_LE(slowest(biped, false), kCold) << contacts;
  }
}

}  // namespace
}  // namespace stiction
