#include "stiction/programs/qp/kinetic_qp.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "stiction/base/errors.hpp"
#include "stiction/programs/qp/multipliers.hpp"

namespace stiction {

namespace {

using Eigen::Index;

constexpr double kRowStiffness = 1e3;     // ω_i |c_i|²
constexpr double kAcceptedBounds = 10.0;  // residual over tolerance up to which a solve without rows counts as solved

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
  for (Index i = 0; i < problem.C.rows(); ++i) require_finite_entries("C", VectorView(problem.C.row_data(i), problem.C.cols()));
}

class KineticMultipliers {
 public:
  KineticMultipliers(const KineticQp& problem, const QpOptions& options, KineticQpWorkspace& workspace, KineticQpSolution& solution)
      : problem_(problem), options_(options), ws_(workspace), solution_(solution), rows_(workspace.engine.rows()) {
    const bool at_rest = is_zero(problem.y0) && is_zero(problem.c) && (problem.d.empty() || problem.d.map().maxCoeff() <= 0.0);
    ws_.engine.start(problem.A, problem.c, problem.lo, problem.hi, at_rest ? VectorView() : problem.x0);
    if (!problem.y0.empty()) ws_.engine.target() = -problem.y0.map();
    rows_.reset(problem.C, kRowStiffness);
    ws_.mu.setZero(problem.C.rows());
    if (!problem.mu0.empty()) ws_.mu = problem.mu0.map().cwiseMax(0.0);
  }

  /// Without rows one minimisation is all.
  Status minimise_within_bounds() {
    const Status status = ws_.engine.minimise(options_);
    ws_.first_order.resize(0);
    offer();
    solution_.pivots = pivots();
    return status == Status::solved && !(solution_.residual <= kAcceptedBounds * options_.tolerance) ? Status::inaccurate : status;
  }

  Status minimise() {
    for (Index i = 0; i < rows_.size(); ++i) {
      rows_.level()[i] = problem_.d[i] + (rows_.weight(i) > 0.0 ? ws_.mu[i] / rows_.weight(i) : 0.0);
    }
    return ws_.engine.minimise({.tolerance = multipliers::kEngine, .max_pivots = options_.max_pivots});
  }

  /// The defect of a row is |μ_new - μ| |c_i| / ω_i.
  multipliers::Defect update() {
    const double reach = ws_.engine.y().norm() + ws_.engine.target().norm();
    multipliers::Defect largest{0.0, 0.0};
    ws_.first_order.resize(rows_.size());
    for (Index i = 0; i < rows_.size(); ++i) {
      ws_.first_order[i] = rows_.force(i);
      if (rows_.weight(i) == 0.0) {
        if (problem_.d[i] > 0.0) largest.relative = 1.0;
        continue;
      }
      const double defect = std::abs(ws_.first_order[i] - ws_.mu[i]) / rows_.weight(i);
      if (defect > 0.0) largest.relative = std::max(largest.relative, defect / (rows_.norm(i) * reach + std::abs(problem_.d[i])));
      largest.size = std::max(largest.size, defect / rows_.norm(i));
    }
    return largest;
  }

  /// True when the change of μ proves that no x within the bounds has C Aᵀx >= d.
  bool proves_infeasible() {
    GrowVector& farkas = solution_.farkas;
    farkas.setZero(ws_.mu.size());
    for (Index i = 0; i < farkas.size(); ++i) {
      if (rows_.weight(i) > 0.0 || problem_.d[i] <= 0.0) continue;
      farkas[i] = 1.0;  // a row of zeros
      return true;
    }
    farkas = (ws_.first_order - ws_.mu).cwiseMax(0.0);
    const double norm = farkas.size() == 0 ? 0.0 : farkas.maxCoeff();
    if (!(norm > 0.0)) return false;
    farkas *= 1.0 / norm;
    ws_.z.setZero(problem_.A.cols());
    double size = 0.0;
    for (Index i = 0; i < farkas.size(); ++i) {
      ws_.z += farkas[i] * problem_.C.row(i);
      size += farkas[i] * rows_.norm(i);
    }
    return multipliers::exceeds_reach(
        farkas.dot(problem_.d.map()), farkas.dot(problem_.d.map().cwiseAbs()), problem_.A.rows(), problem_.lo, problem_.hi,
        [&](Index j) { return problem_.A.row(j).dot(ws_.z); }, [&](Index j) { return ws_.engine.norms()[j] * size; });
  }

