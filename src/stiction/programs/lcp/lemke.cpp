#include "stiction/programs/lcp/lemke.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using ConstMatrix = Eigen::Ref<const Eigen::MatrixXd>;
using ConstVector = Eigen::Ref<const Eigen::VectorXd>;

enum class TieRule { lexicographic, largest_pivot };
enum class End { basis, ray, pivot_limit };

/// What tells one path from another.
struct Path {
  TieRule rule = TieRule::lexicographic;
  double eps = 0.0;  ///< Tikhonov term of the equilibrated M
  int covering = 0;  ///< which covering vector d; 0 is all ones
  int max_pivots = 0;
};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The condensed tableau of w - M z - d z0 = q: row i reads x_row(i) + Σ_c T(i, c) x_col(c) = t_i. Variables are numbered
/// w_i -> i, z_i -> n + i, z0 -> 2n; `place` of a variable is its row, or -1 - column when nonbasic.
class Tableau {
 public:
  Tableau(LemkeWorkspace& workspace, int n, const LemkeOptions& options) : ws_(workspace), options_(options), n_(n) {
    stride_ = (n + 2 + 3) / 4 * 4;
  }

  /// The basis w of D M D + eps I and D q / |D q|_inf. Returns |D q|_inf.
  double reset(const ConstMatrix& M, const ConstVector& q, const Path& path);
  End run(const Path& path, int& pivots);

  int place(int var) const { return ws_.place[at(var)]; }
  double entry(int row, int col) const { return ws_.tableau[at(row) * at(stride_) + at(col)]; }
  int entering() const { return entering_; }
  int z0() const { return 2 * n_; }
  int complement(int var) const { return var < n_ ? var + n_ : var - n_; }

 private:
  double* row(int i) { return ws_.tableau.data() + at(i) * at(stride_); }
  double value(int i) const { return entry(i, n_ + 1); }
  double inverse(int i, int j) const;
  bool lexicographically_less(int i, int k) const;
  int first_row() const;
  int leaving_row(TieRule rule);
  void load_column(int c);
  void pivot(int r, int c);

  LemkeWorkspace& ws_;
  const LemkeOptions& options_;
  int n_, stride_, entering_ = 0;
};

/// d_i of covering vector k: ones, then spread over [1/8, 8] by an additive sequence that no problem is aligned with.
double covering(int k, int i) {
  if (k == 0) return 1.0;
  constexpr double kGolden = 0.6180339887498949;
  const double phase = kGolden * (i + 1) * k;
  return std::exp2(6.0 * (phase - std::floor(phase)) - 3.0);
}

double Tableau::reset(const ConstMatrix& M, const ConstVector& q, const Path& path) {
  ws_.tableau.resize(at(n_) * at(stride_));
  ws_.row_var.resize(at(n_));
  ws_.col_var.resize(at(n_ + 1));
  ws_.place.resize(at(2 * n_ + 1));
  const double size = q.cwiseProduct(ws_.equilibration.scale).lpNorm<Eigen::Infinity>();
  for (int i = 0; i < n_; ++i) {
    double* t = row(i);
    for (int j = 0; j < n_; ++j) t[j] = -ws_.equilibration.scale[i] * M(i, j) * ws_.equilibration.scale[j];
    t[i] -= path.eps;
    t[n_] = -covering(path.covering, i);
    t[n_ + 1] = ws_.equilibration.scale[i] * q[i] / size;
    std::fill(t + n_ + 2, t + stride_, 0.0);
    ws_.row_var[at(i)] = i;
    ws_.place[at(i)] = i;
    ws_.col_var[at(i)] = n_ + i;
    ws_.place[at(n_ + i)] = -1 - i;
  }
  ws_.col_var[at(n_)] = z0();
  ws_.place[at(z0())] = -1 - n_;
  return size;
}

/// Entry (i, j) of B⁻¹: the tableau's column of w_j, a unit vector while w_j is basic.
double Tableau::inverse(int i, int j) const {
  const int p = place(j);
  return p >= 0 ? (p == i ? 1.0 : 0.0) : entry(i, -1 - p);
}

/// Whether row i of [B⁻¹] over its pivot precedes row k: the order in which q + (δ, δ², ...) would break the tie.
bool Tableau::lexicographically_less(int i, int k) const {
  const double pi = ws_.column[i], pk = ws_.column[k];
  for (int j = 0; j < n_; ++j) {
    const double a = inverse(i, j) / pi, b = inverse(k, j) / pk;
    if (std::abs(a - b) > 1e-11 * (std::abs(a) + std::abs(b))) return a < b;
  }
  return i > k;
}

