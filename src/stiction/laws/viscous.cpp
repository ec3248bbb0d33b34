#include "stiction/laws/viscous.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/programs/lcp/goldfarb_idnani.hpp"
#include "stiction/programs/lcp/ppm.hpp"

namespace stiction {

namespace {

using Index = Eigen::Index;

void measure_damping(const StandardForm& form, ViscousWorkspace& w) {
  w.damping.setZero(form.problem.contacts());
  if (form.compliance.size() == 0) return;
  for (Index k = 0; k < w.damping.size(); ++k) {
    if (form.compliance[2 * k + 1] > 0.0) w.damping[k] = 1.0 / form.compliance[2 * k + 1];
  }
}

// K = I + Σ D (s sᵀ + t tᵀ) and g = -Σ D (s u_s + t u_t).
void assemble_implicit(const ReducedProblem& p, const ConstRowMap& rows, ViscousWorkspace& w) {
  const Index r = rows.cols();
  GrowMatrix& K = w.factor.reset(r);
  K.setIdentity();
  w.g.setZero(r);
  for (Index i = 0; i < p.contacts(); ++i) {
    if (w.damping[i] == 0.0) continue;
    for (const Index row : {3 * i + 1, 3 * i + 2}) {
      const double* a = rows.data() + row * r;
      for (Index j = 0; j < r; ++j) {
        const double x = w.damping[i] * a[j];
        if (x == 0.0) continue;
        for (Index k = 0; k <= j; ++k) K(k, j) += x * a[k];
        w.g[j] -= x * p.u_free[row];
      }
    }
  }
}

// N̂ and B̂, and the velocities of their rows at λ_N = β = 0.
void whiten_rows(const ReducedProblem& p, const ConstRowMap& rows, ViscousWorkspace& w) {
  const Index n = p.contacts(), m = p.bounded_rows(), r = rows.cols();
  w.normals.assign((n + m) * r, 0.0);
  w.q.resize(n + m);
  w.lo.setZero(n + m);
  w.hi.resize(n + m);
  w.hi.setConstant(kInfinity);
  for (Index v = 0; v < n + m; ++v) {
    Eigen::Map<Eigen::VectorXd> row(w.normals.data() + v * r, r);
    if (v < n) {
      row = rows.row(3 * v).transpose();
      w.q[v] = p.u_free[3 * v] + p.offset[v];
    } else {
      p.Bt.add_group_transposed(static_cast<int>(v - n), Eigen::Matrix<double, 1, 1>(1.0), row);
      w.q[v] = p.w_free[v - n];
      w.lo[v] = p.lo[v - n];
      w.hi[v] = p.hi[v - n];
    }
    w.factor.solve_lower(row.data());
    w.q[v] += row.dot(w.g);
  }
}

void solve_program(const ReducedProblem& p, const SolverOptions& options, Solver solver, ViscousWorkspace& w, Impulses& out) {
  const Index n = p.contacts(), m = p.bounded_rows(), r = p.rank_bound();
  if (is_pivoting(solver) && m == 0) {
    if (!options.warm_start) w.lcp_solution.active.clear();
    const auto& method = solver == Solver::ppm ? ppm : goldfarb_idnani;
    method(ConstRowMap(w.normals.data(), n, r), w.q, w.lcp_solution.active, {.max_pivots = options.max_pivots}, w.lcp, w.lcp_solution);
    for (const int i : w.lcp_solution.active) out.lambda[3 * i] = w.lcp_solution.z[i];
    w.y_hat = w.g + w.lcp_solution.y;
    out.status = w.lcp_solution.status;
    out.iterations = w.lcp_solution.pivots;
    return;
  }
  KineticQp qp;
  qp.A = RowsView(w.normals.data(), n + m, r, r);
  qp.c = w.q;
  qp.lo = w.lo;
  qp.hi = w.hi;
  w.x0 = w.qp_solution.x;
  if (options.warm_start && w.x0.size() == n + m) qp.x0 = w.x0;
  out.status = kinetic_qp(qp, {.max_pivots = options.max_pivots}, w.qp, w.qp_solution);
  out.iterations = w.qp_solution.pivots;
  for (Index i = 0; i < n; ++i) out.lambda[3 * i] = w.qp_solution.x[i];
  out.beta = w.qp_solution.x.tail(m);
  w.y_hat = w.g + w.qp_solution.y;
}

// Friction falls by D times the change of slip.
void add_friction(const ReducedProblem& p, const ConstRowMap& rows, const ViscousWorkspace& w, const GrowVector& dy, bool whole,
                  Impulses& out) {
  const Index r = rows.cols();
  for (Index i = 0; i < p.contacts(); ++i) {
    if (w.damping[i] == 0.0) continue;
    for (const Index row : {3 * i + 1, 3 * i + 2}) {
      const double* a = rows.data() + row * r;
      double slip = whole ? p.u_free[row] : 0.0;
      for (Index j = 0; j < r; ++j) slip += a[j] * dy[j];
      out.lambda[row] -= w.damping[i] * slip;
    }
  }
}

// One Newton step on momentum and on the velocities of the pushing normals, the set of which stays.
void refine(const ReducedProblem& p, const ConstRowMap& rows, bool pivoted, ViscousWorkspace& w, Impulses& out) {
  w.residual.setZero(rows.cols());
  p.Rt.add_transposed(out.lambda, w.residual);
  p.Bt.add_transposed(out.beta, w.residual);
  w.residual -= w.y;
  w.factor.solve_lower(w.residual.data());
  if (pivoted) {
    const std::vector<int>& active = w.lcp_solution.active;
    const Index k = static_cast<Index>(active.size());
    w.change.resize(k);
    for (Index j = 0; j < k; ++j) {
      const Index i = active[j];
      const Eigen::Map<const Eigen::VectorXd> row(w.normals.data() + i * rows.cols(), rows.cols());
      w.change[j] = -p.u_free[3 * i] - p.offset[i] - rows.row(3 * i).dot(w.y) - row.dot(w.residual);
    }
    w.lcp.basis.solve_lower(w.change.data());
    w.lcp.basis.solve_upper(w.change.data());
    for (Index j = 0; j < k; ++j) {
      const Index i = active[j];
      out.lambda[3 * i] = std::max(0.0, out.lambda[3 * i] + w.change[j]);
      w.residual += w.change[j] * Eigen::Map<const Eigen::VectorXd>(w.normals.data() + i * rows.cols(), rows.cols());
    }
  }
  w.factor.solve_upper(w.residual.data());
  w.y += w.residual;
  add_friction(p, rows, w, w.residual, false, out);
}

constexpr int kRefinements = 2;

// N̂ and what goes with it. False where K has no factor in double precision, as D G ~ 1e17 hides its identity: no answer, and says so.
bool eliminate_friction(const StandardForm& form, const ConstRowMap& rows, ViscousWorkspace& w, Impulses& out) {
  const ReducedProblem& p = form.problem;
  out.lambda.setZero(3 * p.contacts());
  out.beta.setZero(p.bounded_rows());
  measure_damping(form, w);
  assemble_implicit(p, rows, w);
  w.factor.factor();
  w.factor.solve_lower(w.g.data());
  whiten_rows(p, rows, w);
  const ConstRowMap whitened(w.normals.data(), w.q.size(), rows.cols());
  if (w.g.allFinite() && w.q.allFinite() && std::isfinite(whitened.squaredNorm())) return true;
  out.motion.resize(0);
  out.iterations = 0;
  out.status = Status::numerical_error;
  return false;
}

// Motion and friction from w.y_hat.
void finish(const ReducedProblem& p, const ConstRowMap& rows, bool pivoted, ViscousWorkspace& w, Impulses& out) {
  w.y = w.y_hat;
  w.factor.solve_upper(w.y.data());
  add_friction(p, rows, w, w.y, true, out);
  for (int k = 0; k < kRefinements && out.status == Status::solved; ++k) refine(p, rows, pivoted, w, out);
  out.motion = w.y;
}

}  // namespace

void solve_viscous(const StandardForm& form, const SolverOptions& options, Solver solver, ViscousWorkspace& w, Impulses& out) {
  const ReducedProblem& p = form.problem;
  const ConstRowMap rows = dense_rows(p.Rt, w.rows);
  if (!eliminate_friction(form, rows, w, out)) return;
  solve_program(p, options, solver, w, out);
  finish(p, rows, p.bounded_rows() == 0 && is_pivoting(solver), w, out);
}

void solve_normals_by_lemke(const StandardForm& form, const SolverOptions& options, ViscousWorkspace& w, PyramidLcpWorkspace& lcp,
                            Impulses& out) {
  const ReducedProblem& p = form.problem;
  const Index n = p.contacts(), r = p.rank_bound();
  const ConstRowMap rows = dense_rows(p.Rt, w.rows);
  if (!eliminate_friction(form, rows, w, out)) return;
  const ConstRowMap normals(w.normals.data(), n, r);
  lcp.M.resize(n, n);
  lcp.M.noalias() = normals.lazyProduct(normals.transpose());  // a blocked product would allocate
  lemke(lcp.M, w.q, {.max_pivots = options.max_pivots}, lcp.lemke, lcp.solution);
  out.status = lcp.solution.status;
  out.iterations = lcp.solution.pivots;
  w.y_hat = w.g;
  for (Index i = 0; i < n && lcp.solution.z.size() == n; ++i) {
    out.lambda[3 * i] = lcp.solution.z[i];
    w.y_hat += lcp.solution.z[i] * normals.row(i).transpose();
  }
  finish(p, rows, false, w, out);
}

}  // namespace stiction
