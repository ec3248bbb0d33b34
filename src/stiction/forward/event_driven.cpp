#include "stiction/forward/event_driven.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/forward/block_cholesky.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kAhead = 0.1;           // of the tolerance of time: a gap that closes sooner is closed
constexpr double kStill = 1e-9;          // m/s, rad/s: a slower approach is none, to the tolerance of the solves
constexpr double kSlips = 1e-8;          // m/s, rad/s: slower is sticking
constexpr double kRoundedDrift = 1e-14;  // m, rad: a smaller drift is rounding
constexpr double kDependent = 1e-4;      // of a row: less that is left of it beside the others would turn drift into 1e4 times the change

}  // namespace

EventDriven::EventDriven(const World& world) : level_(world), data_(world), shift_(world) {
  for (PhasePoint* x : {&start_, &at_}) {
    x->q = world.initial_configuration();
    x->v = VectorXd::Zero(world.nv());
  }
}

void EventDriven::note_forces(const Accelerations& x, double share) {
  for (std::size_t i = 0; i < level_.contacts.size(); ++i) {
    told_.add_contact(level_.contacts[i].point, share * x.forces.segment<3>(3 * static_cast<Index>(i)));
  }
  for (std::size_t j = 0; j < level_.rows.size(); ++j) told_.add_row(level_.rows[j].id, share * x.row_forces[static_cast<Index>(j)]);
  told_.add_equalities(share * x.equality_forces);
}

void EventDriven::note_piece(const EventSetting& setting, double s) {
  const Tableau& t = tableau_of(setting.events.integrator);
  for (int k = 0; k < t.stages; ++k) {
    if (t.b[k] != 0.0) note_forces(accelerations_[k], s * t.b[k]);
  }
}

// Limits that are reached and not left, and all that rubs or drives.
void EventDriven::list_rows(const EventSetting& setting, const PhasePoint& x) {
  level_.rows.clear();
  const double rest = setting.events.rest_speed;
  for (std::size_t k = 0; k < setting.world.joints().size(); ++k) {
    const Joint& joint = setting.world.joints()[k];
    if (joint.nv != 1) continue;
    ClosedRow row;
    row.v = joint.v;
    row.q = joint.q;
    row.block = joint.block;
    for (const double sign : {1.0, -1.0}) {
      row.place = sign > 0.0 ? joint.lower : joint.upper;
      const double gap = sign * (x.q[joint.q] - row.place), speed = sign * x.v[joint.v];
      if (!setting.assemble.joint_limits || !(gap <= kClosed + kAhead * setting.events.time_tolerance * std::max(-speed, 0.0)) ||
          speed > rest)
        continue;
      row.kind = RowKind::limit;
      row.id = limit_row_id(k, sign);
      row.sign = sign;
      row.lo = 0.0;
      row.hi = kInfinity;
      level_.rows.push_back(row);
    }
    if (!setting.assemble.dry_friction || !(joint.dry_friction > 0.0)) continue;
    row.kind = RowKind::friction;
    row.id = friction_row_id(k);
    row.sign = 1.0;
    row.lo = -joint.dry_friction;
    row.hi = joint.dry_friction;
    level_.rows.push_back(row);
  }
  for (const VelocityDrive& drive : setting.assemble.drives.velocity) {
    const Joint* joint = joint_at(setting.world, drive.v);
    level_.rows.push_back(
        {RowKind::motor, drive_row_id(drive.v), drive.v, joint->q, joint->block, 1.0, drive.velocity, 0.0, drive.least, drive.most});
  }
  for (ClosedRow& row : level_.rows) {
    const double slip = row.sign * x.v[row.v] - row.target;
    if (row.kind == RowKind::limit || std::abs(slip) <= kSlips || std::ranges::find(stopped_, row.id) != stopped_.end()) continue;
    row.mode = Mode::slides;
    row.side = slip;
  }
}

/// At which the contact closes without forces of others, by the last accelerations known (m/s²).
double EventDriven::closing_acceleration(const EventSetting& setting, const ContactPoint& c) const {
  if (!known_) return 0.0;
  return -contact_velocity(setting.world, data_, c, level_.free())[0];
}

