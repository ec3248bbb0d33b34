#include "stiction/programs/prox/prox.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "stiction/base/errors.hpp"
#include "stiction/problem/sections.hpp"
#include "stiction/programs/prox/proximal_step.hpp"

namespace stiction {

namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr int kRenewal = 64;         // iterations after which y is summed up afresh
constexpr double kPatience = 100.0;  // iterations without progress that `adapt` bears, times α: small steps take their time
constexpr double kSmallest = 1e-4;   // α that `adapt` does not go below

void check(const ReducedProblem& p, const ProxOptions& o) {
  require_size("u_free", p.u_free.size(), 3 * p.contacts());
  require_size("offset", p.offset.size(), p.contacts());
  require_size("mu", p.mu.size(), p.contacts());
  require_size("w_free", p.w_free.size(), p.bounded_rows());
  require_size("lo", p.lo.size(), p.bounded_rows());
  require_size("hi", p.hi.size(), p.bounded_rows());
  if (p.bounded_rows() > 0) require_size("Bt.cols", p.Bt.cols(), p.Rt.cols());
  if (is_direct(p)) {
    require_size("Rt_before.rows", p.Rt_before.rows(), p.Rt.rows());
    require_size("Bt_before.rows", p.Bt_before.rows(), p.Bt.rows());
    require_size("Bt_before.cols", p.Bt_before.cols(), p.Rt_before.cols());
  }
  if (!(o.alpha > 0.0 && o.alpha < 2.0)) throw InvalidArgument("alpha", "a number in (0, 2)", std::to_string(o.alpha));
  if (!(o.relative_tolerance >= 0.0)) throw InvalidArgument("relative_tolerance", "a number >= 0", std::to_string(o.relative_tolerance));
  if (!(o.absolute_tolerance > 0.0)) throw InvalidArgument("absolute_tolerance", "a number > 0", std::to_string(o.absolute_tolerance));
  if (!(o.velocity_tolerance > 0.0)) throw InvalidArgument("velocity_tolerance", "a number > 0", std::to_string(o.velocity_tolerance));
  if (o.max_iterations < 1) throw InvalidArgument("max_iterations", "an integer >= 1", std::to_string(o.max_iterations));
  if (o.edges < 0 || o.edges == 1 || o.edges == 2) throw InvalidArgument("edges", "0 or an integer >= 3", std::to_string(o.edges));
}

// Calls f(0), ..., f(Height - 1), written out at compile time: the rows of a contact go side by side, so that y is read and written once.
template <int Height, class F>
void for_rows(const F& f) {
  [&]<int... k>(std::integer_sequence<int, k...>) { (f(k), ...); }
  (std::make_integer_sequence<int, Height>{});
}

// u += R_g y.
template <int Height>
void add_velocity(const BlockRows& rows, int g, const double* y, double* u) {
  for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) {
    const ConstRowMap entry = rows.entry(e);
    const double *a = entry.data(), *x = y + rows.col_offset(rows.entry_block(e));
    const Eigen::Index width = entry.cols();
    std::array<double, Height> sum{};
    for (Eigen::Index j = 0; j < width; ++j) for_rows<Height>([&](int k) { sum[k] += a[k * width + j] * x[j]; });
    for_rows<Height>([&](int k) { u[k] += sum[k]; });
  }
}

// y += R_gᵀ x.
template <int Height>
void add_impulse(const BlockRows& rows, int g, const double* x, double* y) {
  if (std::all_of(x, x + Height, [](double value) { return value == 0.0; })) return;  // open contacts, and steps of those that rest
  for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) {
    const ConstRowMap entry = rows.entry(e);
    const double* a = entry.data();
    double* out = y + rows.col_offset(rows.entry_block(e));
    const Eigen::Index width = entry.cols();
    for (Eigen::Index j = 0; j < width; ++j) {
      double sum = out[j];
      for_rows<Height>([&](int k) { sum += x[k] * a[k * width + j]; });
      out[j] = sum;
    }
  }
}

