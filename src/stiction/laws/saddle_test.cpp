// no_slip, viscous and frictionless with bilateral, redundant and bounded rows against the saddle systems that [D14] writes down in
// velocity coordinates, solved for every set of pushing normals; viscous friction by its equations and by energy.
#include <numeric>

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::saddle_test {
namespace {

using namespace testing_problems;

ContactMaterial viscous(double c) {
  ContactMaterial material;
  material.viscosity = c;
  return material;
}

void set_rows(ContactProblem& p, const MatrixXd& J_b, const VectorXd& b, double lo, double hi) {
  const int size = p.velocities();
  p.J_b = BlockRows::from_dense(1, J_b, std::span(&size, 1));
  p.b = b;
  p.lo = VectorXd::Constant(b.size(), lo);
  p.hi = VectorXd::Constant(b.size(), hi);
}

/// FIND-INDICES [D14, Alg. 2]: independent rows of X in the metric of M⁻¹, in their order.
std::vector<int> independent(const MatrixXd& X, const MatrixXd& M) {
  if (X.rows() == 0) return {};
  const RowMatrix rows = M.llt().matrixL().solve(X.transpose()).transpose();
  IndependentRows found;
  std::vector<int> order(rows.rows());
  std::iota(order.begin(), order.end(), 0);
  find_indices(rows, order, {}, found);
  return found.indices;
}

/// v⁺ of  A v = f + X_Iᵀ x + Nᵀ y,  X_I v = d_I,  0 <= y ⊥ N v + c >= 0  [D14, Eqs. 4-7, 29, 47] over all sets of pushing normals.
VectorXd saddle(const MatrixXd& A, const VectorXd& f, const MatrixXd& X, const VectorXd& d, const MatrixXd& N, const VectorXd& c) {
  const std::vector<int> rows = independent(X, A);
  const Eigen::Index nv = A.rows(), k = static_cast<Eigen::Index>(rows.size());
  for (unsigned set = 0; set < (1u << N.rows()); ++set) {
    std::vector<int> push;
    for (int i = 0; i < N.rows(); ++i) {
      if ((set >> i & 1u) != 0) push.push_back(i);
    }
    const Eigen::Index size = nv + k + static_cast<Eigen::Index>(push.size());
    MatrixXd K = MatrixXd::Zero(size, size);
    VectorXd rhs = VectorXd::Zero(size);
    K.topLeftCorner(nv, nv) = A;
    rhs.head(nv) = f;
    const auto add = [&](Eigen::Index at, const Eigen::RowVectorXd& row, double value) {
      K.block(at, 0, 1, nv) = row;
      K.block(0, at, nv, 1) = -row.transpose();
      rhs[at] = value;
    };
    for (Eigen::Index j = 0; j < k; ++j) add(nv + j, X.row(rows[j]), d[rows[j]]);
    for (std::size_t j = 0; j < push.size(); ++j) add(nv + k + static_cast<Eigen::Index>(j), N.row(push[j]), -c[push[j]]);
    const Eigen::PartialPivLU<MatrixXd> lu(K);
    const VectorXd x = lu.solve(rhs);
    if (!x.allFinite() || (K * x - rhs).norm() > 1e-9 * (1.0 + x.norm())) continue;
    const VectorXd v = x.head(nv);
    if ((x.tail(size - nv - k).array() >= -1e-9).all() && (N * v + c).minCoeff() >= -1e-9) return v;
  }
  return VectorXd::Constant(nv, std::nan(""));
}

/// Rows k, k + 3, k + 6, ... of J.
MatrixXd every_third(const MatrixXd& J, int first) {
  MatrixXd out(J.rows() / 3, J.cols());
  for (Eigen::Index i = 0; i < out.rows(); ++i) out.row(i) = J.row(3 * i + first);
  return out;
}

MatrixXd stack(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd out(a.rows() + b.rows(), std::max(a.cols(), b.cols()));
  out << a, b;
  return out;
}

/// Rows of a closed loop, the last one the sum of two others, and the selection rows of prescribed coordinates.
struct Rows {
  MatrixXd J_b, select;
  VectorXd b, target;
};

Rows make_rows(std::mt19937& rng, int nv, bool inverse) {
  std::normal_distribution<double> normal;
  Rows rows{MatrixXd::NullaryExpr(4, nv, [&] { return normal(rng); }), MatrixXd::Zero(inverse ? 3 : 0, nv), VectorXd::Zero(4),
            VectorXd::LinSpaced(inverse ? 3 : 0, -0.2, 0.1)};
  rows.J_b.row(3) = rows.J_b.row(0) - 2.0 * rows.J_b.row(1);
  rows.b << 0.1, -0.05, 0.02, 0.2;
  for (int k = 0; k < rows.select.rows(); ++k) rows.select(k, nv - 1 - k) = 1.0;
  return rows;
}

class Saddle : public testing::TestWithParam<bool> {};

TEST_P(Saddle, NoSlipFrictionlessAndViscousWithRedundantBilateralRows) {
  const bool inverse = GetParam();
  std::mt19937 rng(3);
  for (int trial = 0; trial < 30; ++trial) {
    const int nv = 18, n = 1 + trial % 3;
    ContactProblem p = random_robot(rng, nv, n, 0.5, 0.01);
    const Rows rows = make_rows(rng, nv, inverse);
    set_rows(p, rows.J_b, rows.b, -kInfinity, kInfinity);
    for (int k = 0; k < rows.select.rows(); ++k) p.prescribed.push_back(nv - 1 - k);
    p.v_prescribed = rows.target;
    p.material.assign(n, viscous(20.0));
    const MatrixXd M = p.M.to_dense(), J = p.J.to_dense(), N = every_third(J, 0), S = every_third(J, 1), T = every_third(J, 2);
    const VectorXd f = M * p.v + p.impulse, c = VectorXd::Zero(n);
    const MatrixXd X = stack(rows.J_b, rows.select);
    VectorXd d(X.rows());
    d << rows.b, rows.target;
    MatrixXd X_stick = stack(stack(X, S), T);
    VectorXd d_stick = VectorXd::Zero(X_stick.rows());
    d_stick.head(d.size()) = d;
    const MatrixXd damped = M + 20.0 * p.dt * (S.transpose() * S + T.transpose() * T);
    const VectorXd expected[] = {saddle(M, f, X, d, N, c), saddle(M, f, X_stick, d_stick, N, c), saddle(damped, f, X, d, N, c)};
    const Law laws[] = {Law::frictionless, Law::no_slip, Law::viscous};
    for (int k = 0; k < 3; ++k) {
      for (const Solver solver : {Solver::goldfarb_idnani, Solver::active_set}) {
        const Solution s = solve(p, with(laws[k], solver));
        EXPECT_EQ(s.status, Status::solved) << to_string(laws[k]) << trial << " " << s.certificate.worst();
        EXPECT_LT((s.v - expected[k]).norm(), 1e-9 * (1.0 + expected[k].norm())) << to_string(laws[k]) << trial;
      }
    }
  }
}

TEST_P(Saddle, JointLimitsAreFurtherNormals) {
  const bool inverse = GetParam();
  std::mt19937 rng(5);
  for (int trial = 0; trial < 20; ++trial) {
    const int nv = 12, n = 2;
    ContactProblem p = random_robot(rng, nv, n, 0.5, 0.01);
    MatrixXd limits = MatrixXd::Zero(2, nv);
    limits(0, 6) = 1.0;
    limits(1, 7) = -1.0;
    const VectorXd b(Eigen::Vector2d(-0.02, 0.03));
    set_rows(p, limits, b, 0.0, kInfinity);
    MatrixXd select = MatrixXd::Zero(inverse ? 2 : 0, nv);
    for (int k = 0; k < select.rows(); ++k) {
      select(k, nv - 1 - k) = 1.0;
      p.prescribed.push_back(nv - 1 - k);
    }
    p.v_prescribed = VectorXd::Constant(select.rows(), 0.1);
    const MatrixXd M = p.M.to_dense(), J = p.J.to_dense(), N = stack(every_third(J, 0), limits);
    VectorXd c(4);
    c << 0.0, 0.0, -b;
    const VectorXd f = M * p.v + p.impulse;
    MatrixXd X_stick = stack(stack(select, every_third(J, 1)), every_third(J, 2));
    VectorXd d_stick = VectorXd::Zero(X_stick.rows());
    d_stick.head(select.rows()) = p.v_prescribed;
    p.material.assign(2, viscous(15.0));
    const MatrixXd damped = M + 15.0 * p.dt * (X_stick.bottomRows(4).transpose() * X_stick.bottomRows(4));
    const auto expect = [&](Law law, const VectorXd& v) {
      const Solution s = solve(p, with(law));
      EXPECT_EQ(s.status, Status::solved) << to_string(law) << trial << " " << s.certificate.worst();
      EXPECT_LT((s.v - v).norm(), 1e-9) << to_string(law) << trial;
    };
    expect(Law::frictionless, saddle(M, f, select, p.v_prescribed, N, c));
    expect(Law::no_slip, saddle(M, f, X_stick, d_stick, N, c));
    expect(Law::viscous, saddle(damped, f, select, p.v_prescribed, N, c));
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Saddle, testing::Bool(), [](const auto& instance) { return instance.param ? "Inverse" : "Forward"; });

TEST(Viscous, SlidingBoxDecaysAtTheClosedFormRateInEveryDirection) {
  const double mass = 2.0, c = 30.0, dt = 0.01;
  for (const double angle : {0.0, 0.7, 2.4}) {
    const Vector3d v(std::cos(angle), std::sin(angle), 0.0);
    ContactProblem p = box_on_slope(mass, {0.3, 0.3, 0.01}, 0.0, 0.5, dt, v);
    p.material.assign(4, viscous(c));
    const Solution s = solve(p, with(Law::viscous));
    EXPECT_EQ(s.status, Status::solved);
    EXPECT_NEAR((s.v.head<3>() - v / (1.0 + 4.0 * c * dt / mass)).norm(), 0.0, 1e-13);
    EXPECT_NEAR(s.impulses[0] + s.impulses[3] + s.impulses[6] + s.impulses[9], mass * 9.81 * dt, 1e-12);
    SolveOptions before = with(Law::viscous);
    before.viscous_slip = ViscousSlip::before;
    EXPECT_NEAR((solve(p, before).v.head<3>() - v * (1.0 - 4.0 * c * dt / mass)).norm(), 0.0, 1e-13);
  }
}

TEST(Viscous, ConditionsHoldToRoundingAndFrictionNeverPushes) {
  std::mt19937 rng(8);
  for (const ViscousSlip slip : {ViscousSlip::after, ViscousSlip::before}) {
    for (int trial = 0; trial < 60; ++trial) {
      const int n = 1 + trial % 9;
      ContactProblem p = random_robot(rng, 9 + trial % 7, n, 0.5, 2e-3);
      const double c = std::pow(10.0, trial % 5);
      p.material.assign(n, viscous(c));
      SolveOptions options = with(Law::viscous, trial % 2 == 0 ? Solver::goldfarb_idnani : Solver::active_set);
      options.viscous_slip = slip;
      const Solution s = solve(p, options);
      ASSERT_EQ(s.status, Status::solved) << trial << " " << s.certificate.worst();
      const MatrixXd J = p.J.to_dense(), M = p.M.to_dense();
      const VectorXd u = J * s.v, u_before = J * p.v;
      const double size = std::max(s.impulses.cwiseAbs().maxCoeff(), 1e-6), speed = std::max(u.cwiseAbs().maxCoeff(), 0.1);
      EXPECT_LT((M * (s.v - p.v) - p.impulse - J.transpose() * s.impulses).norm(), 1e-12 * (size + 10.0)) << trial;
      for (int i = 0; i < n; ++i) {
        const Vector3d lambda = s.impulses.segment<3>(3 * i), ui = u.segment<3>(3 * i);
        const Vector3d opposed = slip == ViscousSlip::after ? ui : Vector3d(u_before.segment<3>(3 * i));
        EXPECT_LT((lambda + p.dt * c * opposed).tail<2>().norm(), 1e-12 * (size + p.dt * c * speed)) << trial;
        EXPECT_LE(lambda.tail<2>().dot(opposed.tail<2>()), 0.0);
        EXPECT_GE(lambda[0], 0.0);
        EXPECT_GE(ui[0], -1e-11);
        EXPECT_LT(std::abs(lambda[0] * ui[0]), 1e-11 * size);
      }
      if (slip == ViscousSlip::after) {
        // E⁺ - E = v⁺·(M Δv) - Δv·M Δv/2 <= v⁺·p - h c |u_T|²: what the known forces do not pay for can only be lost.
        const double energy = 0.5 * (s.v.dot(M * s.v) - p.v.dot(M * p.v));
        double lost = 0.0;
        for (int i = 0; i < n; ++i) lost += p.dt * c * u.segment<2>(3 * i + 1).squaredNorm();
        EXPECT_LE(energy - s.v.dot(p.impulse) + lost, 1e-12 * (1.0 + lost)) << trial;
      }
    }
  }
}

TEST(Viscous, IsFrictionlessWithoutViscosityAndNoSlipWithoutBound) {
  std::mt19937 rng(9);
  for (int trial = 0; trial < 20; ++trial) {
    ContactProblem p = random_robot(rng, 14, 2, 0.5, 2e-3);
    p.material.assign(2, viscous(0.0));
    EXPECT_NEAR((solve(p, with(Law::viscous)).v - solve(p, with(Law::frictionless)).v).norm(), 0.0, 1e-11);
    const VectorXd stuck = solve(p, with(Law::no_slip)).v;
    double last = kInfinity;
    for (const double c : {1e5, 1e7, 1e9, 1e11}) {
      p.material.assign(2, viscous(c));
      const Solution s = solve(p, with(Law::viscous));
      EXPECT_EQ(s.status, Status::solved) << c << " " << s.certificate.worst();
      const double distance = (s.v - stuck).norm();
      EXPECT_LT(distance, std::max(0.02 * last, 1e-9)) << trial << " " << c;  // falls as 1/c
      last = distance;
    }
    EXPECT_LT(last, 1e-6);
  }
}

TEST(Viscous, ActsOnClosedContactsOnlyAndIsInTheCertificate) {
  ContactProblem p = make_contact_problem(MatrixXd::Identity(6, 6), VectorXd::Unit(6, 0), body_rows({0, 0, 0}, upright()),
                                          VectorXd::Constant(1, 0.3), 0.01);
  p.material.assign(1, viscous(10.0));
  Solution s = solve(p, with(Law::viscous));
  EXPECT_NEAR(s.v[0], 1.0 / 1.1, 1e-13);
  s.impulses[1] *= 1.01;
  const Certificate wrong = certify(p, lowered(p, with(Law::viscous)), s.v, s.impulses, s.bounded_impulses, s.prescribed_impulses);
  EXPECT_NEAR(wrong.constitutive.raw, 0.01 * 0.1 / 1.1, 1e-12);
  p.gap[0] = 0.1;
  EXPECT_NEAR(solve(p, with(Law::viscous)).v[0], 1.0, 1e-14);
}

TEST(ViscousAllocation, NoneOnceGrown) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  std::mt19937 rng(10);
  ContactProblem p = random_robot(rng, 12, 6, 0.5);
  p.material.assign(6, viscous(5.0));
  SolveWorkspace w;
  Solution s;
  for (int warm_up = 0; warm_up < 2; ++warm_up) {
    for (const Solver solver : {Solver::goldfarb_idnani, Solver::active_set}) solve(p, with(Law::viscous, solver), w, s);
  }
  const std::size_t before = allocation_count();
  for (const Solver solver : {Solver::goldfarb_idnani, Solver::active_set}) solve(p, with(Law::viscous, solver), w, s);
  EXPECT_EQ(allocation_count() - before, 0u);
}

}  // namespace
}  // namespace stiction::saddle_test
