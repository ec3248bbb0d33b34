#include "stiction/programs/sparse_qp/sparse_kinetic_qp.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "stiction/base/errors.hpp"
#include "stiction/problem/contact_problem.hpp"
#include "stiction/programs/cone/row_pattern.hpp"

namespace stiction {

namespace {

using Eigen::Index;

constexpr double kFraction = 0.995;  // of the way to the bounds
constexpr double kFree = 1e8;        // D of a variable without bounds, over 1/|a_j|²: a proximal step
constexpr double kPolish = 1e6;      // the same of the polish's rows; a step leaves 1/kPolish of the error
constexpr int kPolishSteps = 8;
constexpr int kRises = 3;
constexpr double kLongestStep = 2.0;   // what lies beyond need not be known
constexpr double kFirstPolish = 1e-7;  // mean product over its first value at which the sets are first tried
constexpr double kPolishAgain = 1e-2;  // and again whenever it has fallen by this

// Shortens the step to where x + step dx is zero.
void shorten(double x, double dx, double& step) {
  if (x + step * dx < 0.0) step = -x / dx;
}

void check(const SparseKineticQp& p) {
  const Index n = p.A.groups(), m = p.C.groups(), r = p.A.cols();
  if (p.A.height() != 1 || p.C.height() != 1) throw InvalidArgument("A", "groups of one row", "taller groups");
  if (!std::ranges::equal(p.A.block_sizes(), p.C.block_sizes())) throw InvalidArgument("C", "the column blocks of A", "others");
  require_size("c", p.c.size(), n);
  require_size("lo", p.lo.size(), n);
  require_size("hi", p.hi.size(), n);
  require_size("d", p.d.size(), m);
  require_size("y0", p.y0.size(), r);
}

void measure_rows(const BlockRows& rows, GrowVector& norm) {
  norm.resize(rows.groups());
  for (int g = 0; g < rows.groups(); ++g) norm[g] = std::sqrt(rows.group_square(g));
}

double velocity_scale(const SparseKineticQp& p, const SparseKineticQpWorkspace& w) {
  double scale = largest_entry(p.y0);
  for (Index j = 0; j < p.c.size(); ++j) {
    if (w.a_norm[j] > 0.0) scale = std::max(scale, std::abs(p.c[j]) / w.a_norm[j]);
  }
  for (Index i = 0; i < p.d.size(); ++i) {
    if (w.c_norm[i] > 0.0) scale = std::max(scale, std::abs(p.d[i]) / w.c_norm[i]);
  }
  return scale > 0.0 ? scale : 1.0;
}

// y, z, g and v of (x, μ).
void follow(const SparseKineticQp& p, const GrowVector& x, const GrowVector& mu, SparseKineticQpWorkspace& w) {
  w.y.setZero(p.A.cols());
  p.A.add_transposed(x, w.y);
  w.z.setZero(p.A.cols());
  p.C.add_transposed(mu, w.z);
  w.z = w.y + p.y0 - w.z;
  w.g.resize(x.size());
  p.A.multiply(w.z, w.g);
  w.g += p.c;
  w.v.resize(mu.size());
  p.C.multiply(w.y, w.v);
  w.v -= p.d;
}

// |x - clamp(x - step)| for x within [lo, hi], without the difference that rounds a small step away; or how far x is outside.
double distance_to_rest(double x, double step, double lo, double hi) {
  if (!(x >= lo && x <= hi)) return std::max(lo - x, x - hi);
  return step > 0.0 ? std::min(step, x - lo) : std::min(-step, hi - x);
}

double residual_at(const SparseKineticQp& p, const GrowVector& x, const GrowVector& mu, SparseKineticQpWorkspace& w) {
  follow(p, x, mu, w);
  const double of_rows = std::max(w.scale, largest_entry(w.y)),
               of_variables = std::max(of_rows, largest_entry(w.z));  // multipliers excuse no row
  double worst = 0.0;
  const auto take = [&](double value) { worst = value <= worst ? worst : value; };  // a NaN is taken
  for (Index j = 0; j < x.size(); ++j) {
    const double a = w.a_norm[j];
    if (a > 0.0) take(distance_to_rest(x[j], w.g[j] / (a * a), p.lo[j], p.hi[j]) * a / of_variables);
  }
  for (Index i = 0; i < mu.size(); ++i) {
    const double c = w.c_norm[i];
    if (c > 0.0) take(distance_to_rest(mu[i], w.v[i] / (c * c), 0.0, kInfinity) * c / of_rows);
  }
  return worst;
}

void analyze(const SparseKineticQp& p, SparseKineticQpWorkspace& w) {
  w.sizes.clear();
  for (const int size : p.A.block_sizes()) w.sizes.push_back(2 * size);
  w.clique_begin.assign(1, 0);
  w.clique_blocks.clear();
  append_cliques(p.A, w.clique_begin, w.clique_blocks);
  append_cliques(p.C, w.clique_begin, w.clique_blocks);
  w.lu.analyze(w.sizes, w.clique_begin, w.clique_blocks);
  w.places.clear();
  append_places(p.A, w.lu, w.places);
  append_places(p.C, w.lu, w.places);
}

// Block (a, b) of the matrix += weight · rowᵀ row, on the part of z (first = 0) or of y (first = block size).
const std::ptrdiff_t* add_row(const BlockRows& rows, int g, double weight, bool on_y, double* values, const std::ptrdiff_t* place) {
  for (int a = rows.entry_begin(g); a < rows.entry_end(g); ++a) {
    const ConstRowMap left = rows.entry(a);
    const Index la = left.cols();
    for (int b = rows.entry_begin(g); b < rows.entry_end(g); ++b) {
      const ConstRowMap right = rows.entry(b);
      double* block = values + *place++ + (on_y ? 2 * la * right.cols() + la : 0);
      if (weight == 0.0) continue;
      for (Index j = 0; j < right.cols(); ++j) {
        const double x = weight * right.data()[j];
        for (Index i = 0; i < la; ++i) block[2 * la * j + i] += left.data()[i] * x;
      }
    }
  }
  return place;
}

bool factor(const SparseKineticQp& p, SparseKineticQpWorkspace& w) {
  w.lu.set_identity();
  for (int k = 0; k < p.A.blocks(); ++k) {
    const Index b = p.A.block_size(k);
    double* block = w.lu.block(k, k);
    for (Index i = 0; i < b; ++i) {
      block[i * 2 * b + i] = 0.0;
      block[i * 2 * b + b + i] = block[(b + i) * 2 * b + i] = 1.0;
      block[(b + i) * 2 * b + b + i] = -1.0;
    }
  }
  const std::ptrdiff_t* place = w.places.data();
  for (int j = 0; j < p.A.groups(); ++j) place = add_row(p.A, j, w.D[j], false, w.lu.values(), place);
  for (int i = 0; i < p.C.groups(); ++i) place = add_row(p.C, i, -w.E[i], true, w.lu.values(), place);
  return w.lu.factor();
}

// δz and δy from the steps ρ and h at rest; then δx = ρ - D A δz and δμ = h - E C δy.
void solve_directions(const SparseKineticQp& p, SparseKineticQpWorkspace& w) {
  w.dz.setZero(p.A.cols());
  p.A.add_transposed(w.rho, w.dz);
  w.dy.setZero(p.A.cols());
  p.C.add_transposed(w.h, w.dy);
  w.rhs.resize(2 * p.A.cols());
  for (int k = 0; k < p.A.blocks(); ++k) {
    const Index b = p.A.block_size(k), from = p.A.col_offset(k);
    w.rhs.segment(2 * from, b) = w.dz.segment(from, b);
    w.rhs.segment(2 * from + b, b) = -w.dy.segment(from, b);
  }
  w.lu.solve(w.rhs);
  for (int k = 0; k < p.A.blocks(); ++k) {
    const Index b = p.A.block_size(k), from = p.A.col_offset(k);
    w.dz.segment(from, b) = w.rhs.segment(2 * from, b);
    w.dy.segment(from, b) = w.rhs.segment(2 * from + b, b);
  }
  p.A.multiply(w.dz, w.dg);
  p.C.multiply(w.dy, w.dv);
  w.dx = w.rho - w.D.cwiseProduct(w.dg);
  w.dmu = w.h - w.E.cwiseProduct(w.dv);
}

class Interior {
 public:
  Interior(const SparseKineticQp& p, SparseKineticQpWorkspace& w) : p_(p), w_(w) {}

