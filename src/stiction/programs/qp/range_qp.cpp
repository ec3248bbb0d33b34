#include "stiction/programs/qp/range_qp.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "stiction/base/errors.hpp"
#include "stiction/problem/contact_problem.hpp"
#include "stiction/programs/qp/row_space.hpp"

namespace stiction {

namespace {

constexpr double kStiffness = 1e4;  // ω: squared ratio of the largest entries of √ω E to those of W
constexpr double kStiffer = 100.0;  // factor on it when the multipliers converge slowly
constexpr double kStiffest = 1e10;
constexpr double kSlow = 0.1;           // a sweep should reduce |Eᵀx - e| at least by this
constexpr double kEngine = 1e-14;       // tolerance of the inner active set
constexpr double kUndetermined = 1e-9;  // share of a direction of ν in √ω Eᵀx_F below which F does not determine it
constexpr int kCorrections = 2;         // steps of refinement of x_F and ν
constexpr double kAimed = 1.0;          // residual over tolerance at which a solve stops
constexpr double kAccepted = 100.0;     // residual over tolerance up to which it counts as solved when it can get no further
constexpr double kMet = 1e-12;          // relative |Eᵀx - e| below which the equalities count as met
constexpr double kCertificate = 1e-9;   // relative tolerance of a proof of infeasibility
constexpr Eigen::Index kWide = 16;      // width of W from which compression is worth a try
constexpr double kFine = 1e-17;         // kEngine / ω and less: wrong signs that count once the rounding of √ω Eᵀx is out of the way
constexpr int kRounds = 3;
constexpr int kSweeps = 40;
constexpr int kStalled = 3;  // sweeps without progress after which an accepted residual is final

Eigen::Index equalities(const RangeQp& problem) { return problem.E.cols(); }
double low(const RangeQp& problem, Eigen::Index j) { return problem.lo.empty() ? 0.0 : problem.lo[j]; }
double high(const RangeQp& problem, Eigen::Index j) { return problem.hi.empty() ? kInfinity : problem.hi[j]; }

void check(const RangeQp& problem, const QpOptions& options) {
  require_positive("tolerance", options.tolerance);
  const Eigen::Index p = equalities(problem);
  if (p > 0) require_size("E.rows", problem.E.rows(), problem.W.rows());
  require_size("e", problem.e.size(), p);
  if (!problem.t.empty()) require_size("t", problem.t.size(), problem.W.cols());
  if (!problem.nu0.empty()) require_size("nu0", problem.nu0.size(), p);
  require_finite_entries("t", problem.t);
  require_finite_entries("e", problem.e);
  require_finite_entries("nu0", problem.nu0);
}

void compress(const RangeQp& problem, bool allowed, RangeQpWorkspace& ws) {
  const Eigen::Index w = problem.W.cols();
  const bool compressed =
      allowed && w >= kWide && problem.W.rows() > 2 * w && find_row_space(problem.W, w / 2, ws.basis, ws.coordinates, ws.scratch);
  if (!compressed) ws.basis.reset(0);
  ws.target.resize(compressed ? ws.basis.rank() : w);
  if (problem.t.empty()) {
    ws.target.setZero();
  } else if (compressed) {
    ws.target.noalias() = ws.basis.span().transpose() * problem.t.map();
  } else {
    ws.target = problem.t.map();
  }
}

/// Stacks √ω E over W (or its coordinates) and starts the engine at x0.
void stack(const RangeQp& problem, double stiffness, VectorView x0, RangeQpWorkspace& ws) {
  const Eigen::Index n = problem.W.rows(), w = ws.target.size(), p = equalities(problem);
  const bool compressed = ws.basis.rank() > 0;
  ws.stacked.resize(p + w, n);
  ws.weight.setZero(p);
  double largest = 0.0;
  for (Eigen::Index j = 0; j < n; ++j) {
    auto column = ws.stacked.col(j).tail(w);
    if (compressed) {
      column = ws.coordinates.row(j);
    } else {
      column = problem.W.row(j);
    }
    largest = std::max(largest, column.squaredNorm());
    for (Eigen::Index k = 0; k < p; ++k) ws.weight[k] = std::max(ws.weight[k], std::abs(problem.E.row_data(j)[k]));
  }
  ws.flat = largest == 0.0;
  const double stiff = std::sqrt(stiffness * (ws.flat ? 1.0 : largest));
  for (Eigen::Index k = 0; k < p; ++k) ws.weight[k] = ws.weight[k] > 0.0 ? stiff / ws.weight[k] : 0.0;
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index k = 0; k < p; ++k) ws.stacked(k, j) = ws.weight[k] * problem.E.row_data(j)[k];
  }
  ws.level = ws.weight.cwiseProduct(problem.e.map());
  ws.typical = std::sqrt(stiffness) * ws.target.norm();
  const bool at_rest = (ws.flat || is_zero(problem.t)) && is_zero(problem.e);
  ws.engine.start(ws.stacked.transpose(), {}, problem.lo, problem.hi, at_rest ? VectorView() : x0);
}

