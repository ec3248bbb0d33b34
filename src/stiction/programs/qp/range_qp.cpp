#include "stiction/programs/qp/range_qp.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "stiction/base/errors.hpp"
#include "stiction/programs/qp/multipliers.hpp"

namespace stiction {

namespace {

using Eigen::Index;

// ω: squared ratio of the largest entries of √ω E to those of W. At 1e4 a biped takes a fifth more sweeps, at 1e5 two of 20,000 random
// problems end in rounding.
constexpr double kEqualityStiffness = 5e4;

// Tolerance of the inner active set. It compares with terms that ω is part of, so a slope of W that it lets pass may be ω times this, and
// some, of its own terms: at 1e-14 rests of 1e-9 were left. Rounding is 1e-16 to 2e-16 there; a variable that it brings in is barred.
constexpr double kEngine = 1e-15;

void check(const RangeQp& problem, const QpOptions& options) {
  require_positive("tolerance", options.tolerance);
  const Index p = problem.E.cols();
  if (p > 0) require_size("E.rows", problem.E.rows(), problem.W.rows());
  require_size("e", problem.e.size(), p);
  if (!problem.t.empty()) require_size("t", problem.t.size(), problem.W.cols());
  if (!problem.nu0.empty()) require_size("nu0", problem.nu0.size(), p);
  require_finite_entries("t", problem.t);
  require_finite_entries("e", problem.e);
  require_finite_entries("nu0", problem.nu0);
}

class RangeMultipliers {
 public:
  RangeMultipliers(const RangeQp& problem, const QpOptions& options, RangeQpWorkspace& workspace, RangeQpSolution& solution)
      : problem_(problem), options_(options), ws_(workspace), solution_(solution) {
    ws_.multiplier.setZero(equalities());
    stack(kEqualityStiffness, is_zero(problem.t) && is_zero(problem.e) ? VectorView() : problem.x0);
    for (Index k = 0; k < problem.nu0.size(); ++k) {
      if (ws_.weight[k] > 0.0) ws_.multiplier[k] = problem.nu0[k] / ws_.weight[k];
    }
  }

  Status minimise() {
    ws_.engine.target().head(equalities()) = ws_.level + ws_.multiplier;
    if (problem_.t.empty()) {
      ws_.engine.target().tail(problem_.W.cols()).setZero();
    } else {
      ws_.engine.target().tail(problem_.W.cols()) = problem_.t.map();
    }
    return ws_.engine.minimise({.tolerance = kEngine, .max_pivots = options_.max_pivots});
  }

  multipliers::Defect update() {
    ws_.defect = ws_.level - ws_.engine.y().head(equalities());
    const double typical = std::max(ws_.typical, ws_.engine.scale());
    double worst = 0.0;
    for (Index k = 0; k < equalities(); ++k) {
      if (ws_.weight[k] == 0.0 && problem_.e[k] != 0.0) worst = 1.0;
      if (ws_.defect[k] != 0.0) worst = std::max(worst, std::abs(ws_.defect[k]) / (std::abs(ws_.level[k]) + typical));
    }
    ws_.first_order = ws_.multiplier + ws_.defect;
    return {worst, ws_.defect.norm()};
  }

  /// πᵀe > max over the box of πᵀEᵀx, beyond rounding.
  bool proves_infeasible() {
    GrowVector& farkas = solution_.farkas;
    for (Index k = 0; k < equalities(); ++k) {
      if (ws_.weight[k] > 0.0 || problem_.e[k] == 0.0) continue;
      farkas.setZero(equalities());
      farkas[k] = std::copysign(1.0, problem_.e[k]);  // a column of zeros
      return true;
    }
    farkas = ws_.defect.cwiseProduct(ws_.weight);
    const double norm = farkas.cwiseAbs().maxCoeff();
    if (!(norm > 0.0)) return false;
    farkas *= 1.0 / norm;
    const double scaled = ws_.defect.lpNorm<Eigen::Infinity>() / norm;
    return multipliers::exceeds_reach(
        farkas.dot(problem_.e.map()), farkas.cwiseAbs().dot(problem_.e.map().cwiseAbs()), problem_.E.rows(), problem_.lo, problem_.hi,
        [&](Index j) { return problem_.E.row(j).dot(farkas); },
        [&](Index j) { return scaled * ws_.stacked.col(j).head(equalities()).lpNorm<1>(); });
  }

  /// ν near the first-order update that makes the gradient of the Lagrangian vanish on F; the better point stays.
  void offer() {
    ws_.multiplier = ws_.first_order;
    fit();
    ws_.nu = ws_.multiplier.cwiseProduct(ws_.weight);
    if (flat_) ws_.nu.setZero();
    const double residual = qp_residual(problem_, ws_.engine.x(), ws_.nu, ws_.residual).worst();
    if (!(residual < solution_.residual)) return;
    solution_.residual = residual;
    solution_.x = ws_.engine.x();
    solution_.nu = ws_.nu;
  }

