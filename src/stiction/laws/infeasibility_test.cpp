// Requests that no motion meets, each with the proof that a hand calculation gives; proofs are checked, and wrong ones refused.
#include "stiction/laws/infeasibility.hpp"

#include <gtest/gtest.h>

#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::infeasibility_test {
namespace {

using namespace testing_problems;

void expect_proof(const ContactProblem& p, const SolveOptions& options, double work) {
  SCOPED_TRACE(to_string(options.law));
  const Solution s = solve(p, options);
  EXPECT_EQ(s.status, Status::infeasible);
  ASSERT_TRUE(s.ray.proof);
  EXPECT_TRUE(proves_infeasible(p, options, s.ray));
  double size = std::max({s.ray.impulses.size() > 0 ? s.ray.impulses.cwiseAbs().maxCoeff() : 0.0,
                          s.ray.bounded_impulses.size() > 0 ? s.ray.bounded_impulses.cwiseAbs().maxCoeff() : 0.0});
  EXPECT_NEAR(s.ray.work / size, work, 1e-9);
  InfeasibilityRay wrong = s.ray;
  for (GrowVector* x : {&wrong.impulses, &wrong.bounded_impulses, &wrong.prescribed_impulses}) *x *= -1.0;
  EXPECT_FALSE(proves_infeasible(p, options, wrong));
  wrong = s.ray;
  wrong.prescribed_impulses *= 1.0 + 1e-6;
  if (wrong.prescribed_impulses.size() > 0 && wrong.prescribed_impulses.norm() > 1e-6 * size) {
    EXPECT_FALSE(proves_infeasible(p, options, wrong));
  }
}

/// A block that slides along x between two walls, coordinates (block, left wall, right wall); normals along x, the walls are driven.
ContactProblem vise(double left, double right) {
  MatrixXd J = MatrixXd::Zero(6, 3);
  J(0, 0) = 1.0;
  J(0, 1) = -1.0;
  J(3, 0) = -1.0;
  J(3, 2) = 1.0;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(3, 3), VectorXd::Zero(3), J, VectorXd::Constant(2, 0.5), 0.01);
  p.prescribed = {1, 2};
  p.v_prescribed = Eigen::Vector2d(left, right);
  return p;
}

TEST(Infeasibility, AViseThatClosesOnARigidBlock) {
  const ContactProblem p = vise(1.0, -0.5);
  for (const Law law :
       {Law::frictionless, Law::no_slip, Law::viscous, Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu, Law::max_dissipation}) {
    expect_proof(p, with(law), -1.5);
  }
  for (const Solver solver : {Solver::lemke, Solver::interior_point}) expect_proof(p, with(Law::coulomb_pyramid, solver), -1.5);
  expect_proof(p, with(Law::frictionless, Solver::active_set), -1.5);
  const Solution open = solve(vise(-1.0, 0.5), with(Law::coulomb_pyramid));
  EXPECT_EQ(open.status, Status::solved);
  EXPECT_EQ(open.ray.impulses.size(), 0);
  const Solution closing = solve(p, with(Law::coulomb_pyramid));
  EXPECT_FALSE(proves_infeasible(vise(-1.0, 0.5), with(Law::coulomb_pyramid), closing.ray));
}

TEST(Infeasibility, AGapIsTimeToClose) {
  ContactProblem p = vise(1.0, -0.5);
  p.gap.setConstant(0.006);  // 0.6 m/s each
  expect_proof(p, with(Law::coulomb_pyramid), -0.3);
  SolveOptions touching = with(Law::coulomb_pyramid);
  touching.variant = PyramidVariant::anitescu_potra;
  EXPECT_EQ(solve(p, touching).status, Status::solved);
  p.gap.setConstant(0.008);
  EXPECT_EQ(solve(p, with(Law::coulomb_pyramid)).status, Status::solved);
}

