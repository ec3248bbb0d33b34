// Torque limits, joints with dry friction, and requests that cannot be met, under every law.
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/laws/infeasibility.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::limits_test {
namespace {

using namespace testing_problems;

constexpr double kDt = 0.01;
constexpr std::array kRigid{Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu, Law::max_dissipation};

InverseOptions with(Law law, Solver solver = Solver::automatic) {
  InverseOptions options;
  options.contact.law = law;
  options.contact.solver = solver;
  return options;
}

std::vector<int> joints_of(const ContactProblem& p) {
  std::vector<int> joints;
  for (int j = 6; j < p.velocities(); ++j) joints.push_back(j);
  return joints;
}

/// One velocity coordinate of unit mass with a contact whose normal opposes it at distance `gap`: a finger in front of a wall.
ContactProblem finger(double impulse, double gap) {
  MatrixXd J = MatrixXd::Zero(3, 1);
  J(0, 0) = -1.0;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(1, 1), VectorXd::Zero(1), J, VectorXd::Constant(1, 0.5), kDt);
  p.impulse[0] = impulse;
  p.gap[0] = gap;
  return p;
}

void expect_saturation(const InverseSolution& s, const std::vector<int>& joints, const VectorXd& desired, const std::vector<double>& limits,
                       int& saturated) {
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const double error = s.v[joints[i]] - desired[k], tolerance = 1e-7 * (1.0 + s.v.cwiseAbs().maxCoeff());
    EXPECT_LE(std::abs(s.tau[k]), limits[i] * (1.0 + 1e-9));
    if (std::abs(s.tau[k]) < limits[i] * (1.0 - 1e-7)) {
      EXPECT_NEAR(error, 0.0, tolerance) << "joint " << i << " misses its velocity with torque to spare";
    } else {
      ++saturated;
      EXPECT_LE(error * s.tau[k], tolerance * limits[i]) << "joint " << i << " is past its velocity at its limit";
    }
  }
}

TEST(TorqueLimits, SaturatedJointsFallShortAndTheOthersArrive) {
  for (const Law law : kRigid) {
    int saturated = 0, free = 0, inside = 0;
    for (unsigned seed = 1; seed <= 12; ++seed) {
      std::mt19937 rng(seed);
      const ContactProblem p = random_robot(rng, 12, 1 + static_cast<int>(seed % 4), 0.5);
      const std::vector<int> joints = joints_of(p);
      const VectorXd desired = VectorXd::LinSpaced(6, -0.2, 0.3);
      const InverseSolution unlimited = inverse_dynamics(p, joints, desired, {}, with(law));
      ASSERT_EQ(unlimited.status, Status::solved) << to_string(law) << " " << seed;
      const std::vector<double> limits(joints.size(), 0.4 * unlimited.tau.cwiseAbs().maxCoeff());
      const InverseSolution s = inverse_dynamics(p, joints, desired, limits, with(law));
      EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << seed << " " << s.certificate.worst();
      EXPECT_EQ(s.bounded_impulses.size(), p.bounded_rows());  // those of the limited joints are no rows of p
      EXPECT_EQ(s.prescribed_impulses, VectorXd(p.dt * s.tau));
      EXPECT_EQ(s.multipliers.size(), law == Law::max_dissipation ? p.contacts() + p.bounded_rows() : 0);
      const int before = saturated;
      // What replaces a request that the contacts refuse is what is asked for beside limits too.
      const VectorXd asked = s.repaired ? VectorXd(unlimited.v.tail(6)) : desired;
      EXPECT_EQ(s.repaired, unlimited.repaired) << to_string(law) << " " << seed;
      expect_saturation(s, joints, asked, limits, saturated);
      inside += static_cast<int>(joints.size()) - (saturated - before);
      // The torques found, applied in a forward step, lead to the same joint velocities.
      ContactProblem forward = p;
      for (std::size_t i = 0; i < joints.size(); ++i) forward.impulse[joints[i]] += p.dt * s.tau[static_cast<Eigen::Index>(i)];
      const Solution step = solve(forward, with(law).contact);
      ASSERT_EQ(step.status, Status::solved);
      free += (step.v - s.v).cwiseAbs().maxCoeff() < 1e-6 * (1.0 + s.v.cwiseAbs().maxCoeff()) ? 1 : 0;
    }
    EXPECT_GT(saturated, 10) << to_string(law);
    EXPECT_GT(inside, 10) << to_string(law);
    EXPECT_GE(free, law == Law::coulomb_pyramid || law == Law::coulomb_cone ? 8 : 12) << to_string(law);  // their motion need not be unique
  }
}

