// The canonical choice among indeterminate impulses: optimal, certified, and continuous in time where the solvers' own answers jump.
#include "stiction/laws/choice.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"
#include "stiction/problem/indeterminacy.hpp"

namespace stiction::choice_test {
namespace {

using namespace testing_problems;

constexpr double kDt = 1e-3, kG = 9.81, kMass = 4.0;
const Vector3d kHalf(0.12, 0.06, 0.05);

SolveOptions with(Law law, Choice choice) {
  SolveOptions options;
  options.law = law;
  options.choice = choice;
  return options;
}

class EveryLaw : public testing::TestWithParam<Law> {};

INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw,
                         testing::Values(Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu,
                                         Law::max_dissipation),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

TEST_P(EveryLaw, ABoxAtRestSharesItsWeightEvenly) {
  const ContactProblem p = box_on_slope(kMass, kHalf, 0.0, 0.5, kDt, Vector3d::Zero());
  const Solution s = solve(p, with(GetParam(), Choice::least_norm));
  EXPECT_EQ(s.status, Status::solved) << s.certificate.worst();
  EXPECT_TRUE(s.choice_met);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR((s.impulses.segment<3>(3 * i) - Vector3d(kDt * kMass * kG / 4.0, 0, 0)).norm(), 0.0, 1e-12) << i;
  }
}

/// A box on its four corners under a random load within its base, at rest or sliding: its impulses are indeterminate.
ContactProblem box_under_load(std::mt19937& rng, double mu, bool slides) {
  std::uniform_real_distribution<double> uniform(-0.3, 0.3);
  const Vector3d velocity(uniform(rng), uniform(rng), 0.0);
  ContactProblem p = box_on_slope(kMass, kHalf, 0.5 * uniform(rng), mu, kDt, slides ? velocity : Vector3d::Zero());
  const double weight = kDt * kMass * kG;
  p.impulse[3] += weight * kHalf[1] * uniform(rng);
  p.impulse[4] += weight * kHalf[0] * uniform(rng);
  return p;
}

/// Of the set of impulses with the same motion: a point in its relative interior, and its dimension.
Indeterminacy set_of(const ContactProblem& p, Law law, const Solution& s) {
  Reduction reduction;
  reduce(p, reduction);
  return indeterminacy(reduction.reduced, lowered(reduction.reduced, with(law, Choice::warm_start)), s.impulses, s.bounded_impulses);
}

// Same motion, certified, no longer than other points of the set; on the way to any of them the norm grows, λ·(λ' - λ) >= 0, which for a
// convex set is what makes λ the shortest.
TEST_P(EveryLaw, IsTheShortestOfTheSameMotion) {
  std::mt19937 rng(5);
  int compared = 0, open = 0, shorter = 0;
  for (int trial = 0; trial < 25; ++trial) {
    const ContactProblem p = trial % 2 == 0 ? random_robot(rng, 6 + trial % 5, 3 + trial % 10, 0.2 + 0.1 * (trial % 7))
                                            : box_under_load(rng, 0.3 + 0.1 * (trial % 5), trial % 4 == 1);
    const Solution own = solve(p, with(GetParam(), Choice::warm_start)), chosen = solve(p, with(GetParam(), Choice::least_norm));
    if (own.status != Status::solved) continue;
    ASSERT_EQ(chosen.status, Status::solved) << trial << " " << chosen.certificate.worst();
    EXPECT_LT((own.v - chosen.v).norm(), 1e-9 * (1.0 + own.v.norm())) << trial;
    EXPECT_LE(chosen.impulses.norm(), own.impulses.norm() * (1.0 + 1e-9)) << trial;
    EXPECT_GE(chosen.impulses.dot(own.impulses - chosen.impulses), -1e-9 * own.impulses.squaredNorm()) << trial;
    ++compared;
    const Indeterminacy set = set_of(p, GetParam(), own);
    if (set.dimension == 0) continue;
    // Of max_dissipation's whole cones the interior point is of another motion in 3 problems of 100, and nothing to compare with.
    const MatrixXd Jt = p.J.to_dense().transpose();
    if ((Jt * (set.interior - own.impulses)).norm() > 1e-6 * (Jt * own.impulses).norm()) continue;
    ++open;
    EXPECT_GE(chosen.impulses.dot(set.interior - chosen.impulses), -1e-7 * set.interior.squaredNorm()) << trial;  // zero to 1e-7 there
    if (chosen.impulses.norm() < set.interior.norm() * (1.0 - 1e-3)) ++shorter;
  }
  EXPECT_GE(compared, 23);
  EXPECT_GE(open, 6);  // the boxes at rest; under the disc those that slide leave nothing open
  EXPECT_GE(shorter, 4);
}

// Cold, the answer depends on nothing that the workspace solved before: with rows, without, or with other ones.
TEST_P(EveryLaw, IsTheSameBitsAfterAnyOtherProblem) {
  std::mt19937 rng(7);
  SolveOptions options = with(GetParam(), Choice::least_norm);
  options.warm_start = false;
  SolveWorkspace used;
  Solution after;
  int rows = 0;
  for (int trial = 0; trial < 20; ++trial) {
    ContactProblem p = random_robot(rng, 8, 4 + trial % 3, 0.5);
    const int m = trial % 3;  // bounded rows
    p.J_b = BlockRows::from_dense(1, MatrixXd::Random(m, p.velocities()), p.M.sizes());
    p.b = VectorXd::Zero(m);
    p.lo = VectorXd::Constant(m, -0.01);
    p.hi = VectorXd::Constant(m, 0.01);
    solve(p, options, used, after);
    const Solution fresh = solve(p, options);
    EXPECT_EQ(after.impulses, fresh.impulses) << trial;
    EXPECT_EQ(after.v, fresh.v) << trial;
    rows += m > 0 && fresh.status == Status::solved ? 1 : 0;
  }
  EXPECT_GT(rows, 5);
}

TEST(Choice, AProblemKnownByItsContactsIsChosenForToo) {
  const ContactProblem p = box_on_slope(kMass, kHalf, 0.05, 0.5, kDt, Vector3d::Zero());
  Reduction reduction;
  reduce(p, reduction);
  for (const Law law : {Law::frictionless, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu}) {
    const Solution whole = solve(p, with(law, Choice::least_norm)), contacts = solve(reduction.reduced, with(law, Choice::least_norm));
    EXPECT_EQ(contacts.status, Status::solved) << to_string(law);
    EXPECT_LT((whole.impulses - contacts.impulses).norm(), 1e-12) << to_string(law);
  }
}

// A contact and a limit that push against each other by as much as a solver found: as little is left as the motion needs.
TEST(Choice, IsNotSaidToBeMetWhereNothingWasSolved) {
  const ContactProblem p = box_on_slope(kMass, kHalf, 0.1, 0.5, kDt, Vector3d(0.3, 0.0, -1.0));
  SolveOptions options = with(Law::coulomb_cone, Choice::least_norm);
  options.max_factorizations = 1;
  const Solution s = solve(p, options);
  ASSERT_NE(s.status, Status::solved);
  EXPECT_FALSE(s.choice_met);
}

TEST(Choice, WhatPushesAgainstALimitCanBeTakenBack) {
  ReducedProblem p;
  const std::vector<int> sizes{3};
  p.Rt = BlockRows::from_dense(3, Eigen::MatrixXd::Identity(3, 3), sizes);
  p.Bt = BlockRows::from_dense(1, Eigen::RowVector3d(-1.0, 0.0, 0.0), sizes);
  p.u_free = Eigen::Vector3d(-1.0, 0.0, 0.0);
  p.offset = GrowVector::Zero(1);
  p.mu = GrowVector::Constant(1, 0.5);
  p.closed = {1};
  p.w_free = GrowVector::Constant(1, 1.0);
  p.lo = GrowVector::Zero(1);
  p.hi = GrowVector::Constant(1, kInfinity);
  StandardForm form;
  make_standard_form(p, lowered(p, with(Law::coulomb_cone, Choice::warm_start)), form);
  ChoiceWorkspace w;
  const Eigen::Vector3d far(1000.0, 0.0, 0.0), needed(1.0, 0.0, 0.0);
  const VectorXd row = VectorXd::Constant(1, 999.0), none;
  GrowVector rows;
  ASSERT_TRUE(choose_impulses(form, far, row, none, w, rows));
  EXPECT_NEAR((w.chosen - needed).norm(), 0.0, 1e-9);
  EXPECT_NEAR(rows[0], 0.0, 1e-9);
}

// Six legs hold a load on a line along their normals; the motor of each leg is a row that the load goes through.
struct Legs {
  ReducedProblem p;
  StandardForm form;
  ChoiceWorkspace w;
  GrowVector rows;

