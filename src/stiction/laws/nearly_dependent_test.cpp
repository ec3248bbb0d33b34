// A rod that rolls on two points whose frames and places are a hair apart, in closed form: exactly without slip it could only stand.
#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::nearly_dependent_test {
namespace {

using namespace testing_problems;

// Points at (±hair, ±0.1, -0.08), normals turned by ∓hair about y; it rolls along x and lands within the step, at half its speed. What
// slips there is hair² times its fall over the points' distance: 6e-11 of the largest speed.
TEST(NoSlip, ASlipWithinTheToleranceIsNotHeldByImpulsesWithoutMeasure) {
  constexpr double kMass = 2.0, kHair = 3e-5, kSpin = 1.5, kFall = 0.02, kStep = 2e-3;
  MatrixXd M = kMass * MatrixXd::Identity(6, 6);
  M.bottomRightCorner<3, 3>() = Vector3d(0.01, 0.008, 0.01).asDiagonal();
  MatrixXd J(6, 6);
  for (const int side : {1, -1}) {
    const Eigen::Matrix3d turned = Eigen::AngleAxisd(-side * kHair, Vector3d::UnitY()).toRotationMatrix();
    J.middleRows<3>(side > 0 ? 0 : 3) = body_rows({side * kHair, side * 0.1, -0.08}, turned * upright());
  }
  VectorXd v = VectorXd::Zero(6);
  v << kSpin * 0.08, 0.0, -kFall, 0.0, kSpin, 0.0;
  ContactProblem p = make_contact_problem(M, v, J, VectorXd::Constant(2, 0.5), kStep);
  p.gap.setConstant(0.5 * kFall * kStep);
  const Solution s = solve(p, with(Law::no_slip));
  EXPECT_EQ(s.status, Status::solved) << s.certificate.worst();
  EXPECT_NEAR(s.v[2], -0.5 * kFall, 1e-6);
  EXPECT_NEAR(s.v[4], kSpin, 1e-4);
  EXPECT_LT(largest_entry(s.impulses), kMass * kFall);
}

}  // namespace
}  // namespace stiction::nearly_dependent_test
