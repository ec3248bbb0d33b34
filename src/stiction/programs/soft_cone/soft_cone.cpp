#include "stiction/programs/soft_cone/soft_cone.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/programs/soft_cone/face_projection.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Contacts = std::vector<SoftContact>;
using Ref = Eigen::Ref<const Eigen::VectorXd>;

constexpr double kLeastProximity = 1e-7;    // below it rounding of u, divided by δ, is worse than slow rounds
constexpr double kSoft = 0.1;               // of δ: from here on softness of its own, divided by which rounding of u stays below 1e-12
constexpr double kSlowRound = 0.2;          // a round that gains less lowers δ
constexpr int kContinued = 6;               // systems from a warm start's states: of piles, twice as many save none of the rest
constexpr double kNear = 1e-8;              // Newton's gradient over the size of its terms, from which contacts have their states
constexpr double kFinestTolerance = 1e-13;  // the same, that ends it

void check_sizes(const ReducedProblem& p, const Contacts& contacts, const SoftConeOptions& options) {
  require_size("contacts", static_cast<Index>(contacts.size()), p.contacts());
  require_size("u_free", p.u_free.size(), 3 * p.contacts());
  require_size("w_free", p.w_free.size(), p.bounded_rows());
  if (options.edges != 0 && options.edges < 4) throw InvalidArgument("edges", "0 or an integer >= 4", fmt::format("{}", options.edges));
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const SoftContact& c = contacts[i];
    if (!(c.normal >= 0.0 && c.tangential >= 0.0 && std::isfinite(c.normal) && std::isfinite(c.tangential))) {
      throw InvalidArgument(fmt::format("contacts[{}]", i), "finite softness >= 0", fmt::format("{}, {}", c.normal, c.tangential));
    }
  }
}

// Diagonal of G: normal and mean tangential entry of each contact, and of each row; rows that nothing moves take the largest.
void measure_diagonal(const ReducedProblem& p, SoftConeWorkspace& w) {
  w.diagonal.setZero(2 * p.contacts());
  w.row_diagonal.resize(p.bounded_rows());
  for (int i = 0; i < p.contacts(); ++i) {
    for (int e = p.Rt.entry_begin(i); e < p.Rt.entry_end(i); ++e) {
      const ConstRowMap rows = p.Rt.entry(e);
      w.diagonal[2 * i] += rows.row(0).squaredNorm();
      w.diagonal[2 * i + 1] += 0.5 * (rows.row(1).squaredNorm() + rows.row(2).squaredNorm());
    }
  }
  for (int j = 0; j < p.bounded_rows(); ++j) w.row_diagonal[j] = p.Bt.group_square(j);
  const double largest =
      std::max(w.diagonal.size() > 0 ? w.diagonal.maxCoeff() : 0.0, w.row_diagonal.size() > 0 ? w.row_diagonal.maxCoeff() : 0.0);
  const double least = largest > 0.0 ? 1e-6 * largest : 1.0;
  for (double& g : w.diagonal) g = std::max(g, least);
  for (double& g : w.row_diagonal) g = std::max(g, least);
}

// The largest entry of a contact's u_free - û. What opens beyond its free motion is a gap, and asks for none.
double asked_of(Vector3d u, double free) {
  if (u[0] > 0.0) u[0] = std::min(u[0], std::abs(free));
  return u.cwiseAbs().maxCoeff();
}

// The largest of all contacts, and of w_free: the scale of the stopping test.
double velocity_scale(const ReducedProblem& p, const Contacts& contacts, bool rows) {
  double scale = 1e-300;
  for (int i = 0; i < p.contacts(); ++i) {
    scale = std::max(scale, asked_of(p.u_free.segment<3>(3 * i) - contacts[i].reference, p.u_free[3 * i]));
  }
  if (rows && p.w_free.size() > 0) scale = std::max(scale, p.w_free.cwiseAbs().maxCoeff());
  return scale;
}

class SoftNewton {
 public:
  SoftNewton(const ReducedProblem& p, const Contacts& contacts, const SoftConeOptions& options, SoftConeWorkspace& w)
      : p_(p), contacts_(contacts), options_(options), w_(w), rows_(options.bounded_rows ? p.bounded_rows() : 0) {}

