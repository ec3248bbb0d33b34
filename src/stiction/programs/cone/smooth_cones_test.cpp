// Points of the central path against their definition, and the elimination of a contact against differences.
#include "stiction/programs/cone/smooth_cones.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "stiction/programs/cone/test_scenes.hpp"

namespace stiction::smooth_cones_test {
namespace {

using test_scenes::Random;

GrowVector random_vector(Eigen::Index size, Random& random, double scale = 1.0) {
  GrowVector v(size);
  for (double& x : v) x = scale * test_scenes::normal(random);
  return v;
}

TEST(Pair, HasTheProductAndTheDifference) {
  for (const double w : {-1e8, -3.0, -1e-9, 0.0, 1e-9, 3.0, 1e8}) {
    for (const double nu : {0.0, 1e-12, 1.0, 1e3}) {
      Pair pair;
      pair.place(w, nu);
      EXPECT_NEAR(pair.x * pair.z, nu * nu, 1e-14 * nu * nu) << w << " " << nu;
      EXPECT_NEAR(pair.x - pair.z, w, 1e-15 * (std::abs(w) + nu)) << w << " " << nu;
      EXPECT_GE(std::min(pair.x, pair.z), 0.0);
    }
  }
}

ReducedProblem contacts_of_every_kind(Random& random) {
  ReducedProblem problem = test_scenes::random_problem(4, 6, random);
  problem.mu[0] = 0.0;
  problem.mu[3] = 2.5;
  return problem;
}

// r(w + t δw, ν_t, u + t δu) = r(w, ν, u) - t r_wanted with ν_t² = ν² + t p, and λ moves by t (d - D δu), to first order in t.
template <class Cones>
void expect_linearised(Cones& cones, int contacts, double p, Random& random) {
  constexpr double kStep = 1e-6, kNu = 0.7;
  const GrowVector offset = random_vector(contacts, random), u = random_vector(3 * contacts, random);
  const GrowVector du = random_vector(3 * contacts, random), w = random_vector(cones.unknowns(), random);
  GrowVector lambda(3 * contacts), D(9 * contacts), d(3 * contacts), before(cones.unknowns()), wanted(cones.unknowns());
  cones.place(w.data(), kNu, lambda);
  cones.residual(u, offset, before.data());
  // Equations that a contact does not have stay at zero.
  for (Eigen::Index k = 0; k < wanted.size(); ++k) wanted[k] = before[k] == 0.0 ? 0.0 : test_scenes::normal(random);
  GrowVector dw(cones.unknowns());
  cones.eliminate(D);
  cones.right_hand_side(p, wanted.data(), d);
  cones.recover(wanted.data(), D, du, d, dw.data());
  GrowVector after(cones.unknowns()), moved(3 * contacts), back(3 * contacts), behind(cones.unknowns());
  for (const double t : {kStep, -kStep}) {
    const GrowVector at = w + t * dw, velocity = u + t * du;
    cones.place(at.data(), std::sqrt(kNu * kNu + t * p), t > 0.0 ? moved : back);
    cones.residual(velocity, offset, (t > 0.0 ? after : behind).data());
  }
  const double size = 1.0 + d.lpNorm<Eigen::Infinity>();
  EXPECT_LT(((after - behind) / (2.0 * kStep) + wanted).lpNorm<Eigen::Infinity>(), 1e-7 * size);
  EXPECT_LT(((moved - back) / (2.0 * kStep) - d).lpNorm<Eigen::Infinity>(), 1e-7 * size);
}

TEST(SmoothCones, EliminationIsTheDerivative) {
  Random random(61);
  for (int trial = 0; trial < 20; ++trial) {
    const ReducedProblem problem = contacts_of_every_kind(random);
    const GrowVector scale = random_vector(problem.contacts(), random).cwiseAbs() + GrowVector::Constant(problem.contacts(), 0.2);
    for (const bool relaxed : {false, true}) {
      SectionShape shape;
      shape.reset(0);
      DiscCones discs;
      discs.bind(problem, shape, relaxed, scale, 0.0);
      expect_linearised(discs, problem.contacts(), trial % 2, random);
      shape.reset(4 + trial % 3);
      PolygonCones polygons;
      polygons.bind(problem, shape, relaxed, scale, 0.0);
      expect_linearised(polygons, problem.contacts(), trial % 2, random);
    }
  }
}

TEST(SmoothCones, FrictionLiesAgainstSlipWithTheProductOfThePath) {
  Random random(62);
  const ReducedProblem problem = test_scenes::random_problem(5, 6, random);
  const GrowVector scale = GrowVector::Constant(5, 1.0);
  SectionShape shape;
  shape.reset(0);
  DiscCones discs;
  discs.bind(problem, shape, false, scale, 0.0);
  constexpr double kNu = 0.3;
  GrowVector w = random_vector(discs.unknowns(), random), lambda(15), r(discs.unknowns());
  discs.place(w.data(), kNu, lambda);
  const GrowVector rest = GrowVector::Zero(15), none = GrowVector::Zero(5);
  discs.residual(rest, none, r.data());  // a, μ λ_N - x_0 over max(1, μ), u_T
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(r[4 * i] * lambda[3 * i], kNu * kNu, 1e-14);
    const double x0 = problem.mu[i] * lambda[3 * i] - r[4 * i + 1] * std::max(1.0, problem.mu[i]);
    const Eigen::Vector2d x = lambda.segment<2>(3 * i + 1), z = r.segment<2>(4 * i + 2);
    const double s = (kNu * kNu - x.dot(z)) / x0;  // (x_0, x) ∘ (s, z) = (ν², 0, 0)
    EXPECT_LT((x0 * z + s * x).norm(), 1e-14);
    EXPECT_GT(x0, x.norm());
    EXPECT_GT(s, z.norm());
  }
}

// At ν = 0 the pairs of w are projections, so impulses and velocities that obey the law come back as they are and leave nothing.
template <class Cones>
void expect_unknowns_of_a_solution(Cones& cones, const SectionShape& shape, const ReducedProblem& problem, const GrowVector& scale,
                                   const ConeSolution& solution) {
  cones.bind(problem, shape, false, scale, 0.0);
  const GrowVector y = problem.Rt.to_dense().transpose() * solution.lambda, u = problem.Rt.to_dense() * y + problem.u_free;
  GrowVector w(cones.unknowns()), r(cones.unknowns()), lambda(solution.lambda.size());
  cones.from_impulses(solution.lambda, u, problem.offset, w.data());
  cones.place(w.data(), 0.0, lambda);
  cones.residual(u, problem.offset, r.data());
  EXPECT_LT((lambda - solution.lambda).lpNorm<Eigen::Infinity>(), 1e-8);
  EXPECT_LT(r.lpNorm<Eigen::Infinity>(), 1e-8);
}

TEST(SmoothCones, UnknownsOfASolutionGiveItBack) {
  Random random(64);
  for (int trial = 0; trial < 20; ++trial) {
    const ReducedProblem problem = contacts_of_every_kind(random);
    const GrowVector scale = random_vector(problem.contacts(), random).cwiseAbs() + GrowVector::Constant(problem.contacts(), 0.2);
    ConeOptions options;
    ConeWorkspace workspace;
    ConeSolution disc, polygon;
    solve_cone(problem, options, workspace, disc);
    options.edges = 4 + trial % 3;
    solve_cone(problem, options, workspace, polygon);
    ASSERT_EQ(disc.status, Status::solved);
    ASSERT_EQ(polygon.status, Status::solved);
    SectionShape shape;
    shape.reset(0);
    DiscCones discs;
    expect_unknowns_of_a_solution(discs, shape, problem, scale, disc);
    shape.reset(options.edges);
    PolygonCones polygons;
    expect_unknowns_of_a_solution(polygons, shape, problem, scale, polygon);
  }
}

TEST(BoxRows, UnknownsOfASolutionGiveItBack) {
  Random random(65);
  ReducedProblem problem = test_scenes::random_problem(1, 6, random);
  problem.Bt.reset(1, problem.Rt.block_sizes());
  for (int j = 0; j < 6; ++j) problem.Bt.add_group();
  const GrowVector scale = random_vector(6, random).cwiseAbs() + GrowVector::Constant(6, 0.2);
  problem.w_free.setZero(6);
  problem.lo.resize(6);
  problem.hi.resize(6);
  GrowVector beta(6), v(6);
  problem.lo << -kInfinity, -0.4, -0.3, -0.3, -kInfinity, 0.5;  // at hi, at lo, within, at hi, free, held
  problem.hi << 0.2, kInfinity, 0.9, 0.9, kInfinity, 0.5;
  beta << 0.2, -0.4, 0.1, 0.9, 3.0, 0.5;
  v << -1.5, 2.0, 0.0, -0.7, 0.0, 1.0;
  BoxRows rows;
  rows.bind(problem, scale, 0.0);
  GrowVector w(12), r(12), back(6);
  rows.from_impulses(beta, v, w.data());
  rows.place(w.data(), 0.0, back);
  rows.residual(v, r.data());
  EXPECT_LT((back - beta).lpNorm<Eigen::Infinity>(), 1e-14);
  EXPECT_LT(r.lpNorm<Eigen::Infinity>(), 1e-14);
}

TEST(BoxRows, EliminationIsTheDerivative) {
  Random random(63);
  for (int trial = 0; trial < 20; ++trial) {
    ReducedProblem problem = test_scenes::random_problem(1, 6, random);
    problem.Bt.reset(1, problem.Rt.block_sizes());
    for (int j = 0; j < 3; ++j) problem.Bt.add_group();
    problem.w_free.setZero(3);
    problem.lo = Eigen::Vector3d(-kInfinity, -0.4, -0.3);
    problem.hi = Eigen::Vector3d(0.2, kInfinity, 0.9);
    const GrowVector scale = random_vector(3, random).cwiseAbs() + GrowVector::Constant(3, 0.2);
    BoxRows rows;
    rows.bind(problem, scale, 0.0);
    constexpr double kStep = 1e-6, kNu = 0.7;
    const double p = trial % 2;
    const GrowVector v = random_vector(3, random), dv = random_vector(3, random), w = random_vector(6, random);
    GrowVector beta(3), D(3), d(3), wanted = random_vector(6, random), dw(6), after(6), behind(6), moved(3), back(3);
    wanted[1] = wanted[3] = 0.0;  // only two bounds make a second equation
    rows.place(w.data(), kNu, beta);
    rows.eliminate(D);
    rows.right_hand_side(p, wanted.data(), d);
    rows.recover(p, wanted.data(), D, dv, d, dw.data());
    for (const double t : {kStep, -kStep}) {
      const GrowVector at = w + t * dw, velocity = v + t * dv;
      rows.place(at.data(), std::sqrt(kNu * kNu + t * p), t > 0.0 ? moved : back);
      rows.residual(velocity, (t > 0.0 ? after : behind).data());
    }
    EXPECT_LT(((after - behind) / (2.0 * kStep) + wanted).lpNorm<Eigen::Infinity>(), 1e-6);
    EXPECT_LT(((moved - back) / (2.0 * kStep) - d).lpNorm<Eigen::Infinity>(), 1e-6);
  }
}

}  // namespace
}  // namespace stiction::smooth_cones_test
