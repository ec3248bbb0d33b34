// coulomb_pyramid in both published variants, with edges turned into the slip, and with the solvers that know nothing of either.
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::pyramid_variants_test {
namespace {

using namespace testing_problems;

constexpr double kDt = 0.01, kG = 9.81;

SolveOptions pyramid(PyramidVariant variant, int edges, bool align, Solver solver = Solver::automatic) {
  SolveOptions options;
  options.law = Law::coulomb_pyramid;
  options.variant = variant;
  options.edges = edges;
  options.align_edges = align;
  options.solver = solver;
  return options;
}

constexpr PyramidVariant kVariants[] = {PyramidVariant::stewart_trinkle, PyramidVariant::anitescu_potra};

TEST(PyramidVariants, AgreeWhereEveryContactTouches) {
  std::mt19937 rng(4);
  for (int trial = 0; trial < 20; ++trial) {
    const ContactProblem p = random_robot(rng, 10, 1 + trial % 3, 0.4);
    for (const int edges : {4, 8, 16}) {
      for (const Solver solver : {Solver::interior_point, Solver::lemke}) {
        const Solution a = solve(p, pyramid(kVariants[0], edges, false, solver)), b = solve(p, pyramid(kVariants[1], edges, false, solver));
        EXPECT_EQ(a.status, Status::solved) << trial;
        EXPECT_EQ(b.status, Status::solved) << trial;
        EXPECT_NEAR((a.v - b.v).norm(), 0.0, 1e-12) << trial;
      }
    }
  }
}

TEST(PyramidVariants, OnlyStewartAndTrinkleSeeTheGap) {
  // A ball 5 mm above the ground falls 20 mm in the step; another touches.
  MatrixXd J(6, 6);
  J << body_rows({0, 0, 0}, upright()), body_rows({0, 0, 0}, upright());
  ContactProblem p = make_contact_problem(MatrixXd::Identity(6, 6), -2.0 * VectorXd::Unit(6, 2), J, VectorXd::Constant(2, 0.3), kDt);
  p.gap << 0.005, 0.2;
  EXPECT_NEAR(solve(p, pyramid(kVariants[0], 4, false)).v[2], -0.5, 1e-9);
  const Solution s = solve(p, pyramid(kVariants[1], 4, false));
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_EQ(s.impulses.norm(), 0.0);
  EXPECT_NEAR(s.v[2], -2.0, 1e-14);
  p.gap[0] = 5e-7;  // touches: no approach at all, where the gap would leave 50 um/s
  EXPECT_NEAR(solve(p, pyramid(kVariants[1], 4, false)).v[2], 0.0, 1e-9);
  EXPECT_NEAR(solve(p, pyramid(kVariants[0], 4, false)).v[2], -5e-5, 1e-9);
  p.restitution.setConstant(0.5);
  EXPECT_NEAR(solve(p, pyramid(kVariants[1], 4, false)).v[2], 1.0, 1e-9);
}

TEST(PyramidVariants, AContactThatIsLeftOutMustBearNothing) {
  ContactProblem p = make_contact_problem(MatrixXd::Identity(6, 6), -2.0 * VectorXd::Unit(6, 2), body_rows({0, 0, 0}, upright()),
                                          VectorXd::Constant(1, 0.3), kDt);
  p.gap[0] = 0.005;
  const Solution s = solve(p, pyramid(kVariants[0], 4, false));  // pushes
  const Certificate c = certify(p, lowered(p, pyramid(kVariants[1], 4, false)), s.v, s.impulses, s.bounded_impulses, s.prescribed_impulses);
  EXPECT_NEAR(c.cone.raw, 1.5, 1e-9);
}

TEST(AlignedEdges, PureSlidingIsTheDiscsInEveryDirection) {
  const double mu = 0.5, closed_form = 1.0 - mu * kG * kDt;
  for (const PyramidVariant variant : kVariants) {
    for (const int edges : {4, 8, 16}) {
      for (const Solver solver : {Solver::interior_point, Solver::lemke}) {
        for (int k = 0; k < 9; ++k) {
          const double angle = 0.7 * k;
          const Vector3d v(std::cos(angle), std::sin(angle), 0.0);
          const ContactProblem p = box_on_slope(1.0, {0.3, 0.3, 0.01}, 0.0, mu, kDt, v);
          const Solution s = solve(p, pyramid(variant, edges, true, solver));
          EXPECT_EQ(s.status, Status::solved) << angle << " " << s.certificate.worst();
          EXPECT_NEAR((s.v.head<3>() - closed_form * v).norm(), 0.0, 1e-9) << angle;
        }
      }
    }
  }
}

TEST(AlignedEdges, UnalignedPolygonsPullAlongTheirNearestVertex) {
  // All of the friction along one vertex, an angle δ off the slip: the velocity is off by 2 μ g h sin(δ/2).
  const double mu = 0.5, angle = 0.3;
  const Vector3d v(std::cos(angle), std::sin(angle), 0.0);
  for (const int edges : {4, 8, 16}) {
    const Solution s = solve(box_on_slope(1.0, {0.3, 0.3, 0.01}, 0.0, mu, kDt, v), pyramid(kVariants[0], edges, false));
    const double side = 2.0 * EIGEN_PI / edges, off = std::abs(angle - side * std::round(angle / side));
    EXPECT_NEAR((s.v.head<3>() - (1.0 - mu * kG * kDt) * v).norm(), 2.0 * mu * kG * kDt * std::sin(0.5 * off), 1e-9) << edges;
  }
}

TEST(AlignedEdges, SolversAgreeAndTheCertificateTurnsWithThem) {
  std::mt19937 rng(6);
  int refused = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const ContactProblem p = random_robot(rng, 11, 1 + trial % 4, 0.4);
    const Solution a = solve(p, pyramid(kVariants[0], 4, true, Solver::interior_point)),
                   b = solve(p, pyramid(kVariants[0], 4, true, Solver::lemke));
    EXPECT_EQ(a.status, Status::solved) << a.certificate.worst();
    EXPECT_EQ(b.status, Status::solved) << b.certificate.worst();
    EXPECT_NEAR((a.v - b.v).norm(), 0.0, 1e-7) << trial;
    const Certificate straight =
        certify(p, lowered(p, pyramid(kVariants[0], 4, false)), a.v, a.impulses, a.bounded_impulses, a.prescribed_impulses);
    refused += straight.worst() > 1e-9;
    for (const Law law : {Law::anitescu, Law::max_dissipation}) {
      SolveOptions options = pyramid(kVariants[0], 6, true);
      options.law = law;
      const Solution s = solve(p, options);
      EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << s.certificate.worst();
    }
  }
  EXPECT_GT(refused, 5);  // the turned polygon's answers are not the straight one's
}

TEST(PyramidOptions, OnlyWhereTheyMeanSomething) {
  const ContactProblem p = box_on_slope(1.0, {0.1, 0.1, 0.1}, 0.0, 0.5, kDt, Vector3d::Zero());
  SolveOptions options;
  options.law = Law::coulomb_cone;
  options.align_edges = true;
  EXPECT_THROW(solve(p, options), InvalidArgument);
  options.align_edges = false;
  options.variant = PyramidVariant::anitescu_potra;
  options.law = Law::moreau;  // a scheme of its own
  EXPECT_THROW(solve(p, options), InvalidArgument);
  EXPECT_THROW(pyramid_variant_from_string("anitescu"), InvalidArgument);
  EXPECT_EQ(pyramid_variant_from_string("anitescu_potra"), PyramidVariant::anitescu_potra);
  EXPECT_THROW(viscous_slip_from_string("during"), InvalidArgument);
}

}  // namespace
}  // namespace stiction::pyramid_variants_test
