// The compliant laws against closed forms, by finite differences, inverse against forward, and with the rows of every other law.
#include "stiction/laws/compliant.hpp"

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/io/problem_file.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"
#include "test_paths.hpp"

namespace stiction::compliant_test {
namespace {

using namespace testing_problems;

constexpr double kDt = 1e-3, kG = 9.81;
constexpr Law kCompliant[] = {Law::linear_penalty, Law::stick_slip_spring, Law::regularized_stiction, Law::hunt_crossley};

SolveOptions with(Law law) {
  SolveOptions options;
  options.law = law;
  return options;
}

ContactMaterial rubber() {
  ContactMaterial m;
  m.stiffness = 3e4;  // as [G14] chose for its robot
  m.damping = 50.0;
  m.stiffness_tangential = 3e4;
  m.damping_tangential = 50.0;
  m.dissipation = 0.5;
  return m;
}

void give_material(ContactProblem& p, const ContactMaterial& m) { p.material.assign(p.contacts(), m); }

/// A particle over a slope: velocity (down the slope, across, normal), one contact with the rows N S T.
class Particle {
 public:
  Particle(Law law, const ContactMaterial& material, double slope, double mu, double dt = kDt) : law_(law) {
    MatrixXd J(3, 3);
    J << 0, 0, 1, 1, 0, 0, 0, 1, 0;
    p = make_contact_problem(kMass * MatrixXd::Identity(3, 3), VectorXd::Zero(3), J, VectorXd::Constant(1, mu), dt);
    p.impulse = dt * kMass * kG * Vector3d(std::sin(slope), 0.0, -std::cos(slope));
    p.material.assign(1, material);
  }
  void step() {
    solve(p, with(law_), workspace_, s);
    EXPECT_EQ(s.status, Status::solved) << s.certificate.worst();
    const Vector3d u(s.v[2], s.v[0], s.v[1]);
    p.material[0].spring = next_spring(lowered(p, with(law_)).contacts[0].constitutive, u);
    p.v = s.v;
    x += p.dt * Vector3d(s.v);
    p.gap[0] += p.dt * s.v[2];
  }
  static constexpr double kMass = 2.0;
  ContactProblem p;
  Solution s;
  Vector3d x = Vector3d::Zero();

