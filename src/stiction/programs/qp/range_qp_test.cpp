#include "stiction/programs/qp/range_qp.hpp"

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/programs/qp/kinetic_qp.hpp"
#include "stiction/programs/qp/qp_reference.hpp"

namespace stiction::range_qp_test {
namespace {

using Eigen::VectorXd;
using reference::Random;

double residual(const RangeQp& qp, const RangeQpSolution& s) {
  QpResidualScratch scratch;
  return qp_residual(qp, s.x, s.nu, scratch).worst();
}

/// x within the bounds, about half of its entries strictly inside.
VectorXd feasible_point(Random& random, const VectorXd& lo, const VectorXd& hi) {
  VectorXd x = random.vector(static_cast<int>(lo.size()));
  for (Eigen::Index j = 0; j < x.size(); ++j) x[j] = std::clamp(random.chance(0.5) ? 0.0 : x[j], lo[j], hi[j]);
  return x;
}

TEST(RangeQp, SharesALoadByLeastSquares) {
  // minimise |x|²/2, sum of x = 6, x_0 <= 1: by symmetry x = (1, 2.5, 2.5).
  const RowMatrix W = RowMatrix::Identity(3, 3), E = RowMatrix::Ones(3, 1);
  const VectorXd e = VectorXd::Constant(1, 6.0), hi = Eigen::Vector3d(1.0, 9.0, 9.0);
  RangeQpWorkspace ws;
  RangeQpSolution s;
  ASSERT_EQ(range_qp({.W = W, .E = E, .e = e, .hi = hi}, {}, ws, s), Status::solved);
  EXPECT_NEAR((s.x - Eigen::Vector3d(1.0, 2.5, 2.5)).norm(), 0.0, 1e-13);
  EXPECT_NEAR(s.nu[0], 2.5, 1e-13);
}

TEST(RangeQp, ObjectiveAgreesWithEnumeration) {
  RangeQpWorkspace ws;
  RangeQpSolution s;
  for (unsigned seed = 0; seed < 150; ++seed) {
    Random random(seed);
    const int n = random.integer(1, 5), w = random.integer(1, 4), p = random.integer(1, 3);
    const RowMatrix W = random.rows(n, w), E = random.rows(n, p);
    const VectorXd t = random.vector(w);
    VectorXd lo, hi, x;
    random.bounds(n, lo, hi);
    const VectorXd x0 = feasible_point(random, lo, hi), e = E.transpose() * x0;
    RangeQp qp{.W = W, .t = t, .E = E, .e = e, .lo = lo, .hi = hi};
    if (seed % 2 == 0) qp.x0 = x0;
    ASSERT_EQ(range_qp(qp, {}, ws, s), Status::solved) << seed;
    const reference::DenseQp dense{.H = W * W.transpose(), .f = -W * t, .lo = lo, .hi = hi, .E = E, .e = e, .C = {}, .d = {}};
    const double best = reference::enumerate(dense, x), scale = 1.0 + t.squaredNorm() + e.squaredNorm();
    const VectorXd got = s.x;
    EXPECT_NEAR(0.5 * got.dot(dense.H * got) + dense.f.dot(got), best, 1e-8 * scale) << seed;
    EXPECT_NEAR((W.transpose() * x - s.y).norm(), 0.0, 1e-5 * scale) << seed;
    EXPECT_LE((E.transpose() * got - e).norm(), 1e-12 * scale) << seed;
  }
}

TEST(RangeQp, InfeasibleIsProved) {
  RangeQpWorkspace ws;
  RangeQpSolution s;
  int proved = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const int n = random.integer(1, 8), w = random.integer(1, 4), p = random.integer(1, 3);
    const RowMatrix W = random.rows(n, w), E = random.rows(n, p);
    VectorXd lo, hi;
    random.bounds(n, lo, hi);
    const VectorXd t = random.vector(w), e = random.vector(p);
    const Status status = range_qp({.W = W, .t = t, .E = E, .e = e, .lo = lo, .hi = hi}, {}, ws, s);
    if (status == Status::solved) {
      EXPECT_EQ(s.farkas.size(), 0);
      continue;
    }
    ASSERT_EQ(status, Status::infeasible) << seed;
    const VectorXd slope = E * s.farkas;
    double reach = 0.0;  // max over the box of πᵀEᵀx
    for (int j = 0; j < n; ++j) {
      const double bound = slope[j] > 0.0 ? hi[j] : lo[j];
      if (std::isfinite(bound)) {
        reach += slope[j] * bound;
      } else {
        EXPECT_NEAR(slope[j], 0.0, 1e-8) << seed;
      }
    }
    EXPECT_GT(s.farkas.dot(e), reach) << seed;
    ++proved;
  }
  EXPECT_GT(proved, 30);
}

TEST(RangeQp, SecondStageKeepsTheMotionAndLowersTheTorques) {
  KineticQpWorkspace stage_one;
  KineticQpSolution first;
  RangeQpWorkspace ws;
  RangeQpSolution s;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const int joints = seed % 3 == 0 ? 12 : seed % 3 == 1 ? 24 : 38;
    const reference::BipedScene scene = reference::biped(40, seed, joints);
    const VectorXd tau = VectorXd::Constant(joints, 0.3);
    ASSERT_EQ(kinetic_qp({.A = scene.A, .y0 = scene.y0}, {}, stage_one, first), Status::solved);
    const RangeQp qp{.W = scene.W, .t = tau, .E = scene.A, .e = first.y, .x0 = first.x};
    ASSERT_EQ(range_qp(qp, {}, ws, s), Status::solved) << seed;
    EXPECT_LE(residual(qp, s), 1e-11) << seed;
    EXPECT_LE((scene.A.transpose() * s.x - first.y).norm(), 1e-12 * scene.y0.norm());
    EXPECT_LE((s.y - tau).norm(), (scene.W.transpose() * first.x - tau).norm() * (1.0 + 1e-12));
    EXPECT_GE(s.x.minCoeff(), 0.0);
  }
}

