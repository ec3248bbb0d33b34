#include "stiction/programs/lcp/lemke.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using ConstMatrix = Eigen::Ref<const Eigen::MatrixXd>;
using ConstVector = Eigen::Ref<const Eigen::VectorXd>;

using End = LemkePath::End;

void require_lcp(const ConstMatrix& M, const ConstVector& q) {
  require_size("M.cols", M.cols(), M.rows());
  require_size("q", q.size(), M.rows());
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
  const GrowVector &scale = ws.equilibration.scale, &row_sums = ws.equilibration.row_sums;
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
    const int si = ws.support[i];
    for (int j = 0; j < k; ++j) block(i, j) = ws.equilibration.scale[si] * M(si, ws.support[j]) * ws.equilibration.scale[ws.support[j]];
  }
  if (!ws.lu.factor()) return false;
  ws.z.setZero();
  ws.defect.resize(k);
  refine(M, q, ws, [&] {
    for (int i = 0; i < k; ++i) ws.defect[i] = -ws.equilibration.scale[ws.support[i]] * ws.w[ws.support[i]];
    ws.lu.solve(ws.defect.data());
    for (int i = 0; i < k; ++i) ws.z[ws.support[i]] += ws.equilibration.scale[ws.support[i]] * ws.defect[i];
  });
  return true;
}

/// Follows one path and offers the basis it ends in, or keeps its ray.
End follow(const ConstMatrix& M, const ConstVector& q, const LemkePathOptions& options, double tolerance, LemkeWorkspace& ws,
           LcpSolution& solution) {
  ws.path.reset(M, q, ws.equilibration, options);
  const End end = ws.path.run(solution.pivots);
  if (end == End::ray && options.eps == 0.0 && !solution.infeasible) {
    solution.ray.resize(q.size());
    ws.path.ray(solution.ray);
    solution.infeasible = is_farkas_ray(M, q, solution.ray);
  }
  if (end != End::basis) return end;
  ws.path.support(ws.support);
  const double before = solution.residual;
  if (options.eps == 0.0) {
    ws.path.solution(ws.z);
    refine(M, q, ws, [&] { ws.path.correct(ws.w, ws.z); });
    offer(M, q, ws, solution);
  }
  if (solution.residual > tolerance && solve_by_lu(M, q, ws)) offer(M, q, ws, solution);
  if (solution.residual < before) solution.regularisation = options.eps;
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
  LemkePathOptions path;
  path.pivot_tolerance = options.pivot_tolerance;
  path.tie_tolerance = options.tie_tolerance;
  path.max_pivots = options.max_pivots > 0 ? options.max_pivots : 200 + 10 * n;
  const End first = follow(M, q, path, options.tolerance, ws, solution);
  const auto done = [&] { return !options.fall_back || solved(solution, options) || solution.infeasible; };
  path.max_pivots = std::min(path.max_pivots, 200 + 10 * n);
  path.pivot_tolerance *= 0.01;
  for (int k = 0; k < 8 && !done(); ++k) {
    path.covering = k / 2;
    path.rule = k % 2 == 0 ? TieRule::largest_pivot : TieRule::lexicographic;
    path.tie_tolerance = options.tie_tolerance * (k % 2 == 0 ? 10.0 : 1e-3);
    follow(M, q, path, options.tolerance, ws, solution);
  }
  path.covering = 0;
  path.rule = TieRule::lexicographic;
  for (path.eps = 1e-14; path.eps < 2e-4 && !done(); path.eps *= 10.0) follow(M, q, path, options.tolerance, ws, solution);
  return first;
}

void start(const ConstMatrix& M, LemkeWorkspace& ws, LcpSolution& solution) {
  const Eigen::Index n = M.rows();
  equilibrate(M, ws.equilibration);
  if (!ws.equilibration.row_sums.allFinite()) {
    require_finite("M", M);
    throw InvalidArgument("M", "entries that can be scaled to 1", "a row or column out of range");
  }
  ws.path.reserve(n);
  for (auto* vector : {&ws.z, &ws.w, &ws.defect}) vector->reserve(n);
  ws.support.reserve(n);
  ws.lu.reserve(n);
  solution.active.reserve(n);
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
