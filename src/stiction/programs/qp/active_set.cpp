#include "stiction/programs/qp/active_set.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <Eigen/Cholesky>

#include "stiction/base/errors.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

namespace {

constexpr double kDependent = 1e-11;     // relative distance to the span of F below which a generator counts as dependent
constexpr double kSettled = 1e-15;       // |Δu| over the scale below which a face counts as minimised
constexpr double kFreePreference = 8.0;  // free variables never leave F, so they are priced this much steeper

template <int Cols>
void multiply_fixed(const RowsView& A, const double* z, double* g) {
  using Row = Eigen::Matrix<double, Cols, 1>;
  const Row zz = Eigen::Map<const Row>(z);
  for (Eigen::Index j = 0; j < A.rows(); ++j) g[j] = Eigen::Map<const Row>(A.row_data(j)).dot(zz);
}

template <int Cols>
void square_rows_fixed(const RowsView& A, double* squares) {
  for (Eigen::Index j = 0; j < A.rows(); ++j) squares[j] = Eigen::Map<const Eigen::Matrix<double, Cols, 1>>(A.row_data(j)).squaredNorm();
}

void square_rows(const RowsView& A, GrowVector& squares) {
  if (A.cols() == 6) return square_rows_fixed<6>(A, squares.data());
  for (Eigen::Index j = 0; j < A.rows(); ++j) squares[j] = A.row(j).squaredNorm();
}

/// g = A z; the widths of one rigid body's whitened velocity get their own kernel.
void multiply(const RowsView& A, const GrowVector& z, GrowVector& g) {
  switch (A.cols()) {
    case 3:
      return multiply_fixed<3>(A, z.data(), g.data());
    case 6:
      return multiply_fixed<6>(A, z.data(), g.data());
    default:
      g.noalias() = A.map() * z;
  }
}

}  // namespace

void ActiveSet::start(RowsView A, VectorView c, VectorView lo, VectorView hi, VectorView x0) {
  A_ = A;
  c_ = c;
  rows_.clear();
  pivots_ = 0;
  const Eigen::Index n = A.rows(), r = A.cols();
  read_bounds(lo, hi, x0);
  read_generators();
  for (GrowVector* v : {&y_, &z_, &outside_, &du_, &dx_, &dy_, &work_}) v->resize(r);
  gradient_.resize(n);
  target_.setZero(r);
  inside_.clear();
  inside_.reserve(r);
  barred_.assign(n, 0);
  any_barred_ = false;
  basis_.reset(static_cast<int>(r));
  projected_.resize(r);
  take_inside_entries();
}

void ActiveSet::read_bounds(VectorView lo, VectorView hi, VectorView x0) {
  const Eigen::Index n = size();
  if (!lo.empty()) require_size("lo", lo.size(), n);
  if (!hi.empty()) require_size("hi", hi.size(), n);
  if (!x0.empty()) require_size("x0", x0.size(), n);
  lo_.resize(n);
  hi_.resize(n);
  x_.resize(n);
  place_.resize(n);
  for (Eigen::Index j = 0; j < n; ++j) {
    const double low = lo.empty() ? 0.0 : lo[j], high = hi.empty() ? kInfinity : hi[j], at = x0.empty() ? 0.0 : x0[j];
    if (!(low <= high) || low == kInfinity || high == -kInfinity) {
      throw InvalidArgument(fmt::format("lo[{0}], hi[{0}]", j), "lo <= hi, lo < infinity, hi > -infinity",
                            fmt::format("{}, {}", low, high));
    }
    if (!std::isfinite(at)) throw InvalidArgument(fmt::format("x0[{}]", j), "a finite number", fmt::format("{}", at));
    lo_[j] = low;
    hi_[j] = high;
    x_[j] = std::clamp(at, low, high);
    place(j) = low == high ? Place::fixed : place_of(j);
  }
}

