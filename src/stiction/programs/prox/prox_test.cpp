// JOR and SOR against closed forms, against the linear theory of Jacobi's iteration, and against the cone solvers.
#include "stiction/programs/prox/prox.hpp"

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/problem/test_cut_robot.hpp"
#include "stiction/programs/cone/cone_testing.hpp"

namespace stiction::prox_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test_scenes::Random;

enum class Scheme { jor, sor };

ProxSolution solve(Scheme scheme, const ReducedProblem& p, const ProxOptions& options) {
  ProxWorkspace workspace;
  ProxSolution solution;
  (scheme == Scheme::jor ? jor : sor)(p, options, workspace, solution);
  return solution;
}

ProxOptions to(double velocity_tolerance, double alpha = 0.6) {
  ProxOptions options;
  options.alpha = alpha;
  options.velocity_tolerance = velocity_tolerance;
  options.max_iterations = 200000;
  return options;
}

VectorXd velocity(const ReducedProblem& p, const ProxSolution& s) {
  VectorXd y = VectorXd::Zero(p.rank_bound()), u(3 * p.contacts());
  p.Rt.add_transposed(s.lambda, y);
  p.Bt.add_transposed(s.beta, y);
  p.Rt.multiply(y, u);
  return u + p.u_free;
}

/// Rows with coefficients `A` (m x r) and no contact.
ReducedProblem rows_only(const MatrixXd& A, const VectorXd& w_free, double lo, double hi) {
  const std::vector<int> blocks{static_cast<int>(A.cols())};
  ReducedProblem p = test_scenes::reduced_problem(MatrixXd::Identity(A.cols(), A.cols()), MatrixXd(0, A.cols()), VectorXd::Zero(A.cols()),
                                                  VectorXd(0), blocks);
  p.Rt.reset(3, blocks);
  p.Bt = BlockRows::from_dense(1, A, blocks);
  p.w_free = w_free;
  p.lo = VectorXd::Constant(w_free.size(), lo);
  p.hi = VectorXd::Constant(w_free.size(), hi);
  return p;
}

class EveryScheme : public testing::TestWithParam<Scheme> {};
INSTANTIATE_TEST_SUITE_P(Prox, EveryScheme, testing::Values(Scheme::jor, Scheme::sor),
                         [](const auto& instance) { return instance.param == Scheme::jor ? "jor" : "sor"; });

// One particle of mass m: λ_N = -m u_N, friction takes all of the slip or μ λ_N against it.
TEST_P(EveryScheme, ParticleSticksOrSlidesInClosedForm) {
  const double mass = 2.0;
  MatrixXd M = mass * MatrixXd::Identity(3, 3);
  for (const double slip : {0.1, 3.0}) {
    const Vector3d u(-0.5, 0.6 * slip, -0.8 * slip);
    const ReducedProblem p = test_scenes::reduced_problem(M, MatrixXd::Identity(3, 3), u, VectorXd::Constant(1, 0.4), {3});
    const ProxSolution s = solve(GetParam(), p, to(1e-12));
    const double friction = std::min(slip, 0.4 * 0.5) * mass;
    EXPECT_EQ(s.status, Status::solved);
    EXPECT_NEAR(s.lambda[0], 0.5 * mass, 1e-11);
    EXPECT_NEAR(s.lambda[1], -0.6 * friction, 1e-11);
    EXPECT_NEAR(s.lambda[2], 0.8 * friction, 1e-11);
    EXPECT_LE(s.residual, 1e-12);
  }
}

TEST_P(EveryScheme, AlphaOneSolvesAParticleInOneIterationAndOneToSeeIt) {
  const ReducedProblem p = test_scenes::reduced_problem(MatrixXd::Identity(3, 3), MatrixXd::Identity(3, 3), Vector3d(-1.0, 0.1, 0.0),
                                                        VectorXd::Constant(1, 0.5), {3});
  ProxOptions options;
  options.alpha = 1.0;
  EXPECT_EQ(solve(GetParam(), p, options).iterations, 2);
}

