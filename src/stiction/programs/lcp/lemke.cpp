#include "stiction/programs/lcp/lemke.hpp"

#include <algorithm>
#include <cmath>

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

/// z_S <- z_S - M_SS⁻¹ w_S until w_S = 0 to rounding.
void refine(const ConstMatrix& M, const ConstVector& q, LemkeWorkspace& ws) {
  constexpr int kSweeps = 6;
  constexpr double kRounding = 4e-16;
  double previous = kInfinity;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    evaluate(M, q, ws);
    const double defect = basis_defect(q, ws);
    if (defect <= kRounding || defect > 0.5 * previous) return;
    previous = defect;
    ws.path.correct(ws.w, ws.z);
  }
  evaluate(M, q, ws);
}

/// Follows one path and offers the basis it ends in, refined on the original M, or keeps its ray.
End follow(const ConstMatrix& M, const ConstVector& q, const LemkePathOptions& options, LemkeWorkspace& ws, LcpSolution& solution) {
  ws.path.reset(M, q, ws.equilibration, options);
  const End end = ws.path.run(solution.pivots);
  if (end == End::ray && !solution.infeasible) {
    solution.ray.resize(q.size());
    ws.path.ray(solution.ray);
    solution.infeasible = is_farkas_ray(M, q, solution.ray);
  }
  if (end != End::basis) return end;
  ws.path.support(ws.support);
  ws.path.solution(ws.z);
  refine(M, q, ws);
  offer(M, q, ws, solution);
  return end;
}

bool solved(const LcpSolution& solution, const LemkeOptions& options) { return solution.residual <= options.tolerance; }

End follow_paths(const ConstMatrix& M, const ConstVector& q, const LemkeOptions& options, LemkeWorkspace& ws, LcpSolution& solution) {
  const int usual = 200 + 10 * static_cast<int>(q.size());
  LemkePathOptions path;
  path.max_pivots = options.max_pivots > 0 ? options.max_pivots : usual;
  const End first = follow(M, q, path, ws, solution);
  const double tie = path.tie_tolerance;
  path.pivot_tolerance *= 0.01;
  for (int k = 0; k < 8 && !solved(solution, options) && !solution.infeasible; ++k) {
    path.max_pivots = options.max_pivots > 0 ? std::min(options.max_pivots - solution.pivots, usual) : usual;
    if (path.max_pivots <= 0) return End::pivot_limit;
    path.covering = k / 2;
    path.rule = k % 2 == 0 ? TieRule::largest_pivot : TieRule::lexicographic;
    path.tie_tolerance = tie * (k % 2 == 0 ? 10.0 : 1e-3);
    follow(M, q, path, ws, solution);
  }
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
  for (auto* vector : {&ws.z, &ws.w}) vector->reserve(n);
  ws.support.reserve(n);
  solution.active.reserve(n);
  solution.active.clear();
  solution.z.setZero(n);
  solution.w.setZero(n);
  solution.ray.reserve(n);
  solution.ray.resize(0);
  solution.residual = kInfinity;
  solution.infeasible = false;
  solution.pivots = 0;
}

/// The point z = 0, for a problem without a solution.
void withdraw(const ConstMatrix& M, const ConstVector& q, LemkeWorkspace& ws, LcpSolution& solution) {
  ws.support.clear();
  ws.z.setZero();
  solution.residual = kInfinity;
  offer(M, q, ws, solution);
}

}  // namespace

void lemke(const ConstMatrix& M, const ConstVector& q, const LemkeOptions& options, LemkeWorkspace& ws, LcpSolution& solution) {
  require_lcp(M, q);
  start(M, ws, solution);
  ws.support.clear();
  ws.z.setZero(q.size());
  offer(M, q, ws, solution);
  End end = End::basis;
  if (q.size() > 0 && q.minCoeff() < 0.0) end = follow_paths(M, q, options, ws, solution);
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
