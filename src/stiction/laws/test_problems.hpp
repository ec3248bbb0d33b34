// Contact problems for tests, in closed form or random.
#pragma once

#include <random>

#include <Eigen/Dense>

#include "stiction/laws/law.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction::testing_problems {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Default options but for these.
inline SolveOptions with(Law law, Solver solver = Solver::automatic) {
  SolveOptions options;
  options.law = law;
  options.solver = solver;
  return options;
}

inline Eigen::Matrix3d skew(const Vector3d& p) {
  Eigen::Matrix3d s;
  s << 0, -p[2], p[1], p[2], 0, -p[0], -p[1], p[0], 0;
  return s;
}

/// 3 x 6 rows N S T of a body at the origin (world axes velocity) touched at p with frame columns R.
inline Eigen::Matrix<double, 3, 6> body_rows(const Vector3d& p, const Eigen::Matrix3d& R = Eigen::Matrix3d::Identity()) {
  Eigen::Matrix<double, 3, 6> J;
  J << R.transpose(), -R.transpose() * skew(p);
  return J;
}

/// N along z, S along x, T along y.
inline Eigen::Matrix3d upright() {
  Eigen::Matrix3d R;
  R << 0, 1, 0, 0, 0, 1, 1, 0, 0;
  return R;
}

/// Box of mass m and half extents (a, b, c) on its 4 lower corners on a plane; gravity turned by `slope` about y.
inline ContactProblem box_on_slope(double mass, const Vector3d& half, double slope, double mu, double dt, const Vector3d& velocity) {
  MatrixXd M = MatrixXd::Zero(6, 6);
  M.topLeftCorner<3, 3>() = mass * Eigen::Matrix3d::Identity();
  const Vector3d s = half.cwiseAbs2();
  M.bottomRightCorner<3, 3>() = (mass / 3.0) * Vector3d(s[1] + s[2], s[0] + s[2], s[0] + s[1]).asDiagonal();
  MatrixXd J(12, 6);
  int i = 0;
  for (const double x : {-1.0, 1.0}) {
    for (const double y : {-1.0, 1.0}) J.middleRows<3>(3 * i++) = body_rows({x * half[0], y * half[1], -half[2]}, upright());
  }
  VectorXd v = VectorXd::Zero(6);
  v.head<3>() = velocity;
  ContactProblem p = make_contact_problem(M, v, J, VectorXd::Constant(4, mu), dt);
  p.impulse.head<3>() = dt * mass * 9.81 * Vector3d(std::sin(slope), 0.0, -std::cos(slope));
  return p;
}

/// A floating-base robot: nv velocities, M SPD, n contacts on `feet` rigid feet with upright normals, random velocity and forces.
inline ContactProblem random_robot(std::mt19937& rng, int nv, int n, double mu, double dt = 1e-3) {
  std::normal_distribution<double> normal;
  const auto gaussian = [&] { return normal(rng); };
  MatrixXd a = MatrixXd::NullaryExpr(nv, nv, gaussian);
  MatrixXd M = a * a.transpose() / nv + MatrixXd::Identity(nv, nv);
  M.topLeftCorner<3, 3>() += 5.0 * Eigen::Matrix3d::Identity();
  MatrixXd J(3 * n, nv);
  const MatrixXd limb = MatrixXd::NullaryExpr(6, nv - 6, gaussian);
  for (int i = 0; i < n; ++i) {
    const Vector3d p(0.3 * gaussian(), 0.3 * gaussian(), -0.5);
    J.middleRows<3>(3 * i).leftCols<6>() = body_rows(p, upright());
    J.middleRows<3>(3 * i).rightCols(nv - 6) = 0.3 * body_rows(p, upright()) * limb + 0.1 * MatrixXd::NullaryExpr(3, nv - 6, gaussian);
  }
  VectorXd v = 0.3 * VectorXd::NullaryExpr(nv, gaussian);
  ContactProblem problem = make_contact_problem(M, v, J, VectorXd::Constant(n, mu), dt);
  problem.impulse = dt * VectorXd::NullaryExpr(nv, gaussian);
  problem.impulse[2] -= dt * 9.81 * 10.0;
  return problem;
}

}  // namespace stiction::testing_problems
