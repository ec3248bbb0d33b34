#include "stiction/programs/lcp/ppm.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using ConstRows = Eigen::Ref<const RowMatrix>;
using ConstVector = Eigen::Ref<const Eigen::VectorXd>;

constexpr double kRoundingProof = 1e-13, kFarBeyond = 1e6;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// One solve: the active set K, the factor A_Kᵀ = Q [R; 0], z_K >= 0 with A_K A_Kᵀ z_K = -q_K, and y = A_Kᵀ z_K.
class ActiveSet {
 public:
  ActiveSet(const ConstRows& A, const ConstVector& q, const PpmOptions& options, PpmWorkspace& workspace, PpmSolution& solution)
      : A_(A),
        q_(q),
        options_(options),
        ws_(workspace),
        solution_(solution),
        n_(static_cast<int>(A.rows())),
        r_(static_cast<int>(A.cols())) {
    max_pivots_ = options.max_pivots > 0 ? options.max_pivots : 100 + 20 * (n_ + r_);
  }

  Status run(std::span<const int> warm);

 private:
  enum class Step { entered, unbounded, pivot_limit };

  const double* row(int i) const { return A_.data() + A_.outerStride() * i; }
  auto row_vector(int i) const { return Eigen::Map<const Eigen::VectorXd>(row(i), r_); }
  int rank() const { return ws_.basis.rank(); }
  bool is_null(int i) const { return ws_.inverse_norm[i] == 0.0; }

  void measure_rows();
  int unreachable_row() const;
  void warm_start(std::span<const int> warm);
  void solve_active();
  void drop_negative();
  void drop(int position);
  int most_violated();
  Step enter(int p);
  int blocking_position(int p, double& step) const;
  Status give_up(int p);
  Status finish();

  const ConstRows& A_;
  const ConstVector& q_;
  const PpmOptions& options_;
  PpmWorkspace& ws_;
  PpmSolution& solution_;
  int n_, r_, max_pivots_ = 0;
  double length_ = 0.0;  ///< |y|, enlarged where the terms of y cancel to rounding
};

/// 1/|a_i|, zero for rows that are rounding noise beside the others. Throws on NaN and infinity.
void ActiveSet::measure_rows() {
  double largest = 0.0, check = q_.sum();
  for (int i = 0; i < n_; ++i) {
    const double square = row_vector(i).squaredNorm();
    ws_.inverse_norm[i] = square;
    largest = std::max(largest, square);
    check += square;
  }
  if (!std::isfinite(check)) throw InvalidArgument("A, q", "finite entries of representable size", std::to_string(check));
  const double least = 1e-30 * largest;
  for (int i = 0; i < n_; ++i) ws_.inverse_norm[i] = ws_.inverse_norm[i] > least ? 1.0 / std::sqrt(ws_.inverse_norm[i]) : 0.0;
}

/// A row a_i = 0 with q_i < 0: nothing can satisfy it.
int ActiveSet::unreachable_row() const {
  for (int i = 0; i < n_; ++i) {
    if (is_null(i) && q_[i] < 0.0) return i;
  }
  return -1;
}

void ActiveSet::warm_start(std::span<const int> warm) {
  for (const int i : warm) {
    if (rank() == r_) break;
    if (i < 0 || i >= n_ || is_null(i) || std::find(ws_.active.begin(), ws_.active.end(), i) != ws_.active.end()) continue;
    const double tail = ws_.basis.project(row(i), ws_.d.data());
    if (tail * ws_.inverse_norm[i] <= options_.rank_tolerance) continue;
    ws_.basis.append(ws_.d.data());
    ws_.active.push_back(i);
  }
  solve_active();
  drop_negative();
}

/// z_K = -(RᵀR)⁻¹ q_K with one step of refinement on the rows themselves, then y = A_Kᵀ z_K.
void ActiveSet::solve_active() {
  const int k = rank();
  ws_.z_active.resize(k);
  ws_.correction.resize(k);
  ws_.z_active.setZero();
  solution_.y.setZero();
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (int j = 0; j < k; ++j) ws_.correction[j] = -q_[ws_.active[at(j)]] - row_vector(ws_.active[at(j)]).dot(solution_.y);
    ws_.basis.solve_lower(ws_.correction.data());
    ws_.basis.solve_upper(ws_.correction.data());
    for (int j = 0; j < k; ++j) {
      ws_.z_active[j] += ws_.correction[j];
      solution_.y += ws_.correction[j] * row_vector(ws_.active[at(j)]);
    }
  }
  constexpr double kRounding = 2e-15;
  double terms = 0.0;
  for (int j = 0; j < k; ++j) terms += std::abs(ws_.z_active[j]) / ws_.inverse_norm[ws_.active[at(j)]];
  length_ = solution_.y.norm() + kRounding / options_.tolerance * terms;
}

void ActiveSet::drop(int position) {
  ws_.basis.remove(position);
  ws_.active.erase(ws_.active.begin() + position);
  const int k = rank();
  for (int j = position; j < k; ++j) ws_.z_active[j] = ws_.z_active[j + 1];
  ws_.z_active.resize(k);
  ++solution_.pivots;
}