Vector3d project_contact(const SectionShape& shape, double mu, const Vector3d& x) {
  const double normal = std::max(0.0, x[0]);
  const double radius = normal > 0.0 ? mu * normal : 0.0;
  const Vector2d tangent = shape.clip(radius, x.tail<2>());
  return {normal, tangent[0], tangent[1]};
}

void measure_diagonal(const ReducedProblem& p, ProxWorkspace& w) {
  w.inverse_normal.resize(p.contacts());
  w.inverse_tangent.resize(p.contacts());
  w.inverse_row.resize(p.bounded_rows());
  for (int i = 0; i < p.contacts(); ++i) {
    w.inverse_normal[i] = inverse_normal(p, i);
    w.inverse_tangent[i] = inverse_tangent(p, i);
  }
  for (int j = 0; j < p.bounded_rows(); ++j) w.inverse_row[j] = inverse_row(p, j);
  w.moved.resize(0);
}

void gather(const ReducedProblem& p, const double* lambda, const double* beta, ProxWorkspace& w) {
  w.y.setZero(p.rank_bound());
  for (int i = 0; i < p.contacts(); ++i) add_impulse<3>(p.Rt, i, lambda + 3 * i, w.y.data());
  for (int j = 0; j < p.bounded_rows(); ++j) add_impulse<1>(p.Bt, j, beta + j, w.y.data());
}

Vector3d contact_velocity(const ReducedProblem& p, const ProxWorkspace& w, int i) {
  Vector3d u = p.u_free.segment<3>(3 * i);
  u[0] += p.offset[i];
  add_velocity<3>(p.Rt, i, w.y.data(), u.data());
  if (w.moved.size() > 0) add_velocity<3>(p.Rt_before, i, w.moved.data(), u.data());
  return u;
}

double row_velocity(const ReducedProblem& p, const ProxWorkspace& w, int j) {
  double velocity = p.w_free[j];
  add_velocity<1>(p.Bt, j, w.y.data(), &velocity);
  if (w.moved.size() > 0) add_velocity<1>(p.Bt_before, j, w.moved.data(), &velocity);
  return velocity;
}

// Impulse of contact i or row j after one proximal step of relaxation α at y.
Vector3d step_contact(const ReducedProblem& p, const ProxWorkspace& w, double alpha, int i, const Vector3d& lambda) {
  const Vector3d u = contact_velocity(p, w, i);
  const double r_n = alpha * w.inverse_normal[i], r_t = alpha * w.inverse_tangent[i];
  return project_contact(w.shape, p.mu[i], {lambda[0] - r_n * u[0], lambda[1] - r_t * u[1], lambda[2] - r_t * u[2]});
}

double step_row(const ReducedProblem& p, const ProxWorkspace& w, double alpha, int j, double beta) {
  return std::clamp(beta - alpha * w.inverse_row[j] * row_velocity(p, w, j), p.lo[j], p.hi[j]);
}

double jacobi(const ReducedProblem& p, double alpha, StepTest test, ProxWorkspace& w, ProxSolution& s) {
  w.y_next.setZero(p.rank_bound());
  for (int i = 0; i < p.contacts(); ++i) {
    const Vector3d before = s.lambda.segment<3>(3 * i), after = step_contact(p, w, alpha, i, before);
    for (int k = 0; k < 3; ++k) test.add(before[k], after[k]);
    s.lambda.segment<3>(3 * i) = after;
    add_impulse<3>(p.Rt, i, after.data(), w.y_next.data());
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    const double before = s.beta[j], after = step_row(p, w, alpha, j, before);
    test.add(before, after);
    s.beta[j] = after;
    add_impulse<1>(p.Bt, j, &after, w.y_next.data());
  }
  std::swap(w.y, w.y_next);
  return test.worst();
}

