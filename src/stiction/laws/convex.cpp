#include "stiction/laws/convex.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <span>

#include "stiction/base/grow.hpp"
#include "stiction/programs/lcp/goldfarb_idnani.hpp"
#include "stiction/programs/lcp/ppm.hpp"

namespace stiction {

namespace {

using Index = Eigen::Index;
using RowsRef = Eigen::Ref<const RowMatrix>;

// Distance of a row from the span of others, relative to its length.
constexpr double kFarApart = 0.1, kWellApart = 1e-3, kDependent = 1e-10;
constexpr double kSumRounding = 4.4e-16;                          // of sums over contacts, beside their largest term
constexpr double kRowRounding = 4.4e-16;                          // of a row after a rotation, beside its length
constexpr double kRangeRounding = 1e-13, kContradiction = 1e-12;  // of columns beside the largest, of velocities
// Of velocities: as little as rows that nothing can part may miss. A request that was replaced meets them to the rounding of the programs
// that found it; the certificate lets ten times pass.
constexpr double kMet = 1e-10;

void find_candidates(const ReducedProblem& p, std::vector<int>& candidates) {
  candidates.clear();
  for (int i = 0; i < p.contacts(); ++i) {
    if (std::isinf(p.mu[i])) candidates.insert(candidates.end(), {3 * i + 1, 3 * i + 2});
  }
}

void no_tangents(const ConstRowMap& rows, ConvexWorkspace& w) {
  w.tangents.indices.clear();
  w.tangents.nearest = 0.0;
  w.tangents.basis.reset(static_cast<int>(rows.cols()));
  w.y.setZero(rows.cols());
}

// Independent tangential rows of the half spaces, and y of least norm with u_T = 0 on them, refined once.
void eliminate_tangents(const ReducedProblem& p, const ConstRowMap& rows, double distance, ConvexWorkspace& w) {
  find_candidates(p, w.candidates);
  w.y.setZero(rows.cols());
  if (w.candidates.empty()) return no_tangents(rows, w);
  FindIndicesOptions options;
  options.own_tolerance = distance;
  // The distance of rows after it is blown up by the inverse of a row's own: what is to tell near dependence takes far rows first.
  options.preferred_tolerance = distance == kWellApart ? kFarApart : kWellApart;
  if (!w.same_rows || w.distance != distance) {
    double longest = 0.0;
    for (Index i = 0; i < rows.rows(); ++i) longest = std::max(longest, rows.row(i).norm());
    w.moving.clear();
    std::ranges::copy_if(w.candidates, std::back_inserter(w.moving), [&](int i) { return rows.row(i).norm() > kRangeRounding * longest; });
    if (!w.moving.empty()) find_indices(rows, w.moving, options, w.tangents);
  }
  if (w.moving.empty()) return no_tangents(rows, w);
  w.distance = distance;
  const Index k = w.tangents.basis.rank();
  w.head.resize(k);
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (Index j = 0; j < k; ++j) {
      const int row = w.tangents.indices[j];
      w.head[j] = -p.u_free[row] - rows.row(row).dot(w.y);
    }
    w.tangents.basis.solve_lower(w.head.data());
    w.y.noalias() += w.tangents.basis.span() * w.head;
  }
}

// How far the closest of the tangential rows is from the span of those before it, over its length: by its rounding over that the complement
// is turned.
double closest_tangent(const ConstRowMap& rows, const ConvexWorkspace& w) {
  double closest = 1.0;
  for (Index j = 0; j < w.tangents.basis.rank(); ++j)
    closest = std::min(closest, std::abs(w.tangents.basis.triangle()(j, j)) / rows.row(w.tangents.indices[j]).norm());
  return closest;
}

// Normals whose velocity the tangential rows settle, or nothing moves: what is left of their rows is rounding, and no impulse on it is to
// be sought. Velocities that are within rounding of 0 are 0. Then what the rows that are left are rounded to.
void drop_settled(const ConstRowMap& rows, double scale, RowMap& projected, ConvexWorkspace& w) {
  const double rounding = std::max(kRangeRounding, kRowRounding / closest_tangent(rows, w));
  w.rounding.setZero(projected.rows());
  for (Index i = 0; i < projected.rows(); ++i) {
    const double length = rows.row(3 * i).norm();
    if (!w.tangents.indices.empty()) w.rounding[i] = kRowRounding * length;
    if (projected.row(i).norm() > rounding * length) continue;
    projected.row(i).setZero();
    if (std::abs(w.q[i]) <= kMet * scale) w.q[i] = 0.0;
  }
}

// Size of the free velocities (m/s).
double velocity_size(const ReducedProblem& p) { return std::max(largest_entry(p.u_free), largest_push(p.offset)); }

// The LCP in the normals on the complement of the tangential rows; then w.y is the whole change of motion.
void solve_normals(const ReducedProblem& p, const ConstRowMap& rows, const SolverOptions& options, ConvexWorkspace& w) {
  const Index n = p.contacts(), left = rows.cols() - w.tangents.basis.rank();
  const Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>> normal_rows(rows.data(), n, rows.cols(),
                                                                         Eigen::OuterStride<>(3 * rows.cols()));
  w.q.resize(n);
  w.q.noalias() = normal_rows * w.y;
  for (Index i = 0; i < n; ++i) w.q[i] += p.u_free[3 * i] + p.offset[i];
  w.normals.resize(n * left);
  RowMap projected(w.normals.data(), n, left);
  if (w.tangents.indices.empty()) {
    projected = normal_rows;
  } else {
    projected.noalias() = normal_rows.lazyProduct(w.tangents.basis.complement());  // a blocked product would allocate
  }
  drop_settled(rows, velocity_size(p), projected, w);
  if (!options.warm_start) w.lcp_solution.active.clear();
  const auto& method = options.solver == Solver::ppm ? ppm : goldfarb_idnani;
  const LowRankLcpOptions bounds{
      .max_pivots = options.max_pivots, .rounding = std::span(w.rounding.data(), static_cast<std::size_t>(n)), .length = w.y.norm()};
  method(projected, w.q, w.lcp_solution.active, bounds, w.lcp, w.lcp_solution);
  if (w.tangents.indices.empty()) {
    w.y += w.lcp_solution.y;
  } else {
    w.y.noalias() += w.tangents.basis.complement() * w.lcp_solution.y;
  }
}

// Largest |u_T| of the half spaces at the motion w.y over the size of the free velocities.
double slip_left(const ReducedProblem& p, const ConstRowMap& rows, const ConvexWorkspace& w) {
  double worst = 0.0, scale = 1e-300;
  const Index r = rows.cols();
  for (const int row : w.candidates) {
    const double* a = rows.data() + row * r;
    double u = p.u_free[row];
    scale = std::max(scale, std::abs(u));
    for (Index j = 0; j < r; ++j) u += a[j] * w.y[j];
    worst = std::max(worst, std::abs(u));
  }
  return worst / std::max(scale, velocity_size(p));
}

// λ of the tangential rows, in w.head: R λ_S = Qᵀ(y - Nᵀ z) on their span.
void find_tangent_impulses(const ConstRowMap& rows, ConvexWorkspace& w) {
  const RowBasis& basis = w.tangents.basis;
  w.rest = w.y;
  for (int active : w.lcp_solution.active) w.rest -= w.lcp_solution.z[active] * rows.row(3 * active).transpose();
  w.head.resize(basis.rank());
  w.head.noalias() = basis.span().transpose() * w.rest;
  basis.solve_upper(w.head.data());
}

// What rounding of their impulses may leave of velocities, over the size of the free velocities.
double rounding_of_tangents(const ReducedProblem& p, const ConstRowMap& rows, ConvexWorkspace& w) {
  if (w.tangents.indices.empty()) return 0.0;
  find_tangent_impulses(rows, w);
  double largest = 0.0, longest = 0.0;
  for (Index j = 0; j < w.head.size(); ++j) {
    const double length = rows.row(w.tangents.indices[j]).norm();
    largest = std::max(largest, std::abs(w.head[j]) * length);
    longest = std::max(longest, length);
  }
  return kSumRounding * largest * longest / std::max(velocity_size(p), 1e-300);
}

// Rows close to the span of the others are left out at first: where the normals hold the body, they add nothing but impulses that
// grow with the inverse of the distance. When slip remains on them, they come in, unless it is within the tolerance and their impulses
// round off more. False when no motion removes the slip.
bool solve_no_slip(const ReducedProblem& p, const ConstRowMap& rows, const SolverOptions& options, ConvexWorkspace& w, Impulses& out) {
  constexpr double kDistances[] = {kWellApart, 1e-6, kDependent}, kNoSlip = 1e-12;
  double best = kInfinity, chosen = 0.0, last = 0.0;
  SolverOptions left = options;
  const auto solve_at = [&](double distance) {
    eliminate_tangents(p, rows, distance, w);
    solve_normals(p, rows, left, w);
    out.iterations += w.lcp_solution.pivots;
    if (options.max_pivots > 0) left.max_pivots = options.max_pivots - out.iterations;
    last = distance;
  };
  const auto is_spent = [&] { return options.max_pivots > 0 && left.max_pivots <= 0; };
  for (const double distance : kDistances) {
    if (best < kInfinity && (w.tangents.nearest <= distance || is_spent())) continue;
    solve_at(distance);
    const double slip = slip_left(p, rows, w);
    if (options.well_apart) return true;
    if (distance == kWellApart && slip > options.tolerance && tangents_contradict(p, w)) return false;  // less is certified all the same
    if (slip < best && (best > options.tolerance || rounding_of_tangents(p, rows, w) <= options.tolerance)) {
      best = slip;
      chosen = distance;
    }
    if (slip <= kNoSlip || w.tangents.nearest <= kDependent) break;
  }
  if (chosen != last && !is_spent()) solve_at(chosen);
  return true;
}

// A power of two, so that dividing by it rounds nothing: the program is as linear in the velocities as in the impulses, and takes squares.
double unit_of(const GrowVector& velocities) {
  const double size = largest_entry(velocities);
  return size > 0.0 && std::isfinite(size) ? std::exp2(std::ilogb(size)) : 1.0;
}

void recover_tangents(const ConstRowMap& rows, ConvexWorkspace& w, Impulses& out) {
  find_tangent_impulses(rows, w);
  for (Index j = 0; j < w.head.size(); ++j) out.lambda[w.tangents.indices[j]] = w.head[j];
}

}  // namespace