/// [ZD15, Alg. 2, lines 18-22]: the index of least z leaves until none is negative.
void ActiveSet::drop_negative() {
  constexpr double kRounding = 1e-14;
  while (rank() > 0) {
    Eigen::Index worst = 0;
    const double least = ws_.z_active.minCoeff(&worst);
    if (least >= -kRounding * ws_.z_active.lpNorm<Eigen::Infinity>()) return;
    drop(static_cast<int>(worst));
    solve_active();
  }
}

/// Fills w = A y + q; the row of least w_i / |a_i|, or -1 when all are non-negative to tolerance.
int ActiveSet::most_violated() {
  int worst = -1;
  double least = -options_.tolerance * length_;
  for (int i = 0; i < n_; ++i) {
    const double w = row_vector(i).dot(solution_.y) + q_[i];
    solution_.w[i] = w;
    const double violation = (w + options_.tolerance * std::abs(q_[i])) * ws_.inverse_norm[i];
    if (violation < least) {
      least = violation;
      worst = i;
    }
  }
  return worst;
}

/// The active index whose z reaches zero first as z_p grows and z_K falls by `direction`; -1 when none does.
int ActiveSet::blocking_position(int p, double& step) const {
  constexpr double kSmallest = 1e-11;
  int blocking = -1;
  step = kInfinity;
  for (int j = 0; j < rank(); ++j) {
    const double speed = ws_.direction[j];
    if (!(speed * ws_.inverse_norm[p] > kSmallest * ws_.inverse_norm[ws_.active[at(j)]])) continue;
    const double reach = std::max(ws_.z_active[j], 0.0) / speed;
    if (reach < step) {
      step = reach;
      blocking = j;
    }
  }
  return blocking;
}

/// Row p enters the active set along the path that keeps z >= 0; rows that block it leave on the way.
ActiveSet::Step ActiveSet::enter(int p) {
  while (true) {
    const double tail = ws_.basis.project(row(p), ws_.d.data());
    const int k = rank();
    ws_.direction.resize(k);
    for (int j = 0; j < k; ++j) ws_.direction[j] = ws_.d[j];
    ws_.basis.solve_upper(ws_.direction.data());
    const bool independent = k < r_ && tail * ws_.inverse_norm[p] > options_.rank_tolerance;
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
      solution_.y -= step * ws_.direction[j] * row_vector(ws_.active[at(j)]);
    }
    solution_.y += step * row_vector(p);
    drop(blocking);
  }
}

/// a_p = Σ direction_j a_j with no direction_j > 0: u = e_p - Σ direction_j e_j >= 0 has Aᵀu = 0 and q·u < 0. Since
/// 0 <= u·(A y + q), any solution has |y| >= -q·u / |Aᵀu|: a proof when that is far beyond the problem's own scale.
Status ActiveSet::give_up(int p) {
  GrowVector& u = solution_.ray;
  u.setZero(n_);
  u[p] = 1.0;
  for (int j = 0; j < rank() && !is_null(p); ++j) u[ws_.active[at(j)]] = std::max(-ws_.direction[j], 0.0);
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

/// Writes z, w and the residual of the active set as it stands, w = A y + q being up to date.
Status ActiveSet::finish() {
  solution_.z.setZero(n_);
  double residual = 0.0;
  for (int i = 0; i < n_; ++i) {
    if (is_null(i)) solution_.w[i] = q_[i];
    const double size = std::abs(q_[i]) + (is_null(i) ? 0.0 : length_ / ws_.inverse_norm[i]);
    if (solution_.w[i] < 0.0 && size > 0.0) residual = std::max(residual, -solution_.w[i] / size);
    solution_.w[i] = std::max(solution_.w[i], 0.0);
  }
  for (int j = 0; j < rank(); ++j) {
    const int i = ws_.active[at(j)];
    const double size = std::abs(q_[i]) + length_ / ws_.inverse_norm[i];
    solution_.z[i] = std::max(ws_.z_active[j], 0.0);
    residual = std::max(residual, solution_.w[i] / size);
    solution_.w[i] = 0.0;
  }
  solution_.residual = residual;
  return residual <= 2.0 * options_.tolerance ? Status::solved : Status::inaccurate;
}

Status ActiveSet::run(std::span<const int> warm) {
  measure_rows();
  solution_.y.setZero(r_);
  ws_.basis.reset(r_);
  const int null = unreachable_row();
  if (q_.size() > 0 && q_.minCoeff() < 0.0 && null < 0) warm_start(warm);
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

void ppm(const ConstRows& A, const ConstVector& q, std::span<const int> warm, const PpmOptions& options, PpmWorkspace& workspace,
         PpmSolution& solution) {
  const Eigen::Index n = A.rows(), r = A.cols();
  require_size("q", q.size(), n);
  workspace.inverse_norm.resize(n);
  workspace.d.resize(r);
  workspace.direction.reserve(r);
  workspace.z_active.reserve(r);
  workspace.correction.reserve(r);
  workspace.active.clear();
  workspace.active.reserve(at(static_cast<int>(r)));
  solution.y.resize(r);
  solution.w.resize(n);
  solution.ray.reserve(n);
  solution.ray.resize(0);
  solution.infeasible = false;
  solution.pivots = 0;
  solution.regularisation = 0.0;
  solution.status = ActiveSet(A, q, options, workspace, solution).run(warm);
  solution.active.reserve(at(static_cast<int>(r)));
  solution.active.assign(workspace.active.begin(), workspace.active.end());
}

}  // namespace stiction
