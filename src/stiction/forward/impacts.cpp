#include "stiction/forward/impacts.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/assemble/equality_rows.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Ref;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kPush = 1e-6;     // of |v|, what the push of `jam` changes it by: a thousand times the tolerance of the solves
constexpr double kCaught = 1e3;    // in pushes: what changes v by more is a jam
constexpr int kMostInTurn = 1000;  // with ε near 0 the impacts among n bodies die out like a geometric series, and never end

double speed_in(const ContactProblem& p, int i, const Ref<const VectorXd>& v) {
  Vector3d u = Vector3d::Zero();
  p.J.add_group_product(i, v, u);
  return u[0];
}

void copy_rows(const BlockRows& from, std::span<const int> sizes, BlockRows& to) {
  to.reset(from.height(), sizes);
  for (int g = 0; g < from.groups(); ++g) {
    to.add_group();
    for (int e = from.entry_begin(g); e < from.entry_end(g); ++e) to.add_entry(from.entry_block(e)) = from.entry(e);
  }
}

void append(GrowVector& x, double value) {
  const Index n = x.size();
  x.resize(n + 1);
  x[n] = value;
}

}  // namespace

// All contacts, or one. Their gaps are none.
void Impacts::assemble_problem(const EventSetting& setting, const WorldData& data, const Ref<const VectorXd>& q, const VectorXd& v,
                               int only) {
  closed_ = setting.assemble;
  closed_.joint_limits = closed_.dry_friction = false;
  closed_.drives.velocity.clear();
  closed_.drives.servos.clear();
  closed_.spring_ahead = closed_.damping_share = 0.0;
  taken_.clear();
  taken_index_.clear();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (only != kAll && static_cast<std::size_t>(only) != i) continue;
    taken_.push_back(contacts[i]);
    taken_index_.push_back(i);
  }
  ContactProblem& p = problem_;
  assemble(setting.world, data, q, v, setting.tau, taken_, closed_, p);
  p.impulse.setZero();
  p.b.setZero();
  p.gap.setZero();
  for (Law& law : p.laws) law = impact_law(law);
  for (int i = 0; i < p.contacts(); ++i) {
    const double speed = speed_in(p, i, v);
    if (!(-p.restitution[i] * speed > setting.events.rest_speed)) p.restitution[i] = 0.0;
    if (!(speed > setting.events.rest_speed)) continue;
    const Law law = p.laws.empty() ? setting.contact.law : p.laws[i];
    // Friction of a half space needs no load, and would hold a contact that leaves.
    if (!terms_of(law, p.mu[i], material_of(p.material, i)).is_half_space()) continue;
    if (p.laws.empty()) p.laws.assign(taken_.size(), impact_law(setting.contact.law));
    p.laws[i] = Law::frictionless;
  }
  for (const ClosedRow& r : rows) {
    p.J_b.add_group();
    p.J_b.add_entry(r.block)(0, r.v - p.M.offset(r.block)) = r.sign;
    append(p.b, r.target);
    append(p.lo, r.lo);
    append(p.hi, r.hi);
    p.row_kinds.push_back(r.kind);
    p.row_ids.push_back(r.id);
  }
}

bool Impacts::solve_problem(const EventSetting& setting, const ContactProblem& problem, double acceptable) {
  SolveOptions options = under(setting.contact, impact_law(setting.contact.law));
  options.acceptable = acceptable;
  options.warm_start = false;  // an impact is no continuation of anything
  workspace_.choice.last.resize(0);
  solve(problem, options, workspace_, solution_);
  tally.count(solution_);
  const bool taken = solution_.status == Status::solved || solution_.certificate.worst() <= acceptable;
  if (taken) tally.note(solution_);
  return taken;
}

// Newton's impact, again as often as its bounces give energy (bounces.hpp).
bool Impacts::solve_bounces(const EventSetting& setting) {
  ContactProblem& p = problem_;
  asked_ = p.restitution;
  bounces_.start();
  bool taken = solve_problem(setting, p, setting.contact.acceptable);
  while (bounces_.weaken(p, impact_law(setting.contact.law), solution_, taken)) {
    p.restitution = asked_;
    bounces_.apply(p);
    taken = solve_problem(setting, p, setting.contact.acceptable);
  }
  return taken;
}

