#include "stiction/programs/qp/bounded_qp.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/programs/qp/qp_reference.hpp"

namespace stiction::bounded_qp_test {
namespace {

using Eigen::VectorXd;
using reference::Random;

double residual(const BoundedQp& qp, const BoundedQpSolution& s) {
  QpResidualScratch scratch;
  GrowVector gradient;
  return qp_residual(qp, s.x, scratch, gradient).worst();
}

TEST(BoundedQp, OneVariableInClosedForm) {
  const RowMatrix A = RowMatrix::Constant(1, 1, 2.0);
  BoundedQpWorkspace ws;
  BoundedQpSolution s;
  for (const double t : {3.0, -3.0}) {  // minimise (2 x - t)²/2 over x >= 0
    const VectorXd target = VectorXd::Constant(1, t);
    ASSERT_EQ(bounded_qp({.A = A, .t = target}, {}, ws, s), Status::solved);
    EXPECT_DOUBLE_EQ(s.x[0], std::max(0.0, t / 2.0));
    EXPECT_DOUBLE_EQ(s.gradient[0], t > 0.0 ? 0.0 : -2.0 * t);
  }
}

TEST(BoundedQp, ProjectsOntoAnOrthant) {
  const RowMatrix A = RowMatrix::Identity(3, 3);
  const VectorXd t = Eigen::Vector3d(1.0, -2.0, 3.0), hi = VectorXd::Constant(3, 2.0);
  BoundedQpWorkspace ws;
  BoundedQpSolution s;
  ASSERT_EQ(bounded_qp({.A = A, .t = t, .hi = hi}, {}, ws, s), Status::solved);
  EXPECT_EQ(VectorXd(s.y), VectorXd(Eigen::Vector3d(1.0, 0.0, 2.0)));
}

// y + 1 >= 0 and -y - 1 >= missing: both can only miss missing/2. Beyond rounding that is a contradiction, of rows that nothing moves too.
TEST(BoundedQp, RowsThatContradictEachOtherByRoundingAreMet) {
  const RowMatrix opposed = (RowMatrix(2, 1) << 1.0, -1.0).finished(), still = (RowMatrix(2, 1) << 1.0, 0.0).finished();
  BoundedQpWorkspace ws;
  BoundedQpSolution s;
  for (const double missing : {1e-12, 1e-6}) {
    for (const RowMatrix* A : {&opposed, &still}) {
      const VectorXd c = A == &opposed ? Eigen::Vector2d(1.0, -1.0 - missing) : Eigen::Vector2d(-1.0, -2.0 * missing);
      const Status status = bounded_qp({.A = *A, .c = c}, {.contradiction = 1e-10}, ws, s);
      EXPECT_EQ(status == Status::infeasible, missing > 1e-10) << missing;
      EXPECT_TRUE(missing > 1e-10 || s.gradient.minCoeff() >= -2.0 * missing) << s.gradient.transpose();
    }
  }
}

TEST(BoundedQp, ObjectiveAgreesWithEnumeration) {
  BoundedQpWorkspace ws;
  BoundedQpSolution s;
  int solved = 0;
  for (unsigned seed = 0; seed < 250; ++seed) {
    Random random(seed);
    const int n = random.integer(1, 5), r = random.integer(1, 4);
    const RowMatrix A = random.rows(n, r);
    const VectorXd t = random.vector(r), c = random.vector(n);
    VectorXd lo, hi, x;
    random.bounds(n, lo, hi);
    BoundedQp qp{.A = A, .t = t, .lo = lo, .hi = hi};
    if (seed % 2 == 0) qp.c = c;
    const Status status = bounded_qp(qp, {}, ws, s);
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

TEST(BoundedQp, UnboundedIsProved) {
  BoundedQpWorkspace ws;
  BoundedQpSolution s;
  int proved = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const int n = random.integer(2, 12), r = random.integer(1, 4);
    const RowMatrix A = random.rows(n, r);
    const VectorXd c = random.vector(n);
    VectorXd lo, hi;
    random.bounds(n, lo, hi);
    const BoundedQp qp{.A = A, .c = c, .lo = lo, .hi = hi};
    if (bounded_qp(qp, {}, ws, s) != Status::infeasible) {
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

TEST(BoundedQp, FreeVariablesWithConsistentCost) {
  // The no-slip QP: free tangential variables, c = A b in the range of A, so the optimum over all free x has A(y + b) = 0.
  Random random(7);
  const RowMatrix A = random.plain(40, 6);
  const VectorXd b = random.vector(6), c = A * b, lo = VectorXd::Constant(40, -kInfinity);
  BoundedQpWorkspace ws;
  BoundedQpSolution s;
  const BoundedQp qp{.A = A, .c = c, .lo = lo};
  ASSERT_EQ(bounded_qp(qp, {}, ws, s), Status::solved);
  EXPECT_NEAR((s.y + b).norm(), 0.0, 1e-13);
  EXPECT_LE((s.x.array() != 0.0).count(), 6);
}

TEST(BoundedQp, InsideVariablesStayIndependent) {
  Random random(3);
  const RowMatrix A = random.plain(200, 3) * random.plain(3, 8);  // rank 3
  const VectorXd t = random.vector(8);
  BoundedQpWorkspace ws;
  BoundedQpSolution s;
  ASSERT_EQ(bounded_qp({.A = A, .t = t}, {}, ws, s), Status::solved);
  EXPECT_LE((s.x.array() > 0.0).count(), 3);
}

TEST(BoundedQp, WarmStartGivesTheSameMotionWithFewerPivots) {
  BoundedQpWorkspace ws;
  BoundedQpSolution cold, warm, next;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const reference::BipedScene scene = reference::biped(40, seed);
    VectorXd t = -scene.y0;
    BoundedQp qp{.A = scene.A, .t = t};
    ASSERT_EQ(bounded_qp(qp, {}, ws, cold), Status::solved);
    qp.x0 = cold.x;
    ASSERT_EQ(bounded_qp(qp, {}, ws, warm), Status::solved);
    EXPECT_EQ(warm.pivots, 0);
    EXPECT_NEAR((warm.y - cold.y).norm(), 0.0, 1e-13 * t.norm());
    t *= 1.001;
    ASSERT_EQ(bounded_qp(qp, {}, ws, next), Status::solved);
    EXPECT_LT(next.pivots, std::max(2, cold.pivots));
  }
}

TEST(BoundedQp, StartsFromAnyPoint) {
  BoundedQpWorkspace ws;
  BoundedQpSolution cold, other;
  Random random(11);
  const RowMatrix A = random.rows(60, 5);
  const VectorXd t = random.vector(5), x0 = 3.0 * random.vector(60);
  ASSERT_EQ(bounded_qp({.A = A, .t = t}, {}, ws, cold), Status::solved);
  ASSERT_EQ(bounded_qp({.A = A, .t = t, .x0 = x0}, {}, ws, other), Status::solved);
  EXPECT_NEAR((cold.y - other.y).norm(), 0.0, 1e-12);
}

TEST(BoundedQp, MotionDoesNotDependOnTheOrder) {
  BoundedQpWorkspace ws;
  BoundedQpSolution s, permuted;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const reference::BipedScene scene = reference::biped(20, seed);
    const VectorXd t = -scene.y0;
    std::vector<int> order(80);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    RowMatrix A = scene.A;
    for (int i = 0; i < 80; ++i) A.row(i) = scene.A.row(order[i]);
    ASSERT_EQ(bounded_qp({.A = scene.A, .t = t}, {}, ws, s), Status::solved);
    ASSERT_EQ(bounded_qp({.A = A, .t = t}, {}, ws, permuted), Status::solved);
    EXPECT_NEAR((s.y - permuted.y).norm(), 0.0, 1e-13 * t.norm());
  }
}

TEST(BoundedQp, ManyContactsAreSolvedToRounding) {
  BoundedQpWorkspace ws;
  BoundedQpSolution s;
  for (const int contacts : {1, 40, 1000}) {
    const reference::BipedScene scene = reference::biped(contacts, 5);
    const VectorXd t = -scene.y0;
    const BoundedQp qp{.A = scene.A, .t = t};
    ASSERT_EQ(bounded_qp(qp, {}, ws, s), Status::solved);
    EXPECT_LE(residual(qp, s), 1e-14);
    EXPECT_LE(s.pivots, 60);
  }
}

TEST(BoundedQp, WideProblemsTakeTheGeneralKernel) {
  BoundedQpWorkspace ws;
  BoundedQpSolution s;
  Random random(2);
  const RowMatrix A = random.plain(300, 50);
  const VectorXd t = random.vector(50);
  const BoundedQp qp{.A = A, .t = t};
  ASSERT_EQ(bounded_qp(qp, {}, ws, s), Status::solved);
  EXPECT_LE(residual(qp, s), 1e-13);
}

TEST(BoundedQp, EmptyAndZeroProblems) {
  BoundedQpWorkspace ws;
  BoundedQpSolution s;
  const RowMatrix none(0, 6), zero = RowMatrix::Zero(4, 6), ones = RowMatrix::Ones(4, 6);
  const VectorXd t = VectorXd::Ones(6), x0 = VectorXd::Ones(4);
  EXPECT_EQ(bounded_qp({.A = none, .t = t}, {}, ws, s), Status::solved);
  EXPECT_EQ(s.y.norm(), 0.0);
  EXPECT_EQ(bounded_qp({.A = zero, .t = t}, {}, ws, s), Status::solved);
  EXPECT_EQ(bounded_qp({.A = ones, .x0 = x0}, {}, ws, s), Status::solved);
  EXPECT_EQ(s.x.norm(), 0.0);
}

TEST(BoundedQp, BadInputIsNamed) {
  BoundedQpWorkspace ws;
  BoundedQpSolution s;
  RowMatrix A = RowMatrix::Ones(2, 3);
  VectorXd t = VectorXd::Ones(3), lo = VectorXd::Zero(2), hi = VectorXd::Constant(2, -1.0);
  EXPECT_THROW(bounded_qp({.A = A, .t = VectorView(t.data(), 2)}, {}, ws, s), InvalidArgument);
  EXPECT_THROW(bounded_qp({.A = A, .t = t, .lo = lo, .hi = hi}, {}, ws, s), InvalidArgument);
  EXPECT_THROW(bounded_qp({.A = A, .t = t}, {.tolerance = 0.0}, ws, s), InvalidArgument);
  t[1] = std::nan("");
  EXPECT_THROW(bounded_qp({.A = A, .t = t}, {}, ws, s), InvalidArgument);
  t[1] = 0.0;
  A(1, 2) = kInfinity;
  EXPECT_THROW(bounded_qp({.A = A, .t = t}, {}, ws, s), InvalidArgument);
}

TEST(BoundedQp, PivotLimitIsReported) {
  BoundedQpWorkspace ws;
  BoundedQpSolution s;
  const RowMatrix A = RowMatrix::Identity(6, 6);
  const VectorXd t = VectorXd::Ones(6);
  EXPECT_EQ(bounded_qp({.A = A, .t = t}, {.max_pivots = 5}, ws, s), Status::iteration_limit);
  EXPECT_EQ(bounded_qp({.A = A, .t = t}, {.max_pivots = 6}, ws, s), Status::solved);
}

}  // namespace
}  // namespace stiction::bounded_qp_test