void EventDriven::note_impacts() {
  for (std::size_t i = 0; i < impacts_.contacts.size(); ++i) {
    const ContactPoint& c = impacts_.contacts[i];
    told_.add_contact(c, c.R_WC() * impacts_.impulses().segment<3>(3 * static_cast<Index>(i)));
  }
  for (std::size_t j = 0; j < impacts_.rows.size(); ++j) told_.add_row(impacts_.rows[j].id, impacts_.row_impulses()[static_cast<Index>(j)]);
  told_.add_equalities(impacts_.equality_impulses());
}

EventDriven::Settled EventDriven::settle(const EventSetting& setting, double time, bool again, PhasePoint& x) {
  const World& world = setting.world;
  const double rest = setting.events.rest_speed;
  update(world, x.q, x.v, data_);
  setting.scene.update_poses(data_.X_WB);
  setting.scene.detect(kTouchGap, found_);
  impacts_.contacts.clear();
  impacts_.rows.clear();
  level_.contacts.clear();
  bool coming = false;
  for (const ContactPoint& c : found_) {
    const Vector3d u = contact_velocity(world, data_, c, x.v);
    if (c.gap > kClosed + kAhead * setting.events.time_tolerance * std::max(-u[0], 0.0) ||
        !can_separate(world, data_, c.body_a, c.body_b, c.p_WC, c.n))
      continue;
    deepest_ = std::max(deepest_, -c.gap);
    impacts_.contacts.push_back(c);
    coming = coming || u[0] < -kStill;
    if (u[0] > rest) continue;
    ClosedContact closed;
    closed.point = c;
    const Vector2d slip = u.tail<2>();
    const bool stopped = std::ranges::find(stopped_, c.id) != stopped_.end();
    closed.mode = slip.norm() > kSlips && !stopped ? Mode::slides : Mode::sticks;
    closed.slip = slip.norm();
    if (std::ranges::find(released_, c.id) != released_.end() && u[0] >= -kStill) closed.mode = Mode::leaves;
    if (closed.mode == Mode::sticks && std::ranges::find(started_, c.id) != started_.end()) closed.mode = Mode::starts;
    if (closed.mode == Mode::slides) closed.along = slip / closed.slip;
    level_.contacts.push_back(closed);
  }
  list_rows(setting, x);
  stopped_.clear();
  released_.clear();
  started_.clear();
  for (const ClosedRow& row : level_.rows) {
    ClosedRow struck = row;
    if (row.kind != RowKind::limit) {
      struck.lo = std::isinf(row.lo) ? -kInfinity : 0.0;
      struck.hi = std::isinf(row.hi) ? kInfinity : 0.0;
    }
    if (struck.lo == 0.0 && struck.hi == 0.0) continue;
    impacts_.rows.push_back(struck);
    const double slip = row.sign * x.v[row.v] - row.target;
    coming = coming || (struck.hi > 0.0 && slip < -kStill) || (struck.lo < 0.0 && slip > kStill);
  }
  if (!coming) return Settled::resting;
  for (const ContactPoint& c : impacts_.contacts) {
    const double speed = -contact_velocity(world, data_, c, x.v)[0];
    const double e = c.restitution;
    if (speed > rest && (e == 0.0 || e * speed > rest)) {
      events_.push_back({time, EventKind::impact, c.id, speed});
    } else if (speed > kStill && !again) {
      const double pull = closing_acceleration(setting, c);
      events_.push_back({time + (pull > 0.0 && e < 1.0 ? 2.0 * e * speed / (pull * (1.0 - e)) : 0.0), EventKind::rest, c.id, speed});
    }
  }
  for (const ClosedRow& row : impacts_.rows) {
    const double speed = -row.sign * x.v[row.v];
    if (row.kind == RowKind::limit && speed > kStill) events_.push_back({time, EventKind::impact, 0, speed});
  }
  if (!impacts_.meet(setting, data_, x.q, x.v)) return Settled::failed;
  note_impacts();
  return Settled::struck;
}

