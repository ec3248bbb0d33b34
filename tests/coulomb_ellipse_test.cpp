// Coulomb's law over an ellipse: closed forms, its round trip through inverse dynamics, its certificate, its Farkas vectors and its files.
#include <cmath>
#include <filesystem>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/io/problem_file.hpp"
#include "stiction/laws/solve.hpp"
#include "tests/independent_residual.hpp"

namespace stiction::coulomb_ellipse_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kMass = 2.0, kMu = 0.6, kRatio = 0.25, kAngle = 0.4, kDt = 0.01;

SolveOptions ellipse() {
  SolveOptions options;
  options.law = Law::coulomb_ellipse;
  return options;
}

// A point mass on a plane, normal first, that presses with `press` (m/s of its mass).
ContactProblem skate(const Vector2d& slip, double press = 1.0) {
  ContactProblem p = make_contact_problem(kMass * MatrixXd::Identity(3, 3), Vector3d(-press, slip[0], slip[1]), MatrixXd::Identity(3, 3),
                                          VectorXd::Constant(1, kMu), kDt);
  p.material.assign(1, {.friction_ratio = kRatio, .friction_angle = kAngle});
  return p;
}

Vector2d axis() { return {std::cos(kAngle), std::sin(kAngle)}; }
Vector2d across() { return {-std::sin(kAngle), std::cos(kAngle)}; }

TEST(CoulombEllipse, SlidingFrictionIsTheMostDissipativeOfTheEllipse) {
  for (int k = 0; k < 24; ++k) {
    const double turn = 2.0 * std::numbers::pi * k / 24.0;
    const ContactProblem p = skate(5.0 * Vector2d(std::cos(turn), std::sin(turn)));
    const Solution s = solve(p, ellipse());
    ASSERT_EQ(s.status, Status::solved) << k;
    const Vector2d f = s.impulses.segment<2>(1), u = s.u.segment<2>(1);
    EXPECT_NEAR(s.impulses[0], kMass, 1e-9);
    // Of all friction on the boundary none takes more energy at this slip.
    double most = -kInfinity;
    for (int j = 0; j < 3600; ++j) {
      const double at = 2.0 * std::numbers::pi * j / 3600.0;
      most = std::max(most, -u.dot(kMu * kMass * (std::cos(at) * axis() + kRatio * std::sin(at) * across())));
    }
    EXPECT_NEAR(-u.dot(f), most, 1e-5 * most) << k;
    EXPECT_NEAR(std::hypot(f.dot(axis()), f.dot(across()) / kRatio), kMu * kMass, 1e-8) << k;
  }
}

// Slides across the axis at a quarter of the load that it takes along it.
TEST(CoulombEllipse, SticksWithinItsHalfAxes) {
  for (const double share : {0.99, 1.01}) {
    for (const bool along : {true, false}) {
      const double limit = along ? kMu : kRatio * kMu;
      const Solution s = solve(skate(share * limit * (along ? axis() : across())), ellipse());
      ASSERT_EQ(s.status, Status::solved);
      EXPECT_NEAR(s.u.segment<2>(1).norm(), share > 1.0 ? 0.01 * limit : 0.0, 1e-9) << share << along;
    }
  }
}

TEST(CoulombEllipse, ACircleIsCoulombsCone) {
  ContactProblem p = skate({0.4, -0.7});
  p.material[0].friction_ratio = 1.0;
  const Solution a = solve(p, ellipse()), b = solve(p);
  EXPECT_LT((a.impulses - b.impulses).norm(), 1e-9);
}

TEST(CoulombEllipse, TheCertificateTellsItFromTheCone) {
  const ContactProblem p = skate({3.0, 4.0});
  const Solution cone = solve(p);
  EXPECT_GT(certify(p, lowered(p, ellipse()), cone.v, cone.impulses, VectorXd(0), VectorXd(0)).worst(), 1e-2);
  const Solution own = solve(p, ellipse());
  EXPECT_LT(own.certificate.worst(), 1e-9);
  EXPECT_LT(independent::Residual(p, ellipse(), own).worst(), 1e-8);
}

