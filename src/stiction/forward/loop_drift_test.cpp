// Drift that contacts nearly refuse to undo, in closed form: a loop along x, a contact without slip along (1, σ).
#include <gtest/gtest.h>

#include "stiction/forward/loop_drift.hpp"
#include "stiction/laws/solve_memory.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::loop_drift_test {
namespace {

using namespace testing_problems;

constexpr double kRate = 5e-3;

ContactProblem loop_and_contact(double sigma, const VectorXd& before) {
  MatrixXd J(3, 3);
  J << 0, 0, 1, 1, sigma, 0, 1, sigma, 0;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(3, 3), before, J, VectorXd::Constant(1, 0.5), 1e-3);
  p.impulse[2] = -1e-5;
  p.J_b = BlockRows::from_dense(1, Eigen::RowVector3d(1.0, 0.0, 0.0), p.M.sizes());
  p.b = VectorXd::Constant(1, kRate);
  p.lo = VectorXd::Constant(1, -kInfinity);
  p.hi = VectorXd::Constant(1, kInfinity);
  return p;
}

// v⁺ = (b, -b/σ, 0): energy b²/(2σ²) from nothing, beside b²/2 that the drift alone takes.
TEST(LoopDrift, IsMagnifiedWhereContactsMakeTenOfIt) {
  for (const VectorXd& before : {VectorXd(Vector3d::Zero()), VectorXd(Vector3d(-1e-4, 1e-4, 0.0))}) {
    for (const double sigma : {0.3, 0.11, 0.09, 1e-2, 1e-3}) {
      const ContactProblem p = loop_and_contact(sigma, before);
      SolveWorkspace w;
      Solution s;
      solve(p, with(Law::no_slip), w, s);
      ASSERT_EQ(s.status, Status::solved) << sigma;
      EXPECT_NEAR(s.v[1], -kRate / sigma, 1e-9 / sigma);
      LoopDrift drift;
      EXPECT_EQ(drift.is_magnified(p, s, w.reduction), sigma < 0.1) << sigma;
      GrowVector moved = VectorXd(VectorXd::Zero(3));
      drift.add(moved);
      EXPECT_EQ(moved.norm(), 0.0);
      drift.withhold(p, w.reduction);
      drift.add(moved);
      EXPECT_LT((moved - kRate * VectorXd::Unit(3, 0)).norm(), 1e-15) << sigma;
    }
  }
}

// What motors ask of the same row is theirs to give, however much the contact makes of it.
TEST(LoopDrift, IsNotWhatMotorsAsk) {
  ContactProblem p = loop_and_contact(1e-3, Vector3d::Zero());
  p.row_kinds = {RowKind::motor};
  SolveWorkspace w;
  Solution s;
  solve(p, with(Law::no_slip), w, s);
  EXPECT_FALSE(LoopDrift{}.is_magnified(p, s, w.reduction));
}

}  // namespace
}  // namespace stiction::loop_drift_test
