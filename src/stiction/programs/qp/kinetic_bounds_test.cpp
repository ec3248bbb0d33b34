// The QP without rows C y >= d.
#include "stiction/programs/qp/kinetic_qp.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/programs/qp/qp_reference.hpp"

namespace stiction::kinetic_bounds_test {
namespace {

using Eigen::VectorXd;
using reference::Random;

double residual(const KineticQp& qp, const KineticQpSolution& s) {
  QpResidualScratch scratch;
  return qp_residual(qp, s.x, s.mu, scratch).worst();
}

TEST(KineticQpBounds, OneVariableInClosedForm) {
  const RowMatrix A = RowMatrix::Constant(1, 1, 2.0);
  KineticQpWorkspace ws;
  KineticQpSolution s;
  for (const double t : {3.0, -3.0}) {  // minimise (2 x - t)²/2 over x >= 0
    const VectorXd y0 = VectorXd::Constant(1, -t);
    ASSERT_EQ(kinetic_qp({.A = A, .y0 = y0}, {}, ws, s), Status::solved);
    EXPECT_DOUBLE_EQ(s.x[0], std::max(0.0, t / 2.0));
    EXPECT_DOUBLE_EQ(s.y[0], 2.0 * s.x[0]);
  }
}

TEST(KineticQpBounds, ProjectsOntoAnOrthant) {
  const RowMatrix A = RowMatrix::Identity(3, 3);
  const VectorXd y0 = Eigen::Vector3d(-1.0, 2.0, -3.0), hi = VectorXd::Constant(3, 2.0);
  KineticQpWorkspace ws;
  KineticQpSolution s;
  ASSERT_EQ(kinetic_qp({.A = A, .y0 = y0, .hi = hi}, {}, ws, s), Status::solved);
  EXPECT_EQ(VectorXd(s.y), VectorXd(Eigen::Vector3d(1.0, 0.0, 2.0)));
}

// y + 1 >= 0 and -y - 1 >= missing: both can only miss missing/2. Beyond rounding that is a contradiction, of rows that nothing moves too.
TEST(KineticQpBounds, RowsThatContradictEachOtherByRoundingAreMet) {
  const RowMatrix opposed = (RowMatrix(2, 1) << 1.0, -1.0).finished(), still = (RowMatrix(2, 1) << 1.0, 0.0).finished();
  KineticQpWorkspace ws;
  KineticQpSolution s;
  for (const double missing : {1e-12, 1e-6}) {
    for (const RowMatrix* A : {&opposed, &still}) {
      const VectorXd c = A == &opposed ? Eigen::Vector2d(1.0, -1.0 - missing) : Eigen::Vector2d(-1.0, -2.0 * missing);
      const Status status = kinetic_qp({.A = *A, .c = c}, {.contradiction = 1e-10}, ws, s);
      EXPECT_EQ(status == Status::infeasible, missing > 1e-10) << missing;
      const VectorXd velocities = *A * s.y + c;
      EXPECT_TRUE(missing > 1e-10 || velocities.minCoeff() >= -2.0 * missing) << velocities.transpose();
    }
  }
}

TEST(KineticQpBounds, ObjectiveAgreesWithEnumeration) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  int solved = 0;
  for (unsigned seed = 0; seed < 250; ++seed) {
    Random random(seed);
    const int n = random.integer(1, 5), r = random.integer(1, 4);
    const RowMatrix A = random.rows(n, r);
    const VectorXd t = random.vector(r), y0 = -t, c = random.vector(n);
    VectorXd lo, hi, x;
    random.bounds(n, lo, hi);
    KineticQp qp{.A = A, .y0 = y0, .lo = lo, .hi = hi};
    if (seed % 2 == 0) qp.c = c;
    const Status status = kinetic_qp(qp, {}, ws, s);
    if (status == Status::infeasible) continue;
    ASSERT_EQ(status, Status::solved) << seed;
    reference::DenseQp dense{.H = A * A.transpose(), .f = -A * t, .lo = lo, .hi = hi, .E = {}, .e = {}, .C = {}, .d = {}};
    if (seed % 2 == 0) dense.f += c;
    const double best = reference::enumerate(dense, x);
    const VectorXd got = s.x;
    const double scale = 1.0 + 0.5 * t.squaredNorm() + (seed % 2 == 0 ? c.cwiseAbs().dot(got.cwiseAbs()) : 0.0);
    EXPECT_NEAR(0.5 * got.dot(dense.H * got) + dense.f.dot(got), best, 1e-9 * scale) << seed;
    EXPECT_NEAR((A.transpose() * x - s.y).norm(), 0.0, 1e-6 * scale) << seed;
    ++solved;
  }
  EXPECT_GT(solved, 150);
}

TEST(KineticQpBounds, UnboundedIsProved) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  int proved = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const int n = random.integer(2, 12), r = random.integer(1, 4);
    const RowMatrix A = random.rows(n, r);
    const VectorXd c = random.vector(n);
    VectorXd lo, hi;
    random.bounds(n, lo, hi);
    const KineticQp qp{.A = A, .c = c, .lo = lo, .hi = hi};
    if (kinetic_qp(qp, {}, ws, s) != Status::infeasible) {
      EXPECT_EQ(s.direction.size(), 0);
      continue;
    }
    const VectorXd p = s.direction;
    EXPECT_LE((A.transpose() * p).norm(), 1e-9 * A.norm() * p.norm()) << seed;
    EXPECT_LT(c.dot(p), 0.0) << seed;
    for (int j = 0; j < n; ++j) {
      EXPECT_TRUE(p[j] <= 0.0 || hi[j] == kInfinity) << seed;
      EXPECT_TRUE(p[j] >= 0.0 || lo[j] == -kInfinity) << seed;
    }
    ++proved;
  }
  EXPECT_GT(proved, 50);
}

