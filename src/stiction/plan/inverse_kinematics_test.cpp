#include "stiction/plan/inverse_kinematics.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "stiction/base/errors.hpp"

namespace stiction::inverse_kinematics_test {
namespace {

Eigen::Vector3d foot_of(const Leg& leg, const LegVector& q) {
  Eigen::Vector3d p;
  LegJacobian J;
  leg.kinematics(q, p, J);
  return p;
}

LegVector random_posture(const Leg& leg, std::mt19937& rng, double margin) {
  LegVector q(leg.lower.size());
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    q[i] = std::uniform_real_distribution<double>(leg.lower[i] + margin, leg.upper[i] - margin)(rng);
  }
  return q;
}

TEST(LegKinematics, StraightLegsAndStandingPostureOfLinks) {
  const std::vector<Leg> legs = links_legs();
  const double sx[] = {1, 1, -1, -1}, sy[] = {1, -1, 1, -1}, sign[] = {1, -1, -1, 1};
  const double down = 0.1 * std::sin(0.7854) + 0.1 * std::sin(0.7854 + 1.5708),
               out = 0.1 * std::cos(0.7854) + 0.1 * std::cos(0.7854 + 1.5708);
  const Eigen::VectorXd standing = links_standing_posture();
  for (std::size_t l = 0; l < 4; ++l) {
    EXPECT_LT((foot_of(legs[l], Eigen::Vector3d::Zero()) - Eigen::Vector3d(0.35 * sx[l], 0.06 * sy[l], 0.0)).norm(), 1e-15);
    const Eigen::Vector3d q = sign[l] * Eigen::Vector3d(0.3927, 0.7854, 1.5708);
    EXPECT_EQ(Eigen::Vector3d(standing.segment<3>(legs[l].joints[0])), q);
    const Eigen::Vector3d expected(sx[l] * (0.15 + out), sy[l] * (0.06 + down * std::sin(0.3927)), -down * std::cos(0.3927));
    EXPECT_LT((foot_of(legs[l], q) - expected).norm(), 1e-15);
  }
}

SerialChain mixed_chain() {  // five joints, one prismatic, rotated placements
  SerialChain chain;
  std::mt19937 rng(5);
  std::normal_distribution<double> gauss;
  for (int i = 0; i < 5; ++i) {
    ChainJoint joint;
    joint.translation = 0.1 * Eigen::Vector3d(gauss(rng), gauss(rng), gauss(rng));
    joint.axis = Eigen::Vector3d(gauss(rng), gauss(rng), gauss(rng)).normalized();
    joint.rotation = Eigen::Quaterniond(gauss(rng), gauss(rng), gauss(rng), gauss(rng)).normalized().toRotationMatrix();
    joint.revolute = i != 2;
    chain.joints.push_back(joint);
  }
  chain.foot_offset << 0.05, -0.1, 0.2;
  return chain;
}
Leg mixed_leg() {
  Leg leg;
  leg.joints = {0, 1, 2, 3, 4};
  leg.kinematics = mixed_chain();
  leg.lower = LegVector::Constant(5, -2.0);
  leg.upper = LegVector::Constant(5, 2.0);
  return leg;
}

TEST(LegKinematics, JacobianIsTheDerivative) {
  std::mt19937 rng(1);
  std::vector<Leg> legs = links_legs();
  legs.push_back(mixed_leg());
  for (const Leg& leg : legs) {
    for (int trial = 0; trial < 20; ++trial) {
      const LegVector q = random_posture(leg, rng, 0.0);
      Eigen::Vector3d p;
      LegJacobian J;
      leg.kinematics(q, p, J);
      const double h = 1e-6;
      for (Eigen::Index i = 0; i < q.size(); ++i) {
        LegVector after = q, before = q;
        after[i] += h;
        before[i] -= h;
        EXPECT_LT(((foot_of(leg, after) - foot_of(leg, before)) / (2.0 * h) - J.col(i)).norm(), 1e-9);
      }
    }
  }
}

TEST(InverseKinematics, ReachesRandomReachablePlaces) {
  std::mt19937 rng(2);
  std::vector<Leg> legs = links_legs();
  legs.push_back(mixed_leg());
  int most = 0;
  for (const Leg& leg : legs) {
    for (int trial = 0; trial < 300; ++trial) {
      const LegVector truth = random_posture(leg, rng, 0.7);  // starts on the same side of the straight knee
      const Eigen::Vector3d target = foot_of(leg, truth);
      LegVector start = truth;
      for (Eigen::Index i = 0; i < start.size(); ++i) start[i] += std::uniform_real_distribution<double>(-0.3, 0.3)(rng);
      const InverseKinematicsSolution ik = inverse_kinematics(leg, target, start);
      ASSERT_EQ(ik.status, Status::solved) << "trial " << trial << " distance " << ik.distance;
      EXPECT_LT((foot_of(leg, ik.q) - target).norm(), 1e-10);
      EXPECT_TRUE((ik.q.array() >= leg.lower.array()).all() && (ik.q.array() <= leg.upper.array()).all());
      most = std::max(most, ik.iterations);
    }
  }
  EXPECT_LE(most, 40);
}

// A step of a trot at 1 ms moves a foot by about a millimetre: quadratic convergence takes very few iterations.
TEST(InverseKinematics, WarmStartTakesFewIterations) {
  const Leg leg = links_legs()[0];
  const LegVector q = Eigen::Vector3d(0.3927, 0.7854, 1.5708);
  const Eigen::Vector3d target = foot_of(leg, q) + Eigen::Vector3d(1e-3, -5e-4, 1e-3);
  const InverseKinematicsSolution ik = inverse_kinematics(leg, target, q);
  EXPECT_EQ(ik.status, Status::solved);
  EXPECT_LE(ik.iterations, 4);
}

// Out of reach: links' hip axis passes through (y, z) = (0.06, 0) and the leg measures 0.05 + 0.1 + 0.1 m, so straight ahead at
// x = 1 the nearest place is the straight leg's, and below the hip the reach from the thigh joint is 0.2 m.
TEST(InverseKinematics, UnreachablePlacesGiveTheNearestPointAndSayHowFar) {
  const Leg leg = links_legs()[0];
  const LegVector start = Eigen::Vector3d(0.2, 0.9, 1.2);
  const InverseKinematicsSolution ahead = inverse_kinematics(leg, {1.0, 0.06, 0.0}, start);
  EXPECT_NE(ahead.status, Status::solved);
  EXPECT_NEAR(ahead.distance, 0.65, 1e-6);
  const InverseKinematicsSolution below = inverse_kinematics(leg, {0.15, 0.06, -0.5}, start);
  EXPECT_NE(below.status, Status::solved);
  EXPECT_NEAR(below.distance, 0.3, 1e-6);
  for (const InverseKinematicsSolution& ik : {ahead, below}) {
    EXPECT_NE(ik.status, Status::numerical_error);
    EXPECT_TRUE((ik.q.array() >= leg.lower.array()).all() && (ik.q.array() <= leg.upper.array()).all());
  }
}

// The thigh joint's circle: feet nearer than the shank can fold are out of reach too.
TEST(InverseKinematics, JointLimitsAreRespectedWhenTheyBindTheAnswer) {
  Leg leg = links_legs()[0];
  const LegVector bent = Eigen::Vector3d(0.3, 0.8, 1.5);
  const Eigen::Vector3d target = foot_of(leg, bent);
  leg.upper[2] = 1.2;
  const InverseKinematicsSolution ik = inverse_kinematics(leg, target, Eigen::Vector3d(0.3, 0.9, 1.0));
  EXPECT_EQ(ik.status, Status::inaccurate);
  EXPECT_EQ(ik.q[2], 1.2);
  // The closest place in the leg's plane is on the circle of radius |thigh to foot| at shank = 1.2, towards the target.
  const double reach = 0.2 * std::cos(0.6), wanted = 0.2 * std::cos(0.75);
  EXPECT_NEAR(ik.distance, reach - wanted, 1e-6);
}

TEST(InverseKinematics, RatesMatchTheMotionOfTheFoot) {
  std::mt19937 rng(4);
  std::normal_distribution<double> gauss;
  const Leg leg = links_legs()[1];
  LegVector q0 = Eigen::Vector3d(-0.3927, -0.7854, -1.5708);
  const Eigen::Vector3d p0 = foot_of(leg, q0);
  for (int trial = 0; trial < 30; ++trial) {
    const Eigen::Vector3d xd = 0.5 * Eigen::Vector3d(gauss(rng), gauss(rng), gauss(rng));
    const Eigen::Vector3d xdd = 10.0 * Eigen::Vector3d(gauss(rng), gauss(rng), gauss(rng));
    LegVector v, a;
    joint_rates(leg, q0, xd, xdd, v, a);
    const double h = 1e-3;
    const auto at = [&](double t) { return inverse_kinematics(leg, p0 + t * xd + 0.5 * t * t * xdd, q0).q; };
    // Fourth-order differences of the solved joint positions.
    const LegVector v_fd = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h);
    const LegVector a_fd = (16.0 * (at(h) + at(-h)) - (at(2 * h) + at(-2 * h)) - 30.0 * at(0)) / (12.0 * h * h);
    EXPECT_LT((v - v_fd).norm(), 1e-5 * (1.0 + v.norm()));
    EXPECT_LT((a - a_fd).norm(), 1e-3 * (1.0 + a.norm()));
    Eigen::Vector3d p;
    LegJacobian J;
    leg.kinematics(q0, p, J);
    EXPECT_LT((J * v - xd).norm(), 1e-12);
  }
}

