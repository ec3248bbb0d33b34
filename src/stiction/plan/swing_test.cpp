#include "stiction/plan/swing.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"

namespace stiction::swing_test {
namespace {

const FootState kStart{{0.09, 0.10, -0.14}, {-0.2, 0.01, 0.0}, {}};
const FootState kEnd{{0.15, 0.09, -0.14}, {-0.2, -0.02, 0.0}, {}};
constexpr double kBegin = 0.6, kFinish = 0.675;

SwingCurve curve() { return {kBegin, kStart, kFinish, kEnd, 0.015}; }

TEST(Swing, MeetsBothEndsInPositionAndVelocity) {
  const SwingCurve swing = curve();
  EXPECT_LT((swing.at(kBegin).position - kStart.position).norm(), 1e-15);
  EXPECT_LT((swing.at(kBegin).velocity - kStart.velocity).norm(), 1e-14);
  EXPECT_LT((swing.at(kFinish).position - kEnd.position).norm(), 1e-15);
  EXPECT_LT((swing.at(kFinish).velocity - kEnd.velocity).norm(), 1e-14);
}

TEST(Swing, ApexIsTheStepHeightAtHalfTime) {
  const SwingCurve swing = curve();
  const double middle = 0.5 * (kBegin + kFinish);
  const Eigen::Vector3d expected = 0.5 * (kStart.position + kEnd.position) + Eigen::Vector3d(0.0, 0.0, 0.015);
  EXPECT_LT((swing.at(middle).position - expected).norm(), 1e-15);
  EXPECT_NEAR(swing.at(middle).velocity.z(), 0.0, 1e-14);
  double highest = -1.0;
  for (int i = 0; i <= 1000; ++i) highest = std::max(highest, swing.at(kBegin + i * 7.5e-5).position.z());
  EXPECT_NEAR(highest, -0.14 + 0.015, 1e-12);
}

TEST(Swing, VelocityAndAccelerationAreTheDerivatives) {
  const SwingCurve swing = curve();
  const double h = 1e-6;
  for (double t = kBegin + 2.0 * h; t < kFinish - h; t += 0.00491) {
    const Eigen::Vector3d v = (swing.at(t + h).position - swing.at(t - h).position) / (2.0 * h);
    const Eigen::Vector3d a = (swing.at(t + h).velocity - swing.at(t - h).velocity) / (2.0 * h);
    EXPECT_LT((v - swing.at(t).velocity).norm(), 1e-7);
    EXPECT_LT((a - swing.at(t).acceleration).norm(), 1e-4);
  }
}

TEST(Swing, AccelerationIsContinuousAtTheApex) {
  const SwingCurve swing = curve();
  const double apex = 0.5 * (kBegin + kFinish);
  EXPECT_LT((swing.at(apex - 1e-12).acceleration - swing.at(apex).acceleration).norm(), 1e-6);
}

// Without a detour (straight line, matching velocities, no height) the clamped spline is the straight line itself.
TEST(Swing, ReproducesUniformMotion) {
  const FootState start{{0.0, 0.0, 0.0}, {1.0, 2.0, 0.0}, {}}, end{{0.5, 1.0, 0.0}, {1.0, 2.0, 0.0}, {}};
  const SwingCurve swing(0.0, start, 0.5, end, 0.0);
  for (double t = 0.0; t <= 0.5; t += 0.037) {
    EXPECT_LT((swing.at(t).position - Eigen::Vector3d(t, 2.0 * t, 0.0)).norm(), 1e-15);
    EXPECT_LT(swing.at(t).acceleration.norm(), 1e-12);
  }
}

TEST(Swing, ReplanningKeepsPositionAndVelocity) {
  for (const double done : {0.0, 0.1, 0.3, 0.45, 0.5, 0.6, 0.79, 0.95}) {
    SCOPED_TRACE(done);
    SwingCurve swing = curve();
    const double t = kBegin + done * (kFinish - kBegin);
    const FootState before = swing.at(t);
    const FootState end{{0.16, 0.08, -0.13}, {-0.15, 0.0, -0.05}, {}};
    swing.replan(t, kFinish + 0.01, end);
    EXPECT_LT((swing.at(t).position - before.position).norm(), 1e-15);
    EXPECT_LT((swing.at(t).velocity - before.velocity).norm(), 1e-13);
    EXPECT_EQ(swing.end_time(), kFinish + 0.01);
    EXPECT_LT((swing.at(kFinish + 0.01).position - end.position).norm(), 1e-15);
    EXPECT_LT((swing.at(kFinish + 0.01).velocity - end.velocity).norm(), 1e-14);
  }
}

TEST(Swing, ReplanningToTheSameTouchdownBeforeTheApexChangesNothing) {
  SwingCurve swing = curve();
  swing.replan(kBegin + 0.01, kFinish, kEnd);
  const SwingCurve original = curve();
  // The remainder of an optimal (least ∫ẍ²) clamped spline is itself optimal for its own end conditions.
  for (double t = kBegin + 0.01; t <= kFinish; t += 0.003) EXPECT_LT((swing.at(t).position - original.at(t).position).norm(), 1e-14);
}

TEST(Swing, ManyReplansStayNearTheGroundLineAndTheApex) {
  SwingCurve swing = curve();
  FootState end = kEnd;
  double highest = -1.0, lowest = 1.0;
  for (int k = 1; k < 75; ++k) {
    const double t = kBegin + 0.001 * k;
    end.position.x() += 2e-4;
    if (k < 60) swing.replan(t, kFinish, end);
    highest = std::max(highest, swing.at(t).position.z());
    lowest = std::min(lowest, swing.at(t).position.z());
  }
  EXPECT_GE(lowest, -0.14);
  EXPECT_NEAR(highest, -0.125, 5e-4);
}

TEST(Swing, HoldsItsEndsOutside) {
  const SwingCurve swing = curve();
  EXPECT_LT((swing.at(kBegin - 1.0).position - kStart.position).norm(), 1e-15);
  EXPECT_LT((swing.at(kFinish + 1.0).position - kEnd.position).norm(), 1e-15);
  EXPECT_TRUE(swing.at(kFinish + 1.0).acceleration.isZero(0.0));
}

TEST(Swing, RefusesAnEmptyIntervalAndNan) {
  EXPECT_THROW(SwingCurve(1.0, kStart, 1.0, kEnd, 0.01), InvalidArgument);
  EXPECT_THROW(SwingCurve(0.0, kStart, std::numeric_limits<double>::infinity(), kEnd, 0.01), InvalidArgument);
  FootState bad = kEnd;
  bad.position.x() = std::nan("");
  EXPECT_THROW(SwingCurve(0.0, kStart, 1.0, bad, 0.01), InvalidArgument);
}

}  // namespace
}  // namespace stiction::swing_test