// A third contact, 1000 km away: of what is open and takes no part nothing has to move at its gap over the step. All in
// turned coordinates, so that momentum closes up to rounding alone.
TEST(Infeasibility, AFarContactTakesNoProofAway) {
  const ContactProblem near = vise(1e-3, -1e-3);
  std::mt19937 rng(5);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 20; ++trial) {
    MatrixXd scale = MatrixXd::Identity(3, 3);
    for (int k = 0; k < 2; ++k) scale.row(0) += normal(rng) * scale.row(k + 1);  // the block's coordinate runs with the walls
    MatrixXd J(9, 3);
    J.topRows(6) = near.J.to_dense() * scale;
    J.bottomRows(3) = J.topRows(3);
    ContactProblem p = make_contact_problem(scale.transpose() * scale, VectorXd::Zero(3), J, VectorXd::Constant(3, 0.5), near.dt);
    p.prescribed = near.prescribed;
    p.v_prescribed = near.v_prescribed;
    p.gap[2] = 1e6;
    for (const Law law : {Law::frictionless, Law::no_slip, Law::coulomb_pyramid}) {
      const Solution s = solve(p, with(law));
      EXPECT_EQ(s.status, Status::infeasible) << trial << " " << to_string(law);
      EXPECT_TRUE(proves_infeasible(p, with(law), s.ray)) << trial << " " << to_string(law);
    }
  }
}

TEST(Infeasibility, FeetThatShallSplayWithoutSlip) {
  // A body on two driven feet, all sliding along x: no_slip asks both feet to stand still while they are told to part.
  MatrixXd J = MatrixXd::Zero(6, 4);
  J(0, 3) = J(3, 3) = 1.0;         // N: height
  J.row(1) << 1.0, 1.0, 0.0, 0.0;  // S: body + foot
  J.row(4) << 1.0, 0.0, 1.0, 0.0;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(4, 4), VectorXd::Zero(4), J, VectorXd::Constant(2, 0.5), 0.01);
  p.impulse[3] = -0.1;
  p.prescribed = {1, 2};
  p.v_prescribed = Eigen::Vector2d(-0.3, 0.2);
  expect_proof(p, with(Law::no_slip), -0.5);
  EXPECT_EQ(solve(p, with(Law::coulomb_pyramid)).status, Status::solved);
  EXPECT_EQ(solve(p, with(Law::viscous)).status, Status::solved);
}

TEST(Infeasibility, TheDiscOfTheRelaxationHasProofsOfItsOwn) {
  SolveOptions disc = with(Law::anitescu);
  disc.edges = 0;
  expect_proof(vise(1.0, -0.5), disc, -1.5);
  // Feet of one height that are pulled apart: under the disc they slide, so what refuses them under no_slip proves nothing.
  MatrixXd J = MatrixXd::Zero(6, 3);
  J(0, 2) = J(3, 2) = J(1, 0) = J(4, 1) = 1.0;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(3, 3), VectorXd::Zero(3), J, VectorXd::Constant(2, 0.5), 0.01);
  const int size = 3;
  p.J_b = BlockRows::from_dense(1, MatrixXd(Eigen::RowVector3d(-1.0, 1.0, 0.0)), std::span(&size, 1));
  p.b = VectorXd::Constant(1, 1.0);
  p.lo = VectorXd::Constant(1, -kInfinity);
  p.hi = VectorXd::Constant(1, kInfinity);
  const Solution held = solve(p, with(Law::no_slip));
  ASSERT_EQ(held.status, Status::infeasible);
  EXPECT_EQ(solve(p, disc).status, Status::solved);
  EXPECT_FALSE(proves_infeasible(p, disc, held.ray));
  EXPECT_FALSE(proves_infeasible(p, with(Law::anitescu), held.ray));
}

TEST(Infeasibility, RowsThatContradictThemselves) {
  const int size = 2;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(2, 2), VectorXd::Zero(2), MatrixXd(0, 2), VectorXd(0), 0.01);
  p.J_b = BlockRows::from_dense(1, MatrixXd::Ones(2, 2), std::span(&size, 1));
  p.b = Eigen::Vector2d(0.1, 0.3);
  p.lo = VectorXd::Constant(2, -kInfinity);
  p.hi = VectorXd::Constant(2, kInfinity);
  expect_proof(p, with(Law::coulomb_cone), -0.2);
  // A joint driven through its limit.
  p.J_b = BlockRows::from_dense(1, MatrixXd(Eigen::RowVector2d(1.0, 0.0)), std::span(&size, 1));
  p.b = VectorXd::Constant(1, -0.1);
  p.lo = VectorXd::Zero(1);
  p.hi = VectorXd::Constant(1, kInfinity);
  p.prescribed = {0};
  p.v_prescribed = VectorXd::Constant(1, -0.4);
  expect_proof(p, with(Law::frictionless), -0.3);
}

