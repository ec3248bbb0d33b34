#include "stiction/laws/convex.hpp"

#include <cassert>

namespace stiction {

namespace {

using Index = Eigen::Index;
using RowsRef = Eigen::Ref<const RowMatrix>;

Friction friction_of(Law law) {
  if (law == Law::frictionless) return Friction::none;
  return law == Law::no_slip ? Friction::no_slip : Friction::pyramid;
}

/// R_t as one row-major matrix: itself, or a copy when it has several blocks.
ConstRowMap dense_rows(const BlockRows& Rt, std::vector<double>& copy) {
  if (Rt.is_single_block()) return Rt.single_block();
  copy.assign(static_cast<std::size_t>(Rt.rows()) * static_cast<std::size_t>(Rt.cols()), 0.0);
  for (int i = 0; i < Rt.groups(); ++i) {
    for (int k = 0; k < 3; ++k) add_contact_row(Rt, i, Eigen::Vector3d::Unit(k), copy.data() + (3 * i + k) * Rt.cols());
  }
  return {copy.data(), Rt.rows(), Rt.cols()};
}

// Independent tangential rows of the closed contacts, and y of least norm with u_T = 0 on them.
void eliminate_tangents(const ReducedProblem& p, const ConstRowMap& rows, ConvexWorkspace& w) {
  w.candidates.clear();
  for (int i = 0; i < p.contacts(); ++i) {
    if (p.closed[static_cast<std::size_t>(i)] != 0) w.candidates.insert(w.candidates.end(), {3 * i + 1, 3 * i + 2});
  }
  w.y.setZero(rows.cols());
  w.tangents.indices.clear();
  if (w.candidates.empty()) return w.tangents.basis.reset(static_cast<int>(rows.cols()));
  find_indices(rows, w.candidates, {}, w.tangents);
  const Index k = w.tangents.basis.rank();
  w.head.resize(k);
  for (Index j = 0; j < k; ++j) w.head[j] = -p.u_free[w.tangents.indices[static_cast<std::size_t>(j)]];
  w.tangents.basis.solve_lower(w.head.data());
  w.y.noalias() = w.tangents.basis.span() * w.head;
}

// λ of the tangential rows: R λ_S = Qᵀ(y - Nᵀ z) on their span.
void recover_tangents(const ConstRowMap& rows, ConvexWorkspace& w, Impulses& out) {
  const RowBasis& basis = w.tangents.basis;
  for (int active : w.ppm_solution.active) w.y -= w.ppm_solution.z[active] * rows.row(3 * active).transpose();
  w.head.resize(basis.rank());
  w.head.noalias() = basis.span().transpose() * w.y;
  basis.solve_upper(w.head.data());
  for (Index j = 0; j < w.head.size(); ++j) out.lambda[w.tangents.indices[static_cast<std::size_t>(j)]] = w.head[j];
}

}  // namespace

void solve_by_active_set(const ReducedProblem& p, const SolveOptions& options, ConvexWorkspace& w, Impulses& out) {
  make_generators(p, friction_of(options.law), options.edges, false, w.generators);
  const Generators& g = w.generators;
  BoundedQp qp;
  qp.A = RowsView(g.storage.data(), g.size(), p.rank_bound(), p.rank_bound());
  qp.c = g.c;
  qp.lo = g.lo;
  qp.hi = g.hi;
  w.q = w.qp_solution.x;
  if (options.warm_start && w.q.size() == g.size()) qp.x0 = w.q;
  out.status = bounded_qp(qp, {}, w.qp, w.qp_solution);
  out.iterations = w.qp_solution.pivots;
  expand(p, g, w.qp_solution.x, out.lambda, out.beta);
}

void solve_by_pivoting(const ReducedProblem& p, const SolveOptions& options, ConvexWorkspace& w, Impulses& out) {
  assert(p.bounded_rows() == 0);
  const Index n = p.contacts();
  const ConstRowMap rows = dense_rows(p.Rt, w.rows);
  if (options.law == Law::no_slip) {
    eliminate_tangents(p, rows, w);
  } else {
    w.tangents.indices.clear();
    w.tangents.basis.reset(static_cast<int>(rows.cols()));
    w.y.setZero(rows.cols());
  }
  const Index left = rows.cols() - w.tangents.basis.rank();
  const Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>> normal_rows(rows.data(), n, rows.cols(),
                                                                         Eigen::OuterStride<>(3 * rows.cols()));
  w.q.resize(n);
  w.q.noalias() = normal_rows * w.y;
  for (Index i = 0; i < n; ++i) w.q[i] += p.u_free[3 * i] + p.offset[i];
  w.normals.resize(static_cast<std::size_t>(n * left));
  RowMap projected(w.normals.data(), n, left);
  if (w.tangents.indices.empty()) {
    projected = normal_rows;
  } else {
    projected.noalias() = normal_rows.lazyProduct(w.tangents.basis.complement());  // a blocked product would allocate
  }
  if (!options.warm_start) w.ppm_solution.active.clear();
  ppm(projected, w.q, w.ppm_solution.active, {}, w.ppm, w.ppm_solution);
  out.status = w.ppm_solution.status;
  out.iterations = w.ppm_solution.pivots;
  out.lambda.setZero(3 * n);
  out.beta.resize(0);
  for (int active : w.ppm_solution.active) out.lambda[3 * active] = w.ppm_solution.z[active];
  if (!w.tangents.indices.empty()) recover_tangents(rows, w, out);
}

}  // namespace stiction
