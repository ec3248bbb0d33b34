// Twenty thousand random, degenerate, rank-deficient, infeasible and unbounded problems: each ends solved, with its residual recomputed
// here, or infeasible; never NaN. STICTION_FUZZ names another number of problems of each kind. Also: no heap allocation once warm.
#include <cstdlib>

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/programs/qp/kinetic_qp.hpp"
#include "stiction/programs/qp/qp_reference.hpp"
#include "stiction/programs/qp/range_qp.hpp"

namespace stiction::qp_fuzz_test {
namespace {

using Eigen::VectorXd;
using reference::Random;

constexpr double kSolved = 1e-11;

struct Tally {
  int solved = 0, infeasible = 0;
  void count(Status status, double residual, unsigned seed) {
    ASSERT_TRUE(status == Status::solved || status == Status::infeasible) << "seed " << seed << " status " << static_cast<int>(status);
    if (status == Status::infeasible) {
      ++infeasible;
      return;
    }
    ++solved;
    ASSERT_LE(residual, kSolved) << "seed " << seed;
  }
};

unsigned problems(unsigned usual) {
  const char* wanted = std::getenv("STICTION_FUZZ");
  return wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : usual;
}

int size(Random& random) { return random.integer(0, random.chance(0.1) ? 60 : 12); }
int width(Random& random) { return random.integer(1, random.chance(0.2) ? 20 : 6); }

TEST(QpFuzz, Bounded) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  QpResidualScratch scratch;
  Tally tally;
  for (unsigned seed = 0; seed < problems(8000); ++seed) {
    Random random(seed);
    const int n = size(random), r = width(random);
    const RowMatrix A = random.rows(n, r) * std::pow(10.0, random.chance(0.2) ? random.integer(-6, 6) : 0);
    const VectorXd y0 = -random.vector(r), c = random.vector(n), x0 = random.vector(n);
    VectorXd lo, hi;
    random.bounds(n, lo, hi);
    KineticQp qp{.A = A, .y0 = y0, .lo = lo, .hi = hi};
    if (random.chance(0.5)) qp.c = c;
    if (random.chance(0.3)) qp.x0 = x0;
    const Status status = kinetic_qp(qp, {}, ws, s);
    ASSERT_TRUE(s.x.allFinite() && s.y.allFinite()) << seed;
    ASSERT_NO_FATAL_FAILURE(tally.count(status, qp_residual(qp, s.x, s.mu, scratch).worst(), seed));
  }
  EXPECT_GT(tally.solved, 4000);
  EXPECT_GT(tally.infeasible, 500);
}

TEST(QpFuzz, Range) {
  RangeQpWorkspace ws;
  RangeQpSolution s;
  QpResidualScratch scratch;
  Tally tally;
  for (unsigned seed = 0; seed < problems(6000); ++seed) {
    Random random(seed);
    const int n = size(random), w = width(random), p = random.integer(1, 4);
    const RowMatrix W = random.rows(n, w), E = random.rows(n, p);
    const VectorXd t = random.vector(w);
    VectorXd lo, hi, x0 = random.vector(n), e = random.vector(p);
    random.bounds(n, lo, hi);
    for (int j = 0; j < n; ++j) x0[j] = std::clamp(random.chance(0.5) ? 0.0 : x0[j], lo[j], hi[j]);
    if (random.chance(0.7)) e = E.transpose() * x0;
    RangeQp qp{.W = W, .t = t, .E = E, .e = e, .lo = lo, .hi = hi};
    if (random.chance(0.7)) qp.x0 = x0;
    const Status status = range_qp(qp, {}, ws, s);
    ASSERT_TRUE(s.x.allFinite() && s.nu.allFinite()) << seed;
    ASSERT_NO_FATAL_FAILURE(tally.count(status, qp_residual(qp, s.x, s.nu, scratch).worst(), seed));
  }
  EXPECT_GT(tally.solved, 3000);
  EXPECT_GT(tally.infeasible, 300);
}

TEST(QpFuzz, Kinetic) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  QpResidualScratch scratch;
  Tally tally;
  for (unsigned seed = 0; seed < problems(6000); ++seed) {
    Random random(seed);
    const int n = size(random), r = width(random), m = random.integer(1, 8);
    const RowMatrix A = random.rows(n, r), C = random.rows(m, r);
    const VectorXd y0 = random.vector(r), x0 = random.vector(n);
    VectorXd d = random.vector(m);
    if (random.chance(0.6)) d = C * (A.transpose() * x0.cwiseAbs()) - VectorXd::NullaryExpr(m, [&] { return random.integer(0, 1); });
    KineticQp qp{.A = A, .y0 = y0, .C = C, .d = d};
    if (random.chance(0.3)) qp.x0 = x0;
    const VectorXd c = random.vector(n);
    VectorXd lo, hi;
    random.bounds(n, lo, hi);
    if (random.chance(0.3)) qp.lo = lo, qp.hi = hi;
    if (random.chance(0.2)) qp.c = c;
    const Status status = kinetic_qp(qp, {}, ws, s);
    ASSERT_TRUE(s.x.allFinite() && s.mu.allFinite()) << seed;
    ASSERT_NO_FATAL_FAILURE(tally.count(status, qp_residual(qp, s.x, s.mu, scratch).worst(), seed));
  }
  EXPECT_GT(tally.solved, 3000);
  EXPECT_GT(tally.infeasible, 300);
}

