// When the next event is: conservative advancement to contact, the time at which the modes of contact change.
#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/forward/event_driven.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Ref;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kSoon = 0.01;         // of the tolerance of time: a contact that closes sooner has arrived
constexpr double kCubicTurn = 0.5;     // rad: while bodies turn by less, a cubic stands for a gap
constexpr double kLeastPiece = 1e-13;  // s: no piece is shorter
constexpr int kRootSteps = 60;         // of the search for an event: more than halving would take
constexpr int kNarrowed = 8;           // windows that end before they should: a piece ends there, for the next knows by name what is closed
constexpr int kScalar = 60;            // halvings of a cubic's root, to rounding
constexpr double kJump = 100.0;        // accelerations of the motion: a slip that changes faster jumps, as stiff slides come and go
constexpr double kResolved = 1e-5;  // of a body's speed: what rk4 may err by in a piece; a disc that rolls on its rim gains energy beyond
constexpr double kPhase = 0.5;      // rad, of an oscillator: no piece of rk4 is longer, where its phase shows no error of the speed either
constexpr double kHeld = 1e-3;      // the same of contacts that hold, along their normals
constexpr double kShortest = 1e-3;  // of a piece: rk4 and symplectic_euler cut it no shorter
constexpr double kKink = 1e-3;      // of a piece: forces are continuous where a stick gives way or a contact is left, so an error t of
                                    // its time alters velocities by t²

/// First x in (0, 1] at which the cubic with these values and slopes at 0 and 1 is no longer positive; infinity where it stays so.
double first_root(double value_0, double slope_0, double value_1, double slope_1) {
  const double d = value_1 - value_0;
  const double c2 = 3.0 * d - 2.0 * slope_0 - slope_1, c3 = slope_0 + slope_1 - 2.0 * d;
  const auto value = [&](double x) { return value_0 + x * (slope_0 + x * (c2 + x * c3)); };
  // Turning points, in order: roots of slope_0 + 2 c2 x + 3 c3 x².
  std::array<double, 3> ends{1.0, 1.0, 1.0};
  const double discriminant = c2 * c2 - 3.0 * c3 * slope_0;
  if (discriminant > 0.0) {
    const double q = -(c2 + std::copysign(std::sqrt(discriminant), c2));
    for (const double x : {c3 != 0.0 ? q / (3.0 * c3) : 1.0, q != 0.0 ? slope_0 / q : 1.0}) {
      if (x > 0.0 && x < 1.0) ends[x < ends[0] ? (ends[1] = ends[0], 0) : 1] = x;
    }
  }
  double low = 0.0;
  for (double high : ends) {
    if (value(high) > 0.0) {
      low = high;
      continue;
    }
    for (int k = 0; k < kScalar; ++k) {
      const double middle = 0.5 * (low + high);
      (value(middle) > 0.0 ? low : high) = middle;
    }
    return high;
  }
  return kInfinity;
}

}  // namespace

bool EventDriven::evaluate(const EventSetting& setting, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v, Accelerations& out) {
  const AccelerationLevel::Answer answer = level_.evaluate(setting, q, v, out);
  failed_ = failed_ || answer == AccelerationLevel::Answer::failed;
  return answer == AccelerationLevel::Answer::found;
}

// The state s after the piece began, in `at_`; the accelerations at the beginning are known.
bool EventDriven::flow(const EventSetting& setting, double s) {
  if (at_time_ == s) return true;
  double error = 0.0;
  end_time_ = -1.0;
  level_.piece = s;
  const auto slope = [&](int stage, const VectorXd& q, const VectorXd& v, VectorXd& v_dot) {
    Accelerations& a = accelerations_[stage];
    const bool known = stage == 0 && !(level_.stiff() && accelerations_piece_ != s);
    forceless_ = !known && !evaluate(setting, q, v, a);
    if (forceless_) return false;
    if (stage == 0) accelerations_piece_ = s;
    v_dot = a.v_dot;
    return true;
  };
  const bool found = runge_kutta(setting.events.integrator, setting.world, s, start_, slope, stages_, at_, error);
  at_time_ = found ? s : -1.0;
  error_ = error;
  return found;
}

