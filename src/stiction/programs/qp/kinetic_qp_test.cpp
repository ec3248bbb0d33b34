#include "stiction/programs/qp/kinetic_qp.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/programs/qp/qp_reference.hpp"

namespace stiction::kinetic_qp_test {
namespace {

using Eigen::VectorXd;
using reference::Random;

double residual(const KineticQp& qp, const KineticQpSolution& s) {
  QpResidualScratch scratch;
  return qp_residual(qp, s.x, s.mu, scratch).worst();
}

TEST(KineticQp, PointMassBouncesAsRequired) {
  // Unit mass, normal direction only: y0 = -1 (falling), C y >= 1.5 asks for v = y + y0 >= 0.5, more than stopping.
  const RowMatrix A = RowMatrix::Ones(1, 1);
  const VectorXd y0 = VectorXd::Constant(1, -1.0), d = VectorXd::Constant(1, 1.5);
  KineticQpWorkspace ws;
  KineticQpSolution s;
  ASSERT_EQ(kinetic_qp({.A = A, .y0 = y0, .C = A, .d = d}, {}, ws, s), Status::solved);
  EXPECT_NEAR(s.x[0], 1.5, 1e-14);
  EXPECT_NEAR(s.mu[0], 0.5, 1e-14);
}

TEST(KineticQp, ObjectiveAgreesWithEnumeration) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  for (unsigned seed = 0; seed < 150; ++seed) {
    Random random(seed);
    const int n = random.integer(1, 5), r = random.integer(1, 4), m = random.integer(1, 3);
    const RowMatrix A = random.rows(n, r), C = random.rows(m, r);
    const VectorXd y0 = random.vector(r), inside = random.vector(n).cwiseAbs();
    VectorXd d = C * (A.transpose() * inside), x;
    for (int i = 0; i < m; ++i) d[i] -= random.integer(0, 1);
    ASSERT_EQ(kinetic_qp({.A = A, .y0 = y0, .C = C, .d = d}, {}, ws, s), Status::solved) << seed;
    const reference::DenseQp dense{.H = A * A.transpose(),
                                   .f = A * y0,
                                   .lo = VectorXd::Zero(n),
                                   .hi = VectorXd::Constant(n, kInfinity),
                                   .E = {},
                                   .e = {},
                                   .C = C * A.transpose(),
                                   .d = d};
    const double best = reference::enumerate(dense, x), scale = 1.0 + y0.squaredNorm() + d.squaredNorm();
    const VectorXd got = s.x;
    EXPECT_NEAR(0.5 * got.dot(dense.H * got) + dense.f.dot(got), best, 1e-8 * scale) << seed;
    EXPECT_NEAR((A.transpose() * x - s.y).norm(), 0.0, 1e-5 * scale) << seed;
  }
}

TEST(KineticQp, BoxesAndCostsAgreeWithEnumeration) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  int saturated = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    Random random(seed);
    const int n = random.integer(1, 4), r = random.integer(1, 4), m = random.integer(1, 2);
    const RowMatrix A = random.rows(n, r), C = random.rows(m, r);
    const VectorXd y0 = random.vector(r), c = A * random.vector(r);
    VectorXd lo, hi, inside(n), x;
    random.bounds(n, lo, hi);
    for (int j = 0; j < n; ++j) inside[j] = std::clamp(random.number(), lo[j], hi[j]);
    const VectorXd d = C * (A.transpose() * inside);
    KineticQp qp{.A = A, .y0 = y0, .c = c, .lo = lo, .hi = hi, .C = C, .d = d};
    ASSERT_EQ(kinetic_qp(qp, {}, ws, s), Status::solved) << seed;
    EXPECT_LE(residual(qp, s), 1e-11) << seed;
    const reference::DenseQp dense{
        .H = A * A.transpose(), .f = A * y0 + c, .lo = lo, .hi = hi, .E = {}, .e = {}, .C = C * A.transpose(), .d = d};
    const double best = reference::enumerate(dense, x), scale = 1.0 + y0.squaredNorm() + c.squaredNorm() + d.squaredNorm();
    const VectorXd got = s.x;
    EXPECT_NEAR(0.5 * got.dot(dense.H * got) + dense.f.dot(got), best, 1e-8 * scale) << seed;
    for (int j = 0; j < n; ++j) saturated += got[j] == hi[j] ? 1 : 0;
  }
  EXPECT_GT(saturated, 20);
}

TEST(KineticQp, BoxesTooSmallForTheRowsAreProvedInfeasible) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  int proved = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const int n = random.integer(1, 8), r = random.integer(1, 4), m = random.integer(1, 4);
    const RowMatrix A = random.rows(n, r), C = random.rows(m, r);
    const VectorXd y0 = random.vector(r), d = random.vector(m), hi = VectorXd::Constant(n, 0.4), lo = -hi;
    if (kinetic_qp({.A = A, .y0 = y0, .lo = lo, .hi = hi, .C = C, .d = d}, {}, ws, s) == Status::solved) continue;
    ASSERT_EQ(s.status, Status::infeasible) << seed;
    const VectorXd slope = A * (C.transpose() * s.farkas);
    EXPECT_GE(s.farkas.minCoeff(), 0.0);
    EXPECT_GT(s.farkas.dot(d), slope.cwiseAbs().dot(hi)) << seed;
    ++proved;
  }
  EXPECT_GT(proved, 40);
}

