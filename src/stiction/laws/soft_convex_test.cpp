// The convex relaxations: primal against dual, closed forms of rest, gliding and decay, forward against inverse.
#include "stiction/laws/lowering.hpp"

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::soft_convex_test {
namespace {

using namespace testing_problems;

constexpr double kG = 9.81;

SolveOptions with(Law law, Solver solver = Solver::automatic, int edges = 4) {
  SolveOptions options;
  options.law = law;
  options.solver = solver;
  options.edges = edges;
  return options;
}

GrowVector bounded(const ContactProblem& p, const Reduction& reduction, const Solution& s) {
  GrowVector beta(static_cast<Eigen::Index>(reduction.bounded.size()));
  for (Eigen::Index j = 0; j < beta.size(); ++j) beta[j] = s.bounded_impulses[reduction.bounded[j]];
  EXPECT_EQ(p.bounded_rows(), s.bounded_impulses.size());
  return beta;
}

/// Values (J) of the two programs at (λ, β) and the y it leads to: primal >= -dual up to infeasibility, equal at the solution.
struct Duality {
  double primal = 0.0, dual = 0.0;
  double gap() const { return primal + dual; }
};

Duality duality(const ReducedProblem& p, const SolveOptions& options, const VectorXd& lambda, const VectorXd& beta) {
  const std::vector<ContactTerms> contacts = lowered(p, options).contacts;
  const MatrixXd B = p.Bt.to_dense();
  const VectorXd y = p.Rt.to_dense().transpose() * lambda + B.transpose() * beta, w = B * y + p.w_free;
  Duality d{0.5 * y.squaredNorm(), 0.5 * y.squaredNorm()};
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Eigen::Index first = 3 * static_cast<Eigen::Index>(i);
    const Vector3d l = lambda.segment<3>(first);
    const double soft = 0.5 * (contacts[i].normal_compliance * l[0] * l[0] + contacts[i].tangential_compliance * l.tail<2>().squaredNorm());
    d.primal += soft;
    d.dual += soft + l.dot(p.u_free.segment<3>(first) + contacts[i].offset);
  }
  d.dual += beta.dot(p.w_free);
  for (Eigen::Index j = 0; j < w.size(); ++j) {
    // -β w at its largest over finite bounds; an infinite bound makes w >= 0 or w <= 0 a constraint of the primal.
    const double bound = w[j] > 0.0 ? p.lo[j] : p.hi[j];
    if (std::isfinite(bound)) d.primal -= bound * w[j];
  }
  return d;
}

void add_joint_friction(ContactProblem& p, int rows, double bound) {
  const Eigen::Index nv = p.velocities();
  p.J_b = BlockRows::from_dense(1, MatrixXd::Identity(nv, nv).bottomRows(rows), p.M.sizes());
  p.b = VectorXd::Zero(rows);
  p.lo = VectorXd::Constant(rows, -bound);
  p.hi = VectorXd::Constant(rows, bound);
  p.hi[0] = kInfinity;
  p.lo[0] = 0.0;
}

TEST(Anitescu, PrimalAndDualAreOneProgram) {
  std::mt19937 rng(3);
  int checked = 0;
  for (int trial = 0; trial < 40; ++trial) {
    ContactProblem p = random_robot(rng, 8 + trial % 8, 1 + trial % 6, 0.1 + 0.1 * (trial % 7));
    if (trial % 3 == 0) add_joint_friction(p, 2, 0.01);
    const SolveOptions primal = with(Law::anitescu, Solver::newton), dual = with(Law::anitescu, Solver::active_set);
    const Solution a = solve(p, primal), b = solve(p, dual);
    ASSERT_EQ(a.status, Status::solved) << trial << " " << a.certificate.worst();
    ASSERT_EQ(b.status, Status::solved) << trial << " " << b.certificate.worst();
    EXPECT_LT((a.v - b.v).cwiseAbs().maxCoeff(), 1e-9) << trial;
    Reduction reduction;
    reduce(p, reduction);
    const Duality at_a = duality(reduction.reduced, primal, a.impulses, bounded(p, reduction, a));
    const Duality at_b = duality(reduction.reduced, dual, b.impulses, bounded(p, reduction, b));
    EXPECT_NEAR(at_a.gap(), 0.0, 1e-9 * (1.0 + at_a.primal)) << trial;
    EXPECT_NEAR(at_b.gap(), 0.0, 1e-9 * (1.0 + at_b.primal)) << trial;
    EXPECT_NEAR(at_a.primal + at_b.dual, 0.0, 1e-9 * (1.0 + at_a.primal)) << trial;  // the one's primal is the other's dual
    // Away from the solution the gap opens: the dual value is a bound.
    if (at_b.primal < 1e-6 || b.impulses.norm() < 1e-3) continue;
    const Duality away = duality(reduction.reduced, dual, 0.7 * b.impulses, bounded(p, reduction, b));
    EXPECT_GT(away.dual + at_a.primal, 1e-9) << trial;
    ++checked;
  }
  EXPECT_GT(checked, 20);
}

TEST(Anitescu, DiscByNewtonAndByInteriorPoint) {
  std::mt19937 rng(4);
  for (int trial = 0; trial < 40; ++trial) {
    ContactProblem p = random_robot(rng, 8 + trial % 8, 1 + trial % 6, 0.1 + 0.1 * (trial % 7));
    const Solution a = solve(p, with(Law::anitescu, Solver::newton, 0)), b = solve(p, with(Law::anitescu, Solver::interior_point, 0));
    ASSERT_EQ(a.status, Status::solved) << trial << " " << a.certificate.worst();
    ASSERT_EQ(b.status, Status::solved) << trial << " " << b.certificate.worst();
    EXPECT_LT((a.v - b.v).cwiseAbs().maxCoeff(), 1e-8) << trial;
    const Solution polygon = solve(p, with(Law::anitescu, Solver::newton, 64));
    EXPECT_LT((a.v - polygon.v).norm(), 0.05 * (1.0 + a.v.norm())) << trial;
  }
  EXPECT_THROW(solve(random_robot(rng, 8, 1, 0.5), with(Law::anitescu, Solver::active_set, 0)), InvalidArgument);
  EXPECT_THROW(solve(random_robot(rng, 8, 1, 0.5), with(Law::coulomb_pyramid, Solver::automatic, 0)), InvalidArgument);
}

// A point mass above a plane, normal along z; `driven`: its tangential velocity is prescribed.
struct PointMass {
  double mass = 2.0, dt = 1e-3, mu = 0.5, speed = 0.0, gap = 0.0, normal_velocity = 0.0;
  ContactMaterial material{};
  SolveOptions options = with(Law::sap);
  Solution solution{};
  SolveWorkspace workspace{};

  void step() {
    MatrixXd J(3, 3);
    J << 0, 0, 1, 1, 0, 0, 0, 1, 0;
    ContactProblem p =
        make_contact_problem(mass * MatrixXd::Identity(3, 3), Vector3d(speed, 0, normal_velocity), J, VectorXd::Constant(1, mu), dt);
    p.impulse[2] = -dt * mass * kG;
    p.gap[0] = gap;
    p.material.assign(1, material);
    p.prescribed = {0, 1};
    p.v_prescribed = Eigen::Vector2d(speed, 0.0);
    solve(p, options, workspace, solution);
    ASSERT_EQ(solution.status, Status::solved) << solution.certificate.worst();
    normal_velocity = solution.v[2];
    gap += dt * normal_velocity;
  }
  double weight() const { return dt * mass * kG; }
};

TEST(Sap, IsASpringAndADamperAtTheEndOfTheStep) {
  PointMass m;
  m.material.stiffness = 2e4;
  m.material.dissipation_time = 0.02;
  for (const double gap : {-1e-3, -1e-5, 0.0}) {
    m.gap = gap;
    m.normal_velocity = -0.2;
    m.step();
    const double force = m.material.stiffness * (-m.gap - m.material.dissipation_time * m.normal_velocity);  // m.gap is the new one
    EXPECT_NEAR(m.solution.impulses[0], m.dt * std::max(0.0, force), 1e-13) << gap;
  }
}

// One with an open gap has its damper from the touch on. Nothing acts where the gap stays open, there is no jump as it goes to zero, and a
// velocity that both bodies share makes no difference.
TEST(Sap, AnOpenGapActsWhereTheStepClosesIt) {
  PointMass m;
  m.material.stiffness = 2e4;
  m.material.dissipation_time = 0.1;
  const auto impulse = [&](double gap, double velocity) {
    m.gap = gap;
    m.normal_velocity = velocity;
    m.step();
    return m.solution.impulses[0];
  };
  for (const double gap : {2.1e-4, 1e-3, 1e-2}) {
    EXPECT_EQ(impulse(gap, -0.2), 0.0) << gap;
    EXPECT_NEAR(m.normal_velocity, -0.2 - m.dt * kG, 1e-14) << gap;
  }
  for (const double gap : {1.9e-4, 1e-5, 1e-9}) {
    const double pushed = impulse(gap, -0.2);  // leaves the new gap in m.gap
    EXPECT_GT(pushed, 0.0);
    EXPECT_NEAR(pushed, m.material.stiffness * (m.dt + m.material.dissipation_time) * -m.gap, 1e-12) << gap;
  }
  EXPECT_NEAR(impulse(1e-12, -0.2), impulse(-1e-12, -0.2), 1e-8);  // slopes of k h and k (h + τ)
}

TEST(Sap, RestsAtItsWeightOverItsStiffness) {
  PointMass m;
  m.material.stiffness = 1e4;
  m.material.dissipation_time = 0.05;
  for (int k = 0; k < 2000; ++k) m.step();
  EXPECT_NEAR(m.gap, -m.mass * kG / m.material.stiffness, 1e-12);
  EXPECT_NEAR(m.solution.impulses[0], m.weight(), 1e-12);
}

TEST(Sap, DecaysAtTheRateOfItsLinearMode) {
  PointMass m;
  m.material.stiffness = 1e4;
  m.material.dissipation_time = 0.05;
  const double rest = -m.mass * kG / m.material.stiffness;
  m.gap = 1.1 * rest;
  for (int k = 0; k < 150; ++k) m.step();
  const double before = m.gap - rest;
  m.step();
  const double z = (m.gap - rest) / before, h = m.dt;
  // m (z - 1)²/(z h²) + k (1 + (1 + τ/h)(z - 1)) = 0: implicit Euler on m φ'' + k τ φ' + k φ = 0, whose slow mode decays in about τ.
  const double k = m.material.stiffness;
  EXPECT_NEAR(m.mass * (z - 1) * (z - 1) / (z * h * h) + k * (1.0 + (1.0 + m.material.dissipation_time / h) * (z - 1.0)), 0.0, 1e-6 * k);
  EXPECT_NEAR(-h / std::log(z), m.material.dissipation_time, 0.1 * m.material.dissipation_time);
}

TEST(Todorov, PenetrationDecaysInItsTimeConstant) {
  PointMass m;
  m.options = with(Law::todorov);
  m.material.time_constant = 0.02;
  m.gap = -1e-3;
  double expected = m.gap;
  for (int k = 0; k < 60; ++k) {
    m.step();
    expected *= m.material.time_constant / (m.dt + m.material.time_constant);
    ASSERT_NEAR(m.gap, expected, 1e-15) << k;
  }
  EXPECT_NEAR(-0.06 / std::log(m.gap / -1e-3), m.material.time_constant, 0.03 * m.material.time_constant);
  m.material.time_constant = 0.0;  // left alone
  m.gap = -1e-3;
  m.normal_velocity = 0.0;
  m.step();
  EXPECT_NEAR(m.gap, -1e-3, 1e-15);
}

TEST(Todorov, SoftnessSinksAtRestAndCreepsUnderLoad) {
  PointMass m;
  m.options = with(Law::todorov);
  m.material.regularization = 0.05;
  m.step();
  // u_N + R λ_N = 0 with λ_N = m (u_N + g h).
  EXPECT_NEAR(m.normal_velocity, -m.material.regularization * m.solution.impulses[0], 1e-15);
  EXPECT_NEAR(m.solution.impulses[0], m.weight() / (1.0 + m.mass * m.material.regularization), 1e-14);
}

// Sliding at a steady speed, carried at the height where u_N = 0 (docs/laws.md): it stays there, and friction is μ times the weight.
TEST(Gliding, SteadyHeightInClosedForm) {
  PointMass sap;
  sap.speed = 0.8;
  sap.material.stiffness = 5e4;
  sap.material.dissipation_time = 0.01;
  const double w = sap.weight(), time = sap.dt + sap.material.dissipation_time, tangential = 1e-3 / sap.mass;
  const double lift_off = sap.mu * sap.speed - sap.mu * sap.mu * tangential * w;
  const double height = sap.dt * (lift_off - sap.mass * kG / (sap.material.stiffness * time));
  ASSERT_GT(height, 0.0);
  sap.gap = height;
  for (int k = 0; k < 200; ++k) sap.step();
  EXPECT_NEAR(sap.gap, height, 1e-12);
  EXPECT_NEAR(sap.solution.impulses[1], -sap.mu * w, 1e-12);

  PointMass todorov;
  todorov.options = with(Law::todorov);
  todorov.speed = 0.8;
  for (const double softness : {0.0, 0.1}) {
    todorov.material.regularization = softness;
    const double lift = todorov.dt * (todorov.mu * todorov.speed - (1.0 + todorov.mu * todorov.mu) * softness * w);
    todorov.gap = lift;
    todorov.normal_velocity = 0.0;
    for (int k = 0; k < 200; ++k) todorov.step();
    EXPECT_NEAR(todorov.gap, lift, 1e-12) << softness;
    EXPECT_NEAR(todorov.solution.impulses[1], -todorov.mu * w, 1e-12);
  }
}

// A slide that starts in contact is thrown up with u_N = μ |u_T| by every convex law; Coulomb's stays down.
TEST(Gliding, AStartInContactIsThrownUp) {
  for (const Law law : {Law::anitescu, Law::todorov, Law::sap, Law::coulomb_cone}) {
    PointMass m;
    m.options = with(law);
    m.speed = 0.8;
    m.material.stiffness = 1e12;
    m.step();
    const double lift = law == Law::coulomb_cone ? 0.0 : m.mu * m.speed;
    EXPECT_NEAR(m.normal_velocity, lift, law == Law::sap ? 2e-4 : 1e-9) << to_string(law);
    double highest = 0.0, mean = 0.0;
    constexpr int kSteps = 2000;
    for (int k = 0; k < kSteps; ++k) {
      m.step();
      highest = std::max(highest, m.gap);
      mean += m.gap / kSteps;
    }
    // Ballistic from there: no higher than v²/2g with v = μ |u_T|.
    EXPECT_LT(highest, lift * lift / (2.0 * kG) + 1e-3) << to_string(law);
    RecordProperty("highest_mm_" + std::string(to_string(law)), std::to_string(1e3 * highest));
    RecordProperty("mean_mm_" + std::string(to_string(law)), std::to_string(1e3 * mean));
  }
}

std::vector<ContactMaterial> random_material(std::mt19937& rng, int n) {
  std::uniform_real_distribution<double> uniform;
  std::vector<ContactMaterial> out(n);
  for (ContactMaterial& m : out) {
    m.stiffness = std::pow(10.0, 3.0 + 4.0 * uniform(rng));
    m.dissipation_time = 0.1 * uniform(rng);
    m.regularization = uniform(rng) < 0.5 ? 0.0 : std::pow(10.0, -6.0 + 5.0 * uniform(rng));
    m.time_constant = uniform(rng) < 0.3 ? 0.0 : 0.1 * uniform(rng);
  }
  return out;
}

TEST(SoftLaws, InverseReturnsThroughTheForwardStep) {
  std::mt19937 rng(17);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (const Law law : {Law::todorov, Law::sap, Law::anitescu}) {
    for (int trial = 0; trial < 30; ++trial) {
      const int nv = 8 + trial % 8, n = 1 + trial % 8;
      ContactProblem p = random_robot(rng, nv, n, 0.1 + 0.1 * (trial % 8));
      p.material = random_material(rng, n);
      for (int i = 0; i < n; ++i) p.gap[i] = 2e-4 * uniform(rng);
      if (trial % 3 == 0) add_joint_friction(p, 2, 1e-3);
      for (int j = 6; j < nv - 2; ++j) p.prescribed.push_back(j);
      p.v_prescribed = VectorXd::NullaryExpr(static_cast<Eigen::Index>(p.prescribed.size()), [&] { return 0.3 * uniform(rng); });
      const SolveOptions options = with(law, Solver::newton, law == Law::anitescu ? 0 : 4);
      const Solution inverse = solve(p, options);
      ASSERT_EQ(inverse.status, Status::solved) << to_string(law) << trial << " " << inverse.certificate.worst();
      EXPECT_LT(inverse.certificate.relaxation.scaled, 1e-10);
      ContactProblem forward = p;
      for (std::size_t j = 0; j < p.prescribed.size(); ++j) {
        forward.impulse[p.prescribed[j]] += inverse.prescribed_impulses[static_cast<Eigen::Index>(j)];
      }
      forward.prescribed.clear();
      forward.v_prescribed.resize(0);
      const Solution back = solve(forward, options);
      ASSERT_EQ(back.status, Status::solved) << to_string(law) << trial << " " << back.certificate.worst();
      EXPECT_LT((back.v - inverse.v).cwiseAbs().maxCoeff(), 1e-9) << to_string(law) << trial;
    }
  }
}

TEST(SoftLaws, VanishingSoftnessIsAnitescusDisc) {
  std::mt19937 rng(23);
  for (int trial = 0; trial < 20; ++trial) {
    ContactProblem p = random_robot(rng, 10, 1 + trial % 6, 0.4);
    p.material.assign(p.contacts(), {});
    const Solution hard = solve(p, with(Law::anitescu, Solver::newton, 0));
    for (const double softness : {0.0, 1e-14, 1e-11}) {
      for (ContactMaterial& m : p.material) m.regularization = softness;
      const Solution s = solve(p, with(Law::todorov));
      ASSERT_EQ(s.status, Status::solved) << trial << " " << softness << " " << s.certificate.worst();
      EXPECT_LT((s.v - hard.v).norm(), 1e-8) << trial << " " << softness;
    }
  }
}

TEST(SoftLaws, CertificateSeesAWrongPoint) {
  std::mt19937 rng(29);
  ContactProblem p = random_robot(rng, 9, 3, 0.5);
  p.impulse[2] -= 2.0;  // pressed down
  p.material.assign(3, {.stiffness = 1e4, .dissipation_time = 0.01});
  const SolveOptions options = with(Law::sap);
  const Solution s = solve(p, options);
  ASSERT_EQ(s.status, Status::solved);
  ContactProblem softer = p;
  softer.material[0].stiffness = 9e3;  // the same point judged by another law
  ASSERT_GT(s.impulses[0], 0.0);
  EXPECT_GT(certify(softer, lowered(softer, options), s.v, s.impulses, VectorXd(0), VectorXd(0)).worst(), 1e-6);
  EXPECT_GT(certify(p, lowered(p, with(Law::todorov)), s.v, s.impulses, VectorXd(0), VectorXd(0)).worst(), 1e-6);
  EXPECT_LT(certify(p, lowered(p, options), s.v, s.impulses, VectorXd(0), VectorXd(0)).worst(), 1e-10);
}

TEST(SoftLaws, SapNeedsAStiffness) {
  std::mt19937 rng(31);
  ContactProblem p = random_robot(rng, 8, 2, 0.5);
  EXPECT_THROW(solve(p, with(Law::sap)), InvalidArgument);
  p.material.assign(2, {.stiffness = 1e4});
  EXPECT_EQ(solve(p, with(Law::sap)).status, Status::solved);
  p.material[1].stiffness = 0.0;
  EXPECT_THROW(solve(p, with(Law::sap)), InvalidArgument);
  EXPECT_THROW(solve(p, with(Law::todorov, Solver::active_set)), InvalidArgument);
}

}  // namespace
}  // namespace stiction::soft_convex_test