// Estimated error of the last flow over what is allowed: above 1 the piece is too long.
double EventDriven::excess(const EventSetting& setting, double s) {
  if (setting.events.integrator == Integrator::rk45) return error_ / setting.events.integration_tolerance;
  forceless_ = !evaluate(setting, at_.q, at_.v, end_);
  if (forceless_) return kInfinity;
  end_time_ = s;
  // rk4: what the accelerations of the end, in the place of the last stage's, change v by, an estimate of order three. Of a linear motion
  // with rates λ it is the share z⁴/72 (1 - z/2), z = λ s, of (q, v): of an oscillator, z = iωs, one that turns in the plane of v and ω q,
  // so that at some phase of any long piece its part of v vanishes. There that of q does not. symplectic_euler need only be stable: the
  // change of the accelerations over the piece may change v by no more than v.
  const bool euler = setting.events.integrator == Integrator::symplectic_euler;
  const VectorXd& before = accelerations_[euler ? 0 : 3].v_dot;
  const double weight = euler ? s : s / 6.0, allowed = euler ? 1.0 : kResolved;
  if (!euler) {
    last_v_ = stages_.stage.v;
    end_v_ = at_.v;
    turn_to_world(setting.world, stages_.stage.q, last_v_);
    turn_to_world(setting.world, at_.q, end_v_);
  }
  double worst = 0.0;
  const BlockDiagonal& M = level_.inertia();
  for (int k = 0; k < M.blocks(); ++k) {
    const auto largest = [&](const auto& x) { return x.segment(M.offset(k), M.block_size(k)).cwiseAbs().maxCoeff(); };
    const double speed = std::max(largest(start_.v), largest(at_.v));
    worst = std::max(worst, weight * largest(before - end_.v_dot) / (allowed * speed + setting.events.rest_speed));
    if (euler) continue;
    // Of q over s, beside the larger of v and ω q: at the phase kPhase that is v̇ s / kPhase.
    const double swing = std::max(speed, s / kPhase * largest(accelerations_[0].v_dot));
    worst = std::max(worst, largest(last_v_ - end_v_) / 6.0 / (kPhase * kPhase * kPhase / 72.0 * swing + setting.events.rest_speed));
  }
  return worst;
}

// Speeds of contacts that hold, towards each other or apart, over what is allowed.
double EventDriven::drift(const EventSetting& setting, double s) {
  if (end_time_ != s && !evaluate(setting, at_.q, at_.v, end_)) return 0.0;
  end_time_ = s;
  double worst = 0.0;
  for (std::size_t i = 0; i < level_.contacts.size(); ++i) {
    if (level_.contacts[i].mode != Mode::leaves) worst = std::max(worst, std::abs(level_.u(i)[0]));
  }
  return worst / (kHeld * std::max(start_.v.cwiseAbs().maxCoeff(), at_.v.cwiseAbs().maxCoeff()) + setting.events.rest_speed);
}

// The longest piece up to s that the integrator resolves. Where that is shorter than its shortest, the motion is too stiff for it: the rest
// of the step is left to the velocity level, which is implicit in what joints have of springs and dampers.
double EventDriven::fit_error(const EventSetting& setting, double s) {
  const Integrator integrator = setting.events.integrator;
  const bool strict = integrator == Integrator::rk45;
  const double least = strict ? kLeastPiece : kShortest * s, power = strict ? 0.2 : integrator == Integrator::rk4 ? 0.25 : 0.5;
  double ends = kInfinity;  // a longer piece comes to where no forces exist
  while (!failed_) {
    const double over = flow(setting, s) ? excess(setting, s) : kInfinity;
    if (over <= 1.0) {
      // Where the integrator resolves the motion up to there, the searches after this find how far forces exist.
      if (!strict && std::isfinite(ends) && 0.9 * s * std::pow(over, -power) >= ends) s = ends;
      break;
    }
    if (s <= least) {
      failed_ = failed_ || !forceless_;
      break;
    }
    if (forceless_) ends = s;
    s = std::max(least, s * (forceless_ ? 0.5 : std::clamp(0.9 * std::pow(over, -power), 0.1, 0.9)));
  }
  return s;
}

