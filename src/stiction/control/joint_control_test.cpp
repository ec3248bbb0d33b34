#include "stiction/control/joint_control.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/control/operational_space.hpp"
#include "stiction/control/stabilizer.hpp"
#include "stiction/control/torque_limits.hpp"

namespace stiction::joint_control_test {
namespace {

const Eigen::VectorXd kNothing;

JointControlOptions options_for(Eigen::Index n, double kp, double kd, double ki, double h) {
  JointControlOptions options;
  options.feedback = PidGains::uniform(n, kp, kd, ki);
  options.dt = options.lookahead = h;
  return options;
}

TEST(JointControl, NamesTheArgumentAndTheJointThatAreWrong) {
  const JointControlOptions options = options_for(2, 1.0, 1.0, 0.0, 1e-3);
  const auto message = [&](const Eigen::Vector2d& q, const Eigen::Vector2d& v, const Eigen::Vector2d& q_desired,
                           const Eigen::Vector2d& v_desired) {
    DesiredMotion desired(2);
    desired.q = q_desired;
    desired.v = v_desired;
    JointControlState state;
    Eigen::VectorXd tau;
    try {
      joint_pid(options, desired, q, v, kNothing, state, tau);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Eigen::Vector2d fine(0, 0), nan(0, std::nan("")), low(-1e308, 0), high(1e308, 0);
  EXPECT_EQ(message(nan, fine, fine, fine), "q[1]: expected a finite number, got nan");
  EXPECT_EQ(message(fine, nan, fine, fine), "v[1]: expected a finite number, got nan");
  EXPECT_EQ(message(fine, fine, nan, fine), "desired.q[1]: expected a finite number, got nan");
  EXPECT_EQ(message(fine, fine, fine, nan), "desired.v[1]: expected a finite number, got nan");
  EXPECT_EQ(message(high, fine, low, fine),
            "desired.q[0]: expected a number whose distance from q[0] is finite, got -1e+308 with 1e+308 there");
  EXPECT_EQ(message(fine, low, fine, high),
            "desired.v[0]: expected a number whose distance from v[0] is finite, got 1e+308 with -1e+308 there");
}

// Perfect inverse dynamics: the tracking error obeys ë + kd ė + kp e = 0 whatever the desired motion.
TEST(JointReference, ErrorDecaysAsTheFeedbackPrescribes) {
  const double h = 1e-4, kp = 64.0, kd = 16.0;  // critically damped: e(t) = e0 (1 + 8 t) exp(-8 t)
  const JointControlOptions options = options_for(2, kp, kd, 0.0, h);
  Eigen::VectorXd q(2), v(2);
  q << 0.1, -0.2;
  v << 1.0, 1.0;  // the desired velocities at 0
  const Eigen::Vector2d e0 = -q;
  JointControlState state;
  JointReference reference;
  DesiredMotion desired(2);
  const int steps = 5000;
  for (int k = 0; k < steps; ++k) {
    const double t = k * h;
    desired.q.setConstant(std::sin(t));
    desired.v.setConstant(std::cos(t));
    desired.a.setConstant(-std::sin(t));
    joint_reference(options, desired, q, v, kNothing, state, reference);
    v = reference.v;
    q += h * v;
  }
  const double t = steps * h;
  const Eigen::Vector2d error = Eigen::Vector2d::Constant(std::sin(t)) - q;
  const Eigen::Vector2d expected = e0 * (1.0 + 8.0 * t) * std::exp(-8.0 * t);
  EXPECT_NEAR((error - expected).norm(), 0.0, 1e-4);  // first order in h
  EXPECT_GT(expected.norm(), 1e-3);
}

TEST(JointReference, IsVelocityPlusLookaheadTimesAcceleration) {
  JointControlOptions options = options_for(2, 10.0, 2.0, 0.0, 0.001);
  options.lookahead = 0.005;
  DesiredMotion desired(2);
  desired.q << 0.5, 0.0;
  desired.v << 0.0, 1.0;
  desired.a << 3.0, -1.0;
  const Eigen::Vector2d q(0.4, 0.1), v(0.2, 0.0), extra(0.5, 0.25);
  JointControlState state;
  JointReference reference;
  joint_reference(options, desired, q, v, extra, state, reference);
  const Eigen::Vector2d a(3.0 + 10.0 * 0.1 + 2.0 * -0.2 + 0.5, -1.0 + 10.0 * -0.1 + 2.0 * 1.0 + 0.25);
  EXPECT_NEAR((reference.a - a).norm(), 0.0, 1e-14);
  EXPECT_NEAR((reference.v - (v + 0.005 * a)).norm(), 0.0, 1e-15);
}

TEST(JointControl, RefusesWrongSizes) {
  const JointControlOptions options = options_for(2, 1.0, 1.0, 0.0, 0.001);
  JointControlState state;
  Eigen::VectorXd tau;
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(2);
  EXPECT_THROW(joint_pid(options, DesiredMotion(3), zero, zero, kNothing, state, tau), InvalidArgument);
  EXPECT_THROW(joint_pid(options, DesiredMotion(2), Eigen::VectorXd::Zero(1), zero, kNothing, state, tau), InvalidArgument);
  EXPECT_THROW(joint_pid(options, DesiredMotion(2), zero, zero, Eigen::VectorXd::Zero(3), state, tau), InvalidArgument);
  JointControlOptions bad = options;
  bad.lookahead = 0.0;
  EXPECT_THROW(validate(bad), InvalidArgument);
}

TEST(JointPid, SaturatedJointsStopIntegrating) {
  const JointControlOptions options = options_for(3, 0.0, 0.0, 100.0, 0.1);
  DesiredMotion desired(3);
  desired.q << 1.0, 0.1, 0.1;
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(3), limit = Eigen::VectorXd::Constant(3, 4.0);
  JointControlState state;
  Eigen::VectorXd tau;
  for (int k = 0; k < 2; ++k) {
    joint_pid(options, desired, zero, zero, kNothing, state, tau);
    EXPECT_EQ(clamp_torques(limit, tau, state.saturation), 1);
    EXPECT_EQ(tau[0], 4.0);
  }
  EXPECT_NEAR((state.pid.integral - Eigen::Vector3d(0.1, 0.02, 0.02)).norm(), 0.0, 1e-15);
}

TEST(JointPid, AddsTheExtraTorques) {
  const JointControlOptions options = options_for(2, 10.0, 0.1, 0.0, 0.001);
  DesiredMotion desired(2);
  desired.q << 0.1, 0.2;
  JointControlState state;
  Eigen::VectorXd tau;
  joint_pid(options, desired, Eigen::Vector2d::Zero(), Eigen::Vector2d(1.0, 0.0), Eigen::Vector2d(0.5, 0.5), state, tau);
  EXPECT_NEAR((tau - Eigen::Vector2d(1.0 - 0.1 + 0.5, 2.0 + 0.5)).norm(), 0.0, 1e-15);
}

// A massless-link point mass held by the foot PID behaves as a spring-damper: tau = Jᵀ f.
TEST(OperationalSpace, TorquesDoTheVirtualWorkOfTheFootForces) {
  Eigen::MatrixXd J(6, 4);
  J << 1, 2, 0, 0, 0, 1, 0, 0, 3, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 1, 0, 0, 1, 1;
  Eigen::VectorXd x_d(6), x(6), v_d(6), v(6);
  x_d << 1, 0, 0, 0, 1, 0;
  x << 0.9, 0.1, 0, 0, 1, 0.2;
  v_d.setZero();
  v << 0, 0, 1, 0, 0, 0;
  OperationalSpaceState state;
  Eigen::VectorXd tau(4);
  const PidGains gains = PidGains::uniform(6, 1000.0, 10.0, 0.0);
  operational_space_pid(gains, {x_d, v_d}, {x, v}, J, 0.001, state, tau);
  Eigen::VectorXd force(6);
  force << 100.0, -100.0, -10.0, 0.0, 0.0, -200.0;
  EXPECT_NEAR((state.force - force).norm(), 0.0, 1e-10);
  EXPECT_NEAR((tau - J.transpose() * force).norm(), 0.0, 1e-9);
}

TEST(SensedForces, AreDeliveredLate) {
  SensedForces last(1, 1), before(1, 2);
  for (double f : {1.0, 2.0, 3.0}) {
    last.push(Eigen::VectorXd::Constant(1, f));
    before.push(Eigen::VectorXd::Constant(1, f));
    EXPECT_EQ(last.delayed()[0], f);
    EXPECT_EQ(before.delayed()[0], f - 1.0);
  }
  EXPECT_THROW(SensedForces(1, 0), InvalidArgument);
}

TEST(JointControl, APeriodDoesNotAllocate) {
  ASSERT_TRUE(allocations_are_counted());
  const Eigen::Index n = 12;
  const JointControlOptions options = options_for(n, 10.0, 0.1, 0.003, 0.001);
  const Eigen::VectorXd limit = Eigen::VectorXd::Constant(n, 4.0);
  const PidGains foot_gains = PidGains::uniform(12, 1000.0, 10.0, 0.01);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(n), x = Eigen::VectorXd::Random(12), v = Eigen::VectorXd::Random(12);
  const Eigen::MatrixXd J = Eigen::MatrixXd::Random(12, 12);
  const Eigen::Matrix3Xd point = Eigen::Matrix3Xd::Random(3, 4), normal = Eigen::Vector3d::UnitZ().replicate(1, 4);
  const Eigen::Vector3d center = Eigen::Vector3d::Zero();
  const DesiredMotion desired(n);
  JointControlState id_state, pid_state;
  OperationalSpaceState foot_state;
  VirtualForces forces;
  JointReference reference;
  Eigen::VectorXd a_extra(n), tau_extra(n), tau(n);
  const auto period = [&](Eigen::Index feet) {
    compressive_forces(point.leftCols(feet), normal.leftCols(feet), center, Eigen::Vector2d(0.3, 0.1), 0.0, forces);
    a_extra.setZero();
    add_virtual_force_accelerations(forces, normal.leftCols(feet), J.topRows(3 * feet), 1.0, a_extra);
    joint_reference(options, desired, x, v, a_extra, id_state, reference);
    operational_space_pid(foot_gains, {zero, zero}, {x, v}, J, 0.001, foot_state, tau_extra);
    add_virtual_force_torques(forces, normal.leftCols(feet), J.topRows(3 * feet), tau_extra);
    joint_pid(options, desired, x, v, tau_extra, pid_state, tau);
    clamp_torques(limit, tau, pid_state.saturation);
  };
  period(4);
  const std::size_t before = allocation_count();
  for (int k = 0; k < 100; ++k) period(2 + 2 * (k % 2));
  EXPECT_EQ(allocation_count(), before);
}

TEST(JointControl, RefusesOptionsThatAreNoNumbers) {
  const DesiredMotion desired(2);
  const Eigen::VectorXd q = Eigen::VectorXd::Zero(2), none;
  JointControlOptions good;
  good.feedback = PidGains::uniform(2, 1.0, 1.0, 1.0);
  const auto refuses = [&](const JointControlOptions& options) {
    JointControlState state;
    JointReference reference;
    EXPECT_THROW(joint_reference(options, desired, q, q, none, state, reference), InvalidArgument);
  };
  const auto both_refuse = [&](const JointControlOptions& options) {
    refuses(options);
    JointControlState state;
    Eigen::VectorXd tau;
    EXPECT_THROW(joint_pid(options, desired, q, q, none, state, tau), InvalidArgument);
  };
  for (const double value : {std::nan(""), -1.0}) {
    JointControlOptions bad = good;
    bad.feedback.kp[1] = value;
    both_refuse(bad);
    bad = good;
    bad.feedback.integral_limit = value;
    both_refuse(bad);
    bad = good;
    bad.dt = value;
    both_refuse(bad);
    bad = good;
    bad.lookahead = value;
    refuses(bad);
  }
  JointControlOptions bad = good;
  bad.feedback.kd.resize(1);
  both_refuse(bad);
}

TEST(SensedForces, RefusesSizesBelowZero) { EXPECT_THROW(SensedForces(-1, 1), InvalidArgument); }

}  // namespace
}  // namespace stiction::joint_control_test
