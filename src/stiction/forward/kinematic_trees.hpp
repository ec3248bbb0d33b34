// The kinematic trees of a world: what one root carries.
#pragma once

#include <vector>

#include <Eigen/Cholesky>

#include "stiction/model/dynamics.hpp"

namespace stiction {

/// Coordinates [first, first + size) of v that one root carries.
struct KinematicTree {
  int block = 0, first = 0, size = 0;
  int root_q = 0;           ///< first coordinate of the root in q
  bool is_free = false;     ///< the root is a free joint
  std::vector<int> bodies;  ///< that move
  std::vector<int> joints;  ///< indices into World::joints, the root first
  std::vector<int> before;  ///< per joint, its place in `joints` of the next one towards the root, -1: none
};

std::vector<KinematicTree> kinematic_trees(const World& world);

/// Inertia of a tree, size x size, of `data` after `update`.
inline auto inertia_of(const WorldData& data, const KinematicTree& tree) {
  const int first = tree.first - data.M.offset(tree.block);
  return data.M.block(tree.block).block(first, first, tree.size, tree.size);
}

/// vᵀ M v, whose triangles are both filled.
template <class Matrix, class Vector>
double twice_energy(const Matrix& M, const Vector& v) {
  double twice = 0.0;
  for (Eigen::Index j = 0; j < v.size(); ++j) twice += v[j] * M.col(j).dot(v);
  return twice;
}

/// y = S w, S the inertia that the joints of a tree feel: a free root gives way, so that it is that of the tree whose momenta are none.
/// M: of the tree, whose first coordinates, up to six, are the root's; w, y: of its joints, that root left out.
template <class Matrix, class Vector, class Out>
void joint_momentum(const Matrix& M, const Vector& w, Out&& y) {
  const Eigen::Index n = w.size(), root = M.rows() - n;
  y.noalias() = M.bottomRightCorner(n, n) * w;
  if (root == 0) return;
  using Momenta = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1>;
  using Inertia = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;
  const Momenta momenta = M.topRightCorner(root, n).lazyProduct(w);
  const Momenta rigid = Eigen::LLT<Inertia>(M.topLeftCorner(root, root)).solve(momenta);
  y.noalias() -= M.bottomLeftCorner(n, root).lazyProduct(rigid);
}

}  // namespace stiction
