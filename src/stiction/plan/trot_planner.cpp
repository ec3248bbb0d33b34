#include "stiction/plan/trot_planner.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

constexpr double kReplanDistance = 1e-4;  // m: a foothold that moved less is left, as a new curve bends the foot's acceleration
constexpr double kReplanUntil = 0.8;      // fraction of the swing: later the way left is too short to turn without large accelerations

void require_joints(const std::vector<Leg>& legs, Eigen::Index count) {
  std::vector<char> used(count, 0);
  for (std::size_t l = 0; l < legs.size(); ++l) {
    const Leg& leg = legs[l];
    const auto m = static_cast<Eigen::Index>(leg.joints.size());
    if (m < 1 || m > kMaxLegJoints) {
      throw InvalidArgument(fmt::format("legs[{}].joints", l), fmt::format("1 to {} joints", kMaxLegJoints), fmt::format("{}", m));
    }
    require_size(fmt::format("legs[{}].lower", l), leg.lower.size(), m);
    require_size(fmt::format("legs[{}].upper", l), leg.upper.size(), m);
    if (!leg.kinematics) throw InvalidArgument(fmt::format("legs[{}].kinematics", l), "a function", "none");
    for (const int joint : leg.joints) {
      if (joint < 0 || joint >= count || used[joint] != 0) {
        throw InvalidArgument(fmt::format("legs[{}].joints", l), fmt::format("distinct indices below {}", count), fmt::format("{}", joint));
      }
      used[joint] = 1;
    }
  }
}

void require_roll(const std::vector<Leg>& legs, double radius) {
  for (std::size_t l = 0; radius > 0.0 && l < legs.size(); ++l) {
    if (!legs[l].rotation) throw InvalidArgument(fmt::format("legs[{}].rotation", l), "a function, as feet roll", "none");
  }
}

/// A posture next to q from which a foot gets everywhere: from a straight leg no step of the joints shortens it.
LegVector bent(const Leg& leg, const LegVector& q) {
  constexpr double kBend = 1e-2;  // rad, m
  LegVector out = q;
  for (Eigen::Index i = 0; i < q.size(); ++i) out[i] += q[i] + kBend <= leg.upper[i] ? kBend : -kBend;
  return out;
}

/// No foot gets farther from its nominal place: half the diagonal of a box about that place that holds where inverse kinematics ends if
/// asked for places far out along the axes of the base.
double farthest(const Leg& leg, const Eigen::Vector3d& nominal, const LegVector& q, const InverseKinematicsOptions& options) {
  constexpr double kFar = 1e3;  // m, beyond any leg
  Eigen::Vector3d foot, most = Eigen::Vector3d::Zero();
  LegJacobian J;
  for (int i = 0; i < 6; ++i) {
    const Eigen::Vector3d out = (i < 3 ? kFar : -kFar) * Eigen::Vector3d::Unit(i % 3);
    leg.kinematics(inverse_kinematics(leg, nominal + out, q, options).q, foot, J);
    most[i % 3] = std::max(most[i % 3], std::abs(foot[i % 3] - nominal[i % 3]));
  }
  return most.norm();
}

/// How far a foot gets from its nominal place along a direction, to a thousandth of `most`.
double way_along(const Leg& leg, const Eigen::Vector3d& nominal, const Eigen::Vector3d& direction, double most, const LegVector& q,
                 const InverseKinematicsOptions& options) {
  double good = 0.0, bad = most;
  while (bad - good > 1e-3 * most) {
    const double middle = 0.5 * (good + bad);
    (inverse_kinematics(leg, nominal + middle * direction, q, options).status == Status::solved ? good : bad) = middle;
  }
  return bad;
}

/// The same over the ground, in the best of sixteen directions.
double way_over_ground(const Leg& leg, const Eigen::Vector3d& nominal, double most, const LegVector& q,
                       const InverseKinematicsOptions& options) {
  constexpr int kDirections = 16;
  double way = 0.0;
  for (int k = 0; k < kDirections; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / kDirections;
    way = std::max(way, way_along(leg, nominal, {std::cos(angle), std::sin(angle), 0.0}, most, q, options));
  }
  return way;
}