void set_target(RangeQpWorkspace& ws) {
  ws.engine.target().head(ws.weight.size()) = ws.level + ws.multiplier;
  ws.engine.target().tail(ws.target.size()) = ws.target;
}

/// Largest |Eᵀx - e| relative to the terms it is made of.
double measure_defect(const RangeQp& problem, RangeQpWorkspace& ws) {
  const Eigen::Index p = ws.weight.size();
  ws.defect = ws.level - ws.engine.y().head(p);
  const double typical = std::max(ws.typical, ws.engine.scale());
  double worst = 0.0;
  for (Eigen::Index k = 0; k < p; ++k) {
    const double size = std::abs(ws.level[k]) + typical;
    if (ws.weight[k] == 0.0 && problem.e[k] != 0.0) return 1.0;
    if (ws.defect[k] != 0.0) worst = std::max(worst, std::abs(ws.defect[k]) / size);
  }
  return worst;
}

/// scratch <- (B Bᵀ + ε)⁻¹ scratch, with B the equality rows of Q: B Bᵀ is what a change of ν does to √ω Eᵀx_F, and ε keeps ν where it
/// is in directions that F does not determine.
void solve_for_multipliers(RangeQpWorkspace& ws) {
  const auto B = ws.engine.factor().span().topRows(ws.weight.size());
  ws.gram.resize(B.rows(), B.rows());
  ws.gram.noalias() = B.lazyProduct(B.transpose());
  ws.gram.diagonal().array() += kUndetermined;
  Eigen::Ref<Eigen::MatrixXd> in_place(ws.gram);
  Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(in_place).solveInPlace(ws.scratch);
}

/// Moves x_F to meet the equalities, with the change of ν that keeps it stationary. Variables that reach a bound on the way leave F.
void meet_equalities(const RangeQp& problem, RangeQpWorkspace& ws) {
  const Eigen::Index p = ws.weight.size();
  for (int full_steps = 0; full_steps < kCorrections && ws.engine.inside_size() > 0 && ws.defect.norm() > 0.0;) {
    ws.scratch = ws.defect;
    solve_for_multipliers(ws);
    ws.step.resize(ws.engine.inside_size());
    ws.step.noalias() = ws.engine.factor().span().topRows(p).transpose().lazyProduct(ws.scratch);
    ws.engine.factor().solve_upper(ws.step.data());
    if (ws.engine.advance_inside(ws.step.data()) == 1.0) ++full_steps;
    measure_defect(problem, ws);
  }
}

/// ν near the first-order update that makes the gradient of the Lagrangian vanish on F, free of the rounding that ω multiplies.
void fit_multipliers(RangeQpWorkspace& ws) {
  const Eigen::Index p = ws.weight.size(), w = ws.target.size();
  const auto Q = ws.engine.factor().span();
  ws.multiplier = ws.first_order;
  for (int pass = 0; pass < kCorrections && Q.cols() > 0 && p > 0; ++pass) {
    ws.step.resize(Q.cols());
    ws.scratch = ws.engine.y().tail(w) - ws.target;
    ws.step.noalias() = Q.bottomRows(w).transpose() * ws.scratch;
    ws.step.noalias() -= Q.topRows(p).transpose() * ws.multiplier;
    ws.scratch.resize(p);
    ws.scratch.noalias() = Q.topRows(p) * ws.step;
    solve_for_multipliers(ws);
    ws.multiplier += ws.scratch;
  }
}

