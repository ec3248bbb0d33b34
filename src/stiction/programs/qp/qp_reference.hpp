// References for the tests of this room: brute-force enumeration of active sets, generators of random problems, contact scenes.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <Eigen/Dense>

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

inline bool feasible(const DenseQp& qp, const Eigen::VectorXd& x, double tolerance) {
  return (x - qp.lo).minCoeff() >= -tolerance && (qp.hi - x).minCoeff() >= -tolerance &&
         (qp.E.cols() == 0 || (qp.E.transpose() * x - qp.e).cwiseAbs().maxCoeff() <= tolerance) &&
         (qp.C.rows() == 0 || (qp.C * x - qp.d).minCoeff() >= -tolerance);
}

inline double enumerate(const DenseQp& qp, Eigen::VectorXd& best_x) {
  const Eigen::Index n = qp.f.size(), p = qp.E.cols(), m = qp.C.rows();
  double best = std::numeric_limits<double>::quiet_NaN();
  const auto faces = static_cast<long>(std::pow(3.0, static_cast<double>(n)));
  for (long face = 0; face < faces; ++face) {
    for (long active = 0; active < (1L << m); ++active) {
      std::vector<Eigen::VectorXd> rows;
      std::vector<double> sides;
      bool finite = true;
      long code = face;
      for (Eigen::Index j = 0; j < n; ++j, code /= 3) {
        if (code % 3 == 0) continue;
        const double bound = code % 3 == 1 ? qp.lo[j] : qp.hi[j];
        finite = finite && std::isfinite(bound);
        rows.push_back(Eigen::VectorXd::Unit(n, j));
        sides.push_back(bound);
      }
      if (!finite) continue;
      for (Eigen::Index k = 0; k < p; ++k) rows.push_back(qp.E.col(k)), sides.push_back(qp.e[k]);
      for (Eigen::Index i = 0; i < m; ++i) {
        if ((active >> i & 1) != 0) rows.push_back(qp.C.row(i).transpose()), sides.push_back(qp.d[i]);
      }
      const auto k = static_cast<Eigen::Index>(rows.size());
      Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n + k, n + k);
      Eigen::VectorXd rhs(n + k);
      K.topLeftCorner(n, n) = qp.H;
      rhs.head(n) = -qp.f;
      for (Eigen::Index i = 0; i < k; ++i) {
        K.row(n + i).head(n) = rows[static_cast<std::size_t>(i)].transpose();
        K.col(n + i).head(n) = rows[static_cast<std::size_t>(i)];
        rhs[n + i] = sides[static_cast<std::size_t>(i)];
      }
      const Eigen::VectorXd x = K.completeOrthogonalDecomposition().solve(rhs).head(n);
      if (!x.allFinite() || !feasible(qp, x, 1e-9)) continue;
      const double value = 0.5 * x.dot(qp.H * x) + qp.f.dot(x);
      if (!(value >= best)) {
        best = value;
        best_x = x;
      }
    }
  }
  return best;
}