/// How high a foot gets straight above its nominal place, as a swing in place lifts it, to a thousandth of `most`; infinity beyond
/// `height`.
double way_up(const Leg& leg, const Eigen::Vector3d& nominal, double height, double most, LegVector q,
              const InverseKinematicsOptions& options) {
  for (double z = 0.0; z < height; z += 1e-3 * most) {
    const Eigen::Vector3d above = nominal + std::min(z + 1e-3 * most, height) * Eigen::Vector3d::UnitZ();
    const InverseKinematicsSolution ik = inverse_kinematics(leg, above, q, options);
    if (ik.status != Status::solved) return z;
    q = ik.q;
  }
  return kInfinity;
}

void require_within(const char* name, double value, double most) {
  if (value >= 0.0 && value <= most) return;
  throw InvalidArgument(name, fmt::format("a number from 0 to {:.3g} m, beyond which a foot does not get from its nominal place", most),
                        fmt::format("{}", value));
}

LegVector gather(const std::vector<int>& joints, const Eigen::VectorXd& all) {
  LegVector some(static_cast<Eigen::Index>(joints.size()));
  for (std::size_t i = 0; i < joints.size(); ++i) some[static_cast<Eigen::Index>(i)] = all[joints[i]];
  return some;
}

void scatter(const std::vector<int>& joints, const LegVector& some, Eigen::VectorXd& all) {
  for (std::size_t i = 0; i < joints.size(); ++i) all[joints[i]] = some[static_cast<Eigen::Index>(i)];
}

void require_finite_twist(const char* name, const PlanarTwist& twist) {
  require_finite(name, Eigen::Vector3d(twist.vx, twist.vy, twist.yaw_rate));
}

FootState standing_on_ground(const Eigen::Vector3d& position, const PlanarTwist& command) {
  return {position, ground_point_velocity(position, command), ground_point_acceleration(position, command)};
}

}  // namespace

Eigen::Matrix3Xd links_nominal_feet() {
  Eigen::Matrix3Xd feet(3, 4);
  feet << 0.12, 0.12, -0.12, -0.12, 0.10, -0.10, 0.10, -0.10, -0.14, -0.14, -0.14, -0.14;
  return feet;
}

Eigen::Vector3d foothold(const Eigen::Vector3d& nominal, const PlanarTwist& command, double stance) {
  return ground_point_after(nominal, command, -0.5 * stance);
}

TrotPlanner::TrotPlanner(std::vector<Leg> legs, TrotOptions options, const Eigen::Ref<const Eigen::VectorXd>& q_start)
    : legs_(std::move(legs)), options_(std::move(options)), standing_(q_start) {
  validate(options_.gait);
  require_size("legs", static_cast<Eigen::Index>(legs_.size()), options_.gait.legs());
  require_size("nominal_feet columns", options_.nominal_feet.cols(), options_.gait.legs());
  require_finite("nominal_feet", options_.nominal_feet);
  require_finite("q_start", q_start);
  if (std::isnan(options_.start_time)) throw InvalidArgument("start_time", "a time (s), or infinity to stand", "nan");
  if (!(options_.feedback >= 0.0) || std::isinf(options_.feedback))  // a foot set against the fall would drive it on
    throw InvalidArgument("feedback", "a finite number >= 0", fmt::format("{}", options_.feedback));
  require_joints(legs_, q_start.size());
  require_roll(legs_, options_.foot_radius);
  state_.resize(legs_.size());
  double most = kInfinity;
  for (std::size_t l = 0; l < legs_.size(); ++l) {
    const Eigen::Vector3d foot = options_.nominal_feet.col(static_cast<Eigen::Index>(l));
    const InverseKinematicsSolution ik = inverse_kinematics(legs_[l], foot, gather(legs_[l].joints, standing_), options_.kinematics);
    if (ik.status != Status::solved) {
      throw InvalidArgument(fmt::format("nominal_feet column {}", l), "a place within reach of the leg and its joint limits",
                            fmt::format("{:.3g} m left after {} iterations", ik.distance, ik.iterations));
    }
    scatter(legs_[l].joints, ik.q, standing_);
    const LegVector start = bent(legs_[l], ik.q);
    const double of_leg = farthest(legs_[l], foot, start, options_.kinematics);
    reach_.push_back(way_over_ground(legs_[l], foot, of_leg, start, options_.kinematics));
    most = std::min(most, of_leg);
    const double height = options_.gait.step_height, highest = way_up(legs_[l], foot, height, of_leg, start, options_.kinematics);
    if (height > highest) {
      throw InvalidArgument("step_height",
                            fmt::format("a number from 0 to {:.3g} m, as high as foot {} gets above its nominal place", highest, l),
                            fmt::format("{}", height));
    }
  }
  require_within("foot_radius", options_.foot_radius, most);
  reset(0.0);
}

