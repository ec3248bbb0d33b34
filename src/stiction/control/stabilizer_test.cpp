#include "stiction/control/stabilizer.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "stiction/base/errors.hpp"

namespace stiction::stabilizer_test {
namespace {

const Eigen::Vector3d kCenter(0.0, 0.0, 0.0);

struct Feet {
  Eigen::Matrix3Xd point, normal;
};
Feet trot_feet() {
  Feet feet;
  feet.point.resize(3, 4);
  feet.point << 0.12, 0.12, -0.12, -0.12, 0.10, -0.10, 0.10, -0.10, -0.14, -0.14, -0.14, -0.14;
  feet.normal = Eigen::Vector3d::UnitZ().replicate(1, 4);
  return feet;
}
Feet random_feet(std::mt19937& rng, int k) {
  std::normal_distribution<double> gauss;
  std::uniform_real_distribution<double> place(-0.2, 0.2);
  Feet feet{Eigen::Matrix3Xd(3, k), Eigen::Matrix3Xd(3, k)};
  for (int i = 0; i < k; ++i) {
    feet.point.col(i) << place(rng), place(rng), -0.15 + 0.1 * place(rng);
    feet.normal.col(i) = Eigen::Vector3d(0.2 * gauss(rng), 0.2 * gauss(rng), 1.0).normalized();
  }
  return feet;
}

Eigen::Vector2d arm(const Feet& feet, Eigen::Index i) { return feet.point.col(i).cross(feet.normal.col(i)).head<2>(); }

// The independent reference: nonnegative least squares in two dimensions is attained on a subset of at most two feet.
double closest_by_enumeration(const Feet& feet, const Eigen::Vector2d& m) {
  double best = m.norm();
  const Eigen::Index k = feet.point.cols();
  for (Eigen::Index i = 0; i < k; ++i) {
    const Eigen::Vector2d a = arm(feet, i);
    best = std::min(best, (a * std::max(0.0, a.dot(m) / a.squaredNorm()) - m).norm());
    for (Eigen::Index j = i + 1; j < k; ++j) {
      Eigen::Matrix2d A;
      A << a, arm(feet, j);
      if (std::abs(A.determinant()) < 1e-12) continue;
      const Eigen::Vector2d f = A.inverse() * m;
      if ((f.array() >= 0.0).all()) best = 0.0;
    }
  }
  return best;
}

TEST(Stabilizer, PushesNeverPullAndComeClosest) {
  std::mt19937 rng(7);
  std::normal_distribution<double> gauss;
  VirtualForces forces;
  int reachable = 0, unreachable = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Feet feet = random_feet(rng, 1 + trial % 6);
    const Eigen::Vector2d m(2.0 * gauss(rng), 2.0 * gauss(rng));
    compressive_forces(feet.point, feet.normal, kCenter, m, 0.0, forces);
    ASSERT_EQ(forces.status, Status::solved);
    EXPECT_GE(forces.force.minCoeff(), 0.0);
    const double best = closest_by_enumeration(feet, m);
    EXPECT_NEAR(forces.residual, best, 1e-7 * m.norm()) << "trial " << trial;
    (best == 0.0 ? reachable : unreachable)++;
  }
  EXPECT_GT(reachable, 500);
  EXPECT_GT(unreachable, 500);
}

// Least norm over f >= 0 with A f = m: no point of a fine grid of the solution set is smaller.
TEST(Stabilizer, FourFeetGiveTheMomentWithTheLeastForces) {
  const Feet feet = trot_feet();
  std::mt19937 rng(3);
  std::normal_distribution<double> gauss;
  Eigen::Matrix<double, 2, 4> A;
  for (int i = 0; i < 4; ++i) A.col(i) = arm(feet, i);
  const Eigen::Matrix<double, 4, 2> kernel = Eigen::FullPivLU<Eigen::MatrixXd>(A).kernel();
  VirtualForces forces;
  for (int trial = 0; trial < 50; ++trial) {
    const Eigen::Vector2d m(gauss(rng), gauss(rng));
    compressive_forces(feet.point, feet.normal, kCenter, m, 0.0, forces);
    EXPECT_LT(forces.residual, 1e-12);
    for (int a = -40; a <= 40; ++a) {
      for (int b = -40; b <= 40; ++b) {
        const Eigen::Vector4d other = forces.force + kernel * (0.2 * Eigen::Vector2d(a, b));
        if (other.minCoeff() < 0.0) continue;
        EXPECT_GE(other.norm(), forces.force.norm() - 1e-12);
      }
    }
  }
}

TEST(Stabilizer, PureRollPressesOneSide) {
  const Feet feet = trot_feet();
  VirtualForces forces;
  // Rolling to the right (positive roll rate) asks for a negative moment about x: the right feet press.
  const StabilizerGains gains = published_stabilizer(Eigen::Vector2d(0.02, 0.04).asDiagonal());
  BaseTilt tilt;
  tilt.roll_rate = 0.5;
  const Eigen::Vector2d m = stabilizing_moment(gains, tilt);
  EXPECT_NEAR(m.x(), -0.5, 1e-15);
  compressive_forces(feet.point, feet.normal, kCenter, m, 0.0, forces);
  EXPECT_NEAR(forces.force[0], 0.0, 1e-12);
  EXPECT_NEAR(forces.force[1], 0.5 / 0.2, 1e-9);
  EXPECT_NEAR(forces.force[2], 0.0, 1e-12);
  EXPECT_NEAR(forces.force[3], 0.5 / 0.2, 1e-9);
}

TEST(Stabilizer, DiagonalFeetMakeOnlyTheMomentAcrossTheirLine) {
  Feet feet = trot_feet();
  feet.point = Eigen::Matrix3Xd(feet.point(Eigen::all, {0, 3}));
  feet.normal = Eigen::Vector3d::UnitZ().replicate(1, 2);
  const Eigen::Vector2d across = arm(feet, 0).normalized(), along(-across.y(), across.x());
  VirtualForces forces;
  compressive_forces(feet.point, feet.normal, kCenter, across + 0.7 * along, 0.0, forces);
  EXPECT_NEAR((forces.moment - across).norm(), 0.0, 1e-9);
  EXPECT_NEAR(forces.residual, 0.7, 1e-9);
}

TEST(Stabilizer, RegularisationBoundsTheForcesOfFeetInLineWithTheCentre) {
  Feet feet = trot_feet();
  feet.point = Eigen::Matrix3Xd(feet.point(Eigen::all, {0, 3}));
  feet.normal = Eigen::Vector3d::UnitZ().replicate(1, 2);
  const Eigen::Vector3d center(0.0, 0.001, 0.0);
  const Eigen::Vector2d m(-1.0, 0.0);  // 0.099 f_0 - 0.101 f_1 = -1 and f_0 = f_1
  VirtualForces exact, damped;
  compressive_forces(feet.point, feet.normal, center, m, 0.0, exact);
  compressive_forces(feet.point, feet.normal, center, m, 1e-2, damped);
  EXPECT_NEAR((exact.force - Eigen::Vector2d(500.0, 500.0)).norm(), 0.0, 1e-6);
  EXPECT_LT(exact.residual, 1e-9);
  EXPECT_LT(damped.force.maxCoeff(), 10.0);
  EXPECT_GT(damped.force.maxCoeff(), 1.0);
  EXPECT_GE(damped.force.minCoeff(), 0.0);
}

TEST(Stabilizer, NoFeetOrNoMomentGiveNoForce) {
  VirtualForces forces;
  compressive_forces(Eigen::Matrix3Xd(3, 0), Eigen::Matrix3Xd(3, 0), kCenter, Eigen::Vector2d(1.0, 0.0), 0.0, forces);
  EXPECT_EQ(forces.force.size(), 0);
  EXPECT_EQ(forces.residual, 1.0);
  const Feet feet = trot_feet();
  compressive_forces(feet.point, feet.normal, kCenter, Eigen::Vector2d::Zero(), 0.0, forces);
  EXPECT_TRUE(forces.force.isZero(0.0));
  EXPECT_THROW(compressive_forces(feet.point, Eigen::Matrix3Xd(3, 2), kCenter, Eigen::Vector2d::Zero(), 0.0, forces), InvalidArgument);
}

TEST(BaseTilt, RecoversRollPitchAndHeadingFrameRates) {
  const double yaw = 2.0, pitch = 0.3, roll = -0.4;
  const Eigen::Matrix3d Rz = Eigen::AngleAxisd(yaw, Eigen::Vector3d::UnitZ()).toRotationMatrix();
  const Eigen::Matrix3d R =
      Rz * Eigen::AngleAxisd(pitch, Eigen::Vector3d::UnitY()).toRotationMatrix() * Eigen::AngleAxisd(roll, Eigen::Vector3d::UnitX());
  const Eigen::Vector3d w(0.5, -0.7, 0.9);
  const Eigen::Vector3d expected = Rz.transpose() * R * w;
  const BaseTilt tilt = base_tilt(R, w);
  EXPECT_NEAR(tilt.roll, roll, 1e-14);
  EXPECT_NEAR(tilt.pitch, pitch, 1e-14);
  EXPECT_NEAR(tilt.roll_rate, expected.x(), 1e-14);
  EXPECT_NEAR(tilt.pitch_rate, expected.y(), 1e-14);
}

TEST(BaseTilt, AVerticalBaseIsFinite) {
  const Eigen::Matrix3d R = Eigen::AngleAxisd(std::acos(0.0), Eigen::Vector3d::UnitY()).toRotationMatrix();
  const BaseTilt tilt = base_tilt(R, Eigen::Vector3d(1.0, 2.0, 3.0));
  EXPECT_TRUE(std::isfinite(tilt.roll_rate) && std::isfinite(tilt.pitch_rate) && std::isfinite(tilt.roll));
}

// Virtual work: the torques do on any joint motion the work of feet pressing down, tau·q̇ = -Σ f_i n_i·J_i q̇.
TEST(Stabilizer, TorquesAndAccelerationsPressTheFeetDown) {
  std::mt19937 rng(11);
  std::normal_distribution<double> gauss;
  const Feet feet = random_feet(rng, 3);
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(9, 9);
  for (int i = 0; i < 3; ++i) J.block<3, 3>(3 * i, 3 * i) = Eigen::Matrix3d::Random() + 2.0 * Eigen::Matrix3d::Identity();
  VirtualForces forces;
  compressive_forces(feet.point, feet.normal, kCenter, Eigen::Vector2d(0.3, -0.5), 0.0, forces);
  ASSERT_GT(forces.force.maxCoeff(), 0.1);
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(9), a = Eigen::VectorXd::Zero(9);
  add_virtual_force_torques(forces, feet.normal, J, tau);
  add_virtual_force_accelerations(forces, feet.normal, J, 1.5, a);
  const Eigen::VectorXd rate = Eigen::VectorXd::NullaryExpr(9, [&] { return gauss(rng); });
  double work = 0.0;
  for (int i = 0; i < 3; ++i) {
    work -= forces.force[i] * feet.normal.col(i).dot(J.middleRows<3>(3 * i) * rate);
    const Eigen::Vector3d foot = J.middleRows<3>(3 * i) * a, expected = -feet.normal.col(i) * (forces.force[i] / 1.5);
    EXPECT_NEAR((foot - expected).norm(), 0.0, 1e-4 * expected.norm() + 1e-12);
  }
  EXPECT_NEAR(tau.dot(rate), work, 1e-12);
}

}  // namespace
}  // namespace stiction::stabilizer_test
