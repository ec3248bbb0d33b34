// Planted feet and joint velocities that contradict them: the nearest that do not, the distance, and the Farkas vector, from closed forms.
#include <gtest/gtest.h>

#include <numeric>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::nearest_no_slip_test {
namespace {

using namespace testing_problems;

constexpr double kDt = 1e-3;

InverseOptions no_slip() {
  InverseOptions options;
  options.contact.law = Law::no_slip;
  return options;
}

/// A base that moves in x, y, z and carries two feet; slider k moves foot k along x, relative to the base. Unit masses.
ContactProblem two_feet() {
  MatrixXd J = MatrixXd::Zero(6, 5);
  for (int foot = 0; foot < 2; ++foot) {
    J(3 * foot, 2) = J(3 * foot + 1, 0) = J(3 * foot + 2, 1) = 1.0;
    J(3 * foot + 1, 3 + foot) = 1.0;
  }
  ContactProblem p = make_contact_problem(MatrixXd::Identity(5, 5), VectorXd::Zero(5), J, VectorXd::Constant(2, 0.5), kDt);
  p.impulse[2] = -kDt * 9.81;
  return p;
}

const std::vector<int> kEightJoints{6, 7, 8, 9, 10, 11, 12, 13};

/// Some robot with these joints on three to five contacts.
ContactProblem robot_at_rest(unsigned seed) {
  std::mt19937 rng(seed);
  ContactProblem p = random_robot(rng, 6 + 8, 3 + static_cast<int>(seed % 3), 0.5);
  p.v.setZero();
  return p;
}

// Base speed -s keeps both feet where they are only when both sliders move at s. Asked for (a, b), the nearest is their mean.
TEST(NearestNoSlip, OppositeVelocitiesOfTwoPlantedFeetMeetInTheMiddle) {
  const ContactProblem p = two_feet();
  const std::vector<int> joints{3, 4};
  for (const auto& [a, b] : {std::pair{0.4, -0.4}, {1.0, 0.0}, {-0.3, 2.0}, {1e-6, -2e-6}}) {
    const VectorXd desired = (VectorXd(2) << a, b).finished();
    const InverseSolution s = inverse_dynamics(p, joints, desired, {}, no_slip());
    const double mean = 0.5 * (a + b), size = std::max(std::abs(a), std::abs(b));
    EXPECT_EQ(s.status, Status::solved);
    EXPECT_TRUE(s.repaired);
    EXPECT_NEAR(s.v[3], mean, 1e-13 * size);
    EXPECT_NEAR(s.v[4], mean, 1e-13 * size);
    EXPECT_NEAR(s.v[0], -mean, 1e-13 * size);
    EXPECT_NEAR(s.shortfall, 0.5 * std::abs(a - b), 1e-13 * size);
    // Σ z: foot against foot, and the sliders as they differ.
    ASSERT_FALSE(s.proof.empty());
    EXPECT_TRUE(certifies_infeasibility(p, joints, desired, {}, no_slip().contact, s.proof));
    EXPECT_NEAR(s.proof.contacts[1] + s.proof.contacts[4], 0.0, 1e-12 * std::abs(s.proof.contacts[1]));
    EXPECT_NEAR(s.proof.joints[0] + s.proof.joints[1], 0.0, 1e-12 * std::abs(s.proof.joints[0]));
    // The same vector proves nothing of a request that can be met, nor turned about.
    EXPECT_FALSE(certifies_infeasibility(p, joints, VectorXd::Constant(2, mean), {}, no_slip().contact, s.proof));
    RequestProof turned = s.proof;
    turned.joints *= -1.0;
    EXPECT_FALSE(certifies_infeasibility(p, joints, desired, {}, no_slip().contact, turned));
  }
}

TEST(NearestNoSlip, UnrepairedTheRequestIsRefusedWithTheSameProof) {
  const ContactProblem p = two_feet();
  const std::vector<int> joints{3, 4};
  InverseOptions options = no_slip();
  options.repair_inconsistent = false;
  InverseWorkspace w;
  InverseSolution s;
  inverse_dynamics(p, joints, (VectorXd(2) << 1.0, 0.0).finished(), {}, options, w, s);
  EXPECT_EQ(s.status, Status::infeasible);
  EXPECT_TRUE(s.ray.proof);
  EXPECT_FALSE(s.repaired);
  EXPECT_NEAR(s.ray.impulses[1] + s.ray.impulses[4], 0.0, 1e-12 * std::abs(s.ray.impulses[1]));
}

TEST(NearestNoSlip, ConsistentVelocitiesAreLeftAlone) {
  const InverseSolution s = inverse_dynamics(two_feet(), std::vector{3, 4}, VectorXd::Constant(2, 0.7), {}, no_slip());
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_FALSE(s.repaired);
  EXPECT_TRUE(s.proof.empty());
  EXPECT_NEAR(s.v[0], -0.7, 1e-14);
}

// Any robot: what is returned can be followed, and the way to it is orthogonal to all that can be followed (the normal equations).
TEST(NearestNoSlip, TheWayToTheNearestIsOrthogonalToWhatCanBeFollowed) {
  int orthogonal = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const ContactProblem p = robot_at_rest(seed);
    const VectorXd desired = VectorXd::Random(8);
    const InverseSolution s = inverse_dynamics(p, kEightJoints, desired, {}, no_slip());
    ASSERT_EQ(s.status, Status::solved) << seed << " " << s.certificate.worst();
    ASSERT_TRUE(s.repaired) << seed;
    MatrixXd tangents(2 * p.contacts(), 14);
    for (int i = 0; i < p.contacts(); ++i) tangents.middleRows<2>(2 * i) = p.J.to_dense().middleRows<2>(3 * i + 1);
    EXPECT_LT((tangents * s.v).norm(), 1e-10) << seed;
    const Eigen::FullPivLU<MatrixXd> motions(tangents);
    const MatrixXd followed = motions.kernel().bottomRows(8);
    const VectorXd way = s.v.tail(8) - desired;
    // Where normals refuse the nearest that the tangents allow, it is farther away.
    const VectorXd nearest = followed * followed.colPivHouseholderQr().solve(desired);
    EXPECT_GE(way.norm(), (nearest - desired).norm() - 1e-9) << seed;
    orthogonal += (followed.transpose() * way).norm() < 1e-9 * followed.norm() ? 1 : 0;
    ASSERT_FALSE(s.proof.empty());
    EXPECT_TRUE(certifies_infeasibility(p, kEightJoints, desired, {}, no_slip().contact, s.proof)) << seed;
  }
  EXPECT_GE(orthogonal, 15);
}

