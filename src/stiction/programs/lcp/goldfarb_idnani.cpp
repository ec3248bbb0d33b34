#include "stiction/programs/lcp/goldfarb_idnani.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using ConstRows = Eigen::Ref<const RowMatrix>;
using ConstVector = Eigen::Ref<const Eigen::VectorXd>;

constexpr double kRoundingProof = 1e-13, kFarBeyond = 1e6;

class DualActiveSet : ActiveRows {
 public:
  using ActiveRows::ActiveRows;

  Status run(std::span<const int> warm);

 private:
  enum class Step { entered, unbounded, pivot_limit };

  void drop(int position);
  void drop_negative();
  Step enter(int p);
  int blocking_position(int p, double& step) const;
  Status give_up(int p);
};

void DualActiveSet::drop(int position) {
  remove(position);
  const int k = rank();
  for (int j = position; j < k; ++j) ws_.z_active[j] = ws_.z_active[j + 1];
  ws_.z_active.resize(k);
  ++solution_.pivots;
}

/// The index of least z leaves until none is negative.
void DualActiveSet::drop_negative() {
  for (int worst = most_negative(); worst >= 0; worst = most_negative()) {
    drop(worst);
    solve_active();
  }
}

/// The active index whose z reaches zero first as z_p grows and z_K falls by `direction`; -1 when none does.
int DualActiveSet::blocking_position(int p, double& step) const {
  constexpr double kSmallest = 1e-11;
  int blocking = -1;
  step = kInfinity;
  for (int j = 0; j < rank(); ++j) {
    const double speed = ws_.direction[j];
    if (!(speed * ws_.inverse_norm[p] > kSmallest * ws_.inverse_norm[ws_.active[j]])) continue;
    const double reach = std::max(ws_.z_active[j], 0.0) / speed;
    if (reach < step) {
      step = reach;
      blocking = j;
    }
  }
  return blocking;
}

/// Row p enters the active set along the path that keeps z >= 0; rows that block it leave on the way.
DualActiveSet::Step DualActiveSet::enter(int p) {
  while (true) {
    const double tail = ws_.basis.project(row(p), ws_.d.data());
    const int k = rank();
    ws_.direction.resize(k);
    for (int j = 0; j < k; ++j) ws_.direction[j] = ws_.d[j];
    ws_.basis.solve_upper(ws_.direction.data());
    const bool independent = k < r_ && is_independent(p, tail);
    const double w = row_vector(p).dot(solution_.y) + q_[p];
    const double full_step = independent ? std::max(-w, 0.0) / (tail * tail) : kInfinity;
    double step = 0.0;
    const int blocking = blocking_position(p, step);
    if (full_step <= step && independent) {
      ws_.basis.append(ws_.d.data());
      ws_.active.push_back(p);
      ++solution_.pivots;
      return Step::entered;
    }
    if (blocking < 0) return Step::unbounded;
    if (solution_.pivots >= max_pivots_) return Step::pivot_limit;
    for (int j = 0; j < k; ++j) {
      ws_.z_active[j] -= step * ws_.direction[j];
      solution_.y -= step * ws_.direction[j] * row_vector(ws_.active[j]);
    }
    solution_.y += step * row_vector(p);
    drop(blocking);
  }
}

/// a_p = Σ direction_j a_j with no direction_j > 0: u = e_p - Σ direction_j e_j >= 0 has Aᵀu = 0 and q·u < 0. Since
/// 0 <= u·(A y + q), any solution has |y| >= -q·u / |Aᵀu|: a proof when that is far beyond the problem's own scale.
Status DualActiveSet::give_up(int p) {
  GrowVector& u = solution_.ray;
  u.setZero(n_);
  u[p] = 1.0;
  for (int j = 0; j < rank() && !is_null(p); ++j) u[ws_.active[j]] = std::max(-ws_.direction[j], 0.0);
  u /= u.maxCoeff();
  double product = 0.0, terms = 0.0, lengths = 0.0;
  ws_.d.setZero();
  for (int i = 0; i < n_; ++i) {
    if (u[i] == 0.0) continue;
    product += q_[i] * u[i];
    terms += std::abs(q_[i]) * u[i];
    if (is_null(i)) continue;
    lengths += u[i] / ws_.inverse_norm[i];
    ws_.d += u[i] * row_vector(i);
  }
  solution_.infeasible = -product > kRoundingProof * terms && ws_.d.norm() * kFarBeyond * terms <= -product * lengths;
  return solution_.infeasible ? Status::infeasible : Status::inaccurate;
}

Status DualActiveSet::run(std::span<const int> warm) {
  const int null = unreachable_row();
  if (q_.size() > 0 && q_.minCoeff() < 0.0 && null < 0) {
    start_from(warm);
    solve_active();
    drop_negative();
  }
  Status outcome = Status::solved;
  if (null >= 0) outcome = give_up(null);
  for (int p = most_violated(); p >= 0 && outcome == Status::solved; p = most_violated()) {
    const Step step = solution_.pivots >= max_pivots_ ? Step::pivot_limit : enter(p);
    if (step == Step::unbounded) outcome = give_up(p);
    if (step == Step::pivot_limit) outcome = Status::iteration_limit;
    solve_active();
    drop_negative();
  }
  const Status final_point = finish();
  return outcome == Status::solved ? final_point : outcome;
}

}  // namespace

void goldfarb_idnani(const ConstRows& A, const ConstVector& q, std::span<const int> warm, const LowRankLcpOptions& options,
                     LowRankLcpWorkspace& workspace, LowRankLcpSolution& solution) {
  solution.status = DualActiveSet(A, q, options, workspace, solution).run(warm);
}

}  // namespace stiction
