// Many bodies: the block-sparse defaults give the motion of the dense methods, in few steps, and pass on what they cannot solve.
#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::walls_test {
namespace {

using namespace testing_problems;

constexpr double kDt = 1e-3;

/// Bricks of 0.2 x 0.1 x 0.1 m, `width` of them in the lowest row and each on two of the row below, 4 contacts each; they fall, and move
/// a little at random. Masses 1 to 10^decades kg.
ContactProblem brick_wall(std::mt19937& rng, int width, double decades = 1.0) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const int bricks = width * (width + 1) / 2;
  const std::vector<int> sizes(bricks, 6);
  ContactProblem p;
  p.dt = kDt;
  p.M.reset(sizes);
  p.v = 0.1 * VectorXd::NullaryExpr(6 * bricks, [&] { return normal(rng); });
  p.impulse.setZero(6 * bricks);
  p.J.reset(3, sizes);
  p.J_b.reset(1, sizes);
  for (int row = 0, b = 0; row < width; ++row) {
    for (int column = 0; column < width - row; ++column, ++b) {
      const double mass = std::pow(10.0, decades * uniform(rng));
      p.M.block(b) = (mass * Eigen::Matrix<double, 6, 1>(1, 1, 1, 1.7e-3, 4.2e-3, 4.2e-3)).asDiagonal();
      p.impulse[6 * b + 2] = -9.81 * kDt * mass;
      const int below = b - (width - row + 1);  // the left one of the two
      for (const int side : {0, 1}) {
        for (const double depth : {-0.05, 0.05}) {
          p.J.add_group();
          p.J.add_entry(b) = body_rows({side == 0 ? -0.05 : 0.05, depth, -0.05}, upright());
          if (row > 0) p.J.add_entry(below + side) = -body_rows({side == 0 ? 0.05 : -0.05, depth, 0.05}, upright());
        }
      }
    }
  }
  const int n = p.J.groups();
  p.mu = VectorXd::NullaryExpr(n, [&] { return 0.3 + 0.6 * uniform(rng); });
  p.restitution.setZero(n);
  p.gap.setZero(n);
  ContactMaterial material;
  material.viscosity = 50.0;
  p.material.assign(n, material);
  return p;
}

/// A box on the twist of every third brick about the vertical.
void add_bounded_rows(ContactProblem& p, std::mt19937& rng) {
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int b = 0; b < p.M.blocks(); b += 3) {
    p.J_b.add_group();
    p.J_b.add_entry(b)(0, 5) = 1.0;
  }
  const int m = p.J_b.groups();
  p.b.setZero(m);
  p.hi = VectorXd::NullaryExpr(m, [&] { return 1e-4 * uniform(rng); });
  p.lo = -p.hi;
}

struct Case {
  Law law;
  Solver solver;
};

std::string name_of(const testing::TestParamInfo<Case>& instance) {
  return std::string(to_string(instance.param.law)) + "_" + std::string(to_string(instance.param.solver));
}

class Walls : public testing::TestWithParam<Case> {};

TEST_P(Walls, BlockSparseDefaultGivesTheMotionOfTheDenseMethod) {
  const Case c = GetParam();
  std::mt19937 rng(21);
  SolveWorkspace w, dense;
  Solution s, reference;
  for (int trial = 0; trial < 8; ++trial) {
    ContactProblem p = brick_wall(rng, 4, trial % 2 == 0 ? 1.0 : 3.0);
    if (trial % 4 >= 2) p.gap[trial] = 1e-3;  // one contact is open
    if (trial >= 4) add_bounded_rows(p, rng);
    solve(p, with(c.law), w, s);
    EXPECT_EQ(choose_solver(w.reduction.reduced, with(c.law)), c.solver);
    EXPECT_EQ(s.status, Status::solved) << trial << " " << s.certificate.worst();
    solve(p, with(c.law, Solver::active_set), dense, reference);
    EXPECT_EQ(reference.status, Status::solved) << trial << " " << reference.certificate.worst();
    EXPECT_LT((s.v - reference.v).norm(), 1e-8 * (1.0 + reference.v.norm())) << trial;
  }
}