void solve_by_active_set(const StandardForm& form, const SolverOptions& options, ConvexWorkspace& w, Impulses& out) {
  const ReducedProblem& p = form.problem;
  make_generators(p, GeneratorKind::cone, form.edges, w.generators);
  Generators& g = w.generators;
  const double unit = unit_of(g.c);
  for (GrowVector* x : {&g.c, &g.lo, &g.hi}) *x /= unit;
  KineticQp qp;
  qp.A = RowsView(g.storage.data(), g.size(), p.rank_bound(), p.rank_bound());
  qp.c = g.c;
  qp.lo = g.lo;
  qp.hi = g.hi;
  w.q = w.qp_solution.x / unit;
  if (options.warm_start && w.q.size() == g.size()) qp.x0 = w.q;
  out.status = kinetic_qp(qp, {.max_pivots = options.max_pivots, .contradiction = kMet * velocity_size(p) / unit}, w.qp, w.qp_solution);
  out.iterations = w.qp_solution.pivots;
  w.qp_solution.x *= unit;
  expand(p, g, w.qp_solution.x, out.lambda, out.beta);
}

void solve_by_pivoting(const ReducedProblem& p, const SolverOptions& options, ConvexWorkspace& w, Impulses& out) {
  assert(p.bounded_rows() == 0);
  const ConstRowMap rows = dense_rows(p.Rt, w.rows);
  if (!w.same_rows) w.has_range = false;
  out.iterations = 0;
  bool slips = false;
  if (std::ranges::any_of(p.mu, [](double mu) { return std::isinf(mu); })) {
    slips = !solve_no_slip(p, rows, options, w, out);
  } else {
    no_tangents(rows, w);
    solve_normals(p, rows, options, w);
    out.iterations = w.lcp_solution.pivots;
  }
  out.status = w.lcp_solution.status;
  out.lambda.setZero(3 * p.contacts());
  out.beta.resize(0);
  for (int active : w.lcp_solution.active) out.lambda[3 * active] = w.lcp_solution.z[active];
  out.motion = w.y;
  if (!w.tangents.indices.empty()) recover_tangents(rows, w, out);
  if (slips) {
    out.status = Status::infeasible;
    out.ray.setZero(3 * p.contacts());
    for (std::size_t t = 0; t < w.candidates.size(); ++t) out.ray[w.candidates[t]] = -w.slip[static_cast<Index>(t)];
  }
}

bool tangents_contradict(const ReducedProblem& p, ConvexWorkspace& w) {
  const ConstRowMap rows = dense_rows(p.Rt, w.rows);
  find_candidates(p, w.candidates);
  const Index count = static_cast<Index>(w.candidates.size()), r = rows.cols();
  if (count == 0) return false;
  w.slip.resize(count);
  for (Index t = 0; t < count; ++t) w.slip[t] = p.u_free[w.candidates[t]];
  if (!w.same_rows || !w.has_range) {
    GrowMatrix& tangents = w.range.reset(count, r);
    for (Index t = 0; t < count; ++t) tangents.row(t) = rows.row(w.candidates[t]);
    w.range.factor(kRangeRounding);
    w.has_range = true;
    ++w.factored_range;
  }
  w.range.apply_transposed(w.slip);
  w.slip.head(w.range.rank()).setZero();
  w.range.apply(w.slip);
  return w.slip.cwiseAbs().maxCoeff() > kContradiction * std::max(p.u_free.cwiseAbs().maxCoeff(), 1e-300);
}

}  // namespace stiction