TEST_P(EveryScheme, AnOpeningContactBearsNothing) {
  const ReducedProblem p = test_scenes::reduced_problem(MatrixXd::Identity(3, 3), MatrixXd::Identity(3, 3), Vector3d(0.3, 1.0, 0.0),
                                                        VectorXd::Constant(1, 0.5), {3});
  EXPECT_EQ(solve(GetParam(), p, {}).lambda.norm(), 0.0);
}

// Two bilateral rows at an angle: G = [1 g; g 1]. Jacobi's error shrinks by max |1 - α (1 ± g)| per iteration, and grows past α = 2 / (1 +
// g).
TEST(Jacobi, ConvergesAtTheRateOfLinearTheory) {
  const double g = 0.6;
  MatrixXd A(2, 2);
  A << 1.0, 0.0, g, std::sqrt(1.0 - g * g);
  const ReducedProblem p = rows_only(A, Eigen::Vector2d(1.0, 0.5), -kInfinity, kInfinity);
  const Eigen::Vector2d exact = Eigen::Vector2d(0.5 * g - 1.0, g - 0.5) / (1.0 - g * g);
  const auto error = [&](double alpha, int iterations) {
    ProxOptions options;
    options.alpha = alpha;
    options.max_iterations = iterations;
    options.relative_tolerance = 0.0;
    options.absolute_tolerance = 1e-300;
    return (Eigen::Vector2d(solve(Scheme::jor, p, options).beta) - exact).norm();
  };
  for (const double alpha : {0.3, 0.8, 1.0, 1.2, 1.3}) {
    const double rate = std::max(std::abs(1.0 - alpha * (1.0 + g)), std::abs(1.0 - alpha * (1.0 - g)));
    EXPECT_NEAR(std::log(error(alpha, 40) / error(alpha, 20)) / 20.0, std::log(rate), 1e-3) << alpha;
  }
}

TEST(Jacobi, DivergesPastTheLimitUnlessAlphaAdapts) {
  // The same row three times: diag(G)⁻¹ G has the eigenvalue 3, so the limit is α = 2/3.
  const ReducedProblem p = rows_only(MatrixXd::Ones(3, 1), VectorXd::Constant(3, 1.0), -kInfinity, kInfinity);
  ProxOptions options;
  options.alpha = 0.6;
  EXPECT_EQ(solve(Scheme::jor, p, options).status, Status::solved);
  options.alpha = 0.7;
  const ProxSolution diverged = solve(Scheme::jor, p, options);
  EXPECT_EQ(diverged.status, Status::numerical_error);
  EXPECT_EQ(diverged.beta.norm(), 0.0);
  options.adapt = true;
  const ProxSolution adapted = solve(Scheme::jor, p, options);
  EXPECT_EQ(adapted.status, Status::solved);
  EXPECT_LT(adapted.alpha, 2.0 / 3.0);
  EXPECT_NEAR(adapted.beta.sum(), -1.0, 1e-5);
  options.adapt = false;
  EXPECT_EQ(solve(Scheme::sor, p, options).status, Status::solved);
}

TEST_P(EveryScheme, RowsStopAtTheirBounds) {
  MatrixXd A = MatrixXd::Identity(3, 3);
  const ReducedProblem p = rows_only(A, Vector3d(-2.0, 0.25, 5.0), -1.0, 0.5);
  const ProxSolution s = solve(GetParam(), p, to(1e-12));
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_NEAR(s.beta[0], 0.5, 1e-12);
  EXPECT_NEAR(s.beta[1], -0.25, 1e-12);
  EXPECT_NEAR(s.beta[2], -1.0, 1e-12);
}