TEST(Infeasibility, MoreauRefusesAViseAndARebound) {
  const ContactProblem p = vise(1.0, -0.5);
  for (const Solver solver : {Solver::automatic, Solver::sor}) expect_proof(p, with(Law::moreau, solver), -1.5);
  // Walls that came together at 1.5 m/s and shall stop have to leave at half of that.
  ContactProblem rebound = vise(0.0, 0.0);
  rebound.v = Vector3d(0.0, 1.0, -0.5);
  rebound.restitution.setConstant(0.5);
  expect_proof(rebound, with(Law::moreau), -0.75);
  rebound.v_prescribed = Eigen::Vector2d(-0.5, 0.3);
  EXPECT_EQ(solve(rebound, with(Law::moreau)).status, Status::solved);
  // An open contact does not resist before it is closed at the midpoint, however fast the walls come.
  ContactProblem open = p;
  open.gap.setConstant(1e-3);
  EXPECT_EQ(solve(open, with(Law::moreau)).status, Status::solved);
  open.v = Vector3d(0.0, 1.0, -0.5);  // closed by now: 1 mm against 5 and 2.5
  expect_proof(open, with(Law::moreau), -1.5);
}

TEST(Infeasibility, ContactsThatGiveWayRefuseNothing) {
  ContactProblem p = vise(1.0, -0.5);
  ContactMaterial soft;
  soft.stiffness = soft.stiffness_tangential = 1e4;
  soft.dissipation_time = 0.01;
  soft.regularization = 1e-2;
  p.material.assign(2, soft);
  InfeasibilityRay pressed;
  pressed.impulses = VectorXd::Unit(6, 0) + VectorXd::Unit(6, 3);
  pressed.bounded_impulses.resize(0);
  pressed.prescribed_impulses = Eigen::Vector2d(1.0, -1.0);
  EXPECT_TRUE(proves_infeasible(p, with(Law::frictionless), pressed));
  for (const Law law :
       {Law::todorov, Law::sap, Law::linear_penalty, Law::stick_slip_spring, Law::regularized_stiction, Law::hunt_crossley}) {
    const Solution s = solve(p, with(law));
    EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << s.certificate.worst();
    EXPECT_FALSE(proves_infeasible(p, with(law), pressed)) << to_string(law);
    // Rows that contradict themselves are another matter.
    ContactProblem contradiction = p;
    const int size = 3;
    contradiction.J_b = BlockRows::from_dense(1, MatrixXd(Eigen::RowVector3d(1, 0, 0).replicate(2, 1)), std::span(&size, 1));
    contradiction.b = Eigen::Vector2d(0.1, 0.3);
    contradiction.lo = VectorXd::Constant(2, -kInfinity);
    contradiction.hi = VectorXd::Constant(2, kInfinity);
    expect_proof(contradiction, with(law), -0.2);
  }
}

TEST(Infeasibility, TodorovRefusesWhereNothingIsSoftened) {
  ContactProblem p = vise(1.0, -0.5);
  expect_proof(p, with(Law::todorov), -1.5);
  p.material.assign(2, {});
  p.material[1].regularization = 1e-3;  // one jaw gives way
  EXPECT_EQ(solve(p, with(Law::todorov)).status, Status::solved);
}