// From v_c, with the impulses of compression in `compression_`.
bool Impacts::expand(const EventSetting& setting, VectorXd& v) {
  const ContactProblem& p = problem_;
  const int n = p.contacts(), nv = p.velocities();
  sizes_.assign(p.M.sizes().begin(), p.M.sizes().end());
  pressed_.clear();
  for (int i = 0; i < n; ++i) {
    const double known = restitution_[i] * compression_[3 * i];
    if (known > 0.0) pressed_.push_back(i);
    if (known > 0.0) sizes_.push_back(1);
  }
  if (pressed_.empty()) return true;
  ContactProblem& e = expansion_;
  const int world_blocks = p.M.blocks();
  e.dt = p.dt;
  e.M.reset(sizes_);
  for (int k = 0; k < world_blocks; ++k) e.M.block(k) = p.M.block(k);
  copy_rows(p.J, sizes_, e.J);
  copy_rows(p.J_b, sizes_, e.J_b);
  e.v.setZero(e.M.size());
  e.v.head(nv) = v;
  e.impulse.setZero(e.M.size());
  e.mu = p.mu;
  e.laws = p.laws;
  e.material = p.material;
  for (std::size_t k = 0; k < pressed_.size(); ++k) {
    const int i = pressed_[k], block = world_blocks + static_cast<int>(k);
    const double known = restitution_[i] * compression_[3 * i];
    p.J.add_group_transposed(i, Vector3d(known, 0.0, 0.0), e.impulse.head(nv));
    e.M.block(block)(0, 0) = compression_[3 * i] / approach_[i];
    e.impulse[e.M.offset(block)] = -known;
    e.J.add_group();
    for (int entry = p.J.entry_begin(i); entry < p.J.entry_end(i); ++entry) {
      e.J.add_entry(p.J.entry_block(entry)).bottomRows(2) = p.J.entry(entry).bottomRows(2);
    }
    e.J.add_entry(block)(0, 0) = 1.0;
    append(e.mu, p.mu[i]);
    if (!e.laws.empty()) e.laws.push_back(p.laws[i]);
    if (!e.material.empty()) e.material.push_back(p.material[i]);
  }
  e.restitution.setZero(e.J.groups());
  e.gap.setZero(e.J.groups());
  e.b = p.b;
  e.lo = p.lo;
  e.hi = p.hi;
  e.row_kinds = p.row_kinds;
  e.ids.clear();
  e.row_ids = p.row_ids;
  if (!solve_problem(setting, e, setting.contact.acceptable)) return false;
  v = solution_.v.head(nv);
  for (std::size_t k = 0; k < pressed_.size(); ++k) {
    const Index own = 3 * static_cast<Index>(n + static_cast<int>(k));
    solution_.impulses.segment<3>(3 * pressed_[k]) += solution_.impulses.segment<3>(own);
  }
  return true;
}

bool Impacts::meet_once(const EventSetting& setting, const WorldData& data, const Ref<const VectorXd>& q, int only, VectorXd& v) {
  assemble_problem(setting, data, q, v, only);
  ContactProblem& p = problem_;
  const bool poisson = setting.events.impact == ImpactModel::poisson && p.restitution.size() > 0 && p.restitution.maxCoeff() > 0.0;
  if (poisson) {
    approach_.resize(p.contacts());
    for (int i = 0; i < p.contacts(); ++i) approach_[i] = std::max(-speed_in(p, i, v), setting.events.rest_speed);
    restitution_ = p.restitution;
    p.restitution.setZero();
  }
  if (!solve_bounces(setting)) return false;
  const auto note = [&] {
    for (std::size_t k = 0; k < taken_index_.size(); ++k) {
      impulses_.segment<3>(3 * static_cast<Index>(taken_index_[k])) += solution_.impulses.segment<3>(3 * static_cast<Index>(k));
    }
    bounded_impulses_ += solution_.bounded_impulses;
  };
  v = solution_.v;
  note();
  if (!poisson) return true;
  compression_ = solution_.impulses;
  solution_.impulses.setZero();
  solution_.bounded_impulses.setZero();
  if (!expand(setting, v)) return false;
  note();
  return true;
}

bool Impacts::meet(const EventSetting& setting, const WorldData& data, const Ref<const VectorXd>& q, VectorXd& v) {
  impulses_.setZero(3 * std::ssize(contacts));
  bounded_impulses_.setZero(count_equality_rows(setting.world) + std::ssize(rows));
  before_ = v;
  const auto give_up = [&] {
    v = before_;
    return false;
  };
  for (int turn = 0; setting.events.order == ImpactOrder::sequential && turn < kMostInTurn; ++turn) {
    int fastest = kAll;
    double speed = setting.events.rest_speed;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const double approach = -contact_velocity(setting.world, data, contacts[i], v)[0];
      if (approach > speed) {
        speed = approach;
        fastest = static_cast<int>(i);
      }
    }
    if (fastest == kAll) break;
    if (!meet_once(setting, data, q, fastest, v)) return give_up();
  }
  if (setting.events.order == ImpactOrder::sequential && !still_coming(setting, data, v)) return true;
  return meet_once(setting, data, q, kAll, v) || give_up();
}

// Whether a contact or row still comes in: impacts in turn end after kMostInTurn, and only contacts begin them.
bool Impacts::still_coming(const EventSetting& setting, const WorldData& data, const VectorXd& v) const {
  for (const ContactPoint& c : contacts) {
    if (contact_velocity(setting.world, data, c, v)[0] < -setting.events.rest_speed) return true;
  }
  return std::ranges::any_of(rows, [&](const ClosedRow& r) {
    const double slip = r.sign * v[r.v] - r.target;
    return slip < -setting.events.rest_speed || (std::isinf(r.lo) && std::abs(slip) > setting.events.rest_speed);
  });
}

bool Impacts::jam(const EventSetting& setting, const WorldData& data, const Ref<const VectorXd>& q, const GrowVector& free, VectorXd& v) {
  impulses_.setZero(3 * std::ssize(contacts));
  bounded_impulses_.setZero(count_equality_rows(setting.world) + std::ssize(rows));
  assemble_problem(setting, data, q, v, kAll);
  ContactProblem& p = problem_;
  p.restitution.setZero();
  const double speed = v.norm(), acceleration = free.norm();
  if (!(speed > 0.0 && acceleration > 0.0)) return false;
  const double push = kPush * speed / acceleration;
  p.M.multiply(free, p.impulse);
  p.impulse *= push;
  if (!solve_problem(setting, p, 0.0)) return false;
  if (!((solution_.v - v).norm() > kCaught * kPush * speed)) return false;
  v = solution_.v;
  impulses_ = solution_.impulses;
  bounded_impulses_ = solution_.bounded_impulses;
  return true;
}

}  // namespace stiction