// Gaps that are open, of contacts and joints' ends, and may close within `left` of x. What overlaps as the piece begins counts from
// that depth, and as open while it comes out: normals of shapes that overlap may turn abruptly.
void EventDriven::list_gaps(const EventSetting& setting, const PhasePoint& x, double left, const VectorXd& v_dot, std::vector<Gap>& out) {
  const World& world = setting.world;
  const double rest = setting.events.rest_speed;
  const bool first = &out == &start_gaps_;
  update_kinematics(world, x.q, data_);
  double fastest = 0.0, sharpest = 0.0;
  for (std::size_t b = 0; b < setting.reach.size(); ++b) {
    const Vector6d V = body_velocity(world, data_, static_cast<int>(b), x.v), W = body_velocity(world, data_, static_cast<int>(b), v_dot);
    const double linear = V.head<3>().norm(), angular = V.tail<3>().norm(), r = setting.reach[b];
    fastest = std::max(fastest, linear + angular * r);
    sharpest = std::max(sharpest, W.head<3>().norm() + W.tail<3>().norm() * r + angular * (linear + angular * r));
  }
  out.clear();
  const auto add = [&](std::uint64_t id, double gap, double speed, double acceleration, const Vector3d& n) {
    const auto found = first ? start_gaps_.end() : std::ranges::find(start_gaps_, id, &Gap::id);
    const double ground = first ? std::min(gap, 0.0) : found != start_gaps_.end() ? found->ground : 0.0;
    const double open = gap - ground + (std::abs(speed) <= rest ? kClosed : 0.0);
    const bool deep = ground < -kClosed;
    out.push_back(
        {id, deep && speed > 0.0 ? std::max(open, kClosed) : open, speed, acceleration, ground, deep ? Vector3d::Zero().eval() : n});
  };
  for (std::size_t k = 0; k < world.joints().size(); ++k) {
    const Joint& joint = world.joints()[k];
    if (joint.nv != 1 || !setting.assemble.joint_limits) continue;
    for (const double sign : {1.0, -1.0}) {
      const double place = sign > 0.0 ? joint.lower : joint.upper;
      const bool closed = std::ranges::any_of(
          level_.rows, [&](const ClosedRow& r) { return r.kind == RowKind::limit && r.v == joint.v && r.sign == sign; });
      if (!closed && !std::isinf(place))
        add(limit_row_id(k, sign), sign * (x.q[joint.q] - place), sign * x.v[joint.v], sign * v_dot[joint.v], Vector3d::Zero());
    }
  }
  setting.scene.update_poses(data_.X_WB);
  setting.scene.detect(kTouchGap + 2.0 * left * (fastest + left * sharpest), found_);
  for (const ContactPoint& c : found_) {
    const bool closed = std::ranges::any_of(level_.contacts, [&](const ClosedContact& y) { return y.point.id == c.id; });
    if (closed || !can_separate(world, data_, c.body_a, c.body_b, c.p_WC, c.n)) continue;
    add(c.id, c.gap, contact_velocity(world, data_, c, x.v)[0], contact_velocity(world, data_, c, v_dot)[0], c.n);
  }
}

// First time after `low` at which one of these gaps closes, each a cubic between the ends; a parabola where it is known at one only, as
// features of a shape come and go, and then to the width of a closed gap. What is open at both ends, on opposite sides, has gone past or
// through: at the latest halfway it is looked at again.
double EventDriven::first_closing(double low, double high) const {
  const double T = high - low;
  double first = kInfinity;
  for (const Gap& a : low_gaps_) {
    const auto found = std::ranges::find(high_gaps_, a.id, &Gap::id);
    const bool turned = found != high_gaps_.end() && !a.goes_on_as(*found), lost = found == high_gaps_.end() || turned;
    if (turned) first = std::min(first, low + 0.5 * T);
    const double gap = std::max(a.gap, 0.0) + (lost ? kClosed : 0.0);
    const double value = lost ? gap + T * (a.speed + 0.5 * T * a.acceleration) : found->gap;
    const double speed = lost ? a.speed + T * a.acceleration : found->speed;
    first = std::min(first, low + T * first_root(gap, T * a.speed, value, T * speed));
  }
  for (const Gap& b : high_gaps_) {
    if (b.gap > -kClosed || std::ranges::find(low_gaps_, b.id, &Gap::id) != low_gaps_.end()) continue;
    first = std::min(first, b.speed < 0.0 ? std::max(high - b.gap / b.speed, low + 0.5 * T) : low + 0.5 * T);
  }
  return first;
}

