#include "stiction/laws/pyramid_lcp.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/errors.hpp"
#include "stiction/laws/generators.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Vector3d;

Vector3d edge_direction(Index j, Index edges) {
  const Eigen::Vector2d d = section_vertex(static_cast<int>(j), static_cast<int>(edges));
  return {0.0, d[0], d[1]};
}

void require_finite_mu(const ReducedProblem& p) {
  for (int i = 0; i < p.contacts(); ++i) {
    if (std::isinf(p.mu[i]))
      throw InvalidArgument("mu[" + std::to_string(i) + "]", "a finite number for the LCP (use law no_slip or solver interior_point)",
                            "inf");
  }
}

// Bounded row j as impulse = base + sign x, x >= 0, x <= range.
struct Side {
  double base, sign, range;
};
Side side_of(const ReducedProblem& p, Index j) {
  if (p.lo[j] != -kInfinity) return {p.lo[j], 1.0, p.hi[j] - p.lo[j]};
  return {p.hi[j], -1.0, kInfinity};
}

}  // namespace

void build_pyramid_lcp(const ReducedProblem& p, int edges, PyramidLcpWorkspace& w) {
  require_finite_mu(p);
  const Index n = p.contacts(), m = p.bounded_rows(), k = edges, r = p.rank_bound();
  const Index forces = n * (k + 1), slip = forces, rows = forces + n, slack = rows + m, size = slack + m;
  w.M.setZero(size, size);
  w.q.setZero(size);
  w.directions.setZero(r, forces + m);
  for (Index i = 0; i < n; ++i) {
    const Vector3d u = p.u_free.segment<3>(3 * i);
    const Vector3d normal(1.0, 0.0, 0.0);
    p.Rt.add_group_transposed(static_cast<int>(i), normal, w.directions.col(i));
    w.q[i] = u[0] + p.offset[i];
    for (Index j = 0; j < k; ++j) {
      const Index f = n + i * k + j;
      const Vector3d d = edge_direction(j, edges);
      p.Rt.add_group_transposed(static_cast<int>(i), d, w.directions.col(f));
      w.q[f] = d.dot(u);
      w.M(f, slip + i) = 1.0;
      w.M(slip + i, f) = -1.0;
    }
    w.M(slip + i, i) = p.mu[i];
  }
  // y of the bounded rows' base impulses shifts every velocity.
  w.base.setZero(r);
  for (Index j = 0; j < m; ++j) {
    const Side side = side_of(p, j);
    p.Bt.add_group_transposed(static_cast<int>(j), Eigen::Matrix<double, 1, 1>(side.sign), w.directions.col(forces + j));
    w.base += side.sign * side.base * w.directions.col(forces + j);
    w.q[rows + j] = side.sign * p.w_free[j];
    w.M(rows + j, slack + j) = 1.0;
    w.M(slack + j, rows + j) = -1.0;
    w.q[slack + j] = std::isinf(side.range) ? 1.0 : side.range;
    if (std::isinf(side.range)) w.M(rows + j, slack + j) = w.M(slack + j, rows + j) = 0.0;
  }
  w.rows.resize(forces + m, forces + m);
  w.rows.noalias() = w.directions.transpose() * w.directions;
  const auto place = [&](Index v) { return v < forces ? v : rows + v - forces; };
  for (Index b = 0; b < forces + m; ++b) {
    w.q[place(b)] += w.directions.col(b).dot(w.base);
    for (Index a = 0; a < forces + m; ++a) w.M(place(a), place(b)) += w.rows(a, b);
  }
}

