// Proximal point method with a Newton method inside: slower than the polish and far more robust, for points whose pattern is not yet clear.
//
//   outer   λ ← λ⁺ = P_K(λ - κ ũ(y)),     where y solves     F(y) = y - Σ R_iᵀ λ_i⁺(y) - Σ b_j β_j⁺(y) = 0
//   inner   (I + Σ R_iᵀ D_i R_i + ...) δy = -F,  step halved until the merit falls
// The convex problems (relaxed or lagged) have F = ∇φ, φ = |y|²/2 + Σ |λ_i⁺|²/(2 κ_i) strongly convex, so both loops converge from
// anywhere [Rockafellar 1976; Zhao, Sun and Toh 2010]; Coulomb's law takes |F|² as merit, without a guarantee. κ_i is a multiple of
// 1/(mean diagonal of the contact's own Delassus block); one factorisation per inner step.
#include <algorithm>
#include <cmath>

#include "stiction/programs/cone/memory.hpp"

namespace stiction {

namespace {

constexpr int kOuter = 25, kInner = 40, kHalvings = 12;
constexpr double kSoftest = 1e3, kStiffest = 1e6;  // κ times the contact's own Delassus block; tenfold when an outer step brings little

// At y: λ⁺ - λ into dlambda, β⁺ - β into dbeta, F into dy; returns the merit. `start` is R_tᵀ λ + B_tᵀ β.
double residual(const ReducedProblem& problem, ConeMemory& m, const GrowVector& start, double stiffness) {
  m.space.velocities(m.y, m.u, m.w);
  m.u += m.shift;
  m.w += problem.w_free;
  linearise(problem, m, stiffness, 1.0);
  m.space.gather(m.dlambda, m.dbeta, m.dy);
  m.dy = m.y - start - m.dy;
  if (!m.convex()) return m.dy.squaredNorm();
  double merit = 0.5 * m.y.squaredNorm();
  for (int i = 0; i < problem.contacts(); ++i) {
    merit += (m.lambda.segment<3>(3 * i) + m.dlambda.segment<3>(3 * i)).squaredNorm() * m.scale[i] * m.scale[i] / (2.0 * stiffness);
  }
  for (int j = 0; j < problem.bounded_rows(); ++j) {
    // The box is no cone: Moreau envelope of its support function.
    const double kappa = stiffness / (m.row_scale[j] * m.row_scale[j]);
    const double x = m.beta[j] - kappa * m.w[j], distance = x - (m.beta[j] + m.dbeta[j]);
    merit += (x * x - distance * distance) / (2.0 * kappa);
  }
  return merit;
}

// Newton on F from the current y. False when it cannot reduce the merit.
bool solve_inner(const ReducedProblem& problem, ConeMemory& m, const GrowVector& start, double stiffness, double accuracy) {
  double merit = residual(problem, m, start, stiffness);
  for (int k = 0; k < kInner && m.budget > 0 && m.dy.norm() > accuracy; ++k) {
    --m.budget;
    if (!m.space.factor(m.D, m.Db)) return false;
    m.step = m.dy;
    m.space.solve(m.step);
    const double allowed = merit + 1e-15 * std::abs(merit);
    double length = 1.0, now = kInfinity;
    for (int halving = 0; halving < kHalvings && !(now <= allowed); ++halving, length *= 0.5) {
      m.y -= length * m.step;
      now = residual(problem, m, start, stiffness);
      if (!(now <= allowed)) m.y += length * m.step;
    }
    if (!(now <= allowed)) {
      residual(problem, m, start, stiffness);
      return m.convex();  // then φ is at its minimum to rounding
    }
    merit = now;
  }
  return true;
}

}  // namespace

bool proximal_newton(const ReducedProblem& problem, ConeMemory& m) {
  if (m.space.on_matrix()) return false;
  double stiffness = kSoftest, last = evaluate(problem, m), polished = last;
  for (int k = 0; k < kOuter && m.budget > 0; ++k) {
    m.start = m.y;
    if (!solve_inner(problem, m, m.start, stiffness, 1e-14 * m.y.norm())) return false;
    m.lambda += m.dlambda;
    m.beta += m.dbeta;
    const double now = evaluate(problem, m);
    if (!std::isfinite(now)) return false;
    if (now < 1e-2 * polished || now <= m.target) {
      polished = now;
      hold(m);
      if (polish(problem, m, 4)) return true;
      resume(problem, m);
    }
    if (now > 0.1 * last) stiffness = std::min(10.0 * stiffness, kStiffest);
    last = now;
  }
  return polish(problem, m, 8);
}

}  // namespace stiction