TEST(KineticQpBounds, FreeVariablesWithConsistentCost) {
  // The no-slip QP: free tangential variables, c = A b in the range of A, so the optimum over all free x has A(y + b) = 0.
  Random random(7);
  const RowMatrix A = random.plain(40, 6);
  const VectorXd b = random.vector(6), c = A * b, lo = VectorXd::Constant(40, -kInfinity);
  KineticQpWorkspace ws;
  KineticQpSolution s;
  const KineticQp qp{.A = A, .c = c, .lo = lo};
  ASSERT_EQ(kinetic_qp(qp, {}, ws, s), Status::solved);
  EXPECT_NEAR((s.y + b).norm(), 0.0, 1e-13);
  EXPECT_LE((s.x.array() != 0.0).count(), 6);
}

TEST(KineticQpBounds, InsideVariablesStayIndependent) {
  Random random(3);
  const RowMatrix A = random.plain(200, 3) * random.plain(3, 8);  // rank 3
  const VectorXd y0 = random.vector(8);
  KineticQpWorkspace ws;
  KineticQpSolution s;
  ASSERT_EQ(kinetic_qp({.A = A, .y0 = y0}, {}, ws, s), Status::solved);
  EXPECT_LE((s.x.array() > 0.0).count(), 3);
}

TEST(KineticQpBounds, WarmStartGivesTheSameMotionWithFewerPivots) {
  KineticQpWorkspace ws;
  KineticQpSolution cold, warm, next;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const reference::BipedScene scene = reference::biped(40, seed);
    VectorXd y0 = scene.y0;
    KineticQp qp{.A = scene.A, .y0 = y0};
    ASSERT_EQ(kinetic_qp(qp, {}, ws, cold), Status::solved);
    qp.x0 = cold.x;
    ASSERT_EQ(kinetic_qp(qp, {}, ws, warm), Status::solved);
    EXPECT_EQ(warm.pivots, 0);
    EXPECT_NEAR((warm.y - cold.y).norm(), 0.0, 1e-13 * y0.norm());
    y0 *= 1.001;
    ASSERT_EQ(kinetic_qp(qp, {}, ws, next), Status::solved);
    EXPECT_LT(next.pivots, std::max(2, cold.pivots));
  }
}

TEST(KineticQpBounds, StartsFromAnyPoint) {
  KineticQpWorkspace ws;
  KineticQpSolution cold, other;
  Random random(11);
  const RowMatrix A = random.rows(60, 5);
  const VectorXd y0 = random.vector(5), x0 = 3.0 * random.vector(60);
  ASSERT_EQ(kinetic_qp({.A = A, .y0 = y0}, {}, ws, cold), Status::solved);
  ASSERT_EQ(kinetic_qp({.A = A, .y0 = y0, .x0 = x0}, {}, ws, other), Status::solved);
  EXPECT_NEAR((cold.y - other.y).norm(), 0.0, 1e-12);
}