// The first contact within s, or s: a root of the gaps, each iterate a flow from the piece's beginning.
double EventDriven::clear_time(const EventSetting& setting, double s) {
  const VectorXd& last = accelerations_[static_cast<std::size_t>(tableau_of(setting.events.integrator).stages) - 1].v_dot;
  const double tolerance = setting.events.time_tolerance;
  const auto known_before = [&](std::uint64_t id) { return std::ranges::find(low_gaps_, id, &Gap::id) != low_gaps_.end(); };
  const auto nearness = [&](const Gap& g) { return kSoon * tolerance * std::abs(g.speed); };
  const auto turned = [&](const Gap& g) {
    const auto before = std::ranges::find(low_gaps_, g.id, &Gap::id);
    return before != low_gaps_.end() && !before->goes_on_as(g);
  };
  const auto closed = [&](const Gap& g) { return turned(g) || g.gap < -(known_before(g.id) ? nearness(g) : kClosed); };
  const auto arrives = [&](const Gap& g) { return g.speed < 0.0 && g.gap <= nearness(g) && known_before(g.id); };
  list_gaps(setting, start_, s, accelerations_[0].v_dot, start_gaps_);
  low_gaps_ = start_gaps_;
  double low = 0.0;
  for (int narrowed = 0; low < s;) {
    double turning = 0.0;
    for (std::size_t b = 0; b < setting.reach.size(); ++b)
      turning = std::max(turning, body_velocity(setting.world, data_, static_cast<int>(b), low > 0.0 ? at_.v : start_.v).tail<3>().norm());
    double high = turning * (s - low) > kCubicTurn ? low + kCubicTurn / turning : s;
    while (!flow(setting, high)) {  // no forces exist there: halve
      high = 0.5 * (low + high);
      if (high - low <= tolerance) return high;
      s = high;
    }
    list_gaps(setting, at_, high - low, last, high_gaps_);
    const double window = high;
    bool clear = false;
    for (int k = 0; k < kRootSteps && high - low > 0.1 * tolerance && !clear; ++k) {
      // A point that rolls keeps a gap of next to nothing, and cubics that find it closed at once: every third guess halves.
      const bool halves = k % 3 == 2;
      double t = std::max(first_closing(low, high), low + kSoon * tolerance);
      clear = !(t < high);
      if (clear) break;
      if (halves) t = std::max(t, 0.5 * (low + high));
      if (!flow(setting, t)) return t;  // no forces exist there: mode_time finds how far they do
      list_gaps(setting, at_, high - low, last, middle_gaps_);
      if (halves || std::ranges::any_of(middle_gaps_, closed)) {
        high = t;
        high_gaps_ = middle_gaps_;
        continue;
      }
      if (std::ranges::any_of(middle_gaps_, arrives)) return std::max(t, kLeastPiece);
      low = t;
      low_gaps_ = middle_gaps_;
    }
    if (at_time_ != high && !flow(setting, high)) return high;
    if (!clear || std::ranges::any_of(high_gaps_, arrives)) return std::max(high, kLeastPiece);
    low = high;
    low_gaps_ = high_gaps_;
    narrowed += high < window ? 1 : 0;
    if (narrowed >= kNarrowed) return high;
  }
  return s;
}

bool EventDriven::holds_nothing(const EventSetting& setting) const {
  return level_.contacts.empty() && level_.rows.empty() && count_equality_rows(setting.world) == 0;
}

// How far every contact and row is from another mode at the last evaluation, with those forces: above 0 while it keeps its own; of
// slides the slip along their first direction, of what is held the acceleration that it would take or the force that is left to hold it.
void EventDriven::margins(const PhasePoint& x, const Accelerations& forces, std::vector<Margin>& out) const {
  const double small = level_.small();
  const double most = std::max(largest_entry(forces.forces), largest_entry(forces.row_forces)),
               mobility = most > 0.0 ? level_.scale() / most : 0.0;
  const auto held = [&](double acceleration, double force_left) {
    return Margin{acceleration > small ? small - acceleration : std::max(mobility * std::min(force_left, most), small), false};
  };
  const auto apart = [](double gap, double speed) { return Margin{(speed < 0.0 ? gap : std::abs(gap)) + kClosed, false}; };
  out.clear();
  for (std::size_t i = 0; i < level_.contacts.size(); ++i) {
    const ClosedContact& c = level_.contacts[i];
    const Vector3d u = level_.u(i), a = level_.a(i);
    const Vector3d f = level_.points()[i].R_WC().transpose() * forces.forces.segment<3>(3 * static_cast<Index>(i));
    if (c.mode == Mode::leaves) {
      out.push_back(apart(level_.points()[i].gap, u[0]));
      continue;
    }
    out.push_back(held(a[0], f[0]));
    if (c.mode == Mode::slides) out.push_back({u.tail<2>().dot(c.along), true});
    if (c.mode == Mode::sticks) out.push_back(held(a.tail<2>().norm(), c.mu * f[0] - f.tail<2>().norm()));
  }
  for (std::size_t j = 0; j < level_.rows.size(); ++j) {
    const ClosedRow& r = level_.rows[j];
    const double f = forces.row_forces[static_cast<Index>(j)];
    if (r.mode == Mode::slides) out.push_back({r.side > 0.0 ? level_.row_slip(j) : -level_.row_slip(j), true});
    if (r.mode == Mode::sticks) out.push_back(held(std::abs(level_.row_a(j)), std::min(r.hi - f, f - r.lo)));
    if (r.mode == Mode::leaves) out.push_back(apart(r.sign * (x.q[r.q] - r.place), r.sign * x.v[r.v]));
  }
}

