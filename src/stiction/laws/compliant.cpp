#include "stiction/laws/compliant.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stiction {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr int kNewtonSteps = 60;        // iterations per phase
constexpr double kRoundedOff = 1e-10;   // |F| over what it was, or over |y|, below which it is rounding where it falls no more
constexpr double kRoundedStep = 1e-14;  // of δy over |y|: its last digits
constexpr double kStalled = 0.5;        // a step of Newton that leaves more of |F| than this does not converge
constexpr int kMultipliers = 60;        // updates of β
constexpr double kWeight = 1e3;         // ρ G_jj of the bounded rows: each update of β shrinks its error about so much
constexpr double kHeaviest = 1e9;       // ρ G_jj of those that stiff contacts hold: beyond it β = -ρ w keeps no seven digits
// Of the path in friction, its lengths in parts of |y| and rad:
constexpr int kCorrections = 6;       // of a step, which then is halved
constexpr double kOnPath = 1e-8;      // |F| at its points; only the last one is an answer
constexpr double kFirstLength = 0.1;  // of steps; six degrees of friction
constexpr double kLongest = 0.5;
constexpr double kShortest = 1e-8;    // shorter ones have met a kink
constexpr double kLeastCosine = 0.5;  // between tangents before and after a step, so that it does not leave for another branch

void read_contacts(const LawTerms& terms, CompliantWorkspace& w) {
  w.contacts.clear();
  for (const ContactTerms& t : terms.contacts) w.contacts.push_back(t.constitutive);
}

