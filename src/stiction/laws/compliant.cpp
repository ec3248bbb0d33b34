#include "stiction/laws/compliant.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr int kNewton = 60;       // iterations per phase
constexpr int kRenewals = 100;    // of frozen friction limits
constexpr int kMultipliers = 60;  // updates of β
constexpr double kWeight = 1e3;   // ρ G_jj of the bounded rows: each update of β shrinks its error about so much

void read_contacts(const LawTerms& terms, CompliantWorkspace& w) {
  w.contacts.clear();
  for (const ContactTerms& t : terms.contacts) w.contacts.push_back(t.constitutive);
}

void prepare(const ReducedProblem& p, CompliantWorkspace& w) {
  const int n = p.contacts(), m = p.bounded_rows();
  w.space.bind(p);
  for (GrowVector* x : {&w.y, &w.trial, &w.step, &w.residual}) x->setZero(p.rank_bound());
  for (GrowVector* x : {&w.u, &w.lambda}) x->setZero(3 * n);
  for (GrowVector* x : {&w.w, &w.beta, &w.multipliers, &w.weights, &w.active}) x->setZero(m);
  w.frozen.resize(n);
  w.frozen.setConstant(-1.0);
  w.D.setZero(9 * n);
  for (int j = 0; j < m; ++j) {
    const double square = p.Bt.group_square(j);
    w.weights[j] = square > 0.0 ? kWeight / square : 0.0;
    w.multipliers[j] = std::clamp(0.0, p.lo[j], p.hi[j]);
  }
}

// λ = f(u), β, slopes and F at y.
void evaluate(const ReducedProblem& p, const GrowVector& y, CompliantWorkspace& w) {
  w.space.velocities(y, w.u, w.w);
  w.u += p.u_free;
  w.w += p.w_free;
  Matrix3d slope;
  for (int i = 0; i < p.contacts(); ++i) {
    w.lambda.segment<3>(3 * i) = compliant_impulse(w.contacts[static_cast<std::size_t>(i)], w.u.segment<3>(3 * i), w.frozen[i], slope);
    Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(w.D.data() + 9 * i) = slope;
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    const double wish = w.multipliers[j] - w.weights[j] * w.w[j];
    w.beta[j] = std::clamp(wish, p.lo[j], p.hi[j]);
    w.active[j] = w.beta[j] == wish ? w.weights[j] : 0.0;
  }
  w.space.gather(w.lambda, w.beta, w.residual);
  w.residual = y - w.residual;
}

bool newton_direction(CompliantWorkspace& w) {
  if (!w.residual.allFinite() || !w.space.factor(w.D, w.active)) return false;
  w.step = -w.residual;
  w.space.solve(w.step);
  return w.step.allFinite();
}

// F vanishes to rounding of its terms.
bool is_zero(const CompliantWorkspace& w) {
  const double scale = w.y.lpNorm<Eigen::Infinity>() + 1e-300;
  return w.residual.lpNorm<Eigen::Infinity>() <= 1e-15 * scale;
}

// Newton with backtracking on |F|². True when F vanishes or cannot be made smaller by rounding.
bool newton(const ReducedProblem& p, CompliantWorkspace& w, int& iterations) {
  evaluate(p, w.y, w);
  double merit = w.residual.squaredNorm();
  const double start = merit;
  for (int k = 0; k < kNewton; ++k) {
    if (is_zero(w)) return true;
    if (!newton_direction(w)) return false;
    ++iterations;
    double t = 1.0, trial = kInfinity;
    for (; t > 1e-6; t *= 0.5) {
      w.trial = w.y + t * w.step;
      evaluate(p, w.trial, w);
      trial = w.residual.squaredNorm();
      if (trial <= (1.0 - 1e-4 * t) * merit) break;
    }
    if (!(trial < merit)) {
      evaluate(p, w.y, w);
      return merit <= 1e-20 * std::max(start, w.y.squaredNorm());
    }
    w.y = w.trial;
    merit = trial;
  }
  return false;
}