void expect_same_bits(const InverseSolution& s, const InverseSolution& other, std::string_view law) {
  EXPECT_EQ(s.status, other.status) << law;
  EXPECT_EQ(s.tau, other.tau) << law;
  EXPECT_EQ(s.v, other.v) << law;
  EXPECT_EQ(s.impulses, other.impulses) << law;
  EXPECT_EQ(s.bounded_impulses, other.bounded_impulses) << law;
  EXPECT_EQ(s.prescribed_impulses, other.prescribed_impulses) << law;
  EXPECT_EQ(s.certificate.worst(), other.certificate.worst()) << law;
  EXPECT_EQ(s.repaired, other.repaired) << law;
  EXPECT_EQ(s.proof.empty(), other.proof.empty()) << law;
}

TEST(TorqueLimits, LooseOnesChangeNothing) {
  for (const unsigned seed : {4u, 5u, 6u}) {
    std::mt19937 rng(seed);
    ContactProblem p = random_robot(rng, 12, 1 + static_cast<int>(seed % 3), 0.5);
    ContactMaterial soft;
    soft.stiffness = soft.stiffness_tangential = 1e4;
    soft.viscosity = 10.0;
    p.material.assign(p.contacts(), soft);
    const std::vector<int> joints = joints_of(p);
    const VectorXd desired = VectorXd::Constant(6, 0.1);
    for (const Law law : {Law::frictionless, Law::no_slip, Law::viscous, Law::coulomb_pyramid, Law::coulomb_cone, Law::moreau,
                          Law::anitescu, Law::todorov, Law::sap, Law::max_dissipation, Law::hunt_crossley}) {
      const InverseSolution unlimited = inverse_dynamics(p, joints, desired, {}, with(law));
      ASSERT_EQ(unlimited.status, Status::solved) << to_string(law);
      const std::vector<double> limits(6, 2.0 * unlimited.tau.cwiseAbs().maxCoeff());
      expect_same_bits(inverse_dynamics(p, joints, desired, limits, with(law)), unlimited, to_string(law));
    }
  }
}