void map_outcomes(const ProblemView& p, Reduction& reduction, const StandardForm& form, const LawTerms& terms, OutcomeMap& map) {
  const ReducedProblem& reduced = reduction.reduced;
  const Index n = form.problem.contacts(), m = reduced.bounded_rows(), nv = p.velocities(),
              joints = static_cast<Index>(p.prescribed.size());
  const auto outcome = [&](auto&& x) {
    map.v.resize(nv);
    recover_velocity(reduction, map.lambda, map.beta, map.v);
    expand_bounded(p, reduction, map.beta, map.lambda_b);
    recover_bilateral(p, reduction, map.v, map.lambda, map.lambda_b, map.lambda_prescribed);
    x.head(nv) = map.v;
    x.tail(joints) = map.lambda_prescribed / p.dt;
  };
  map.cone.setZero(3 * n);
  expand_impulses(form, terms, map.cone, map.lambda);
  map.beta.setZero(m);
  map.constant.resize(nv + joints);
  outcome(map.constant.head(nv + joints));
  map.contacts.resize(nv + joints, 3 * n);
  for (Index k = 0; k < 3 * n; ++k) {
    map.cone.setZero(3 * n);
    map.cone[k] = 1.0;
    expand_impulses(form, terms, map.cone, map.lambda);
    outcome(map.contacts.col(k));
    map.contacts.col(k) -= map.constant;
  }
  map.cone.setZero(3 * n);
  expand_impulses(form, terms, map.cone, map.lambda);
  map.rows.resize(nv + joints, m);
  for (Index k = 0; k < m; ++k) {
    map.beta.setZero(m);
    map.beta[k] = 1.0;
    outcome(map.rows.col(k));
    map.rows.col(k) -= map.constant;
  }
}

namespace {

// x = T z + c in the variables of the LCP.
void build_outcome(const ReducedProblem& p, Index k, PyramidLcpWorkspace& w) {
  const Index n = p.contacts(), m = p.bounded_rows(), forces = n * (k + 1), rows = forces + n;
  const OutcomeMap& map = w.outcome;
  const bool known = map.contacts.size() > 0;
  w.T.setZero(known ? map.constant.size() : w.base.size(), w.q.size());
  if (known) {
    w.c = map.constant;
  } else {
    w.c = w.base;
    w.T.leftCols(forces) = w.directions.leftCols(forces);
    w.T.middleCols(rows, m) = w.directions.rightCols(m);
    return;
  }
  for (Index i = 0; i < n; ++i) {
    w.T.col(i) = map.contacts.col(3 * i);
    for (Index j = 0; j < k; ++j) w.T.col(n + i * k + j) = map.contacts.middleCols(3 * i, 3) * edge_direction(j, k);
  }
  for (Index j = 0; j < m; ++j) {
    const Side side = side_of(p, j);
    w.T.col(rows + j) = side.sign * map.rows.col(j);
    w.c += side.base * map.rows.col(j);
  }
}

}  // namespace

void solve_pyramid_lcp(const StandardForm& form, const SolverOptions& options, PyramidLcpWorkspace& w, Impulses& out) {
  const ReducedProblem& p = form.problem;
  build_pyramid_lcp(p, form.edges, w);
  const Index n = p.contacts(), m = p.bounded_rows(), k = form.edges, rows = n * (k + 2);
  if (options.solver == Solver::enumerate) {
    build_outcome(p, k, w);
    if (!options.warm_start || w.last_outcome.size() != w.c.size()) w.last_outcome = w.c;
    mindiff(w.M, w.q, w.T, w.c, w.last_outcome, {}, w.enumerate, w.solution);
    if (w.solution.status == Status::solved) w.last_outcome = w.T * w.solution.z + w.c;
  } else {
    lemke(w.M, w.q, {.max_pivots = options.max_pivots}, w.lemke, w.solution);
  }
  out.status = w.solution.status;
  out.iterations = w.solution.pivots;
  const auto take = [&](const GrowVector& z, GrowVector& lambda) {
    for (Index i = 0; i < n; ++i) {
      lambda[3 * i] = z[i];
      for (Index j = 0; j < k; ++j) lambda.segment<3>(3 * i) += z[n + i * k + j] * edge_direction(j, k);
    }
  };
  out.lambda.setZero(3 * n);
  out.beta.setZero(m);
  if (w.solution.ray.size() == w.q.size()) {
    out.ray.setZero(3 * n);
    take(w.solution.ray, out.ray);
  }
  if (w.solution.z.size() != w.q.size()) return;
  take(w.solution.z, out.lambda);
  for (Index j = 0; j < m; ++j) {
    const Side side = side_of(p, j);
    out.beta[j] = side.base + side.sign * w.solution.z[rows + j];
  }
}

}  // namespace stiction