// Of the direct variant the bilateral impulses, and with them y, follow once all have been projected.
double gauss_seidel(const ReducedProblem& p, double alpha, StepTest test, ProxWorkspace& w, ProxSolution& s) {
  const bool direct = is_direct(p);
  if (direct) {
    w.y_next = w.y;
    w.moved.setZero(p.Rt_before.cols());
  }
  double* y = (direct ? w.y_next : w.y).data();
  for (int i = 0; i < p.contacts(); ++i) {
    const Vector3d before = s.lambda.segment<3>(3 * i), after = step_contact(p, w, alpha, i, before), step = after - before;
    for (int k = 0; k < 3; ++k) test.add(before[k], after[k]);
    s.lambda.segment<3>(3 * i) = after;
    add_impulse<3>(p.Rt, i, step.data(), y);
    if (direct) add_impulse<3>(p.Rt_before, i, step.data(), w.moved.data());
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    const double before = s.beta[j], after = step_row(p, w, alpha, j, before), step = after - before;
    test.add(before, after);
    s.beta[j] = after;
    add_impulse<1>(p.Bt, j, &step, y);
    if (direct) add_impulse<1>(p.Bt_before, j, &step, w.moved.data());
  }
  if (direct) {
    std::swap(w.y, w.y_next);
    w.moved.resize(0);
  }
  return test.worst();
}

double measure_residual(const ReducedProblem& p, const ProxWorkspace& w, const double* lambda, const double* beta) {
  double worst = 0.0;
  const auto take = [&](double value) { worst = value <= worst ? worst : value; };
  for (int i = 0; i < p.contacts(); ++i) {
    const Vector3d before = Eigen::Map<const Vector3d>(lambda + 3 * i), step = step_contact(p, w, 1.0, i, before) - before;
    const double g_n = inverse_or_zero(w.inverse_normal[i]), g_t = inverse_or_zero(w.inverse_tangent[i]);
    take(g_n > 0.0 ? g_n * std::abs(step[0]) : std::max(0.0, -contact_velocity(p, w, i)[0]));
    take(g_t * std::hypot(step[1], step[2]));
  }
  for (int j = 0; j < p.bounded_rows(); ++j) take(inverse_or_zero(w.inverse_row[j]) * std::abs(step_row(p, w, 1.0, j, beta[j]) - beta[j]));
  return worst;
}

// Sweeps by R_t and B_t, or by G where it fits; between `start` and `finish` the point is the method's.
enum class Method { jacobi, gauss_seidel };

struct Sweeps {
  const ReducedProblem& p;
  const ProxOptions& o;
  ProxWorkspace& w;
  ProxSolution& s;
  Method method;

  void prepare() {
    w.by_matrix = DenseProx::fits(p);
    w.shape.reset(o.edges);
    if (w.by_matrix) return w.dense.reset(p, w.shape, method == Method::gauss_seidel);
    measure_diagonal(p, w);
  }
  void start() {
    if (w.by_matrix) return w.dense.set_point(s.lambda, s.beta);
    gather(p, s.lambda.data(), s.beta.data(), w);
  }
  double sweep(double alpha, const StepTolerance& tolerance) {
    if (w.by_matrix) return method == Method::jacobi ? w.dense.jacobi(alpha, tolerance) : w.dense.gauss_seidel(alpha, tolerance);
    return (method == Method::jacobi ? jacobi : gauss_seidel)(p, alpha, StepTest(tolerance), w, s);
  }
  // Sheds the rounding of the updates of y.
  void renew() {
    if (!w.by_matrix) gather(p, s.lambda.data(), s.beta.data(), w);
  }
  double residual() { return w.by_matrix ? w.dense.residual() : measure_residual(p, w, s.lambda.data(), s.beta.data()); }
  void finish() {
    if (w.by_matrix) w.dense.get_point(s.lambda, s.beta);
  }
};