// A foot that has to keep to the ground for a stance passes through its reach at most; one that never swings keeps to it for good.
void TrotPlanner::require_footholds(const PlanarTwist& command) const {
  for (std::size_t l = 0; l < legs_.size(); ++l) {
    const int leg = static_cast<int>(l);
    const double stance = swing_duration(options_.gait, leg) > 0.0 ? stance_duration(options_.gait, leg) : kInfinity;
    const Eigen::Vector3d nominal = options_.nominal_feet.col(static_cast<Eigen::Index>(l));
    const double speed = ground_point_velocity(nominal, command).norm(), most = 2.0 * reach_[l] / stance;
    if (speed <= most) continue;
    if (std::isinf(stance)) {
      throw InvalidArgument("command", fmt::format("none that moves the ground under foot {}, which never swings (duty 1)", l),
                            fmt::format("{:.3g} m/s", speed));
    }
    throw InvalidArgument(
        "command",
        fmt::format("at most {:.3g} m/s of ground under foot {}, which gets {:.3g} m over it to both sides in a stance of {:.3g} s", most,
                    l, reach_[l], stance),
        fmt::format("{:.3g} m/s", speed));
  }
}

void TrotPlanner::reset(double t) {
  if (!std::isfinite(t)) throw InvalidArgument("t", "a finite number", fmt::format("{}", t));
  const auto legs = static_cast<Eigen::Index>(legs_.size());
  time_ = t;
  plan_.joints = DesiredMotion(standing_.size());
  plan_.joints.q = standing_;
  plan_.foot_position = options_.nominal_feet;
  plan_.foot_velocity.setZero(3, legs);
  plan_.foot_acceleration.setZero(3, legs);
  plan_.stance.assign(legs_.size(), 1);
  plan_.status = Status::solved;
  plan_.distance = 0.0;
  for (std::size_t l = 0; l < legs_.size(); ++l) {
    state_[l] = LegPlan{};
    state_[l].time = t;
    state_[l].foot.position = options_.nominal_feet.col(static_cast<Eigen::Index>(l));
    state_[l].q = gather(legs_[l].joints, standing_);
  }
}

const TrotPlan& TrotPlanner::update(double t, const PlanarTwist& command, const PlanarTwist& measured) {
  if (!(t >= time_) || std::isinf(t)) throw InvalidArgument("t", fmt::format("a time not before {}", time_), fmt::format("{}", t));
  constexpr double kMostPeriods = 1e3;  // every swing since the last update is planned: a clock that jumps would take minutes
  if (t - std::max(time_, options_.start_time) > kMostPeriods * options_.gait.period) {
    throw InvalidArgument("t", "a time within 1000 periods of the last update or the start, else reset(t) first", fmt::format("{}", t));
  }
  require_finite_twist("command", command);
  require_finite_twist("measured", measured);
  require_footholds(command);
  time_ = t;
  plan_.status = Status::solved;
  plan_.distance = 0.0;
  for (std::size_t l = 0; l < legs_.size(); ++l) {
    update_foot(l, command, measured);
    solve_joints(l);
  }
  return plan_;
}