// Newton on a frozen, strictly convex F: along δy the root of F(y + t δy)·δy, which grows with t.
bool convex_newton(const ReducedProblem& p, CompliantWorkspace& w, int& iterations) {
  evaluate(p, w.y, w);
  for (int k = 0; k < kNewton; ++k) {
    if (is_zero(w)) return true;
    if (!newton_direction(w)) return false;
    ++iterations;
    const double before = w.residual.dot(w.step), norm = w.residual.squaredNorm();
    double lo = 0.0, hi = 1.0, t = 1.0;
    for (int trial = 0; trial < 40; ++trial) {
      w.trial = w.y + t * w.step;
      evaluate(p, w.trial, w);
      const double slope = w.residual.dot(w.step);
      if (slope <= 0.0 && (t == 1.0 || slope >= 0.9 * before)) break;
      (slope > 0.0 ? hi : lo) = t;
      t = 0.5 * (lo + hi);
    }
    w.y = w.trial;
    if (w.residual.squaredNorm() >= norm && std::abs(before) <= 1e-28 * std::max(1e-300, w.y.squaredNorm())) return true;
  }
  return false;
}

// The limits frozen at the last λ_N, renewed until Newton with the true limits succeeds or they repeat.
bool by_frozen_limits(const ReducedProblem& p, CompliantWorkspace& w, int& iterations) {
  w.frozen.setZero();
  for (int k = 0; k < kRenewals; ++k) {
    if (!convex_newton(p, w, iterations)) return false;
    w.frozen.setConstant(-1.0);
    if (newton(p, w, iterations)) return true;
    for (int i = 0; i < p.contacts(); ++i) w.frozen[i] = std::max(0.0, w.lambda[3 * i]);
  }
  w.frozen.setConstant(-1.0);
  evaluate(p, w.y, w);
  return false;
}

double natural_row_error(const ReducedProblem& p, const CompliantWorkspace& w) {
  double worst = 0.0;
  for (int j = 0; j < p.bounded_rows(); ++j) {
    if (w.weights[j] == 0.0) continue;
    const double g = kWeight / w.weights[j];
    worst = std::max(worst, g * std::abs(w.beta[j] - std::clamp(w.beta[j] - w.w[j] / g, p.lo[j], p.hi[j])));
  }
  return worst;
}

double velocity_scale(const ReducedProblem& p) {
  double scale = 1e-300;
  for (const GrowVector* x : {&p.u_free, &p.w_free}) {
    if (x->size() > 0) scale = std::max(scale, x->lpNorm<Eigen::Infinity>());
  }
  return scale;
}

// Largest |λ - f(u)| over the largest impulse, at the point (λ, β) itself.
double constitutive_error(const ReducedProblem& p, CompliantWorkspace& w) {
  w.space.gather(w.lambda, w.beta, w.trial);
  w.space.velocities(w.trial, w.u, w.w);
  w.u += p.u_free;
  w.w += p.w_free;
  double worst = 0.0, largest = 1e-300;
  for (int i = 0; i < p.contacts(); ++i) {
    const Vector3d lambda = w.lambda.segment<3>(3 * i),
                   f = compliant_impulse(w.contacts[static_cast<std::size_t>(i)], w.u.segment<3>(3 * i));
    worst = std::max(worst, (lambda - f).lpNorm<Eigen::Infinity>());
    largest = std::max({largest, lambda.lpNorm<Eigen::Infinity>(), f.lpNorm<Eigen::Infinity>()});
  }
  for (int j = 0; j < p.bounded_rows(); ++j) largest = std::max(largest, std::abs(w.beta[j]));
  return worst / largest;
}

// Every velocity is prescribed: the law says the rest.
void solve_without_freedom(const ReducedProblem& p, CompliantWorkspace& w, Impulses& out) {
  w.u = p.u_free;
  for (int i = 0; i < p.contacts(); ++i)
    w.lambda.segment<3>(3 * i) = compliant_impulse(w.contacts[static_cast<std::size_t>(i)], w.u.segment<3>(3 * i));
  out.status = Status::solved;
  out.lambda = w.lambda;
  out.beta = w.multipliers;
}

}  // namespace

void solve_compliant(const ReducedProblem& p, const LawTerms& terms, const SolverOptions& options, CompliantWorkspace& w, Impulses& out) {
  read_contacts(terms, w);
  prepare(p, w);
  if (p.rank_bound() == 0) return solve_without_freedom(p, w, out);
  const double row_tolerance = std::max(0.1 * options.tolerance, 1e-14) * velocity_scale(p);
  bool found = false;
  out.iterations = 0;
  for (int k = 0; k < kMultipliers; ++k) {
    found = newton(p, w, out.iterations) || by_frozen_limits(p, w, out.iterations);
    if (!found || natural_row_error(p, w) <= row_tolerance) break;
    w.multipliers = w.beta;
  }
  found = found && constitutive_error(p, w) <= options.tolerance;
  out.status = found ? Status::solved : Status::inaccurate;
  out.lambda = w.lambda;
  out.beta = w.beta;
}

}  // namespace stiction
