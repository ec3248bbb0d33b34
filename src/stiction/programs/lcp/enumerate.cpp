#include "stiction/programs/lcp/enumerate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using ConstMatrix = Eigen::Ref<const Eigen::MatrixXd>;
using ConstVector = Eigen::Ref<const Eigen::VectorXd>;
using Mask = std::uint32_t;

constexpr int kMostSolutions = 100000;  // 16 MB of them at n = 20, where there may be 2²⁰

void require_small_lcp(const ConstMatrix& M, const ConstVector& q, const EnumerateOptions& options) {
  require_size("M.cols", M.cols(), M.rows());
  require_size("q", q.size(), M.rows());
  require_finite("M", M);
  require_finite("q", q);
  const int limit = std::min(options.max_size, 30);
  if (M.rows() > limit) throw InvalidArgument("M", "at most " + std::to_string(limit) + " rows", std::to_string(M.rows()));
}

/// Visits every vertex of the set of solutions. `visit` gets ws.z and ws.w and returns false to stop.
class Search {
 public:
  Search(const ConstMatrix& M, const ConstVector& q, const EnumerateOptions& options, EnumerateWorkspace& workspace)
      : M_(M), q_(q), tolerance_(options.tolerance), ws_(workspace), n_(static_cast<int>(q.size())) {
    ws_.z.resize(n_);
    ws_.w.resize(n_);
    ws_.row_norm = M.cwiseAbs().rowwise().sum();
    ws_.support.reserve(n_);
    ws_.columns.resize(n_);
    ws_.rows.reserve(n_);
    ws_.system.reserve(Eigen::Index{n_} * (n_ + 1));
  }

  template <class Visit>
  void run(Visit visit) {
    const Mask end = Mask{1} << n_;
    for (Mask support = 0; support < end; ++support) {
      if (!visit_support(support, visit)) return;
    }
  }
  Eigen::Index bases() const { return bases_; }

 private:
  enum class Outcome { unique, inconsistent, deficient };

  static void list(Mask mask, std::vector<int>& indices) {
    indices.clear();
    for (; mask != 0; mask &= mask - 1) indices.push_back(std::countr_zero(mask));
  }

  Outcome solve(int& nullity);
  bool is_solution();

  /// All vertices with exactly this support. The rows S ∪ W vanish, W of the size of the nullity of M_SS.
  template <class Visit>
  bool visit_support(Mask support, Visit& visit) {
    list(support, ws_.support);
    list(support, ws_.rows);
    int nullity = 0;
    const Outcome outcome = solve(nullity);
    if (outcome == Outcome::inconsistent) return true;
    if (outcome == Outcome::unique) return !is_solution() || visit();
    const Mask others = (Mask{1} << n_) - 1 - support;
    const int count = std::popcount(others);
    if (nullity > count) return true;
    const std::uint64_t end = std::uint64_t{1} << count;
    found_ = 0;
    for (std::uint64_t choice = (std::uint64_t{1} << nullity) - 1; choice < end; choice = next_choice(choice)) {
      list(support | spread(static_cast<Mask>(choice), others), ws_.rows);
      int left = 0;
      if (solve(left) == Outcome::unique && is_solution() && is_new() && !visit()) return false;
    }
    return true;
  }

  /// The next larger number with as many bits set.
  static std::uint64_t next_choice(std::uint64_t x) {
    const std::uint64_t low = x & (~x + 1), ripple = x + low;
    return ripple | (((x ^ ripple) / low) >> 2);
  }
  /// Bit k of `choice` moves to the k-th set bit of `places`.
  static Mask spread(Mask choice, Mask places) {
    Mask out = 0;
    for (; choice != 0; choice >>= 1, places &= places - 1) {
      if ((choice & 1) != 0) out |= places & (~places + 1);
    }
    return out;
  }

  bool is_new();

  const ConstMatrix& M_;
  const ConstVector& q_;
  double tolerance_;
  EnumerateWorkspace& ws_;
  int n_;
  int found_ = 0;  ///< vertices found at the present singular support, in ws.vertices
  Eigen::Index bases_ = 0;
};