  void offer() {
    fit();
    const double residual = qp_residual(problem_, ws_.engine.x(), ws_.trial, ws_.residual).worst();
    if (!(residual < solution_.residual)) return;
    solution_.residual = residual;
    solution_.x = ws_.engine.x();
    solution_.y = ws_.engine.y();
    solution_.mu = ws_.trial;
  }

  void go_on() { ws_.mu = ws_.first_order; }
  void stiffen(double factor) { rows_.stiffen(factor); }
  int pivots() const { return ws_.engine.pivots(); }

 private:
  /// μ of the active rows near the first-order update that makes the gradient on F vanish, free of the rounding that ω multiplies.
  void fit() {
    ws_.trial = ws_.first_order;
    const RowBasis& factor = ws_.engine.factor();
    const Index k = factor.rank();
    if (k == 0 || problem_.C.empty()) return;
    const auto Q = factor.span();
    for (int pass = 0; pass < multipliers::kCorrections; ++pass) {
      ws_.z = ws_.engine.y() - ws_.engine.target();
      for (Index i = 0; i < ws_.trial.size(); ++i) ws_.z -= ws_.trial[i] * problem_.C.row(i);
      ws_.work.setZero(k);
      if (!problem_.c.empty()) {
        for (Index i = 0; i < k; ++i) ws_.work[i] = problem_.c[ws_.engine.inside(i)];
        factor.solve_lower(ws_.work.data());
      }
      ws_.work.noalias() += Q.transpose() * ws_.z;
      ws_.gram.setZero(k, k);
      for (Index l = 0; l < k; ++l) {
        ws_.z.noalias() = rows_.hessian() * Q.col(l);
        ws_.gram.col(l).noalias() = Q.transpose() * ws_.z;
      }
      ws_.gram.diagonal().array() += multipliers::kUndetermined * ws_.gram.diagonal().maxCoeff() + 1e-300;
      Eigen::Ref<Eigen::MatrixXd> in_place(ws_.gram);
      Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(in_place).solveInPlace(ws_.work);
      ws_.z.noalias() = Q * ws_.work;
      for (Index i = 0; i < ws_.trial.size(); ++i) {
        if (ws_.trial[i] > 0.0) ws_.trial[i] = std::max(0.0, ws_.trial[i] + rows_.weight(i) * problem_.C.row(i).dot(ws_.z));
      }
    }
  }

  const KineticQp& problem_;
  const QpOptions& options_;
  KineticQpWorkspace& ws_;
  KineticQpSolution& solution_;
  PenaltyRows& rows_;
};

}  // namespace

Status kinetic_qp(const KineticQp& problem, const QpOptions& options, KineticQpWorkspace& ws, KineticQpSolution& solution) {
  check(problem, options);
  solution.pivots = solution.sweeps = 0;
  solution.residual = kInfinity;
  KineticMultipliers method(problem, options, ws, solution);
  solution.status =
      problem.C.empty() ? method.minimise_within_bounds() : multipliers::iterate(method, options.tolerance, kRowStiffness, solution);
  if (solution.status == Status::inaccurate && !(problem.x0.empty() && problem.mu0.empty())) {
    KineticQp cold = problem;
    cold.x0 = cold.mu0 = {};
    return kinetic_qp(cold, options, ws, solution);
  }
  if (solution.status != Status::infeasible) solution.farkas.resize(0);
  solution.direction = ws.engine.direction();
  if (solution.residual == kInfinity) {  // an overflow, or infeasible
    set_nearest_to_zero(problem.A.rows(), problem.lo, problem.hi, solution.x);
    solution.y.resize(problem.A.cols());
    solution.y.noalias() = problem.A.map().transpose() * solution.x;
    solution.mu.setZero(problem.C.rows());
    if (solution.status != Status::infeasible) solution.status = Status::numerical_error;
  }
  return solution.status;
}

}  // namespace stiction