TEST(KineticQp, AnUnboundedObjectiveIsProved) {
  // Two opposite generators whose costs do not cancel.
  const RowMatrix A{{1.0}, {-1.0}};
  const VectorXd c{{-1.0, 0.5}};
  KineticQpWorkspace ws;
  KineticQpSolution s;
  ASSERT_EQ(kinetic_qp({.A = A, .c = c}, {}, ws, s), Status::infeasible);
  const VectorXd direction = s.direction;
  EXPECT_LT((A.transpose() * direction).norm(), 1e-14);
  EXPECT_LT(c.dot(direction), 0.0);
}

TEST(KineticQp, InfeasibleIsProved) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  int proved = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const int n = random.integer(1, 8), r = random.integer(1, 4), m = random.integer(1, 4);
    const RowMatrix A = random.rows(n, r), C = random.rows(m, r);
    const VectorXd y0 = random.vector(r), d = random.vector(m);
    const Status status = kinetic_qp({.A = A, .y0 = y0, .C = C, .d = d}, {}, ws, s);
    if (status == Status::solved) {
      EXPECT_EQ(s.farkas.size(), 0);
      continue;
    }
    ASSERT_EQ(status, Status::infeasible) << seed;
    EXPECT_GE(s.farkas.minCoeff(), 0.0);
    EXPECT_LE((A * (C.transpose() * s.farkas)).maxCoeff(), 1e-8) << seed;
    EXPECT_GT(s.farkas.dot(d), 0.0) << seed;
    ++proved;
  }
  EXPECT_GT(proved, 20);
}

TEST(KineticQp, FlatFeetNeedNoCare) {
  // Every normal row of two flat feet, redundant forty to six, with the velocity stopped or separating.
  KineticQpWorkspace ws;
  KineticQpSolution s, warm;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const reference::BipedScene scene = reference::biped(40, seed);
    VectorXd d = -scene.C * scene.y0;
    if (seed % 2 == 0) d *= 0.5;
    KineticQp qp{.A = scene.A, .y0 = scene.y0, .C = scene.C, .d = d};
    ASSERT_EQ(kinetic_qp(qp, {}, ws, s), Status::solved) << seed;
    EXPECT_LE(residual(qp, s), 1e-12) << seed;
    EXPECT_GE((scene.C * s.y - d).minCoeff(), -1e-12 * scene.y0.norm());
    qp.x0 = s.x;
    qp.mu0 = s.mu;
    ASSERT_EQ(kinetic_qp(qp, {}, ws, warm), Status::solved) << seed;
    EXPECT_EQ(warm.pivots, 0);
    EXPECT_NEAR((warm.y - s.y).norm(), 0.0, 1e-11 * scene.y0.norm());
  }
}

TEST(KineticQp, ObjectiveIsNoWorseThanTheFrictionlessSolution) {
  KineticQpWorkspace ws;
  KineticQpSolution s, frictionless;
  for (unsigned seed = 0; seed < 30; ++seed) {
    const reference::BipedScene scene = reference::biped(10, seed);
    const VectorXd d = -scene.C * scene.y0;
    ASSERT_EQ(kinetic_qp({.A = scene.C, .y0 = scene.y0}, {}, ws, frictionless), Status::solved);
    ASSERT_GE((scene.C * frictionless.y - d).minCoeff(), -1e-12);  // feasible: its conditions are the rows
    ASSERT_EQ(kinetic_qp({.A = scene.A, .y0 = scene.y0, .C = scene.C, .d = d}, {}, ws, s), Status::solved);
    EXPECT_LE((s.y + scene.y0).norm(), (frictionless.y + scene.y0).norm() + 1e-12);
  }
}

TEST(KineticQp, WithoutRowsItProjectsOntoTheCone) {
  const reference::BipedScene scene = reference::biped(8, 3);
  KineticQpWorkspace ws;
  KineticQpSolution s;
  ASSERT_EQ(kinetic_qp({.A = scene.A, .y0 = scene.y0}, {}, ws, s), Status::solved);
  const VectorXd gradient = scene.A * (s.y + scene.y0);
  EXPECT_GE(s.x.minCoeff(), 0.0);
  EXPECT_NEAR((scene.A.transpose() * s.x - s.y).norm(), 0.0, 1e-13 * scene.y0.norm());
  EXPECT_GE(gradient.minCoeff(), -1e-12 * scene.y0.norm());
  EXPECT_NEAR(gradient.dot(s.x), 0.0, 1e-12 * scene.y0.squaredNorm());
  EXPECT_EQ(s.mu.size(), 0);
}

TEST(KineticQp, BadInputIsNamed) {
  KineticQpWorkspace ws;
  KineticQpSolution s;
  RowMatrix A = RowMatrix::Ones(3, 2), C = RowMatrix::Ones(1, 2);
  const VectorXd d = VectorXd::Ones(1), three = VectorXd::Ones(3);
  EXPECT_THROW(kinetic_qp({.A = A, .y0 = three, .C = C, .d = d}, {}, ws, s), InvalidArgument);
  EXPECT_THROW(kinetic_qp({.A = A, .C = C, .d = three}, {}, ws, s), InvalidArgument);
  C(0, 1) = std::nan("");
  EXPECT_THROW(kinetic_qp({.A = A, .C = C, .d = d}, {}, ws, s), InvalidArgument);
}

}  // namespace
}  // namespace stiction::kinetic_qp_test
