// Both solvers against enumeration of all faces, and against the conditions themselves on random, degenerate and rank-deficient
// problems with joint limits, boxes, bilateral and friction rows.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/programs/mlcp/dantzig.hpp"
#include "stiction/programs/mlcp/pgs.hpp"
#include "stiction/programs/qp/kinetic_qp.hpp"

namespace stiction::mlcp_test {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

struct Problem {
  RowMatrix R;
  VectorXd q, lo, hi;
  std::vector<int> normal;

  Mlcp view() const { return {.R = R, .q = q, .lo = lo, .hi = hi, .normal = normal}; }
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int integer(int low, int high) { return low + static_cast<int>(engine_() % static_cast<unsigned>(high - low + 1)); }
  double number() { return static_cast<double>(engine_()) / 2147483648.0 - 1.0; }
  RowMatrix rows(int n, int r) {
    const bool whole = integer(0, 2) == 0;  // small integers: ties
    RowMatrix R(n, r);
    for (Index i = 0; i < R.size(); ++i) R.data()[i] = whole ? integer(-1, 1) : number();
    for (int i = 1; i < n; ++i) {
      if (integer(0, 9) == 0) R.row(i) = (integer(0, 1) != 0 ? 1.0 : -2.0) * R.row(integer(0, i - 1));
      if (integer(0, 29) == 0) R.row(i).setZero();
    }
    return R;
  }

 private:
  std::mt19937 engine_;
};

VectorXd product(const RowMatrix& A, const VectorXd& x, bool transposed = false) {
  VectorXd out = VectorXd::Zero(transposed ? A.cols() : A.rows());
  for (Index i = 0; i < A.rows(); ++i) {
    if (transposed) {
      out += x[i] * A.row(i).transpose();
    } else {
      out[i] = A.row(i).dot(x);
    }
  }
  return out;
}

/// Joint limits, boxes around and beside zero, bilateral and fixed rows. Feasible problems have q in the range of R.
Problem random_problem(unsigned seed, bool feasible) {
  Random random(seed);
  const int n = random.integer(1, 14), r = random.integer(1, 8);
  Problem p{random.rows(n, r), VectorXd(n), VectorXd::Zero(n), VectorXd::Constant(n, kInfinity), {}};
  VectorXd start(r);
  for (int k = 0; k < r; ++k) start[k] = random.integer(0, 1) != 0 ? random.number() : random.integer(-1, 1);
  p.q = product(p.R, start);
  for (int i = 0; i < n; ++i) {
    if (!feasible) p.q[i] += 0.3 * random.number();
    switch (random.integer(0, 5)) {
      case 0:
        p.lo[i] = -kInfinity;
        break;
      case 1:
        p.lo[i] = -0.3;
        p.hi[i] = 0.3;
        break;
      case 2:
        p.lo[i] = 0.1;
        p.hi[i] = random.integer(0, 1) != 0 ? 0.1 : 0.7;
        break;
      case 3:
        p.lo[i] = -kInfinity;
        p.hi[i] = -0.2;
        break;
      default:
        break;
    }
  }
  return p;
}

/// Contacts with a normal row and two friction rows on a body of `r` velocities, and joints with boxes.
Problem random_contacts(unsigned seed, int contacts, int r, double mu) {
  Random random(seed);
  Problem p;
  const int n = 3 * contacts + 2;
  p.R = random.rows(n, r);
  VectorXd start(r);
  for (int k = 0; k < r; ++k) start[k] = random.number();
  p.q = product(p.R, start);
  p.lo = VectorXd::Constant(n, -mu);
  p.hi = VectorXd::Constant(n, mu);
  p.normal.assign(n, -1);
  for (int i = 0; i < contacts; ++i) {
    p.lo[3 * i] = 0.0;
    p.hi[3 * i] = kInfinity;
    p.normal[3 * i + 1] = p.normal[3 * i + 2] = 3 * i;
  }
  return p;
}

VectorXd velocities(const Problem& p, const VectorXd& x) { return product(p.R, product(p.R, x, true)) + p.q; }

/// Largest violation of the conditions in absolute numbers; row by row, without the library.
double violation(const Problem& p, const VectorXd& x) {
  const VectorXd w = velocities(p, x);
  double worst = 0.0;
  for (Index i = 0; i < x.size(); ++i) {
    const int j = p.normal.empty() ? -1 : p.normal[i];
    const double low = j < 0 ? p.lo[i] : p.lo[i] * x[j], high = j < 0 ? p.hi[i] : p.hi[i] * x[j];
    worst = std::max(worst, std::abs(x[i] - std::min(high, std::max(low, x[i] - w[i]))));
  }
  return worst;
}

/// Solves the square system in place by elimination with full pivoting; false when it is singular.
bool eliminate(Eigen::MatrixXd& K, VectorXd& b) {
  const Index n = b.size();
  std::vector<Index> column(n);
  for (Index k = 0; k < n; ++k) {
    Index row = 0, col = 0;
    const double pivot = K.bottomRightCorner(n - k, n - k).cwiseAbs().maxCoeff(&row, &col);
    if (pivot < 1e-10) return false;
    K.row(k).swap(K.row(k + row));
    std::swap(b[k], b[k + row]);
    K.col(k).swap(K.col(k + col));
    column[k] = k + col;
    for (Index i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = K(i, k) / K(k, k);
      K.row(i) -= factor * K.row(k);
      b[i] -= factor * b[k];
    }
  }
  for (Index k = 0; k < n; ++k) b[k] /= K(k, k);
  for (Index k = n - 1; k >= 0; --k) std::swap(b[k], b[column[k]]);
  return true;
}

/// All x at a choice of {lo, inside, hi or 0} per row; friction bounds follow their normals. True when one meets the conditions.
bool enumerate(const Problem& p, VectorXd& x) {
  const Index n = p.q.size();
  const auto faces = static_cast<long>(std::pow(3.0, static_cast<double>(n)));
  for (long face = 0; face < faces; ++face) {
    Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n, n);
    x = VectorXd::Zero(n);
    bool finite = true;
    long code = face;
    for (Index i = 0; i < n && finite; ++i, code /= 3) {
      if (code % 3 == 0) {
        for (Index k = 0; k < n; ++k) K(i, k) = p.R.row(i).dot(p.R.row(k));
        x[i] = -p.q[i];
        continue;
      }
      const bool free = p.lo[i] == -kInfinity && p.hi[i] == kInfinity;
      const double bound = free ? 0.0 : code % 3 == 1 ? p.lo[i] : p.hi[i];
      finite = std::isfinite(bound);
      K(i, i) = 1.0;
      const int j = p.normal.empty() ? -1 : p.normal[i];
      if (j < 0) {
        x[i] = bound;
      } else {
        K(i, j) = -bound;
      }
    }
    if (finite && eliminate(K, x) && x.allFinite() && violation(p, x) < 1e-8) return true;
  }
  return false;
}