  /// Every complementarity product about the square of the problem's velocity.
  void start() {
    const double size = w_.scale;
    count_ = 0;
    for (Index j = 0; j < p_.c.size(); ++j) {
      const double lo = p_.lo[j], hi = p_.hi[j], unit = w_.a_norm[j] > 0.0 ? size / w_.a_norm[j] : 0.0;
      const double inside = has_lo(j) && has_hi(j) ? std::min(unit, 0.5 * (hi - lo)) : unit;
      w_.x[j] = resting(j);
      if (has_lo(j)) w_.x[j] = std::max(w_.x[j], lo + inside);
      if (has_hi(j)) w_.x[j] = std::min(w_.x[j], hi - inside);
      w_.z_lo[j] = has_lo(j) ? size * size / (w_.x[j] - lo) : 0.0;
      w_.z_hi[j] = has_hi(j) ? size * size / (hi - w_.x[j]) : 0.0;
      count_ += static_cast<int>(has_lo(j)) + static_cast<int>(has_hi(j));
    }
    for (Index i = 0; i < p_.d.size(); ++i) {
      w_.mu[i] = acts(i) ? size / w_.c_norm[i] : 0.0;
      w_.t[i] = acts(i) ? size * w_.c_norm[i] : 0.0;
      count_ += static_cast<int>(acts(i));
    }
    for (GrowVector* x : {&w_.dx, &w_.dz_lo, &w_.dz_hi, &w_.dmu, &w_.dt}) x->setZero();
    mean_ = first_ = mean_product(0.0);
  }