// Rows of couplings and loops are exact, however little they see of the coordinates that are not driven: a loop of light links, whose rows
// have entries a ten-thousandth of the others', is as closed as any.
TEST(NearestNoSlip, BilateralRowsHoldExactlyWhateverTheirLengths) {
  const std::vector<int> joints{8, 9, 10, 11, 12, 13};
  int replaced = 0;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 rng(seed);
    ContactProblem p = random_robot(rng, 6 + 8, 3, 0.5);
    p.v.setZero();
    MatrixXd rows = MatrixXd::Zero(4, 14);
    rows(0, 12) = 1.0;  // a coupling of two driven joints
    rows(0, 13) = -1.0;
    rows.block(1, 6, 2, 4) = MatrixXd::Random(2, 4);  // a loop through two joints that no motor drives
    rows.block(1, 6, 2, 2) *= 1e-4;
    rows.row(3) = rows.row(1) - 2.0 * rows.row(2);  // and once more, as loops in a plane have it
    p.J_b = BlockRows::from_dense(1, rows, p.M.sizes());
    p.b = VectorXd::Zero(4);
    p.lo = VectorXd::Constant(4, -kInfinity);
    p.hi = VectorXd::Constant(4, kInfinity);
    const VectorXd desired = VectorXd::Random(6);
    const InverseSolution s = inverse_dynamics(p, joints, desired, {}, no_slip());
    ASSERT_EQ(s.status, Status::solved) << seed << " " << s.certificate.worst();
    EXPECT_LT((rows * s.v).norm(), 1e-9) << seed;
    replaced += s.repaired ? 1 : 0;
    MatrixXd held(2 * p.contacts() + 3, 14);
    for (int i = 0; i < p.contacts(); ++i) held.middleRows<2>(2 * i) = p.J.to_dense().middleRows<2>(3 * i + 1);
    held.bottomRows<3>() = rows.topRows<3>();
    const Eigen::FullPivLU<MatrixXd> motions(held);
    const MatrixXd followed = motions.kernel().bottomRows(6);
    const VectorXd nearest = followed * followed.colPivHouseholderQr().solve(desired);
    const double least = (nearest - desired).norm(), way = (s.v.tail(6) - desired).norm();
    EXPECT_GE(way, least - 1e-8) << seed;
    const bool opens = (p.J.to_dense() * s.v)(Eigen::seqN(0, p.contacts(), 3)).minCoeff() > 1e-9;  // normals refuse nothing more
    if (opens) {
      EXPECT_NEAR(way, least, 1e-6) << seed;
    }
  }
  EXPECT_GE(replaced, 25);
}