TEST(Dantzig, AgreesWithEnumeration) {
  DantzigWorkspace ws;
  MlcpSolution s;
  int solvable = 0, unsolvable = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Problem p = random_problem(seed, seed % 4 != 0);
    if (p.q.size() > 7) continue;
    VectorXd x;
    const bool exists = enumerate(p, x);
    const Status status = dantzig(p.view(), {}, ws, s);
    EXPECT_EQ(status, exists ? Status::solved : Status::infeasible) << seed;
    if (!exists) {
      ++unsolvable;
      continue;
    }
    ++solvable;
    EXPECT_NEAR((product(p.R, x, true) - product(p.R, s.x, true)).norm(), 0.0, 1e-8) << seed;  // y is unique
  }
  EXPECT_GT(solvable, 100);
  EXPECT_GT(unsolvable, 10);
}

TEST(Dantzig, EveryAnswerMeetsTheConditionsOrIsProvedToBeNone) {
  DantzigWorkspace ws;
  MlcpSolution s;
  KineticQpWorkspace qp;  // whose unbounded objective is the proof that there is none
  KineticQpSolution unbounded;
  int infeasible = 0, pivots = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    const Problem p = random_problem(seed, seed % 4 != 0);
    const Status status = dantzig(p.view(), {}, ws, s);
    ASSERT_TRUE(s.x.allFinite());
    EXPECT_LE(s.pivots, 8 * p.q.size() + 8) << seed;
    pivots += s.pivots;
    if (status == Status::solved) {
      EXPECT_LT(violation(p, s.x), 1e-9 * (1.0 + s.x.cwiseAbs().maxCoeff())) << seed;
      continue;
    }
    ASSERT_EQ(status, Status::infeasible) << seed << " residual " << s.residual;
    ++infeasible;
    ASSERT_EQ(kinetic_qp({.A = p.R, .c = p.q, .lo = p.lo, .hi = p.hi}, {}, qp, unbounded), Status::infeasible) << seed;
    const VectorXd direction = unbounded.direction;
    EXPECT_LT(product(p.R, direction, true).norm(), 1e-9 * direction.norm()) << seed;
    EXPECT_LT(p.q.dot(direction), 0.0) << seed;
    for (Index i = 0; i < direction.size(); ++i) {
      EXPECT_TRUE(direction[i] <= 0.0 || p.hi[i] == kInfinity) << seed;
      EXPECT_TRUE(direction[i] >= 0.0 || p.lo[i] == -kInfinity) << seed;
    }
  }
  EXPECT_GT(infeasible, 50);
  EXPECT_LT(pivots, 3000 * 14);
}

