#include "stiction/forward/loop_drift.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/forward/kinematic_trees.hpp"

namespace stiction {

namespace {

constexpr double kMost = 1e2;          // of T_d
constexpr double kThrown = 1.25;       // of what motion had: smooth motion leaves that as it was, to a step's order
constexpr double kHair = 1e-4;         // axes that a file gives by five digits are parallel to it (1.5708 for π/2)
constexpr double kSameSpeed = 1e-9;    // of a speed: kClosing but for rounding
constexpr double kRoundedSum = 1e-12;  // of the terms of a sum: what a solve leaves of impulses that hold a weight at rest
constexpr double kAlone = 2.0;         // of the energy of joints that return alone: what they take along may be as heavy

bool is_loop(const ContactProblem& p, int row) { return row_kind(p, row) == RowKind::equality; }

/// These rows, of one point or one turn, ask for kClosing or more: of that itself for what was open before, of more for a step's drift.
bool asks_much(const ContactProblem& p, int begin, int rows) { return p.b.segment(begin, rows).norm() >= (1.0 - kSameSpeed) * kClosing; }
bool was_open(const ContactProblem& p, int begin, int rows) {
  return asks_much(p, begin, rows) && p.b.segment(begin, rows).norm() <= (1.0 + kSameSpeed) * kClosing;
}

double magnitude(const GrowVector& x, const GrowVector& y) { return x.cwiseAbs().dot(y.cwiseAbs()); }

/// Set of the first block that a row touches.
int set_of(const std::vector<int>& set_of_block, const BlockRows& rows, int row) {
  const int e = rows.entry_begin(row);
  return e == rows.entry_end(row) ? -1 : set_of_block[rows.entry_block(e)];
}

/// The most inertia that a joint moves, from its row, which has one entry for each side of it.
double inertia_along(const BlockDiagonal& M, const BlockRows& rows, int row) {
  double most = 0.0;
  for (int e = rows.entry_begin(row); e < rows.entry_end(row); ++e) {
    most = std::max(most, twice_energy(M.block(rows.entry_block(e)), rows.entry(e).row(0).transpose()));
  }
  return most;
}

}  // namespace

bool is_return(const ContactProblem& p, int row) { return row_kind(p, row) == RowKind::limit && p.hi[row] < kInfinity && p.b[row] > 0.0; }

void LoopDrift::start() {
  motion_.resize(0);
  withheld_.clear();
  repeated_.clear();
  closing_.clear();
  returns_ = false;
}

void LoopDrift::read_sets(const ContactProblem& p, const Reduction& red) {
  set_of_.assign(p.M.blocks(), -1);
  has_loop_.assign(red.coupled_sets, 0);
  for (int c = 0; c < red.coupled_sets; ++c)
    has_loop_[c] = std::ranges::any_of(red.coupled[c].bilateral, [&](int row) { return is_loop(p, row); }) ? 1 : 0;
  for (int k = 0; k < p.M.blocks(); ++k) {
    if (p.M.block_size(k) == 0) continue;
    const int block = red.block_of[p.M.offset(k)], set = block < 0 ? -1 : red.blocks[block].coupled;
    if (set >= 0 && has_loop_[set] != 0) set_of_[k] = set;
  }
  int first = p.bounded_rows();
  while (first > 0 && is_loop(p, first - 1)) --first;
  first_row_ = first;
  withheld_.resize(p.bounded_rows() - first, 0);
}

// The reduction of the problem, or of its loops alone where joints in their sets are driven without limits: of rows that drives hold as
// well the other loops may leave all.
const Reduction& LoopDrift::reduction_of_loops(const ContactProblem& p, const Reduction& red) {
  bool driven = false;
  for (int c = 0; c < red.coupled_sets; ++c)
    driven = driven || (has_loop_[c] != 0 && !std::ranges::all_of(red.coupled[c].bilateral, [&](int row) { return is_loop(p, row); }));
  if (!driven) return red;
  const Eigen::Index rows = std::ssize(withheld_);
  loops_.dt = p.dt;
  loops_.M = p.M;
  loops_.v = p.v;
  loops_.impulse = p.impulse;
  loops_.J.reset(3, p.M.sizes());
  loops_.J_b.reset(1, p.M.sizes());
  for (int row = first_row_; row < p.bounded_rows(); ++row) loops_.J_b.append_group(p.J_b, row);
  loops_.b.setZero(rows);
  loops_.lo = Eigen::VectorXd::Constant(rows, -kInfinity);
  loops_.hi = Eigen::VectorXd::Constant(rows, kInfinity);
  reduce(loops_, alone_);
  return alone_;
}

bool LoopDrift::leave_repeated(const World& world, const ContactProblem& p, const Reduction& red, bool solved) {
  read_sets(p, red);
  repeated_.resize(withheld_.size(), 0);
  length_.setZero(std::ssize(withheld_));
  left_.setZero(std::ssize(withheld_));
  const Reduction& loops = reduction_of_loops(p, red);
  const int first = &loops == &red ? first_row_ : 0;  // of the loops in that reduction's problem
  for (int c = 0; c < loops.coupled_sets; ++c) {
    const Reduction::Coupled& set = loops.coupled[c];
    for (int r = 0; r < std::ssize(set.bilateral); ++r) {
      if (set.bilateral[r] < first) continue;
      length_[set.bilateral[r] - first] = set.null_space.length(r);
      left_[set.bilateral[r] - first] = set.null_space.left(r);
    }
  }
  bool any = false;
  const auto look = [&](int begin, int rows) {
    for (int r = begin; r < begin + rows; ++r) {
      const bool is_asked = length_[r] > 0.0 && (left_[r] > 0.0 || !solved);
      if (!is_asked || left_[r] > kHair * length_.segment(begin, rows).maxCoeff()) continue;
      repeated_[r] = 1;
      any = true;
    }
  };
  int row = 0;
  for (const Equality& e : world.equalities()) {
    const int rows = count_rows(e.kind), shifts = count_shifts(e.kind);
    look(row, shifts);
    look(row + shifts, rows - shifts);
    row += rows;
  }
  return any;
}

double LoopDrift::energy_of(int set, const BlockDiagonal& M, const GrowVector& v) const {
  double energy = 0.0;
  for (int k = 0; k < M.blocks(); ++k) {
    if (set_of_[k] != set) continue;
    energy += 0.5 * twice_energy(M.block(k), v.segment(M.offset(k), M.block_size(k)));
  }
  return energy;
}

// T_1: shifts move the mass, turns turn it about the loop's point, and coupled joints all that is beyond them.
double LoopDrift::as_one(int set, const World& world, const WorldData& data, const ContactProblem& p) const {
  double inertia = 0.0;
  int row = first_row_;
  for (const Equality& e : world.equalities()) {
    const int rows = count_rows(e.kind), begin = row, shifts = count_shifts(e.kind);
    row += rows;
    if (set_of(set_of_, p.J_b, begin) != set) continue;
    const bool shifted = asks_much(p, begin, shifts), turned = asks_much(p, begin + shifts, rows - shifts);
    if (!shifted && !turned) continue;
    if (e.kind == EqualityKind::joint) {
      const Joint& joint = world.joints()[e.joint_a];
      const int at = joint.v - data.M.offset(joint.block);
      inertia += data.M.block(joint.block)(at, at);
      continue;
    }
    const Eigen::Vector3d point = data.X_WB[e.body_a] * e.X_AF.translation();
    for (std::size_t i = 0; i < world.bodies().size(); ++i) {
      const Body& body = world.bodies()[i];
      if (body.block < 0 || set_of_[body.block] != set) continue;
      if (shifted) inertia += body.mass;
      if (turned) inertia += body.inertia.trace() + body.mass * (data.X_WB[i] * body.com - point).squaredNorm();
    }
  }
  return 0.5 * inertia * kClosing * kClosing;
}

bool LoopDrift::withhold_thrown(const World& world, const WorldData& data, const ContactProblem& p, Reduction& red) {
  read_sets(p, red);
  if (p.b.tail(p.bounded_rows() - first_row_).isZero(0.0)) return false;
  least_motion_of(p, red, asked_);
  rates_.setZero(p.bounded_rows());
  // What was open before has no motion of its own to compare with: closing has made it, and would make more of it in every step.
  int first = first_row_;
  for (const Equality& e : world.equalities()) {
    const int rows = count_rows(e.kind), shifts = count_shifts(e.kind);
    for (const int count : {shifts, rows - shifts}) {
      const int end = first + count;
      for (int row = was_open(p, first, count) ? end : first; row < end; ++row) p.J_b.add_group_product(row, p.v, rates_.segment<1>(row));
      first = end;
    }
  }
  least_motion(red, rates_, before_);
  bool any = false;
  for (int set = 0; set < red.coupled_sets; ++set) {
    if (has_loop_[set] == 0) continue;
    const double taken = energy_of(set, data.M, asked_), had = energy_of(set, data.M, before_);
    if (taken <= kThrown * had || taken <= kThrown * (had + as_one(set, world, data, p))) continue;
    double mass = 0.0;
    for (const Body& body : world.bodies()) mass += body.block >= 0 && set_of_[body.block] == set ? body.mass : 0.0;
    const double most = std::max(energy_of(set, data.M, p.v), 0.5 * mass * kClosing * kClosing);
    any = true;
    closing_.resize(red.coupled_sets, 0.0);
    closing_[set] = taken;
    if (motion_.size() == 0) motion_.setZero(p.velocities());
    for (int k = 0; k < p.M.blocks(); ++k) {
      if (set_of_[k] != set) continue;
      motion_.segment(p.M.offset(k), p.M.block_size(k)) +=
          std::min(1.0, std::sqrt(most / taken)) * asked_.segment(p.M.offset(k), p.M.block_size(k));
    }
    for (std::size_t r = 0; r < withheld_.size(); ++r) {
      if (set_of(set_of_, p.J_b, first_row_ + static_cast<int>(r)) == set) withheld_[r] = 1;
    }
  }
  return any;
}

bool LoopDrift::withhold(const ContactProblem& p, Reduction& red) {
  read_sets(p, red);
  if (p.b.tail(p.bounded_rows() - first_row_).isZero(0.0)) return false;
  least_motion_of(p, red, asked_);
  if (motion_.size() == 0) motion_.setZero(p.velocities());
  motion_ += asked_;
  std::ranges::fill(withheld_, 1);
  return true;
}

bool LoopDrift::withhold_returns(const BlockDiagonal& M, const ContactProblem& p, const Solution& s, const Reduction& red) {
  if (returns_) return false;
  read_sets(p, red);
  allowed_.assign(red.coupled_sets, 0.0);
  for (int row = 0; row < first_row_; ++row) {
    const int set = set_of(set_of_, p.J_b, row);
    if (set < 0 || !is_return(p, row)) continue;
    returns_ = true;
    allowed_[set] += kAlone * 0.5 * inertia_along(M, p.J_b, row) * kClosing * kClosing;
  }
  if (returns_) with_returns_ = s.v;
  return returns_;
}

void LoopDrift::take_returns(const BlockDiagonal& M, const GrowVector& v_plus) {
  change_ = with_returns_ - v_plus;
  if (motion_.size() == 0) motion_.setZero(v_plus.size());
  for (int k = 0; k < M.blocks(); ++k) {
    const int set = set_of_[k];
    if (set < 0) continue;
    const double energy = energy_of(set, M, change_), closing = set < std::ssize(closing_) ? closing_[set] : 0.0;
    if (!(energy <= allowed_[set] && energy >= kMost * closing)) continue;
    motion_.segment(M.offset(k), M.block_size(k)) += change_.segment(M.offset(k), M.block_size(k));
  }
}

void LoopDrift::apply(ContactProblem& p) const {
  const int first = p.bounded_rows() - static_cast<int>(withheld_.size());
  for (std::size_t r = 0; r < withheld_.size(); ++r) {
    const int row = first + static_cast<int>(r);
    const bool repeated = r < repeated_.size() && repeated_[r] != 0;
    if (withheld_[r] != 0 || repeated) p.b[row] = 0.0;
    for (int e = p.J_b.entry_begin(row); repeated && e < p.J_b.entry_end(row); ++e) p.J_b.entry(e).setZero();
  }
  for (int row = 0; returns_ && row < first; ++row) {
    if (is_return(p, row) && set_of(set_of_, p.J_b, row) >= 0) p.b[row] = 0.0;
  }
}

void LoopDrift::least_motion_of(const ContactProblem& p, Reduction& red, GrowVector& motion) {
  rates_.setZero(p.bounded_rows());
  for (const int row : red.bilateral) {
    if (row_kind(p, row) == RowKind::equality) rates_[row] = p.b[row];
  }
  least_motion(red, rates_, motion);
}

bool LoopDrift::is_magnified(const ContactProblem& p, const Solution& s, Reduction& red, double notable) {
  least_motion_of(p, red, asked_);
  momentum_.resize(p.velocities());
  p.M.multiply(asked_, momentum_);
  const double own = 0.5 * asked_.dot(momentum_);
  // v_d·r, of r = M (v⁺ - v) - p less the impulses of bilateral rows.
  double power = momentum_.dot(s.v) - momentum_.dot(p.v) - asked_.dot(p.impulse);
  double terms = magnitude(momentum_, s.v) + magnitude(momentum_, p.v) + magnitude(asked_, p.impulse);
  for (const int row : red.bilateral) {
    Eigen::Matrix<double, 1, 1> rate(0.0);
    p.J_b.add_group_product(row, asked_, rate);
    power -= s.bounded_impulses[row] * rate[0];
    terms += std::abs(s.bounded_impulses[row] * rate[0]);
  }
  change_ = s.v - red.v_free;
  change_momentum_.resize(p.velocities());
  p.M.multiply(change_, change_momentum_);
  const double given = -power - 0.5 * change_.dot(change_momentum_);
  p.M.multiply(s.v, momentum_);
  return given > std::max({kMost * own, notable * 0.5 * s.v.dot(momentum_), kRoundedSum * terms});
}

void LoopDrift::add(GrowVector& velocity) const {
  if (motion_.size() > 0) velocity += motion_;
}

}  // namespace stiction