// Contacts on independent coordinates with little friction have one solution: that of the exact cone solver.
TEST_P(EveryScheme, AgreesWithTheExactConeWhereTheSolutionIsUnique) {
  Random random(5);
  ConeWorkspace workspace;
  ConeSolution exact;
  for (int trial = 0; trial < 30; ++trial) {
    const int n = 1 + trial % 5;
    ReducedProblem p = test_scenes::random_problem(n, 3 * n + 12, random);
    p.mu *= 0.4;
    solve_cone(p, {}, workspace, exact);
    ASSERT_EQ(exact.status, Status::solved) << trial;
    ProxOptions options = to(1e-11, GetParam() == Scheme::jor ? 0.3 : 1.0);
    options.adapt = true;
    const ProxSolution s = solve(GetParam(), p, options);
    EXPECT_EQ(s.status, Status::solved) << trial << " residual " << s.residual;
    EXPECT_LT((s.lambda - exact.lambda).norm(), 1e-8) << trial;
    EXPECT_LT(cone_testing::natural_map(p, 0, false, s.lambda, s.beta), 1e-9) << trial;
  }
}

TEST_P(EveryScheme, ThePolygonAgreesWithTheInteriorPoint) {
  Random random(6);
  ConeWorkspace workspace;
  ConeSolution reference;
  for (const int edges : {4, 7, 16}) {
    for (int trial = 0; trial < 8; ++trial) {
      ReducedProblem p = test_scenes::random_problem(3, 24, random);
      p.mu *= 0.4;
      ConeOptions cone;
      cone.edges = edges;
      solve_cone(p, cone, workspace, reference);
      ASSERT_EQ(reference.status, Status::solved);
      ProxOptions options = to(1e-11, GetParam() == Scheme::jor ? 0.3 : 1.0);
      options.edges = edges;
      const ProxSolution s = solve(GetParam(), p, options);
      EXPECT_EQ(s.status, Status::solved) << edges << " " << trial;
      EXPECT_LT((velocity(p, s).head(9) - (p.u_free + p.Rt.to_dense() * (p.Rt.to_dense().transpose() * reference.lambda))).norm(), 1e-8)
          << edges << " " << trial;
    }
  }
}

// Forty coplanar points on two feet: impulses are not unique, so the point itself is checked.
TEST_P(EveryScheme, RedundantContactsEndInASolution) {
  Random random(3);
  for (const int n : {4, 12, 40}) {
    const ReducedProblem p = test_scenes::flat_feet(n, random);
    ProxOptions options = to(1e-9);
    options.adapt = true;
    const ProxSolution s = solve(GetParam(), p, options);
    EXPECT_EQ(s.status, Status::solved) << n << " residual " << s.residual << " alpha " << s.alpha << " after " << s.iterations;
    EXPECT_LT(cone_testing::natural_map(p, 0, false, s.lambda, s.beta), 1e-7) << n;
  }
}

TEST_P(EveryScheme, WarmStartAtTheSolutionStopsAtOnce) {
  Random random(8);
  ReducedProblem p = test_scenes::random_problem(4, 30, random);
  p.mu *= 0.4;
  ProxOptions options;
  options.alpha = 0.3;
  ProxWorkspace workspace;
  ProxSolution s;
  const auto method = GetParam() == Scheme::jor ? jor : sor;
  method(p, options, workspace, s);
  ASSERT_EQ(s.status, Status::solved);
  options.warm_start = true;
  method(p, options, workspace, s);
  EXPECT_LE(s.iterations, 2);
}

TEST_P(EveryScheme, FrictionCanBeLeftOutAndInfiniteFrictionHolds) {
  const Vector3d u(-0.5, 4.0, 1.0);
  ReducedProblem p =
      test_scenes::reduced_problem(MatrixXd::Identity(3, 3), MatrixXd::Identity(3, 3), u, VectorXd::Constant(1, kInfinity), {3});
  EXPECT_LT(velocity(p, solve(GetParam(), p, to(1e-12))).norm(), 1e-11);
  p.mu.setZero();
  EXPECT_EQ(solve(GetParam(), p, to(1e-12)).lambda.tail(2).norm(), 0.0);
}

