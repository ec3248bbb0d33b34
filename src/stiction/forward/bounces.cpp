#include "stiction/forward/bounces.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/laws/islands.hpp"

namespace stiction {

namespace {

constexpr double kWorkRounded = 1e-6;  // of impulses times the certificate's velocity: a thousand tolerances of a solve
constexpr double kLeastShare = 0.01;   // of the restitution: less is no bounce

bool has_restitution(const ContactProblem& p) {
  return (p.restitution.array() > 0.0).any() ||
         std::ranges::any_of(p.material, [](const ContactMaterial& m) { return m.restitution_tangential > 0.0; });
}

}  // namespace

void Bounces::start() {
  ids_.clear();
  shares_.clear();
  stage_ = Stage::asked;
}

void Bounces::apply(ContactProblem& p) const {
  if (ids_.empty()) return;
  for (int i = 0; i < p.contacts(); ++i) {
    const auto found = std::ranges::find(ids_, p.ids[i]);
    if (found == ids_.end()) continue;
    const double share = shares_[static_cast<std::size_t>(found - ids_.begin())];
    p.restitution[i] *= share;
    if (!p.material.empty()) p.material[i].restitution_tangential *= share;
  }
}

// Compliant laws, and `sap`, which reads the weight, know no restitution. False: nothing bounces.
bool Bounces::find_parts(const ContactProblem& p, Law law) {
  const auto bounces = [&](int i) {
    const double tangential = p.material.empty() ? 0.0 : p.material[i].restitution_tangential;
    return tangential > 0.0 || (p.restitution[i] > 0.0 && before_[3 * i] < 0.0);
  };
  if (!has_restitution(p)) return false;
  before_.resize(p.J.rows());
  p.J.multiply(p.v, before_);
  part_of_.assign(static_cast<std::size_t>(p.contacts()), -1);
  bool any = false;
  for (int i = 0; i < p.contacts(); ++i) {
    const LawRow& row = row_of(p.laws.empty() ? law : p.laws[i]);
    if (row.family == Family::constitutive || row.reads == Reads::weight || p.J.entry_begin(i) == p.J.entry_end(i)) continue;
    part_of_[i] = p.J.entry_block(p.J.entry_begin(i));
    any = any || bounces(i);
  }
  if (!any) return false;
  sets_.reset(p.M.blocks());
  join_blocks(p.J, sets_);
  join_blocks(p.J_b, sets_);
  parts_.assign(static_cast<std::size_t>(p.M.blocks()), {});
  for (int& part : part_of_) part = part < 0 ? part : sets_.find(part);
  return true;
}

bool Bounces::Part::gives_energy() const { return work > allowed + slack; }

void Bounces::measure(const ContactProblem& p, const Solution& s) {
  for (Part& part : parts_) part.work = part.slack = 0.0;
  for (int i = 0; i < p.contacts(); ++i) {
    if (part_of_[i] < 0) continue;
    const Eigen::Vector3d before = before_.segment<3>(3 * i), after = s.u.segment<3>(3 * i), lambda = s.impulses.segment<3>(3 * i);
    Part& part = parts_[part_of_[i]];
    part.work += 0.5 * lambda.dot(before + after);
    part.slack += kWorkRounded * lambda.norm() * s.certificate.velocity_scale;
  }
}

// Of a problem without a solution, the parts that the proof is about.
bool Bounces::find_givers(const ContactProblem& p, const Solution& s, bool taken) {
  if (taken) {
    measure(p, s);
    for (Part& part : parts_) {
      part.gives = part.gives_energy();
      part.asked = part.work;
    }
  } else if (s.status == Status::infeasible && s.ray.impulses.size() == 3 * p.contacts()) {
    for (int i = 0; i < p.contacts(); ++i) {
      if (part_of_[i] >= 0 && !s.ray.impulses.segment<3>(3 * i).isZero(0.0)) parts_[part_of_[i]].gives = true;
    }
  }
  bool any = false;
  for (Part& part : parts_) {
    if (part.gives) part.share = 0.0;
    any = any || part.gives;
  }
  return any;
}

// W(s) = W(0) + b s + c s², from the solution without bounces and the one that was asked for. W(0) > 0 where forces turn a contact back
// within the step: what they take, its impulse gives.
void Bounces::find_shares(const ContactProblem& p, const Solution& s) {
  measure(p, s);
  slopes_.assign(parts_.size(), {0.0, 0.0});
  for (int i = 0; i < p.contacts(); ++i) {
    if (part_of_[i] < 0) continue;
    const Eigen::Vector3d before = before_.segment<3>(3 * i), u = s.u.segment<3>(3 * i), lambda = s.impulses.segment<3>(3 * i);
    const Eigen::Vector3d du = u_.segment<3>(3 * i) - u, dlambda = impulses_.segment<3>(3 * i) - lambda;
    auto& [b, c] = slopes_[part_of_[i]];
    b += 0.5 * (dlambda.dot(before + u) + lambda.dot(du));
    c += 0.5 * dlambda.dot(du);
  }
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    if (!part.gives) continue;
    const auto [b, c] = slopes_[k];
    const double work = std::min(part.work, 0.0), root = std::sqrt(std::max(0.0, b * b - 4.0 * c * work));
    part.allowed = std::max(part.work, 0.0);
    const double share = b > 0.0 ? -2.0 * work / (b + root) : (root - b) / (2.0 * c);
    part.share = part.asked <= part.allowed ? 1.0 : share >= kLeastShare ? std::min(share, 1.0) : 0.0;
  }
}

void Bounces::set_shares(const ContactProblem& p) {
  ids_.clear();
  shares_.clear();
  for (int i = 0; i < p.contacts(); ++i) {
    if (part_of_[i] < 0 || parts_[part_of_[i]].share == 1.0) continue;
    ids_.push_back(p.ids[i]);
    shares_.push_back(parts_[part_of_[i]].share);
  }
}

bool Bounces::weaken(const ContactProblem& p, Law law, const Solution& s, bool taken) {
  bool again = false;
  if (stage_ == Stage::asked) {
    again = find_parts(p, law) && find_givers(p, s, taken);
    compares_ = taken;
    if (again && compares_) {
      u_ = s.u;
      impulses_ = s.impulses;
    }
    stage_ = again ? Stage::without : Stage::done;
  } else if (stage_ == Stage::without) {
    if (taken && compares_) {
      find_shares(p, s);
      again = std::ranges::any_of(parts_, [](const Part& part) { return part.gives && part.share > 0.0; });
    }
    stage_ = again ? Stage::scaled : Stage::done;
  } else if (stage_ == Stage::scaled) {
    if (taken) measure(p, s);
    for (Part& part : parts_) {
      if (!part.gives || part.share == 0.0 || part.share == 1.0 || (taken && !part.gives_energy())) continue;
      part.share = 0.0;
      again = true;
    }
    stage_ = Stage::done;
  }
  if (again) set_shares(p);
  return again;
}

}  // namespace stiction