/// z0 rises until every w is non-negative: the row of least q / d, the last of equals (the unit rows are in that order).
int Tableau::first_row() const {
  int r = 0;
  for (int i = 1; i < n_; ++i) {
    if (value(i) * entry(r, n_) >= value(r) * entry(i, n_)) r = i;
  }
  return r;
}

void Tableau::load_column(int c) {
  for (int i = 0; i < n_; ++i) ws_.column[i] = entry(i, c);
}

int Tableau::leaving_row(TieRule rule) {
  const double smallest = options_.pivot_tolerance * ws_.column.lpNorm<Eigen::Infinity>();
  double bound = kInfinity;
  for (int i = 0; i < n_; ++i) {
    if (ws_.column[i] > smallest) bound = std::min(bound, (std::max(value(i), 0.0) + options_.tie_tolerance) / ws_.column[i]);
  }
  if (bound == kInfinity) return -1;
  int best = -1;
  for (int i = 0; i < n_; ++i) {
    if (!(ws_.column[i] > smallest) || value(i) > bound * ws_.column[i]) continue;
    if (ws_.row_var[at(i)] == z0()) return i;
    if (best < 0 || (rule == TieRule::lexicographic ? lexicographically_less(i, best) : ws_.column[i] > ws_.column[best])) best = i;
  }
  return best;
}

/// Exchanges the basic variable of row r with the nonbasic one of column c, whose entries are in ws.column.
void Tableau::pivot(int r, int c) {
  const double inverse_pivot = 1.0 / ws_.column[r];
  double* __restrict pivot_row = row(r);
  for (int j = 0; j < stride_; ++j) pivot_row[j] *= inverse_pivot;
  pivot_row[c] = inverse_pivot;
  for (int i = 0; i < n_; ++i) {
    const double factor = ws_.column[i];
    if (i == r || factor == 0.0) continue;
    double* __restrict t = row(i);
    t[c] = 0.0;
    for (int j = 0; j < stride_; ++j) t[j] -= factor * pivot_row[j];
  }
  std::swap(ws_.row_var[at(r)], ws_.col_var[at(c)]);
  ws_.place[at(ws_.row_var[at(r)])] = r;
  ws_.place[at(ws_.col_var[at(c)])] = -1 - c;
}

End Tableau::run(const Path& path, int& pivots) {
  int c = n_, r = first_row();
  load_column(c);
  for (int count = 0;; ++count) {
    const int leaving = ws_.row_var[at(r)];
    pivot(r, c);
    ++pivots;
    if (leaving == z0()) return End::basis;
    if (count >= path.max_pivots) return End::pivot_limit;
    entering_ = complement(leaving);
    c = -1 - place(entering_);
    load_column(c);
    r = leaving_row(path.rule);
    if (r < 0) return End::ray;
  }
}

void require_lcp(const ConstMatrix& M, const ConstVector& q) {
  require_size("M.cols", M.cols(), M.rows());
  require_size("q", q.size(), M.rows());
  require_finite("M", M);
  require_finite("q", q);
}

/// w = M z + q with z sparse.
void evaluate(const ConstMatrix& M, const ConstVector& q, LemkeWorkspace& ws) {
  ws.w = q;
  for (const int j : ws.support) ws.w.noalias() += ws.z[j] * M.col(j);
}

/// Clips z to z >= 0 and keeps it when it is better than what `solution` holds.
void offer(const ConstMatrix& M, const ConstVector& q, LemkeWorkspace& ws, LcpSolution& solution) {
  for (const int j : ws.support) ws.z[j] = std::max(ws.z[j], 0.0);
  evaluate(M, q, ws);
  const double residual = lcp_residual(ws.equilibration, q, ws.z, ws.w);
  if (!(residual < solution.residual)) return;
  solution.residual = residual;
  solution.z = ws.z;
  solution.w = ws.w.cwiseMax(0.0);
  for (const int j : ws.support) solution.w[j] = ws.z[j] > 0.0 ? 0.0 : solution.w[j];
  solution.active.assign(ws.support.begin(), ws.support.end());
}