TEST_P(Walls, StepsHardlyGrowWithTheBodies) {
  constexpr int kWalls = 5;  // of each width: one more or less step of a single wall says nothing
  const Case c = GetParam();
  std::mt19937 rng(22);
  int steps[2] = {};
  for (const int width : {7, 14}) {  // 28 and 105 bricks
    for (int k = 0; k < kWalls; ++k) {
      const ContactProblem p = brick_wall(rng, width);
      const Solution s = solve(p, with(c.law));
      EXPECT_EQ(s.status, Status::solved) << width << " " << s.certificate.worst();
      steps[width == 14] += s.iterations;
    }
  }
  EXPECT_LE(steps[0], 20 * kWalls);
  EXPECT_LE(steps[1], 2 * steps[0]);
}

TEST_P(Walls, AllocationNoneOnceGrown) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  std::mt19937 rng(23);
  std::vector<ContactProblem> problems{brick_wall(rng, 6), brick_wall(rng, 4), brick_wall(rng, 5)};
  add_bounded_rows(problems[1], rng);
  SolveWorkspace w;
  Solution s;
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (const ContactProblem& p : problems) solve(p, with(GetParam().law), w, s);
  }
  for (const ContactProblem& p : problems) {
    const std::size_t before = allocation_count();
    solve(p, with(GetParam().law), w, s);
    EXPECT_EQ(allocation_count() - before, 0u) << p.contacts() << " contacts";
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, Walls,
                         testing::Values(Case{Law::frictionless, Solver::interior_point}, Case{Law::no_slip, Solver::interior_point},
                                         Case{Law::viscous, Solver::newton}, Case{Law::max_dissipation, Solver::interior_point}),
                         name_of);

TEST(Walls, ViscousWithTheSlipBeforeTheStepAgreesToo) {
  std::mt19937 rng(24);
  for (int trial = 0; trial < 4; ++trial) {
    ContactProblem p = brick_wall(rng, 4);
    if (trial >= 2) add_bounded_rows(p, rng);
    SolveOptions options = with(Law::viscous);
    options.viscous_slip = ViscousSlip::before;
    const Solution s = solve(p, options);
    options.solver = Solver::active_set;
    const Solution reference = solve(p, options);
    EXPECT_EQ(s.status, Status::solved) << s.certificate.worst();
    EXPECT_LT((s.v - reference.v).norm(), 1e-8);
  }
}

TEST(Walls, ContradictingTangentsAreRefuted) {
  std::mt19937 rng(25);
  ContactProblem p = brick_wall(rng, 4);
  p.prescribed = {0, 1, 2, 3, 4, 5};
  p.v_prescribed.setZero(6);
  p.v_prescribed[5] = 1.0;  // a brick that turns on the spot, and may not slip
  const Solution s = solve(p, with(Law::no_slip));
  EXPECT_EQ(s.status, Status::infeasible);
  EXPECT_TRUE(proves_infeasible(p, with(Law::no_slip), s.ray));
  EXPECT_TRUE(s.v.allFinite());
}

TEST(HalfSpaces, NewtonSolvesViscousOfAnySize) {
  std::mt19937 rng(26);
  for (int trial = 0; trial < 30; ++trial) {
    const int n = 1 + trial % 6;
    ContactProblem p = random_robot(rng, 9 + trial % 7, n, 0.5, 2e-3);
    p.material.assign(n, {});
    for (ContactMaterial& m : p.material) m.viscosity = std::pow(10.0, trial % 12 - 3);
    const Solution s = solve(p, with(Law::viscous, Solver::newton)), reference = solve(p, with(Law::viscous, Solver::goldfarb_idnani));
    EXPECT_EQ(s.status, Status::solved) << trial << " " << s.certificate.worst();
    EXPECT_LT((s.v - reference.v).norm(), 1e-8 * (1.0 + reference.v.norm())) << trial;
  }
}

}  // namespace
}  // namespace stiction::walls_test
