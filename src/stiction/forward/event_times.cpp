// When the next event is: conservative advancement to contact, the time at which the modes of contact change.
#include <algorithm>
#include <cmath>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/forward/event_driven.hpp"

namespace stiction {

namespace {

using Eigen::Ref;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kSoon = 0.01;     // of the tolerance of time: advancement has arrived
constexpr double kSafety = 2.0;    // accelerations grow by less than this within a piece
constexpr double kLeast = 1e-13;   // s: a piece is longer
constexpr int kAdvancements = 60;  // they converge quadratically, or linearly where a gap is grazed
constexpr int kHalvings = 60;      // of the time of a change of mode
constexpr double kKink = 1e-3;     // of a piece: forces are continuous where a stick gives way or a contact is left, so an error t of
                                   // its time alters velocities by t²

double root(double gap, double speed, double acceleration) {
  gap = std::max(gap, 0.0);
  if (acceleration > 0.0) {
    const double discriminant = std::sqrt(speed * speed + 2.0 * acceleration * gap);
    return speed > 0.0 ? (speed + discriminant) / acceleration : discriminant > speed ? 2.0 * gap / (discriminant - speed) : 0.0;
  }
  return speed < 0.0 ? -gap / speed : kInfinity;
}

}  // namespace

bool EventDriven::evaluate(const EventSetting& setting, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v, Accelerations& out) {
  const AccelerationLevel::Answer answer = level_.evaluate(setting, q, v, out);
  failed_ = failed_ || answer == AccelerationLevel::Answer::failed;
  return answer == AccelerationLevel::Answer::found;
}

// The state s after the piece began, in `at_`; the accelerations at the beginning are known.
bool EventDriven::flow(const EventSetting& setting, double s) {
  double error = 0.0;
  level_.piece = s;
  const auto slope = [&](int stage, const VectorXd& q, const VectorXd& v, VectorXd& v_dot) {
    Accelerations& a = accelerations_[static_cast<std::size_t>(stage)];
    const bool known = stage == 0 && !(level_.stiff() && accelerations_piece_ != s);
    if (!known && !evaluate(setting, q, v, a)) return false;
    if (stage == 0) accelerations_piece_ = s;
    v_dot = a.v_dot;
    return true;
  };
  const bool found = runge_kutta(setting.events.integrator, setting.world, s, start_, slope, stages_, at_, error);
  at_time_ = found ? s : -1.0;
  error_ = error;
  return found;
}

// The longest piece up to s whose error rk45 estimates to be within the tolerance.
double EventDriven::fit_error(const EventSetting& setting, double s) {
  const double tolerance = setting.events.integration_tolerance;
  while (setting.events.integrator == Integrator::rk45 && s > kLeast && !failed_) {
    const bool found = flow(setting, s);
    if (found && error_ <= tolerance) break;
    s *= found ? std::clamp(0.9 * std::pow(tolerance / error_, 0.2), 0.1, 0.9) : 0.5;
  }
  return s;
}

// A time after `at`, s into the piece, in which no gap that is open there closes.
double EventDriven::safe_time(const EventSetting& setting, const PhasePoint& at, double left) {
  const World& world = setting.world;
  update_kinematics(world, at.q, data_);
  double fastest = 0.0, sharpest = 0.0;
  for (std::size_t b = 0; b < closing_.size(); ++b) {
    const Vector6d V = body_velocity(world, data_, static_cast<int>(b), at.v);
    fastest = std::max(fastest, V.head<3>().norm() + V.tail<3>().norm() * setting.reach[b]);
    sharpest = std::max(sharpest, closing_[b]);
  }
  double safe = kInfinity;
  for (const Joint& joint : world.joints()) {
    if (joint.nv != 1 || !setting.assemble.joint_limits) continue;
    for (const double sign : {1.0, -1.0}) {
      const double place = sign > 0.0 ? joint.lower : joint.upper;
      const bool closed = std::ranges::any_of(
          level_.rows, [&](const ClosedRow& r) { return r.kind == RowKind::limit && r.v == joint.v && r.sign == sign; });
      if (closed || std::isinf(place)) continue;
      const double pull = kSafety * std::abs(accelerations_[0].v_dot[joint.v]);
      safe = std::min(safe, root(sign * (at.q[joint.q] - place), sign * at.v[joint.v], pull));
    }
  }
  setting.scene.update_poses(data_.X_WB);
  setting.scene.detect(kTouchGap + 2.0 * left * (fastest + left * sharpest), found_);
  for (const ContactPoint& c : found_) {
    const bool closed = std::ranges::any_of(level_.contacts, [&](const ClosedContact& x) { return x.point.id == c.id; });
    if (closed) continue;
    double pull = 0.0;
    for (const int body : {c.body_a, c.body_b}) pull += body < 0 ? 0.0 : closing_[static_cast<std::size_t>(body)];
    const double time = root(c.gap, contact_velocity(world, data_, c, at.v)[0], pull);
    if (time < safe && can_separate(world, data_, c.body_a, c.body_b, c.p_WC, c.n)) safe = time;
  }
  return safe;
}

// The first contact within s, or s.
double EventDriven::clear_time(const EventSetting& setting, double s) {
  const World& world = setting.world;
  closing_.resize(setting.reach.size());
  update_kinematics(world, start_.q, data_);
  for (std::size_t b = 0; b < closing_.size(); ++b) {
    const int body = static_cast<int>(b);
    const Vector6d V = body_velocity(world, data_, body, start_.v), W = body_velocity(world, data_, body, accelerations_[0].v_dot);
    const double linear = V.head<3>().norm(), angular = V.tail<3>().norm(), r = setting.reach[b];
    closing_[b] = kSafety * (W.head<3>().norm() + W.tail<3>().norm() * r + angular * (linear + angular * r));
  }
  double t = 0.0, safe = safe_time(setting, start_, s);
  for (int k = 0; k < kAdvancements && safe > kSoon * setting.events.time_tolerance && t < s; ++k) {
    if (t + safe >= s) return s;
    t += safe;
    if (!flow(setting, t)) return t;  // as if something had changed: what has, is found next
    safe = safe_time(setting, at_, s - t);
  }
  return std::min(std::max(t, kLeast), s);
}

bool EventDriven::holds_nothing(const EventSetting& setting) const {
  return level_.contacts.empty() && level_.rows.empty() && count_equality_rows(setting.world) == 0;
}

// Whether the state s after the piece began is no more of its modes.
bool EventDriven::changed(const EventSetting& setting, double s) {
  only_slip_ = false;
  if (!flow(setting, s)) return true;
  if (holds_nothing(setting)) return false;
  if (!evaluate(setting, at_.q, at_.v, end_)) return true;
  const double small = level_.small();
  bool other = false;
  least_slip_ = kInfinity;
  for (std::size_t i = 0; i < level_.contacts.size(); ++i) {
    const ClosedContact& c = level_.contacts[i];
    const Vector3d u = level_.u(i), a = level_.a(i);
    if (c.mode == Mode::leaves) {
      other = other || (level_.points()[i].gap < -kClosed && u[0] < 0.0);
      continue;
    }
    if (c.mode == Mode::slides) least_slip_ = std::min(least_slip_, u.tail<2>().dot(c.along));
    other = other || a[0] > small || (c.mode == Mode::sticks && a.tail<2>().norm() > small);
  }
  for (std::size_t j = 0; j < level_.rows.size(); ++j) {
    const ClosedRow& r = level_.rows[j];
    if (r.mode == Mode::slides) least_slip_ = std::min(least_slip_, r.side > 0.0 ? level_.row_slip(j) : -level_.row_slip(j));
    other = other || (r.mode == Mode::sticks && std::abs(level_.row_a(j)) > small) ||
            (r.mode == Mode::leaves && r.sign * (at_.q[r.q] - r.place) < -kClosed);
  }
  only_slip_ = !other && least_slip_ <= 0.0;
  return other || least_slip_ <= 0.0;
}

// The time within s at which the modes change, from the side after it; s where they do not. The state is in `at_`.
double EventDriven::mode_time(const EventSetting& setting, double s) {
  if (!changed(setting, s) || failed_) return s;
  double low = 0.0, high = s, low_slip = kInfinity, high_slip = least_slip_;
  bool by_slip = only_slip_;
  for (std::size_t i = 0; i < level_.contacts.size(); ++i) {
    const ClosedContact& c = level_.contacts[i];
    if (c.mode == Mode::slides) low_slip = std::min(low_slip, c.slip);
  }
  for (const ClosedRow& r : level_.rows) {
    if (r.mode == Mode::slides) low_slip = std::min(low_slip, std::abs(r.side));
  }
  for (int k = 0; k < kHalvings && !failed_; ++k) {
    const double width = by_slip ? 0.1 * setting.events.time_tolerance : std::max(setting.events.time_tolerance, kKink * s);
    if (high - low <= width) break;
    double middle = 0.5 * (low + high);
    if (by_slip && k % 3 != 2 && std::isfinite(low_slip)) {  // the secant's root, from both sides
      const double guess = low + (high - low) * low_slip / (low_slip - high_slip);
      middle = std::clamp(guess + (k % 3 == 0 ? -0.4 : 0.4) * width, low + 0.1 * width, high - 0.1 * width);
    }
    if (changed(setting, middle)) {
      high = middle;
      by_slip = only_slip_;
      high_slip = least_slip_;
    } else {
      low = middle;
      low_slip = least_slip_;
    }
  }
  if (failed_) return s;
  if (at_time_ != high) changed(setting, high);
  if (at_time_ < 0.0 && low > setting.events.time_tolerance) {
    changed(setting, low);
    return low;
  }
  return high;
}

// To where forces do not exist, within the width of an event.
bool EventDriven::cross(const EventSetting& setting, double s) {
  const auto slope = [&](int, const VectorXd&, const VectorXd&, VectorXd& v_dot) {
    v_dot = accelerations_[0].v_dot;
    return true;
  };
  double error = 0.0;
  return runge_kutta(Integrator::symplectic_euler, setting.world, s, start_, slope, stages_, at_, error);
}

}  // namespace stiction
