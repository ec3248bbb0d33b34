#include "stiction/programs/qp/qp_reference.hpp"
#include "stiction/base/least_norm.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Dense>

namespace stiction::reference {

namespace {

bool feasible(const DenseQp& qp, const Eigen::VectorXd& x, double tolerance) {
  return (x - qp.lo).minCoeff() >= -tolerance && (qp.hi - x).minCoeff() >= -tolerance &&
         (qp.E.cols() == 0 || (qp.E.transpose() * x - qp.e).cwiseAbs().maxCoeff() <= tolerance) &&
         (qp.C.rows() == 0 || (qp.C * x - qp.d).minCoeff() >= -tolerance);
}

template <class Change>
void alter(Random& random, RowMatrix& A, Change&& change) {
  for (int i = 0; i < static_cast<int>(A.rows()); ++i) {
    if (random.chance(0.3)) change(i);
  }
}

}  // namespace

double enumerate(const DenseQp& qp, Eigen::VectorXd& best_x) {
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
        K.row(n + i).head(n) = rows[i].transpose();
        K.col(n + i).head(n) = rows[i];
        rhs[n + i] = sides[i];
      }
      const Eigen::VectorXd x = least_norm_solution(K, rhs).head(n);
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

Eigen::VectorXd Random::vector(int n) {
  const int kind = integer(0, 2);
  return Eigen::VectorXd::NullaryExpr(n, [&] { return entry(kind); });
}

RowMatrix Random::plain(int n, int r) {
  return RowMatrix::NullaryExpr(n, r, [&] { return number(); });
}

RowMatrix Random::rows(int n, int r) {
  const int kind = integer(0, 2);
  RowMatrix A = RowMatrix::NullaryExpr(n, r, [&] { return entry(kind); });
  if (r > 1 && chance(0.4)) {
    const int rank = integer(1, r - 1);
    const RowMatrix right = RowMatrix::NullaryExpr(rank, r, [&] { return entry(kind); });
    A = (A.leftCols(rank) * right).eval();
  }
  if (n > 0 && chance(0.4)) alter(*this, A, [&](int i) { A.row(i) = A.row(integer(0, n - 1)).eval(); });
  if (n > 0 && chance(0.3)) alter(*this, A, [&](int i) { A.row(i) = -A.row(integer(0, n - 1)).eval(); });
  if (n > 0 && chance(0.2)) alter(*this, A, [&](int i) { A.row(i).setZero(); });
  return A;
}

void Random::bounds(int n, Eigen::VectorXd& lo, Eigen::VectorXd& hi) {
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

BipedScene biped(int contacts, unsigned seed, int joints, double mu) {
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
