#include "stiction/programs/prox/dense_prox.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stiction/base/wide_vectors.hpp"

namespace stiction {

struct DenseProx::Sweep {
  int contacts, rows, groups, columns, length;  ///< groups of four contacts; entries of (λ, β); of the placed vectors
  const int* place;
  const double *matrix, *free, *inverse, *mu, *lo, *hi;
  const double *before, *start;  ///< of the direct variant in turn: G before the elimination, and x before the sweep
  double *x, *next;
  double alpha;
  StepTolerance tolerance;
  const SectionShape* shape;
};

namespace {

using Sweep = DenseProx::Sweep;

constexpr int kFour = 4;

int fours(int n) { return (n + kFour - 1) / kFour; }

STICTION_INLINE void add(const double* from, double factor, Four& sum) { sum += load_four(from) * factor; }

// u = G x + free of four contacts, whose N are the entries from `first` on; two columns at a time, so that one sum need not wait for the
// other.
STICTION_INLINE void contact_velocities(const Sweep& s, int first, Four& n, Four& t1, Four& t2) {
  const double* column = s.matrix + first;
  n = load_four(s.free + first);
  t1 = load_four(s.free + first + kFour);
  t2 = load_four(s.free + first + 2 * kFour);
  Four n_odd{}, t1_odd{}, t2_odd{};
  int k = 0;
  for (; k + 2 <= s.columns; k += 2, column += 2 * s.length) {
    const double even = s.x[s.place[k]], odd = s.x[s.place[k + 1]];
    add(column, even, n);
    add(column + kFour, even, t1);
    add(column + 2 * kFour, even, t2);
    add(column + s.length, odd, n_odd);
    add(column + s.length + kFour, odd, t1_odd);
    add(column + s.length + 2 * kFour, odd, t2_odd);
  }
  if (k < s.columns) {
    const double last = s.x[s.place[k]];
    add(column, last, n);
    add(column + kFour, last, t1);
    add(column + 2 * kFour, last, t2);
  }
  n += n_odd;
  t1 += t1_odd;
  t2 += t2_odd;
}

// The same of four rows.
STICTION_INLINE void row_velocities(const Sweep& s, int first, Four& w) {
  w = load_four(s.free + first);
  for (int k = 0; k < s.columns; ++k) add(s.matrix + k * s.length + first, s.x[s.place[k]], w);
}

// x - α u / G_ll
STICTION_INLINE void relax(const Sweep& s, int first, Four& u) { u = load_four(s.x + first) - load_four(s.inverse + first) * s.alpha * u; }

void project_sections(const SectionShape& shape, int count, const double* radius, double* t1, double* t2) {
  for (int i = 0; i < count; ++i) {
    const Eigen::Vector2d t = shape.clip(radius[i], {t1[i], t2[i]});
    t1[i] = t[0];
    t2[i] = t[1];
  }
}

// On discs; roots are taken of contacts that slide alone.
STICTION_INLINE void project_discs(const Four& radius, Four& t1, Four& t2) {
  t1 = radius > 0.0 ? t1 : Four{};
  t2 = radius > 0.0 ? t2 : Four{};
  const Four square = t1 * t1 + t2 * t2, shrink = radius * radius;
  Four factor = {1.0, 1.0, 1.0, 1.0};
  const auto slides = square > shrink;
  if ((slides[0] | slides[1] | slides[2] | slides[3]) == 0) return;
  for (int i = 0; i < kFour; ++i) {
    if (slides[i] != 0) factor[i] = radius[i] / std::sqrt(square[i]);
  }
  t1 *= factor;
  t2 *= factor;
}

STICTION_INLINE void step_contacts(const Sweep& s, int group) {
  const int first = 3 * kFour * group;
  Four n, t1, t2;
  contact_velocities(s, first, n, t1, t2);
  relax(s, first, n);
  relax(s, first + kFour, t1);
  relax(s, first + 2 * kFour, t2);
  n = n > 0.0 ? n : Four{};
  const Four mu = load_four(s.mu + kFour * group);
  const Four radius = n > 0.0 ? mu * n : Four{};  // no infinity times zero
  if (s.shape->disc()) project_discs(radius, t1, t2);
  store_four(n, s.next + first);
  store_four(t1, s.next + first + kFour);
  store_four(t2, s.next + first + 2 * kFour);
  if (s.shape->disc()) return;
  double radii[kFour];
  store_four(radius, radii);
  project_sections(*s.shape, kFour, radii, s.next + first + kFour, s.next + first + 2 * kFour);
}

STICTION_INLINE void step_rows(const Sweep& s, int four) {
  const int first = kFour * (3 * s.groups + four);
  Four b;
  row_velocities(s, first, b);
  relax(s, first, b);
  const Four lo = load_four(s.lo + kFour * four), hi = load_four(s.hi + kFour * four);
  b = b < lo ? lo : b;
  b = b > hi ? hi : b;
  store_four(b, s.next + first);
}

STICTION_INLINE double largest_ratio(const Sweep& s) {
  Four worst{};
  for (int i = 0; i < s.length; i += kFour) {
    const Four before = load_four(s.x + i), step = magnitude(load_four(s.next + i) - before);
    const Four ratio = step / (magnitude(before) * s.tolerance.relative + s.tolerance.absolute), taken = step == 0.0 ? Four{} : ratio;
    worst = taken <= worst ? worst : taken;
  }
  double largest = worst[0];
  for (int i = 1; i < kFour; ++i) largest = worst[i] <= largest ? largest : worst[i];
  return largest;
}

STICTION_INLINE double sweep_all(const Sweep& s) {
  for (int g = 0; g < s.groups; ++g) step_contacts(s, g);
  for (int r = 0; 3 * s.groups + r < s.length / kFour; ++r) step_rows(s, r);
  return largest_ratio(s);
}
double jacobi_narrow(const Sweep& s) { return sweep_all(s); }
STICTION_WIDE double jacobi_wide(const Sweep& s) { return sweep_all(s); }

// Row `entry` of G times x: G is symmetric. In the direct variant bilateral impulses are those of before the sweep.
STICTION_INLINE double velocity(const Sweep& s, int entry) {
  const double* row = s.matrix + entry * s.length;
  Four sum{};
  for (int i = 0; i < s.length; i += kFour) sum += load_four(row + i) * load_four(s.start + i);
  if (s.before != nullptr) {
    row = s.before + entry * s.length;
    for (int i = 0; i < s.length; i += kFour) sum += load_four(row + i) * (load_four(s.x + i) - load_four(s.start + i));
  }
  return s.free[s.place[entry]] + sum_of(sum);
}

STICTION_INLINE void step_contact(const Sweep& s, int i, StepTest& test) {
  const int n = s.place[3 * i], t1 = n + kFour, t2 = n + 2 * kFour;
  const double before[3] = {s.x[n], s.x[t1], s.x[t2]}, tangent = s.alpha * s.inverse[t1];
  const double u[3] = {velocity(s, 3 * i), velocity(s, 3 * i + 1), velocity(s, 3 * i + 2)};
  s.x[n] = std::max(0.0, before[0] - s.alpha * s.inverse[n] * u[0]);
  s.x[t1] = before[1] - tangent * u[1];
  s.x[t2] = before[2] - tangent * u[2];
  const double radius = s.x[n] > 0.0 ? s.mu[i] * s.x[n] : 0.0;
  project_sections(*s.shape, 1, &radius, s.x + t1, s.x + t2);
  test.add(before[0], s.x[n]);
  test.add(before[1], s.x[t1]);
  test.add(before[2], s.x[t2]);
}

STICTION_INLINE double sweep_in_turn(const Sweep& s) {
  StepTest test(s.tolerance);
  for (int i = 0; i < s.contacts; ++i) step_contact(s, i, test);
  for (int j = 0; j < s.rows; ++j) {
    const int at = s.place[3 * s.contacts + j];
    const double before = s.x[at];
    s.x[at] = std::clamp(before - s.alpha * s.inverse[at] * velocity(s, 3 * s.contacts + j), s.lo[j], s.hi[j]);
    test.add(before, s.x[at]);
  }
  return test.worst();
}
double gauss_seidel_narrow(const Sweep& s) { return sweep_in_turn(s); }
STICTION_WIDE double gauss_seidel_wide(const Sweep& s) { return sweep_in_turn(s); }

}  // namespace

bool DenseProx::fits(const ReducedProblem& p) { return 3 * p.contacts() + p.bounded_rows() < 2 * p.rank_bound() && has_one_block(p); }

void DenseProx::reset(const ReducedProblem& p, const SectionShape& shape, bool in_turn) {
  contacts_ = p.contacts();
  rows_ = p.bounded_rows();
  shape_ = &shape;
  const int groups = fours(contacts_), entries = 3 * contacts_ + rows_, length = kFour * (3 * groups + fours(rows_));
  place_.resize(entries);
  for (int i = 0; i < contacts_; ++i) {
    for (int k = 0; k < 3; ++k) place_[3 * i + k] = kFour * (3 * (i / kFour) + k) + i % kFour;
  }
  for (int j = 0; j < rows_; ++j) place_[3 * contacts_ + j] = 3 * kFour * groups + j;

  dense_delassus(p, delassus_);
  matrix_.setZero(length, entries);
  for (int l = 0; l < entries; ++l) {
    for (int k = 0; k < entries; ++k) matrix_(place_[k], l) = delassus_(k, l);
  }
  free_.setZero(length);
  inverse_.setZero(length);
  mu_.setZero(kFour * groups);
  for (int i = 0; i < contacts_; ++i) {
    for (int k = 0; k < 3; ++k) free_[place_[3 * i + k]] = p.u_free[3 * i + k];
    free_[place_[3 * i]] += p.offset[i];
    inverse_[place_[3 * i]] = inverse_normal(p, i);
    inverse_[place_[3 * i + 1]] = inverse_[place_[3 * i + 2]] = inverse_tangent(p, i);
    mu_[i] = p.mu[i];
  }
  lo_.setZero(kFour * fours(rows_));
  hi_.setZero(kFour * fours(rows_));
  for (int j = 0; j < rows_; ++j) {
    const int entry = 3 * contacts_ + j;
    free_[place_[entry]] = p.w_free[j];
    inverse_[place_[entry]] = inverse_row(p, j);
    lo_[j] = p.lo[j];
    hi_[j] = p.hi[j];
  }
  next_.setZero(length);
  before_.resize(0, 0);
  if (in_turn && is_direct(p)) form_before(p, length);
}

void DenseProx::form_before(const ReducedProblem& p, int length) {
  const int entries = 3 * contacts_ + rows_;
  before_.setZero(length, entries);
  column_.resize(entries);
  for (int l = 0; l < entries; ++l) {
    moved_.setZero(p.Rt_before.cols());
    if (const int row = l - 3 * contacts_; row < 0) {
      const Eigen::Vector3d unit = Eigen::Vector3d::Unit(l % 3);
      p.Rt_before.add_group_transposed(l / 3, unit, moved_);
    } else {
      p.Bt_before.add_group_transposed(row, Eigen::Matrix<double, 1, 1>(1.0), moved_);
    }
    p.Rt_before.multiply(moved_, column_.head(3 * contacts_));
    if (rows_ > 0) p.Bt_before.multiply(moved_, column_.tail(rows_));
    for (int k = 0; k < entries; ++k) before_(place_[k], l) = column_[k];
  }
}

void DenseProx::set_point(const GrowVector& lambda, const GrowVector& beta) {
  x_.setZero(free_.size());
  for (int k = 0; k < 3 * contacts_; ++k) x_[place_[k]] = lambda[k];
  for (int j = 0; j < rows_; ++j) x_[place_[3 * contacts_ + j]] = beta[j];
}

void DenseProx::get_point(GrowVector& lambda, GrowVector& beta) const {
  for (int k = 0; k < 3 * contacts_; ++k) lambda[k] = x_[place_[k]];
  for (int j = 0; j < rows_; ++j) beta[j] = x_[place_[3 * contacts_ + j]];
}

Sweep DenseProx::sweep(double alpha, const StepTolerance& tolerance) {
  const int groups = static_cast<int>(mu_.size()) / kFour, length = static_cast<int>(free_.size());
  return {contacts_,       rows_,         groups,         static_cast<int>(place_.size()),
          length,          place_.data(), matrix_.data(), free_.data(),
          inverse_.data(), mu_.data(),    lo_.data(),     hi_.data(),
          nullptr,         x_.data(),     x_.data(),      next_.data(),
          alpha,           tolerance,     shape_};
}

double DenseProx::jacobi(double alpha, const StepTolerance& tolerance) {
  const Sweep s = sweep(alpha, tolerance);
  const double change = wide_vectors() ? jacobi_wide(s) : jacobi_narrow(s);
  std::swap(x_, next_);
  return change;
}

double DenseProx::gauss_seidel(double alpha, const StepTolerance& tolerance) {
  Sweep s = sweep(alpha, tolerance);
  if (before_.size() > 0) {
    next_ = x_;
    s.before = before_.data();
    s.start = next_.data();
  }
  return wide_vectors() ? gauss_seidel_wide(s) : gauss_seidel_narrow(s);
}

double DenseProx::residual() {
  const Sweep s = sweep(1.0, {0.0, 1.0});
  wide_vectors() ? jacobi_wide(s) : jacobi_narrow(s);
  double worst = 0.0;
  const auto take = [&](double value) { worst = value <= worst ? worst : value; };
  const auto step = [&](int at) { return std::abs(next_[at] - x_[at]); };
  for (int i = 0; i < contacts_; ++i) {
    const int n = place_[3 * i], t1 = n + kFour, t2 = n + 2 * kFour;
    take(inverse_[n] > 0.0 ? step(n) / inverse_[n] : std::max(0.0, -free_[n]));  // what no impulse moves has no other velocity
    take(inverse_or_zero(inverse_[t1]) * std::hypot(step(t1), step(t2)));
  }
  for (int j = 0; j < rows_; ++j) {
    const int at = place_[3 * contacts_ + j];
    take(inverse_or_zero(inverse_[at]) * step(at));
  }
  return worst;
}

}  // namespace stiction