/// Largest |w_S| in equilibrated units over the terms it adds up: what refinement drives to rounding.
double basis_defect(const ConstVector& q, const LemkeWorkspace& ws) {
  const auto& [scale, row_sums] = ws.equilibration;
  double size_z = 0.0, defect = 0.0;
  for (const int j : ws.support) size_z = std::max(size_z, std::abs(ws.z[j]) / scale[j]);
  for (const int j : ws.support) {
    const double size = std::abs(q[j]) * scale[j] + row_sums[j] * size_z;
    if (size > 0.0) defect = std::max(defect, std::abs(ws.w[j]) * scale[j] / size);
  }
  return std::isfinite(defect) ? defect : kInfinity;
}

/// z_S <- z_S + correction until w_S = 0 to rounding; `correct` maps ws.defect (-w_S in place) to the correction of z_S.
template <class Correct>
void refine(const ConstMatrix& M, const ConstVector& q, LemkeWorkspace& ws, Correct correct) {
  constexpr int kSweeps = 6;
  constexpr double kRounding = 4e-16;
  double previous = kInfinity;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    evaluate(M, q, ws);
    const double defect = basis_defect(q, ws);
    if (defect <= kRounding || defect > 0.5 * previous) return;
    previous = defect;
    correct();
  }
  evaluate(M, q, ws);
}

/// Solves the basis `ws.support` by LU; false when M_SS is singular.
bool solve_by_lu(const ConstMatrix& M, const ConstVector& q, LemkeWorkspace& ws) {
  const int k = static_cast<int>(ws.support.size());
  RowMap block = ws.lu.reset(k);
  for (int i = 0; i < k; ++i) {
    const int si = ws.support[at(i)];
    for (int j = 0; j < k; ++j)
      block(i, j) = ws.equilibration.scale[si] * M(si, ws.support[at(j)]) * ws.equilibration.scale[ws.support[at(j)]];
  }
  if (!ws.lu.factor()) return false;
  ws.z.setZero();
  ws.defect.resize(k);
  refine(M, q, ws, [&] {
    for (int i = 0; i < k; ++i) ws.defect[i] = -ws.equilibration.scale[ws.support[at(i)]] * ws.w[ws.support[at(i)]];
    ws.lu.solve(ws.defect.data());
    for (int i = 0; i < k; ++i) ws.z[ws.support[at(i)]] += ws.equilibration.scale[ws.support[at(i)]] * ws.defect[i];
  });
  return true;
}

/// Solves the basis the tableau ended in, with its B⁻¹ as the approximate inverse of refinement.
void solve_by_tableau(const ConstMatrix& M, const ConstVector& q, const Tableau& tableau, double size, LemkeWorkspace& ws) {
  const int n = static_cast<int>(q.size());
  ws.z.setZero();
  for (const int j : ws.support) ws.z[j] = size * ws.equilibration.scale[j] * tableau.entry(tableau.place(n + j), n + 1);
  ws.defect.resize(n);
  refine(M, q, ws, [&] {
    for (const int j : ws.support) ws.defect[j] = ws.equilibration.scale[j] * ws.w[j];
    for (const int j : ws.support) {
      double step = 0.0;
      for (const int i : ws.support) step += tableau.entry(tableau.place(n + j), -1 - tableau.place(i)) * ws.defect[i];
      ws.z[j] += ws.equilibration.scale[j] * step;
    }
  });
}

/// z-part of the direction along which the entering variable grows without bound, in the original units.
void take_ray(const ConstMatrix& M, const ConstVector& q, const Tableau& tableau, LemkeWorkspace& ws, LcpSolution& solution) {
  const int n = static_cast<int>(q.size());
  solution.ray.resize(n);
  for (int j = 0; j < n; ++j) {
    const int p = tableau.place(n + j);
    const double direction = p >= 0 ? std::max(-ws.column[p], 0.0) : (tableau.entering() == n + j ? 1.0 : 0.0);
    solution.ray[j] = ws.equilibration.scale[j] * direction;
  }
  const double largest = n == 0 ? 0.0 : solution.ray.maxCoeff();
  if (largest > 0.0) solution.ray /= largest;
  solution.infeasible = is_farkas_ray(M, q, solution.ray);
}