  double mean() const { return mean_; }
  double first() const { return first_; }

  /// One step; its length, negative when the system has no solution.
  double step() {
    follow(p_, w_.x, w_.mu, w_);
    eliminate();
    if (!factor(p_, w_)) return -1.0;
    const double affine = std::min(1.0, direction(0.0, false));
    const double ratio = count_ > 0 ? std::clamp(mean_product(affine) / mean_, 0.0, 1.0) : 0.0;
    const double reach = direction(ratio * ratio * ratio * mean_, true);
    const double length = std::min(1.0, kFraction * reach);
    if (!std::isfinite(length) || !w_.dx.allFinite() || !w_.dmu.allFinite()) return -1.0;
    w_.x += length * w_.dx;
    w_.z_lo += length * w_.dz_lo;
    w_.z_hi += length * w_.dz_hi;
    w_.mu += length * w_.dmu;
    w_.t += length * w_.dt;
    mean_ = mean_product(0.0);
    return length;
  }

 private:
  bool moves(Index j) const { return w_.a_norm[j] > 0.0 && p_.lo[j] < p_.hi[j]; }
  bool has_lo(Index j) const { return moves(j) && p_.lo[j] > -kInfinity; }
  bool has_hi(Index j) const { return moves(j) && p_.hi[j] < kInfinity; }
  bool acts(Index i) const { return w_.c_norm[i] > 0.0; }

  /// Zero if the bounds allow it; a variable that moves nothing goes where its cost drives it.
  double resting(Index j) const {
    const double rest = std::clamp(0.0, p_.lo[j], p_.hi[j]);
    if (w_.a_norm[j] > 0.0 || p_.c[j] == 0.0) return rest;
    const double bound = p_.c[j] > 0.0 ? p_.lo[j] : p_.hi[j];
    return std::isfinite(bound) ? bound : rest;
  }