void ActiveSet::read_generators() {
  const Eigen::Index n = size();
  if (!c_.empty()) require_size("c", c_.size(), n);
  norm_.resize(n);
  inverse_norm_.resize(n);
  square_rows(A_, norm_);
  norm_ = norm_.cwiseSqrt();
  for (Eigen::Index j = 0; j < n; ++j) {
    const double weight = norm_[j] > 0.0 ? norm_[j] : std::abs(cost(j));
    inverse_norm_[j] = weight > 0.0 ? 1.0 / weight : 0.0;
  }
  if (std::isfinite(norm_.sum()) && (c_.empty() || c_.map().allFinite())) return;
  for (Eigen::Index j = 0; j < n; ++j) {
    if (!std::isfinite(norm_[j])) throw InvalidArgument(fmt::format("A.row({})", j), "finite numbers, squares included", "one that is not");
  }
  require_finite_entries("c", c_);
}

/// Entries of x0 strictly between their bounds join F; one whose generator depends on F is slid to a bound, the motion y kept.
void ActiveSet::take_inside_entries() {
  outside_stale_ = true;
  for (Eigen::Index j = 0; j < size(); ++j) {
    if (place(j) != Place::idle || x_[j] == 0.0 || try_inside(j)) continue;
    double noise = 0.0;
    if (dependence(j, 1.0, noise) <= 0.0 && slide(j, 1.0, -kInfinity) == Status::solved) continue;
    dependence(j, -1.0, noise);
    slide(j, -1.0, -kInfinity);
  }
}

bool ActiveSet::try_inside(Eigen::Index j) {
  if (!(norm_[j] > 0.0) || !(basis_.project(A_.row_data(j), projected_.data()) > kDependent * norm_[j])) return false;
  basis_.append(projected_.data());
  inside_.push_back(j);
  place(j) = Place::inside;
  outside_stale_ = outside_stale_ || x_[j] != 0.0;
  return true;
}

void ActiveSet::leave(Eigen::Index k, Place where) {
  const Eigen::Index j = inside(k);
  basis_.remove(static_cast<int>(k));
  inside_.erase(inside_.begin() + k);
  place(j) = where;
  outside_stale_ = outside_stale_ || x_[j] != 0.0;
}

void ActiveSet::refresh_outside() {
  outside_stale_ = false;
  outside_.setZero();
  outside_scale_ = 0.0;
  for (Eigen::Index j = 0; j < size(); ++j) {
    if (x_[j] == 0.0 || place(j) == Place::inside) continue;
    outside_ += x_[j] * A_.row(j);
    outside_scale_ += std::abs(x_[j]) * norm_[j];
  }
}

/// y and z afresh from x, so that no rounding builds up over pivots.
void ActiveSet::refresh() {
  if (outside_stale_) refresh_outside();
  y_ = outside_;
  scale_ = target_scale_ + outside_scale_;
  for (const Eigen::Index j : inside_) {
    y_ += x_[j] * A_.row(j);
    scale_ += std::abs(x_[j]) * norm_[j];
  }
  z_ = y_ - target_;
  if (rows_.empty()) return;
  rows_.evaluate(y_);
  scale_ += rows_.subtract_forces(z_);
}

Status ActiveSet::minimise(const QpOptions& options) {
  const double tolerance = options.tolerance;
  int max_pivots = options.max_pivots;
  contradiction_ = options.contradiction;
  target_scale_ = target_.norm();
  direction_.resize(0);
  allow_all();
  if (max_pivots == 0) max_pivots = static_cast<int>(20 * (size() + A_.cols()) + 200);
  Status status = settle(0.0);
  while (status == Status::solved) {
    compute_gradient();
    const Eigen::Index j = price(tolerance);
    if (j < 0) break;
    if (pivots_ >= max_pivots) return Status::iteration_limit;
    status = enter(j, tolerance);
  }
  return status;
}

/// Minimises over F. `entering` is the sign in which the last variable of F has to move, zero for none.
Status ActiveSet::settle(double entering) {
  descent_ = 0.0;
  int full_steps = 0;
  const auto patience = 4 * (A_.cols() + rows_.size()) + 100;
  for (Eigen::Index step = 0; step < patience; ++step) {
    refresh();
    if (!std::isfinite(scale_)) return Status::numerical_error;
    if (inside_.empty()) break;
    newton_direction();
    const Eigen::Index k = inside_size();
    const double length = du_.head(k).norm();
    if (!std::isfinite(length)) return Status::numerical_error;
    if (entering * dx_[k - 1] < 0.0) break;  // only rounding made it enter
    entering = 0.0;
    if (length <= kSettled * scale_) break;
    Eigen::Index blocking = -1;
    const double limit = limit_along(dx_.data(), rows_.empty() ? 1.0 : kInfinity, blocking);
    const double alpha = step_length(limit);
    for (Eigen::Index i = 0; i < k; ++i) x_[inside(i)] += alpha * dx_[i];
    descent_ = std::max(descent_, alpha * length / scale_);
    if (blocking >= 0 && alpha >= limit) {
      stop_at_bound(blocking, dx_[blocking]);
      full_steps = 0;
    } else if (rows_.empty() && ++full_steps == 2) {
      refresh();
      break;
    }
  }
  drop_resting();
  return Status::solved;
}