  /// Softness with that of hard rows raised to `proximity` G_ii. True when anything was raised.
  bool raise(double proximity) {
    bool any = rows_ > 0;
    for (int i = 0; i < p_.contacts(); ++i) {
      const SoftContact& c = contacts_[i];
      const double own[2] = {c.normal, c.tangential};
      for (int k = 0; k < 2; ++k) {
        const double raised = proximity * w_.diagonal[2 * i + k];
        w_.softness[2 * i + k] = own[k] < kSoft * raised ? raised : own[k];
        w_.hard[2 * i + k] = w_.softness[2 * i + k] - own[k];
        any = any || w_.hard[2 * i + k] > 0.0;
      }
    }
    w_.hard_rows = proximity * w_.row_diagonal;
    return any;
  }

  /// The round's constant part of u and w from the impulses of the last one.
  void set_shift() {
    for (int i = 0; i < p_.contacts(); ++i) {
      const double n = w_.hard[2 * i], t = w_.hard[2 * i + 1];
      const Vector3d own = w_.lambda.segment<3>(3 * i), taken(n * own[0], t * own[1], t * own[2]);
      w_.shift.segment<3>(3 * i) = p_.u_free.segment<3>(3 * i) - contacts_[i].reference - taken;
    }
    if (p_.defect.size() > 0) w_.shift.noalias() += p_.defect * w_.lambda;
    w_.row_shift = p_.w_free - w_.hard_rows.cwiseProduct(w_.beta);
  }

  /// Minimises the primal of the round from w.y. False when a system is singular.
  bool minimise(int& budget) {
    double least = kInfinity;
    const double noise = rounding();
    for (int stalled = 0; budget > 0 && stalled < 3; --budget) {
      impulses(0.0, w_.lambda, w_.beta, true);
      gradient();
      const double norm = w_.gradient.norm(), size = terms();
      if (!std::isfinite(norm)) return false;
      if (norm <= std::max(kFinestTolerance * size, noise)) return true;
      stalled = norm > 0.5 * least && norm < kNear * size ? stalled + 1 : 0;  // rounding has the last word
      least = std::min(least, norm);
      if (!direction()) return false;
      const double step = line_search();
      if (step == 0.0) {
        --budget;
        return true;
      }
      w_.y += step * w_.dy;
      place();
    }
    impulses(0.0, w_.lambda, w_.beta, false);
    return true;
  }

  /// Full steps from the states of contacts that the last problem's solution, in w.lambda, tells, as long as they change. By u alone, as
  /// the primal has it, they would be lost: u = -R λ is so small that a small change of u_free turns its sign.
  void continue_states(int& budget, bool hard) {
    w_.trial = w_.lambda;
    for (int k = 0; k < kContinued && budget > 0; ++k, --budget) {
      impulses(0.0, w_.lambda, w_.beta, true);
      gradient();
      const double norm = w_.gradient.norm();
      if (norm <= (k > 0 || !hard ? kNear : kFinestTolerance) * terms()) return;  // a round of hard rows asks for more at its start
      linearise();
      gradient();
      if (!direction()) return;
      w_.y += w_.dy;
      place();
      for (int i = 0; i < p_.contacts(); ++i) {
        w_.trial.segment<3>(3 * i) = -Eigen::Map<const Matrix3d>(w_.D.data() + 9 * i) * w_.u.segment<3>(3 * i);
      }
    }
  }

  void place() {
    w_.space.velocities(w_.y, w_.u, w_.w);
    w_.u += w_.shift;
    w_.w += w_.row_shift;
  }

 private:
  // What rounding of u, divided by R, leaves in the gradient at best; a contact that stays open leaves nothing there.
  double rounding() const {
    double size = 0.0;
    for (int i = 0; i < p_.contacts(); ++i) size = std::max(size, asked_of(w_.shift.segment<3>(3 * i), p_.u_free[3 * i]));
    double square = 0.0;
    for (Index k = 0; k < w_.softness.size(); ++k) square += w_.diagonal[k] / (w_.softness[k] * w_.softness[k]);
    return 0.5 * std::numeric_limits<double>::epsilon() * size * std::sqrt(square);
  }

  // w.dy, from the gradient and D; with du and dw.
  bool direction() {
    if (!w_.space.factor(w_.D, w_.Db)) return false;
    w_.dy = -w_.gradient;
    w_.space.solve(w_.dy);
    if (!w_.dy.allFinite()) return false;
    w_.space.velocities(w_.dy, w_.du, w_.dw);
    return true;
  }