TEST(KineticQpBounds, MotionDoesNotDependOnTheOrder) {
  KineticQpWorkspace ws;
  KineticQpSolution s, permuted;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const reference::BipedScene scene = reference::biped(20, seed);
    std::vector<int> order(80);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    RowMatrix A = scene.A;
    for (int i = 0; i < 80; ++i) A.row(i) = scene.A.row(order[i]);
    ASSERT_EQ(kinetic_qp({.A = scene.A, .y0 = scene.y0}, {}, ws, s), Status::solved);
    ASSERT_EQ(kinetic_qp({.A = A, .y0 = scene.y0}, {}, ws, permuted), Status::solved);
    EXPECT_NEAR((s.y - permuted.y).norm(), 0.0, 1e-13 * scene.y0.norm());
  }
}

TEST(KineticQpBounds, ManyContactsAreSolvedToRounding) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  for (const int contacts : {1, 40, 1000}) {
    const reference::BipedScene scene = reference::biped(contacts, 5);
    const KineticQp qp{.A = scene.A, .y0 = scene.y0};
    ASSERT_EQ(kinetic_qp(qp, {}, ws, s), Status::solved);
    EXPECT_LE(residual(qp, s), 1e-14);
    EXPECT_LE(s.pivots, 60);
  }
}

TEST(KineticQpBounds, WideProblemsTakeTheGeneralKernel) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  Random random(2);
  const RowMatrix A = random.plain(300, 50);
  const VectorXd y0 = random.vector(50);
  const KineticQp qp{.A = A, .y0 = y0};
  ASSERT_EQ(kinetic_qp(qp, {}, ws, s), Status::solved);
  EXPECT_LE(residual(qp, s), 1e-13);
}

TEST(KineticQpBounds, EmptyAndZeroProblems) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  const RowMatrix none(0, 6), zero = RowMatrix::Zero(4, 6), ones = RowMatrix::Ones(4, 6);
  const VectorXd y0 = VectorXd::Constant(6, -1.0), x0 = VectorXd::Ones(4);
  EXPECT_EQ(kinetic_qp({.A = none, .y0 = y0}, {}, ws, s), Status::solved);
  EXPECT_EQ(s.y.norm(), 0.0);
  EXPECT_EQ(kinetic_qp({.A = zero, .y0 = y0}, {}, ws, s), Status::solved);
  EXPECT_EQ(kinetic_qp({.A = ones, .x0 = x0}, {}, ws, s), Status::solved);
  EXPECT_EQ(s.x.norm(), 0.0);
}

TEST(KineticQpBounds, BadInputIsNamed) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  RowMatrix A = RowMatrix::Ones(2, 3);
  VectorXd y0 = VectorXd::Ones(3), lo = VectorXd::Zero(2), hi = VectorXd::Constant(2, -1.0);
  EXPECT_THROW(kinetic_qp({.A = A, .y0 = VectorView(y0.data(), 2)}, {}, ws, s), InvalidArgument);
  EXPECT_THROW(kinetic_qp({.A = A, .y0 = y0, .lo = lo, .hi = hi}, {}, ws, s), InvalidArgument);
  EXPECT_THROW(kinetic_qp({.A = A, .y0 = y0}, {.tolerance = 0.0}, ws, s), InvalidArgument);
  y0[1] = std::nan("");
  EXPECT_THROW(kinetic_qp({.A = A, .y0 = y0}, {}, ws, s), InvalidArgument);
  y0[1] = 0.0;
  A(1, 2) = kInfinity;
  EXPECT_THROW(kinetic_qp({.A = A, .y0 = y0}, {}, ws, s), InvalidArgument);
}

TEST(KineticQpBounds, PivotLimitIsReported) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  const RowMatrix A = RowMatrix::Identity(6, 6);
  const VectorXd y0 = VectorXd::Constant(6, -1.0);
  EXPECT_EQ(kinetic_qp({.A = A, .y0 = y0}, {.max_pivots = 5}, ws, s), Status::iteration_limit);
  EXPECT_EQ(kinetic_qp({.A = A, .y0 = y0}, {.max_pivots = 6}, ws, s), Status::solved);
}

}  // namespace
}  // namespace stiction::kinetic_bounds_test
