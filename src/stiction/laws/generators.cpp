#include "stiction/laws/generators.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction {

namespace {

using Eigen::Vector3d;

constexpr double kTermsRounding = 1e-15;  // of the sum of three terms, beside their sizes

void add_contact_variables(const ReducedProblem& p, int i, GeneratorKind kind, int edges, Generators& g) {
  const double mu = p.mu[i];
  const auto add = [&](const Vector3d& direction) { g.variables.push_back({i, -1, direction}); };
  if (kind == GeneratorKind::cone && mu > 0.0 && !std::isinf(mu)) {
    const double size = std::max(1.0, mu);  // generators a thousand times as long as rows would leave a thousandth of the digits
    for (int j = 0; j < edges; ++j) {
      const Eigen::Vector2d d = mu / size * section_vertex(j, edges);
      add({1.0 / size, d[0], d[1]});
    }
    return;
  }
  add(Vector3d::UnitX());
  if (mu == 0.0) return;
  if (kind == GeneratorKind::box) {
    constexpr double half = std::numbers::sqrt2 / 2.0;
    add({0.0, half, half});
    add({0.0, -half, half});
  } else {
    add(Vector3d::UnitY());
    add(Vector3d::UnitZ());
  }
}

// Where rows and direction cancel, as on a slider at the angle of friction, what is left is no way for the contact to move.
void drop_rounding(const BlockRows& Rt, int contact, const Vector3d& direction, double* row) {
  const Vector3d size = direction.cwiseAbs();
  for (int e = Rt.entry_begin(contact); e < Rt.entry_end(contact); ++e) {
    const ConstRowMap entry = Rt.entry(e);
    double* out = row + Rt.col_offset(Rt.entry_block(e));
    for (Eigen::Index j = 0; j < entry.cols(); ++j) {
      if (std::abs(out[j]) <= kTermsRounding * size.dot(entry.col(j).cwiseAbs())) out[j] = 0.0;
    }
  }
}

}  // namespace

Eigen::Vector2d section_vertex(int j, int edges) {
  const double angle = 2.0 * std::numbers::pi * j / edges;
  return {std::cos(angle), std::sin(angle)};
}

ConstRowMap dense_rows(const BlockRows& Rt, std::vector<double>& copy) {
  if (Rt.is_single_block()) return Rt.single_block();
  copy.assign(static_cast<std::size_t>(Rt.rows()) * static_cast<std::size_t>(Rt.cols()), 0.0);
  RowMap rows(copy.data(), Rt.rows(), Rt.cols());
  for (int i = 0; i < Rt.groups(); ++i) {
    for (int e = Rt.entry_begin(i); e < Rt.entry_end(i); ++e) {
      rows.block(3 * i, Rt.col_offset(Rt.entry_block(e)), 3, Rt.entry(e).cols()) += Rt.entry(e);
    }
  }
  return {copy.data(), Rt.rows(), Rt.cols()};
}

void list_generators(const ReducedProblem& p, GeneratorKind kind, int edges, Generators& g) {
  g.variables.clear();
  for (int i = 0; i < p.contacts(); ++i) add_contact_variables(p, i, kind, edges, g);
  g.contact_variables = g.size();
  for (int j = 0; j < p.bounded_rows(); ++j) g.variables.push_back({-1, j, Vector3d::Zero()});
  g.lo.resize(g.size());
  g.hi.resize(g.size());
  for (Eigen::Index v = 0; v < g.size(); ++v) {
    const Generators::Variable& variable = g.variables[v];
    g.lo[v] = variable.contact < 0 ? p.lo[variable.row] : variable.direction[0] > 0.0 ? 0.0 : -kInfinity;
    g.hi[v] = variable.contact < 0 ? p.hi[variable.row] : kInfinity;
  }
}

void make_generators(const ReducedProblem& p, GeneratorKind kind, int edges, Generators& g) {
  list_generators(p, kind, edges, g);
  const Eigen::Index size = g.size(), r = p.rank_bound();
  g.storage.setZero(r, size);
  g.c.resize(size);
  for (Eigen::Index v = 0; v < size; ++v) {
    const Generators::Variable& variable = g.variables[v];
    if (variable.contact < 0) {
      p.Bt.add_group_transposed(variable.row, Eigen::Matrix<double, 1, 1>(1.0), g.storage.col(v));
      g.c[v] = p.w_free[variable.row];
      continue;
    }
    const Vector3d& d = variable.direction;
    p.Rt.add_group_transposed(variable.contact, d, g.storage.col(v));
    drop_rounding(p.Rt, variable.contact, d, g.storage.col(v).data());
    const Vector3d terms = d.cwiseProduct(p.u_free.segment<3>(3 * variable.contact));
    const double c = terms.sum() + d[0] * p.offset[variable.contact];
    g.c[v] = std::abs(c) > kTermsRounding * (terms.cwiseAbs().sum() + std::abs(d[0] * p.offset[variable.contact])) ? c : 0.0;
  }
}

void expand(const ReducedProblem& p, const Generators& g, const Eigen::Ref<const Eigen::VectorXd>& x, GrowVector& lambda,
            GrowVector& beta) {
  lambda.setZero(3 * p.contacts());
  beta.setZero(p.bounded_rows());
  for (Eigen::Index v = 0; v < g.size(); ++v) {
    const Generators::Variable& variable = g.variables[v];
    if (variable.contact < 0) {
      beta[variable.row] = x[v];
    } else {
      lambda.segment<3>(3 * variable.contact) += x[v] * variable.direction;
    }
  }
}

}  // namespace stiction