  // λ and β at y + step dy; the blocks D when asked for.
  void impulses(double step, GrowVector& lambda, GrowVector& beta, bool derivative) {
    Matrix3d block;
    for (int i = 0; i < p_.contacts(); ++i) {
      if (is_half_line(contacts_[i])) {
        normal_impulse(i, step, lambda, derivative);
        continue;
      }
      const Metric metric{std::sqrt(w_.softness[2 * i]), std::sqrt(w_.softness[2 * i + 1])};
      Vector3d x = -w_.u.segment<3>(3 * i);
      if (step != 0.0) x -= step * w_.du.segment<3>(3 * i);
      const Vector3d scaled(x[0] / metric.normal, x[1] / metric.tangential, x[2] / metric.tangential);
      lambda.segment<3>(3 * i) = project_face(w_.shape, contacts_[i], metric, scaled, derivative ? &block : nullptr);
      if (derivative) Eigen::Map<Matrix3d>(w_.D.data() + 9 * i) = block;  // symmetric
    }
    for (int j = 0; j < p_.bounded_rows(); ++j) {
      const double pull = j < rows_ ? -(w_.w[j] + step * w_.dw[j]) / w_.hard_rows[j] : 0.0;
      beta[j] = j < rows_ ? std::clamp(pull, p_.lo[j], p_.hi[j]) : 0.0;
      if (derivative) w_.Db[j] = j < rows_ && beta[j] == pull ? 1.0 / w_.hard_rows[j] : 0.0;
    }
  }

  static bool is_half_line(const SoftContact& c) { return c.mu == 0.0 && c.face == SoftContact::Face::cone; }

  // λ_N = max(0, -u_N)/R_N: where overlap is undone all contacts are of this kind, and `project_face` took half of the time.
  void normal_impulse(int i, double step, GrowVector& lambda, bool derivative) {
    const double speed = w_.u[3 * i] + (step != 0.0 ? step * w_.du[3 * i] : 0.0), slope = 1.0 / w_.softness[2 * i];
    lambda.segment<3>(3 * i) << std::max(-speed, 0.0) * slope, 0.0, 0.0;
    if (!derivative) return;
    w_.D.segment<9>(9 * i).setZero();
    if (speed < 0.0) w_.D[9 * i] = slope;
  }

  // λ = P(δ λ - u) in the metric R + δ for any δ: at δ = G_ii it tells states from λ = w.trial as well as from u. P is homogeneous, so that
  // there λ = A (δ λ - u), A its derivative, and λ = -D u, D = A (1 - δ A)⁻¹.
  void linearise() {
    Matrix3d A;
    for (int i = 0; i < p_.contacts(); ++i) {
      const Vector3d delta(w_.diagonal[2 * i], w_.diagonal[2 * i + 1], w_.diagonal[2 * i + 1]), l = w_.trial.segment<3>(3 * i);
      const Vector3d u = w_.u.segment<3>(3 * i), x = delta.cwiseProduct(l) - u;
      Eigen::Map<Matrix3d> D(w_.D.data() + 9 * i);
      if (is_half_line(contacts_[i])) {
        D.setZero();
        if (x[0] > 0.0) D(0, 0) = 1.0 / w_.softness[2 * i];
      } else {
        const Metric metric{std::sqrt(w_.softness[2 * i] + delta[0]), std::sqrt(w_.softness[2 * i + 1] + delta[1])};
        const Vector3d scaled(x[0] / metric.normal, x[1] / metric.tangential, x[2] / metric.tangential);
        project_face(w_.shape, contacts_[i], metric, scaled, &A);
        const Matrix3d rest = Matrix3d::Identity() - delta.asDiagonal() * A;
        D = A * rest.inverse();
      }
      w_.lambda.segment<3>(3 * i) = -D * u;
    }
  }

  // Size of the gradient's terms.
  double terms() const { return std::max({1e-300, w_.y.norm(), (w_.y - w_.gradient).norm()}); }

  void gradient() {
    w_.space.gather(w_.lambda, w_.beta, w_.gradient);
    w_.gradient = w_.y - w_.gradient;
  }

  // Derivative of the primal along dy.
  double slope(double step) {
    impulses(step, w_.trial, w_.trial_beta, false);
    return w_.y.dot(w_.dy) + step * w_.dy.squaredNorm() - w_.trial.dot(w_.du) - w_.trial_beta.dot(w_.dw);
  }