// The second solve keeps what the refused one found of the rows. In a workspace that saw other robots, refused and not, it ends where the
// nearest request asked for from the start ends.
TEST(NearestNoSlip, WhatIsKeptOfTheRefusedAttemptIsThatOfTheSameRows) {
  InverseWorkspace w;
  InverseSolution s;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const ContactProblem p = robot_at_rest(seed);
    inverse_dynamics(p, kEightJoints, VectorXd::Random(8), {}, no_slip(), w, s);
    ASSERT_TRUE(s.repaired) << seed;
    const InverseSolution direct = inverse_dynamics(p, kEightJoints, s.v.tail(8), {}, no_slip());
    ASSERT_EQ(direct.status, Status::solved) << seed;
    EXPECT_FALSE(direct.repaired) << seed;
    EXPECT_LT((direct.v - s.v).norm(), 1e-9 * s.v.norm()) << seed;
    EXPECT_LT((direct.tau - s.tau).norm(), 1e-6 * s.tau.norm()) << seed;
    InverseSolution consistent;
    inverse_dynamics(p, kEightJoints, s.v.tail(8), {}, no_slip(), w, consistent);
    EXPECT_LT((direct.v - consistent.v).norm(), 1e-9 * s.v.norm()) << seed;
  }
}

/// A floating base on feet that three joints each move along x, y, z, out of one plane by `height` times a random number.
ContactProblem stands(std::mt19937& rng, int feet, double height) {
  std::normal_distribution<double> normal;
  const auto gaussian = [&] { return normal(rng); };
  const int nv = 6 + 3 * feet;
  const MatrixXd a = MatrixXd::NullaryExpr(nv, nv, gaussian);
  MatrixXd J = MatrixXd::Zero(3 * feet, nv);
  for (int i = 0; i < feet; ++i) {
    const double x = (i % 2 == 0 ? 0.2 : -0.2) + 0.02 * gaussian(), y = (i < 2 ? 0.1 : -0.1) + 0.02 * gaussian();
    J.middleRows<3>(3 * i).leftCols<6>() = body_rows({x, y, -0.5 + height * gaussian()}, upright());
    J.middleRows<3>(3 * i).middleCols<3>(6 + 3 * i) = upright().transpose();
  }
  ContactProblem p =
      make_contact_problem(a * a.transpose() / nv + MatrixXd::Identity(nv, nv), VectorXd::Zero(nv), J, VectorXd::Constant(feet, 0.5), kDt);
  p.impulse[2] = -0.05;
  return p;
}

// Feet almost in one plane hold the base's roll and pitch by their distance from it alone. What they refuse is that of feet in the plane
// but for that distance, and no impulse grows with its inverse: the projection of the desired velocities on what a planar motion follows.
TEST(NearestNoSlip, FeetAlmostInOnePlaneRefuseWhatFeetInThePlaneDo) {
  std::mt19937 rng(5);
  std::normal_distribution<double> normal;
  for (const int feet : {2, 3, 4}) {
    for (const double height : {0.0, 1e-11, 1e-9, 1e-8, 1e-7, 1e-6}) {
      for (int trial = 0; trial < 30; ++trial) {
        const ContactProblem p = stands(rng, feet, height);
        std::vector<int> joints(3 * feet);
        std::iota(joints.begin(), joints.end(), 6);
        const VectorXd desired = VectorXd::NullaryExpr(3 * feet, [&] { return 0.1 * normal(rng); });
        const InverseSolution s = inverse_dynamics(p, joints, desired, {}, no_slip());
        ASSERT_EQ(s.status, Status::solved) << feet << " " << height << " " << trial << " " << s.certificate.worst();
        EXPECT_TRUE(s.repaired);
        // The plane's x, y and turn, seen by the tangents.
        MatrixXd planar(2 * feet, 3);
        VectorXd asked(2 * feet), reached(2 * feet);
        const MatrixXd J = p.J.to_dense();
        for (int i = 0; i < feet; ++i) {
          planar.middleRows<2>(2 * i) = J.block<2, 6>(3 * i + 1, 0)(Eigen::all, {0, 1, 5});
          asked.segment<2>(2 * i) = desired.segment<2>(3 * i);
          reached.segment<2>(2 * i) = s.v.segment<2>(6 + 3 * i);
        }
        const VectorXd nearest = planar * planar.colPivHouseholderQr().solve(asked);
        EXPECT_LT((reached - nearest).norm(), 1e-12 + 1e3 * height) << feet << " " << height << " " << trial;
        EXPECT_LT(s.impulses.lpNorm<Eigen::Infinity>(), 50.0 * desired.norm()) << feet << " " << height << " " << trial;
        EXPECT_LT(s.v.norm(), 50.0 * desired.norm()) << feet << " " << height << " " << trial;
      }
    }
  }
}