  // Normals push along the load's one coordinate; leg i's motor, between -bound and bound, is pushed by its contact alone: it carries -λ_i.
  Legs(int legs, const VectorXd& bound) {
    MatrixXd R = MatrixXd::Zero(3 * legs, 1 + legs), B = MatrixXd::Zero(legs, 1 + legs);
    for (int i = 0; i < legs; ++i) {
      R(3 * i, 0) = R(3 * i, 1 + i) = 1.0;
      B(i, 1 + i) = 1.0;
    }
    const std::vector<int> sizes{1 + legs};
    p.Rt = BlockRows::from_dense(3, R, sizes);
    p.Bt = BlockRows::from_dense(1, B, sizes);
    p.u_free = VectorXd::Zero(3 * legs);
    for (int i = 0; i < legs; ++i) p.u_free[3 * i] = -1.0;  // the load is one
    p.offset = GrowVector::Zero(legs);
    p.mu = GrowVector::Zero(legs);
    p.closed.assign(static_cast<std::size_t>(legs), 1);
    p.w_free = GrowVector::Zero(legs);
    p.lo = -bound;
    p.hi = bound;
    make_standard_form(p, lowered(p, with(Law::coulomb_cone, Choice::warm_start)), form);
  }
  // The normals of the choice from those of a solver.
  VectorXd choose(const VectorXd& normals) {
    const Eigen::Index n = normals.size();
    VectorXd lambda = VectorXd::Zero(3 * n), row = -normals;
    for (Eigen::Index i = 0; i < n; ++i) lambda[3 * i] = normals[i];
    EXPECT_TRUE(choose_impulses(form, lambda, row, VectorXd(), w, rows));
    EXPECT_NEAR((rows + VectorXd(Eigen::Map<const VectorXd, 0, Eigen::InnerStride<3>>(w.chosen.data(), n))).norm(), 0.0, 1e-11);
    return Eigen::Map<const VectorXd, 0, Eigen::InnerStride<3>>(w.chosen.data(), n);
  }
};

// Legs whose limits do not reach their share bear what they can, the others share the rest evenly: the solver's own shares do not show.
TEST(Choice, LegsWithWeakMotorsLeaveTheRestToTheOthers) {
  VectorXd bound = VectorXd::Constant(6, 10.0), expected = VectorXd::Constant(6, 1.0 / 6.0), solver(6);
  solver << 0.05, 0.1, 0.05, 0.3, 0.1, 0.4;
  EXPECT_NEAR((Legs(6, bound).choose(solver) - expected).norm(), 0.0, 1e-10);
  bound[0] = 0.1;
  expected << 0.1, 0.18, 0.18, 0.18, 0.18, 0.18;
  EXPECT_NEAR((Legs(6, bound).choose(solver) - expected).norm(), 0.0, 1e-10);
  bound[1] = 0.17;  // within its limit until the first is held at its own
  bound[2] = 0.05;
  expected << 0.1, 0.17, 0.05, 0.68 / 3.0, 0.68 / 3.0, 0.68 / 3.0;
  EXPECT_NEAR((Legs(6, bound).choose(solver) - expected).norm(), 0.0, 1e-10);
}

TEST(Choice, ClosestToLastIsTheProjection) {
  std::mt19937 rng(9);
  const ContactProblem p = box_on_slope(kMass, kHalf, 0.1, 0.5, kDt, Vector3d::Zero());
  for (int trial = 0; trial < 20; ++trial) {
    SolveWorkspace w;
    Solution s, shortest;
    w.choice.last = kDt * kMass * kG * VectorXd::Random(12);
    const VectorXd last = w.choice.last;
    solve(p, with(Law::coulomb_cone, Choice::closest_to_last), w, s);
    ASSERT_EQ(s.status, Status::solved) << s.certificate.worst();
    solve(p, with(Law::coulomb_cone, Choice::least_norm), w, shortest);
    // Variational inequality of the projection on a convex set, at a point of the set.
    EXPECT_LE((last - s.impulses).dot(shortest.impulses - s.impulses), 1e-9 * last.squaredNorm()) << trial;
    const Indeterminacy set = set_of(p, Law::coulomb_cone, s);
    ASSERT_EQ(set.dimension, 6);  // twelve impulses, six balances
    EXPECT_LE((last - s.impulses).dot(set.interior - s.impulses), 1e-7 * last.squaredNorm()) << trial;
    EXPECT_GT((s.impulses - shortest.impulses).norm(), 0.01 * shortest.impulses.norm()) << trial;  // another point than without `last`
  }
}

// ---- scenes in time ----

/// Largest change of any contact's impulse between steps, over the weight per step.
struct Jumps {
  double largest = 0.0;
  VectorXd last{};
  void add(const GrowVector& impulses) {
    if (last.size() == impulses.size()) largest = std::max(largest, (impulses - last).cwiseAbs().maxCoeff() / (kDt * kMass * kG));
    last = impulses;
  }
};

// A foot that stands while the load on it wanders: its centre of pressure draws an ellipse, the weight swings by a tenth.
ContactProblem standing_foot(int step) {
  ContactProblem p = box_on_slope(kMass, kHalf, 0.0, 0.6, kDt, Vector3d::Zero());
  const double phase = 2.0 * 3.14159265358979 * step / 400.0, weight = kMass * kG * (1.0 + 0.1 * std::sin(3.0 * phase));
  p.impulse[2] = -kDt * weight;
  p.impulse[3] = kDt * weight * 0.75 * kHalf[1] * std::sin(phase);
  p.impulse[4] = kDt * weight * 0.75 * kHalf[0] * std::cos(phase);
  return p;
}

double largest_jump(Law law, Choice choice, const std::function<ContactProblem(int)>& scene) {
  SolveWorkspace w;
  Solution s;
  Jumps jumps;
  for (int k = 0; k < 400; ++k) {
    solve(scene(k), with(law, choice), w, s);
    EXPECT_EQ(s.status, Status::solved) << to_string(law) << k << " " << s.certificate.worst();
    jumps.add(s.impulses);
  }
  return jumps.largest;
}

TEST_P(EveryLaw, AStandingFootHasForcesSmoothInTime) {
  // The wrench changes by at most 0.012 weights and 0.012 weight x half lengths a step; a corner's share of it is a few times that at most.
  EXPECT_LT(largest_jump(GetParam(), Choice::least_norm, standing_foot), 0.02);
  EXPECT_LT(largest_jump(GetParam(), Choice::closest_to_last, standing_foot), 0.02);
}

// The same foot whose contacts are listed in another order every step, as a detector may: the rule does not notice, the solvers do.
TEST(Choice, AnOrderThatChangesDoesNotShow) {
  for (const Law law : {Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu}) {
    double jump[2] = {};
    for (const Choice choice : {Choice::warm_start, Choice::least_norm}) {
      SolveWorkspace w;
      Solution s;
      Jumps jumps;
      for (int k = 0; k < 200; ++k) {
        const ContactProblem foot = standing_foot(k);
        const MatrixXd J = foot.J.to_dense();
        MatrixXd turned(12, 6);
        for (int i = 0; i < 4; ++i) turned.middleRows<3>(3 * ((i + k) % 4)) = J.middleRows<3>(3 * i);
        ContactProblem p = make_contact_problem(foot.M.to_dense(), foot.v, turned, foot.mu, kDt);
        p.impulse = foot.impulse;
        solve(p, with(law, choice), w, s);
        ASSERT_EQ(s.status, Status::solved) << to_string(law) << k << " " << s.certificate.worst();
        GrowVector sorted(12);
        for (int i = 0; i < 4; ++i) sorted.segment<3>(3 * i) = s.impulses.segment<3>(3 * ((i + k) % 4));
        jumps.add(sorted);
      }
      jump[choice == Choice::least_norm] = jumps.largest;
    }
    EXPECT_LT(jump[1], 0.02) << to_string(law);
    EXPECT_GT(jump[0], 0.1) << to_string(law);
  }
}

// A box at rest pushed with a force that grows to 0.95 of what friction holds.
ContactProblem pushed_box(int step) {
  ContactProblem p = box_on_slope(kMass, kHalf, 0.0, 0.6, kDt, Vector3d::Zero());
  const double push = 0.95 * 0.6 * kMass * kG * step / 400.0;
  p.impulse[0] = kDt * push * std::cos(0.3);
  p.impulse[1] = kDt * push * std::sin(0.3);
  return p;
}

TEST(Choice, APushedBoxHasForcesSmoothInTime) {
  for (const Law law : {Law::no_slip, Law::coulomb_cone}) {  // a square holds less at this angle: the box slides before the end
    for (const Choice choice : {Choice::least_norm, Choice::closest_to_last}) {
      EXPECT_LT(largest_jump(law, choice, pushed_box), 0.01) << to_string(law);
    }
  }
}

// A fifth contact under the middle appears at half time: shared at once by least_norm, not at all by closest_to_last.
TEST(Choice, ARedundantContactThatAppears) {
  for (const Law law : {Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu}) {
    for (const Choice choice : {Choice::least_norm, Choice::closest_to_last}) {
      SolveWorkspace w;
      Solution s;
      const ContactProblem four = box_on_slope(kMass, kHalf, 0.0, 0.6, kDt, Vector3d::Zero());
      solve(four, with(law, choice), w, s);
      MatrixXd J(15, 6);
      J.topRows(12) = four.J.to_dense();
      J.bottomRows(3) = body_rows({0, 0, -kHalf[2]}, upright());
      ContactProblem five = make_contact_problem(four.M.to_dense(), four.v, J, VectorXd::Constant(5, 0.6), kDt);
      five.impulse = four.impulse;
      VectorXd before = VectorXd::Zero(15);
      before.head(12) = s.impulses;
      w.choice.last = before;
      solve(five, with(law, choice), w, s);
      ASSERT_EQ(s.status, Status::solved) << to_string(law) << s.certificate.worst();
      const double jump = (s.impulses - before).head(12).cwiseAbs().maxCoeff() / (kDt * kMass * kG);
      EXPECT_NEAR(jump, choice == Choice::least_norm ? 1.0 / 4.0 - 1.0 / 5.0 : 0.0, 1e-9) << to_string(law);
    }
  }
}

TEST(Choice, RefusesLeastTorqueForward) {
  const ContactProblem p = box_on_slope(kMass, kHalf, 0.0, 0.5, kDt, Vector3d::Zero());
  EXPECT_THROW(solve(p, with(Law::no_slip, Choice::least_torque)), InvalidArgument);
}

}  // namespace
}  // namespace stiction::choice_test