// A trunk on four legs, each a mass on a driven slider along z above its foot: W + 4 w on four feet, a quarter on each.
TEST(TorqueLimits, LooseOnesLeaveTheChoiceOfForces) {
  constexpr double kTrunk = 20.0, kLeg = 2.0, kGravity = 9.81;
  MatrixXd M = MatrixXd::Zero(10, 10), J = MatrixXd::Zero(12, 10);
  M.diagonal().head<6>() << kTrunk + 4 * kLeg, kTrunk + 4 * kLeg, kTrunk + 4 * kLeg, 2.0, 3.0, 4.0;
  M.diagonal().tail<4>().setConstant(kLeg);
  for (int leg = 0; leg < 4; ++leg) {
    J.block<3, 6>(3 * leg, 0) = body_rows({leg < 2 ? 0.4 : -0.4, leg % 2 == 0 ? 0.2 : -0.2, -0.5}, upright());
    J(3 * leg, 6 + leg) = 1.0;
    M(2, 6 + leg) = M(6 + leg, 2) = kLeg;
  }
  ContactProblem p = make_contact_problem(M, VectorXd::Zero(10), J, VectorXd::Constant(4, 0.5), kDt);
  p.impulse[2] = -kDt * kGravity * (kTrunk + 4 * kLeg);
  p.impulse.tail<4>().setConstant(-kDt * kGravity * kLeg);
  const double quarter = kDt * kGravity * (kTrunk + 4 * kLeg) / 4;
  const std::vector<int> joints = joints_of(p);
  const VectorXd still = VectorXd::Zero(4), even = Vector3d(quarter, 0.0, 0.0).replicate<4, 1>();
  for (const Law law : {Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu, Law::moreau}) {
    for (const Choice choice : {Choice::least_norm, Choice::closest_to_last}) {
      InverseOptions options = with(law);
      options.choice = choice;
      const auto ask = [&](const std::vector<double>& limits) {
        InverseWorkspace w;
        InverseSolution s;
        if (choice == Choice::closest_to_last) w.solve.choice.last = 0.7 * even;
        inverse_dynamics(p, joints, still, limits, options, w, s);
        EXPECT_EQ(w.solve.choice.last, s.impulses);
        return s;
      };
      const InverseSolution s = ask({1e4, 1e4, 1e4, 1e4});
      EXPECT_EQ(s.status, Status::solved) << to_string(law);
      EXPECT_LT((s.impulses - even).cwiseAbs().maxCoeff(), 1e-9 * quarter) << to_string(law) << " " << to_string(choice);
      EXPECT_LT((s.tau.array() + kGravity * kTrunk / 4).abs().maxCoeff(), 1e-6) << to_string(law);
      expect_same_bits(s, ask({}), to_string(law));
    }
  }
}

// A slider under its weight with dry friction, at its end stop and returned from beyond it: what moves nothing takes nothing from a motor
// that is strong enough.
TEST(TorqueLimits, LooseOnesHoldTheWeightWithoutWhatElseHoldsTheJoint) {
  constexpr double kWeight = 3.0;
  for (const bool beyond : {false, true}) {
    const int rows = beyond ? 3 : 2;
    ContactProblem p = make_contact_problem(MatrixXd::Identity(1, 1), VectorXd::Zero(1), MatrixXd::Zero(0, 1), VectorXd::Zero(0), kDt);
    p.impulse[0] = -kDt * kWeight;
    p.J_b = BlockRows::from_dense(1, MatrixXd::Ones(rows, 1), p.M.sizes());
    p.b = p.lo = VectorXd::Zero(rows);
    p.hi = VectorXd::Constant(rows, kInfinity);
    p.lo[0] = -kDt;
    p.hi[0] = kDt;
    p.row_kinds = {RowKind::motor, RowKind::limit};
    if (beyond) {
      p.b[2] = 1.0;
      p.hi[2] = 10.0;
      p.row_kinds.push_back(RowKind::limit);
    }
    for (const Law law : kRigid) {
      const InverseSolution s = inverse_dynamics(p, std::vector<int>{0}, VectorXd::Zero(1), std::vector<double>{20.0}, with(law));
      EXPECT_EQ(s.status, Status::solved) << to_string(law);
      EXPECT_NEAR(s.tau[0], kWeight, 1e-12) << to_string(law) << " " << beyond;
      EXPECT_EQ(s.bounded_impulses, VectorXd::Zero(rows)) << to_string(law) << " " << beyond;
    }
  }
}

