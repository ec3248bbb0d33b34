#include "stiction/programs/cone/cone.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/errors.hpp"
#include "stiction/programs/cone/memory.hpp"

namespace stiction {

ConeWorkspace::ConeWorkspace() : memory_(std::make_unique<ConeMemory>()) {}
ConeWorkspace::~ConeWorkspace() = default;
ConeWorkspace::ConeWorkspace(ConeWorkspace&&) noexcept = default;
ConeWorkspace& ConeWorkspace::operator=(ConeWorkspace&&) noexcept = default;

namespace {

constexpr double kFraction = 0.995;  // of the way to the boundary of the cones
constexpr double kStalled = 1e-6;    // step length below which the interior phase gives up

double mean_diagonal(const ReducedProblem& problem) {
  double sum = 0.0;
  for (int g = 0; g < problem.contacts(); ++g) {
    for (int e = problem.Rt.entry_begin(g); e < problem.Rt.entry_end(g); ++e) sum += problem.Rt.entry(e).squaredNorm();
  }
  return problem.contacts() > 0 ? sum / (3.0 * problem.contacts()) : 0.0;
}

void check(const ReducedProblem& problem) {
  const int n = problem.contacts(), m = problem.bounded_rows();
  require_size("u_free", problem.u_free.size(), 3 * n);
  require_size("offset", problem.offset.size(), n);
  require_size("mu", problem.mu.size(), n);
  require_size("w_free", problem.w_free.size(), m);
  require_size("lo", problem.lo.size(), m);
  require_size("hi", problem.hi.size(), m);
  if (m > 0) require_size("Bt.cols", problem.Bt.cols(), problem.Rt.cols());
  for (int i = 0; i < n; ++i) {
    if (!(problem.mu[i] >= 0.0)) throw InvalidArgument("mu", "numbers >= 0 or infinity", std::to_string(problem.mu[i]));
  }
  for (int j = 0; j < m; ++j) {
    if (!(problem.lo[j] <= problem.hi[j])) throw InvalidArgument("lo", "lo <= hi", std::to_string(problem.lo[j]));
  }
}

void prepare(const ReducedProblem& problem, const ConeOptions& options, int edges, ConeMemory& memory) {
  const int n = problem.contacts(), m = problem.bounded_rows();
  memory.space.bind(problem);
  memory.shape.reset(edges);
  memory.relaxed = options.relaxed;
  memory.budget = options.max_iterations;
  contact_scales(problem, memory.scale, memory.row_scale);
  const double mean = mean_diagonal(problem);
  memory.rho = mean > 0.0 ? 1.0 / mean : 1.0;
  for (GrowVector* v : {&memory.lambda, &memory.dlambda, &memory.u, &memory.du, &memory.hold_lambda, &memory.hold_u, &memory.best_lambda}) {
    v->setZero(3 * n);
  }
  for (GrowVector* v :
       {&memory.beta, &memory.dbeta, &memory.w, &memory.dw, &memory.Db, &memory.hold_beta, &memory.hold_w, &memory.best_beta}) {
    v->setZero(m);
  }
  for (GrowVector* v : {&memory.y, &memory.dy, &memory.hold_y}) v->setZero(memory.space.size());
  memory.D.resize(9 * n);
  double velocity = 0.0;
  for (int i = 0; i < n; ++i) {
    velocity = std::max({velocity, problem.u_free.segment<3>(3 * i).lpNorm<Eigen::Infinity>(), std::abs(problem.offset[i])});
  }
  for (int j = 0; j < m; ++j) velocity = std::max(velocity, std::abs(problem.w_free[j]));
  memory.floor = 1e-14 * velocity;
  memory.target = std::max(options.tolerance, memory.floor);
  memory.best = kInfinity;
}

void hold(ConeMemory& m) {
  m.hold_lambda = m.lambda;
  m.hold_beta = m.beta;
  m.hold_y = m.y;
  m.hold_u = m.u;
  m.hold_w = m.w;
}

void resume(ConeMemory& m) {
  m.lambda = m.hold_lambda;
  m.beta = m.hold_beta;
  m.y = m.hold_y;
  m.u = m.hold_u;
  m.w = m.hold_w;
}

template <class Cones>
class Interior {
 public:
  Interior(const ReducedProblem& problem, ConeMemory& memory, Cones& cones) : problem_(problem), m_(memory), cones_(cones) {}