  void eliminate() {
    for (Index j = 0; j < p_.c.size(); ++j) {
      double stiffness = has_lo(j) || has_hi(j) ? 0.0 : w_.a_norm[j] * w_.a_norm[j] / kFree;
      if (has_lo(j)) stiffness += w_.z_lo[j] / (w_.x[j] - p_.lo[j]);
      if (has_hi(j)) stiffness += w_.z_hi[j] / (p_.hi[j] - w_.x[j]);
      w_.D[j] = moves(j) ? 1.0 / stiffness : 0.0;
    }
    for (Index i = 0; i < p_.d.size(); ++i) w_.E[i] = acts(i) ? w_.mu[i] / w_.t[i] : 0.0;
  }

  // Directions toward products of value m, Mehrotra's second-order term from the last direction; the longest step inside the bounds.
  double direction(double m, bool second_order) {
    const double second = second_order ? 1.0 : 0.0;
    for (Index j = 0; j < p_.c.size(); ++j) {
      w_.goal_lo[j] = has_lo(j) ? (m - second * w_.dx[j] * w_.dz_lo[j]) / (w_.x[j] - p_.lo[j]) : 0.0;
      w_.goal_hi[j] = has_hi(j) ? (m + second * w_.dx[j] * w_.dz_hi[j]) / (p_.hi[j] - w_.x[j]) : 0.0;
      w_.rho[j] = w_.D[j] * (w_.goal_lo[j] - w_.goal_hi[j] - w_.g[j]);
    }
    for (Index i = 0; i < p_.d.size(); ++i) {
      w_.h[i] = acts(i) ? (m - second * w_.dmu[i] * w_.dt[i]) / w_.t[i] - w_.E[i] * w_.v[i] : 0.0;
    }
    solve_directions(p_, w_);
    return recover();
  }

  double recover() {
    double step = kLongestStep;
    for (Index j = 0; j < p_.c.size(); ++j) {
      if (has_lo(j)) {
        const double p = w_.x[j] - p_.lo[j];
        w_.dz_lo[j] = w_.goal_lo[j] - w_.z_lo[j] - w_.z_lo[j] / p * w_.dx[j];
        shorten(p, w_.dx[j], step);
        shorten(w_.z_lo[j], w_.dz_lo[j], step);
      }
      if (has_hi(j)) {
        const double p = p_.hi[j] - w_.x[j];
        w_.dz_hi[j] = w_.goal_hi[j] - w_.z_hi[j] + w_.z_hi[j] / p * w_.dx[j];
        shorten(p, -w_.dx[j], step);
        shorten(w_.z_hi[j], w_.dz_hi[j], step);
      }
    }
    for (Index i = 0; i < p_.d.size(); ++i) {
      if (!acts(i)) continue;
      w_.dt[i] = w_.v[i] + w_.dv[i] - w_.t[i];
      shorten(w_.mu[i], w_.dmu[i], step);
      shorten(w_.t[i], w_.dt[i], step);
    }
    return step;
  }

  double mean_product(double step) const {
    double sum = 0.0;
    for (Index j = 0; j < p_.c.size(); ++j) {
      const double x = w_.x[j] + step * w_.dx[j];
      if (has_lo(j)) sum += (x - p_.lo[j]) * (w_.z_lo[j] + step * w_.dz_lo[j]);
      if (has_hi(j)) sum += (p_.hi[j] - x) * (w_.z_hi[j] + step * w_.dz_hi[j]);
    }
    for (Index i = 0; i < p_.d.size(); ++i) sum += (w_.mu[i] + step * w_.dmu[i]) * (w_.t[i] + step * w_.dt[i]);
    return count_ > 0 ? sum / count_ : 0.0;
  }