ContactProblem random_legs(std::mt19937& rng, int contacts) {
  std::normal_distribution<double> normal;
  const int nv = 9;
  const auto random = [&](int rows, int cols) { return MatrixXd::NullaryExpr(rows, cols, [&] { return normal(rng); }).eval(); };
  const MatrixXd A = random(nv, nv);
  ContactProblem p = make_contact_problem(A * A.transpose() + MatrixXd::Identity(nv, nv), random(nv, 1), random(3 * contacts, nv),
                                          VectorXd::Constant(contacts, kMu), kDt);
  for (int i = 0; i < contacts; ++i) p.material.push_back({.friction_ratio = std::exp(0.5 * normal(rng)), .friction_angle = normal(rng)});
  return p;
}

TEST(CoulombEllipse, InverseGivesBackTheMotionOfForward) {
  std::mt19937 rng(4);
  for (int trial = 0; trial < 30; ++trial) {
    const ContactProblem p = random_legs(rng, 1 + trial % 3);
    const std::vector<int> joints{6, 7, 8};
    const Solution forward = solve(p, ellipse());
    if (forward.status != Status::solved) continue;
    InverseOptions options;
    options.contact = ellipse();
    const VectorXd desired = VectorXd(forward.v)(joints);
    const InverseSolution inverse = inverse_dynamics(p, joints, desired, {}, options);
    ASSERT_EQ(inverse.status, Status::solved) << trial;
    EXPECT_LT(inverse.tau.norm(), 1e-5 * p.v.norm() / kDt) << trial;  // nothing was needed
    EXPECT_LT((inverse.v - forward.v).norm(), 1e-6 * p.v.norm()) << trial;
  }
}

TEST(CoulombEllipse, SolversAgree) {
  std::mt19937 rng(6);
  for (int trial = 0; trial < 20; ++trial) {
    const ContactProblem p = random_legs(rng, 2);
    SolveOptions prox = ellipse();
    prox.solver = Solver::sor;
    prox.tolerance = 1e-8;
    const Solution a = solve(p, ellipse()), b = solve(p, prox);
    if (a.status != Status::solved || b.status != Status::solved) continue;
    EXPECT_LT((a.v - b.v).norm(), 1e-5 * p.v.norm()) << trial;
  }
}

// Driven into the ground: no friction of any shape helps.
TEST(CoulombEllipse, ProvesThatItHasNoAnswer) {
  ContactProblem p = skate({0.1, 0.0});
  p.prescribed = {0};
  p.v_prescribed = VectorXd::Constant(1, -1.0);
  const Solution s = solve(p, ellipse());
  EXPECT_EQ(s.status, Status::infeasible);
  ASSERT_TRUE(s.ray.proof);
  EXPECT_TRUE(proves_infeasible(p, ellipse(), s.ray));
}

TEST(CoulombEllipse, FilesKeepItsAxes) {
  ContactProblem p = skate({0.1, 0.2});
  p.laws = {Law::coulomb_ellipse};
  for (const char* name : {"ellipse.json", "ellipse.npz"}) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / name;
    save_problem(file, p);
    const auto back = load_problem(file);
    std::filesystem::remove(file);
    const ContactProblem& read = std::get<ContactProblem>(back);
    EXPECT_EQ(read.laws, p.laws);
    EXPECT_EQ(read.material[0].friction_ratio, kRatio);
    EXPECT_EQ(read.material[0].friction_angle, kAngle);
  }
}

TEST(CoulombEllipse, AsksForARatioAboveZero) {
  ContactProblem p = skate({0.1, 0.2});
  p.material[0].friction_ratio = 0.0;
  EXPECT_THROW(solve(p, ellipse()), InvalidArgument);
}

}  // namespace
}  // namespace stiction::coulomb_ellipse_test
