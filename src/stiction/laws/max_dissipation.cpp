#include "stiction/laws/max_dissipation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/base/errors.hpp"
#include "stiction/problem/contact_checks.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Vector3d;

// Smallest velocity along a generator of the pyramid: g_N + μ min_j d_j·g_T.
double least_generator_velocity(const Vector3d& g, double mu, int edges) {
  if (std::isinf(mu)) return g[0] - std::hypot(g[1], g[2]);
  double least = kInfinity;
  for (int j = 0; j < edges; ++j) {
    const double angle = 2.0 * std::numbers::pi * j / edges;
    least = std::min(least, std::cos(angle) * g[1] + std::sin(angle) * g[2]);
  }
  return g[0] + mu * least;
}

void require_one_sided(const ReducedProblem& p) {
  for (int j = 0; j < p.bounded_rows(); ++j) {
    if (p.lo[j] != 0.0 || p.hi[j] != kInfinity) {
      throw InvalidArgument("lo, hi", "one-sided rows (0, inf) under law max_dissipation",
                            std::to_string(p.lo[j]) + ", " + std::to_string(p.hi[j]));
    }
  }
}

}  // namespace

void solve_max_dissipation(const ReducedProblem& p, const SolveOptions& options, MaxDissipationWorkspace& w, Impulses& out) {
  require_one_sided(p);
  make_generators(p, Friction::pyramid_split, options.edges, true, w.generators);
  make_generators(p, Friction::none, options.edges, true, w.normals);
  w.rhs = -w.normals.c;
  KineticQp qp;
  qp.A = RowsView(w.generators.storage.data(), w.generators.size(), p.rank_bound(), p.rank_bound());
  qp.C = RowsView(w.normals.storage.data(), w.normals.size(), p.rank_bound(), p.rank_bound());
  qp.y0 = p.y_free;
  qp.d = w.rhs;
  w.x0 = w.solution.x;
  w.mu0 = w.solution.mu;
  if (options.warm_start && w.x0.size() == w.generators.size() && w.mu0.size() == w.normals.size()) {
    qp.x0 = w.x0;
    qp.mu0 = w.mu0;
  }
  out.status = kinetic_qp(qp, {}, w.qp, w.solution);
  out.iterations = w.solution.pivots;
  expand(p, w.generators, w.solution.x, out.lambda, out.beta);
  out.multipliers.setZero(p.contacts() + p.bounded_rows());
  for (Index k = 0; k < w.normals.size(); ++k) {
    const Generators::Variable& v = w.normals.variables[static_cast<std::size_t>(k)];
    out.multipliers[v.contact >= 0 ? v.contact : p.contacts() + v.row] = w.solution.mu[k];
  }
}

double optimality_residual(const ReducedProblem& p, int edges, const Impulses& out, MaxDissipationWorkspace& w) {
  const int n = p.contacts();
  w.y.setZero(p.rank_bound());
  p.Rt.add_transposed(out.lambda, w.y);
  p.Bt.add_transposed(out.beta, w.y);
  w.gradient.resize(3 * n);
  p.Rt.multiply(w.y, w.gradient);
  const double velocity = std::max({1e-300, p.u_free.size() > 0 ? p.u_free.cwiseAbs().maxCoeff() : 0.0, p.y_free.norm()});
  double worst = 0.0, multiplier_scale = 1e-300;
  for (int i = 0; i < n; ++i) multiplier_scale = std::max(multiplier_scale, std::abs(out.multipliers[i]));
  for (int i = 0; i < n; ++i) {
    if (p.closed[static_cast<std::size_t>(i)] == 0) continue;
    const double gap_velocity = w.gradient[3 * i] + p.u_free[3 * i] + p.offset[i];
    worst = std::max(
        {worst, -out.multipliers[i] / multiplier_scale, std::abs(out.multipliers[i] * gap_velocity) / (multiplier_scale * velocity)});
  }
  w.y += p.y_free;
  for (int i = 0; i < n; ++i) p.Rt.add_group_transposed(i, Vector3d(-out.multipliers[i], 0.0, 0.0), w.y);
  for (int j = 0; j < p.bounded_rows(); ++j) p.Bt.add_group_transposed(j, Eigen::Matrix<double, 1, 1>(-out.multipliers[n + j]), w.y);
  p.Rt.multiply(w.y, w.gradient);
  const double gradient_scale = std::max({velocity, w.y.norm(), w.gradient.size() > 0 ? w.gradient.cwiseAbs().maxCoeff() : 0.0});
  const double impulse = std::max(1e-300, out.lambda.size() > 0 ? out.lambda.cwiseAbs().maxCoeff() : 0.0);
  for (int i = 0; i < n; ++i) {
    if (p.closed[static_cast<std::size_t>(i)] == 0) continue;
    const Vector3d g = w.gradient.segment<3>(3 * i);
    const Vector3d seen = p.edge_angle.size() > 0 ? turned_back(g, p.edge_angle[i]) : g;
    worst = std::max({worst, -least_generator_velocity(seen, p.mu[i], edges) / gradient_scale,
                      std::abs(g.dot(out.lambda.segment<3>(3 * i))) / (impulse * gradient_scale)});
  }
  return worst;
}

}  // namespace stiction
