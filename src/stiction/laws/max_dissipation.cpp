#include "stiction/laws/max_dissipation.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Vector3d;

constexpr double kRounding = 1e-14;

// Smallest velocity along a generator of the pyramid: g_N + μ min_j d_j·g_T; of what sticks at any force, g_N or -|g_T|.
double least_generator_velocity(const Vector3d& g, double mu, const SectionShape& section) {
  if (std::isinf(mu)) return std::min(g[0], -std::hypot(g[1], g[2]));
  return g[0] - mu * section.slip(g.tail<2>());
}

using Row = Eigen::Matrix<double, 1, 1>;

/// +1: w >= 0 is demanded, -1: w <= 0; 0: nothing, the row may give way.
double demanded_sign(const ReducedProblem& p, int j) {
  if (p.hi[j] == kInfinity) return 1.0;
  return p.lo[j] == -kInfinity ? -1.0 : 0.0;
}

void list_constraints(const ReducedProblem& p, MaxDissipationWorkspace& w) {
  w.constraints.clear();
  for (int i = 0; i < p.contacts(); ++i) {
    w.constraints.push_back({i, -1, 1.0});
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    if (demanded_sign(p, j) != 0.0) w.constraints.push_back({-1, j, demanded_sign(p, j)});
  }
  w.rhs.resize(static_cast<Index>(w.constraints.size()));
  for (Index k = 0; k < w.rhs.size(); ++k) {
    const auto& c = w.constraints[k];
    w.rhs[k] = c.contact >= 0 ? -p.u_free[3 * c.contact] - p.offset[c.contact] : -c.sign * p.w_free[c.row];
  }
}

void make_constraint_rows(const ReducedProblem& p, MaxDissipationWorkspace& w) {
  const Index size = w.rhs.size(), r = p.rank_bound();
  w.constraint_rows.resize(r, size);
  for (Index k = 0; k < size; ++k) {
    const auto& c = w.constraints[k];
    w.y.setZero(r);
    if (c.contact >= 0) {
      const Vector3d normal(1.0, 0.0, 0.0);  // UnitX() would be copied to the heap
      p.Rt.add_group_transposed(c.contact, normal, w.y);
    } else {
      p.Bt.add_group_transposed(c.row, Row(c.sign), w.y);
    }
    w.constraint_rows.col(k) = w.y;
  }
}

/// c of the variables: that of the bounded rows, zero where it is rounding.
void make_cost(const ReducedProblem& p, MaxDissipationWorkspace& w) {
  w.cost.setZero(w.generators.size());
  for (Index k = w.generators.contact_variables; k < w.generators.size(); ++k) {
    const int row = w.generators.variables[k].row;
    double shift = 0.0, square = 0.0;
    for (int e = p.Bt.entry_begin(row); e < p.Bt.entry_end(row); ++e) {
      const ConstRowMap b = p.Bt.entry(e);
      shift += b.row(0).dot(p.y_free.segment(p.Bt.col_offset(p.Bt.entry_block(e)), b.cols()));
      square += b.squaredNorm();
    }
    const double cost = p.w_free[row] - shift, size = std::abs(p.w_free[row]) + std::sqrt(square) * p.y_free.norm();
    w.cost[k] = std::abs(cost) <= kRounding * size ? 0.0 : cost;
  }
}

// direction · (the contact's rows) as one row of `to`.
void add_contact_row(const BlockRows& Rt, int contact, const Vector3d& direction, BlockRows& to) {
  to.add_group();
  for (int e = Rt.entry_begin(contact); e < Rt.entry_end(contact); ++e) {
    const int k = Rt.entry_block(e);
    RowMap row = to.add_entry(k);
    for (int axis = 0; axis < 3; ++axis) row += direction[axis] * Rt.entry(e).row(axis);
  }
}

void add_bounded_row(const BlockRows& Bt, int j, double sign, BlockRows& to) {
  to.add_group();
  for (int e = Bt.entry_begin(j); e < Bt.entry_end(j); ++e) to.add_entry(Bt.entry_block(e)) = sign * Bt.entry(e);
}

void make_sparse_program(const ReducedProblem& p, MaxDissipationWorkspace& w) {
  SparseKineticQp& qp = w.sparse;
  qp.A.reset(1, p.Rt.block_sizes());
  qp.C.reset(1, p.Rt.block_sizes());
  for (const Generators::Variable& variable : w.generators.variables) {
    if (variable.contact >= 0) {
      add_contact_row(p.Rt, variable.contact, variable.direction, qp.A);
    } else {
      add_bounded_row(p.Bt, variable.row, 1.0, qp.A);
    }
  }
  for (const auto& c : w.constraints) {
    if (c.contact >= 0) {
      add_contact_row(p.Rt, c.contact, {1.0, 0.0, 0.0}, qp.C);
    } else {
      add_bounded_row(p.Bt, c.row, c.sign, qp.C);
    }
  }
  qp.c = w.cost;
  qp.lo = w.generators.lo;
  qp.hi = w.generators.hi;
  qp.d = w.rhs;
  qp.y0 = p.y_free;
}

void set_impulses(const ReducedProblem& p, const GrowVector& x, const GrowVector& mu, const MaxDissipationWorkspace& w, Impulses& out) {
  expand(p, w.generators, x, out.lambda, out.beta);
  out.multipliers.setZero(p.contacts() + p.bounded_rows());
  for (std::size_t k = 0; k < w.constraints.size(); ++k) {
    const auto& c = w.constraints[k];
    out.multipliers[c.contact >= 0 ? c.contact : p.contacts() + c.row] = c.sign * mu[static_cast<Index>(k)];
  }
}

