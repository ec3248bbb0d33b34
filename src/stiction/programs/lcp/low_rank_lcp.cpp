#include "stiction/programs/lcp/low_rank_lcp.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "stiction/base/errors.hpp"

namespace stiction {

ActiveRows::ActiveRows(const Eigen::Ref<const RowMatrix>& A, const Eigen::Ref<const Eigen::VectorXd>& q, const LowRankLcpOptions& options,
                       LowRankLcpWorkspace& workspace, LowRankLcpSolution& solution)
    : A_(A),
      q_(q),
      options_(options),
      ws_(workspace),
      solution_(solution),
      n_(static_cast<int>(A.rows())),
      r_(static_cast<int>(A.cols())),
      max_pivots_(options.max_pivots > 0 ? options.max_pivots : 100 + 20 * (n_ + r_)) {
  require_size("q", q.size(), n_);
  if (!options.rounding.empty()) require_size("rounding", static_cast<Eigen::Index>(options.rounding.size()), n_);
  ws_.inverse_norm.resize(n_);
  ws_.d.resize(r_);
  ws_.direction.reserve(r_);
  ws_.z_active.reserve(r_);
  ws_.z_active.resize(0);
  ws_.correction.reserve(r_);
  ws_.active.clear();
  ws_.active.reserve(r_);
  ws_.basis.reset(r_);
  solution_.y.setZero(r_);
  solution_.w.resize(n_);
  solution_.ray.reserve(n_);
  solution_.ray.resize(0);
  solution_.infeasible = false;
  solution_.pivots = 0;
  measure_rows();
}

/// 1/|a_i|, zero for rows that are rounding, their own or beside the others. Throws on NaN and infinity.
void ActiveRows::measure_rows() {
  double largest = 0.0, check = q_.sum();
  for (int i = 0; i < n_; ++i) {
    const double square = row_vector(i).squaredNorm();
    ws_.inverse_norm[i] = square;
    largest = std::max(largest, square);
    check += square;
  }
  if (!std::isfinite(check)) throw InvalidArgument("A, q", "finite entries of representable size", std::to_string(check));
  const double least = 1e-30 * largest;
  for (int i = 0; i < n_; ++i) {
    const double square = ws_.inverse_norm[i];
    ws_.inverse_norm[i] = square > std::max(least, rounding(i) * rounding(i)) ? 1.0 / std::sqrt(square) : 0.0;
  }
}

int ActiveRows::unreachable_row() const {
  for (int i = 0; i < n_; ++i) {
    if (is_null(i) && q_[i] < -rounding(i) * options_.length) return i;
  }
  return -1;
}

void ActiveRows::start_from(std::span<const int> warm) {
  for (const int i : warm) {
    if (rank() == r_) break;
    if (i < 0 || i >= n_ || std::find(ws_.active.begin(), ws_.active.end(), i) != ws_.active.end()) continue;
    append(i);
  }
}

bool ActiveRows::append(int i) {
  if (is_null(i) || rank() == r_) return false;
  const double tail = ws_.basis.project(row(i), ws_.d.data());
  if (!is_independent(i, tail)) return false;
  ws_.basis.append(ws_.d.data());
  ws_.active.push_back(i);
  return true;
}

void ActiveRows::remove(int position) {
  ws_.basis.remove(position);
  ws_.active.erase(ws_.active.begin() + position);
}

void ActiveRows::solve_active() {
  const int k = rank();
  ws_.z_active.resize(k);
  ws_.correction.resize(k);
  ws_.z_active.setZero();
  solution_.y.setZero();
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (int j = 0; j < k; ++j) ws_.correction[j] = -q_[ws_.active[j]] - row_vector(ws_.active[j]).dot(solution_.y);
    ws_.basis.solve_lower(ws_.correction.data());
    ws_.basis.solve_upper(ws_.correction.data());
    for (int j = 0; j < k; ++j) {
      ws_.z_active[j] += ws_.correction[j];
      solution_.y += ws_.correction[j] * row_vector(ws_.active[j]);
    }
  }
  constexpr double kRounding = 2e-15;
  double terms = 0.0;
  for (int j = 0; j < k; ++j) terms += std::abs(ws_.z_active[j]) / ws_.inverse_norm[ws_.active[j]];
  length_ = solution_.y.norm() + kRounding / options_.tolerance * terms;
}

int ActiveRows::most_negative() const {
  constexpr double kRounding = 1e-14;
  if (rank() == 0) return -1;
  Eigen::Index worst = 0;
  const double least = ws_.z_active.minCoeff(&worst);
  return least < -kRounding * ws_.z_active.lpNorm<Eigen::Infinity>() ? static_cast<int>(worst) : -1;
}

int ActiveRows::most_violated() {
  int worst = -1;
  double least = 0.0;
  for (int i = 0; i < n_; ++i) {
    const double w = row_vector(i).dot(solution_.y) + q_[i];
    solution_.w[i] = w;
    const double violation = (w + options_.tolerance * size(i)) * ws_.inverse_norm[i];
    if (violation < least) {
      least = violation;
      worst = i;
    }
  }
  return worst;
}

Status ActiveRows::finish() {
  solution_.z.setZero(n_);
  double residual = 0.0;
  for (int i = 0; i < n_; ++i) {
    if (is_null(i)) solution_.w[i] = q_[i];
    if (const double terms = size(i); solution_.w[i] < 0.0 && terms > 0.0) residual = std::max(residual, -solution_.w[i] / terms);
    solution_.w[i] = std::max(solution_.w[i], 0.0);
  }
  for (int j = 0; j < rank(); ++j) {
    const int i = ws_.active[j];
    solution_.z[i] = std::max(ws_.z_active[j], 0.0);
    residual = std::max(residual, solution_.w[i] / size(i));
    solution_.w[i] = 0.0;
  }
  solution_.residual = residual;
  solution_.active.reserve(r_);
  solution_.active.assign(ws_.active.begin(), ws_.active.end());
  return residual <= 2.0 * options_.tolerance ? Status::solved : Status::inaccurate;
}

}  // namespace stiction