TEST(RangeQp, StartingPointDoesNotChangeTheTorques) {
  RangeQpWorkspace ws;
  RangeQpSolution cold, warm;
  for (unsigned seed = 0; seed < 30; ++seed) {
    const reference::BipedScene scene = reference::biped(20, seed);
    Random random(seed);
    const VectorXd t = random.vector(12), x0 = random.vector(80).cwiseAbs(), e = scene.A.transpose() * x0;
    RangeQp qp{.W = scene.W, .t = t, .E = scene.A, .e = e};
    ASSERT_EQ(range_qp(qp, {}, ws, cold), Status::solved);
    qp.x0 = cold.x;
    qp.nu0 = cold.nu;
    ASSERT_EQ(range_qp(qp, {}, ws, warm), Status::solved);
    EXPECT_LE(warm.pivots, 1);
    EXPECT_NEAR((cold.y - warm.y).norm(), 0.0, 1e-10 * cold.y.norm());
    qp.x0 = x0;
    qp.nu0 = {};
    ASSERT_EQ(range_qp(qp, {}, ws, warm), Status::solved);
    EXPECT_NEAR((cold.y - warm.y).norm(), 0.0, 1e-9 * (1.0 + cold.y.norm())) << seed;
  }
}

// Two variables share a sum; the second takes what a target far below the other terms asks for, though stiffness makes its slope small.
TEST(RangeQp, SlopesFarBelowTheTermsOfTheEqualitiesCount) {
  const RowMatrix W{{0.0, 0.0}, {0.1, 0.0}, {0.0, 1.0}}, E{{1.0}, {1.0}, {0.0}};
  const VectorXd t = Eigen::Vector2d(8e-9, 1.0), e = VectorXd::Ones(1), lo = VectorXd::Zero(3),
                 hi = Eigen::Vector3d(kInfinity, kInfinity, 0.0);
  RangeQpWorkspace ws;
  RangeQpSolution s;
  EXPECT_EQ(range_qp({.W = W, .t = t, .E = E, .e = e, .lo = lo, .hi = hi}, {}, ws, s), Status::solved);
  EXPECT_NEAR(s.x[1], 8e-8, 1e-13);
  EXPECT_NEAR(s.x[0], 1.0 - 8e-8, 1e-13);
}

TEST(RangeQp, RedundantEqualitiesAndNone) {
  Random random(4);
  const RowMatrix W = random.plain(30, 4), part = random.plain(30, 2);
  RowMatrix E(30, 5);
  E << part, part.col(0) + part.col(1), part.col(0), RowMatrix::Zero(30, 1);
  const VectorXd t = random.vector(4), y0 = -t, x0 = random.vector(30).cwiseAbs(), e = E.transpose() * x0;
  RangeQpWorkspace ws;
  RangeQpSolution s, plain;
  RangeQp qp{.W = W, .t = t, .E = E, .e = e, .x0 = x0};
  ASSERT_EQ(range_qp(qp, {}, ws, s), Status::solved);
  EXPECT_LE(residual(qp, s), 1e-11);
  qp.E = part;
  const VectorXd part_e = part.transpose() * x0;
  qp.e = part_e;
  ASSERT_EQ(range_qp(qp, {}, ws, plain), Status::solved);
  EXPECT_NEAR((s.y - plain.y).norm(), 0.0, 1e-10);
  ASSERT_EQ(range_qp({.W = W, .t = t}, {}, ws, s), Status::solved);
  KineticQpWorkspace bounded_ws;
  KineticQpSolution bounded;
  ASSERT_EQ(kinetic_qp({.A = W, .y0 = y0}, {}, bounded_ws, bounded), Status::solved);
  EXPECT_NEAR((s.y - bounded.y).norm(), 0.0, 1e-12);
}

TEST(RangeQp, BadInputIsNamed) {
  RangeQpWorkspace ws;
  RangeQpSolution s;
  const RowMatrix W = RowMatrix::Ones(3, 2), E = RowMatrix::Ones(2, 1);
  const VectorXd e = VectorXd::Ones(1), two = VectorXd::Ones(2);
  EXPECT_THROW(range_qp({.W = W, .E = E, .e = e}, {}, ws, s), InvalidArgument);
  EXPECT_THROW(range_qp({.W = W, .E = W, .e = e}, {}, ws, s), InvalidArgument);
  EXPECT_THROW(range_qp({.W = W, .t = e}, {}, ws, s), InvalidArgument);
  EXPECT_THROW(range_qp({.W = W, .E = W, .e = two, .nu0 = e}, {}, ws, s), InvalidArgument);
}

}  // namespace
}  // namespace stiction::range_qp_test
