// Contacts with laws of their own: apart, each does what it does alone; together, each keeps its own conditions.
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/io/problem_file.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"
#include "test_paths.hpp"

namespace stiction::mixture_test {
namespace {

using namespace testing_problems;

constexpr double kDt = 1e-3;

SolveOptions with(Law law, int edges = 4) {
  SolveOptions options;
  options.law = law;
  options.edges = edges;
  return options;
}

ContactMaterial material() {
  ContactMaterial m;
  m.stiffness = 2e4;
  m.stiffness_tangential = 1e4;
  m.dissipation_time = 0.01;
  m.regularization = 0.02;
  m.time_constant = 0.02;
  return m;
}

// Boxes side by side on a plane, each pushed and sliding, nothing between them.
ContactProblem boxes(const std::vector<Law>& laws, double gap = 0.0) {
  const ContactProblem one = box_on_slope(2.0, {0.1, 0.1, 0.05}, 0.2, 0.4, kDt, {0.1, 0.05, 0.0});
  const int k = static_cast<int>(laws.size());
  MatrixXd M = MatrixXd::Zero(6 * k, 6 * k), J = MatrixXd::Zero(12 * k, 6 * k);
  for (int b = 0; b < k; ++b) {
    M.block<6, 6>(6 * b, 6 * b) = one.M.to_dense();
    J.block<12, 6>(12 * b, 6 * b) = one.J.to_dense();
  }
  ContactProblem p = make_contact_problem(M, one.v.replicate(k, 1), J, VectorXd::Constant(4 * k, 0.4), kDt);
  p.impulse = one.impulse.replicate(k, 1);
  p.gap.setConstant(gap);
  for (int i = 0; i < 4 * k; ++i) p.laws.push_back(laws[i / 4]);
  p.material.assign(4 * k, material());
  return p;
}

void expect_each_as_alone(const std::vector<Law>& laws, double gap, int edges) {
  const Solution together = solve(boxes(laws, gap));
  ASSERT_EQ(together.status, Status::solved) << together.certificate.worst();
  for (std::size_t b = 0; b < laws.size(); ++b) {
    ContactProblem one = boxes({laws[b]}, gap);
    one.laws.clear();
    const Solution alone = solve(one, with(laws[b], laws[b] == Law::anitescu ? edges : 4));
    ASSERT_EQ(alone.status, Status::solved) << to_string(laws[b]);
    EXPECT_LT((together.v.segment<6>(6 * static_cast<Eigen::Index>(b)) - alone.v).norm(), 1e-8) << to_string(laws[b]);
  }
}

TEST(Mixture, BodiesApartDoWhatTheyDoAlone) {
  expect_each_as_alone({Law::frictionless, Law::coulomb_cone, Law::no_slip}, 0.0, 4);
  expect_each_as_alone({Law::coulomb_pyramid, Law::no_slip, Law::frictionless}, 0.0, 4);
  expect_each_as_alone({Law::anitescu, Law::sap, Law::todorov, Law::frictionless}, 0.0, 0);
  expect_each_as_alone({Law::linear_penalty, Law::stick_slip_spring, Law::regularized_stiction, Law::hunt_crossley}, -5e-4, 4);
}

// One foot slips without friction, the other three hold; the whole is certified and every contact keeps its own conditions.
TEST(Mixture, OfOneBodyIsCertified) {
  std::mt19937 rng(2);
  int solved = 0;
  for (int trial = 0; trial < 30; ++trial) {
    ContactProblem p = random_robot(rng, 12, 4, 0.5);
    p.laws = {Law::frictionless, Law::coulomb_cone, Law::no_slip, Law::coulomb_cone};
    const Solution s = solve(p);
    ASSERT_TRUE(s.certificate.finite);
    if (s.status != Status::solved) continue;  // Coulomb's law with mu = infinity need not have a solution
    ++solved;
    EXPECT_EQ(s.impulses[1], 0.0);
    EXPECT_EQ(s.impulses[2], 0.0);
    if (s.impulses[6] > 1e-6) {
      EXPECT_LT(s.u.segment<2>(7).norm(), 1e-9) << trial;
    }
    EXPECT_LE(s.impulses.segment<2>(4).norm(), 0.5 * s.impulses[3] + 1e-9) << trial;
  }
  EXPECT_GE(solved, 27);
}

TEST(Mixture, AllOfOneLawIsThatLaw) {
  ContactProblem p = boxes({Law::anitescu});
  const Solution named = solve(p);
  p.laws.clear();
  const Solution asked = solve(p, with(Law::anitescu));
  EXPECT_EQ(named.v, asked.v);
}

// A quadruped that stands on a box, the box on a floor without friction: two coplanar points of one foot next to the verge of slip, where
// the interior point stalls on the disc and Lemke's path shows the pattern on a polygon.
TEST(Mixture, AtTheVergeOfSlip) {
  const AnyProblem file = load_problem(STICTION_SOURCE_DIR "/src/stiction/laws/test_data/verge_of_slip.json");
  const ContactProblem& p = std::get<ContactProblem>(file);
  ASSERT_EQ(p.contacts(), 15);
  const Solution s = solve(p);
  EXPECT_EQ(s.status, Status::solved) << s.certificate.worst();
  EXPECT_LE(s.certificate.worst(), 1e-9);
}

TEST(Mixture, OfLawsWithoutACommonProgramIsRefused) {
  const ContactProblem p = boxes({Law::max_dissipation, Law::coulomb_cone});
  try {
    solve(p);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("max_dissipation (contact 0)"), testing::HasSubstr("coulomb_cone (contact 4)")));
  }
  EXPECT_THROW(solve(boxes({Law::coulomb_pyramid, Law::coulomb_cone})), InvalidArgument);       // two sections
  EXPECT_THROW(solve(boxes({Law::regularized_stiction, Law::coulomb_cone})), InvalidArgument);  // no compliance that is its own
  EXPECT_THROW(solve(boxes({Law::sap, Law::coulomb_cone})), InvalidArgument);                   // relaxed friction beside Coulomb's
}

}  // namespace
}  // namespace stiction::mixture_test
