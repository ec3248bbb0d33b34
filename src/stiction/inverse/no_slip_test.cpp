// No-slip inverse dynamics where tangential rows nearly depend on each other, and where desired velocities contradict the contacts.
#include <gtest/gtest.h>

#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::no_slip_test {
namespace {

using namespace testing_problems;

/// A floating base with two driven legs whose soles lie in one plane but for `tilt` (rad); each leg moves its sole along x, y, z.
ContactProblem biped(std::mt19937& rng, int per_foot, double tilt) {
  std::normal_distribution<double> normal;
  const auto gaussian = [&] { return normal(rng); };
  const int nv = 12, n = 2 * per_foot;
  MatrixXd a = MatrixXd::NullaryExpr(nv, nv, gaussian);
  const MatrixXd M = a * a.transpose() / nv + MatrixXd::Identity(nv, nv);
  MatrixXd J = MatrixXd::Zero(3 * n, nv);
  for (int i = 0; i < n; ++i) {
    const bool left = i < per_foot;
    const double x = 0.1 * std::cos(2.0 * i), y = 0.05 * std::sin(3.0 * i);
    const Vector3d at(x, (left ? 0.1 : -0.1) + y, -0.5 + tilt * (left ? x : y));
    J.middleRows<3>(3 * i).leftCols<6>() = body_rows(at, upright());
    J.middleRows<3>(3 * i).middleCols<3>(left ? 6 : 9) = upright().transpose();
  }
  ContactProblem p = make_contact_problem(M, 0.1 * VectorXd::NullaryExpr(nv, gaussian), J, VectorXd::Constant(n, 0.6), 1e-3);
  p.impulse = 0.02 * VectorXd::NullaryExpr(nv, gaussian);
  p.impulse[2] -= 1.0;
  return p;
}

TEST(NoSlipInverse, NearlyDependentRowsCertifyAtFullAccuracyAndAreNotRepaired) {
  std::mt19937 rng(21);
  InverseOptions options;
  options.contact.law = Law::no_slip;
  const std::vector<int> joints{6, 7, 8, 9, 10, 11};
  for (const double tilt : {0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2}) {
    for (int trial = 0; trial < 20; ++trial) {
      const ContactProblem p = biped(rng, 3 + 9 * (trial % 5), tilt);
      const Solution forward = solve(p, options.contact);
      // Contacts that nearly no motion sets apart hold by impulses as many times the problem's scale as they are close, which round off
      // more than the slip that stays without them: told, not certified.
      if (forward.status != Status::solved) {
        EXPECT_TRUE(forward.certificate.worst() < 1e-8 ||
                    forward.impulses.lpNorm<Eigen::Infinity>() > 1e5 * forward.certificate.impulse_scale)
            << tilt << " " << trial;
        EXPECT_TRUE(tilt > 0.0 && tilt < 1e-4) << tilt;
        continue;
      }
      const InverseSolution s = inverse_dynamics(p, joints, forward.v.tail(6), {}, options);
      EXPECT_EQ(s.status, Status::solved) << tilt << " " << trial << " " << s.certificate.worst();
      EXPECT_FALSE(s.repaired) << tilt << " " << trial;
      EXPECT_LT(s.certificate.worst(), tilt > 0.0 && tilt < 1e-4 ? 1e-9 : 1e-10) << tilt << " " << trial;
      // What nearly dependent rows see of the base is lost in rounding; the contacts' motion is not.
      const MatrixXd J = p.J.to_dense();
      EXPECT_LT((J * (s.v - forward.v)).norm(), (tilt == 0.0 || tilt >= 1e-4 ? 1e-10 : 1e-5) * std::max(1.0, forward.v.norm())) << tilt;
    }
  }
}

TEST(NoSlipInverse, ContradictionIsAQuestionOfRangeNotOfTolerance) {
  std::mt19937 rng(22);
  const ContactProblem p = biped(rng, 4, 0.0);
  InverseOptions options;
  options.contact.law = Law::no_slip;
  const Solution forward = solve(p, options.contact);
  const std::vector<int> joints{6, 7, 8, 9, 10, 11};
  VectorXd splay = forward.v.tail(6);
  splay[0] += 0.1;  // one foot forward, the other where it was
  const InverseSolution repaired = inverse_dynamics(p, joints, splay, {}, options);
  EXPECT_TRUE(repaired.repaired);
  EXPECT_EQ(repaired.status, Status::solved);
  EXPECT_GT(repaired.shortfall, 0.01);
  options.repair_inconsistent = false;
  const InverseSolution refused = inverse_dynamics(p, joints, splay, {}, options);
  EXPECT_EQ(refused.status, Status::infeasible);
  EXPECT_TRUE(refused.ray.proof);
  // A tolerance nobody can meet is no contradiction.
  options.repair_inconsistent = true;
  options.contact.tolerance = 1e-30;
  const InverseSolution strict = inverse_dynamics(p, joints, forward.v.tail(6), {}, options);
  EXPECT_FALSE(strict.repaired);
  EXPECT_EQ(strict.status, Status::inaccurate);
}

TEST(ViscousInverse, TorquesGiveTheSameStepBack) {
  std::mt19937 rng(23);
  const std::vector<int> joints{6, 7, 8, 9, 10, 11};
  for (const ViscousSlip slip : {ViscousSlip::after, ViscousSlip::before}) {
    for (int trial = 0; trial < 20; ++trial) {
      ContactProblem p = biped(rng, 1 + trial % 4, 0.0);
      ContactMaterial material;
      material.viscosity = 5.0 * (1 + trial);
      p.material.assign(p.contacts(), material);
      InverseOptions options;
      options.contact.law = Law::viscous;
      options.contact.viscous_slip = slip;
      const VectorXd desired = 0.2 * VectorXd::LinSpaced(6, -1.0, 1.0);
      const InverseSolution plan = inverse_dynamics(p, joints, desired, {}, options);
      ASSERT_EQ(plan.status, Status::solved) << plan.certificate.worst();
      for (int k = 0; k < 6; ++k) p.impulse[6 + k] += p.dt * plan.tau[k];
      const Solution step = solve(p, options.contact);
      EXPECT_EQ(step.status, Status::solved);
      EXPECT_LT((step.v - plan.v).norm(), 1e-9) << trial;
    }
  }
}

}  // namespace
}  // namespace stiction::no_slip_test
