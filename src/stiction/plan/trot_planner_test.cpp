#include "stiction/plan/trot_planner.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/plan/patrol.hpp"

namespace stiction::trot_planner_test {
namespace {

TrotOptions links_options() {
  TrotOptions options;
  options.nominal_feet = links_nominal_feet();
  return options;
}
TrotPlanner links_planner(const TrotOptions& options = links_options()) { return {links_legs(), options, links_standing_posture()}; }

Eigen::Vector3d in_world(const PlanarPose& pose, const Eigen::Vector3d& point) {
  return Eigen::AngleAxisd(pose.yaw, Eigen::Vector3d::UnitZ()) * point + Eigen::Vector3d(pose.x, pose.y, 0.0);
}

// A base that moves as commanded drags no stance foot over the ground, whatever the command does.
TEST(TrotPlanner, StanceFeetStayPutInTheWorld) {
  TrotPlanner planner = links_planner();
  Eigen::Matrix3Xd planted = Eigen::Matrix3Xd::Zero(3, 4);
  std::vector<char> before(4, 0);
  int checked = 0;
  PlanarPose base;
  for (int k = 0; k <= 3000; ++k) {
    const double t = 0.001 * k;
    const PlanarTwist command{0.2 * std::sin(t), 0.05 * std::cos(3.0 * t), 0.5 * std::sin(2.0 * t)};
    const TrotPlan& plan = planner.update(t, command);
    if (k > 0) base = advance(base, command, 0.001);
    ASSERT_EQ(plan.status, Status::solved);
    for (int leg = 0; leg < 4; ++leg) {
      const auto l = static_cast<std::size_t>(leg);
      EXPECT_EQ(plan.stance[l] != 0, in_stance(planner.options().gait, leg, t)) << "leg " << leg << " at " << t;
      const Eigen::Vector3d foot = in_world(base, plan.foot_position.col(leg));
      if (plan.stance[l] != 0 && before[l] != 0) {
        EXPECT_LT((foot - planted.col(leg)).norm(), 1e-13);
        ++checked;
      }
      planted.col(leg) = foot;
    }
    before = plan.stance;
  }
  EXPECT_GT(checked, 8000);
}

// A leg that turns by θ and lengthens under a hip at height H above the centre of its foot: v t = H tan θ + r θ, the first by the lean of
// the leg, the second by the way that the sphere has rolled.
TEST(TrotPlanner, ARollingFootFollowsTheClosedForm) {
  SerialChain chain;
  chain.joints = {{Eigen::Vector3d::Zero(), Eigen::Matrix3d::Identity(), Eigen::Vector3d::UnitY(), true},
                  {Eigen::Vector3d::Zero(), Eigen::Matrix3d::Identity(), -Eigen::Vector3d::UnitZ(), false}};
  Leg leg{{0, 1}, chain, Eigen::Vector2d(-1.5, 0.01), Eigen::Vector2d(1.5, 1.0), {}};
  constexpr double kH = 0.14, kRadius = 0.03, kV = 0.2;
  TrotOptions options;
  options.gait = {1.0, {0.75}, {0.0}, 0.0};
  options.nominal_feet = Eigen::Vector3d(0.0, 0.0, -kH);
  options.foot_radius = kRadius;
  const Eigen::Vector2d upright(0.0, kH);
  EXPECT_THROW(TrotPlanner({leg}, options, upright), InvalidArgument);  // no rotation
  leg.rotation = [chain](const LegVector& q, Eigen::Matrix3d& R, LegJacobian& W) { chain.turn(q, R, W); };
  TrotPlanner planner({leg}, options, upright);
  for (double t = 0.0; t < 0.6; t += 0.013) {
    const TrotPlan& plan = planner.update(t, {kV, 0.0, 0.0});
    ASSERT_EQ(plan.status, Status::solved);
    const double theta = plan.joints.q[0];
    EXPECT_NEAR(kH * std::tan(theta) + kRadius * theta, kV * t, 1e-9);
    EXPECT_NEAR(plan.joints.q[1] * std::cos(theta), kH, 1e-9);
    EXPECT_NEAR(plan.joints.v[0], kV / (kH / std::pow(std::cos(theta), 2) + kRadius), 1e-8);
    EXPECT_NEAR(plan.foot_velocity(0, 0), -kV + kRadius * plan.joints.v[0], 1e-8);
  }
  EXPECT_GT(planner.plan().joints.q[0], 0.5);
}

// The surface of a foot in stance has no speed over the ground, and the finite turn between two updates carries its centre as far.
TEST(TrotPlanner, RollingFeetDoNotSlide) {
  constexpr double kRadius = 0.01, kStep = 0.001;
  TrotOptions options = links_options();
  options.foot_radius = kRadius;
  TrotPlanner planner = links_planner(options), sliding = links_planner();
  const PlanarTwist command{0.2, 0.05, 0.5};
  const Eigen::Vector3d up = kRadius * Eigen::Vector3d::UnitZ();
  Eigen::Matrix3Xd before = Eigen::Matrix3Xd::Zero(3, 4);
  std::vector<Eigen::Matrix3d> turn(4);
  std::vector<char> stood(4, 0);
  double path = 0.0, slid = 0.0;
  for (int k = 0; k <= 1000; ++k) {
    const TrotPlan& plan = planner.update(kStep * k, command);
    const PlanarPose base = advance({}, command, kStep * k);
    ASSERT_EQ(plan.status, Status::solved);
    const auto surface = [&](const TrotPlan& p, std::size_t l) {
      LegVector q(3), v(3);
      for (int i = 0; i < 3; ++i) q[i] = p.joints.q[planner.legs()[l].joints[i]];
      for (int i = 0; i < 3; ++i) v[i] = p.joints.v[planner.legs()[l].joints[i]];
      Eigen::Vector3d centre;
      Eigen::Matrix3d R;
      LegJacobian J, W;
      planner.legs()[l].kinematics(q, centre, J);
      planner.legs()[l].rotation(q, R, W);
      turn[l] = Eigen::AngleAxisd(base.yaw, Eigen::Vector3d::UnitZ()) * R;
      return Eigen::Vector3d(J * v - (W * v).cross(up) - ground_point_velocity(centre, command));
    };
    const TrotPlan& other = sliding.update(kStep * k, command);
    const std::vector<Eigen::Matrix3d> last = turn;
    for (std::size_t l = 0; l < 4; ++l) {
      const auto column = static_cast<Eigen::Index>(l);
      if (plan.stance[l] != 0) slid += kStep * surface(other, l).norm();
      const Eigen::Vector3d speed = surface(plan, l), foot = in_world(base, plan.foot_position.col(column));
      if (plan.stance[l] != 0) {
        EXPECT_LT(speed.norm(), 1e-8) << k;
      }
      if (plan.stance[l] != 0 && stood[l] != 0) {
        const Eigen::AngleAxisd turned(turn[l] * last[l].transpose());
        const Eigen::Vector3d rolled = turned.angle() * turned.axis().cross(up);
        path += (foot - before.col(column) - rolled).norm();
      }
      before.col(column) = foot;
    }
    stood = plan.stance;
  }
  EXPECT_LT(path, 1e-5);   // m in 3 s of stance: what a base that turns within updates of 1 ms leaves
  EXPECT_GT(slid, 0.015);  // fixed centres
}

TEST(TrotPlanner, FootPassesItsNominalPlaceAtMidStance) {
  TrotPlanner planner = links_planner();
  const PlanarTwist command{0.2, 0.05, 0.5};
  double t = 0.0;
  for (int k = 0; k <= 1200; ++k) planner.update(t = 0.0005 * k, command);
  // LF touches down at 0.675 and lifts off at 0.9: mid-stance at 0.7875.
  while (t < 0.7875 - 1e-9) planner.update(t = std::min(t + 0.0005, 0.7875), command);
  EXPECT_LT((planner.plan().foot_position.col(0) - planner.options().nominal_feet.col(0)).norm(), 1e-12);
  EXPECT_LT((foothold({0.12, 0.10, -0.14}, {0.2, 0.0, 0.0}, 0.225) - Eigen::Vector3d(0.12 + 0.5 * 0.225 * 0.2, 0.10, -0.14)).norm(), 1e-15);
}

TEST(TrotPlanner, ReplanningKeepsFeetAndJointsContinuous) {
  TrotPlanner planner = links_planner();
  Eigen::Matrix3Xd position, velocity;
  Eigen::VectorXd q;
  const double h = 0.001;
  for (int k = 0; k <= 3000; ++k) {
    const double t = h * k;
    const PlanarTwist command{0.2 * std::min(1.0, 0.5 * t), 0.05 * std::sin(5.0 * t), 0.5 * std::sin(4.0 * t)};
    const TrotPlan& plan = planner.update(t, command);
    if (k > 0) {
      const double fastest = plan.foot_velocity.colwise().norm().maxCoeff();
      EXPECT_LT((plan.foot_position - position).colwise().norm().maxCoeff(), h * (fastest + 0.2)) << t;
      EXPECT_LT((plan.foot_velocity - velocity).colwise().norm().maxCoeff(), h * 120.0 + 0.02) << t;  // 6 height / (0.0375 s)^2 is 64 m/s²
      EXPECT_LT((plan.joints.q - q).cwiseAbs().maxCoeff(), h * 30.0);
    }
    position = plan.foot_position;
    velocity = plan.foot_velocity;
    q = plan.joints.q;
  }
}

// The published patrol commands, joint motion against differences of itself between events.
class RatesOfFeet : public testing::TestWithParam<double> {};  // their radius
INSTANTIATE_TEST_SUITE_P(TrotPlanner, RatesOfFeet, testing::Values(0.0, 0.01));

TEST_P(RatesOfFeet, JointRatesAreDerivativesOfJointPositions) {
  const double h = 1e-4;
  const PlanarTwist command{0.2, 0.03, 0.3};
  TrotOptions options = links_options();
  options.foot_radius = GetParam();
  TrotPlanner planner = links_planner(options);
  std::vector<DesiredMotion> motion;
  std::vector<std::vector<char>> stance;
  for (int k = 0; k <= 6000; ++k) {
    const TrotPlan& plan = planner.update(h * k, command);
    motion.push_back(plan.joints);
    stance.push_back(plan.stance);
  }
  int checked = 0;
  double worst_velocity = 0.0, worst_acceleration = 0.0;
  for (std::size_t k = 3000; k + 1 < motion.size(); ++k) {
    const double phase_in_swing = std::fmod(h * static_cast<double>(k), 0.0375);  // apex and events: the acceleration bends there
    if (stance[k - 1] != stance[k + 1] || phase_in_swing < 2.0 * h || phase_in_swing > 0.0375 - 2.0 * h) continue;
    const Eigen::VectorXd v = (motion[k + 1].q - motion[k - 1].q) / (2.0 * h);
    const Eigen::VectorXd a = (motion[k + 1].v - motion[k - 1].v) / (2.0 * h);
    worst_velocity = std::max(worst_velocity, (v - motion[k].v).cwiseAbs().maxCoeff());
    worst_acceleration = std::max(worst_acceleration, (a - motion[k].a).cwiseAbs().maxCoeff());
    ++checked;
  }
  EXPECT_GT(checked, 2500);
  EXPECT_LT(worst_velocity, 1e-3);
  EXPECT_LT(worst_acceleration, 0.5);  // of accelerations up to 1e3 rad/s²
}

TEST_P(RatesOfFeet, AnUpdateDoesNotAllocate) {
  ASSERT_TRUE(allocations_are_counted());
  TrotOptions options = links_options();
  options.foot_radius = GetParam();
  TrotPlanner planner = links_planner(options);
  Patrol patrol(published_patrol());
  PlanarPose base;
  planner.update(0.0, patrol.update(0.0, base));
  const std::size_t before = allocation_count();
  for (int k = 1; k <= 2000; ++k) {
    const double t = 0.001 * k;
    const PlanarTwist command = patrol.update(t, base);
    planner.update(t, command);
    base = advance(base, command, 0.001);
  }
  EXPECT_EQ(allocation_count(), before);
}

TEST(TrotPlanner, ThePublishedPatrolStaysWithinReachAndLimits) {
  TrotPlanner planner = links_planner();
  Patrol patrol(published_patrol());
  double fastest = 0.0;
  PlanarPose base;
  for (int k = 0; k <= 10000; ++k) {
    const double t = 0.003 * k;
    const PlanarTwist command = patrol.update(t, base);
    const TrotPlan& plan = planner.update(t, command);
    base = advance(base, command, 0.003);
    ASSERT_EQ(plan.status, Status::solved) << t;
    fastest = std::max(fastest, plan.joints.v.cwiseAbs().maxCoeff());
  }
  EXPECT_LT(fastest, 30.0);  // the velocity limit in models/links.urdf
  EXPECT_GE(patrol.reached(), 6);
}

TEST(TrotPlanner, StandsStillUntilTheStartAndSwingsAfterIt) {
  TrotOptions options = links_options();
  options.start_time = 0.5;
  TrotPlanner planner = links_planner(options);
  const PlanarTwist command{0.2, 0.0, 0.0};
  for (const double t : {0.0, 0.2, 0.499}) {
    const TrotPlan& plan = planner.update(t, command);
    EXPECT_EQ(plan.stance, std::vector<char>(4, 1));
    EXPECT_LT((plan.joints.q - planner.standing_posture()).norm(), 1e-12);
    EXPECT_TRUE(plan.joints.v.isZero(1e-12));
  }
  const TrotPlan& plan = planner.update(0.5375, command);  // half-way through the first swing
  EXPECT_EQ(plan.stance, (std::vector<char>{0, 1, 1, 0}));
  EXPECT_NEAR(plan.foot_position(2, 0), -0.14 + 0.015, 1e-12);
}

// One call may span several events: the same plan as with small steps when the command is constant.
TEST(TrotPlanner, LongStepsGiveTheSamePlanAsShortOnes) {
  TrotPlanner fine = links_planner(), coarse = links_planner();
  const PlanarTwist command{0.1, 0.02, -0.3};
  double t = 0.0;
  for (int k = 0; k < 12; ++k) {
    for (int j = 0; j < 137; ++j) fine.update(t += 0.001, command);
    coarse.update(t, command);
    EXPECT_LT((fine.plan().foot_position - coarse.plan().foot_position).norm(), 1e-12);
    EXPECT_EQ(fine.plan().stance, coarse.plan().stance);
  }
}

TEST(TrotPlanner, RaibertFeedbackMovesTheFootholdOfSwingingFeetOnly) {
  TrotOptions options = links_options();
  options.feedback = 0.05;
  TrotPlanner planner = links_planner(options);
  const PlanarTwist command{0.1, 0.0, 0.0}, measured{0.3, 0.0, 0.0};
  TrotPlanner blind = links_planner();
  for (int k = 0; k <= 75; ++k) {
    planner.update(0.001 * k, command, measured);
    blind.update(0.001 * k, command, measured);
  }
  const Eigen::Matrix3Xd moved = planner.plan().foot_position - blind.plan().foot_position;
  EXPECT_NEAR(moved(0, 0), 0.05 * 0.2, 1e-12);
  EXPECT_NEAR(moved(0, 3), 0.05 * 0.2, 1e-12);
  EXPECT_TRUE(moved.middleCols(1, 2).isZero(1e-15));
}

// Whatever is measured, feet land where their legs get and stand a stance there; a correction that is cut is as long as it can be, less a
// step's height.
TEST(TrotPlanner, FeedbackMovesFootholdsWithinReachOnly) {
  TrotOptions options = links_options();
  options.feedback = 0.1;
  const PlanarTwist command{0.1, 0.0, 0.2};
  const double stance = stance_duration(options.gait, 0), most = std::numeric_limits<double>::max();
  const Leg leg = links_legs()[0];
  const auto left = [&](const Eigen::Vector3d& place) {
    return inverse_kinematics(leg, place, links_standing_posture().head<3>()).distance;
  };
  for (const Eigen::Vector2d& v : std::vector<Eigen::Vector2d>{{3, 0}, {-3, 0}, {0, 3}, {0, -3}, {1e3, -2e3}, {most, -most}}) {
    TrotPlanner planner = links_planner(options);
    Eigen::Vector3d landed = Eigen::Vector3d::Zero();
    std::vector<char> before(4, 1);
    double fastest = 0.0;
    for (int k = 0; k <= 900; ++k) {
      const TrotPlan& plan = planner.update(0.001 * k, command, {v.x(), v.y(), 0.0});
      ASSERT_EQ(plan.status, Status::solved) << v.transpose() << " at " << k;
      fastest = std::max(fastest, plan.joints.v.cwiseAbs().maxCoeff());
      ASSERT_TRUE(plan.joints.v.allFinite() && plan.joints.a.allFinite());
      if (plan.stance[0] != 0 && before[0] == 0) landed = plan.foot_position.col(0);
      before = plan.stance;
    }
    const Eigen::Vector3d alone = foothold(options.nominal_feet.col(0), command, stance), moved = landed - alone;
    const Eigen::Vector2d error = v - Eigen::Vector2d(command.vx, command.vy), along = (error / error.cwiseAbs().maxCoeff()).normalized();
    EXPECT_LT(fastest, 50.0);  // rad/s, thousands where a leg is straightened
    EXPECT_LT(std::abs(moved.x() * along.y() - moved.y() * along.x()), 1e-9);
    EXPECT_GT(moved.head<2>().dot(along), 0.02);
    const Eigen::Vector3d beyond = landed + (options.gait.step_height + 1e-3) * moved.normalized();
    EXPECT_GT(std::max(left(beyond), left(ground_point_after(beyond, command, stance))), 1e-5);
  }
}

TEST(TrotPlanner, TheSmallestCommandsAreThoseOfStanding) {
  TrotOptions rolling = links_options();
  rolling.foot_radius = 0.01;
  for (const TrotOptions& options : {links_options(), rolling}) {
    for (const double least : {1e-150, 1e-162, 1e-200, 1e-310, 1e-320, std::numeric_limits<double>::denorm_min()}) {
      for (const PlanarTwist& command : {PlanarTwist{least, 0, 0}, {0, least, 0}, {0, 0, least}, {least, -least, -least}}) {
        TrotPlanner planner = links_planner(options), still = links_planner(options);
        for (int k = 0; k <= 40; ++k) {
          const TrotPlan &plan = planner.update(0.01 * k, command), &other = still.update(0.01 * k, {});
          ASSERT_TRUE(plan.joints.q == other.joints.q) << least << " at " << k;
          ASSERT_LT((plan.joints.v - other.joints.v).cwiseAbs().maxCoeff(), 1e-140);
          ASSERT_LT((plan.joints.a - other.joints.a).cwiseAbs().maxCoeff(), 1e-140);
        }
      }
    }
  }
}

// Six legs of three joints in a tripod gait: nothing is wired to four.
TEST(TrotPlanner, WalksOnSixLegs) {
  std::vector<Leg> legs;
  TrotOptions options;
  options.gait.period = 0.6;
  options.nominal_feet.resize(3, 6);
  for (int l = 0; l < 6; ++l) {
    Leg leg = links_legs()[l % 2 == 0 ? 0 : 1];
    SerialChain chain = *leg.kinematics.target<SerialChain>();
    const int row = l / 2 - 1;
    const Eigen::Vector3d along(0.3 * row, 0.0, 0.0);
    chain.joints[0].translation += along;
    leg.kinematics = chain;
    leg.joints = {3 * l, 3 * l + 1, 3 * l + 2};
    legs.push_back(leg);
    options.nominal_feet.col(l) = links_nominal_feet().col(l % 2) + along;
  }
  options.gait.duty_factor.assign(6, 0.5);
  options.gait.touchdown = {0.0, 0.5, 0.5, 0.0, 0.0, 0.5};
  Eigen::VectorXd q(19);  // one joint more that is no leg's
  q << links_standing_posture().head<3>(), -links_standing_posture().head<3>(), links_standing_posture().head<3>(),
      -links_standing_posture().head<3>(), links_standing_posture().head<3>(), -links_standing_posture().head<3>(), 0.25;
  TrotPlanner planner(legs, options, q);
  for (int k = 0; k <= 1200; ++k) {
    const TrotPlan& plan = planner.update(0.001 * k, {0.1, 0.0, 0.2});
    ASSERT_EQ(plan.status, Status::solved);
    EXPECT_EQ(plan.stance[0] + plan.stance[1], 1);
    EXPECT_EQ(plan.joints.q[18], 0.25);
  }
}

TEST(TrotPlanner, UnreachableFeetAreReported) {
  TrotOptions options = links_options();
  options.nominal_feet(2, 2) = -0.5;
  EXPECT_THROW(links_planner(options), InvalidArgument);
  TrotPlanner planner = links_planner();
  Status worst = Status::solved;
  double distance = 0.0;
  for (int k = 0; k <= 300; ++k) {  // as far as the legs get forward, and farther than they get to the side
    const TrotPlan& plan = planner.update(0.001 * k, {0.0, 1.7, 0.0});
    if (plan.status != Status::solved) worst = plan.status;
    distance = std::max(distance, plan.distance);
    ASSERT_TRUE(plan.joints.q.allFinite() && plan.joints.v.allFinite() && plan.joints.a.allFinite());
  }
  EXPECT_NE(worst, Status::solved);
  EXPECT_GT(distance, 0.05);
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

// A leg that turns by 1.5 rad under a hip and is 0.01 to 1 m long: from a nominal place 0.14 m below its foot gets √(1 - 0.14²) m over the
// ground, sin 1.5 m to the sides at all and 0.86 m down, but 0.13 m up.
TEST(TrotPlanner, RefusesWhatNoLegCanDo) {
  SerialChain chain;
  chain.joints = {{Eigen::Vector3d::Zero(), Eigen::Matrix3d::Identity(), Eigen::Vector3d::UnitY(), true},
                  {Eigen::Vector3d::Zero(), Eigen::Matrix3d::Identity(), -Eigen::Vector3d::UnitZ(), false}};
  const Leg leg{{0, 1},
                chain,
                Eigen::Vector2d(-1.5, 0.01),
                Eigen::Vector2d(1.5, 1.0),
                [chain](const LegVector& q, Eigen::Matrix3d& R, LegJacobian& W) { chain.turn(q, R, W); }};
  TrotOptions options;
  options.gait = {1.0, {0.5}, {0.0}, 0.02};
  options.nominal_feet = Eigen::Vector3d(0.0, 0.0, -0.14);
  const auto planner = [&](const TrotOptions& o) { return TrotPlanner({leg}, o, Eigen::Vector2d(0.0, 0.14)); };
  const double reach = std::sqrt(1.0 - 0.14 * 0.14);
  EXPECT_NEAR(planner(options).reach()[0], reach, 2e-3);
  const double most = std::hypot(std::sin(1.5), 0.86);
  const auto set_height = [](TrotOptions& o, double x) { o.gait.step_height = x; };
  const auto set_radius = [](TrotOptions& o, double x) { o.foot_radius = x; };
  using Case = std::tuple<std::string, std::function<void(TrotOptions&, double)>, double>;
  for (const auto& [name, set, largest] : {Case{"step_height", set_height, 0.13}, Case{"foot_radius", set_radius, most}}) {
    for (const double value : {1.01 * largest, 5.0, -0.01, static_cast<double>(INFINITY), std::nan("")}) {
      TrotOptions bad = options;
      set(bad, value);
      EXPECT_THAT(refusal([&] { planner(bad); }), testing::StartsWith(name + ": expected a ")) << value;
    }
    TrotOptions good = options;
    set(good, 0.99 * largest);
    EXPECT_EQ(refusal([&] { planner(good); }), "");
  }
  TrotOptions against = options;
  against.feedback = -1.0;
  EXPECT_EQ(refusal([&] { planner(against); }), "feedback: expected a finite number >= 0, got -1");
  TrotOptions hasty = options;
  hasty.gait.period = 1e-9;
  EXPECT_EQ(refusal([&] { planner(hasty); }), "period: expected a finite number >= 0.001 s, got 1e-09");
  // A foot that never swings stays where it stands: a base that turns about it is all that it allows.
  TrotOptions standing = options;
  standing.gait.duty_factor = {1.0};
  EXPECT_EQ(refusal([&] { planner(standing).update(0.0, {0.0, 0.0, 0.5}); }), "");
  EXPECT_EQ(refusal([&] {
              planner(standing).update(0.0, {0.2, 0.0, 0.0});
            }),
            "command: expected none that moves the ground under foot 0, which never swings (duty 1), got 0.2 m/s");
  // 2 reach in the stance of 0.5 s; the foot of a base that only turns stands still under the hip.
  EXPECT_EQ(refusal([&] { planner(options).update(0.0, {0.0, 3.99 * reach, 1e3}); }), "");
  EXPECT_THAT(
      refusal([&] {
        planner(options).update(0.0, {0.0, 4.02 * reach, 0.0});
      }),
      testing::StartsWith(
          "command: expected at most 3.96 m/s of ground under foot 0, which gets 0.99 m over it to both sides in a stance of 0.5 s"));
}

// From a straight leg no first step of the joints brings the foot up or to the hip: that is no bound of what it can do.
TEST(TrotPlanner, StraightLegsMayStep) {
  SerialChain chain;
  const Eigen::Vector3d shin(0.0, 0.0, -0.2);
  chain.joints = {{Eigen::Vector3d::Zero(), Eigen::Matrix3d::Identity(), Eigen::Vector3d::UnitY(), true},
                  {shin, Eigen::Matrix3d::Identity(), Eigen::Vector3d::UnitY(), true}};
  chain.foot_offset = shin;
  const Leg leg{{0, 1}, chain, Eigen::Vector2d(-1.3, -2.6), Eigen::Vector2d(1.3, 0.0), {}};
  TrotOptions options;
  options.gait = {0.3, {0.75}, {0.0}, 0.015};
  options.nominal_feet = Eigen::Vector3d(0.0, 0.0, -0.4);
  EXPECT_EQ(refusal([&] { TrotPlanner({leg}, options, Eigen::Vector2d::Zero()).update(0.0, {}); }), "");
}

TEST(TrotPlanner, RefusesBadInput) {
  TrotPlanner planner = links_planner();
  planner.update(1.0, {});
  EXPECT_THROW(planner.update(0.5, {}), InvalidArgument);
  EXPECT_THROW(planner.update(2.0, {std::nan(""), 0.0, 0.0}), InvalidArgument);
  std::vector<Leg> legs = links_legs();
  legs[1].joints[0] = 0;  // shared with another leg
  EXPECT_THROW(TrotPlanner(legs, links_options(), links_standing_posture()), InvalidArgument);
  TrotOptions options = links_options();
  options.foot_radius = -0.01;
  EXPECT_THROW(links_planner(options), InvalidArgument);
}

}  // namespace
}  // namespace stiction::trot_planner_test
