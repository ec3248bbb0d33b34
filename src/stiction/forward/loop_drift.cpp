#include "stiction/forward/loop_drift.hpp"

#include <algorithm>

namespace stiction {

namespace {

constexpr double kMost = 1e2;  // of T_d

}  // namespace

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
  for (const int row : red.bilateral) {
    Eigen::Matrix<double, 1, 1> rate(0.0);
    p.J_b.add_group_product(row, asked_, rate);
    power -= s.bounded_impulses[row] * rate[0];
  }
  change_ = s.v - red.v_free;
  change_momentum_.resize(p.velocities());
  p.M.multiply(change_, change_momentum_);
  const double given = -power - 0.5 * change_.dot(change_momentum_);
  p.M.multiply(s.v, momentum_);
  return given > std::max(kMost * own, notable * 0.5 * s.v.dot(momentum_));
}

void LoopDrift::add(GrowVector& velocity) const {
  if (motion_.size() > 0) velocity += motion_;
}

}  // namespace stiction
