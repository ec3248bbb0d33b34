// Problems for the tests of this room: boxes on planes, brick walls, a biped on flat feet, random data. Seeds are the caller's.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include <Eigen/Cholesky>

#include "stiction/problem/test_walls.hpp"
#include "stiction/programs/cone/workspace.hpp"

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
  const Eigen::MatrixXd L = M.llt().matrixL();
  Eigen::MatrixXd Rt(J.rows(), J.cols());
  for (Eigen::Index i = 0; i < J.rows(); ++i) Rt.row(i) = L.triangularView<Eigen::Lower>().solve(J.row(i).transpose()).transpose();
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

/// Brick wall of `boxes` boxes, every upper box on two lower ones, 4 points a box; masses over `ratio` : 1.
inline ReducedProblem brick_wall(int boxes, Random& random, double ratio = 10.0) {
  Reduction reduction;
  reduce(brick_wall(
             boxes, ratio, [&] { return uniform(random, 0.0, 1.0); }, [&] { return normal(random); }),
         reduction);
  return reduction.reduced;
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
    J.middleRows<3>(3 * i) = upright_rows({x, y + side, -0.9});
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