TEST(Dantzig, FrictionBoxesFollowTheirNormals) {
  DantzigWorkspace ws;
  MlcpSolution s;
  int solved = 0, unsolved = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const Problem p = random_contacts(seed, 1 + static_cast<int>(seed % 6), 6, 0.1 * (1 + seed % 8));
    const Status status = dantzig(p.view(), {}, ws, s);
    ASSERT_TRUE(s.x.allFinite());
    ++(status == Status::solved ? solved : unsolved);
    if (status == Status::solved) {
      EXPECT_LT(violation(p, s.x), 1e-9 * (1.0 + s.x.cwiseAbs().maxCoeff())) << seed;
    } else {
      EXPECT_GT(s.residual, 1e-12) << seed;
    }
  }
  EXPECT_GT(solved, 300);
  RecordProperty("unsolved", unsolved);
}

TEST(Dantzig, BlockOnAnInclineHoldsAndSlides) {
  // Unit mass in the plane, rows: normal, tangent; gravity impulse g on a slope of angle a.
  for (const double slope : {0.2, 0.5}) {
    Problem p{RowMatrix::Identity(2, 2), VectorXd(2), VectorXd(2), VectorXd(2), {-1, 0}};
    const double mu = 0.4, g = 9.81;
    p.q << -g * std::cos(slope), g * std::sin(slope);
    p.lo << 0.0, -mu;
    p.hi << kInfinity, mu;
    DantzigWorkspace ws;
    PgsWorkspace pgs_ws;
    MlcpSolution s;
    ASSERT_EQ(dantzig(p.view(), {}, ws, s), Status::solved);
    const double slip = std::max(0.0, g * (std::sin(slope) - mu * std::cos(slope)));
    EXPECT_NEAR(velocities(p, s.x)[1], slip, 1e-13);
    EXPECT_EQ(s.pivots, 2);
    ASSERT_EQ(pgs(p.view(), {}, pgs_ws, s), Status::solved);
    EXPECT_NEAR(velocities(p, s.x)[1], slip, 1e-8);
  }
}

TEST(Dantzig, PivotsAreBoundedInAll) {
  DantzigWorkspace ws;
  MlcpSolution s;
  int repeated = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Problem p = random_contacts(seed, 4, 6, 0.8);
    dantzig(p.view(), {}, ws, s);
    if (s.sweeps < 2) continue;
    ++repeated;
    const int all = s.pivots;
    for (const int limit : {1, 3, all - 1}) {
      dantzig(p.view(), {.max_pivots = limit}, ws, s);
      EXPECT_LE(s.pivots, limit) << seed;
      EXPECT_TRUE(s.x.allFinite()) << seed;
    }
    const Status status = dantzig(p.view(), {}, ws, s);
    EXPECT_EQ(dantzig(p.view(), {.max_pivots = all}, ws, s), status) << seed;
  }
  EXPECT_GT(repeated, 50);
}

TEST(Dantzig, AMotorSaturatesAtItsLimit) {
  Problem p{RowMatrix::Identity(1, 1), VectorXd::Constant(1, -3.0), VectorXd::Constant(1, -1.0), VectorXd::Constant(1, 1.0), {}};
  DantzigWorkspace ws;
  MlcpSolution s;
  ASSERT_EQ(dantzig(p.view(), {}, ws, s), Status::solved);
  EXPECT_EQ(s.x[0], 1.0);
  EXPECT_EQ(velocities(p, s.x)[0], -2.0);
}