/// Seeded source of matrices that are, by turns, dense, of small integers (ties) or sparse; of low rank; with equal, opposite and zero
/// rows. The same seed gives the same problem everywhere.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int integer(int low, int high) { return low + static_cast<int>(engine_() % static_cast<unsigned>(high - low + 1)); }
  double number() { return static_cast<double>(engine_()) / 2147483648.0 - 1.0; }
  bool chance(double p) { return 0.5 * (number() + 1.0) < p; }
  Eigen::VectorXd vector(int n) {
    const int kind = integer(0, 2);
    return Eigen::VectorXd::NullaryExpr(n, [&] { return entry(kind); });
  }
  RowMatrix plain(int n, int r) {
    return RowMatrix::NullaryExpr(n, r, [&] { return number(); });
  }
  RowMatrix rows(int n, int r) {
    const int kind = integer(0, 2);
    RowMatrix A = RowMatrix::NullaryExpr(n, r, [&] { return entry(kind); });
    if (r > 1 && chance(0.4)) {
      const int rank = integer(1, r - 1);
      const RowMatrix right = RowMatrix::NullaryExpr(rank, r, [&] { return entry(kind); });
      A = (A.leftCols(rank) * right).eval();
    }
    if (n > 0 && chance(0.4)) alter(A, [&](int i) { A.row(i) = A.row(integer(0, n - 1)).eval(); });
    if (n > 0 && chance(0.3)) alter(A, [&](int i) { A.row(i) = -A.row(integer(0, n - 1)).eval(); });
    if (n > 0 && chance(0.2)) alter(A, [&](int i) { A.row(i).setZero(); });
    return A;
  }
  /// Nonnegative, free, boxed, fixed and one-sided variables.
  void bounds(int n, Eigen::VectorXd& lo, Eigen::VectorXd& hi) {
    lo = Eigen::VectorXd::Zero(n);
    hi = Eigen::VectorXd::Constant(n, kInfinity);
    if (chance(0.5)) return;
    for (int i = 0; i < n; ++i) {
      switch (integer(0, 4)) {
        case 0:
          lo[i] = -kInfinity;
          break;
        case 1:
          lo[i] = -1.0;
          hi[i] = 1.0;
          break;
        case 2:
          hi[i] = integer(0, 2);
          break;
        case 3:
          lo[i] = -kInfinity;
          hi[i] = 0.5;
          break;
        default:
          break;
      }
    }
  }

 private:
  double entry(int kind) { return kind == 0 ? number() : kind == 1 ? integer(-2, 2) : chance(0.5) ? 0.0 : number(); }
  template <class Change>
  void alter(RowMatrix& A, Change&& change) {
    for (int i = 0; i < static_cast<int>(A.rows()); ++i) {
      if (chance(0.3)) change(i);
    }
  }

  std::mt19937 engine_;
};

/// Contacts on the two flat soles of a biped whose joints are prescribed: r = 6, friction pyramids of four edges.
struct BipedScene {
  RowMatrix A;         ///< 4 n x 6 whitened generators
  RowMatrix C;         ///< n x 6 normal rows
  RowMatrix W;         ///< 4 n x w joint impulses of the generators, rank 12
  Eigen::VectorXd y0;  ///< 6 whitened velocity before contact
};

inline BipedScene biped(int contacts, unsigned seed, int joints = 12, double mu = 0.7) {
  Random random(seed);
  using Matrix6 = Eigen::Matrix<double, 6, 6>;
  using Vector6 = Eigen::Matrix<double, 6, 1>;
  const Matrix6 root = Matrix6::NullaryExpr([&] { return random.number(); });
  Matrix6 inertia = 0.2 * root * root.transpose() + Matrix6::Identity();
  inertia.topLeftCorner(3, 3) *= 30.0;
  const Eigen::LLT<Matrix6> factor(inertia);
  const Eigen::MatrixXd legs = random.plain(joints, 12);
  BipedScene scene;
  scene.A.resize(4 * contacts, 6);
  scene.C.resize(contacts, 6);
  scene.W.resize(4 * contacts, joints);
  for (int i = 0; i < contacts; ++i) {
    const int foot = i % 2;
    const Eigen::Vector3d place(0.1 * random.number() + 0.05 * (1 - foot), 0.05 * random.number() + 0.1 * (2 * foot - 1), -0.9);
    for (int k = 0; k < 4; ++k) {
      const double angle = 0.5 * M_PI * k;
      const Eigen::Vector3d edge(mu * std::cos(angle), mu * std::sin(angle), 1.0);
      Vector6 wrench;
      wrench << edge, place.cross(edge);
      scene.A.row(4 * i + k) = factor.matrixL().solve(wrench).transpose();
      scene.W.row(4 * i + k) = (legs.middleCols(6 * foot, 6) * wrench).transpose();
    }
    scene.C.row(i) = scene.A.middleRows(4 * i, 4).colwise().mean();
  }
  Vector6 v;
  v << 0.5 * random.number(), 0.5 * random.number(), -0.2 + 0.3 * random.number(), random.number(), random.number(), random.number();
  scene.y0 = factor.matrixU() * v;
  return scene;
}

}  // namespace stiction::reference
