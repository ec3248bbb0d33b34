// Infinite friction under Coulomb's laws, the limit of wide cones: closed forms, and small random problems by enumeration of every pattern.
#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::infinite_friction_test {
namespace {

using namespace testing_problems;

constexpr double kDt = 1e-3;
constexpr std::array kLaws{Law::coulomb_pyramid, Law::coulomb_cone, Law::coulomb_ellipse};
constexpr double kRatio = 0.5;  // of the ellipse, whose axes are the tangents

ContactProblem problem(const MatrixXd& J, const VectorXd& v) {
  const Eigen::Index n = J.rows() / 3, nv = J.cols();
  ContactProblem p = make_contact_problem(MatrixXd::Identity(nv, nv), v, J, VectorXd::Constant(n, kInfinity), kDt);
  p.material.assign(static_cast<std::size_t>(n), ContactMaterial{});
  for (ContactMaterial& m : p.material) m.friction_ratio = kRatio;
  return p;
}

/// The law itself at u_N + c = a: λ_N and a complement each other, friction asks for a = 0 and opposes slip, and a load lets nothing slip.
bool obeys(Law law, double a, const Vector3d& u, const Vector3d& lambda) {
  constexpr double kNothing = 1e-7;
  const double ratio = law == Law::coulomb_ellipse ? kRatio : 1.0;
  const Eigen::Vector2d force(lambda[1], lambda[2] / ratio), slip(u[1], ratio * u[2]);
  const bool square = law == Law::coulomb_pyramid;
  const double friction = square ? force.lpNorm<1>() : force.norm(), speed = square ? slip.lpNorm<Eigen::Infinity>() : slip.norm();
  const bool open = a > kNothing, loaded = lambda[0] > kNothing;
  return a > -kNothing && lambda[0] > -kNothing && !(open && (loaded || friction > kNothing)) && !(loaded && speed > kNothing) &&
         friction * speed + force.dot(slip) < kNothing;
}

// A wheel's hub (x, z, y) whose contact moves along x + z: as it approaches, the force that holds its slip lifts it.
ContactProblem lifting_contact() {
  MatrixXd J(3, 3);
  J << 1, 1, 0,  //
      1, 0, 0,   //
      0, 0, 1;
  return problem(J, Vector3d(-3.0, 1.0, 0.0));
}

TEST(InfiniteFriction, FrictionThatLiftsItsContactEndsAsItLetsGo) {
  // μ finite: λ_N = 2/(2 + μ), λ_S = μ λ_N and u_N = 0, u_S = -3 + λ_N + λ_S < 0. Held it would pull: λ = -J⁻ᵀ v = (-1, 4, 0).
  for (const Law law : {Law::coulomb_pyramid, Law::coulomb_cone, Law::coulomb_ellipse, Law::moreau}) {
    const Solution s = solve(lifting_contact(), with(law));
    EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << s.certificate.worst();
    EXPECT_NEAR((s.v - Vector3d(-1, 1, 0)).norm(), 0.0, 1e-9) << to_string(law);
    EXPECT_NEAR((s.impulses - Vector3d(0, 2, 0)).norm(), 0.0, 1e-9) << to_string(law);
    ContactProblem wide = lifting_contact();
    wide.mu[0] = 1e5;
    EXPECT_LT((solve(wide, with(law)).v - s.v).norm(), 1e-4) << to_string(law);
  }
}

/// A box of half extents (a, b, c) turned by `tilt` about one lower edge, which touches the ground.
ContactProblem tilted_box(double mass, const Vector3d& half, double tilt) {
  ContactProblem p = box_on_slope(mass, half, 0.0, kInfinity, kDt, Vector3d::Zero());
  const Eigen::Matrix3d R = Eigen::AngleAxisd(tilt, Vector3d::UnitY()).toRotationMatrix();
  MatrixXd J(12, 6), M = p.M.to_dense();
  int i = 0;
  for (const double x : {-1.0, 1.0}) {
    for (const double y : {-1.0, 1.0}) {
      const Vector3d corner = R * Vector3d(x * half[0], y * half[1], -half[2]);
      p.gap[i] = x < 0.0 ? 2.0 * half[0] * std::sin(tilt) : 0.0;
      J.middleRows<3>(3 * i++) = body_rows(corner, upright());
    }
  }
  M.bottomRightCorner<3, 3>() = R * M.bottomRightCorner<3, 3>() * R.transpose();
  ContactProblem out = make_contact_problem(M, p.v, J, p.mu, kDt);
  out.impulse = p.impulse;
  out.gap = p.gap;
  out.material.assign(4, ContactMaterial{});
  for (ContactMaterial& m : out.material) m.friction_ratio = kRatio;
  return out;
}

TEST(InfiniteFriction, ATiltedBoxFallsAboutTheEdgeThatTouchesUntilItLands) {
  const Vector3d half(0.1, 0.1, 0.05);
  for (const double tilt : {4e-5, 0.01, 0.3}) {
    const double lever = half[0] * std::cos(tilt) - half[2] * std::sin(tilt);  // of gravity about the edge
    const double inertia = (4.0 / 3.0) * (half[0] * half[0] + half[2] * half[2]);
    const double falls = kDt * 9.81 * lever / inertia, lands = std::tan(tilt) / kDt;
    for (const Law law : {Law::coulomb_pyramid, Law::coulomb_cone, Law::coulomb_ellipse}) {
      const Solution s = solve(tilted_box(2.0, half, tilt), with(law));
      EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << tilt << " " << s.certificate.worst();
      EXPECT_NEAR(s.v[4], -std::min(falls, lands), 1e-9) << to_string(law) << " " << tilt;
      EXPECT_EQ(s.impulses.head<6>().norm() > 0.0, lands < falls) << to_string(law) << " " << tilt;  // the edge that was apart
      // Landing, the edges wedge the box along its face, at a slip of 2 a tilt falls: by 10^4 times its weight.
      EXPECT_LT(s.iterations, lands < falls ? 2000 : 100) << to_string(law) << " " << tilt;
    }
  }
}

/// Every pattern of contacts with M = I: open, held and, for the square of the pyramid, the four vertices and four edges of friction
/// without a load. True when one is a solution; `held`: the first two alone.
bool has_solution(Law law, const ContactProblem& p, bool held) {
  const MatrixXd J = p.J.to_dense(), W = J * J.transpose();
  const VectorXd free = J * p.v, c = p.gap / p.dt;
  const int n = p.contacts(), kinds = held ? 2 : 6;
  int patterns = 1;
  for (int i = 0; i < n; ++i) patterns *= kinds;
  for (int code = 0; code < patterns; ++code) {
    MatrixXd A = MatrixXd::Identity(3 * n, 3 * n);  // of λ
    VectorXd b = VectorXd::Zero(3 * n);
    for (int i = 0, rest = code; i < n; ++i, rest /= kinds) {
      const int kind = rest % kinds, at = 3 * i;
      const auto stop = [&](int row, const Eigen::RowVector3d& direction, double velocity) {
        A.row(at + row) = direction * W.middleRows<3>(at);
        b[at + row] = velocity - direction.dot(free.segment<3>(at));
      };
      if (kind == 0) continue;
      stop(kind == 1 ? 0 : 1, {1, 0, 0}, -c[i]);
      if (kind == 1) {
        stop(1, {0, 1, 0}, 0.0);
        stop(2, {0, 0, 1}, 0.0);
      } else if (kind == 2) {  // friction along T, no load
        A.row(at + 2).setUnit(at + 1);
      } else if (kind > 3) {  // along an edge; along S where kind is 3
        stop(2, {0, 1, kind == 4 ? 1.0 : -1.0}, 0.0);
      }
    }
    const VectorXd lambda = A.partialPivLu().solve(b), u = free + W * lambda;
    bool holds = lambda.allFinite();
    for (int i = 0; i < n; ++i) holds = holds && obeys(law, u[3 * i] + c[i], u.segment<3>(3 * i), lambda.segment<3>(3 * i));
    if (holds) return true;
  }
  return false;
}

TEST(InfiniteFriction, WhateverEnumerationSolves) {
  std::mt19937 rng(3);
  std::normal_distribution<double> normal;
  const auto gaussian = [&] { return normal(rng); };
  int held = 0;
  for (int trial = 0; trial < 160; ++trial) {
    const int n = 1 + trial % 4, nv = 3 * n + 1;
    ContactProblem p = problem(MatrixXd::NullaryExpr(3 * n, nv, gaussian), VectorXd::NullaryExpr(nv, gaussian));
    p.gap = (0.5 * kDt * VectorXd::NullaryExpr(n, gaussian)).cwiseMax(0.0);
    EXPECT_TRUE(has_solution(Law::coulomb_pyramid, p, false)) << trial;
    held += has_solution(Law::coulomb_pyramid, p, true) ? 1 : 0;
    for (const Law law : kLaws) {
      const Solution s = solve(p, with(law));
      EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << trial << " " << s.certificate.worst();
      EXPECT_LT(s.iterations, 200) << to_string(law) << " " << trial;
      for (int i = 0; i < n; ++i) {
        const Vector3d u = s.u.segment<3>(3 * i), l = s.impulses.segment<3>(3 * i);
        EXPECT_TRUE(obeys(law, u[0] + p.gap[i] / p.dt, u, l)) << to_string(law) << " " << trial << " " << i;
      }
    }
  }
  EXPECT_LT(held, 150);  // the others need friction without a load
}

// Robots on 1 to 16 feet, some of them above the ground: what is called solved obeys the law, and next to all are.
TEST(InfiniteFriction, RobotsOnManyFeet) {
  int solved = 0, trials = 0;
  for (const int n : {1, 2, 4, 8, 16}) {
    std::mt19937 rng(7);
    for (int trial = 0; trial < 20; ++trial) {
      ContactProblem p = random_robot(rng, 12, n, kInfinity);
      for (int i = 1; i < n; i += 2) p.gap[i] = trial % 2 == 0 ? 0.0 : 1e-4;
      for (const Law law : {Law::coulomb_pyramid, Law::coulomb_cone}) {
        ++trials;
        const Solution s = solve(p, with(law));
        if (s.status != Status::solved) continue;
        ++solved;
        for (int i = 0; i < n; ++i) {
          const Vector3d u = s.u.segment<3>(3 * i), l = s.impulses.segment<3>(3 * i);
          EXPECT_TRUE(obeys(law, u[0] + p.gap[i] / p.dt, u, l)) << to_string(law) << " " << n << " " << trial << " " << i;
        }
      }
    }
  }
  EXPECT_GE(solved, trials - 2);
}

TEST(InfiniteFrictionAllocation, NoneAfterWarmUp) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  for (const Law law : kLaws) {
    SolveWorkspace workspace;
    Solution solution;
    const ContactProblem p = lifting_contact();
    for (int k = 0; k < 2; ++k) solve(p, with(law), workspace, solution);
    const std::size_t before = allocation_count();
    solve(p, with(law), workspace, solution);
    EXPECT_EQ(allocation_count() - before, 0u) << to_string(law);
    EXPECT_EQ(solution.status, Status::solved);
  }
}

}  // namespace
}  // namespace stiction::infinite_friction_test