  void go_on() { ws_.multiplier = ws_.first_order; }

  void stiffen(double factor) {
    earlier_pivots_ += ws_.engine.pivots();
    ws_.multiplier *= 1.0 / std::sqrt(factor);
    ws_.x = ws_.engine.x();
    stack(factor * stiffness_, ws_.x);
  }

  int pivots() const { return earlier_pivots_ + ws_.engine.pivots(); }

 private:
  Index equalities() const { return problem_.E.cols(); }

  /// Stacks √ω E over W and starts the engine at x0.
  void stack(double stiffness, VectorView x0) {
    stiffness_ = stiffness;
    const Index n = problem_.W.rows(), w = problem_.W.cols(), p = equalities();
    ws_.stacked.resize(p + w, n);
    ws_.weight.setZero(p);
    double largest = 0.0;
    for (Index j = 0; j < n; ++j) {
      ws_.stacked.col(j).tail(w) = problem_.W.row(j);
      largest = std::max(largest, problem_.W.row(j).squaredNorm());
      for (Index k = 0; k < p; ++k) ws_.weight[k] = std::max(ws_.weight[k], std::abs(problem_.E.row_data(j)[k]));
    }
    flat_ = largest == 0.0;
    const double stiff = std::sqrt(stiffness * (flat_ ? 1.0 : largest));
    for (Index k = 0; k < p; ++k) ws_.weight[k] = ws_.weight[k] > 0.0 ? stiff / ws_.weight[k] : 0.0;
    for (Index j = 0; j < n; ++j) {
      for (Index k = 0; k < p; ++k) ws_.stacked(k, j) = ws_.weight[k] * problem_.E.row_data(j)[k];
    }
    ws_.level = ws_.weight.cwiseProduct(problem_.e.map());
    ws_.typical = problem_.t.empty() ? 0.0 : std::sqrt(stiffness) * problem_.t.map().norm();
    ws_.engine.start(ws_.stacked.transpose(), {}, problem_.lo, problem_.hi, x0);
  }

  /// With B the equality rows of Q, B Bᵀ is what a change of ν does to √ω Eᵀx_F; ε keeps ν in directions that F does not determine.
  void fit() {
    const Index p = equalities(), w = problem_.W.cols();
    const auto Q = ws_.engine.factor().span();
    for (int pass = 0; pass < multipliers::kCorrections && Q.cols() > 0 && p > 0; ++pass) {
      const auto B = Q.topRows(p);
      ws_.step.resize(Q.cols());
      ws_.scratch = (ws_.engine.y() - ws_.engine.target()).tail(w);
      ws_.step.noalias() = Q.bottomRows(w).transpose() * ws_.scratch;
      ws_.step.noalias() -= B.transpose() * ws_.multiplier;
      ws_.scratch.resize(p);
      ws_.scratch.noalias() = B * ws_.step;
      ws_.gram.resize(p, p);
      ws_.gram.noalias() = B.lazyProduct(B.transpose());
      ws_.gram.diagonal().array() += multipliers::kUndetermined;
      Eigen::Ref<Eigen::MatrixXd> in_place(ws_.gram);
      Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(in_place).solveInPlace(ws_.scratch);
      ws_.multiplier += ws_.scratch;
    }
  }

  const RangeQp& problem_;
  const QpOptions& options_;
  RangeQpWorkspace& ws_;
  RangeQpSolution& solution_;
  double stiffness_ = 0.0;
  bool flat_ = false;  // W is zero, and so is ν
  int earlier_pivots_ = 0;
};

}  // namespace

Status range_qp(const RangeQp& problem, const QpOptions& options, RangeQpWorkspace& ws, RangeQpSolution& solution) {
  check(problem, options);
  solution.pivots = solution.sweeps = 0;
  solution.residual = kInfinity;
  RangeMultipliers method(problem, options, ws, solution);
  solution.status = multipliers::iterate(method, options.tolerance, kEqualityStiffness, solution);
  if (solution.status != Status::infeasible) solution.farkas.resize(0);
  if (solution.residual == kInfinity) {  // an overflow, or infeasible
    set_nearest_to_zero(problem.W.rows(), problem.lo, problem.hi, solution.x);
    solution.nu.setZero(problem.E.cols());
    if (solution.status != Status::infeasible) solution.status = Status::numerical_error;
  }
  solution.y.resize(problem.W.cols());
  solution.y.noalias() = problem.W.map().transpose() * solution.x;
  return solution.status;
}

}  // namespace stiction