/// A variable of F that came to rest exactly on a bound leaves, so that F is strictly inside and the next step has room.
void ActiveSet::drop_resting() {
  for (Eigen::Index k = inside_size() - 1; k >= 0; --k) {
    const Place where = place_of(inside(k));
    if (where != Place::idle) leave(k, where);
  }
}

void ActiveSet::newton_direction() {
  const Eigen::Index k = inside_size();
  auto du = du_.head(k);
  const auto Q = basis_.span();
  if (!c_.empty()) {
    for (Eigen::Index i = 0; i < k; ++i) work_[i] = cost(inside(i));
    basis_.solve_lower(work_.data());
  } else {
    work_.head(k).setZero();
  }
  for (Eigen::Index i = 0; i < k; ++i) du[i] = -(Q.col(i).dot(z_) + work_[i]);
  if (!rows_.empty()) {
    hessian_.resize(k, k);
    for (Eigen::Index i = 0; i < k; ++i) {
      dy_.noalias() = rows_.hessian() * Q.col(i);
      for (Eigen::Index l = i; l < k; ++l) hessian_(l, i) = Q.col(l).dot(dy_);
      hessian_(i, i) += 1.0;
    }
    Eigen::Ref<Eigen::MatrixXd> in_place(hessian_);
    Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(in_place);
    factor.solveInPlace(du);
  }
  dx_.head(k) = du;
  basis_.solve_upper(dx_.data());
}

/// Exact minimiser of φ along the Newton direction within [0, limit].
double ActiveSet::step_length(double limit) {
  if (rows_.empty()) return std::min(1.0, limit);
  const Eigen::Index k = inside_size();
  dy_.noalias() = basis_.span() * du_.head(k);
  double slope = dy_.dot(y_ - target_);
  for (Eigen::Index i = 0; i < k; ++i) slope += cost(inside(i)) * dx_[i];
  return rows_.line_search(dy_, slope, dy_.squaredNorm(), limit);
}

/// Largest step <= limit that keeps x_F + step dx within the bounds, and which variable of F stops it (-1: none).
double ActiveSet::limit_along(const double* dx, double limit, Eigen::Index& blocking) const {
  for (Eigen::Index k = 0; k < inside_size(); ++k) {
    const Eigen::Index j = inside(k);
    const double room = dx[k] < 0.0 ? x_[j] - lo_[j] : hi_[j] - x_[j];
    if (dx[k] == 0.0 || room == kInfinity) continue;
    const double ratio = room / std::abs(dx[k]);
    if (ratio < limit || (ratio == limit && blocking >= 0 && std::abs(dx[k]) > std::abs(dx[blocking]))) {
      limit = ratio;
      blocking = k;
    }
  }
  return limit;
}

void ActiveSet::stop_at_bound(Eigen::Index k, double toward) {
  const Eigen::Index j = inside(k);
  x_[j] = toward < 0.0 ? lo_[j] : hi_[j];
  leave(k, toward < 0.0 ? Place::lower : Place::upper);
  ++pivots_;
}

void ActiveSet::compute_gradient() {
  multiply(A_, z_, gradient_);
  if (!c_.empty()) gradient_ += c_.map();
}

/// The variable outside F whose gradient has a wrong sign and is steepest per unit of |a_j|, or -1.
Eigen::Index ActiveSet::price(double tolerance) const {
  Eigen::Index best = -1;
  double steepest = 0.0;
  for (Eigen::Index j = 0; j < size(); ++j) {
    const double g = gradient_[j];
    const double score = inverse_norm_[j] * steepness(place_[j], g);
    if (!(score > steepest) || barred_[j] != 0) continue;
    if (!(std::abs(g) > tolerance * (norm_[j] * scale_ + std::abs(cost(j))))) continue;
    steepest = score;
    best = j;
  }
  return best;
}