  // The derivative is continuous and increasing: a bracket of its root, narrowed by the Illinois rule. 0: no descent left.
  double line_search() {
    const double start = slope(0.0);
    if (!(start < 0.0)) return 0.0;
    double low = 0.0, low_slope = start, high = 1.0, high_slope = slope(1.0);
    if (std::abs(high_slope) <= 0.25 * -start) return 1.0;
    while (high_slope < 0.0 && high < 64.0) {
      low = high, low_slope = high_slope;
      high *= 2.0, high_slope = slope(high);
    }
    if (high_slope <= 0.0) return high;
    for (int k = 0, side = 0; k < 40; ++k) {
      const double middle = k % 4 == 3 ? 0.5 * (low + high) : low - low_slope * (high - low) / (high_slope - low_slope);
      const double value = slope(middle);
      if (std::abs(value) <= 0.05 * -start) return middle;
      if (value > 0.0) {
        high = middle, high_slope = value;
        if (side == 1) low_slope *= 0.5;
        side = 1;
      } else {
        low = middle, low_slope = value;
        if (side == -1) high_slope *= 0.5;
        side = -1;
      }
    }
    return low;
  }

  const ReducedProblem& p_;
  const Contacts& contacts_;
  const SoftConeOptions& options_;
  SoftConeWorkspace& w_;
  int rows_;
};

void size_workspace(const ReducedProblem& p, SoftConeWorkspace& w) {
  const Index n = p.contacts(), m = p.bounded_rows(), r = p.rank_bound();
  for (GrowVector* x : {&w.softness, &w.hard}) x->resize(2 * n);
  for (GrowVector* x : {&w.shift, &w.u, &w.du, &w.lambda, &w.trial}) x->resize(3 * n);
  for (GrowVector* x : {&w.hard_rows, &w.row_shift, &w.w, &w.dw, &w.beta, &w.trial_beta, &w.Db}) x->resize(m);
  for (GrowVector* x : {&w.y, &w.dy, &w.gradient}) x->resize(r);
  w.D.resize(9 * n);
}

void place_start(const ReducedProblem& p, const SoftConeOptions& options, const SoftConeSolution& s, SoftConeWorkspace& w) {
  const bool fits = s.lambda.size() == w.lambda.size() && s.beta.size() == w.beta.size() && s.lambda.allFinite() && s.beta.allFinite();
  if (options.warm_start && fits) {
    w.lambda = s.lambda;
    w.beta = s.beta;
  } else {
    w.lambda.setZero();
    w.beta.setZero();
  }
  if (!options.bounded_rows) w.beta.setZero();
  w.y.resize(p.rank_bound());
  w.space.gather(w.lambda, w.beta, w.y);
}

// Δλ of a round that lies in the recession cone, moves nothing and is pushed by the free motion: no λ is optimal, no motion feasible.
bool proves_infeasible(const ReducedProblem& p, const Contacts& contacts, double scale, SoftConeWorkspace& w) {
  GrowVector &dl = w.trial, &db = w.trial_beta;
  dl = w.lambda - w.lambda_round;
  db = w.beta - w.beta_round;
  double size = 0.0, pushed = 0.0, weight = 0.0;
  for (int i = 0; i < p.contacts(); ++i) {
    const SoftContact& c = contacts[i];
    const Vector3d d = dl.segment<3>(3 * i);
    size = std::max(size, d.cwiseAbs().maxCoeff() * std::sqrt(w.diagonal[2 * i]));
    if ((d - project_face(w.shape, c, {}, d, nullptr)).norm() > 1e-9 * d.norm()) return false;
    pushed += d.dot(p.u_free.segment<3>(3 * i) - c.reference);
    weight = std::max({weight, c.normal * std::abs(d[0]), c.tangential * d.tail<2>().norm()});
  }
  for (Index j = 0; j < db.size(); ++j) {
    if ((db[j] > 0.0 && p.hi[j] != kInfinity) || (db[j] < 0.0 && p.lo[j] != -kInfinity)) return false;
    size = std::max(size, std::abs(db[j]) * std::sqrt(w.row_diagonal[j]));
    pushed += db[j] * p.w_free[j];
  }
  w.space.gather(dl, db, w.gradient);
  const double norm = dl.norm() + db.norm();
  return w.gradient.norm() <= 1e-8 * size && weight == 0.0 && pushed < -1e-6 * scale * norm;
}

void keep_best(double map, SoftConeWorkspace& w, SoftConeSolution& s) {
  if (!(map < s.natural_map)) return;
  s.natural_map = map;
  w.best = w.lambda;
  w.best_beta = w.beta;
}

