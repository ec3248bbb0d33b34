// A quadruped cut at its hips as a contact problem: bodies by themselves, bilateral rows between them. For tests.
#pragma once

#include <vector>

#include "stiction/problem/test_walls.hpp"

namespace stiction::test_scenes {

/// A trunk of 15 kg on four legs of 2 kg, each on a hinge about y (5 bilateral rows) and on its foot, in world axes: 30 velocities, 20
/// rows, 4 contacts. `normal()` is of mean 0 and deviation 1.
template <class Normal>
ContactProblem cut_quadruped(double mu, Normal normal) {
  using Eigen::Matrix3d, Eigen::MatrixXd, Eigen::Vector3d, Eigen::VectorXd;
  const std::vector<int> sizes(5, 6);
  const auto cross = [](const Vector3d& r) {
    Matrix3d out;
    out << 0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0;
    return out;
  };
  MatrixXd J = MatrixXd::Zero(12, 30), hinges = MatrixXd::Zero(20, 30);
  ContactProblem p;
  p.dt = 2.5e-3;
  p.M.reset(sizes);
  p.M.block(0).diagonal() << 15, 15, 15, 0.2, 0.5, 0.6;
  for (int i = 0; i < 4; ++i) {
    const Vector3d hip(i < 2 ? 0.3 : -0.3, i % 2 == 0 ? 0.2 : -0.2, 0.0), centre = hip + Vector3d(-0.1, 0.0, -0.2);
    const int leg = 6 * (i + 1);
    p.M.block(i + 1).diagonal() << 2, 2, 2, 0.03, 0.03, 0.004;
    auto rows = hinges.middleRows<5>(5 * i);
    rows.block<3, 3>(0, 0).setIdentity();
    rows.block<3, 3>(0, 3) = -cross(hip);
    rows.block<3, 3>(0, leg) = -Matrix3d::Identity();
    rows.block<3, 3>(0, leg + 3) = cross(hip - centre);
    rows(3, 3) = rows(4, 5) = 1.0;
    rows(3, leg + 3) = rows(4, leg + 5) = -1.0;
    J.block<3, 6>(3 * i, leg) = upright_rows(hip + Vector3d(-0.15, 0.0, -0.42) - centre);
  }
  p.J = BlockRows::from_dense(3, J, sizes);
  p.J_b = BlockRows::from_dense(1, hinges, sizes);
  p.b.setZero(20);
  p.lo = VectorXd::Constant(20, -kInfinity);
  p.hi = VectorXd::Constant(20, kInfinity);
  p.mu = VectorXd::Constant(4, mu);
  p.restitution.setZero(4);
  p.gap.setZero(4);
  VectorXd v = VectorXd::NullaryExpr(30, [&] { return 0.3 * normal(); });
  p.impulse.setZero(30);
  for (int k = 0; k < 5; ++k) {
    v[6 * k + 2] -= 0.2;
    p.impulse[6 * k + 2] = -9.81 * p.dt * p.M.block(k)(0, 0);
  }
  p.v = v - hinges.transpose() * (hinges * hinges.transpose()).ldlt().solve(hinges * v);
  return p;
}

}  // namespace stiction::test_scenes
