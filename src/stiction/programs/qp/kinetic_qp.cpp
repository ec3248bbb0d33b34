#include "stiction/programs/qp/kinetic_qp.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "stiction/base/errors.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

namespace {

constexpr double kStiffness = 1e3;  // ω_i |c_i|²
constexpr double kStiffer = 30.0;   // factor on it when the multipliers converge slowly
constexpr double kStiffest = 1e9;
constexpr double kSlow = 0.2;           // a sweep should reduce the defect at least by this
constexpr double kEngine = 1e-14;       // tolerance of the inner active set
constexpr double kUndetermined = 1e-9;  // relative eigenvalue below which a direction of Cᵀμ counts as not held by the active rows
constexpr int kCorrections = 2;
constexpr double kAimed = 1.0;         // residual over tolerance at which a solve stops
constexpr double kAccepted = 100.0;    // residual over tolerance up to which it counts as solved when it can get no further
constexpr double kCertificate = 1e-9;  // relative tolerance of a proof of infeasibility
constexpr double kMet = 1e-12;         // relative defect of the rows below which stiffness would only raise rounding
constexpr int kSweeps = 60;
constexpr int kStalled = 3;  // sweeps without progress after which an accepted residual is final

void check(const KineticQp& problem, const QpOptions& options) {
  require_positive("tolerance", options.tolerance);
  if (!problem.C.empty()) require_size("C.cols", problem.C.cols(), problem.A.cols());
  require_size("d", problem.d.size(), problem.C.rows());
  if (!problem.y0.empty()) require_size("y0", problem.y0.size(), problem.A.cols());
  if (!problem.mu0.empty()) require_size("mu0", problem.mu0.size(), problem.C.rows());
  if (!problem.c.empty()) require_size("c", problem.c.size(), problem.A.rows());
  require_finite_entries("y0", problem.y0);
  require_finite_entries("d", problem.d);
  require_finite_entries("mu0", problem.mu0);
  for (Eigen::Index i = 0; i < problem.C.rows(); ++i) require_finite_entries("C", VectorView(problem.C.row_data(i), problem.C.cols()));
}

double low(const KineticQp& problem, Eigen::Index j) { return problem.lo.empty() ? 0.0 : problem.lo[j]; }
double high(const KineticQp& problem, Eigen::Index j) { return problem.hi.empty() ? kInfinity : problem.hi[j]; }

void start(const KineticQp& problem, double stiffness, KineticQpWorkspace& ws) {
  const bool at_rest = is_zero(problem.y0) && is_zero(problem.c) && (problem.d.empty() || problem.d.map().maxCoeff() <= 0.0);
  ws.engine.start(problem.A, problem.c, problem.lo, problem.hi, at_rest ? VectorView() : problem.x0);
  if (!problem.y0.empty()) ws.engine.target() = -problem.y0.map();
  ws.engine.rows().reset(problem.C, stiffness);
  ws.mu.setZero(problem.C.rows());
  if (!problem.mu0.empty()) ws.mu = problem.mu0.map().cwiseMax(0.0);
}

void set_levels(const KineticQp& problem, KineticQpWorkspace& ws) {
  PenaltyRows& rows = ws.engine.rows();
  for (Eigen::Index i = 0; i < rows.size(); ++i) {
    rows.level()[i] = problem.d[i] + (rows.weight(i) > 0.0 ? ws.mu[i] / rows.weight(i) : 0.0);
  }
}

/// First-order update of μ into ws.trial; returns the largest |μ_new - μ| |c_i| / ω_i relative to the terms of the row.
double first_order_update(const KineticQp& problem, KineticQpWorkspace& ws, double& norm) {
  const PenaltyRows& rows = ws.engine.rows();
  const double reach = ws.engine.y().norm() + ws.engine.target().norm();
  double worst = 0.0;
  norm = 0.0;
  ws.trial.resize(rows.size());
  for (Eigen::Index i = 0; i < rows.size(); ++i) {
    ws.trial[i] = rows.force(i);
    if (rows.weight(i) == 0.0) {
      if (problem.d[i] > 0.0) worst = 1.0;
      continue;
    }
    const double defect = std::abs(ws.trial[i] - ws.mu[i]) / rows.weight(i);
    if (defect > 0.0) worst = std::max(worst, defect / (rows.norm(i) * reach + std::abs(problem.d[i])));
    norm = std::max(norm, defect / rows.norm(i));
  }
  return worst;
}

/// μ of the active rows near ws.trial that makes the gradient on F vanish, free of the rounding that ω multiplies.
void fit_multipliers(const KineticQp& problem, KineticQpWorkspace& ws) {
  const RowBasis& factor = ws.engine.factor();
  const Eigen::Index k = factor.rank();
  if (k == 0 || problem.C.empty()) return;
  const auto Q = factor.span();
  for (int pass = 0; pass < kCorrections; ++pass) {
    ws.z = ws.engine.y() - ws.engine.target();
    for (Eigen::Index i = 0; i < ws.trial.size(); ++i) ws.z -= ws.trial[i] * problem.C.row(i);
    ws.work.setZero(k);
    if (!problem.c.empty()) {
      for (Eigen::Index i = 0; i < k; ++i) ws.work[i] = problem.c[ws.engine.inside(i)];
      factor.solve_lower(ws.work.data());
    }
    ws.work.noalias() += Q.transpose() * ws.z;
    ws.gram.setZero(k, k);
    for (Eigen::Index l = 0; l < k; ++l) {
      ws.z.noalias() = ws.engine.rows().hessian() * Q.col(l);
      ws.gram.col(l).noalias() = Q.transpose() * ws.z;
    }
    ws.gram.diagonal().array() += kUndetermined * ws.gram.diagonal().maxCoeff() + 1e-300;
    Eigen::Ref<Eigen::MatrixXd> in_place(ws.gram);
    Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(in_place).solveInPlace(ws.work);
    ws.z.noalias() = Q * ws.work;
    for (Eigen::Index i = 0; i < ws.trial.size(); ++i) {
      if (ws.trial[i] > 0.0) ws.trial[i] = std::max(0.0, ws.trial[i] + ws.engine.rows().weight(i) * problem.C.row(i).dot(ws.z));
    }
  }
}

void keep_best(const KineticQp& problem, KineticQpWorkspace& ws, KineticQpSolution& solution) {
  const double residual = qp_residual(problem, ws.engine.x(), ws.trial, ws.residual, ws.gradient).worst();
  if (!(residual < solution.residual)) return;
  solution.residual = residual;
  solution.x = ws.engine.x();
  solution.y = ws.engine.y();
  solution.mu = ws.trial;
  solution.gradient = ws.gradient;
}

/// True when the change of μ proves that no x within the bounds has C Aᵀx >= d.
bool proves_infeasible(const KineticQp& problem, KineticQpWorkspace& ws, GrowVector& farkas) {
  farkas.setZero(ws.mu.size());
  for (Eigen::Index i = 0; i < farkas.size(); ++i) {
    if (ws.engine.rows().weight(i) > 0.0 || problem.d[i] <= 0.0) continue;
    farkas[i] = 1.0;  // a row of zeros
    return true;
  }
  farkas = (ws.trial - ws.mu).cwiseMax(0.0);
  const double norm = farkas.size() == 0 ? 0.0 : farkas.maxCoeff();
  if (!(norm > 0.0)) return false;
  farkas *= 1.0 / norm;
  ws.z.setZero(problem.A.cols());
  double size = 0.0, gap = farkas.dot(problem.d.map()), terms = farkas.dot(problem.d.map().cwiseAbs());
  for (Eigen::Index i = 0; i < farkas.size(); ++i) {
    ws.z += farkas[i] * problem.C.row(i);
    size += farkas[i] * ws.engine.rows().norm(i);
  }
  for (Eigen::Index j = 0; j < problem.A.rows(); ++j) {
    const double slope = problem.A.row(j).dot(ws.z), bound = slope > 0.0 ? high(problem, j) : low(problem, j);
    if (std::isfinite(bound)) {
      gap -= slope * bound;
      terms += std::abs(slope * bound);
    } else if (std::abs(slope) > kCertificate * ws.engine.norms()[j] * size) {
      return false;
    }
  }
  return gap > kCertificate * terms;
}

Status run(const KineticQp& problem, const QpOptions& options, KineticQpWorkspace& ws, KineticQpSolution& solution) {
  double stiffness = kStiffness, last = kInfinity;
  start(problem, stiffness, ws);
  for (int sweep = 0, stalled = 0; sweep < kSweeps && !(stalled >= kStalled && solution.residual <= kAccepted * options.tolerance);
       ++sweep) {
    ++solution.sweeps;
    set_levels(problem, ws);
    const Status status = ws.engine.minimise(kEngine, options.max_pivots);
    double norm = 0.0;
    const double defect = first_order_update(problem, ws, norm);
    solution.pivots = ws.engine.pivots();
    if (status == Status::solved && sweep > 1 && defect > kCertificate && proves_infeasible(problem, ws, solution.farkas))
      return Status::infeasible;
    ws.first_order = ws.trial;
    const double before = solution.residual;
    fit_multipliers(problem, ws);
    keep_best(problem, ws, solution);
    if (status != Status::solved) return status;
    if (solution.residual <= kAimed * options.tolerance) return Status::solved;
    stalled = solution.residual < 0.5 * before ? 0 : stalled + 1;
    ws.mu = ws.first_order;
    if (norm > kSlow * last && defect > kMet && stiffness < kStiffest) {
      stiffness *= kStiffer;
      ws.engine.rows().stiffen(kStiffer);
      last = kInfinity;
    } else {
      last = norm;
    }
  }
  return solution.residual <= kAccepted * options.tolerance ? Status::solved : Status::inaccurate;
}

/// After an overflow: x nearest to zero.
void return_rest(const KineticQp& problem, KineticQpWorkspace& ws, KineticQpSolution& solution) {
  solution.x.setZero(problem.A.rows());
  for (Eigen::Index j = 0; j < solution.x.size(); ++j) solution.x[j] = std::clamp(0.0, low(problem, j), high(problem, j));
  solution.y.resize(problem.A.cols());
  solution.y.noalias() = problem.A.map().transpose() * solution.x;
  solution.mu.setZero(problem.C.rows());
  qp_residual(problem, solution.x, solution.mu, ws.residual, solution.gradient);
  if (solution.status != Status::infeasible) solution.status = Status::numerical_error;
}

}  // namespace

Status kinetic_qp(const KineticQp& problem, const QpOptions& options, KineticQpWorkspace& ws, KineticQpSolution& solution) {
  check(problem, options);
  solution.pivots = solution.sweeps = 0;
  solution.residual = kInfinity;
  solution.farkas.resize(0);
  solution.status = run(problem, options, ws, solution);
  if (solution.status == Status::inaccurate && !(problem.x0.empty() && problem.mu0.empty())) {
    KineticQp cold = problem;
    cold.x0 = cold.mu0 = {};
    return kinetic_qp(cold, options, ws, solution);
  }
  if (solution.status != Status::infeasible) solution.farkas.resize(0);
  solution.direction = ws.engine.direction();
  if (solution.residual == kInfinity) return_rest(problem, ws, solution);
  return solution.status;
}

}  // namespace stiction
