// MINDIFF [ZD15, Alg. 3]: of all solutions of Coulomb's LCP the one whose (v⁺, tau) is closest to the last one's.
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction::mindiff_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kVelocities = 4, kJoints = 2, kContacts = 2, kEdges = 4;

/// Two free coordinates on two contacts: forces are indeterminate, and the prescribed joints feel which ones act.
struct Case {
  MatrixXd M, J;
  VectorXd v, p, target;
  double h = 0.01;

  explicit Case(std::mt19937& rng) {
    std::normal_distribution<double> normal;
    const auto gaussian = [&] { return normal(rng); };
    const MatrixXd a = MatrixXd::NullaryExpr(kVelocities, kVelocities, gaussian);
    M = a * a.transpose() + MatrixXd::Identity(kVelocities, kVelocities);
    J = MatrixXd::NullaryExpr(3 * kContacts, kVelocities, gaussian);
    J.bottomLeftCorner(3, kVelocities - kJoints) = J.topLeftCorner(3, kVelocities - kJoints);  // the base feels both alike
    v = 0.1 * VectorXd::NullaryExpr(kVelocities, gaussian);
    p = 0.1 * VectorXd::NullaryExpr(kVelocities, gaussian);
    p.head(kVelocities - kJoints) -= J.row(0).head(kVelocities - kJoints).transpose();  // pressed on
    target.setZero(kJoints);                                                            // both contacts then move alike
  }

  ContactProblem problem() const {
    ContactProblem out = make_contact_problem(M, v, J, VectorXd::Constant(kContacts, 0.6), h);
    out.impulse = p;
    out.prescribed = {2, 3};
    out.v_prescribed = target;
    return out;
  }

  /// (v⁺, tau) under contact impulses λ: M v⁺ - Eᵀ h tau = M v + p + Jᵀλ, E v⁺ = target.
  VectorXd outcome(const VectorXd& lambda) const {
    MatrixXd kkt = MatrixXd::Zero(kVelocities + kJoints, kVelocities + kJoints);
    kkt.topLeftCorner(kVelocities, kVelocities) = M;
    kkt.bottomLeftCorner(kJoints, kVelocities).rightCols(kJoints).setIdentity();
    kkt.topRightCorner(kVelocities, kJoints).bottomRows(kJoints) = -h * MatrixXd::Identity(kJoints, kJoints);
    VectorXd right(kVelocities + kJoints);
    right << M * v + p + J.transpose() * lambda, target;
    return kkt.fullPivLu().solve(right);
  }
};

VectorXd impulses_of(const VectorXd& z) {
  VectorXd lambda = VectorXd::Zero(3 * kContacts);
  for (Index i = 0; i < kContacts; ++i) {
    lambda[3 * i] = z[i];
    for (Index j = 0; j < kEdges; ++j) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(kEdges);
      lambda[3 * i + 1] += z[kContacts + i * kEdges + j] * std::cos(angle);
      lambda[3 * i + 2] += z[kContacts + i * kEdges + j] * std::sin(angle);
    }
  }
  return lambda;
}

VectorXd outcome_of(const Solution& s, double h) {
  VectorXd x(kVelocities + kJoints);
  x << s.v, s.prescribed_impulses / h;
  return x;
}

TEST(Mindiff, StaysClosestInMotionAndTorque) {
  std::mt19937 rng(71);
  std::normal_distribution<double> normal;
  SolveOptions options;
  options.law = Law::coulomb_pyramid;
  options.solver = Solver::enumerate;
  int indeterminate = 0;
  for (int trial = 0; trial < 12; ++trial) {
    Case c(rng);
    SolveWorkspace workspace;
    Solution s;
    solve(c.problem(), options, workspace, s);
    if (s.status != Status::solved) continue;
    const VectorXd last = outcome_of(s, c.h);
    c.p += 0.02 * VectorXd::NullaryExpr(kVelocities, [&] { return normal(rng); });
    solve(c.problem(), options, workspace, s);
    if (s.status != Status::solved) continue;
    EXPECT_LT((c.outcome(s.impulses) - outcome_of(s, c.h)).norm(), 1e-8 * (1.0 + last.norm()));
    EnumerateWorkspace enumerating;
    LcpSolutions all;
    enumerate(workspace.pyramid.M, workspace.pyramid.q, {}, enumerating, all);
    double nearest = kInfinity, farthest = 0.0;
    for (int k = 0; k < all.count; ++k) {
      const double distance = (c.outcome(impulses_of(all.z(k))) - last).norm();
      nearest = std::min(nearest, distance);
      farthest = std::max(farthest, distance);
    }
    indeterminate += farthest > 1.1 * nearest;
    EXPECT_NEAR((outcome_of(s, c.h) - last).norm(), nearest, 1e-8 * (1.0 + last.norm()));
  }
  EXPECT_GE(indeterminate, 3);
}

}  // namespace
}  // namespace stiction::mindiff_test