void solve_sparse(const StandardForm& form, const SolverOptions& options, MaxDissipationWorkspace& w, Impulses& out) {
  const ReducedProblem& p = form.problem;
  list_generators(p, GeneratorKind::cone, form.edges, w.generators);
  make_cost(p, w);
  list_constraints(p, w);
  make_sparse_program(p, w);
  SparseQpOptions program;
  program.max_iterations = std::min(program.max_iterations, options.max_factorizations);
  sparse_kinetic_qp(w.sparse, program, w.interior, w.interior_solution);
  out.status = w.interior_solution.status;
  out.iterations = w.interior_solution.iterations;
  set_impulses(p, w.interior_solution.x, w.interior_solution.mu, w, out);
}

void solve_dense(const StandardForm& form, const SolverOptions& options, MaxDissipationWorkspace& w, Impulses& out) {
  const ReducedProblem& p = form.problem;
  make_generators(p, GeneratorKind::cone, form.edges, w.generators);
  const Index r = p.rank_bound();
  make_cost(p, w);
  list_constraints(p, w);
  make_constraint_rows(p, w);
  KineticQp qp;
  qp.A = RowsView(w.generators.storage.data(), w.generators.size(), r, r);
  qp.C = RowsView(w.constraint_rows.data(), w.rhs.size(), r, r);
  qp.y0 = p.y_free;
  if (p.bounded_rows() > 0) qp.c = w.cost;
  qp.lo = w.generators.lo;
  qp.hi = w.generators.hi;
  qp.d = w.rhs;
  w.x0 = w.solution.x;
  w.mu0 = w.solution.mu;
  if (options.warm_start && w.x0.size() == w.generators.size() && w.mu0.size() == w.rhs.size()) {
    qp.x0 = w.x0;
    qp.mu0 = w.mu0;
  }
  out.status = kinetic_qp(qp, {.max_pivots = options.max_pivots}, w.qp, w.solution);
  out.iterations = w.solution.pivots;
  set_impulses(p, w.solution.x, w.solution.mu, w, out);
}

}  // namespace

void solve_max_dissipation(const StandardForm& form, const SolverOptions& options, Solver solver, MaxDissipationWorkspace& w,
                           Impulses& out) {
  (solver == Solver::interior_point ? solve_sparse : solve_dense)(form, options, w, out);
}

double optimality_residual(const StandardForm& form, const Impulses& out, double velocity, double impulse, MaxDissipationWorkspace& w) {
  const ReducedProblem& p = form.problem;
  const int n = p.contacts(), m = p.bounded_rows();
  w.gradient.resize(3 * n);
  p.Rt.multiply(p.y_free, w.gradient);
  const double gradient_scale = std::max({1e-300, velocity, largest_entry(w.gradient)});  // of the program at rest
  impulse = std::max(1e-300, impulse);
  w.y.setZero(p.rank_bound());
  p.Rt.add_transposed(out.lambda, w.y);
  p.Bt.add_transposed(out.beta, w.y);
  p.Rt.multiply(w.y, w.gradient);
  if (p.defect.size() > 0) w.gradient.noalias() += p.defect * out.lambda;
  w.w.resize(m);
  p.Bt.multiply(w.y, w.w);
  w.w += p.w_free;
  double worst = 0.0;
  const auto check_multiplier = [&](double nu, double constraint) {
    worst = std::max({worst, -nu / impulse, std::abs(nu * constraint) / (impulse * gradient_scale)});
  };
  for (int i = 0; i < n; ++i) {
    check_multiplier(out.multipliers[i], w.gradient[3 * i] + p.u_free[3 * i] + p.offset[i]);
  }
  for (int j = 0; j < m; ++j) {
    const double sign = demanded_sign(p, j);
    if (sign != 0.0) check_multiplier(sign * out.multipliers[n + j], sign * w.w[j]);
  }
  // g, then the conditions of bounded rows at g, of contacts at g + y_free.
  for (int i = 0; i < n; ++i) p.Rt.add_group_transposed(i, Vector3d(-out.multipliers[i], 0.0, 0.0), w.y);
  for (int j = 0; j < m; ++j) p.Bt.add_group_transposed(j, Row(-out.multipliers[n + j]), w.y);
  p.Bt.multiply(w.y, w.w);
  w.w += p.w_free;
  w.y += p.y_free;
  p.Rt.multiply(w.y, w.gradient);
  const double rho = impulse / gradient_scale;
  w.section.reset(form.edges);
  for (int j = 0; j < m; ++j) {
    const double at = std::clamp(out.beta[j] - rho * w.w[j], p.lo[j], p.hi[j]);
    worst = std::max(worst, std::abs(out.beta[j] - at) / impulse);
  }
  for (int i = 0; i < n; ++i) {
    const Vector3d g = w.gradient.segment<3>(3 * i);
    worst = std::max({worst, -least_generator_velocity(g, p.mu[i], w.section) / gradient_scale,
                      std::abs(g.dot(out.lambda.segment<3>(3 * i))) / (impulse * gradient_scale)});
  }
  return worst;
}

}  // namespace stiction
