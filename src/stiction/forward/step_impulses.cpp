#include "stiction/forward/step_impulses.hpp"

#include <algorithm>

namespace stiction {

using Eigen::Index;
using Eigen::Vector3d;

void StepImpulses::start(Index equalities) {
  contacts_.clear();
  rows_.clear();
  equalities_.setZero(equalities);
  part_ = 0;
}

/// Of a contact by its name, that of the end where there is none. Parts list theirs in the same order but for a few: `likely` is looked at
/// first.
std::size_t StepImpulses::place_of(std::uint64_t id, std::size_t likely) const {
  if (likely < contacts_.size() && contacts_[likely].point.id == id) return likely;
  const auto found = std::ranges::find(contacts_, id, [](const Contact& x) { return x.point.id; });
  return static_cast<std::size_t>(found - contacts_.begin());
}

StepImpulses::Contact& StepImpulses::contact(const ContactPoint& point, std::size_t likely) {
  const std::size_t place = place_of(point.id, likely);
  if (place == contacts_.size()) contacts_.push_back({point, Vector3d::Zero()});
  return contacts_[place];
}

void StepImpulses::add_contact(const ContactPoint& point, const Vector3d& impulse_W) {
  Contact& sum = contact(point);
  sum.point = point;
  sum.impulse += impulse_W;
}

void StepImpulses::add_row(std::uint64_t id, double impulse) {
  const auto found = std::ranges::find(rows_, id, &Row::id);
  if (found == rows_.end()) {
    rows_.push_back({id, impulse});
  } else {
    found->impulse += impulse;
  }
}

void StepImpulses::add_contacts(std::span<const ContactPoint> contacts, const ContactProblem& p, const Solution& s) {
  ++part_;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const auto at = static_cast<Index>(i);
    Contact& sum = contact(contacts[i], i);
    const ContactMode mode = contact_mode(s, static_cast<int>(i));
    const Vector3d impulse = s.impulses.segment<3>(3 * at);
    if (impulse.squaredNorm() > 0.0 || sum.impulse.squaredNorm() == 0.0) sum.point = contacts[i];
    sum.impulse += contacts[i].R_WC() * impulse;
    sum.mu = p.mu[at];
    if (mode != ContactMode::open) sum.mode = mode;
    sum.part = part_;
  }
}

void StepImpulses::add_rows(const ContactProblem& p, const Solution& s) {
  for (Index j = 0; j < p.bounded_rows() - equalities_.size(); ++j) add_row(p.row_ids[j], s.bounded_impulses[j]);
  equalities_ += s.bounded_impulses.tail(equalities_.size());
}

void StepImpulses::add_left(std::vector<ContactPoint>& contacts) const {
  for (const Contact& x : contacts_) {
    if (std::ranges::find(contacts, x.point.id, &ContactPoint::id) == contacts.end()) contacts.push_back(x.point);
  }
}

void StepImpulses::impulses_of(std::span<const ContactPoint> contacts, const ContactProblem& p, Solution& s) const {
  s.impulses.setZero(3 * p.contacts());
  s.bounded_impulses.setZero(p.bounded_rows());
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const std::size_t place = place_of(contacts[i].id);
    if (place < contacts_.size())
      s.impulses.segment<3>(3 * static_cast<Index>(i)) = contacts[i].R_WC().transpose() * contacts_[place].impulse;
  }
  for (std::size_t j = 0; j < p.row_ids.size(); ++j) {
    const auto found = std::ranges::find(rows_, p.row_ids[j], &Row::id);
    if (found != rows_.end()) s.bounded_impulses[static_cast<Index>(j)] = found->impulse;
  }
  s.bounded_impulses.tail(equalities_.size()) = equalities_;
}

int StepImpulses::count_left() const {
  return static_cast<int>(std::ranges::count_if(contacts_, [&](const Contact& x) { return is_left(x); }));
}

void StepImpulses::complete(StepForces& forces) const {
  for (std::size_t i = 0; i < forces.points.size(); ++i) {
    const Contact& sum = contacts_[place_of(forces.points[i].id, i)];
    forces.impulses.segment<3>(3 * static_cast<Index>(i)) = forces.points[i].R_WC().transpose() * sum.impulse;
    forces.modes[i] = sum.mode;
  }
  const Index listed = forces.impulses.size(), all = listed + 3 * count_left();
  forces.impulses.resize(all);  // keeps what is there
  forces.velocities.resize(all);
  forces.velocities.tail(all - listed).setZero();
  for (const Contact& x : contacts_) {
    if (!is_left(x)) continue;
    forces.impulses.segment<3>(3 * std::ssize(forces.points)) = x.point.R_WC().transpose() * x.impulse;
    forces.points.push_back(x.point);
    forces.mu.push_back(x.mu);
    forces.modes.push_back(x.mode);
  }
}

}  // namespace stiction