  const SparseKineticQp& p_;
  SparseKineticQpWorkspace& w_;
  int count_ = 0;
  double mean_ = 0.0, first_ = 0.0;
};

double keep_best(const SparseKineticQp& p, const GrowVector& x, const GrowVector& mu, SparseKineticQpWorkspace& w,
                 SparseKineticQpSolution& s) {
  const double residual = residual_at(p, x, mu, w);
  if (residual < s.residual) {
    s.residual = residual;
    w.best_x = x;
    w.best_mu = mu;
  }
  return residual;
}

// Newton's method on the natural map from the interior point, with a proximal step that makes redundant variables and rows solvable.
bool polish(const SparseKineticQp& p, const SparseQpOptions& options, SparseKineticQpWorkspace& w, SparseKineticQpSolution& s) {
  w.polished_x = w.x;
  w.polished_mu = w.mu;
  double now = keep_best(p, w.polished_x, w.polished_mu, w, s);
  for (int k = 0, rises = 0; k < kPolishSteps && rises < kRises && now > options.tolerance; ++k) {
    for (Index j = 0; j < p.c.size(); ++j) {
      const double square = w.a_norm[j] * w.a_norm[j];
      const double x = square > 0.0 ? w.polished_x[j] - w.g[j] / square : w.polished_x[j], rest = std::clamp(x, p.lo[j], p.hi[j]);
      const bool inside = square > 0.0 && x == rest && p.lo[j] < p.hi[j];
      w.D[j] = inside ? kPolish / square : 0.0;
      w.rho[j] = inside ? -w.D[j] * w.g[j] : rest - w.polished_x[j];
    }
    for (Index i = 0; i < p.d.size(); ++i) {
      const double square = w.c_norm[i] * w.c_norm[i];
      const bool active = square > 0.0 && w.polished_mu[i] - w.v[i] / square > 0.0;
      w.E[i] = active ? kPolish / square : 0.0;
      w.h[i] = active ? -w.E[i] * w.v[i] : -w.polished_mu[i];
    }
    ++s.iterations;
    if (!factor(p, w)) break;
    solve_directions(p, w);
    w.polished_x += w.dx;
    w.polished_mu += w.dmu;
    const double last = now;
    now = keep_best(p, w.polished_x, w.polished_mu, w, s);
    if (!(now < 0.5 * last)) ++rises;
  }
  return s.residual <= options.tolerance;
}

Status run(const SparseKineticQp& p, const SparseQpOptions& options, SparseKineticQpWorkspace& w, SparseKineticQpSolution& s) {
  constexpr double kStalled = 1e-8;
  Interior interior(p, w);
  interior.start();
  keep_best(p, w.x, w.mu, w, s);
  double next_polish = kFirstPolish * interior.first();
  while (s.iterations < options.max_iterations) {
    const double length = interior.step();
    ++s.iterations;
    const bool over = length < kStalled || !(interior.mean() > 1e-30 * interior.first());
    if (!over && interior.mean() > next_polish) continue;
    next_polish = kPolishAgain * interior.mean();
    if (polish(p, options, w, s)) return Status::solved;
    if (over) break;
  }
  if (s.residual <= options.accept) return Status::solved;
  if (!std::isfinite(s.residual)) return Status::numerical_error;
  return s.iterations >= options.max_iterations ? Status::iteration_limit : Status::inaccurate;
}

void size_workspace(const SparseKineticQp& p, SparseKineticQpWorkspace& w) {
  const Index n = p.c.size(), m = p.d.size();
  for (GrowVector* x :
       {&w.x, &w.z_lo, &w.z_hi, &w.dx, &w.dz_lo, &w.dz_hi, &w.dg, &w.D, &w.rho, &w.goal_lo, &w.goal_hi, &w.best_x, &w.polished_x}) {
    x->setZero(n);
  }
  for (GrowVector* x : {&w.mu, &w.t, &w.dmu, &w.dt, &w.dv, &w.E, &w.h, &w.best_mu, &w.polished_mu}) x->setZero(m);
}

}  // namespace

void sparse_kinetic_qp(const SparseKineticQp& p, const SparseQpOptions& options, SparseKineticQpWorkspace& w, SparseKineticQpSolution& s) {
  check(p);
  measure_rows(p.A, w.a_norm);
  measure_rows(p.C, w.c_norm);
  w.scale = velocity_scale(p, w);
  size_workspace(p, w);
  analyze(p, w);
  s.iterations = 0;
  s.residual = kInfinity;
  s.status = run(p, options, w, s);
  s.x = w.best_x.cwiseMax(p.lo).cwiseMin(p.hi);
  s.mu = w.best_mu.cwiseMax(0.0);
  s.residual = residual_at(p, s.x, s.mu, w);
}

}  // namespace stiction
