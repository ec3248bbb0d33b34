// A wall of bricks as a contact problem, from numbers alone: for tests and benchmarks. Random numbers are the caller's.
#pragma once

#include <cmath>
#include <vector>

#include <Eigen/Dense>

#include "stiction/problem/contact_problem.hpp"

namespace stiction::test_scenes {

/// Rows N S T (world z, x, y) of a body touched at p from its centre, velocities (linear, angular) in world axes.
inline Eigen::Matrix<double, 3, 6> upright_rows(const Eigen::Vector3d& p) {
  Eigen::Matrix<double, 3, 6> rows;
  rows << 0, 0, 1, p[1], -p[0], 0, /**/ 1, 0, 0, 0, p[2], -p[1], /**/ 0, 1, 0, -p[2], 0, p[0];
  return rows;
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

/// A falling wall of `bricks` boxes with 4 contacts each: masses ratio^U(0, 1) kg, friction U(0.3, 0.9), random velocities. `uniform()` is
/// in [0, 1), `normal()` of mean 0 and deviation 1.
template <class Uniform, class Normal>
ContactProblem brick_wall(int bricks, double ratio, Uniform uniform, Normal normal) {
  const Eigen::Vector3d half(0.1, 0.05, 0.05);
  const std::vector<Brick> layout = wall_layout(bricks);
  const std::vector<int> sizes(layout.size(), 6);
  ContactProblem p;
  p.dt = 1e-3;
  p.M.reset(sizes);
  p.v.resize(6 * static_cast<Eigen::Index>(bricks));
  p.impulse.setZero(6 * static_cast<Eigen::Index>(bricks));
  const double speed[6] = {0.1, 0.1, 0.02, 0.2, 0.2, 0.2};
  for (int b = 0; b < bricks; ++b) {
    const double mass = std::pow(ratio, uniform());
    const Eigen::Vector3d s = half.cwiseAbs2();
    p.M.block(b).setZero();
    p.M.block(b).diagonal() << mass, mass, mass, mass / 3.0 * (s[1] + s[2]), mass / 3.0 * (s[0] + s[2]), mass / 3.0 * (s[0] + s[1]);
    for (int k = 0; k < 6; ++k) p.v[6 * b + k] = speed[k] * normal();
    p.impulse[6 * b + 2] = -9.81 * p.dt * mass;
  }
  const auto centre = [&](int b) {
    const Brick& at = layout[b];
    return Eigen::Vector3d(2.0 * half[0] * at.column, 0.0, (2 * at.row + 1) * half[2]);
  };
  const auto find = [&](int row, double column) {
    for (int b = 0; b < bricks; ++b) {
      const Brick& at = layout[b];
      if (at.row == row && std::abs(at.column - column) < 0.1) return b;
    }
    return -1;
  };
  p.J.reset(3, sizes);
  for (int b = 0; b < bricks; ++b) {
    const auto [row, column] = layout[b];
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
  p.mu = Eigen::VectorXd::NullaryExpr(n, [&] { return 0.3 + 0.6 * uniform(); });
  p.restitution.setZero(n);
  p.gap.setZero(n);
  p.J_b.reset(1, sizes);
  return p;
}

}  // namespace stiction::test_scenes
