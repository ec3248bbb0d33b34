#include "stiction/control/inverse_dynamics_control.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/control/operational_space.hpp"
#include "stiction/control/stabilizer.hpp"

namespace stiction {
namespace {

const Eigen::VectorXd kNothing;

JointControlOptions options_for(Eigen::Index n, double kp, double kv, double ki, double h) {
  JointControlOptions options;
  options.feedback = PidGains::uniform(n, kp, kv, ki);
  options.dt = options.lookahead = h;
  return options;
}

// Perfect inverse dynamics of masses m: the tracking error obeys ë + kv ė + kp e = 0 whatever the desired motion.
TEST(InverseDynamicsControl, ErrorDecaysAsTheFeedbackPrescribes) {
  const double h = 1e-4, kp = 64.0, kv = 16.0;  // critically damped: e(t) = e0 (1 + 8 t) exp(-8 t)
  const Eigen::Vector2d mass(2.0, 0.3);
  const JointControlOptions options = options_for(2, kp, kv, 0.0, h);
  Eigen::VectorXd q(2), v(2);
  q << 0.1, -0.2;
  v << 1.0, 1.0;  // the desired velocities at 0
  const Eigen::Vector2d e0 = -q;
  const InverseDynamics inverse = [&](const Eigen::Ref<const Eigen::VectorXd>& v_ref, Eigen::Ref<Eigen::VectorXd> tau) {
    tau = mass.cwiseProduct(v_ref - v) / h;
    return Status::solved;
  };
  JointControlState state;
  JointCommand command;
  DesiredMotion desired(2);
  const int steps = 5000;
  for (int k = 0; k < steps; ++k) {
    const double t = k * h;
    desired.q.setConstant(std::sin(t));
    desired.v.setConstant(std::cos(t));
    desired.a.setConstant(-std::sin(t));
    inverse_dynamics_control(options, desired, q, v, kNothing, inverse, state, command);
    ASSERT_EQ(command.status, Status::solved);
    v += h * command.tau.cwiseQuotient(mass);
    q += h * v;
  }
  const double t = steps * h;
  const Eigen::Vector2d error = Eigen::Vector2d::Constant(std::sin(t)) - q;
  const Eigen::Vector2d expected = e0 * (1.0 + 8.0 * t) * std::exp(-8.0 * t);
  EXPECT_NEAR((error - expected).norm(), 0.0, 1e-4);  // first order in h
  EXPECT_GT(expected.norm(), 1e-3);
}

TEST(InverseDynamicsControl, ReferenceIsVelocityPlusLookaheadTimesAcceleration) {
  JointControlOptions options = options_for(2, 10.0, 2.0, 0.0, 0.001);
  options.lookahead = 0.005;
  DesiredMotion desired(2);
  desired.q << 0.5, 0.0;
  desired.v << 0.0, 1.0;
  desired.a << 3.0, -1.0;
  const Eigen::Vector2d q(0.4, 0.1), v(0.2, 0.0), extra(0.5, 0.25);
  JointControlState state;
  JointCommand command;
  reference_acceleration(options, desired, q, v, extra, state, command);
  const Eigen::Vector2d a(3.0 + 10.0 * 0.1 + 2.0 * -0.2 + 0.5, -1.0 + 10.0 * -0.1 + 2.0 * 1.0 + 0.25);
  EXPECT_NEAR((command.a_ref - a).norm(), 0.0, 1e-14);
  EXPECT_NEAR((command.v_ref - (v + 0.005 * a)).norm(), 0.0, 1e-15);
}

TEST(InverseDynamicsControl, LimitsTorquesAndFlagsThem) {
  JointControlOptions options = options_for(3, 0.0, 0.0, 1.0, 0.1);
  options.torque_limit = Eigen::VectorXd::Constant(3, 4.0);
  DesiredMotion desired(3);
  desired.q << 1.0, 1.0, 1.0;
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(3);
  const InverseDynamics inverse = [](const Eigen::Ref<const Eigen::VectorXd>&, Eigen::Ref<Eigen::VectorXd> tau) {
    tau << 10.0, 1.0, -10.0;
    return Status::inaccurate;
  };
  JointControlState state;
  JointCommand command;
  inverse_dynamics_control(options, desired, zero, zero, kNothing, inverse, state, command);
  EXPECT_EQ(command.saturated, 2);
  EXPECT_EQ(command.tau, Eigen::Vector3d(4.0, 1.0, -4.0));
  EXPECT_EQ(command.status, Status::inaccurate);  // the callback's word is passed on
  inverse_dynamics_control(options, desired, zero, zero, kNothing, inverse, state, command);
  EXPECT_NEAR((state.pid.integral - Eigen::Vector3d(0.1, 0.2, 0.2)).norm(), 0.0, 1e-15);  // joint 0 stopped integrating
}

TEST(InverseDynamicsControl, TorqueThatIsNotFiniteBecomesAnError) {
  const JointControlOptions options = options_for(1, 1.0, 1.0, 0.0, 0.001);
  const InverseDynamics inverse = [](const Eigen::Ref<const Eigen::VectorXd>&, Eigen::Ref<Eigen::VectorXd> tau) {
    tau[0] = std::nan("");
    return Status::solved;
  };
  JointControlState state;
  JointCommand command;
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(1);
  inverse_dynamics_control(options, DesiredMotion(1), zero, zero, kNothing, inverse, state, command);
  EXPECT_EQ(command.status, Status::numerical_error);
  EXPECT_EQ(command.tau[0], 0.0);
}

TEST(InverseDynamicsControl, RefusesWrongSizes) {
  const JointControlOptions options = options_for(2, 1.0, 1.0, 0.0, 0.001);
  JointControlState state;
  JointCommand command;
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(2);
  EXPECT_THROW(joint_pid_control(options, DesiredMotion(3), zero, zero, kNothing, state, command), InvalidArgument);
  EXPECT_THROW(joint_pid_control(options, DesiredMotion(2), Eigen::VectorXd::Zero(1), zero, kNothing, state, command), InvalidArgument);
  EXPECT_THROW(joint_pid_control(options, DesiredMotion(2), zero, zero, Eigen::VectorXd::Zero(3), state, command), InvalidArgument);
  JointControlOptions bad = options;
  bad.torque_limit = Eigen::VectorXd::Zero(3);
  EXPECT_THROW(validate(bad), InvalidArgument);
}

TEST(JointPid, AddsTheExtraTorques) {
  const JointControlOptions options = options_for(2, 10.0, 0.1, 0.0, 0.001);
  DesiredMotion desired(2);
  desired.q << 0.1, 0.2;
  JointControlState state;
  JointCommand command;
  joint_pid_control(options, desired, Eigen::Vector2d::Zero(), Eigen::Vector2d(1.0, 0.0), Eigen::Vector2d(0.5, 0.5), state, command);
  EXPECT_NEAR((command.tau - Eigen::Vector2d(1.0 - 0.1 + 0.5, 2.0 + 0.5)).norm(), 0.0, 1e-15);
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

  operational_space_pid(gains, {x_d, v_d}, {x, v}, J, 0.001, state, tau, std::vector<char>{0, 1});
  force.head<3>().setZero();
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

TEST(InverseDynamicsControl, APeriodDoesNotAllocate) {
  ASSERT_TRUE(allocations_are_counted());
  const Eigen::Index n = 12;
  JointControlOptions options = options_for(n, 10.0, 0.1, 0.003, 0.001);
  options.torque_limit = Eigen::VectorXd::Constant(n, 4.0);
  const PidGains foot_gains = PidGains::uniform(12, 1000.0, 10.0, 0.01);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(n), x = Eigen::VectorXd::Random(12), v = Eigen::VectorXd::Random(12);
  const Eigen::MatrixXd J = Eigen::MatrixXd::Random(12, 12);
  const Eigen::Matrix3Xd point = Eigen::Matrix3Xd::Random(3, 4), normal = Eigen::Vector3d::UnitZ().replicate(1, 4);
  const Eigen::Vector3d center = Eigen::Vector3d::Zero();
  const InverseDynamics inverse = [](const Eigen::Ref<const Eigen::VectorXd>& v_ref, Eigen::Ref<Eigen::VectorXd> tau) {
    tau = 100.0 * v_ref;
    return Status::solved;
  };
  const DesiredMotion desired(n);
  JointControlState id_state, pid_state;
  OperationalSpaceState foot_state;
  VirtualForces forces;
  JointCommand command;
  Eigen::VectorXd a_extra(n), tau_extra(n);
  const auto period = [&](Eigen::Index feet) {
    compressive_forces(point.leftCols(feet), normal.leftCols(feet), center, Eigen::Vector2d(0.3, 0.1), 0.0, forces);
    a_extra.setZero();
    add_virtual_force_accelerations(forces, normal.leftCols(feet), J.topRows(3 * feet), 1.0, a_extra);
    inverse_dynamics_control(options, desired, x, v, a_extra, inverse, id_state, command);
    operational_space_pid(foot_gains, {zero, zero}, {x, v}, J, 0.001, foot_state, tau_extra);
    add_virtual_force_torques(forces, normal.leftCols(feet), J.topRows(3 * feet), tau_extra);
    joint_pid_control(options, desired, x, v, tau_extra, pid_state, command);
  };
  period(4);
  const std::size_t before = allocation_count();
  for (int k = 0; k < 100; ++k) period(2 + 2 * (k % 2));
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace stiction