 private:
  Law law_;
  SolveWorkspace workspace_;
};

class EveryCompliantLaw : public testing::TestWithParam<Law> {};
INSTANTIATE_TEST_SUITE_P(Compliant, EveryCompliantLaw, testing::ValuesIn(kCompliant),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

TEST_P(EveryCompliantLaw, SinksByItsWeightOverItsStiffness) {
  Particle particle(GetParam(), rubber(), 0.0, 0.5);
  for (int k = 0; k < 20000; ++k) particle.step();
  EXPECT_NEAR(-particle.p.gap[0], Particle::kMass * kG / rubber().stiffness, 1e-12);
  EXPECT_NEAR(particle.s.impulses[0], kDt * Particle::kMass * kG, 1e-12);
  EXPECT_LT(particle.s.v.norm(), 1e-10);
}

TEST_P(EveryCompliantLaw, StaysStableWhenAThousandTimesStiffer) {
  ContactMaterial stiff = rubber();
  stiff.stiffness = 3e9;
  Particle particle(GetParam(), stiff, 0.0, 0.5);
  particle.p.v[2] = -1.0;
  for (int k = 0; k < 2000; ++k) particle.step();
  EXPECT_LT(std::abs(particle.s.v[2]), 1e-9);
  EXPECT_NEAR(-particle.p.gap[0] * 3e9, Particle::kMass * kG, 1e-3);
}

// Undamped: period 2π sqrt(m/k) in the limit of small steps; the implicit step damps it at the rate ω² h / 2.
TEST(LinearPenalty, OscillatesWithThePeriodOfItsSpring) {
  ContactMaterial m;
  m.stiffness = 2e3;
  const double dt = 1e-5, omega = std::sqrt(m.stiffness / Particle::kMass), rest = Particle::kMass * kG / m.stiffness;
  Particle particle(Law::linear_penalty, m, 0.0, 0.5, dt);
  particle.p.gap[0] = -1.5 * rest;
  int steps = 0, crossings = 0;
  double first = 0.0, last = 0.0, before = -0.5 * rest;
  for (; crossings < 9; ++steps) {
    particle.step();
    const double now = particle.p.gap[0] + rest;
    if ((before < 0.0) != (now < 0.0)) {
      last = dt * (steps + before / (before - now));
      if (crossings++ == 0) first = last;
    }
    before = now;
  }
  EXPECT_NEAR((last - first) / 4.0, 2.0 * M_PI / omega, 1e-4 * 2.0 * M_PI / omega);
}

TEST(RegularizedStiction, CreepsDownTheSlopeAtItsClosedFormSpeed) {
  const double slope = 0.3, mu = 0.8;
  for (const Law law : {Law::regularized_stiction, Law::hunt_crossley}) {
    Particle particle(law, rubber(), slope, mu);
    for (int k = 0; k < 20000; ++k) particle.step();
    EXPECT_NEAR(particle.s.v[0], rubber().stiction_speed * std::tan(slope) / mu, 1e-12) << to_string(law);
  }
}

TEST(LinearPenalty, CreepsDownTheSlopeAtTheSpeedOfItsDamper) {
  const double slope = 0.3;
  Particle particle(Law::linear_penalty, rubber(), slope, 0.8);
  for (int k = 0; k < 20000; ++k) particle.step();
  EXPECT_NEAR(particle.s.v[0], Particle::kMass * kG * std::sin(slope) / rubber().damping_tangential, 1e-10);
}

TEST(StickSlipSpring, SticksWithoutCreepAtTheElongationOfItsForce) {
  const double slope = 0.3;
  Particle particle(Law::stick_slip_spring, rubber(), slope, 0.8);
  for (int k = 0; k < 20000; ++k) particle.step();
  EXPECT_LT(std::abs(particle.s.v[0]), 1e-14);
  EXPECT_NEAR(particle.x[0], Particle::kMass * kG * std::sin(slope) / rubber().stiffness_tangential, 1e-9);
  EXPECT_NEAR(particle.p.material[0].spring[0], particle.x[0], 1e-12);
}

TEST_P(EveryCompliantLaw, SlidesAboveTheFrictionAngleAtCoulombsRate) {
  const double slope = 0.5, mu = 0.2;
  Particle particle(GetParam(), rubber(), slope, mu);
  for (int k = 0; k < 2000; ++k) particle.step();
  const double before = particle.s.v[0];
  for (int k = 0; k < 1000; ++k) particle.step();
  EXPECT_NEAR(particle.s.v[0] - before, kG * (std::sin(slope) - mu * std::cos(slope)), 1e-4);
}

// A spring that slid is left at its limit, so a push in the other direction finds it stretched: no jump of the force when slip ends.
TEST(StickSlipSpring, IsDraggedAlongAtItsLimit) {
  const double mu = 0.2;
  Particle particle(Law::stick_slip_spring, rubber(), 0.0, mu);
  for (int k = 0; k < 3000; ++k) particle.step();
  particle.p.v[0] = 1.0;
  for (int k = 0; k < 100; ++k) particle.step();
  EXPECT_NEAR(particle.p.material[0].spring[0], mu * Particle::kMass * kG / rubber().stiffness_tangential, 1e-7);
}

TEST(HuntCrossley, FollowsTheExponentOfHertz) {
  ContactMaterial m = rubber();
  m.stiffness = 1e6;
  m.exponent = 1.5;
  Particle particle(Law::hunt_crossley, m, 0.0, 0.5);
  for (int k = 0; k < 20000; ++k) particle.step();
  EXPECT_NEAR(-particle.p.gap[0], std::pow(Particle::kMass * kG / 1e6, 1.0 / 1.5), 1e-10);
}

TEST_P(EveryCompliantLaw, SlopeIsTheDerivative) {
  std::mt19937 rng(2);
  std::normal_distribution<double> normal;
  ContactMaterial m = rubber();
  m.spring = {2e-4, -1e-4};
  int sliding = 0;
  for (int trial = 0; trial < 200; ++trial) {
    ContactTerms terms;
    row_of(GetParam())
        .lower({.mu = 0.6, .gap = -1e-3 + 5e-4 * normal(rng), .dt = kDt, .material = &m, .family = Family::constitutive}, terms);
    const CompliantContact& c = terms.constitutive;
    const double size = std::pow(10.0, -4.0 + 4.0 * (trial % 10) / 9.0);
    const Vector3d u(0.1 * normal(rng), size * normal(rng), size * normal(rng));
    Eigen::Matrix3d slope;
    const Vector3d lambda = compliant_impulse(c, u, -1.0, slope);
    sliding += lambda.tail<2>().norm() > 0.599 * lambda[0] && lambda[0] > 0.0;
    const double step = 1e-8;
    for (int k = 0; k < 3; ++k) {
      const Vector3d d =
          (compliant_impulse(c, u + step * Vector3d::Unit(k)) - compliant_impulse(c, u - step * Vector3d::Unit(k))) / (2 * step);
      EXPECT_LT((d + slope.col(k)).norm(), 1e-5 * (1.0 + slope.norm())) << trial << " " << k;
    }
  }
  EXPECT_GT(sliding, 20);
}

TEST_P(EveryCompliantLaw, BoxOnFourPointsSharesItsWeight) {
  ContactProblem p = box_on_slope(2.0, {0.3, 0.2, 0.05}, 0.1, 0.5, kDt, {0.3, 0.1, 0.0});
  p.gap.setConstant(-2.0 * kG / (4.0 * rubber().stiffness));
  give_material(p, rubber());
  const Solution s = solve(p, with(GetParam()));
  EXPECT_EQ(s.status, Status::solved) << s.certificate.worst();
  EXPECT_LE(s.certificate.constitutive.scaled, 1e-9);
  for (int i = 0; i < 4; ++i) EXPECT_GT(s.impulses[3 * i], 0.0);
}

// Springs h²k = D whose ratio to the mass has most of the digits that there are: λ has them all, and λ - f(u) is the rounding of u times D.
TEST_P(EveryCompliantLaw, ParticleStopsOnAnyStiffness) {
  const Vector3d fall(0.3, 0.0, -1.0);
  const double m = Particle::kMass, mu = 0.5, gap = 1e-5, normal_fall = -fall[2] + kDt * kG;
  for (const double ratio : {1e2, 1e4, 1e5, 1e6, 4e6}) {
    const double D = ratio * m, normal = D / (1.0 + ratio) * (normal_fall - gap / kDt), tangential = -D / (1.0 + ratio) * fall[0];
    ContactMaterial stiff;
    stiff.stiffness = stiff.stiffness_tangential = D / (kDt * kDt);
    if (GetParam() == Law::linear_penalty) stiff.damping_tangential = D / kDt;
    stiff.stiction_speed = mu * normal / D;
    Particle particle(GetParam(), stiff, 0.0, mu);
    particle.p.gap[0] = gap;
    particle.p.v = fall;
    particle.step();
    EXPECT_LE(particle.s.certificate.worst(), 1e-9) << ratio;
    EXPECT_NEAR(particle.s.impulses[0], normal, 1e-14 * normal) << ratio;
    EXPECT_NEAR(particle.s.impulses[1], tangential, 1e-14 * normal) << ratio;
  }
}

TEST_P(EveryCompliantLaw, BoxFallsFlatOnAnyStiffness) {
  const double m = 2.0, gap = 1e-5;
  for (const double ratio : {1e2, 1e4, 1e5, 1e6}) {
    const double D = 0.25 * ratio * m;
    ContactProblem p = box_on_slope(m, {0.3, 0.2, 0.05}, 0.0, 0.5, kDt, {0.0, 0.0, -1.0});
    p.gap.setConstant(gap);
    give_material(p, {.stiffness = D / (kDt * kDt)});
    const Solution s = solve(p, with(GetParam()));
    EXPECT_EQ(s.status, Status::solved) << ratio << " " << s.certificate.worst();
    const double normal = D / (1.0 + ratio) * (1.0 + kDt * kG - gap / kDt);
    for (int i = 0; i < 4; ++i) EXPECT_LE((s.impulses.segment<3>(3 * i) - Vector3d(normal, 0.0, 0.0)).norm(), 1e-9 * normal) << ratio;
  }
}

// Rows at their limits beside such a contact take the same step.
TEST_P(EveryCompliantLaw, JointTorqueHoldsBesideAnyStiffness) {
  const double m = Particle::kMass, pull = 0.2;  // N s, up, below what the fall needs
  for (const double ratio : {1e2, 1e4, 1e6}) {
    const double D = ratio * m;
    ContactMaterial stiff;
    stiff.stiffness = D / (kDt * kDt);
    Particle particle(GetParam(), stiff, 0.0, 0.0);
    particle.p.v[2] = -1.0;
    particle.p.J_b = BlockRows::from_dense(1, MatrixXd(Eigen::RowVector3d(0.0, 0.0, 1.0)), particle.p.M.sizes());
    particle.p.b = VectorXd::Constant(1, 0.0);
    particle.p.lo = VectorXd::Constant(1, 0.0);
    particle.p.hi = VectorXd::Constant(1, pull);
    particle.step();
    const double normal = D / (1.0 + ratio) * (1.0 + kDt * kG - pull / m);
    EXPECT_NEAR(particle.s.impulses[0], normal, 1e-12 * normal) << ratio;
    EXPECT_NEAR(particle.s.bounded_impulses[0], pull, 1e-12 * pull) << ratio;
  }
}

TEST_P(EveryCompliantLaw, InverseGivesBackTheForwardMotion) {
  std::mt19937 rng(29);
  for (int trial = 0; trial < 30; ++trial) {
    ContactProblem p = random_robot(rng, 14, 1 + trial % 12, 0.6);
    for (int i = 0; i < p.contacts(); ++i) p.gap[i] = 2e-4 * (i % 3 - 1.5);
    give_material(p, rubber());
    if (trial % 2 == 0) {
      for (ContactMaterial& m : p.material) m.stiffness *= 1e3;
    }
    ContactProblem inverse = p;
    for (int j = 6; j < 14; ++j) inverse.prescribed.push_back(j);
    inverse.v_prescribed = p.v.tail(8);
    const Solution a = solve(inverse, with(GetParam()));
    EXPECT_EQ(a.status, Status::solved) << trial << " " << a.certificate.worst();
    p.impulse.tail(8) += a.prescribed_impulses;
    const Solution b = solve(p, with(GetParam()));
    EXPECT_EQ(b.status, Status::solved) << trial << " " << b.certificate.worst();
    EXPECT_LT((a.v - b.v).norm(), 1e-9 * std::max(1.0, a.v.norm())) << trial;
  }
}

TEST_P(EveryCompliantLaw, JointRowsHoldBesideIt) {
  std::mt19937 rng(31);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 10; ++trial) {
    ContactProblem p = random_robot(rng, 12, 4, 0.6);
    p.gap.setConstant(-1e-3);
    give_material(p, rubber());
    p.J_b = BlockRows::from_dense(1, MatrixXd::NullaryExpr(4, 12, [&] { return normal(rng); }), p.M.sizes());
    p.b = VectorXd::Zero(4);
    p.lo = (VectorXd(4) << 0.0, -0.01, -kInfinity, -1.0).finished();
    p.hi = (VectorXd(4) << kInfinity, 0.01, 0.0, 1.0).finished();
    const Solution s = solve(p, with(GetParam()));
    EXPECT_EQ(s.status, Status::solved) << trial << " " << s.certificate.worst();
  }
}

// A joint that dry friction brings to rest loses its speed to the last digit, also those digits whose squares are no numbers.
TEST_P(EveryCompliantLaw, JointComesToRestFromAnySpeed) {
  for (int exponent = 100; exponent <= 300; ++exponent) {
    ContactProblem p = make_contact_problem(2.0 * MatrixXd::Identity(1, 1), VectorXd::Constant(1, std::pow(10.0, -exponent)),
                                            MatrixXd::Zero(0, 1), VectorXd(0), kDt);
    p.J_b = BlockRows::from_dense(1, MatrixXd::Ones(1, 1), p.M.sizes());
    p.b = VectorXd::Zero(1);
    p.lo = VectorXd::Constant(1, -kDt);
    p.hi = VectorXd::Constant(1, kDt);
    const Solution s = solve(p, with(GetParam()));
    EXPECT_EQ(s.status, Status::solved) << exponent << " " << s.certificate.worst();
    EXPECT_LE(std::abs(s.v[0]), 1e-9 * p.v[0]) << exponent;
  }
}

// Of contacts that just touch, every one of these laws is in proportion to a speed that is small enough.
TEST_P(EveryCompliantLaw, SlidesInProportionAtAnySpeed) {
  const auto at = [](double speed) {
    ContactProblem p = box_on_slope(2.0, {0.3, 0.2, 0.05}, 0.0, 0.5, kDt, speed * Vector3d(0.3, 0.1, -0.1));
    p.impulse.setZero();
    give_material(p, rubber());
    return solve(p, with(GetParam()));
  };
  const double one = 0x1p-40;  // far below the speeds that the laws know
  const Solution expected = at(one);
  ASSERT_EQ(expected.status, Status::solved);
  for (const double factor : {0x1p-400, 0x1p-500, 0x1p-550, 0x1p-800}) {
    const Solution s = at(factor * one);
    EXPECT_EQ(s.status, Status::solved) << factor << " " << s.certificate.worst();
    EXPECT_LT((s.v / factor - expected.v).norm(), 1e-9 * one) << factor;
  }
}

TEST(Compliant, ContactsMayFollowDifferentCompliantLaws) {
  ContactProblem p = box_on_slope(2.0, {0.3, 0.2, 0.05}, 0.1, 0.5, kDt, {0.3, 0.1, -0.1});
  p.gap.setConstant(-1e-4);
  give_material(p, rubber());
  p.laws.assign(std::begin(kCompliant), std::end(kCompliant));
  const Solution s = solve(p, with(Law::linear_penalty));
  EXPECT_EQ(s.status, Status::solved);
  for (int i = 0; i < 4; ++i) {
    Vector3d u = Vector3d::Zero();
    p.J.add_group_product(i, s.v, u);
    EXPECT_LT((compliant_impulse(lowered(p, with(Law::linear_penalty)).contacts[i].constitutive, u) - s.impulses.segment<3>(3 * i)).norm(),
              1e-10);
  }
}

// A contact whose sliding presses it into the ground (W_NT > 0, μ W_NT > W_NN: Painlevé's rod): slip has no balance of forces, and where
// the spring holds, u = c + W λ and λ = -D u - h k (φ, 0, 0), D = h² k, are linear.
TEST(StickSlipSpring, WedgesWhereSlipHasNoSolution) {
  for (const double mu : {10.0, 30.0, 100.0}) {
    for (const double coupling : {0.5, 0.9}) {
      constexpr double kGap = -1e-4, kStiff = 1e6;
      Eigen::Matrix3d W = Eigen::Matrix3d::Identity();
      W(0, 1) = W(1, 0) = coupling;
      ContactProblem p =
          make_contact_problem(W.inverse(), Vector3d(0.05, 1.0, 0.0), MatrixXd::Identity(3, 3), VectorXd::Constant(1, mu), kDt);
      p.gap[0] = kGap;
      ContactMaterial m;
      m.stiffness = m.stiffness_tangential = kStiff;
      give_material(p, m);
      const double D = kDt * kDt * kStiff;
      const Vector3d expected =
          (Eigen::Matrix3d::Identity() + D * W).inverse() * (-D * Vector3d(p.v) - Vector3d(kDt * kStiff * kGap, 0.0, 0.0));
      ASSERT_GT(expected[0], 0.0);
      ASSERT_LT(expected.tail<2>().norm(), mu * expected[0]);
      const Solution s = solve(p, with(Law::stick_slip_spring));
      EXPECT_EQ(s.status, Status::solved) << mu << " " << coupling;
      EXPECT_LT((s.impulses - expected).norm(), 1e-12) << mu << " " << coupling;
    }
  }
}

// The trot on compliant ground: a foot that is about to lift off wedges instead, above a friction of 7.
TEST(StickSlipSpring, IsSolvedAtAnyFrictionOfAFootAboutToLift) {
  const AnyProblem file = load_problem(STICTION_SOURCE_DIR "/src/stiction/laws/test_data/lifting_foot.json");
  ContactProblem p = std::get<ContactProblem>(file);
  for (const double mu : {0.5, 3.0, 7.0, 8.0, 10.0, 30.0, 100.0, 1000.0}) {
    p.mu.setConstant(mu);
    const Solution s = solve(p, with(Law::stick_slip_spring));
    EXPECT_EQ(s.status, Status::solved) << mu << " " << s.certificate.worst();
    EXPECT_LT(s.iterations, 500) << mu;
  }
}

TEST(Compliant, AsksForStiffnessAndFiniteFriction) {
  ContactProblem p = box_on_slope(2.0, {0.3, 0.2, 0.05}, 0.1, 0.5, kDt, Vector3d::Zero());
  EXPECT_THROW(solve(p, with(Law::linear_penalty)), InvalidArgument);
  give_material(p, ContactMaterial{});
  try {
    solve(p, with(Law::hunt_crossley));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("material[0].stiffness"), std::string::npos) << error.what();
  }
  give_material(p, rubber());
  p.mu[1] = kInfinity;
  EXPECT_THROW(solve(p, with(Law::regularized_stiction)), InvalidArgument);
  EXPECT_EQ(solve(p, with(Law::stick_slip_spring)).status, Status::solved);
}

// A foot of rubber beside feet of steel: linear springs and dampers are Coulomb's law with compliance, and both hold in one solution.
TEST(Compliant, StandsBesideRigidContacts) {
  std::mt19937 rng(11);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 40; ++trial) {
    ContactProblem p = box_on_slope(2.0, {0.3, 0.2, 0.05}, 0.1, 0.5, kDt, {0.3 * normal(rng), 0.3 * normal(rng), 0.1 * normal(rng)});
    p.gap << -1e-4, 0.0, 0.0, -2e-4;
    give_material(p, rubber());
    p.material[0].spring = {1e-4 * normal(rng), 1e-4 * normal(rng)};
    p.laws = {Law::stick_slip_spring, Law::coulomb_cone, Law::moreau, Law::linear_penalty};
    const Solution s = solve(p, with(Law::coulomb_cone));
    ASSERT_EQ(s.status, Status::solved) << trial << " " << s.certificate.worst();
    for (const int i : {0, 3}) {
      ContactTerms own;  // as the law says it of itself
      row_of(p.laws[i]).lower({.mu = 0.5, .gap = p.gap[i], .dt = kDt, .material = &p.material[i], .family = Family::constitutive}, own);
      const Vector3d expected = compliant_impulse(own.constitutive, s.u.segment<3>(3 * i)), found = s.impulses.segment<3>(3 * i);
      EXPECT_LT((expected - found).norm(), 1e-8 * s.certificate.impulse_scale) << trial << " " << i;
    }
    const Vector3d u = s.u.segment<3>(3), l = s.impulses.segment<3>(3);
    EXPECT_LT(std::abs(std::min(l[0] / s.certificate.impulse_scale, u[0] / s.certificate.velocity_scale)), 1e-8) << trial;
  }
}

TEST(CompliantAllocation, NoneAfterWarmUp) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  std::mt19937 rng(37);
  std::vector<ContactProblem> problems{random_robot(rng, 14, 12, 0.6), random_robot(rng, 14, 3, 0.6)};
  for (ContactProblem& p : problems) {
    p.gap.setConstant(-1e-3);
    give_material(p, rubber());
    p.restitution.setConstant(0.5);
  }
  problems.push_back(problems[1]);
  for (ContactMaterial& m : problems[2].material) m.stiffness *= 1e8;  // takes a step in the impulses
  for (const Law law : {Law::linear_penalty, Law::stick_slip_spring, Law::regularized_stiction, Law::hunt_crossley, Law::moreau}) {
    SolveWorkspace workspace;
    Solution solution;
    for (const ContactProblem& p : problems) solve(p, with(law), workspace, solution);
    const std::size_t before = allocation_count();
    for (const ContactProblem& p : problems) solve(p, with(law), workspace, solution);
    EXPECT_EQ(allocation_count() - before, 0u) << to_string(law);
  }
}

}  // namespace
}  // namespace stiction::compliant_test