TEST_P(EveryScheme, RefusesBadOptionsAndOverflowStaysFinite) {
  ReducedProblem p = test_scenes::reduced_problem(MatrixXd::Identity(3, 3), MatrixXd::Identity(3, 3), Vector3d(-1.0, 0.0, 0.0),
                                                  VectorXd::Constant(1, 0.5), {3});
  ProxOptions options;
  for (const double alpha : {0.0, 2.0, -1.0, std::nan("")}) {
    options.alpha = alpha;
    EXPECT_THROW(solve(GetParam(), p, options), InvalidArgument) << alpha;
  }
  p.u_free[0] = -1e308;
  p.offset[0] = -1e308;
  const ProxSolution s = solve(GetParam(), p, {});
  EXPECT_EQ(s.status, Status::numerical_error);
  EXPECT_TRUE(s.lambda.allFinite());
}

// The same coordinates as one block and as two, whose G is not formed: the same iterates but for rounding. Groups of four contacts and of
// four rows, full and not, every section.
TEST_P(EveryScheme, TheFormedMatrixTakesTheSameSteps) {
  Random random(3);
  for (const int edges : {0, 4, 7}) {
    for (const auto& [contacts, rows] : {std::pair(1, 0), std::pair(4, 0), std::pair(3, 5), std::pair(5, 4), std::pair(7, 2)}) {
      ReducedProblem formed = test_scenes::random_problem(contacts, 24, random);
      formed.mu[0] = edges == 0 ? kInfinity : 0.0;
      formed.u_free[0] = -1.0;  // bears
      if (rows > 0) {
        formed.Bt = BlockRows::from_dense(1, MatrixXd::NullaryExpr(rows, 24, [&] { return test_scenes::normal(random); }), std::vector{24});
        formed.w_free = VectorXd::NullaryExpr(rows, [&] { return test_scenes::normal(random); });
        formed.lo = VectorXd::Constant(rows, -0.01);
        formed.hi = VectorXd::Constant(rows, kInfinity);
      }
      ReducedProblem split = formed;
      split.Rt = BlockRows::from_dense(3, formed.Rt.single_block(), std::vector{12, 12});
      split.Bt = BlockRows::from_dense(1, formed.Bt.to_dense(), std::vector{12, 12});
      ProxOptions options = to(1e-9, 0.3);
      options.edges = edges;
      ProxWorkspace by_matrix, by_rows;
      ProxSolution of_matrix, of_rows;
      (GetParam() == Scheme::jor ? jor : sor)(formed, options, by_matrix, of_matrix);
      (GetParam() == Scheme::jor ? jor : sor)(split, options, by_rows, of_rows);
      EXPECT_TRUE(by_matrix.by_matrix && !by_rows.by_matrix);
      EXPECT_EQ(of_matrix.status, Status::solved);
      EXPECT_EQ(of_matrix.iterations, of_rows.iterations) << edges << " " << contacts << " " << rows;
      EXPECT_LT((of_matrix.lambda - of_rows.lambda).norm(), 1e-10 * of_rows.lambda.norm());
      EXPECT_LE((of_matrix.beta - of_rows.beta).norm(), 1e-10 * of_rows.lambda.norm());
      EXPECT_NEAR(of_matrix.residual, of_rows.residual, 1e-12);
    }
  }
}

struct Iterated {
  VectorXd lambda;
  int iterations = 0;  ///< 0: not to the end
};

