// Which contacts and joint limits take part in a step: those that may close within it, and those that its answer would pass all the same.
#include <algorithm>
#include <cmath>

#include "stiction/forward/step.hpp"
#include "stiction/forward/waiting_contacts.hpp"
#include "stiction/model/cut_joints.hpp"

namespace stiction {

namespace {

constexpr double kRoom = 10.0;  // accelerations, in those of gravity, that contacts are found for before they are known

/// Of a point of a body whose velocity is among V, those of `data` or after the step.
Eigen::Vector3d point_velocity(const WorldData& data, const std::vector<Vector6d>& V, int body, const Eigen::Vector3d& p) {
  if (body < 0) return Eigen::Vector3d::Zero();
  const std::size_t b = static_cast<std::size_t>(body);
  return V[b].head<3>() + V[b].tail<3>().cross(p - data.X_WB[b].translation());
}

}  // namespace

// What accelerations, not known yet, may add to the way of two bodies.
double Stepper::detection_allowance() const { return kRoom * world_.gravity().norm() * assemble_.dt * assemble_.dt + kTouchGap; }

void Stepper::detect() {
  const double h = assemble_.dt, allowance = detection_allowance();
  margin_.resize(reach_.size());
  // What two bodies can close within a step, twice over.
  for (std::size_t b = 0; b < reach_.size(); ++b) margin_[b] = 2.0 * h * fastest_point(data_.V_WB[b], reach_[b]);
  assemble_.limit_reach = options_.assemble.limit_reach;
  contacts_.clear();
  watched_.clear();
  if (!std::ranges::all_of(margin_, [](double m) { return std::isfinite(m); })) return;  // nor is |v|²: no step will be taken
  scene_.update_poses(data_.X_WB);
  scene_.detect(2.0 * allowance, margin_, contacts_);
  // Leave out points that cannot close within the step, even at ten times gravity. Either body may be stopped by others within the step,
  // and the other one goes on. Contacts that stronger torques, pushes and impacts close, `meet_missed` finds.
  std::erase_if(contacts_, [&](const ContactPoint& c) {
    const double a = c.n.dot(point_velocity(data_, data_.V_WB, c.body_a, c.p_WC)),
                 b = c.n.dot(point_velocity(data_, data_.V_WB, c.body_b, c.p_WC));
    const double closing = std::max({2.0 * (b - a), -a, b, 0.0});
    const bool far = c.gap - h * closing > allowance;
    if (far) watched_.push_back(c);
    return far || !can_separate(world_, data_, c.body_a, c.body_b, c.p_WC, c.n);
  });
}

/// Whether joints would pass limits that were out of reach at the velocities before the step. The limits within what they move then take
/// part.
bool Stepper::meet_limits() {
  if (!assemble_.joint_limits) return false;
  const double h = assemble_.dt, reach = assemble_.limit_reach;
  const auto look = [&](const Joint& joint, double q, double before, double after) {
    const double distance = after > 0.0 ? joint.upper - q : q - joint.lower, way = h * std::abs(after);
    if (distance >= reach + 2.0 * h * std::abs(before) && way > distance + kTouchGap)
      assemble_.limit_reach = std::max(assemble_.limit_reach, 2.0 * way);
  };
  for (const Joint& joint : world_.joints()) {
    if (joint.nv == 1) look(joint, ahead_[joint.q], at_.v[joint.v], solution_.v[joint.v]);
  }
  for (const CutJoint& cut : world_.cuts()) {
    if (cut.joint.nv != 1) continue;
    look(cut.joint, cut_position(world_, data_, cut), cut_rate(world_, data_, data_.V_WB, cut), cut_rate(world_, data_, V_end_, cut));
  }
  return assemble_.limit_reach > reach;
}

/// The contacts that the next step begins with, at q ⊕ h v⁺ from where this one has its own.
void Stepper::look_ahead(double margin, std::vector<ContactPoint>& later) {
  next_.q.resize(world_.nq());
  integrate(world_, at_.q, solution_.v, assemble_.dt, next_.q);
  update_kinematics(world_, next_.q, end_);
  scene_.update_poses(end_.X_WB);
  scene_.detect(margin, margin_, later);
  scene_.update_poses(data_.X_WB);
}

/// Whether the velocities after the step would pass through contacts, or joints their limits, that were left out. They take part then, and
/// their neighbours. What waits for its bounce in the next step (waiting_contacts.hpp) does only where that would not find it.
bool Stepper::meet_missed() {
  const double h = assemble_.dt;
  const double allowance = detection_allowance();
  bool farther = false;
  for (std::size_t b = 0; b < reach_.size(); ++b) {
    const double way = 2.0 * h * fastest_point(V_end_[b], reach_[b]);
    if (!std::isfinite(way)) return false;
    if (way <= 2.0 * (margin_[b] + allowance)) continue;
    margin_[b] = way;
    farther = true;
  }
  const bool limits = meet_limits();
  if (farther) {
    scene_.detect(2.0 * allowance, margin_, found_);
    std::erase_if(found_, [&](const ContactPoint& c) { return std::ranges::find(contacts_, c.id, &ContactPoint::id) != contacts_.end(); });
    std::swap(watched_, found_);
  }
  const auto left = [&](const ContactPoint& c, double times) {
    const double a = c.n.dot(point_velocity(data_, V_end_, c.body_a, c.p_WC)), b = c.n.dot(point_velocity(data_, V_end_, c.body_b, c.p_WC));
    return c.gap - times * h * (b - a);
  };
  const auto separates = [&](const ContactPoint& c) { return can_separate(world_, data_, c.body_a, c.body_b, c.p_WC, c.n); };
  const auto is_passed = [&](const ContactPoint& c) { return left(c, 1.0) < -kTouchGap && separates(c); };
  const auto waits = [&](const ContactPoint& c) { return is_reversed(c, assemble_); };
  const bool looks = std::ranges::any_of(watched_, [&](const ContactPoint& c) { return waits(c) && is_passed(c); });
  if (looks) look_ahead(2.0 * allowance, found_);
  const auto joins = [&](const ContactPoint& c) { return !waits(c) || (looks && is_through(c, found_)); };
  if (std::ranges::none_of(watched_, [&](const ContactPoint& c) { return is_passed(c) && joins(c); })) return limits;
  std::erase_if(watched_, [&](const ContactPoint& c) {
    const bool near = left(c, 2.0) < kTouchGap && separates(c) && joins(c);
    if (near) contacts_.push_back(c);
    return near;
  });
  return true;
}

}  // namespace stiction
