// Contact problems of any size for benchmarks, from numbers alone: a wall of bricks, and a robot that stands on flat feet.
#pragma once

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <Eigen/Dense>

#include "stiction/problem/contact_problem.hpp"

namespace stiction::bench {

inline Eigen::Matrix3d skew(const Eigen::Vector3d& p) {
  Eigen::Matrix3d s;
  s << 0, -p[2], p[1], p[2], 0, -p[0], -p[1], p[0], 0;
  return s;
}

/// Rows N S T (world z, x, y) of a body touched at p from its centre, velocities in world axes.
inline Eigen::Matrix<double, 3, 6> upright_rows(const Eigen::Vector3d& p) {
  Eigen::Matrix3d R;
  R << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  Eigen::Matrix<double, 3, 6> J;
  J << R, -R * skew(p);
  return J;
}

struct Brick {
  int row;
  double column;  ///< in bricks, from the left end of the lowest row
};

/// Rows that get shorter upwards, every brick on two lower ones.
inline std::vector<Brick> wall_layout(int bricks) {
  int width = 1;
  while (width * (width + 1) / 2 < bricks) ++width;
  std::vector<Brick> layout;
  for (int row = 0; static_cast<int>(layout.size()) < bricks; ++row) {
    for (int i = 0; i < width - row && static_cast<int>(layout.size()) < bricks; ++i) layout.push_back({row, 0.5 * row + i});
  }
  return layout;
}

/// A falling wall of `bricks` boxes with 4 contacts each: masses 10^U(0, decades) kg, friction U(0.3, 0.9), random velocities.
inline ContactProblem brick_wall(int bricks, double decades, std::mt19937_64& rng) {
  const Eigen::Vector3d half(0.1, 0.05, 0.05);
  const std::vector<Brick> layout = wall_layout(bricks);
  const std::vector<int> sizes(layout.size(), 6);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::normal_distribution<double> normal;
  ContactProblem p;
  p.dt = 1e-3;
  p.M.reset(sizes);
  p.v.resize(6 * static_cast<Eigen::Index>(bricks));
  p.impulse.setZero(6 * static_cast<Eigen::Index>(bricks));
  const double speed[6] = {0.1, 0.1, 0.02, 0.2, 0.2, 0.2};
  for (int b = 0; b < bricks; ++b) {
    const double mass = std::pow(10.0, decades * uniform(rng));
    const Eigen::Vector3d s = half.cwiseAbs2();
    p.M.block(b).setZero();
    p.M.block(b).diagonal() << mass, mass, mass, mass / 3.0 * (s[1] + s[2]), mass / 3.0 * (s[0] + s[2]), mass / 3.0 * (s[0] + s[1]);
    for (int k = 0; k < 6; ++k) p.v[6 * b + k] = speed[k] * normal(rng);
    p.impulse[6 * b + 2] = -9.81 * p.dt * mass;
  }
  const auto centre = [&](int b) {
    const Brick& at = layout[static_cast<std::size_t>(b)];
    return Eigen::Vector3d(2.0 * half[0] * at.column, 0.0, (2 * at.row + 1) * half[2]);
  };
  const auto find = [&](int row, double column) {
    for (int b = 0; b < bricks; ++b) {
      const Brick& at = layout[static_cast<std::size_t>(b)];
      if (at.row == row && std::abs(at.column - column) < 0.1) return b;
    }
    return -1;
  };
  p.J.reset(3, sizes);
  for (int b = 0; b < bricks; ++b) {
    const auto [row, column] = layout[static_cast<std::size_t>(b)];
    for (const int side : {-1, 1}) {
      const int below = row == 0 ? -1 : find(row - 1, column + 0.5 * side);
      for (const int depth : {-1, 1}) {
        const Eigen::Vector3d corner(side * (row == 0 ? half[0] : 0.5 * half[0]), depth * half[1], -half[2]);
        p.J.add_group();
        p.J.add_entry(b) = upright_rows(corner);
        if (below >= 0) p.J.add_entry(below) = -upright_rows(centre(b) + corner - centre(below));
      }
    }
  }
  const Eigen::Index n = p.J.groups();
  p.mu = Eigen::VectorXd::NullaryExpr(n, [&] { return 0.3 + 0.6 * uniform(rng); });
  p.restitution.setZero(n);
  p.gap.setZero(n);
  p.J_b.reset(1, sizes);
  return p;
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
    const Eigen::Matrix<double, 3, 6> rows = upright_rows(p);
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