bool TrotPlanner::start_swing(std::size_t l, const PlanarTwist& command, const PlanarTwist& measured) {
  LegPlan& leg = state_[l];
  const int index = static_cast<int>(l);
  const double tolerance = kPhaseTolerance * options_.gait.period;
  double lift_off = leg.time, clock = leg.time - options_.start_time;
  const bool late =
      in_stance(options_.gait, index, clock) || time_to_touchdown(options_.gait, index, clock) < 0.5 * swing_duration(options_.gait, index);
  if (late) {
    lift_off += time_to_liftoff(options_.gait, index, clock);
    if (lift_off > time_ + tolerance) return false;
    clock = lift_off - options_.start_time;
  }
  stand_until(l, lift_off, command);
  leg.swing = SwingCurve(lift_off, leg.foot, lift_off + time_to_touchdown(options_.gait, index, clock),
                         touchdown_state(l, command, measured), options_.gait.step_height);
  leg.swing_start = lift_off;
  leg.swinging = true;
  return true;
}

// Whether a foot that lands there gets through its stance.
bool TrotPlanner::stands(std::size_t l, const Eigen::Vector3d& place, const PlanarTwist& command) const {
  const LegVector q = gather(legs_[l].joints, standing_);
  const auto gets_to = [&](const Eigen::Vector3d& x) {
    return inverse_kinematics(legs_[l], x, q, options_.kinematics).status == Status::solved;
  };
  return gets_to(place) && gets_to(ground_point_after(place, command, stance_duration(options_.gait, static_cast<int>(l))));
}

// Of a foothold by the command alone: the part of Raibert's that the leg can follow.
Eigen::Vector2d TrotPlanner::correction(std::size_t l, const Eigen::Vector3d& place, const PlanarTwist& command,
                                        const PlanarTwist& measured) const {
  const Eigen::Vector2d error(measured.vx - command.vx, measured.vy - command.vy);
  const double largest = error.cwiseAbs().maxCoeff(), beyond = 2.0 * reach_[l];  // m, from one side of the reach to the other
  if (largest == 0.0) return error;
  Eigen::Vector2d whole = options_.feedback * error;
  if (!(whole.norm() <= beyond)) whole = beyond * (error / largest).normalized();
  // A swing curves about its ends by as much as it rises: on the rim of its reach it would straighten the leg, whose knee may then flip.
  const Eigen::Vector2d spare = options_.gait.step_height * (error / largest).normalized();
  const auto holds = [&](double part) {
    const Eigen::Vector2d moved = part * whole + spare;
    return stands(l, place + Eigen::Vector3d(moved.x(), moved.y(), 0.0), command);
  };
  if (holds(1.0)) return whole;
  if (!holds(0.0)) return Eigen::Vector2d::Zero();
  double good = 0.0, bad = 1.0;
  while ((bad - good) * whole.norm() > kReplanDistance) {
    const double middle = 0.5 * (good + bad);
    (holds(middle) ? good : bad) = middle;
  }
  return good * whole;
}

FootState TrotPlanner::touchdown_state(std::size_t l, const PlanarTwist& command, const PlanarTwist& measured) const {
  const Eigen::Vector3d nominal = options_.nominal_feet.col(static_cast<Eigen::Index>(l));
  Eigen::Vector3d place = foothold(nominal, command, stance_duration(options_.gait, static_cast<int>(l)));
  if (options_.feedback > 0.0) place.head<2>() += correction(l, place, command, measured);
  if (options_.foot_radius == 0.0) return standing_on_ground(place, command);
  const LegVector q = inverse_kinematics(legs_[l], place, state_[l].q, options_.kinematics).q;
  return standing(l, place, q, command);
}