// [G14, Eqs. 15-18, 20] as printed, in the velocities of all bodies, to T_rel = T_abs = 1e-6.
Iterated printed_iteration(const ContactProblem& p, double alpha, Scheme scheme, int most) {
  const MatrixXd inertia = p.M.to_dense().inverse(), W = p.J.to_dense().transpose(), W_B = p.J_b.to_dense().transpose();
  const MatrixXd G = W.transpose() * inertia * W, G_B = W_B.transpose() * inertia * W_B;
  const auto velocities = [&](const VectorXd& lambda) {
    const VectorXd u = p.v + inertia * (p.impulse + W * lambda), lambda_B = -G_B.ldlt().solve(W_B.transpose() * u);
    return VectorXd(u + inertia * W_B * lambda_B);
  };
  VectorXd lambda = VectorXd::Zero(W.cols());
  for (int k = 1; k <= most; ++k) {
    VectorXd next = lambda, u = velocities(lambda);
    for (int i = 0; i < p.contacts(); ++i) {
      const MatrixXd W_i = W.middleCols<3>(3 * i);
      const Vector3d xi = W_i.transpose() * u, diagonal = G.diagonal().segment<3>(3 * i), before = lambda.segment<3>(3 * i);
      const double normal = std::max(0.0, before[0] - alpha / diagonal[0] * xi[0]);
      Eigen::Vector2d tangent = before.tail<2>() - alpha / std::max(diagonal[1], diagonal[2]) * xi.tail<2>();
      if (const double slip = tangent.norm(); slip > p.mu[i] * normal) tangent *= p.mu[i] * normal / slip;
      next.segment<3>(3 * i) << normal, tangent;
      if (scheme == Scheme::sor) u += inertia * W_i * (next.segment<3>(3 * i) - before);
    }
    const bool converged = ((next - lambda).array().abs() <= 1e-6 * lambda.array().abs() + 1e-6).all();
    lambda = next;
    if (converged) return {lambda, k};
  }
  return {lambda, 0};
}

// Both forms of the reduced problem, G formed and not, take the steps that are printed, also where α is past the limit of minimal
// coordinates.
TEST_P(EveryScheme, EliminatedBilateralRowsAreTheDirectVariant) {
  Random random(11);
  const ContactProblem cut = test_scenes::cut_quadruped(0.8, [&] { return test_scenes::normal(random); });
  Reduction reduction, bare;
  reduce(cut, reduction, {.rows_before = true});
  reduce(cut, bare);
  ReducedProblem split = reduction.reduced;
  const std::vector<int> halves{5, 5};
  ASSERT_EQ(split.rank_bound(), 10);
  split.Rt = BlockRows::from_dense(3, reduction.reduced.Rt.to_dense(), halves);
  split.Bt.reset(1, halves);
  for (const double alpha : {0.2, 0.6, 1.0, 1.9}) {
    ProxOptions options;
    options.alpha = alpha;
    for (const ReducedProblem* p : {&reduction.reduced, &split}) {
      options.max_iterations = 7;
      const Iterated few = printed_iteration(cut, alpha, GetParam(), 7);
      EXPECT_LE((solve(GetParam(), *p, options).lambda - few.lambda).norm(), 1e-9 * few.lambda.norm()) << alpha;
      options.max_iterations = 10000;
      const Iterated all = printed_iteration(cut, alpha, GetParam(), 10000);
      const ProxSolution s = solve(GetParam(), *p, options);
      EXPECT_EQ(s.status, Status::solved) << alpha;
      EXPECT_EQ(s.iterations, all.iterations) << alpha;
      EXPECT_LE((s.lambda - all.lambda).norm(), 1e-8 * all.lambda.norm()) << alpha;
    }
    EXPECT_EQ(solve(GetParam(), bare.reduced, options).status == Status::solved, alpha < 1.2) << alpha;  // by itself its G is its own
  }
}

TEST(ProxAllocation, NoneAfterWarmUp) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  Random random(1);
  std::vector<ReducedProblem> problems{test_scenes::brick_wall(9, random), test_scenes::flat_feet(20, random),
                                       test_scenes::random_problem(4, 12, random)};
  Reduction cut;
  reduce(test_scenes::cut_quadruped(0.8, [&] { return test_scenes::normal(random); }), cut, {.rows_before = true});
  problems.push_back(cut.reduced);
  for (const auto method : {jor, sor}) {
    ProxWorkspace workspace;
    ProxSolution solution;
    ProxOptions options;
    options.max_iterations = 200;
    options.adapt = true;
    for (const ReducedProblem& p : problems) method(p, options, workspace, solution);
    const std::size_t before = allocation_count();
    for (const bool warm : {false, true}) {
      options.warm_start = warm;
      for (const ReducedProblem& p : problems) method(p, options, workspace, solution);
    }
    EXPECT_EQ(allocation_count() - before, 0u);
  }
}

}  // namespace
}  // namespace stiction::prox_test
