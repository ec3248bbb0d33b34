#include "stiction/laws/box_rows.hpp"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Eigen::Index;

void require_box(const StandardForm& form, const SolverOptions& options) {
  const ReducedProblem& p = form.problem;
  if (form.edges != 4) {
    throw InvalidArgument("edges", fmt::format("4 with solver {}, whose friction is a box", to_string(options.solver)),
                          fmt::format("{}", form.edges));
  }
  for (Index i = 0; i < p.mu.size(); ++i) {
    if (std::isinf(p.mu[i])) {
      throw InvalidArgument(fmt::format("mu[{}]", form.contacts[i]),
                            fmt::format("a finite number with solver {} (or law no_slip)", to_string(options.solver)), "inf");
    }
  }
}

/// Bounds of the friction rows as factors of their normal force, which stands before them.
void bind_friction(const ReducedProblem& p, BoxRowsWorkspace& w) {
  Generators& g = w.generators;
  w.normal.assign(g.size(), -1);
  int normal = -1;
  for (int k = 0; k < g.contact_variables; ++k) {
    const Generators::Variable& v = g.variables[k];
    if (v.direction[0] != 0.0) {
      normal = k;
      continue;
    }
    w.normal[k] = normal;
    g.hi[k] = p.mu[v.contact] * std::numbers::sqrt2 / 2.0;
    g.lo[k] = -g.hi[k];
  }
}

}  // namespace

void solve_by_box_rows(const StandardForm& form, const SolverOptions& options, BoxRowsWorkspace& w, Impulses& out) {
  const ReducedProblem& p = form.problem;
  const bool box = form.family == Family::coulomb;
  if (box) require_box(form, options);
  make_generators(p, box ? GeneratorKind::box : GeneratorKind::cone, form.edges, w.generators);
  const Generators& g = w.generators;
  if (box) bind_friction(p, w);
  Mlcp mlcp;
  mlcp.R = RowsView(g.storage.data(), g.size(), p.rank_bound(), p.rank_bound());
  mlcp.q = g.c;
  mlcp.lo = g.lo;
  mlcp.hi = g.hi;
  if (box) mlcp.normal = w.normal;
  w.x0 = w.solution.x;
  if (options.warm_start && w.x0.size() == g.size()) mlcp.x0 = w.x0;
  if (options.solver == Solver::dantzig) {
    out.status = dantzig(mlcp, {.max_pivots = options.max_pivots}, w.dantzig, w.solution);
    out.iterations = w.solution.pivots;
  } else {
    constexpr double kShare = 0.1;  // of the certificate's tolerance: its scales are a little larger
    out.status = pgs(mlcp, {.tolerance = kShare * options.tolerance, .max_sweeps = options.max_sweeps}, w.pgs, w.solution);
    out.iterations = w.solution.sweeps;
  }
  expand(p, g, w.solution.x, out.lambda, out.beta);
}

}  // namespace stiction