TEST(Infeasibility, ContactsOfOtherLawsInASoftMixtureKeepTheirOwnDemands) {
  // Under todorov alone the jaw in penetration has to open; under anitescu it may rest.
  ContactProblem p = vise(0.0, 0.0);
  p.gap[1] = -1e-3;
  p.material.assign(2, {});
  p.material[1].time_constant = 0.1;
  InfeasibilityRay pressed;
  pressed.impulses = VectorXd::Unit(6, 0) + VectorXd::Unit(6, 3);
  pressed.bounded_impulses.resize(0);
  pressed.prescribed_impulses = Eigen::Vector2d(1.0, -1.0);
  EXPECT_TRUE(proves_infeasible(p, with(Law::todorov), pressed));
  p.laws = {Law::todorov, Law::anitescu};
  EXPECT_FALSE(proves_infeasible(p, with(Law::todorov), pressed));
  EXPECT_EQ(solve(p).status, Status::solved);
}

// A hand that is driven along the ground at (1, 1)/√2 and lifts at 0.5 m/s; a free body beside it.
ContactProblem driven_hand() {
  MatrixXd J = MatrixXd::Zero(3, 4);
  J.leftCols<3>().setIdentity();
  ContactProblem p = make_contact_problem(MatrixXd::Identity(4, 4), VectorXd::Zero(4), J, VectorXd::Constant(1, 0.6), 0.01);
  p.prescribed = {0, 1, 2};
  const double slip = std::sqrt(0.5);
  p.v_prescribed = Vector3d(0.5, slip, slip);
  return p;
}

// Every direction of the cone that the hand's velocity is against is a proof; the steepest has the work of the closed form.
void expect_round_proof(const ContactProblem& p, double least_work) {
  const SolveOptions todorov = with(Law::todorov);
  const Solution s = solve(p, todorov);
  EXPECT_EQ(s.status, Status::infeasible);
  ASSERT_TRUE(s.ray.proof);
  EXPECT_TRUE(proves_infeasible(p, todorov, s.ray));
  EXPECT_LT(s.ray.work, 0.0);
  EXPECT_GE(s.ray.work, (least_work - 1e-9) * s.ray.impulses[0]);
  const double reach = 0.6 * std::sqrt(0.5);
  InfeasibilityRay ray;
  ray.impulses = Vector3d(1.0, -reach, -reach);
  ray.bounded_impulses.resize(0);
  ray.prescribed_impulses = -ray.impulses;
  EXPECT_TRUE(proves_infeasible(p, todorov, ray));
  EXPECT_FALSE(proves_infeasible(p, with(Law::coulomb_cone), ray));
  ray.impulses = Vector3d(1.0, -1.001 * reach, -reach);  // outside the disc
  ray.prescribed_impulses = -ray.impulses;
  EXPECT_FALSE(proves_infeasible(p, todorov, ray));
}

TEST(Infeasibility, TodorovsConeIsRoundAndOpenContactsHaveOne) {
  // u_N >= μ |u_T| asks for 0.6 m/s; the square in the disc, with its vertices on the axes, for 0.42.
  expect_round_proof(driven_hand(), -0.1);
  EXPECT_EQ(solve(driven_hand(), with(Law::anitescu)).status, Status::solved);
  // 1 mm above the ground, with a hundredth of a second to close it: u_N + 0.1.
  ContactProblem open = driven_hand();
  open.gap[0] = 1e-3;
  open.v_prescribed[0] = 0.4;
  expect_round_proof(open, -0.1);
  open.v_prescribed[0] = 0.55;
  EXPECT_EQ(solve(open, with(Law::todorov)).status, Status::solved);
}

