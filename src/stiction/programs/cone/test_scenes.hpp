// Problems for the tests of this room: boxes on planes, brick walls, a biped on flat feet, random data. Seeds are the caller's.
#pragma once

#include <cmath>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>

#include "stiction/programs/cone/cone.hpp"

namespace stiction::test_scenes {

using Random = std::mt19937;

inline double uniform(Random& random, double lo, double hi) { return lo + (hi - lo) * (static_cast<double>(random()) / 4294967296.0); }
inline double normal(Random& random) {
  double sum = -6.0;
  for (int i = 0; i < 12; ++i) sum += uniform(random, 0.0, 1.0);
  return sum;
}

/// From a dense inertia M (blocks of these sizes), contact Jacobian J (3n x nv, rows N S T), velocity v.
inline ReducedProblem reduced_problem(const Eigen::MatrixXd& M, const Eigen::MatrixXd& J, const Eigen::VectorXd& v,
                                      const Eigen::VectorXd& mu, const std::vector<int>& blocks) {
  ReducedProblem p;
  const Eigen::MatrixXd Rt = M.llt().matrixL().solve(J.transpose()).transpose();
  p.Rt = BlockRows::from_dense(3, Rt, blocks);
  p.u_free = J * v;
  p.offset.setZero(mu.size());
  p.mu = mu;
  p.Bt.reset(1, blocks);
  p.w_free.setZero(0);
  p.lo.setZero(0);
  p.hi.setZero(0);
  p.y_free.setZero(Rt.cols());
  return p;
}

/// Rows N S T (z up) of a point of a free body, v = (linear, angular) at the body's origin.
inline Eigen::Matrix<double, 3, 6> point_rows(const Eigen::Vector3d& p) {
  Eigen::Matrix<double, 3, 6> rows;
  rows << 0, 0, 1, p[1], -p[0], 0, /**/ 1, 0, 0, 0, p[2], -p[1], /**/ 0, 1, 0, -p[2], 0, p[0];
  return rows;
}

/// Brick wall of `boxes` boxes, every upper box on two lower ones, 4 points a box; masses over `ratio` : 1.
inline ReducedProblem brick_wall(int boxes, Random& random, double ratio = 10.0) {
  int width = 1;
  while (width * (width + 1) / 2 < boxes) ++width;
  std::vector<std::pair<int, double>> place;
  std::map<std::pair<int, double>, int> at;
  for (int row = 0; static_cast<int>(place.size()) < boxes; ++row) {
    for (int i = 0; i < width - row && static_cast<int>(place.size()) < boxes; ++i) {
      at[{row, row / 2.0 + i}] = static_cast<int>(place.size());
      place.emplace_back(row, row / 2.0 + i);
    }
  }
  const Eigen::Vector3d half(0.1, 0.05, 0.05), squares = half.cwiseAbs2();
  const int n = 4 * boxes;
  using Vector6 = Eigen::Matrix<double, 6, 1>;
  std::vector<Vector6> root(static_cast<std::size_t>(boxes)), v(static_cast<std::size_t>(boxes));  // of the inertia's diagonal; velocity
  for (int b = 0; b < boxes; ++b) {
    const double mass = std::pow(ratio, uniform(random, 0.0, 1.0));
    Vector6 inertia;
    inertia << mass, mass, mass, mass / 3 * (squares[1] + squares[2]), mass / 3 * (squares[0] + squares[2]),
        mass / 3 * (squares[0] + squares[1]);
    root[static_cast<std::size_t>(b)] = inertia.cwiseSqrt();
    const double size[6] = {0.1, 0.1, 0.02, 0.2, 0.2, 0.2};
    for (int i = 0; i < 6; ++i) v[static_cast<std::size_t>(b)][i] = size[i] * normal(random) - (i == 2 ? 9.81e-3 : 0.0);
  }
  const std::vector<int> blocks(static_cast<std::size_t>(boxes), 6);
  ReducedProblem p = reduced_problem(Eigen::MatrixXd(0, 0), Eigen::MatrixXd(0, 0), Eigen::VectorXd(0), Eigen::VectorXd(0), {});
  p.Rt.reset(3, blocks);
  p.Bt.reset(1, blocks);
  p.u_free.setZero(3 * n);
  p.offset.setZero(n);
  p.mu.setZero(n);
  p.y_free.setZero(6 * boxes);
  const auto add = [&](int contact, int body, const Eigen::Matrix<double, 3, 6>& rows) {
    p.Rt.add_entry(body) = rows * root[static_cast<std::size_t>(body)].cwiseInverse().asDiagonal();
    p.u_free.segment<3>(3 * contact) += rows * v[static_cast<std::size_t>(body)];
  };
  for (int i = 0; i < n; ++i) {
    const int b = i / 4, k = i % 4;
    const auto [row, x] = place[static_cast<std::size_t>(b)];
    const Eigen::Vector3d centre(x * 2 * half[0], 0, (2 * row + 1) * half[2]);
    const double sx = k < 2 ? -1 : 1, sy = k % 2 == 0 ? -1 : 1;
    const Eigen::Vector3d point(sx * (row == 0 ? half[0] : 0.5 * half[0]), sy * half[1], -half[2]);
    p.mu[i] = uniform(random, 0.3, 0.9);
    p.Rt.add_group();
    add(i, b, point_rows(point));
    if (row == 0) continue;
    const int lower = at.at({row - 1, x + (k < 2 ? -0.5 : 0.5)});
    const auto [lower_row, lower_x] = place[static_cast<std::size_t>(lower)];
    const Eigen::Vector3d lower_centre(lower_x * 2 * half[0], 0, (2 * lower_row + 1) * half[2]);
    add(i, lower, -point_rows(centre + point - lower_centre));
  }
  return p;
}

/// Inverse dynamics of a biped on two flat feet: r = 6, n coplanar points, so the impulses are not unique.
inline ReducedProblem flat_feet(int n, Random& random, double mu = -1.0) {
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(6, 6), J(3 * n, 6);
  M.diagonal() << 60, 60, 60, 5, 4, 1;
  for (int i = 0; i < n; ++i) {
    const int corner = i / 2;
    const double side = i % 2 == 0 ? -0.1 : 0.1;
    const double x = corner < 4 ? (corner % 2 == 0 ? -0.1 : 0.1) : uniform(random, -0.1, 0.1);
    const double y = corner < 4 ? (corner < 2 ? -0.04 : 0.04) : uniform(random, -0.04, 0.04);
    J.middleRows<3>(3 * i) = point_rows({x, y + side, -0.9});
  }
  Eigen::VectorXd v(6);
  const double size = std::pow(10.0, uniform(random, -2.0, 0.7));
  v << 0.02, 0.02, 0.005, 0.1, 0.1, 0.1;
  for (int i = 0; i < 6; ++i) v[i] *= size * normal(random);
  v[2] -= 9.81e-3;
  const double friction = mu >= 0.0 ? mu : uniform(random, 0.1, 1.0);
  return reduced_problem(M, J, v, Eigen::VectorXd::Constant(n, friction), {6});
}

/// n contacts with random rows on r coordinates.
inline ReducedProblem random_problem(int n, int r, Random& random) {
  Eigen::MatrixXd J(3 * n, r);
  Eigen::VectorXd v(r), mu(n);
  for (int i = 0; i < 3 * n; ++i) {
    for (int j = 0; j < r; ++j) J(i, j) = normal(random);
  }
  for (int j = 0; j < r; ++j) v[j] = normal(random);
  for (int i = 0; i < n; ++i) mu[i] = uniform(random, 0.0, 1.0);
  return reduced_problem(Eigen::MatrixXd::Identity(r, r), J, v, mu, {r});
}

}  // namespace stiction::test_scenes