/// M_{rows, support} z_support = -q_rows by elimination with complete pivoting on equilibrated rows.
Search::Outcome Search::solve(int& nullity) {
  constexpr double kSingular = 1e-11;
  ++bases_;
  const int m = static_cast<int>(ws_.rows.size()), k = static_cast<int>(ws_.support.size());
  ws_.system.resize(m, k + 1);
  auto& s = ws_.system;
  for (int i = 0; i < m; ++i) {
    const int row = ws_.rows[i];
    const double scale = ws_.row_norm[row] > 0.0 ? 1.0 / ws_.row_norm[row] : 1.0;
    for (int j = 0; j < k; ++j) s(i, j) = scale * M_(row, ws_.support[j]);
    s(i, k) = -scale * q_[row];
  }
  const double size_q = m == 0 ? 0.0 : s.col(k).lpNorm<Eigen::Infinity>();
  std::iota(ws_.columns.begin(), ws_.columns.begin() + k, 0);
  int rank = 0;
  double first = 0.0;
  for (; rank < std::min(m, k); ++rank) {
    Eigen::Index p = 0, c = 0;
    const double pivot = s.block(rank, rank, m - rank, k - rank).cwiseAbs().maxCoeff(&p, &c);
    if (rank == 0) first = pivot;
    if (!(pivot > kSingular * first)) break;
    s.row(rank).swap(s.row(rank + p));
    s.col(rank).swap(s.col(rank + c));
    std::swap(ws_.columns[rank], ws_.columns[rank + static_cast<int>(c)]);
    for (int i = rank + 1; i < m; ++i) {
      const double factor = s(i, rank) / s(rank, rank);
      if (factor != 0.0) s.row(i).tail(k - rank) -= factor * s.row(rank).tail(k - rank);
    }
  }
  for (int i = rank; i < m; ++i) {
    if (std::abs(s(i, k)) > tolerance_ * size_q) return Outcome::inconsistent;
  }
  nullity = k - rank;
  if (nullity > 0) return Outcome::deficient;
  ws_.z.setZero();
  for (int i = k - 1; i >= 0; --i) {
    double x = s(i, k);
    for (int j = i + 1; j < k; ++j) x -= s(i, j) * ws_.z[ws_.support[ws_.columns[j]]];
    ws_.z[ws_.support[ws_.columns[i]]] = x / s(i, i);
  }
  return Outcome::unique;
}

/// z_S > 0 and w >= 0 to tolerance; cleans both when so.
bool Search::is_solution() {
  const double largest = n_ == 0 ? 0.0 : ws_.z.lpNorm<Eigen::Infinity>();
  for (const int j : ws_.support) {
    if (!(ws_.z[j] > tolerance_ * largest)) return false;
  }
  ws_.w = q_;
  for (const int j : ws_.support) ws_.w += ws_.z[j] * M_.col(j);
  for (int i = 0; i < n_; ++i) {
    if (!(ws_.w[i] >= -tolerance_ * (std::abs(q_[i]) + ws_.row_norm[i] * largest))) return false;
  }
  ws_.w = ws_.w.cwiseMax(0.0);
  for (const int j : ws_.rows) ws_.w[j] = 0.0;
  return true;
}

/// Whether ws.z was not found yet at this support; remembers it.
bool Search::is_new() {
  const double slack = 1e-7 * ws_.z.lpNorm<Eigen::Infinity>();
  for (int c = 0; c < found_; ++c) {
    const Eigen::Map<const Eigen::VectorXd> known(ws_.vertices.data() + c * n_, n_);
    if ((known - ws_.z).lpNorm<Eigen::Infinity>() <= slack) return false;
  }
  ws_.vertices.resize(found_ * n_);
  ws_.vertices.insert(ws_.vertices.end(), ws_.z.data(), ws_.z.data() + n_);
  ++found_;
  return true;
}

}  // namespace

void enumerate(const ConstMatrix& M, const ConstVector& q, const EnumerateOptions& options, EnumerateWorkspace& workspace,
               LcpSolutions& solutions) {
  require_small_lcp(M, q, options);
  Search search(M, q, options, workspace);
  solutions.size = static_cast<int>(q.size());
  solutions.count = 0;
  solutions.complete = true;
  solutions.values.clear();
  search.run([&] {
    if (solutions.count == kMostSolutions) return solutions.complete = false;
    solutions.values.insert(solutions.values.end(), workspace.z.data(), workspace.z.data() + workspace.z.size());
    ++solutions.count;
    return true;
  });
}

void mindiff(const ConstMatrix& M, const ConstVector& q, const ConstMatrix& T, const ConstVector& c, const ConstVector& x0,
             const EnumerateOptions& options, EnumerateWorkspace& workspace, LcpSolution& solution) {
  require_small_lcp(M, q, options);
  require_size("T.cols", T.cols(), q.size());
  require_size("c", c.size(), T.rows());
  require_size("x0", x0.size(), T.rows());
  Search search(M, q, options, workspace);
  double closest = kInfinity;
  solution.z.setZero(q.size());
  solution.w.setZero(q.size());
  solution.ray.resize(0);
  solution.active.clear();
  solution.active.reserve(q.size());
  search.run([&] {
    workspace.x = c - x0;
    workspace.x.noalias() += T * workspace.z;
    if (workspace.x.norm() < closest) {
      closest = workspace.x.norm();
      solution.z = workspace.z;
      solution.w = workspace.w;
      solution.active = workspace.support;
    }
    return true;
  });
  solution.infeasible = closest == kInfinity;
  solution.status = solution.infeasible ? Status::infeasible : Status::solved;
  solution.residual = solution.infeasible ? kInfinity : lcp_residual(M, q, solution.z);
  solution.pivots = static_cast<int>(std::min<Eigen::Index>(search.bases(), std::numeric_limits<int>::max()));
}

}  // namespace stiction
