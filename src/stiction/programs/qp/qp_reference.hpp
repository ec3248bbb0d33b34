// References for the tests of this room: brute-force enumeration of active sets, generators of random problems, contact scenes.
// Compiled once, in qp_reference_test.cpp, because of the decompositions.
#pragma once

#include <random>

#include <Eigen/Core>

#include "stiction/base/blocks.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction::reference {

/// minimise 1/2 xᵀHx + fᵀx, lo <= x <= hi, Eᵀx = e, C x >= d: the least objective over all choices of active bounds and rows of the
/// minimiser on that face, where it is feasible. 3^n 2^m faces. Returns NaN when no face gives a feasible point.
struct DenseQp {
  Eigen::MatrixXd H;
  Eigen::VectorXd f, lo, hi;
  Eigen::MatrixXd E;  ///< n x p
  Eigen::VectorXd e;
  Eigen::MatrixXd C;  ///< m x n
  Eigen::VectorXd d;
};

double enumerate(const DenseQp& qp, Eigen::VectorXd& best_x);

/// Seeded source of matrices that are, by turns, dense, of small integers (ties) or sparse; of low rank; with equal, opposite and zero
/// rows. The same seed gives the same problem everywhere.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int integer(int low, int high) { return low + static_cast<int>(engine_() % static_cast<unsigned>(high - low + 1)); }
  double number() { return static_cast<double>(engine_()) / 2147483648.0 - 1.0; }
  bool chance(double p) { return 0.5 * (number() + 1.0) < p; }
  Eigen::VectorXd vector(int n);
  RowMatrix plain(int n, int r);
  RowMatrix rows(int n, int r);
  /// Nonnegative, free, boxed, fixed and one-sided variables.
  void bounds(int n, Eigen::VectorXd& lo, Eigen::VectorXd& hi);

 private:
  double entry(int kind) { return kind == 0 ? number() : kind == 1 ? integer(-2, 2) : chance(0.5) ? 0.0 : number(); }

  std::mt19937 engine_;
};

/// Contacts on the two flat soles of a biped whose joints are prescribed: r = 6, friction pyramids of four edges.
struct BipedScene {
  RowMatrix A;         ///< 4 n x 6 whitened generators
  RowMatrix C;         ///< n x 6 normal rows
  RowMatrix W;         ///< 4 n x w joint impulses of the generators, rank 12
  Eigen::VectorXd y0;  ///< 6 whitened velocity before contact
};

BipedScene biped(int contacts, unsigned seed, int joints = 12, double mu = 0.7);

}  // namespace stiction::reference