// Accelerations and modes as a piece begins. False where a solve failed; `struck`: an impulse has changed v.
bool EventDriven::accelerate(const EventSetting& setting, double time, double left, PhasePoint& x, bool& struck) {
  using Answer = AccelerationLevel::Answer;
  struck = false;
  level_.hold(setting, data_);
  level_.piece = accelerations_piece_ = left;
  const Answer answer = level_.evaluate(setting, x.q, x.v, accelerations_[0]);
  if (answer == Answer::failed) return false;
  known_ = true;
  if (level_.holds_slip()) {
    struck = impacts_.meet(setting, data_, x.q, x.v);
  } else if (answer == Answer::none) {
    struck = impacts_.jam(setting, data_, x.q, level_.free(), x.v);
    if (struck) events_.push_back({time, EventKind::jam, 0, 0.0});
  }
  if (struck) note_impacts();
  if (answer == Answer::none || level_.holds_slip()) return struck;
  for (std::size_t i = 0; i < level_.contacts.size(); ++i) {
    ClosedContact& c = level_.contacts[i];
    if (level_.a(i)[0] > level_.small()) c.mode = Mode::leaves;
    if (c.mode == Mode::sticks && level_.a(i).tail<2>().norm() > level_.small()) c.mode = Mode::starts;
  }
  for (std::size_t j = 0; j < level_.rows.size(); ++j) {
    ClosedRow& r = level_.rows[j];
    if (r.mode == Mode::sticks && std::abs(level_.row_a(j)) > level_.small())
      r.mode = r.kind == RowKind::limit ? Mode::leaves : Mode::starts;
  }
  return true;
}

void EventDriven::log_changes(double time) {
  for (std::size_t i = 0; i < level_.contacts.size(); ++i) {
    const ClosedContact& c = level_.contacts[i];
    if (c.mode == Mode::leaves) continue;
    const Vector3d u = level_.u(i), a = level_.a(i);
    if (a[0] > level_.small()) {
      events_.push_back({time, EventKind::release, c.point.id, 0.0});
      released_.push_back(c.point.id);
    } else if (c.mode == Mode::slides && u.tail<2>().dot(c.along) <= 0.0) {
      events_.push_back({time, EventKind::stick, c.point.id, 0.0});
      stopped_.push_back(c.point.id);
    } else if (c.mode == Mode::sticks && a.tail<2>().norm() > level_.small()) {
      events_.push_back({time, EventKind::slip, c.point.id, 0.0});
      started_.push_back(c.point.id);
    }
  }
  for (std::size_t j = 0; j < level_.rows.size(); ++j) {
    const ClosedRow& r = level_.rows[j];
    if (r.mode == Mode::slides && r.side * level_.row_slip(j) <= 0.0) stopped_.push_back(r.id);
  }
}

// Rows of a loop's point, or of its turn, are as long as the longest: each is a direction of the world's axes, so that one alone may be
// what rounding leaves of a direction in which nothing moves, as the third of a planar linkage on a tilted base, and its gap is no smaller.
void EventDriven::measure_rows(const GrowMatrix& rows) {
  length_ = rows.colwise().norm().transpose();
  for (Index j = 0; j < rows.cols(); ++j) length_[first_[j]] = std::max(length_[first_[j]], length_[j]);
  for (Index j = 0; j < rows.cols(); ++j) length_[j] = length_[first_[j]];
}

// The joints of drives that hold keep their places, and the rows ask the others alone: what they ask may contradict itself, and all joints
// together would share that.
void EventDriven::hold_driven() {
  measure_rows(holding_);
  for (const std::size_t j : driven_) {
    const ClosedRow& row = level_.rows[j];
    const int at = row.v - factors_.offset(row.block);
    factors_.block(row.block).row(at).setZero();
    factors_.block(row.block).col(at).setZero();
    factors_.block(row.block)(at, at) = 1.0;
    holding_.row(row.v).setZero();
  }
  for (Index j = 0; j < holding_.cols(); ++j) {
    if (holding_.col(j).norm() <= kDependent * length_[j]) holding_.col(j).setZero();
  }
}

