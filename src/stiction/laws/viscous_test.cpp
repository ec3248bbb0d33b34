// Viscous friction of any size against the closed form of a box that slides without turning.
#include "stiction/laws/viscous.hpp"

#include <gtest/gtest.h>

#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::viscous_test {
namespace {

using namespace testing_problems;

// Four corners of D = h η each: m v = m v₀ - 4 D v, and in all -4 D v of the tangents.
TEST(Viscous, BoxIsBrakedByFrictionOfAnySize) {
  constexpr double kMass = 2.0, kSpeed = 0.1, kDt = 1e-3;
  for (int exponent = -3; exponent <= 300; ++exponent) {
    ContactProblem p = box_on_slope(kMass, {0.3, 0.2, 0.05}, 0.0, 0.5, kDt, {kSpeed, 0.0, -0.1});
    p.material.assign(4, {.viscosity = std::pow(10.0, exponent)});
    const double D = kDt * p.material[0].viscosity, braked = -kMass * kSpeed / (1.0 + kMass / (4.0 * D));
    for (const Solver solver :
         {Solver::automatic, Solver::newton, Solver::goldfarb_idnani, Solver::ppm, Solver::active_set, Solver::lemke}) {
      const Solution s = solve(p, with(Law::viscous, solver));
      const bool any_size = solver == Solver::automatic || solver == Solver::newton;
      if (any_size || exponent <= 10) {
        EXPECT_EQ(s.status, Status::solved) << exponent << " " << to_string(solver) << " " << s.certificate.worst();
      }
      ASSERT_TRUE(s.v.allFinite() && s.impulses.allFinite()) << exponent << " " << to_string(solver);
      if (s.status != Status::solved) continue;
      double tangential = 0.0;
      for (int i = 0; i < 4; ++i) tangential += s.impulses[3 * i + 1];
      EXPECT_NEAR(tangential, braked, 1e-9 * kMass * kSpeed) << exponent << " " << to_string(solver);
    }
  }
}

}  // namespace
}  // namespace stiction::viscous_test