/// The ν nearest to the present one that makes x optimal, if there is one: minimise |δ|² subject to g - E δ of the right signs, which is
/// the dual of a bounded QP on E with cost g. Needed at degenerate x, where F alone does not determine ν. False: x is not optimal.
bool repair_multipliers(const RangeQp& problem, RangeQpWorkspace& ws) {
  const Eigen::Index n = ws.x.size();
  ws.dual_lo.resize(n);
  ws.dual_hi.resize(n);
  for (Eigen::Index j = 0; j < n; ++j) {
    ws.dual_lo[j] = ws.x[j] > low(problem, j) ? -kInfinity : 0.0;
    ws.dual_hi[j] = ws.x[j] < high(problem, j) ? kInfinity : 0.0;
  }
  ws.dual.start(problem.E, ws.gradient, ws.dual_lo, ws.dual_hi, {});
  if (ws.dual.minimise(kEngine, 0) != Status::solved) return false;
  ws.nu -= ws.dual.y();
  return true;
}

/// Keeps the point with the smaller residual in the solution.
void keep_best(const RangeQp& problem, RangeQpWorkspace& ws, RangeQpSolution& solution) {
  const double residual = qp_residual(problem, ws.x, ws.nu, ws.residual, ws.gradient).worst();
  if (!(residual < solution.residual)) return;
  solution.residual = residual;
  solution.x = ws.x;
  solution.nu = ws.nu;
  solution.gradient = ws.gradient;
}

/// Corrects x and ν from the engine's point until the residual is accepted or there is nothing left to correct.
void polish(const RangeQp& problem, double accepted, RangeQpWorkspace& ws, RangeQpSolution& solution) {
  for (int round = 0; round < kRounds; ++round) {
    meet_equalities(problem, ws);
    fit_multipliers(ws);
    ws.x = ws.engine.x();
    ws.nu = ws.multiplier.cwiseProduct(ws.weight);
    if (ws.flat) ws.nu.setZero();
    keep_best(problem, ws, solution);
    if (solution.residual <= accepted || equalities(problem) == 0 || measure_defect(problem, ws) > kMet) return;
    if (!ws.gradient.allFinite()) return;
    if (repair_multipliers(problem, ws)) keep_best(problem, ws, solution);
    if (solution.residual <= accepted) return;
    // Exactly at this ν: the target takes over the rounding of Eᵀx, which ω would multiply.
    ws.first_order = ws.multiplier;
    ws.engine.target().head(ws.weight.size()) = ws.engine.y().head(ws.weight.size()) + ws.multiplier;
    if (ws.engine.minimise(kFine, 0) != Status::solved) return;
    measure_defect(problem, ws);
  }
}

/// πᵀe > max over the box of πᵀEᵀx, beyond rounding.
bool is_farkas(const RangeQp& problem, const RangeQpWorkspace& ws, const GrowVector& farkas) {
  double gap = farkas.dot(problem.e.map()), size = farkas.cwiseAbs().dot(problem.e.map().cwiseAbs()), scaled = 0.0;
  for (Eigen::Index k = 0; k < farkas.size(); ++k) {
    if (ws.weight[k] > 0.0) scaled = std::max(scaled, std::abs(farkas[k]) / ws.weight[k]);
  }
  for (Eigen::Index j = 0; j < problem.E.rows(); ++j) {
    const double slope = problem.E.row(j).dot(farkas), bound = slope > 0.0 ? high(problem, j) : low(problem, j);
    const double rounding = kCertificate * scaled * ws.stacked.col(j).head(farkas.size()).lpNorm<1>();
    if (std::isfinite(bound)) {
      gap -= slope * bound;
      size += std::abs(slope * bound);
    } else if (std::abs(slope) > rounding) {
      return false;
    }
  }
  return gap > kCertificate * size;
}