// L⁻ᵀ of the least-norm solution y in the whitened coordinates L⁻¹ Aᵀ, which `holding_` then has: the least kinetic energy. Leaves y in
// `scaled_`. factors_: M before, L after.
void EventDriven::least_change(const GrowVector& wanted) {
  factor_in_place(factors_);
  whiten(factors_, holding_);
  GrowMatrix& rows = least_squares_.reset(holding_.cols(), holding_.rows());
  rows = holding_;
  scaled_ = wanted;
  measure_rows(rows);
  for (Index j = 0; j < rows.cols(); ++j) {  // rows of light bodies are long ones
    if (!(length_[j] > 0.0)) continue;
    rows.col(j) /= length_[j];
    scaled_[j] /= length_[j];
  }
  least_squares_.factor(kDependent);
  least_squares_.solve(scaled_, solution_);
  scaled_ = solution_;
  unwhiten(factors_, solution_);
}

// Impulses λ that change velocities as `least_change` has, L⁻¹ Aᵀ λ = y: by the rows that its factors choose, R λ = Qᵀ y, whose columns
// are in units of `length_` there.
void EventDriven::note_change(const EventSetting& setting) {
  const PivotedQr& rows = least_squares_.rows();
  rows.apply_transposed(scaled_);
  speeds_.setZero(holding_.cols());
  for (Index i = rows.rank() - 1; i >= 0; --i) {
    double sum = scaled_[i];
    for (Index j = i + 1; j < rows.rank(); ++j) sum -= rows.r(i, j) * speeds_[rows.column(j)];
    speeds_[rows.column(i)] = sum / rows.r(i, i);
  }
  for (Index i = 0; i < rows.rank(); ++i) speeds_[rows.column(i)] /= length_[rows.column(i)];
  level_.impulses_of_held(setting, speeds_, end_);
  note_forces(end_, 1.0);
}

// Positions first: speeds of what turns depend on them.
void EventDriven::project(const EventSetting& setting, double recovery, PhasePoint& x) {
  level_.holding_rows(setting, x.q, x.v, recovery, holding_, speeds_, gaps_, first_, driven_);
  if (holding_.cols() == 0) return;
  if (gaps_.cwiseAbs().maxCoeff() > kRoundedDrift) {
    factors_ = level_.inertia();
    hold_driven();
    least_change(gaps_);
    const double before = potential_energy(setting.world, level_.data());
    if (count_equality_rows(setting.world) > 0) {  // these move joints that may turn fast
      shift_.apply(setting.world, 1.0, level_.data(), x.q, solution_, x);
    } else {
      turn_to_world(setting.world, x.q, x.v);
      integrate(setting.world, x.q, solution_, 1.0, x.q);
      turn_to_body(setting.world, x.q, x.v);
    }
    const bool found = evaluate(setting, x.q, x.v, end_);
    lifted_ += potential_energy(setting.world, level_.data()) - before;
    if (!found) return;
    level_.holding_rows(setting, x.q, x.v, recovery, holding_, speeds_, gaps_, first_, driven_);
    if (holding_.cols() == 0) return;
  }
  factors_ = level_.inertia();
  least_change(speeds_);
  x.v += solution_;
  note_change(setting);
}

double EventDriven::advance(const EventSetting& setting, double time, double h, PhasePoint& x) {
  events_.clear();
  stopped_.clear();
  released_.clear();
  started_.clear();
  told_.start(count_equality_rows(setting.world));
  level_.tally = impacts_.tally = {};
  deepest_ = lifted_ = 0.0;
  level_.cold = true;  // a step depends on its state alone
  known_ = failed_ = false;
  double left = h;
  bool struck = false;
  for (pieces_ = 0; pieces_ < setting.events.most_events && left > 0.0; ++pieces_) {
    const double now = time + (h - left);
    const Settled settled = settle(setting, now, struck, x);
    if (settled == Settled::failed) return left;
    struck = settled == Settled::struck;
    if (struck) continue;
    if (!accelerate(setting, now, left, x, struck)) return left;
    if (struck) continue;
    start_ = x;
    at_time_ = end_time_ = -1.0;
    margins(x, accelerations_[0], low_margins_);
    const double s = piece_time(setting, left);
    if (failed_) return left;
    if (at_time_ < 0.0) {
      if (!cross(setting, s)) return left;
    } else if (!holds_nothing(setting)) {
      note_piece(setting, s);
      log_changes(now + s);
      project(setting, s < left ? 0.0 : setting.recovery, at_);
    }
    x = at_;
    left = s < left ? left - s : 0.0;
  }
  return left;
}

}  // namespace stiction
