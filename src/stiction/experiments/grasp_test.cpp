// The row of boxes of [D14] against statics: what the grippers bear, the friction that holds, and what the paper's triple corners do.
#include "stiction/experiments/grasp.hpp"

#include <gtest/gtest.h>

#include "stiction/experiments/small_world.hpp"

namespace stiction::grasp_test {
namespace {

constexpr double kStep = 0.01;

TEST(Grasp, GrippersBearThePressureAndHalfTheWeightEach) {
  for (const Law law : {Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone}) {
    for (const int n : {2, 7}) {
      SCOPED_TRACE(std::string(to_string(law)) + ", " + std::to_string(n));
      HeldRow row({.law = law, .mu = law == Law::no_slip ? kInfinity : 100.0}, n, kStep);
      ASSERT_TRUE(row.step());
      const double weight = n * kGraspMass * kGravity, force = n * kGraspForce;
      EXPECT_NEAR(row.gripper_force(0).x(), force, 1e-6 * force);
      EXPECT_NEAR(row.gripper_force(1).x(), -force, 1e-6 * force);
      EXPECT_NEAR(row.gripper_force(0).y() + row.gripper_force(1).y(), -weight, 1e-6 * weight);
      EXPECT_LT(row.sag(), 1e-9);
      EXPECT_LT(row.relative_energy(), 1e-18);
    }
  }
}

TEST(Grasp, WithLessFrictionThanTheWeightAsksForTheRowFalls) {
  const double least = 0.5 * kGraspMass * kGravity / kGraspForce;  // half the weight of n boxes over 100 n N
  for (const auto& [share, holds] : {std::pair{1.01, true}, std::pair{0.99, false}}) {
    HeldRow row({.law = Law::coulomb_cone, .mu = 100.0, .gripper_mu = share * least}, 5, kStep);
    for (int k = 0; k < 50; ++k) ASSERT_TRUE(row.step());
    EXPECT_EQ(row.sag() < 1e-8, holds) << row.sag();
  }
}

TEST(Grasp, TripleCornersMakeTwelveContactsPerPairAndHoldTheRowWithoutFriction) {
  HeldRow single({.law = Law::frictionless}, 2, kStep), triple({.law = Law::frictionless, .corner_normals = true}, 2, kStep);
  ASSERT_TRUE(single.step());
  ASSERT_TRUE(triple.step());
  EXPECT_EQ(single.contacts().size(), 12u);
  EXPECT_EQ(triple.contacts().size(), 36u);
  EXPECT_NEAR(single.sag(), kGravity * kStep * kStep, 1e-12);  // free fall
  EXPECT_LT(triple.sag(), 1e-12);
}

// Tangents of one copy are the normals of another: they settle every normal velocity, of which only rounding is left.
TEST(Grasp, NoSlipTakesTripleCornersUnderEverySolver) {
  for (const Solver solver : {Solver::automatic, Solver::goldfarb_idnani, Solver::ppm, Solver::active_set}) {
    SCOPED_TRACE(to_string(solver));
    HeldRow row({.law = Law::no_slip, .solver = solver, .corner_normals = true}, 2, kStep);
    for (int k = 0; k < 10; ++k) ASSERT_TRUE(row.step()) << row.solution().certificate.worst();
    EXPECT_LT(row.sag(), 1e-12);
  }
}

TEST(Grasp, EveryRowOfTheExperimentHasAFigureOrAReason) {
  const ExperimentReport report = run_grasp({.quick = true});
  ASSERT_FALSE(report.rows.empty());
  for (const ExperimentRow& row : report.rows) {
    SCOPED_TRACE(row.example + ", " + row.setting + ", " + row.quantity);
    EXPECT_TRUE(!row.ours.empty() || !row.note.empty());
    if (row.source != Reference::closed_form) continue;
    ASSERT_FALSE(row.ours.empty()) << row.note;
    EXPECT_LE(row.last_error(), 1e-6);
  }
}

}  // namespace
}  // namespace stiction::grasp_test