TEST(InverseKinematics, RatesStayFiniteAndSmallAtASingularity) {
  const Leg leg = links_legs()[0];
  LegVector v, a;
  joint_rates(leg, Eigen::Vector3d::Zero(), {0.1, 0.1, 0.1}, {1.0, 1.0, 1.0}, v, a);  // straight: x and y cannot be followed
  EXPECT_TRUE(v.allFinite() && a.allFinite());
  EXPECT_LT(v.norm(), 10.0);
}

TEST(InverseKinematics, RefusesBadInput) {
  const Leg leg = links_legs()[0];
  EXPECT_THROW(inverse_kinematics(leg, {std::nan(""), 0.0, 0.0}, Eigen::Vector3d::Zero()), InvalidArgument);
  EXPECT_THROW(inverse_kinematics(leg, {0.1, 0.0, 0.0}, LegVector::Zero(2)), InvalidArgument);
  EXPECT_THROW(inverse_kinematics(leg, {0.1, 0.0, 0.0}, Eigen::Vector3d::Zero(), {.tolerance = std::nan("")}), InvalidArgument);
  SerialChain chain = mixed_chain();
  chain.joints[1].axis *= 2.0;
  EXPECT_THROW(validate(chain), InvalidArgument);
}

}  // namespace
}  // namespace stiction::inverse_kinematics_test