void choose_start(const ReducedProblem& p, const ProxOptions& o, const SectionShape& shape, ProxSolution& s) {
  const bool warm = o.warm_start && s.lambda.size() == 3 * p.contacts() && s.beta.size() == p.bounded_rows() && s.lambda.allFinite() &&
                    s.beta.allFinite();
  if (!warm) {
    s.lambda.setZero(3 * p.contacts());
    s.beta.setZero(p.bounded_rows());
  }
  for (int i = 0; i < p.contacts(); ++i) s.lambda.segment<3>(3 * i) = project_contact(shape, p.mu[i], s.lambda.segment<3>(3 * i));
  for (int j = 0; j < p.bounded_rows(); ++j) s.beta[j] = std::clamp(s.beta[j], p.lo[j], p.hi[j]);
}

// α after each iteration: lowered when the step has grown a thousandfold over its smallest, or has found no new smallest for long.
class Adaptation {
 public:
  explicit Adaptation(bool on) : on_(on) {}
  double next(double change, double alpha) {
    if (change < best_) {
      best_ = change;
      since_ = 0;
    } else {
      ++since_;
    }
    if (!on_ || alpha <= kSmallest || (since_ * alpha < kPatience && change < 1e3 * best_)) return alpha;
    best_ = kInfinity;
    since_ = 0;
    return 0.7 * alpha;
  }

 private:
  bool on_;
  double best_ = kInfinity;
  int since_ = 0;
};

// From zero impulses, those of rows as near to it as their bounds allow.
void start_at_zero(const ReducedProblem& p, Sweeps& sweeps) {
  sweeps.s.lambda.setZero();
  for (int j = 0; j < p.bounded_rows(); ++j) sweeps.s.beta[j] = std::clamp(0.0, p.lo[j], p.hi[j]);
  sweeps.start();
}

void fail(const ReducedProblem& p, Sweeps& sweeps) {
  start_at_zero(p, sweeps);
  sweeps.s.residual = sweeps.residual();
  sweeps.s.status = Status::numerical_error;
}

void iterate(const ReducedProblem& p, const ProxOptions& o, Method method, ProxWorkspace& w, ProxSolution& s) {
  check(p, o);
  Sweeps sweeps{p, o, w, s, method};
  sweeps.prepare();
  choose_start(p, o, w.shape, s);
  sweeps.start();
  Adaptation adaptation(o.adapt);
  double tighten = 1.0;
  s.alpha = o.alpha;
  s.status = Status::iteration_limit;
  for (s.iterations = 1; s.iterations <= o.max_iterations; ++s.iterations) {
    const double change = sweeps.sweep(s.alpha, {o.relative_tolerance * tighten, o.absolute_tolerance * tighten});
    if (!std::isfinite(change)) {
      s.alpha *= 0.5;
      if (!o.adapt || s.alpha <= kSmallest) return fail(p, sweeps);
      start_at_zero(p, sweeps);
      adaptation = Adaptation(true);
      continue;
    }
    if (s.iterations % kRenewal == 0) sweeps.renew();
    if (change <= 1.0) {
      sweeps.renew();
      s.residual = sweeps.residual();
      if (s.residual <= o.velocity_tolerance) {
        s.status = Status::solved;
        break;
      }
      if (change == 0.0) break;  // a fixed point in floating point: nothing finer can be reached
      tighten *= 0.1;
    }
    s.alpha = adaptation.next(change * tighten, s.alpha);
  }
  s.iterations = std::min(s.iterations, o.max_iterations);
  sweeps.finish();
  if (!s.lambda.allFinite() || !s.beta.allFinite()) return fail(p, sweeps);
  if (s.status == Status::solved) return;  // measured at this point
  sweeps.renew();
  s.residual = sweeps.residual();
}

}  // namespace

void jor(const ReducedProblem& problem, const ProxOptions& options, ProxWorkspace& workspace, ProxSolution& solution) {
  iterate(problem, options, Method::jacobi, workspace, solution);
}

void sor(const ReducedProblem& problem, const ProxOptions& options, ProxWorkspace& workspace, ProxSolution& solution) {
  iterate(problem, options, Method::gauss_seidel, workspace, solution);
}

}  // namespace stiction
