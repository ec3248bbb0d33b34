// Contact problems of any size for benchmarks, from numbers alone: a wall of bricks, and a robot that stands on flat feet.
#pragma once

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <Eigen/Dense>

#include "stiction/problem/contact_problem.hpp"
#include "stiction/problem/test_walls.hpp"

namespace stiction::bench {

/// A falling wall of `bricks` boxes with masses over `ratio` : 1.
inline ContactProblem brick_wall(int bricks, double ratio, std::mt19937_64& rng) {
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::normal_distribution<double> normal;
  return test_scenes::brick_wall(
      bricks, ratio, [&] { return uniform(rng); }, [&] { return normal(rng); });
}

/// A robot of 18 velocities, 12 of them joints, on four flat feet with n contact points in all; the feet are pressed down and pushed
/// sideways. `driven`: its joints are told to stand still, which leaves the six velocities of the base.
inline ContactProblem standing_robot(int n, bool driven, std::mt19937_64& rng) {
  constexpr int kVelocities = 18, kLegs = 4;
  std::normal_distribution<double> normal;
  const auto gaussian = [&] { return normal(rng); };
  const Eigen::MatrixXd A = Eigen::MatrixXd::NullaryExpr(kVelocities, kVelocities, gaussian);
  Eigen::MatrixXd M = 0.3 * A * A.transpose() / kVelocities + 0.3 * Eigen::MatrixXd::Identity(kVelocities, kVelocities);
  M.topLeftCorner<3, 3>() += 20.0 * Eigen::Matrix3d::Identity();
  M.block<3, 3>(3, 3) += 1.0 * Eigen::Matrix3d::Identity();
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(3 * n, kVelocities);
  Eigen::Matrix<double, 6, 3> legs[kLegs];
  for (auto& leg : legs) leg = 0.3 * Eigen::MatrixXd::NullaryExpr(6, 3, gaussian);
  for (int i = 0; i < n; ++i) {
    const int leg = i % kLegs, on_foot = i / kLegs, side = std::max(1, static_cast<int>(std::ceil(std::sqrt(n / 4.0))));
    const Eigen::Vector3d foot(leg % 2 == 0 ? 0.3 : -0.3, leg < 2 ? 0.2 : -0.2, -0.4);
    const int column = on_foot % side, row = on_foot / side;
    const Eigen::Vector3d p = foot + Eigen::Vector3d(0.08 * column / side, 0.08 * row / side, 0.0);
    const Eigen::Matrix<double, 3, 6> rows = test_scenes::upright_rows(p);
    J.block<3, 6>(3 * i, 0) = rows;
    J.block<3, 3>(3 * i, 6 + 3 * leg) = rows * legs[leg];
  }
  Eigen::VectorXd v = 0.02 * Eigen::VectorXd::NullaryExpr(kVelocities, gaussian);
  if (driven) v.tail(12).setZero();
  ContactProblem p = make_contact_problem(M, v, J, Eigen::VectorXd::Constant(n, 0.6), 1e-3);
  p.impulse = p.dt * Eigen::VectorXd::NullaryExpr(kVelocities, gaussian);
  p.impulse[0] += p.dt * 40.0 * normal(rng);
  p.impulse[2] -= p.dt * 25.0 * 9.81;
  if (!driven) return p;
  for (int k = 6; k < kVelocities; ++k) p.prescribed.push_back(k);
  p.v_prescribed.setZero(12);
  return p;
}

}  // namespace stiction::bench