// Feet that shall splay: what tangents refuse no torque brings about, so limits beyond the torques of what replaces it change nothing, and
// motors do not fight over it. A finger against a wall, which the wall refuses, presses as hard as it may.
TEST(TorqueLimits, LooseOnesLeaveWhatTangentsRefuseReplaced) {
  int repaired = 0;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 rng(seed);
    ContactProblem p = random_robot(rng, 12, 6, 0.5);
    p.v.setZero();
    const VectorXd desired = VectorXd::LinSpaced(6, -1e-3, 2e-3);
    const InverseSolution unlimited = inverse_dynamics(p, joints_of(p), desired, {}, with(Law::no_slip));
    ASSERT_EQ(unlimited.status, Status::solved) << seed;
    const std::vector<double> limits(6, 100.0 + unlimited.tau.cwiseAbs().maxCoeff());
    expect_same_bits(inverse_dynamics(p, joints_of(p), desired, limits, with(Law::no_slip)), unlimited, "no_slip");
    repaired += unlimited.repaired ? 1 : 0;
  }
  EXPECT_GT(repaired, 5);
  for (const Law law : kRigid) {
    const InverseSolution s =
        inverse_dynamics(finger(0.0, 0.0), std::vector<int>{0}, VectorXd::Ones(1), std::vector<double>{5.0}, with(law));
    EXPECT_EQ(s.status, Status::solved) << to_string(law);
    EXPECT_NEAR(s.tau[0], 5.0, 1e-9) << to_string(law);
    EXPECT_NEAR(s.impulses[0], kDt * 5.0, 1e-9) << to_string(law);
  }
}

TEST(TorqueLimits, EverySolverOfALawAgrees) {
  for (const Law law : {Law::frictionless, Law::no_slip, Law::anitescu}) {
    for (unsigned seed = 1; seed <= 6; ++seed) {
      std::mt19937 rng(seed);
      const ContactProblem p = random_robot(rng, 10, 2, 0.5);
      const std::vector<int> joints = joints_of(p);
      const VectorXd desired = VectorXd::LinSpaced(4, -0.2, 0.3);
      const std::vector<double> limits(joints.size(), 3.0);
      const InverseSolution a = inverse_dynamics(p, joints, desired, limits, with(law));
      const InverseSolution b = inverse_dynamics(p, joints, desired, limits, with(law, Solver::dantzig));
      EXPECT_EQ(a.status, Status::solved);
      EXPECT_EQ(b.status, Status::solved);
      EXPECT_NEAR((a.v - b.v).norm(), 0.0, 1e-8 * (1.0 + a.v.norm())) << to_string(law) << " " << seed;
    }
  }
}

TEST(TorqueLimits, LeaveNoChoiceOfLeastTorque) {
  const ContactProblem p = finger(0.0, 0.0);
  const VectorXd desired = VectorXd::Constant(1, -1.0);
  InverseOptions options = with(Law::frictionless);
  options.choice = Choice::least_torque;
  const auto ask = [&](const std::vector<double>& limits) { return inverse_dynamics(p, std::vector<int>{0}, desired, limits, options); };
  try {
    static_cast<void>(ask({5.0}));
    FAIL() << "limits were taken";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "choice: expected another than least_torque beside torque limits that are finite, got least_torque");
  }
  EXPECT_TRUE(ask({}).choice_met);
  EXPECT_TRUE(ask({kInfinity}).choice_met);
}

// A driven point that leaves the ground and stops along it: the ground, which could, has no share in that.
TEST(InfiniteFriction, OfContactsThatTheMotionOpensIsNone) {
  const Vector3d before(0.0, 3.0, -1.0), after(0.5, 0.0, 0.0);
  ContactProblem p =
      make_contact_problem(2.0 * MatrixXd::Identity(3, 3), before, MatrixXd::Identity(3, 3), VectorXd::Constant(1, kInfinity), kDt);
  p.material.assign(1, ContactMaterial{});
  p.material[0].friction_ratio = 0.5;
  for (const Law law : {Law::coulomb_pyramid, Law::coulomb_cone, Law::coulomb_ellipse}) {
    InverseOptions options = with(law);
    options.choice = Choice::least_torque;
    const InverseSolution s = inverse_dynamics(p, std::vector<int>{0, 1, 2}, after, {}, options);
    EXPECT_EQ(s.status, Status::solved) << to_string(law);
    EXPECT_EQ(s.impulses.norm(), 0.0) << to_string(law);
    EXPECT_LT((kDt * s.tau - 2.0 * (after - before)).norm(), 1e-9) << to_string(law);
    const InverseSolution stays = inverse_dynamics(p, std::vector<int>{0, 1, 2}, Vector3d(0.0, 0.0, 0.0), {}, options);
    EXPECT_EQ(stays.status, Status::solved) << to_string(law);
    EXPECT_LT(stays.tau.norm(), 1e-7) << to_string(law);  // and all of it where it stays
  }
}