// Whether a mode has changed at the time s after the piece began. Fills `margins_`; they are empty where no forces exist.
bool EventDriven::changed(const EventSetting& setting, double s) {
  margins_.clear();
  if (at_time_ != s && !flow(setting, s)) return true;
  if (holds_nothing(setting)) return false;
  if (end_time_ != s && !evaluate(setting, at_.q, at_.v, end_)) return true;
  end_time_ = s;
  margins(at_, end_, margins_);
  return std::ranges::any_of(margins_, [](const Margin& m) { return m.passed(); });
}

// The time within s at which the modes change, from the side after it; s where they do not. The state is in `at_`.
// The first root of the margins by regula falsi: the Illinois method [Dowell, Jarratt 1971], its guesses shifted by less than the width
// to either side in turn, so that both ends close in; every third halves.
double EventDriven::mode_time(const EventSetting& setting, double s) {
  if (!changed(setting, s) || failed_) return s;
  double low = 0.0, high = s;
  high_margins_ = margins_;
  int same = 0;  // ends moved in a row: below 0 the lower
  double low_weight = 1.0, high_weight = 1.0;
  const double jump = kJump * std::max(level_.scale(), accelerations_[0].v_dot.cwiseAbs().maxCoeff());  // m/s²
  for (int k = 0; k < kRootSteps && !failed_; ++k) {
    const bool comparable = !high_margins_.empty() && high_margins_.size() == low_margins_.size();
    bool by_slip = comparable;
    double guess = kInfinity;
    for (std::size_t i = 0; comparable && i < low_margins_.size(); ++i) {
      const double ahead = low_margins_[i].value, behind = high_margins_[i].value;
      if (!high_margins_[i].passed()) continue;
      by_slip = by_slip && low_margins_[i].slip && ahead - behind < jump * (high - low);
      if (ahead > 0.0) guess = std::min(guess, low + (high - low) * ahead * low_weight / (ahead * low_weight - behind * high_weight));
    }
    const double width = by_slip ? 0.1 * setting.events.time_tolerance : std::max(setting.events.time_tolerance, kKink * s);
    if (high - low <= width) break;
    double middle = 0.5 * (low + high);
    if (std::isfinite(guess) && k % 3 != 2)
      middle = std::clamp(guess + (k % 3 == 0 ? -0.4 : 0.4) * width, low + 0.1 * width, high - 0.1 * width);
    if (changed(setting, middle)) {
      high = middle;
      high_margins_ = margins_;
      same = std::max(same, 0) + 1;
      high_weight = 1.0;
      if (same > 1) low_weight *= 0.5;
    } else {
      low = middle;
      low_margins_ = margins_;
      same = std::min(same, 0) - 1;
      low_weight = 1.0;
      if (same < -1) high_weight *= 0.5;
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

// The next piece within `left`, its end in `at_`. An event may come before what the fit has looked at, and the flow to there differ.
double EventDriven::piece_time(const EventSetting& setting, double left) {
  for (double s = left; !failed_; s *= 0.5) {
    s = mode_time(setting, clear_time(setting, fit_error(setting, s)));
    if (failed_ || at_time_ != s || holds_nothing(setting) || drift(setting, s) <= 1.0) return s;
    failed_ = s <= setting.events.time_tolerance;
  }
  return left;
}

// A step of Euler, no longer than the width of an event, to where no forces exist.
bool EventDriven::cross(const EventSetting& setting, double s) {
  const auto slope = [&](int, const VectorXd&, const VectorXd&, VectorXd& v_dot) {
    v_dot = accelerations_[0].v_dot;
    return true;
  };
  double error = 0.0;
  return runge_kutta(Integrator::symplectic_euler, setting.world, s, start_, slope, stages_, at_, error);
}

}  // namespace stiction