// Feet at heights about the distance from which on tangents count as apart: what contradicts there would drive the base hundreds of times
// as fast as the joints. Standing still is allowed, so the nearest is no farther, beside joints that are at their stops too.
TEST(NearestNoSlip, IsNoFartherThanStandingStillHoweverPoorlyTangentsHoldTheBase) {
  std::mt19937 rng(11);
  std::normal_distribution<double> normal;
  int limited = 0;
  for (const bool stops : {false, true}) {
    for (const int feet : {3, 4}) {
      for (const double height : {1e-7, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2}) {
        for (int trial = 0; trial < 20; ++trial) {
          ContactProblem p = stands(rng, feet, height);
          const int driven = 3 * feet, nv = p.velocities();
          std::vector<int> joints(driven);
          std::iota(joints.begin(), joints.end(), 6);
          if (stops) {  // the first two joints are at theirs
            MatrixXd rows = MatrixXd::Zero(2, nv);
            rows(0, 6) = 1.0;
            rows(1, 7) = -1.0;
            p.J_b = BlockRows::from_dense(1, rows, p.M.sizes());
            p.b = p.lo = VectorXd::Zero(2);
            p.hi = VectorXd::Constant(2, kInfinity);
          }
          const VectorXd desired = VectorXd::NullaryExpr(driven, [&] { return 0.1 * normal(rng); });
          const InverseSolution s = inverse_dynamics(p, joints, desired, {}, no_slip());
          ASSERT_EQ(s.status, Status::solved) << stops << " " << feet << " " << height << " " << trial << " " << s.certificate.worst();
          EXPECT_LE((s.v.tail(driven) - desired).norm(), desired.norm() * (1.0 + 1e-9)) << feet << " " << height << " " << trial;
          if (stops) {
            EXPECT_GE(s.v[6], -1e-9);
            EXPECT_LE(s.v[7], 1e-9);
            limited += s.v[6] < 1e-9 || s.v[7] > -1e-9 ? 1 : 0;
          }
        }
      }
    }
  }
  EXPECT_GT(limited, 100);
}

TEST(NearestNoSlip, AndTorqueLimitsAllocateNothingOnceTheSizesAreKnown) {
  if (!allocations_are_counted()) GTEST_SKIP() << "sanitizers own malloc in this build";
  std::mt19937 rng(7);
  ContactProblem p = random_robot(rng, 6 + 8, 4, 0.5);
  p.v.setZero();
  std::vector<int> joints;
  for (int j = 6; j < 14; ++j) joints.push_back(j);
  const VectorXd desired = VectorXd::Random(8);
  const std::vector<double> weak(8, 5.0);
  InverseWorkspace w, limited;
  InverseSolution s, held_back;
  const auto control = [&] {
    for (int k = 0; k < 5; ++k) {
      p.impulse[2] -= 1e-4;
      inverse_dynamics(p, joints, desired, {}, no_slip(), w, s);
      inverse_dynamics(p, joints, desired, weak, no_slip(), limited, held_back);
    }
  };
  control();
  const std::size_t before = allocation_count();
  control();
  EXPECT_EQ(allocation_count() - before, 0u);
  EXPECT_TRUE(s.repaired);
  EXPECT_FALSE(s.proof.empty());
  EXPECT_GT(held_back.shortfall, 1e-6);
}

}  // namespace
}  // namespace stiction::nearest_no_slip_test
