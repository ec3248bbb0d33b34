#include "stiction/control/pid.hpp"

#include <cmath>
#include <complex>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/control/torque_limits.hpp"

namespace stiction::pid_test {
namespace {

Eigen::VectorXd constant(double value) { return Eigen::VectorXd::Constant(1, value); }

TEST(Pid, SumsItsThreeTerms) {
  PidGains gains;
  gains.kp = Eigen::Vector2d(2.0, 3.0);
  gains.kd = Eigen::Vector2d(0.5, 0.25);
  gains.ki = Eigen::Vector2d(10.0, 4.0);
  PidState state;
  Eigen::VectorXd u(2);
  pid(gains, Eigen::Vector2d(0.1, -0.2), Eigen::Vector2d(1.0, 2.0), 0.01, state, u);
  EXPECT_NEAR(u[0], 2.0 * 0.1 + 0.5 * 1.0 + 10.0 * 0.001, 1e-15);
  EXPECT_NEAR(u[1], 3.0 * -0.2 + 0.25 * 2.0 + 4.0 * -0.002, 1e-15);
  pid(gains, Eigen::Vector2d(0.1, -0.2), Eigen::Vector2d(0.0, 0.0), 0.01, state, u);
  EXPECT_NEAR(u[0], 0.2 + 10.0 * 0.002, 1e-15);
}

// A unit mass ẍ = -kp x - kd ẋ from x(0) = 1 at rest: x(t) = e^{-ζωt} (cos ω_d t + ζω/ω_d sin ω_d t).
TEST(Pid, DoubleIntegratorFollowsTheClosedForm) {
  const double kp = 100.0, kd = 8.0, h = 1e-5, end = 1.0;
  const PidGains gains = PidGains::uniform(1, kp, kd, 0.0);
  PidState state;
  double x = 1.0, v = 0.0;
  Eigen::VectorXd u(1);
  for (int k = 0; k < static_cast<int>(std::lround(end / h)); ++k) {
    pid(gains, constant(-x), constant(-v), h, state, u);
    v += h * u[0];
    x += h * v;
  }
  const double decay = 0.5 * kd, damped = std::sqrt(kp - decay * decay);
  const double expected = std::exp(-decay * end) * (std::cos(damped * end) + decay / damped * std::sin(damped * end));
  EXPECT_NEAR(x, expected, 1e-5);  // first order in h
}

// With integral action a constant load d is rejected; the closed loop s³ + kd s² + kp s + ki is stable iff kd kp > ki (Routh).
double final_error(double kp, double kd, double ki, double seconds) {
  const double h = 1e-3, load = 1.0;
  const PidGains gains = PidGains::uniform(1, kp, kd, ki);
  PidState state;
  double x = 0.0, v = 0.0;
  Eigen::VectorXd u(1);
  for (int k = 0; k < static_cast<int>(seconds / h); ++k) {
    pid(gains, constant(-x), constant(-v), h, state, u);
    v += h * (u[0] + load);
    x += h * v;
  }
  return std::abs(x);
}
TEST(Pid, IntegralRejectsAConstantLoadWithinRouthsBound) {
  EXPECT_NEAR(final_error(20.0, 6.0, 0.0, 30.0), 1.0 / 20.0, 1e-9);  // without: the load over kp
  EXPECT_LT(final_error(20.0, 6.0, 20.0, 30.0), 1e-9);
  EXPECT_GT(final_error(20.0, 1.0, 30.0, 60.0), 1e3);  // kd kp = 20 < ki = 30
}

TEST(Pid, IntegralTermIsBounded) {
  PidGains gains = PidGains::uniform(1, 0.0, 0.0, 2.0);
  gains.integral_limit = 0.3;
  PidState state;
  Eigen::VectorXd u(1);
  for (int k = 0; k < 1000; ++k) pid(gains, constant(1.0), constant(0.0), 0.01, state, u);
  EXPECT_NEAR(u[0], 0.3, 1e-15);
  for (int k = 0; k < 30; ++k) pid(gains, constant(-1.0), constant(0.0), 0.01, state, u);
  EXPECT_NEAR(u[0], 0.3 - 2.0 * 0.3, 1e-12);  // leaves the bound at once
}

// A saturated actuator: without conditional integration the overshoot after a long hold is far larger.
double overshoot(bool tell_saturation) {
  const double h = 1e-3;
  const PidGains gains = PidGains::uniform(1, 20.0, 6.0, 20.0);
  const Eigen::VectorXd limit = constant(0.5);
  PidState state;
  std::vector<signed char> saturation;
  double x = 0.0, v = 0.0, highest = 0.0;
  Eigen::VectorXd u(1);
  for (int k = 0; k < 30000; ++k) {
    pid(gains, constant(2.0 - x), constant(-v), h, state, u, tell_saturation ? saturation : std::span<const signed char>{});
    clamp_torques(limit, u, saturation);
    v += h * u[0];
    x += h * v;
    highest = std::max(highest, x - 2.0);
  }
  return highest;
}
TEST(Pid, SaturatedActuatorDoesNotWindUp) { EXPECT_LT(overshoot(true), 0.5 * overshoot(false)); }

TEST(Pid, SaturationFreezesOnlyErrorsThatPushFurther) {
  const PidGains gains = PidGains::uniform(1, 0.0, 0.0, 1.0);
  PidState state;
  Eigen::VectorXd u(1);
  const std::vector<signed char> high{1};
  pid(gains, constant(1.0), constant(0.0), 0.1, state, u, high);
  EXPECT_EQ(state.integral[0], 0.0);
  pid(gains, constant(-1.0), constant(0.0), 0.1, state, u, high);
  EXPECT_EQ(state.integral[0], -0.1);
}

TEST(Pid, RefusesBadInput) {
  PidGains gains = PidGains::uniform(2, 1.0, 1.0, 1.0);
  PidState state;
  Eigen::VectorXd u(2), nan = Eigen::VectorXd::Constant(2, std::nan(""));
  EXPECT_THROW(pid(gains, Eigen::VectorXd::Zero(3), Eigen::VectorXd::Zero(2), 0.1, state, u), InvalidArgument);
  EXPECT_THROW(pid(gains, nan, Eigen::VectorXd::Zero(2), 0.1, state, u), InvalidArgument);
  EXPECT_THROW(pid(gains, Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(2), 0.0, state, u), InvalidArgument);
  gains.kd[1] = -1.0;
  EXPECT_THROW(validate(gains), InvalidArgument);
}

TEST(TorqueLimits, ClampAndReportSide) {
  Eigen::VectorXd tau(4), limit(4);
  tau << 5.0, -7.0, 3.9, 1e6;
  limit << 4.0, 4.0, 4.0, std::numeric_limits<double>::infinity();
  std::vector<signed char> saturation;
  EXPECT_EQ(clamp_torques(limit, tau, saturation), 2);
  EXPECT_EQ(tau, Eigen::Vector4d(4.0, -4.0, 3.9, 1e6));
  EXPECT_EQ(saturation, (std::vector<signed char>{1, -1, 0, 0}));
}

TEST(TorqueLimits, CutTheSameWhetherOrNotSidesAreAskedFor) {
  const Eigen::Vector4d limit(4.0, 0.0, std::numeric_limits<double>::infinity(), 1.0);
  Eigen::VectorXd tau = Eigen::Vector4d(-5.0, 0.5, 1e300, 1.0), with_sides = tau;
  std::vector<signed char> saturation;
  EXPECT_EQ(clamp_torques(limit, tau), 2);
  EXPECT_EQ(clamp_torques(limit, with_sides, saturation), 2);
  EXPECT_EQ(tau, Eigen::Vector4d(-4.0, 0.0, 1e300, 1.0));
  EXPECT_EQ(with_sides, tau);
  EXPECT_EQ(saturation, (std::vector<signed char>{-1, 1, 0, 0}));
}

TEST(TorqueLimits, RefuseNanAndLeaveTheTorquesAlone) {
  Eigen::VectorXd tau = Eigen::Vector2d(9.0, std::nan(""));
  std::vector<signed char> saturation;
  EXPECT_THROW(clamp_torques(Eigen::Vector2d(4.0, 4.0), tau, saturation), InvalidArgument);
  EXPECT_EQ(tau[0], 9.0);
  EXPECT_THROW(clamp_torques(Eigen::Vector2d(4.0, -4.0), tau, saturation), InvalidArgument);
}

}  // namespace
}  // namespace stiction::pid_test