TEST(Infeasible, AFingerDrivenThroughAWallStopsThereAndTheProofHolds) {
  const std::vector<int> joints{0};
  const VectorXd desired = VectorXd::Constant(1, 2.0);
  for (const Law law : kRigid) {
    const ContactProblem p = finger(0.0, 0.0);
    const InverseSolution s = inverse_dynamics(p, joints, desired, {}, with(law));
    EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << s.certificate.worst();
    EXPECT_TRUE(s.repaired) << to_string(law);
    EXPECT_NEAR(s.v[0], 0.0, 1e-9) << to_string(law);
    EXPECT_NEAR(s.shortfall, 2.0, 1e-9) << to_string(law);
    ASSERT_FALSE(s.proof.empty()) << to_string(law);
    EXPECT_TRUE(certifies_infeasibility(p, joints, desired, {}, with(law).contact, s.proof));
    // The same vector proves nothing about a request that can be met, nor with a sign turned.
    EXPECT_FALSE(certifies_infeasibility(p, joints, -desired, {}, with(law).contact, s.proof));
    RequestProof turned = s.proof;
    turned.contacts *= -1.0;
    EXPECT_FALSE(certifies_infeasibility(p, joints, desired, {}, with(law).contact, turned));
    turned = s.proof;
    turned.joints *= -1.0;
    EXPECT_FALSE(certifies_infeasibility(p, joints, desired, {}, with(law).contact, turned));
  }
}

// The reference of the choice is the caller's for the repaired request too, not what the refused attempt left.
TEST(Infeasible, ARepairedRequestKeepsItsReference) {
  std::mt19937 rng(3);
  ContactProblem p = random_robot(rng, 9, 6, 0.5);
  p.v.setZero();
  const std::vector<int> joints = joints_of(p);
  const VectorXd desired = VectorXd::LinSpaced(3, -1.0, 2.0), reference = VectorXd::Random(18);
  for (const Law law : {Law::frictionless, Law::no_slip}) {
    InverseOptions options = with(law);
    options.choice = Choice::closest_to_last;
    InverseWorkspace w;
    InverseSolution s, direct;
    w.solve.choice.last = reference;
    inverse_dynamics(p, joints, desired, {}, options, w, s);
    if (law == Law::no_slip) {
      ASSERT_TRUE(s.repaired);
    }
    const VectorXd reached = s.v.tail(3);
    w.solve.choice.last = reference;
    inverse_dynamics(p, joints, reached, {}, options, w, direct);
    EXPECT_EQ(s.status, Status::solved);
    EXPECT_EQ(direct.status, Status::solved);
    EXPECT_LT((s.impulses - direct.impulses).norm(), 1e-7 * (1.0 + direct.impulses.norm())) << to_string(law);
  }
}

TEST(Infeasible, WhatTheWallCanPushIsNoProof) {
  // Away from the wall without a motor: an impulse of the wall would do it, so no combination of the demands refuses it.
  const std::vector<int> joints{0};
  const std::vector<double> none{0.0};
  RequestProof z;
  z.contacts.setZero(3);
  z.joints = VectorXd::Constant(1, -1.0);
  for (const Law law : kRigid) {
    EXPECT_FALSE(certifies_infeasibility(finger(0.0, 0.0), joints, VectorXd::Constant(1, -1.0), none, with(law).contact, z));
  }
  SolveOptions disc = with(Law::anitescu).contact;
  disc.edges = 0;
  EXPECT_FALSE(certifies_infeasibility(finger(0.0, 0.0), joints, VectorXd::Constant(1, -1.0), none, disc, z));
  InverseOptions driven;
  driven.contact = disc;
  const InverseSolution s = inverse_dynamics(finger(0.0, 0.0), joints, VectorXd::Constant(1, 2.0), {}, driven);
  ASSERT_FALSE(s.proof.empty());
  EXPECT_TRUE(certifies_infeasibility(finger(0.0, 0.0), joints, VectorXd::Constant(1, 2.0), {}, disc, s.proof));
}

