#include "stiction/programs/qp/qp_residual.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/problem/contact_problem.hpp"
#include "stiction/programs/qp/kinetic_qp.hpp"
#include "stiction/programs/qp/range_qp.hpp"

namespace stiction {

namespace {

struct Sizes {
  double terms;     ///< max(|t| + Σ |a_j||x_j|, max |a_j| max |x_j|)
  double variable;  ///< max(|x|, |t| / max |a_j|)
};

/// z = Aᵀx - t, |a_j|, and the sizes of what they are made of.
Sizes measure(RowsView A, VectorView t, VectorView x, QpResidualScratch& scratch) {
  GrowVector &z = scratch.z, &norms = scratch.norms;
  z.setZero(A.cols());
  norms.resize(A.rows());
  if (!t.empty()) z = -t.map();
  const double target = z.norm();
  Sizes sizes{target, largest_entry(x.map())};
  double largest = 0.0;
  for (Eigen::Index j = 0; j < A.rows(); ++j) {
    const auto row = A.row(j);
    norms[j] = row.norm();
    largest = std::max(largest, norms[j]);
    if (x[j] == 0.0) continue;
    z += x[j] * row;
    sizes.terms += std::abs(x[j]) * norms[j];
  }
  sizes.terms = std::max(sizes.terms, largest * sizes.variable);
  if (largest > 0.0) sizes.variable = std::max(sizes.variable, target / largest);
  return sizes;
}

/// Residual of Eᵀx = e; gradient -= E ν, and the sizes of those terms are added to `sizes`.
void add_equalities(const RangeQp& problem, VectorView x, VectorView nu, double x_scale, double slope, QpResidual& r, GrowVector& gradient,
                    GrowVector& sizes) {
  for (Eigen::Index k = 0; k < problem.E.cols(); ++k) {
    double value = problem.e[k], terms = std::abs(value), largest = 0.0;
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      const double entry = problem.E.row_data(j)[k];
      value -= entry * x[j];
      terms += std::abs(entry * x[j]);
      largest = std::max(largest, std::abs(entry));
      gradient[j] -= entry * nu[k];
    }
    r.primal = std::max(r.primal, ratio(std::abs(value), std::max(terms, largest * x_scale)));
    const double multiplier = std::max(std::abs(nu[k]), largest > 0.0 ? slope / largest : 0.0);
    for (Eigen::Index j = 0; j < x.size(); ++j) sizes[j] += std::abs(problem.E.row_data(j)[k]) * multiplier;
  }
}

}  // namespace

double QpResidual::worst() const { return std::max({primal, dual, complementarity}); }

void QpResidual::add(double x, double lo, double hi, double x_scale, double g, double g_scale) {
  primal = std::max({primal, ratio(lo - x, x_scale), ratio(x - hi, x_scale)});
  const double room = g > 0.0 ? x - lo : hi - x;
  if (room <= 0.0 && std::isfinite(g)) return;  // at the bound that allows this sign
  const double size = ratio(std::abs(g), g_scale);
  if (room == kInfinity || std::isnan(g)) {
    dual = std::max(dual, size);
  } else {
    complementarity = std::max(complementarity, std::min(size, ratio(room, x_scale)));
  }
}

QpResidual qp_residual(const RangeQp& problem, VectorView x, VectorView nu, QpResidualScratch& scratch) {
  QpResidual r;
  GrowVector& gradient = scratch.gradient;
  const Sizes sizes = measure(problem.W, problem.t, x, scratch);
  gradient.resize(x.size());
  gradient.noalias() = problem.W.map() * scratch.z;
  const double slope = scratch.norms.size() == 0 ? 0.0 : scratch.norms.maxCoeff() * sizes.terms;
  scratch.norms *= sizes.terms;
  add_equalities(problem, x, nu, sizes.variable, slope, r, gradient, scratch.norms);
  for (Eigen::Index j = 0; j < x.size(); ++j) {
    r.add(x[j], bound_below(problem.lo, j), bound_above(problem.hi, j), sizes.variable, gradient[j], scratch.norms[j]);
  }
  return r;
}

QpResidual qp_residual(const KineticQp& problem, VectorView x, VectorView mu, QpResidualScratch& scratch) {
  QpResidual r;
  Sizes sizes = measure(problem.A, {}, x, scratch);
  GrowVector &z = scratch.z, &gradient = scratch.gradient;
  const double start = problem.y0.empty() ? 0.0 : problem.y0.map().norm(),
               generator = scratch.norms.size() == 0 ? 0.0 : scratch.norms.maxCoeff();
  const double reach = sizes.terms + start;
  double row = 0.0;
  for (Eigen::Index i = 0; i < problem.C.rows(); ++i) row = std::max(row, problem.C.row(i).norm());
  const double mu_scale = std::max(largest_entry(mu.map()), row > 0.0 ? reach / row : 0.0);
  for (Eigen::Index i = 0; i < problem.C.rows(); ++i) {
    const auto c = problem.C.row(i);
    const double norm = c.norm();
    r.add(mu[i], 0.0, kInfinity, mu_scale, c.dot(z) - problem.d[i], norm * reach + std::abs(problem.d[i]));
    sizes.terms += std::abs(mu[i]) * norm;
  }
  if (!problem.y0.empty()) z += problem.y0.map();
  for (Eigen::Index i = 0; i < problem.C.rows(); ++i) z -= mu[i] * problem.C.row(i);
  if (generator > 0.0) sizes.variable = std::max(sizes.variable, start / generator);
  gradient.resize(x.size());
  gradient.noalias() = problem.A.map() * z;
  for (Eigen::Index j = 0; j < x.size(); ++j) {
    const double cost = problem.c.empty() ? 0.0 : problem.c[j];
    gradient[j] += cost;
    r.add(x[j], bound_below(problem.lo, j), bound_above(problem.hi, j), sizes.variable, gradient[j],
          scratch.norms[j] * (sizes.terms + start) + std::abs(cost));
  }
  return r;
}

}  // namespace stiction