// Natural map of the point; w.diagonal and w.shape are those of the problem.
double measured_natural_map(const ReducedProblem& p, const Contacts& contacts, const SoftConeOptions& options, const Ref& lambda,
                            const Ref& beta, SoftConeWorkspace& w) {
  w.dy.setZero(p.rank_bound());
  p.Rt.add_transposed(lambda, w.dy);
  if (options.bounded_rows) p.Bt.add_transposed(beta, w.dy);
  w.du.resize(3 * p.contacts());
  p.Rt.multiply(w.dy, w.du);
  if (p.defect.size() > 0) w.du.noalias() += p.defect * lambda;
  double worst = 0.0;
  for (int i = 0; i < p.contacts(); ++i) {
    const SoftContact& c = contacts[i];
    const Vector3d l = lambda.segment<3>(3 * i), soft(c.normal * l[0], c.tangential * l[1], c.tangential * l[2]);
    const Vector3d u = w.du.segment<3>(3 * i) + p.u_free.segment<3>(3 * i) - c.reference + soft;
    if (std::isinf(c.mu) && c.face == SoftContact::Face::cone) {  // a half space: its directions need no common ρ
      const double rho = 1.0 / (w.diagonal[2 * i] + c.normal);
      worst = std::max({worst, row_natural_map(0.0, kInfinity, rho, l[0], u[0]), u.tail<2>().cwiseAbs().maxCoeff()});
      continue;
    }
    const double rho = 3.0 / (w.diagonal[2 * i] + 2.0 * w.diagonal[2 * i + 1] + c.normal + 2.0 * c.tangential);
    worst = std::max(worst, (l - project_face(w.shape, c, {}, l - rho * u, nullptr)).cwiseAbs().maxCoeff() / rho);
  }
  if (!options.bounded_rows || p.bounded_rows() == 0) return worst;
  w.dw.resize(p.bounded_rows());
  p.Bt.multiply(w.dy, w.dw);
  for (int j = 0; j < p.bounded_rows(); ++j) {
    worst = std::max(worst, row_natural_map(p.lo[j], p.hi[j], 1.0 / w.row_diagonal[j], beta[j], w.dw[j] + p.w_free[j]));
  }
  return worst;
}

// Rounds of proximal points until the natural map meets the tolerance; one suffices when nothing is hard.
Status run(const ReducedProblem& p, const Contacts& contacts, const SoftConeOptions& options, SoftConeWorkspace& w, SoftConeSolution& s) {
  SoftNewton newton(p, contacts, options, w);
  const double scale = velocity_scale(p, contacts, options.bounded_rows), aim = options.tolerance * scale;
  double proximity = options.proximity, last = kInfinity;
  bool hard = newton.raise(proximity) || p.defect.size() > 0;
  int budget = options.max_iterations;
  for (int without_gain = 0; budget > 0 && without_gain < 4;) {
    w.lambda_round = w.lambda;
    w.beta_round = w.beta;
    newton.set_shift();
    newton.place();
    if (options.warm_start && s.rounds == 0) newton.continue_states(budget, hard);
    if (!newton.minimise(budget)) return Status::numerical_error;
    ++s.rounds;
    s.iterations = options.max_iterations - budget;
    const double map = measured_natural_map(p, contacts, options, w.lambda, w.beta, w);
    without_gain = map < 0.9 * s.natural_map ? 0 : without_gain + 1;
    keep_best(map, w, s);
    if (s.natural_map <= aim) return Status::solved;
    if (!hard) break;
    if (s.rounds >= 8 && s.rounds % 8 == 0 && proves_infeasible(p, contacts, scale, w)) return Status::infeasible;
    if (map > kSlowRound * last && proximity > kLeastProximity) newton.raise(proximity *= 0.1);
    last = map;
  }
  if (s.natural_map <= 1e-10 * scale) return Status::solved;
  if (hard && proves_infeasible(p, contacts, scale, w)) return Status::infeasible;
  return budget > 0 ? Status::inaccurate : Status::iteration_limit;
}

}  // namespace

void soft_cone(const ReducedProblem& p, const Contacts& contacts, const SoftConeOptions& options, SoftConeWorkspace& w,
               SoftConeSolution& s) {
  check_sizes(p, contacts, options);
  w.shape.reset(options.edges);
  w.space.bind(p);
  size_workspace(p, w);
  measure_diagonal(p, w);
  place_start(p, options, s, w);
  s.rounds = s.iterations = 0;
  s.natural_map = kInfinity;
  w.best.setZero(3 * p.contacts());
  w.best_beta.setZero(p.bounded_rows());
  s.status = run(p, contacts, options, w, s);
  s.lambda = w.best;
  s.beta = w.best_beta;
  if (!std::isfinite(s.natural_map)) s.status = Status::numerical_error;
}

}  // namespace stiction