TEST(Infeasible, MoreausDemandsAreThoseOfItsClosedContacts) {
  const std::vector<int> joints{0};
  const SolveOptions law = with(Law::moreau).contact;
  RequestProofWorkspace w;
  RequestProof z;
  ContactProblem p = finger(0.0, 0.0);
  EXPECT_TRUE(find_request_proof(p, joints, VectorXd::Constant(1, 2.0), {}, law, w, z));
  EXPECT_TRUE(certifies_infeasibility(p, joints, VectorXd::Constant(1, 2.0), {}, law, z));
  EXPECT_FALSE(certifies_infeasibility(p, joints, VectorXd::Constant(1, -2.0), {}, law, z));
  p.gap[0] = 1e-3;  // open at the midpoint: it demands nothing
  EXPECT_FALSE(certifies_infeasibility(p, joints, VectorXd::Constant(1, 2.0), {}, law, z));
  EXPECT_FALSE(find_request_proof(p, joints, VectorXd::Constant(1, 2.0), {}, law, w, z));
  // It comes at 1 m/s and has to leave at half of that: 0.4 m/s is refused.
  p.v[0] = 1.0;
  p.restitution[0] = 0.5;
  p.gap[0] = 0.0;
  EXPECT_TRUE(find_request_proof(p, joints, VectorXd::Constant(1, -0.4), {}, law, w, z));
  EXPECT_FALSE(find_request_proof(p, joints, VectorXd::Constant(1, -0.6), {}, law, w, z));
}

TEST(Infeasible, TheGapLeavesRoomAndThenItIsPossible) {
  const std::vector<int> joints{0};
  const ContactProblem p = finger(0.0, 0.03);  // 3 m/s close it within the step
  for (const Law law : kRigid) {
    const InverseSolution s = inverse_dynamics(p, joints, VectorXd::Constant(1, 2.0), {}, with(law));
    EXPECT_EQ(s.status, Status::solved);
    EXPECT_NEAR(s.v[0], 2.0, 1e-12);
    EXPECT_TRUE(s.proof.empty());
  }
}

TEST(Infeasible, AWeakMotorFallsAndTheProofSaysHowWeak) {
  // The weight pulls with 3 N s over the step, away from a far wall that cannot hold it; the motor gives 1: it falls at 2 m/s. At 3 it
  // holds.
  const std::vector<int> joints{0};
  const VectorXd still = VectorXd::Zero(1);
  ContactProblem p = finger(0.0, 1.0);
  p.impulse[0] = -3.0;
  for (const Law law : kRigid) {
    const std::vector<double> weak{1.0 / kDt}, enough{3.0 / kDt};
    const InverseSolution s = inverse_dynamics(p, joints, still, weak, with(law));
    EXPECT_EQ(s.status, Status::solved) << to_string(law);
    EXPECT_NEAR(s.v[0], -2.0, 1e-9) << to_string(law);
    EXPECT_NEAR(s.tau[0], 1.0 / kDt, 1e-7);
    ASSERT_FALSE(s.proof.empty()) << to_string(law);
    EXPECT_FALSE(certifies_infeasibility(p, joints, still, enough, with(law).contact, s.proof));
    EXPECT_NEAR(inverse_dynamics(p, joints, still, enough, with(law)).v[0], 0.0, 1e-9);
  }
}