void prepare(const ReducedProblem& p, CompliantWorkspace& w) {
  const int n = p.contacts(), m = p.bounded_rows();
  w.space.bind(p);
  for (GrowVector* x : {&w.y, &w.trial, &w.step, &w.residual, &w.before, &w.tangent, &w.by_angle}) x->setZero(p.rank_bound());
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
    w.lambda.segment<3>(3 * i) = compliant_impulse(w.contacts[i], w.u.segment<3>(3 * i), w.frozen[i], slope);
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

// Where f is steep, rounding of y keeps F from falling long before its own digits do.
bool is_last_digits(const GrowVector& step, double size) { return step.stableNorm() <= kRoundedStep * std::max(1e-300, size); }

// Newton with backtracking on |F|, by norms that small squares cannot vanish from. True when F vanishes, or is ten digits below what it
// was, or the step has come down to the last digits of y, and rounding keeps F from falling further.
bool newton(const ReducedProblem& p, int most, CompliantWorkspace& w, int& iterations) {
  evaluate(p, w.y, w);
  double merit = w.residual.stableNorm();
  const double start = merit;
  const auto is_rounding = [&] { return merit <= kRoundedOff * std::max(start, w.y.stableNorm()); };
  for (int k = 0; k < kNewtonSteps; ++k) {
    if (is_zero(w)) return true;
    if (iterations >= most || !newton_direction(w)) return false;
    ++iterations;
    double t = 1.0, trial = kInfinity;
    for (; t > 1e-6; t *= 0.5) {
      w.trial = w.y + t * w.step;
      evaluate(p, w.trial, w);
      trial = w.residual.stableNorm();
      if (trial <= (1.0 - 5e-5 * t) * merit) break;
    }
    if (!(trial < merit)) {
      evaluate(p, w.y, w);
      return is_rounding() || is_last_digits(w.step, w.y.stableNorm());
    }
    const bool stalls = trial > kStalled * merit;
    w.y = w.trial;
    merit = trial;
    if (stalls && is_rounding()) return true;
  }
  return false;
}

// Newton on a frozen, strictly convex F: along δy the root of F(y + t δy)·δy, which grows with t.
bool convex_newton(const ReducedProblem& p, int most, CompliantWorkspace& w, int& iterations) {
  evaluate(p, w.y, w);
  for (int k = 0; k < kNewtonSteps; ++k) {
    if (is_zero(w)) return true;
    if (iterations >= most || !newton_direction(w)) return false;
    ++iterations;
    const double length = std::max(1e-300, w.step.stableNorm()), before = w.residual.dot(w.step / length), norm = w.residual.stableNorm();
    double lo = 0.0, hi = 1.0, t = 1.0;
    for (int trial = 0; trial < 40; ++trial) {
      w.trial = w.y + t * w.step;
      evaluate(p, w.trial, w);
      const double slope = w.residual.dot(w.step / length);
      if (slope <= 0.0 && (t == 1.0 || slope >= 0.9 * before)) break;
      (slope > 0.0 ? hi : lo) = t;
      t = 0.5 * (lo + hi);
    }
    w.y = w.trial;
    if (w.residual.stableNorm() >= norm && is_last_digits(w.step, w.y.stableNorm())) return true;
  }
  return false;
}

/// Where the path of follow_friction stands beside w.y and w.tangent (dy), |dy|²/unit² + dθ² = 1.
struct OnPath {
  double theta = 0.0, angle_rate = 1.0;  // rad; dθ along the path
  double unit = 0.0;                     // of y
};

void set_friction(const LawTerms& terms, double theta, CompliantWorkspace& w) {
  for (std::size_t i = 0; i < w.contacts.size(); ++i) w.contacts[i].mu = std::min(std::tan(theta), terms.contacts[i].constitutive.mu);
}

// dF/dθ at the point last evaluated: λ_T of contacts at the limit, and all that is regularised, is in proportion to μ. None at θ = 0.
void differentiate_friction(const ReducedProblem& p, const LawTerms& terms, double theta, CompliantWorkspace& w) {
  const double mu = std::tan(theta), rate = (1.0 + mu * mu) / mu;
  w.by_angle_impulse.setZero(3 * p.contacts());
  w.by_angle_beta.setZero(p.bounded_rows());
  for (int i = 0; i < p.contacts(); ++i) {
    const bool follows_load = w.D[9 * i + 3] != 0.0 || w.D[9 * i + 6] != 0.0;
    if (!follows_load || mu > terms.contacts[i].constitutive.mu) continue;
    w.by_angle_impulse.segment<2>(3 * i + 1) = rate * w.lambda.segment<2>(3 * i + 1);
  }
  w.space.gather(w.by_angle_impulse, w.by_angle_beta, w.by_angle);
  w.by_angle = -w.by_angle;
}

// The tangent at the point last evaluated, at w.trial and `at`: θ grows where det dF/dy > 0, as it does at the beginning.
bool find_tangent(const ReducedProblem& p, const LawTerms& terms, CompliantWorkspace& w, OnPath& at) {
  differentiate_friction(p, terms, at.theta, w);
  if (!w.residual.allFinite() || !w.space.factor(w.D, w.active)) return false;
  w.step = -w.by_angle;
  w.space.solve(w.step);
  if (!w.step.allFinite()) return false;
  at.angle_rate = (w.space.positive_determinant() ? 1.0 : -1.0) / std::hypot(w.step.stableNorm() / at.unit, 1.0);
  w.tangent = at.angle_rate * w.step;
  return true;
}

void evaluate_at(const ReducedProblem& p, const LawTerms& terms, const OnPath& at, CompliantWorkspace& w) {
  set_friction(terms, at.theta, w);
  evaluate(p, w.trial, w);
}

bool is_angle(double theta) { return theta > 0.0 && theta < 0.5 * M_PI; }

// Newton to the path from (w.trial, at.theta), in the plane across the tangent there. The number of its steps, or -1.
int correct(const ReducedProblem& p, const LawTerms& terms, CompliantWorkspace& w, OnPath& at) {
  const auto along = [&](const GrowVector& x) { return (w.tangent / at.unit).dot(x / at.unit); };
  for (int k = 0; is_angle(at.theta) && w.trial.allFinite(); ++k) {
    evaluate_at(p, terms, at, w);
    if (w.residual.stableNorm() <= kOnPath * at.unit) return k;
    if (k == kCorrections || !newton_direction(w)) break;
    if (is_last_digits(w.step, at.unit)) return k;
    differentiate_friction(p, terms, at.theta, w);
    w.space.solve(w.by_angle);
    const double turn = -along(w.step) / (at.angle_rate - along(w.by_angle));
    at.theta += turn;
    w.trial += w.step - turn * w.by_angle;
  }
  return -1;
}

// One step of this length along the path. The corrections that it took, or -1 when it was not taken.
int advance(const ReducedProblem& p, const LawTerms& terms, double length, CompliantWorkspace& w, OnPath& at) {
  OnPath next = at;
  next.theta += length * at.angle_rate;
  w.trial = w.y + length * w.tangent;
  const int corrections = correct(p, terms, w, next);
  if (corrections < 0) return -1;
  w.before = w.tangent;
  const auto cosine = [&] { return (w.before / at.unit).dot(w.tangent / at.unit) + next.angle_rate * at.angle_rate; };
  const bool goes_on = find_tangent(p, terms, w, next) && cosine() >= kLeastCosine;
  if (!goes_on) {
    w.tangent = w.before;
    return -1;
  }
  w.y = w.trial;
  at = next;
  return corrections;
}

// Just beyond a kink of F the path follows the tangent of the other side.
bool cross_kink(const ReducedProblem& p, const LawTerms& terms, CompliantWorkspace& w, OnPath& at) {
  at.theta += 4.0 * kShortest * at.angle_rate;
  w.trial = w.y + 4.0 * kShortest * w.tangent;
  if (!is_angle(at.theta)) return false;
  evaluate_at(p, terms, at, w);
  if (!find_tangent(p, terms, w, at)) return false;
  w.y = w.trial;
  return true;
}

// Newton with the true friction from the last point of the path; w.y stays where it fails.
bool finish_path(const ReducedProblem& p, const LawTerms& terms, double length, int most, CompliantWorkspace& w, int& iterations) {
  read_contacts(terms, w);
  w.before = w.y;
  w.y += length * w.tangent;
  if (newton(p, most, w, iterations)) return true;
  w.y = w.before;
  return false;
}

// The point without friction, with limits frozen at nothing.
bool begin_path(const ReducedProblem& p, int most, CompliantWorkspace& w, int& iterations) {
  w.frozen.setZero();
  w.y.setZero();
  const bool found = convex_newton(p, most, w, iterations);
  w.frozen.setConstant(-1.0);
  w.tangent.setZero(p.rank_bound());
  return found;
}

bool follow_friction(const ReducedProblem& p, const LawTerms& terms, int most, CompliantWorkspace& w, int& iterations) {
  if (!begin_path(p, most, w, iterations)) return false;
  double mu = 0.0, length = kFirstLength;
  for (const ContactTerms& t : terms.contacts) mu = std::max(mu, t.constitutive.mu);
  const double end = std::atan(mu), without_friction = std::max(w.y.stableNorm(), 1e-300);
  OnPath at;
  while (iterations < most) {
    at.unit = std::max(without_friction, w.y.stableNorm());
    if (at.theta + length * at.angle_rate >= end) {
      length = (end - at.theta) / at.angle_rate;
      if (finish_path(p, terms, length, most, w, iterations)) return true;
      length *= 0.5;
    } else {
      const int corrections = advance(p, terms, length, w, at);
      iterations += corrections < 0 ? kCorrections : corrections + 1;
      if (corrections < 0) length *= 0.5;
      if (corrections >= 0 && corrections <= 2) length = std::min(2.0 * length, kLongest);
    }
    if (length > kShortest) continue;
    if (!cross_kink(p, terms, w, at)) return false;
    ++iterations;
    length = 64.0 * kShortest;
  }
  return false;
}

double natural_row_error(const ReducedProblem& p, const CompliantWorkspace& w) {
  double worst = 0.0;
  for (int j = 0; j < p.bounded_rows(); ++j) {
    const double g = p.Bt.group_square(j);
    if (g == 0.0) continue;
    worst = std::max(worst, g * std::abs(w.beta[j] - std::clamp(w.beta[j] - w.w[j] / g, p.lo[j], p.hi[j])));
  }
  return worst;
}

double free_velocity(const ReducedProblem& p) { return std::max({1e-300, largest_entry(p.u_free), largest_entry(p.w_free)}); }

// Largest |λ - f(u)| over the largest impulse, at the point (λ, β) itself.
double constitutive_error(const ReducedProblem& p, CompliantWorkspace& w) {
  w.space.gather(w.lambda, w.beta, w.trial);
  w.space.velocities(w.trial, w.u, w.w);
  w.u += p.u_free;
  w.w += p.w_free;
  double worst = 0.0, largest = 1e-300;
  for (int i = 0; i < p.contacts(); ++i) {
    const Vector3d lambda = w.lambda.segment<3>(3 * i), f = compliant_impulse(w.contacts[i], w.u.segment<3>(3 * i));
    worst = std::max(worst, (lambda - f).lpNorm<Eigen::Infinity>());
    largest = std::max({largest, lambda.lpNorm<Eigen::Infinity>(), f.lpNorm<Eigen::Infinity>()});
  }
  for (int j = 0; j < p.bounded_rows(); ++j) largest = std::max(largest, std::abs(w.beta[j]));
  return worst / largest;
}

// The next step of Newton, taken in the impulses: λ(y + δy) = λ - D R δy has the digits that f of a rounded u + R δy loses where D is
// large.
void step_in_impulses(const ReducedProblem& p, CompliantWorkspace& w) {
  if (!newton_direction(w)) return;
  w.space.velocities(w.step, w.u, w.w);
  for (int i = 0; i < p.contacts(); ++i) {
    const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> slope(w.D.data() + 9 * i);
    w.lambda.segment<3>(3 * i) -= slope * w.u.segment<3>(3 * i);
  }
  for (int j = 0; j < p.bounded_rows(); ++j) w.beta[j] = std::clamp(w.beta[j] - w.active[j] * w.w[j], p.lo[j], p.hi[j]);
}

// Every velocity is prescribed: the law says the rest.
void solve_without_freedom(const ReducedProblem& p, CompliantWorkspace& w, Impulses& out) {
  w.u = p.u_free;
  for (int i = 0; i < p.contacts(); ++i) w.lambda.segment<3>(3 * i) = compliant_impulse(w.contacts[i], w.u.segment<3>(3 * i));
  out.status = Status::solved;
  out.lambda = w.lambda;
  out.beta = w.multipliers;
}

}  // namespace