/// Follows one path and offers the basis it ends in.
End follow(const ConstMatrix& M, const ConstVector& q, const Path& path, const LemkeOptions& options, LemkeWorkspace& ws,
           LcpSolution& solution) {
  const int n = static_cast<int>(q.size());
  Tableau tableau(ws, n, options);
  const double size = tableau.reset(M, q, path);
  const End end = tableau.run(path, solution.pivots);
  if (end == End::ray && path.eps == 0.0 && !solution.infeasible) take_ray(M, q, tableau, ws, solution);
  if (end != End::basis) return end;
  ws.support.clear();
  for (int j = 0; j < n; ++j) {
    if (tableau.place(n + j) >= 0) ws.support.push_back(j);
  }
  const double before = solution.residual;
  if (path.eps == 0.0) {
    solve_by_tableau(M, q, tableau, size, ws);
    offer(M, q, ws, solution);
  }
  if (solution.residual > options.tolerance && solve_by_lu(M, q, ws)) offer(M, q, ws, solution);
  if (solution.residual < before) solution.regularisation = path.eps;
  return end;
}

bool solved(const LcpSolution& solution, const LemkeOptions& options) { return solution.residual <= options.tolerance; }

/// The trivial solution and the warm start; true when one of them solves the problem.
bool solve_without_path(const ConstMatrix& M, const ConstVector& q, std::span<const int> warm, const LemkeOptions& options,
                        LemkeWorkspace& ws, LcpSolution& solution) {
  const int n = static_cast<int>(q.size());
  ws.support.clear();
  ws.z.setZero(n);
  offer(M, q, ws, solution);
  if (q.size() == 0 || q.minCoeff() >= 0.0) return true;
  std::copy_if(warm.begin(), warm.end(), std::back_inserter(ws.support), [&](int j) { return j >= 0 && j < n; });
  std::sort(ws.support.begin(), ws.support.end());
  ws.support.erase(std::unique(ws.support.begin(), ws.support.end()), ws.support.end());
  if (ws.support.empty() || !solve_by_lu(M, q, ws)) return false;
  offer(M, q, ws, solution);
  return solved(solution, options);
}

End follow_paths(const ConstMatrix& M, const ConstVector& q, const LemkeOptions& options, LemkeWorkspace& ws, LcpSolution& solution) {
  const int n = static_cast<int>(q.size());
  Path path;
  path.max_pivots = options.max_pivots > 0 ? options.max_pivots : 1000 + 50 * n;
  const End first = follow(M, q, path, options, ws, solution);
  const auto done = [&] { return !options.fall_back || solved(solution, options) || solution.infeasible; };
  path.max_pivots = std::min(path.max_pivots, 100 + 10 * n);
  path.rule = TieRule::largest_pivot;
  for (path.covering = 0; path.covering < 4 && !done(); ++path.covering) follow(M, q, path, options, ws, solution);
  path.covering = 0;
  path.rule = TieRule::lexicographic;
  for (path.eps = 1e-14; path.eps < 2e-4 && !done(); path.eps *= 10.0) follow(M, q, path, options, ws, solution);
  return first;
}

void start(const ConstMatrix& M, LemkeWorkspace& ws, LcpSolution& solution) {
  const Eigen::Index n = M.rows();
  equilibrate(M, ws.equilibration);
  ws.column.resize(n);
  ws.support.reserve(at(static_cast<int>(n)));
  ws.lu.reserve(static_cast<int>(n));
  solution.active.reserve(at(static_cast<int>(n)));
  solution.active.clear();
  solution.z.setZero(n);
  solution.w.setZero(n);
  solution.ray.reserve(n);
  solution.ray.resize(0);
  solution.residual = kInfinity;
  solution.regularisation = 0.0;
  solution.infeasible = false;
  solution.pivots = 0;
}

/// The point z = 0, for a problem without a solution.
void withdraw(const ConstMatrix& M, const ConstVector& q, LemkeWorkspace& ws, LcpSolution& solution) {
  ws.support.clear();
  ws.z.setZero();
  solution.residual = kInfinity;
  solution.regularisation = 0.0;
  offer(M, q, ws, solution);
}

}  // namespace

void lemke(const ConstMatrix& M, const ConstVector& q, std::span<const int> warm, const LemkeOptions& options, LemkeWorkspace& ws,
           LcpSolution& solution) {
  require_lcp(M, q);
  start(M, ws, solution);
  End end = End::basis;
  if (!solve_without_path(M, q, warm, options, ws, solution)) end = follow_paths(M, q, options, ws, solution);
  if (solved(solution, options)) {
    solution.status = Status::solved;
    solution.infeasible = false;
    solution.ray.resize(0);
  } else if (solution.ray.size() > 0) {
    solution.status = Status::ray_termination;
    withdraw(M, q, ws, solution);
  } else {
    solution.status = end == End::pivot_limit ? Status::iteration_limit : Status::inaccurate;
  }
}

}  // namespace stiction