// Standing with the centre there and the joints at q. The ground under a centre that rolls over it moves as that of another place.
FootState TrotPlanner::standing(std::size_t l, const Eigen::Vector3d& centre, const LegVector& q, const PlanarTwist& command) const {
  FootState state = standing_on_ground(centre, command);
  const FootRoll roll{options_.foot_radius};
  if (roll.radius == 0.0) return state;
  LegVector v, a;
  Eigen::Vector3d acceleration;
  const Eigen::Vector3d ground = state.velocity;
  joint_rates(legs_[l], q, ground, state.acceleration, v, a, roll);
  foot_rates(legs_[l], q, v, a, state.velocity, acceleration);
  state.acceleration.head<2>() = command.yaw_rate * Eigen::Vector2d(state.velocity.y(), -state.velocity.x());
  joint_rates(legs_[l], q, ground, state.acceleration, v, a, roll);
  foot_rates(legs_[l], q, v, a, state.velocity, state.acceleration);
  return state;
}

void TrotPlanner::stand_until(std::size_t l, double time, const PlanarTwist& command) {
  LegPlan& leg = state_[l];
  Eigen::Vector3d centre = ground_point_after(leg.foot.position, command, time - leg.time);
  if (options_.foot_radius > 0.0) {
    FootRoll roll{options_.foot_radius};
    LegJacobian J;
    legs_[l].rotation(leg.q, roll.from, J);
    leg.q = reached(inverse_kinematics(legs_[l], centre, leg.q, options_.kinematics, roll));
    legs_[l].kinematics(leg.q, centre, J);
  }
  leg.foot = standing(l, centre, leg.q, command);
  leg.time = time;
}

void TrotPlanner::replan_swing(std::size_t l, const PlanarTwist& command, const PlanarTwist& measured) {
  LegPlan& leg = state_[l];
  const double done = (time_ - leg.swing_start) / (leg.swing.end_time() - leg.swing_start);
  if (done >= kReplanUntil) return;
  const FootState target = touchdown_state(l, command, measured);
  if ((target.position - leg.swing.end_position()).norm() <= kReplanDistance) return;
  leg.swing.replan(time_, leg.swing.end_time(), target);
}

void TrotPlanner::update_foot(std::size_t l, const PlanarTwist& command, const PlanarTwist& measured) {
  LegPlan& leg = state_[l];
  const double tolerance = kPhaseTolerance * options_.gait.period;
  if (time_ < options_.start_time) {
    leg.time = time_;
  } else {
    leg.time = std::max(leg.time, options_.start_time);
    while (true) {  // the events since the last update, in order
      if (leg.swinging && leg.swing.end_time() <= time_ + tolerance) {
        leg.foot.position = leg.swing.end_position();
        leg.time = leg.swing.end_time();
        leg.swinging = false;
        if (options_.foot_radius > 0.0) {
          leg.q = reached(inverse_kinematics(legs_[l], leg.foot.position, leg.q, options_.kinematics));
        }
      }
      if (leg.swinging || !start_swing(l, command, measured)) break;
    }
    if (leg.swinging) {
      replan_swing(l, command, measured);
      leg.foot = leg.swing.at(time_);
    } else {
      stand_until(l, time_, command);
    }
    leg.time = time_;
  }
  const auto column = static_cast<Eigen::Index>(l);
  plan_.foot_position.col(column) = leg.foot.position;
  plan_.foot_velocity.col(column) = leg.foot.velocity;
  plan_.foot_acceleration.col(column) = leg.foot.acceleration;
  plan_.stance[l] = leg.swinging ? 0 : 1;
}

// Its joints, once the plan says how well it got there.
LegVector TrotPlanner::reached(const InverseKinematicsSolution& solution) {
  if (solution.status != Status::solved) plan_.status = solution.status;
  plan_.distance = std::max(plan_.distance, solution.distance);
  return solution.q;
}

void TrotPlanner::solve_joints(std::size_t l) {
  LegPlan& leg = state_[l];
  leg.q = reached(inverse_kinematics(legs_[l], leg.foot.position, leg.q, options_.kinematics));
  LegVector v, a;
  joint_rates(legs_[l], leg.q, leg.foot.velocity, leg.foot.acceleration, v, a);
  scatter(legs_[l].joints, leg.q, plan_.joints.q);
  scatter(legs_[l].joints, v, plan_.joints.v);
  scatter(legs_[l].joints, a, plan_.joints.a);
}

}  // namespace stiction