double ActiveSet::steepness(Place where, double g) {
  switch (where) {
    case Place::lower:
      return -g;
    case Place::upper:
      return g;
    case Place::idle:
      return kFreePreference * std::abs(g);
    case Place::inside:
    case Place::fixed:
      break;
  }
  return 0.0;
}

/// Brings j into F and settles, or slides along the dependence of a_j on F.
Status ActiveSet::enter(Eigen::Index j, double tolerance) {
  const double sign = gradient_[j] < 0.0 ? 1.0 : -1.0;
  Status status = Status::solved;
  descent_ = 0.0;
  if (try_inside(j)) {
    ++pivots_;
    status = settle(sign);
    if (descent_ == 0.0 && place(j) == Place::inside) leave(inside_size() - 1, place_of(j));
  } else {
    double noise = 0.0;
    if (const double slope = dependence(j, sign, noise); slope < -tolerance * noise) {
      ++pivots_;
      status = slide(j, sign, slope);
      const double slid = descent_;
      if (status == Status::solved) status = settle(0.0);
      descent_ = std::max(descent_, slid);
    }
  }
  bar_unless_descended(j);
  return status;
}

void ActiveSet::bar_unless_descended(Eigen::Index j) {
  if (descent_ <= kSettled) {
    barred_[j] = 1;
    any_barred_ = true;
  } else {
    allow_all();
  }
}

void ActiveSet::allow_all() {
  if (any_barred_) std::fill(barred_.begin(), barred_.end(), static_cast<signed char>(0));
  any_barred_ = false;
}

ActiveSet::Place ActiveSet::place_of(Eigen::Index j) const {
  return x_[j] == lo_[j] ? Place::lower : x_[j] == hi_[j] ? Place::upper : Place::idle;
}

/// After a failed `try_inside`: dx_ = -sign R⁻¹Qᵀa_j. Returns the slope cᵀp of the objective along it and the size of its terms.
double ActiveSet::dependence(Eigen::Index j, double sign, double& noise) {
  const Eigen::Index k = inside_size();
  if (norm_[j] > 0.0) {
    dx_.head(k) = -sign * projected_.head(k);
    basis_.solve_upper(dx_.data());
  } else {
    dx_.head(k).setZero();
  }
  double slope = sign * cost(j);
  noise = std::abs(slope);
  for (Eigen::Index i = 0; i < k; ++i) {
    if (std::abs(dx_[i]) * norm_[inside(i)] <= kDependent * norm_[j]) dx_[i] = 0.0;  // rounding, and must not stop the slide
    slope += cost(inside(i)) * dx_[i];
    noise += std::abs(cost(inside(i)) * dx_[i]);
  }
  return slope;
}

/// Moves along p = (sign e_j, dx_), on which the objective has this slope, until a variable reaches a bound, which then leaves F; y stays.
/// infeasible: none does.
Status ActiveSet::slide(Eigen::Index j, double sign, double slope) {
  Eigen::Index blocking = -1;
  const double own = sign > 0.0 ? hi_[j] - x_[j] : x_[j] - lo_[j];
  const double alpha = limit_along(dx_.data(), own, blocking);
  if (alpha == kInfinity) {
    if (-slope <= contradiction_ * (1.0 + dx_.head(inside_size()).lpNorm<1>())) return Status::solved;
    record_direction(j, sign);
    return Status::infeasible;
  }
  for (Eigen::Index i = 0; i < inside_size(); ++i) x_[inside(i)] += alpha * dx_[i];
  x_[j] += alpha * sign;
  descent_ = alpha > 0.0 ? 1.0 : 0.0;
  outside_stale_ = true;
  if (blocking < 0) {
    x_[j] = sign > 0.0 ? hi_[j] : lo_[j];
  } else {
    stop_at_bound(blocking, dx_[blocking]);
  }
  place(j) = place_of(j);
  if (place(j) == Place::idle) try_inside(j);
  return Status::solved;
}

void ActiveSet::record_direction(Eigen::Index j, double sign) {
  direction_.setZero(size());
  direction_[j] = sign;
  for (Eigen::Index i = 0; i < inside_size(); ++i) direction_[inside(i)] = dx_[i];
}

}  // namespace stiction