TEST(Infeasible, RandomRequestsAreMetOrProvedImpossibleAndNeverGarbage) {
  // Joints drive three feet apart: no-slip contacts refuse; with friction most requests can be met.
  for (const Law law : kRigid) {
    int missed = 0, proved = 0;
    for (unsigned seed = 1; seed <= 20; ++seed) {
      std::mt19937 rng(seed);
      ContactProblem p = random_robot(rng, 9, 6, 0.5);
      p.v *= 0.0;  // all contacts closed
      const std::vector<int> joints = joints_of(p);
      const VectorXd desired = VectorXd::LinSpaced(3, -1.0, 2.0) * (seed % 3 == 0 ? 5.0 : 1.0);
      const std::vector<double> limits(joints.size(), seed % 2 == 0 ? 20.0 : kInfinity);
      const InverseSolution s = inverse_dynamics(p, joints, desired, limits, with(law));
      EXPECT_TRUE(s.v.allFinite() && s.tau.allFinite());
      EXPECT_LT(s.v.cwiseAbs().maxCoeff(), 1e3) << to_string(law) << " " << seed;
      EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << seed;
      if (s.status == Status::solved && s.shortfall < 1e-8) {
        EXPECT_TRUE(s.proof.empty()) << to_string(law) << " " << seed;
        continue;
      }
      ++missed;
      if (s.proof.empty()) continue;
      ++proved;
      EXPECT_TRUE(certifies_infeasibility(p, joints, desired, limits, with(law).contact, s.proof));
    }
    RecordProperty(std::string(to_string(law)) + "_missed", missed);
    RecordProperty(std::string(to_string(law)) + "_proved", proved);
    EXPECT_TRUE(law != Law::no_slip || proved == missed) << proved << " of " << missed;
  }
}

// Contacts with and without finite friction and a stop that asks for motion refuse many of these, some after a repair too.
TEST(Infeasible, WhatIsHandedOutProvesWhatWasAsked) {
  for (const Law law : {Law::no_slip, Law::anitescu, Law::max_dissipation}) {
    int rays = 0, proofs = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
      std::mt19937 rng(seed);
      std::normal_distribution<double> normal;
      const auto gaussian = [&] { return normal(rng); };
      const int nv = 3 + static_cast<int>(seed % 3), n = 2 + static_cast<int>(seed % 4);
      VectorXd mu(n);
      for (double& m : mu) m = std::array{0.3, 1.0, kInfinity}[rng() % 3];
      const MatrixXd A = MatrixXd::NullaryExpr(nv, nv, gaussian);
      ContactProblem p = make_contact_problem(A * A.transpose() + 0.1 * MatrixXd::Identity(nv, nv), VectorXd::NullaryExpr(nv, gaussian),
                                              MatrixXd::NullaryExpr(3 * n, nv, gaussian), mu, kDt);
      p.J_b = BlockRows::from_dense(1, MatrixXd::NullaryExpr(1, nv, gaussian), p.M.sizes());
      p.b = VectorXd::NullaryExpr(1, gaussian);
      p.lo = VectorXd::Constant(1, seed % 2 == 0 ? -1.0 : 0.0);
      p.hi = VectorXd::Constant(1, kInfinity);
      const std::vector<int> joints{0, 1};
      const VectorXd desired = VectorXd::NullaryExpr(2, gaussian);
      const InverseSolution s = inverse_dynamics(p, joints, desired, {}, with(law));
      if (s.repaired && s.status == Status::infeasible) {
        ++rays;
        ContactProblem asked = p;
        asked.prescribed = joints;
        asked.v_prescribed = desired;
        EXPECT_TRUE(proves_infeasible(asked, with(law).contact, s.ray)) << to_string(law) << " " << seed;
      }
      if (s.proof.empty()) continue;
      ++proofs;
      EXPECT_TRUE(certifies_infeasibility(p, joints, desired, {}, with(law).contact, s.proof)) << to_string(law) << " " << seed;
    }
    EXPECT_GT(proofs, 40) << to_string(law);
    EXPECT_GT(rays, 5) << to_string(law);
  }
}

}  // namespace
}  // namespace stiction::limits_test