void solve_compliant(const ReducedProblem& p, const LawTerms& terms, const SolverOptions& options, CompliantWorkspace& w, Impulses& out) {
  read_contacts(terms, w);
  prepare(p, w);
  if (p.rank_bound() == 0) return solve_without_freedom(p, w, out);
  const double row_tolerance = std::max(0.1 * options.tolerance, 1e-14) * free_velocity(p);
  const int most = options.max_factorizations;
  bool found = false;
  double error = kInfinity, weight = kWeight;
  out.iterations = 0;
  for (int k = 0; k < kMultipliers; ++k) {
    found = newton(p, most, w, out.iterations) || (out.iterations < most && follow_friction(p, terms, most, w, out.iterations));
    if (!found) {  // no solution: return the last point reached, at the problem's own friction
      read_contacts(terms, w);
      evaluate(p, w.y, w);
    }
    const double before = std::exchange(error, natural_row_error(p, w));
    if (!found || error <= row_tolerance) break;
    w.multipliers = w.beta;
    if (error > kStalled * before && weight < kHeaviest) {  // stiff contacts hold a row, which then moves little with β
      weight *= kWeight;
      w.weights *= kWeight;
    }
  }
  const auto misses = [&] {
    return constitutive_error(p, w) > options.tolerance || natural_row_error(p, w) > options.tolerance * free_velocity(p);
  };
  if (found && misses()) {
    step_in_impulses(p, w);
    found = !misses();
  }
  out.status = found ? Status::solved : out.iterations < most ? Status::inaccurate : Status::iteration_limit;
  out.lambda = w.lambda;
  out.beta = w.beta;
}

}  // namespace stiction