TEST(Pgs, AgreesWithDantzigWhereItConverges) {
  DantzigWorkspace ws;
  PgsWorkspace pgs_ws;
  MlcpSolution exact, s;
  int converged = 0, all = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Problem p = random_problem(seed, true);
    if (dantzig(p.view(), {}, ws, exact) != Status::solved) continue;
    ++all;
    const Status status = pgs(p.view(), {}, pgs_ws, s);
    EXPECT_TRUE(status == Status::solved || status == Status::iteration_limit) << seed;
    if (status != Status::solved) continue;
    ++converged;
    EXPECT_LT(violation(p, s.x), 1e-7 * (1.0 + s.x.cwiseAbs().maxCoeff())) << seed;
    EXPECT_NEAR((velocities(p, s.x) - velocities(p, exact.x)).cwiseAbs().maxCoeff(), 0.0, 1e-5 * (1.0 + exact.x.cwiseAbs().maxCoeff()))
        << seed;
  }
  EXPECT_GT(converged, all * 8 / 10);
}

TEST(Pgs, SaysWhenItHasNotConverged) {
  // Two nearly parallel rows: linear convergence at the rate cos².
  Problem p{RowMatrix(2, 2), VectorXd(2), VectorXd::Constant(2, -kInfinity), VectorXd::Constant(2, kInfinity), {}};
  p.R << 1.0, 0.0, 1.0, 1e-4;
  p.q << 1.0, -1.0;
  PgsWorkspace ws;
  MlcpSolution s;
  EXPECT_EQ(pgs(p.view(), {.max_sweeps = 50}, ws, s), Status::iteration_limit);
  EXPECT_GT(s.residual, 1e-9);
}

TEST(Mlcp, BadInputIsNamed) {
  DantzigWorkspace ws;
  PgsWorkspace pgs_ws;
  MlcpSolution s;
  Problem p = random_problem(3, true);
  p.lo[0] = 1.0;
  p.hi[0] = 0.5;
  EXPECT_THROW(dantzig(p.view(), {}, ws, s), InvalidArgument);
  p = random_problem(3, true);
  p.R(0, 0) = std::nan("");
  EXPECT_THROW(pgs(p.view(), {}, pgs_ws, s), InvalidArgument);
  p = random_contacts(1, 2, 6, 0.5);
  p.normal[1] = 2;
  EXPECT_THROW(dantzig(p.view(), {}, ws, s), InvalidArgument);
  p.normal[1] = 99;
  EXPECT_THROW(dantzig(p.view(), {}, ws, s), InvalidArgument);
}

TEST(Mlcp, OverflowIsReportedAndNeverReturned) {
  Problem p{RowMatrix::Constant(2, 1, 1e150), VectorXd::Constant(2, -1e300), VectorXd::Zero(2), VectorXd::Constant(2, kInfinity), {}};
  DantzigWorkspace ws;
  PgsWorkspace pgs_ws;
  MlcpSolution s;
  dantzig(p.view(), {}, ws, s);
  EXPECT_TRUE(s.x.allFinite());
  pgs(p.view(), {}, pgs_ws, s);
  EXPECT_TRUE(s.x.allFinite());
}

TEST(MlcpAllocations, NoneOnceWarm) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns malloc";
  DantzigWorkspace ws;
  PgsWorkspace pgs_ws;
  MlcpSolution s;
  std::vector<Problem> problems;
  for (unsigned seed = 0; seed < 40; ++seed) {
    problems.push_back(random_problem(seed, seed % 4 != 0));
    problems.push_back(random_contacts(seed, 1 + static_cast<int>(seed % 6), 8, 0.5));
  }
  const auto solve_all = [&] {
    for (const Problem& p : problems) {
      dantzig(p.view(), {}, ws, s);
      pgs(p.view(), {.max_sweeps = 20}, pgs_ws, s);
    }
  };
  solve_all();
  const std::size_t before = allocation_count();
  solve_all();
  EXPECT_EQ(allocation_count() - before, 0U);
}

}  // namespace
}  // namespace stiction::mlcp_test