// A sledge (x, z) between floor and ceiling, and a limit that asks for x' >= 1 m/s. Sliding along at 1 m/s is no trouble for a motion, but
// max_dissipation weighs -b β + energy: the harder the limit pushes and the walls hold against it, the less.
TEST(Infeasibility, AProgramThatFallsWithoutEnd) {
  MatrixXd J = MatrixXd::Zero(6, 2);
  J(0, 1) = J(1, 0) = J(4, 0) = 1.0;
  J(3, 1) = -1.0;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(2, 2), VectorXd::Zero(2), J, VectorXd::Constant(2, 0.5), 0.01);
  const int size = 2;
  p.J_b = BlockRows::from_dense(1, MatrixXd(Eigen::RowVector2d(1.0, 0.0)), std::span(&size, 1));
  p.b = VectorXd::Constant(1, 1.0);
  p.lo = VectorXd::Zero(1);
  p.hi = VectorXd::Constant(1, kInfinity);
  expect_proof(p, with(Law::max_dissipation), -1.0);
  const Solution refused = solve(p, with(Law::max_dissipation));
  for (const Law law : {Law::coulomb_pyramid, Law::coulomb_cone, Law::anitescu}) {
    const bool cones = law == Law::anitescu;  // whose cones of velocities hold the sledge as well
    EXPECT_EQ(proves_infeasible(p, with(law), refused.ray), cones) << to_string(law);
    EXPECT_EQ(solve(p, with(law)).status, cones ? Status::infeasible : Status::solved) << to_string(law);
  }
  p.b[0] = 0.0;  // at rest nothing is gained
  EXPECT_EQ(solve(p, with(Law::max_dissipation)).status, Status::solved);
  EXPECT_FALSE(proves_infeasible(p, with(Law::max_dissipation), refused.ray));
  p.b[0] = 1.0;
  p.hi[0] = 5.0;  // the row gives way
  EXPECT_EQ(solve(p, with(Law::max_dissipation)).status, Status::solved);
}

// The vise of a problem known only by its contacts: W of two contacts that press one block of 1 kg from both sides, driven at q.
ReducedProblem reduced_vise(double left, double right) {
  MatrixXd W = MatrixXd::Zero(6, 6);
  W(0, 0) = W(3, 3) = 1.0;
  W(0, 3) = W(3, 0) = -1.0;
  VectorXd q = VectorXd::Zero(6);
  q[0] = -left;
  q[3] = right;
  return reduce_dense(W, q, VectorXd::Constant(2, 0.5));
}

TEST(Infeasibility, AProblemKnownByItsContactsNeedsAProofToo) {
  for (const Law law : {Law::frictionless, Law::no_slip, Law::coulomb_pyramid, Law::coulomb_cone, Law::moreau, Law::anitescu}) {
    SCOPED_TRACE(to_string(law));
    const ReducedProblem p = reduced_vise(1.0, -0.5);
    const Solution s = solve(p, with(law));
    EXPECT_EQ(s.status, Status::infeasible);
    ASSERT_TRUE(s.ray.proof);
    EXPECT_TRUE(proves_infeasible(p, with(law), s.ray));
    EXPECT_NEAR(s.ray.work / s.ray.impulses.cwiseAbs().maxCoeff(), -1.5, 1e-9);
    EXPECT_FALSE(proves_infeasible(reduced_vise(-1.0, 0.5), with(law), s.ray));
    EXPECT_EQ(solve(reduced_vise(-1.0, 0.5), with(law)).status, Status::solved);
    InfeasibilityRay wrong = s.ray;
    wrong.impulses[0] *= 1.0 + 1e-4;
    EXPECT_FALSE(proves_infeasible(p, with(law), wrong));
  }
  // What W adds beyond its symmetric part is not in the proof.
  ReducedProblem skewed = reduced_vise(1.0, -0.5);
  skewed.defect = MatrixXd::Zero(6, 6);
  skewed.defect(0, 3) = 1e-3;
  for (const Solver solver : {Solver::goldfarb_idnani, Solver::active_set}) {
    const Solution s = solve(skewed, with(Law::frictionless, solver));
    EXPECT_FALSE(s.ray.proof);
    EXPECT_NE(s.status, Status::infeasible);
  }
}

TEST(Infeasibility, NoProofForFeasibleRandomProblems) {
  std::mt19937 rng(12);
  for (int trial = 0; trial < 20; ++trial) {
    const ContactProblem p = random_robot(rng, 10, 1 + trial % 5, 0.4);
    for (const Law law : {Law::frictionless, Law::no_slip, Law::anitescu, Law::coulomb_pyramid}) {
      Reduction reduction;
      reduce(p, reduction);
      InfeasibilityWorkspace w;
      InfeasibilityRay ray;
      EXPECT_FALSE(find_infeasibility(p, reduction, lowered(p, with(law)), w, ray)) << to_string(law) << trial;
      EXPECT_EQ(ray.impulses.size(), 0);
    }
  }
}

}  // namespace
}  // namespace stiction::infeasibility_test