  /// Impulses t / scale along the normals, every complementarity product about t².
  void start(double t) {
    m_.lambda.setZero();
    for (int i = 0; i < problem_.contacts(); ++i) m_.lambda[3 * i] = t / m_.scale[i];
    m_.boxes.start(m_.row_scale, t, m_.beta);
    refresh();
    cones_.start(m_.scale, t, m_.u, m_.lambda);
    m_.dlambda.setZero();
    m_.dbeta.setZero();
    mean_ = mean_product(0.0);
  }
  double mean() const { return mean_; }
  double infeasibility() const { return cones_.infeasibility(m_.u); }

  /// One predictor-corrector step; the step length, or a negative number when the linear system has no solution.
  double step() {
    cones_.eliminate(m_.u, m_.lambda, m_.D);
    m_.boxes.eliminate(m_.w, m_.beta, m_.Db);
    --m_.budget;
    if (!m_.space.factor(m_.D, m_.Db)) return -1.0;
    const double affine = std::min(1.0, direction({0.0, false}));
    const double ratio = std::clamp(mean_product(affine) / mean_, 0.0, 1.0);
    const double length = std::min(1.0, kFraction * direction({ratio * ratio * ratio * mean_, true}));
    if (!std::isfinite(length)) return -1.0;
    m_.lambda += length * m_.dlambda;
    m_.beta += length * m_.dbeta;
    cones_.advance(length);
    m_.boxes.advance(length);
    refresh();
    mean_ = mean_product(0.0);
    return length;
  }

 private:
  void refresh() {
    m_.space.gather(m_.lambda, m_.beta, m_.y);
    m_.space.velocities(m_.y, m_.u, m_.w);
    m_.u += problem_.u_free;
    m_.w += problem_.w_free;
  }
  double mean_product(double step) const {
    const int count = cones_.count() + m_.boxes.count();
    if (count == 0) return 0.0;
    return (cones_.products(step, m_.u, m_.lambda, m_.du, m_.dlambda) + m_.boxes.products(step, m_.beta, m_.dbeta)) / count;
  }
  double direction(const Target& target) {
    cones_.right_hand_side(target, m_.u, m_.lambda, m_.dlambda);
    m_.boxes.right_hand_side(target, m_.w, m_.beta, m_.dbeta);
    m_.space.gather(m_.dlambda, m_.dbeta, m_.dy);
    m_.space.solve(m_.dy);
    m_.space.velocities(m_.dy, m_.du, m_.dw);
    return std::min(cones_.recover(m_.D, m_.u, m_.lambda, m_.du, m_.dlambda), m_.boxes.recover(m_.Db, m_.beta, m_.dw, m_.dbeta));
  }