/// Phase one, min |√ω(Eᵀx - e)|² over the box: its remainder proves that no x within the bounds has Eᵀx = e, unless it vanishes.
bool proves_infeasible(const RangeQp& problem, RangeQpWorkspace& ws, GrowVector& farkas) {
  const Eigen::Index p = ws.weight.size();
  farkas.setZero(p);
  for (Eigen::Index k = 0; k < p; ++k) {
    if (ws.weight[k] > 0.0 || problem.e[k] == 0.0) continue;
    farkas[k] = std::copysign(1.0, problem.e[k]);  // a column of zeros
    return true;
  }
  ActiveSet& engine = ws.dual;
  engine.start(RowsView(ws.stacked.data(), ws.stacked.cols(), p, ws.stacked.rows()), {}, problem.lo, problem.hi, ws.engine.x());
  engine.target() = ws.level;
  if (engine.minimise(kEngine, 0) != Status::solved) return false;
  farkas = (ws.level - engine.y()).cwiseProduct(ws.weight);
  const double norm = farkas.cwiseAbs().maxCoeff();
  if (!(norm > 0.0)) return false;
  farkas *= 1.0 / norm;
  return is_farkas(problem, ws, farkas);
}

/// One run of the method of multipliers; leaves the best point in ws.x, ws.nu and its residual in the solution.
Status run(const RangeQp& problem, const QpOptions& options, bool allow_compression, RangeQpWorkspace& ws, RangeQpSolution& solution) {
  double stiffness = kStiffness, last = kInfinity;
  compress(problem, allow_compression, ws);
  stack(problem, stiffness, problem.x0, ws);
  ws.multiplier.setZero(ws.weight.size());
  for (Eigen::Index k = 0; k < problem.nu0.size(); ++k) {
    if (ws.weight[k] > 0.0) ws.multiplier[k] = problem.nu0[k] / ws.weight[k];
  }
  solution.residual = kInfinity;
  int earlier_pivots = 0;
  for (int sweep = 0, stalled = 0; sweep < kSweeps && !(stalled >= kStalled && solution.residual <= kAccepted * options.tolerance);
       ++sweep) {
    ++solution.sweeps;
    set_target(ws);
    const Status status = ws.engine.minimise(kEngine, options.max_pivots);
    const double defect = measure_defect(problem, ws), norm = ws.defect.norm(), before = solution.residual;
    if (status == Status::solved && defect > kCertificate && sweep == 1 && proves_infeasible(problem, ws, solution.farkas)) {
      return Status::infeasible;
    }
    ws.first_order = ws.updated = ws.multiplier + ws.defect;
    polish(problem, kAimed * options.tolerance, ws, solution);
    solution.pivots = earlier_pivots + ws.engine.pivots();
    if (status != Status::solved) return status;
    if (solution.residual <= kAimed * options.tolerance) return Status::solved;
    stalled = solution.residual < 0.5 * before ? 0 : stalled + 1;
    ws.multiplier = ws.updated;
    if (norm > kSlow * last && defect > kMet && stiffness < kStiffest) {
      earlier_pivots += ws.engine.pivots();
      stiffness *= kStiffer;
      ws.multiplier *= 1.0 / std::sqrt(kStiffer);
      stack(problem, stiffness, ws.x, ws);
      last = kInfinity;
    } else {
      last = norm;
    }
  }
  return solution.residual <= kAccepted * options.tolerance ? Status::solved : Status::inaccurate;
}

/// After an overflow: x nearest to zero, ν = 0.
void return_rest(const RangeQp& problem, RangeQpWorkspace& ws, RangeQpSolution& solution) {
  solution.x.setZero(problem.W.rows());
  for (Eigen::Index j = 0; j < solution.x.size(); ++j) solution.x[j] = std::clamp(0.0, low(problem, j), high(problem, j));
  solution.nu.setZero(equalities(problem));
  qp_residual(problem, solution.x, solution.nu, ws.residual, solution.gradient);
  if (solution.status != Status::infeasible) solution.status = Status::numerical_error;
}

}  // namespace

Status range_qp(const RangeQp& problem, const QpOptions& options, RangeQpWorkspace& ws, RangeQpSolution& solution) {
  check(problem, options);
  solution.pivots = solution.sweeps = 0;
  solution.farkas.resize(0);
  solution.status = run(problem, options, true, ws, solution);
  if (solution.status == Status::inaccurate && ws.basis.rank() > 0) solution.status = run(problem, options, false, ws, solution);
  if (solution.status != Status::infeasible) solution.farkas.resize(0);
  if (solution.residual == kInfinity) return_rest(problem, ws, solution);
  solution.y.resize(problem.W.cols());
  solution.y.noalias() = problem.W.map().transpose() * solution.x;
  return solution.status;
}

}  // namespace stiction
