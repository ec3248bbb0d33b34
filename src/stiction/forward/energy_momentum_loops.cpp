// Closed loops in the energy-momentum scheme (energy_momentum.hpp): trees that they join, speeds that close them, their forces.
#include <algorithm>
#include <cmath>
#include <utility>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/forward/energy_momentum.hpp"

namespace stiction {

namespace {

using Eigen::VectorXd;

constexpr double kOpen = 1e-6;       // m, rad: of what is open by more, e' is J v only to ω e, and the loop closes at the speed asked for
constexpr double kClosedTo = 1e-15;  // m, rad, of coordinates of 1: a smaller miss is rounding, which 2 e/h would make a speed
constexpr double kRepeated = 1e-8;   // of a row of a loop: what is left of it beside the others comes from loops open by rounding

}  // namespace

void EnergyMomentum::find_groups(const World& world) {
  std::vector<int> group_of(trees_.size());
  for (std::size_t i = 0; i < trees_.size(); ++i) {
    group_of[i] = static_cast<int>(i);
    groups_.push_back({{static_cast<int>(i)}, !trees_[i].is_free});
  }
  const auto group_with = [&](int body) {
    const auto tree = std::ranges::find_if(trees_, [&](const Tree& t) { return std::ranges::find(t.bodies, body) != t.bodies.end(); });
    return tree == trees_.end() ? -1 : group_of[tree - trees_.begin()];
  };
  std::vector<int> body_of_row;
  for (const Equality& e : world.equalities()) {
    const bool joints = e.kind == EqualityKind::joint;
    const int a = group_with(joints ? world.joints()[e.joint_a].body : e.body_a);
    const int b = !joints ? group_with(e.body_b) : e.joint_b < 0 ? a : group_with(world.joints()[e.joint_b].body);
    const int kept = std::max(a, b), other = std::min(a, b);
    body_of_row.insert(body_of_row.end(), count_rows(e.kind), joints ? world.joints()[e.joint_a].body : a >= 0 ? e.body_a : e.body_b);
    if (kept < 0) continue;
    if (other < 0) groups_[kept].is_held = true;
    if (other < 0 || other == kept) continue;
    for (const int tree : groups_[other].trees) group_of[tree] = kept;
    groups_[kept].trees.insert(groups_[kept].trees.end(), groups_[other].trees.begin(), groups_[other].trees.end());
    groups_[kept].is_held = groups_[kept].is_held || groups_[other].is_held;
    groups_[other].trees.clear();
  }
  for (const int body : body_of_row) group_of_row_.push_back(group_with(body));
}

// The rows at x, b in loops_.b.
void EnergyMomentum::read_loops(const World& world, double recovery, const WorldData& data, const PhasePoint& x) {
  loops_.J_b.reset(1, world.block_sizes());
  loops_.row_kinds.clear();
  for (GrowVector* y : {&loops_.b, &loops_.lo, &loops_.hi}) y->resize(std::ssize(group_of_row_));
  Eigen::Index rows = 0;
  add_equality_rows(world, data, x.q, x.v, recovery, loops_, rows);
}

// Rows of J from `first` on, with the factors of M.
void EnergyMomentum::span_loops(const BlockRows& J, int first) {
  BlockRows& rows = span_.reset(J.block_sizes());
  for (int j = first; j < J.groups(); ++j) {
    rows.add_group();
    for (int e = J.entry_begin(j); e < J.entry_end(j); ++e) {
      RowMap entry = rows.add_entry(J.entry_block(e));
      entry = J.entry(e);
      Eigen::Map<VectorXd> column(entry.data(), entry.cols());
      std::as_const(factors_).block(J.entry_block(e)).triangularView<Eigen::Lower>().solveInPlace(column);
    }
  }
  span_.factor(kRepeated);
}

// v of the least energy, among those whose J v is the nearest to the speeds. right_ is scratch.
void EnergyMomentum::least_change(const GrowVector& speeds, VectorXd& v) {
  right_ = speeds;
  span_.particular(right_, v.data());
  unwhiten(v);
}

// Rows that depend on q itself (coupled joints) were assembled where the step began to look for its midpoint.
void EnergyMomentum::take_rows(ContactProblem& p, int first) const {
  for (int j = 0; j < loops_.bounded_rows(); ++j) {
    const int from = loops_.J_b.entry_begin(j), to = p.J_b.entry_begin(first + j);
    for (int e = 0; from + e < loops_.J_b.entry_end(j); ++e) p.J_b.entry(to + e) = loops_.J_b.entry(from + e);
  }
}

// What the loops ask of the step that begins at `from`.
void EnergyMomentum::start_loops(const World& world, double h, double recovery, const PhasePoint& from) {
  loops_.dt = h;
  read_loops(world, recovery, start_, from);
  recovery_ = asked_ = loops_.b;
  for (int j = 0; j < loops_.bounded_rows(); ++j) loops_.J_b.add_group_product(j, from.v, asked_.segment<1>(j));
  wanted_.resize(asked_.size());
  equality_row_errors(world, start_, from.q, wanted_);
  for (Group& group : groups_) group.is_open = false;
  for (std::size_t j = 0; j < group_of_row_.size(); ++j) {
    if (group_of_row_[j] >= 0 && !(std::abs(wanted_[j]) <= kOpen)) groups_[group_of_row_[j]].is_open = true;
  }
  wanted_ += 0.5 * h * asked_;
}

void EnergyMomentum::close_loops(ContactProblem& p) {
  const int rows = static_cast<int>(group_of_row_.size()), first = p.bounded_rows() - rows;  // assembled last
  if (rows == 0) return;
  speeds_ = asked_;
  if (known_) {
    take_rows(p, first);
    speeds_ = -miss_;
    pull_ = 2.0 * middle_.v;
    for (int j = 0; j < rows; ++j) p.J_b.add_group_product(first + j, pull_, speeds_.segment<1>(j));
  }
  factor(p.M);
  span_loops(p.J_b, first);
  least_change(speeds_, pull_);
  pull_ -= p.v;
  for (int j = 0; j < rows; ++j) {
    Eigen::Matrix<double, 1, 1> speed(0.0);
    p.J_b.add_group_product(first + j, pull_, speed);
    p.b[first + j] = speed[0];
  }
}

// scratch_, in the coordinates L⁻¹, and λ: J δv = -miss.
void EnergyMomentum::close_step() {
  pull_ = scratch_;
  unwhiten(pull_);
  right_ = miss_;
  for (int j = 0; j < loops_.bounded_rows(); ++j) loops_.J_b.add_group_product(j, pull_, right_.segment<1>(j));
  span_.particular(right_, pull_.data());
  scratch_ -= pull_;
  pull_ = -pull_;
  span_.multipliers(pull_.data(), right_);
  lambda_ += right_;
}

// The rows at q_m, what e(q⁺) misses, Jᵀλ, and the work that is the loops' own.
void EnergyMomentum::hold_loops(const World& world, double h, WorldData& data) {
  if (group_of_row_.empty()) return;
  place_free_roots(h, data);
  update_kinematics(world, middle_.q, data);
  read_loops(world, 0.0, data, middle_);
  measure_loops(world, h);
  span_loops(loops_.J_b, 0);
  held_loops_.setZero();
  loops_.J_b.add_transposed(lambda_, held_loops_);
  least_change(asked_, pull_);
  for (Group& group : groups_) group.loop_work = 0.0;
  for (int j = 0; j < loops_.bounded_rows(); ++j) {
    Eigen::Matrix<double, 1, 1> speed(0.0);
    loops_.J_b.add_group_product(j, pull_, speed);
    if (group_of_row_[j] >= 0) groups_[group_of_row_[j]].loop_work += 0.5 * lambda_[j] * speed[0];
  }
}

// By how much J (v + v⁺) is beyond what closes the loops, J that of loops_.
void EnergyMomentum::measure_loops(const World& world, double h) {
  if (group_of_row_.empty()) return;
  update_kinematics(world, last_.q, end_);
  miss_.resize(wanted_.size());
  equality_row_errors(world, end_, last_.q, miss_);
  miss_ -= wanted_;
  const double rounding = kClosedTo * std::max(1.0, largest_entry(last_.q));
  for (double& miss : miss_) miss = std::abs(miss) <= rounding ? 0.0 : 2.0 / h * miss;
  pull_ = 2.0 * middle_.v;
  for (int j = 0; j < loops_.bounded_rows(); ++j) {
    if (group_of_row_[j] < 0 || !groups_[group_of_row_[j]].is_open) continue;
    miss_[j] = -asked_[j];
    loops_.J_b.add_group_product(j, pull_, miss_.segment<1>(j));
  }
}

// J(q) v = b at x by the least change, -pull_.
void EnergyMomentum::close_speeds(const World& world, PhasePoint& x) {
  update(world, x.q, x.v, end_);
  read_loops(world, 0.0, end_, x);
  speeds_ = -recovery_;
  for (int j = 0; j < loops_.bounded_rows(); ++j) loops_.J_b.add_group_product(j, x.v, speeds_.segment<1>(j));
  factor(end_.M);
  span_loops(loops_.J_b, 0);
  least_change(speeds_, pull_);
  x.v -= pull_;
}

// J(q⁺) v⁺ = b, with the energy that v⁺ had: where b = 0 what is taken from it is across what is left.
void EnergyMomentum::settle_speeds(const World& world) {
  if (group_of_row_.empty()) return;
  close_speeds(world, last_);
  for (const Group& group : groups_) {
    if (group.trees.empty()) continue;
    const double taken = kinetic(group, end_, pull_), after = kinetic(group, end_, last_.v);
    inner_motion(group, end_, last_, pull_);
    const double inner = kinetic(group, end_, pull_);
    if (!(inner > kResting * (after + magnitude(world, group)))) continue;
    const double scale = std::sqrt(1.0 + taken / inner);
    for (const int i : group.trees)
      last_.v.segment(trees_[i].first, trees_[i].size) += (scale - 1.0) * pull_.segment(trees_[i].first, trees_[i].size);
  }
}

}  // namespace stiction