  const ReducedProblem& problem_;
  ConeMemory& m_;
  Cones& cones_;
  double mean_ = 0.0;
};

// Largest free velocity over the contact's own scale (sqrt of an energy): the natural size of a start.
double start_size(const ReducedProblem& problem, const ConeMemory& memory) {
  double t = 0.0;
  for (int i = 0; i < problem.contacts(); ++i) {
    Eigen::Vector3d u = problem.u_free.segment<3>(3 * i);
    u[0] += problem.offset[i];
    t = std::max(t, u.lpNorm<Eigen::Infinity>() / memory.scale[i]);
  }
  for (int j = 0; j < problem.bounded_rows(); ++j) t = std::max(t, std::abs(problem.w_free[j]) / memory.row_scale[j]);
  return t > 0.0 ? t : 1.0;
}

template <class Cones>
bool attempt(const ReducedProblem& problem, ConeMemory& memory, Cones& cones, double t) {
  Interior<Cones> interior(problem, memory, cones);
  interior.start(t);
  double next_polish = 1e-7 * t * t;
  const int first = memory.budget;
  while (memory.budget > 0 && first - memory.budget < 60) {
    const double length = interior.step();
    const bool stalled = length < kStalled || !(interior.mean() > 0.0);
    if (!stalled && interior.mean() > next_polish) continue;
    next_polish = 1e-3 * interior.mean();
    hold(memory);
    if (polish(problem, memory, 8)) return true;
    if (stalled) return false;
    resume(memory);
  }
  return false;
}

template <class Cones>
bool search(const ReducedProblem& problem, const ConeOptions& options, ConeMemory& memory, Cones& cones, ConeSolution& solution) {
  if (options.warm_start && solution.lambda.size() == memory.lambda.size() && solution.beta.size() == memory.beta.size()) {
    memory.lambda = solution.lambda;
    memory.beta = solution.beta;
    if (polish(problem, memory, 8)) return true;
  }
  const double t = start_size(problem, memory);
  for (double factor : {1.0, 10.0, 0.1, 100.0}) {
    if (attempt(problem, memory, cones, factor * t)) return true;
  }
  return false;
}

template <class Cones>
void solve(const ReducedProblem& problem, const ConeOptions& options, ConeMemory& memory, Cones& cones, ConeSolution& solution) {
  memory.boxes.bind(problem);
  const bool solved = search(problem, options, memory, cones, solution);
  solution.iterations = options.max_iterations - memory.budget;
  solution.lambda = memory.best_lambda;
  solution.beta = memory.best_beta;
  solution.natural_map = memory.best;
  if (solved) {
    solution.status = Status::solved;
  } else if (!std::isfinite(memory.best)) {
    solution.lambda.setZero();
    solution.beta.setZero();
    solution.status = Status::numerical_error;
  } else {
    solution.status = memory.budget <= 0 ? Status::iteration_limit : Status::inaccurate;
  }
}

}  // namespace

void contact_scales(const ReducedProblem& problem, GrowVector& scale, GrowVector& row_scale) {
  const double mean = mean_diagonal(problem);
  const double floor = mean > 0.0 ? 1e-12 * mean : 1.0;
  scale.resize(problem.contacts());
  for (int g = 0; g < problem.contacts(); ++g) {
    double sum = 0.0;
    for (int e = problem.Rt.entry_begin(g); e < problem.Rt.entry_end(g); ++e) sum += problem.Rt.entry(e).squaredNorm();
    scale[g] = std::sqrt(std::max(sum / 3.0, floor));
  }
  row_scale.resize(problem.bounded_rows());
  for (int g = 0; g < problem.bounded_rows(); ++g) {
    double sum = 0.0;
    for (int e = problem.Bt.entry_begin(g); e < problem.Bt.entry_end(g); ++e) sum += problem.Bt.entry(e).squaredNorm();
    row_scale[g] = std::sqrt(sum > 0.0 ? sum : floor);
  }
}

double evaluate(const ReducedProblem& problem, ConeMemory& memory) {
  memory.space.gather(memory.lambda, memory.beta, memory.y);
  memory.space.velocities(memory.y, memory.u, memory.w);
  memory.u += problem.u_free;
  memory.w += problem.w_free;
  double worst = 0.0;
  const auto take = [&](double value) { worst = value <= worst ? worst : value; };  // a NaN is taken
  for (int i = 0; i < problem.contacts(); ++i) {
    take(contact_natural_map(memory.shape, memory.relaxed, problem.mu[i], problem.offset[i], memory.rho, memory.lambda.segment<3>(3 * i),
                             memory.u.segment<3>(3 * i)));
  }
  for (int j = 0; j < problem.bounded_rows(); ++j) {
    take(row_natural_map(problem.lo[j], problem.hi[j], memory.rho, memory.beta[j], memory.w[j]));
  }
  if (worst < memory.best) {
    memory.best = worst;
    memory.best_lambda = memory.lambda;
    memory.best_beta = memory.beta;
  }
  return worst;
}

void interior_point(const ReducedProblem& problem, const ConeOptions& options, ConeWorkspace& workspace, ConeSolution& solution) {
  check(problem);
  if (options.edges < 4) throw InvalidArgument("edges", "4 or more", std::to_string(options.edges));
  ConeMemory& memory = workspace.memory();
  prepare(problem, options, options.edges, memory);
  memory.polygons.bind(problem, memory.shape, options.relaxed);
  solve(problem, options, memory, memory.polygons, solution);
}

void exact_cone(const ReducedProblem& problem, const ConeOptions& options, ConeWorkspace& workspace, ConeSolution& solution) {
  check(problem);
  ConeMemory& memory = workspace.memory();
  prepare(problem, options, 0, memory);
  memory.discs.bind(problem, options.relaxed);
  solve(problem, options, memory, memory.discs, solution);
}

double natural_map(const ReducedProblem& problem, int edges, bool relaxed, const Eigen::Ref<const Eigen::VectorXd>& lambda,
                   const Eigen::Ref<const Eigen::VectorXd>& beta) {
  ConeMemory memory;
  ConeOptions options;
  options.relaxed = relaxed;
  check(problem);
  require_size("lambda", lambda.size(), 3 * problem.contacts());
  require_size("beta", beta.size(), problem.bounded_rows());
  prepare(problem, options, edges, memory);
  memory.lambda = lambda;
  memory.beta = beta;
  return evaluate(problem, memory);
}

}  // namespace stiction