TEST(QpFuzz, OverflowIsReportedAndNeverReturned) {
  const RowMatrix A = RowMatrix::Constant(3, 2, 1e150), C = RowMatrix::Constant(1, 2, 1e150);
  for (const double size : {1e150, 1e200, 1e300}) {
    const VectorXd t = VectorXd::Constant(2, size), y0 = -t, one = VectorXd::Constant(1, size);
    KineticQpWorkspace bounded_ws;
    KineticQpSolution bounded;
    kinetic_qp({.A = A, .y0 = y0}, {}, bounded_ws, bounded);
    EXPECT_TRUE(bounded.x.allFinite() && bounded.y.allFinite());
    RangeQpWorkspace range_ws;
    RangeQpSolution range;
    const RowMatrix E = A.leftCols(1);
    range_qp({.W = A, .t = t, .E = E, .e = one}, {}, range_ws, range);
    EXPECT_TRUE(range.x.allFinite() && range.y.allFinite() && range.nu.allFinite());
    EXPECT_EQ(range.x.size(), 3);
    KineticQpWorkspace kinetic_ws;
    KineticQpSolution kinetic;
    kinetic_qp({.A = A, .y0 = y0, .C = C, .d = one}, {}, kinetic_ws, kinetic);
    EXPECT_TRUE(kinetic.x.allFinite() && kinetic.y.allFinite() && kinetic.mu.allFinite());
    EXPECT_EQ(kinetic.x.size(), 3);
    if (size > 1e160) {
      EXPECT_NE(bounded.status, Status::solved);
      EXPECT_NE(range.status, Status::solved);
      EXPECT_NE(kinetic.status, Status::solved);
    }
  }
}

TEST(QpAllocation, NoneOnceWarm) {
  ASSERT_TRUE(allocations_are_counted());
  KineticQpWorkspace bounded_ws;
  KineticQpSolution bounded;
  RangeQpWorkspace range_ws;
  RangeQpSolution range;
  KineticQpWorkspace kinetic_ws;
  KineticQpSolution kinetic;
  std::vector<reference::BipedScene> scenes;
  std::vector<VectorXd> sides;
  const VectorXd tau = VectorXd::Constant(38, 0.3);
  for (unsigned seed = 0; seed < 24; ++seed) {
    scenes.push_back(reference::biped(seed % 3 == 0 ? 40 : seed % 3 == 1 ? 24 : 7, seed, 38));
    sides.emplace_back(-0.5 * scenes.back().C * scenes.back().y0);
  }
  const auto solve_all = [&] {
    for (std::size_t i = 0; i < scenes.size(); ++i) {
      kinetic_qp({.A = scenes[i].A, .y0 = scenes[i].y0}, {}, bounded_ws, bounded);
      range_qp({.W = scenes[i].W, .t = tau, .E = scenes[i].A, .e = bounded.y, .x0 = bounded.x}, {}, range_ws, range);
      kinetic_qp({.A = scenes[i].A, .y0 = scenes[i].y0, .C = scenes[i].C, .d = sides[i]}, {}, kinetic_ws, kinetic);
    }
  };
  solve_all();
  const std::size_t before = allocation_count();
  solve_all();
  EXPECT_EQ(allocation_count() - before, 0U);
}

}  // namespace
}  // namespace stiction::qp_fuzz_test
