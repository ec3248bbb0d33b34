#include "stiction/programs/cone/cone.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/errors.hpp"
#include "stiction/programs/cone/memory.hpp"
#include "stiction/programs/cone/search.hpp"
#include "stiction/programs/cone/working_set.hpp"

namespace stiction {

ConeWorkspace::ConeWorkspace() : memory_(std::make_unique<ConeMemory>()), set_(std::make_unique<WorkingSet>()) {}
ConeWorkspace::~ConeWorkspace() = default;
ConeWorkspace::ConeWorkspace(const ConeWorkspace& other)
    : memory_(std::make_unique<ConeMemory>(*other.memory_)), set_(std::make_unique<WorkingSet>(*other.set_)) {}
ConeWorkspace& ConeWorkspace::operator=(const ConeWorkspace& other) {
  *memory_ = *other.memory_;
  *set_ = *other.set_;
  return *this;
}
ConeWorkspace::ConeWorkspace(ConeWorkspace&&) noexcept = default;
ConeWorkspace& ConeWorkspace::operator=(ConeWorkspace&&) noexcept = default;

namespace {

constexpr double kTarget = 0.2;  // of the tolerance: what a polish aims at
// Least Delassus block that a start allows for, of their mean: a contact that next to nothing moves would take impulses out of all
// proportion to stop it alone, and a start of that size is far from the path of all the others.
constexpr double kStiffest = 1.0;

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
  if (problem.defect.size() > 0) require_size("defect.cols", problem.defect.cols(), 3 * n);
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

void prepare(const ReducedProblem& problem, const ConeOptions& options, int edges, ConeMemory& memory, bool by_matrix = true) {
  const int n = problem.contacts(), m = problem.bounded_rows();
  memory.space.bind(problem, by_matrix);
  memory.shape.reset(edges);
  memory.relaxed = options.relaxed;
  memory.lagged = false;
  memory.offset = problem.offset;
  memory.budget = options.max_iterations;
  contact_scales(problem, memory.scale, memory.row_scale);
  const double mean = mean_diagonal(problem);
  memory.rho = mean > 0.0 ? 1.0 / mean : 1.0;
  memory.start_scale = memory.scale.cwiseMax(std::sqrt(kStiffest * mean));
  for (GrowVector* v : {&memory.lambda, &memory.dlambda, &memory.u, &memory.du, &memory.hold_lambda, &memory.polish_lambda,
                        &memory.hold_shift, &memory.best_lambda}) {
    v->setZero(3 * n);
  }
  for (GrowVector* v :
       {&memory.beta, &memory.dbeta, &memory.w, &memory.dw, &memory.Db, &memory.hold_beta, &memory.polish_beta, &memory.best_beta}) {
    v->setZero(m);
  }
  for (GrowVector* v : {&memory.y, &memory.dy, &memory.step, &memory.start}) v->setZero(memory.space.size());
  memory.D.resize(9 * n);
  double velocity = problem.velocity;
  for (int i = 0; i < n; ++i) {
    velocity = std::max({velocity, problem.u_free.segment<3>(3 * i).lpNorm<Eigen::Infinity>(), std::abs(problem.offset[i])});
  }
  for (int j = 0; j < m; ++j) velocity = std::max(velocity, std::abs(problem.w_free[j]));
  memory.velocity = velocity;
  memory.floor = 1e-14 * velocity;
  memory.accept = std::max(options.tolerance * std::min(1.0, velocity), memory.floor);
  memory.target = std::max(kTarget * memory.accept, memory.floor);
  memory.best = kInfinity;
  memory.shift = problem.u_free;
}

// True when the solution's impulses are those of a problem of this size.
bool take_warm_start(const ConeOptions& options, const ConeSolution& solution, ConeMemory& memory) {
  if (!options.warm_start || solution.lambda.size() != memory.lambda.size() || solution.beta.size() != memory.beta.size()) return false;
  memory.lambda = solution.lambda;
  memory.beta = solution.beta;
  return true;
}

void report(const ConeOptions& options, const ConeMemory& memory, bool solved, ConeSolution& solution) {
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

template <class Cones>
bool search_whole(const ReducedProblem& problem, ConeMemory& memory, Cones& cones, bool warm) {
  memory.boxes.bind(problem);
  // A path that only some problems need is followed without allocation too.
  memory.last(cones).reserve(cones);
  memory.last_boxes.reserve(memory.boxes);
  for (GrowVector* v : {&memory.path_lambda, &memory.last_lambda}) v->reserve(memory.lambda.size());
  for (GrowVector* v : {&memory.path_beta, &memory.last_beta}) v->reserve(memory.beta.size());
  for (GrowVector* v : {&memory.path_contacts, &memory.tangent_contacts}) v->reserve(cones.relative_size());
  for (GrowVector* v : {&memory.path_rows, &memory.tangent_rows}) v->reserve(memory.boxes.relative_size());
  return search(problem, memory, cones, warm);
}

bool search_whole(const ReducedProblem& problem, int edges, ConeMemory& memory, bool warm) {
  if (edges == 0) {
    memory.discs.bind(problem, memory.relaxed);
    return search_whole(problem, memory, memory.discs, warm);
  }
  memory.polygons.bind(problem, memory.shape, memory.relaxed);
  return search_whole(problem, memory, memory.polygons, warm);
}

// What the space of W leaves open goes to the r-space, which has the proximal method too.
bool search_either_space(const ReducedProblem& problem, const ConeOptions& options, int edges, ConeMemory& memory, bool warm) {
  if (search_whole(problem, edges, memory, warm)) return true;
  if (!memory.space.on_matrix()) return false;
  prepare(problem, options, edges, memory, false);
  return search_whole(problem, edges, memory, false);
}

void solve(const ReducedProblem& problem, const ConeOptions& options, int edges, ConeMemory& memory, WorkingSet& set,
           ConeSolution& solution) {
  check(problem);
  if (!suits_working_set(problem)) return solve_whole(problem, options, edges, memory, solution);
  prepare(problem, options, edges, memory);
  take_warm_start(options, solution, memory);
  if (solve_on_working_set(problem, options, edges, memory, set)) return report(options, memory, true, solution);
  // The part's best point is a poor start: its pattern is what the whole problem did not accept.
  memory.lambda.setZero();
  memory.beta.setZero();
  report(options, memory, search_either_space(problem, options, edges, memory, false), solution);
}

constexpr double kNoRoom = 1e-6;  // of the largest velocity: opposing rows closer than this are one while the pattern is sought

double largest_velocity(const ReducedProblem& problem) {
  double velocity = problem.velocity;
  for (const GrowVector* x : {&problem.u_free, &problem.w_free}) {
    if (x->size() > 0) velocity = std::max(velocity, x->cwiseAbs().maxCoeff());
  }
  return velocity;
}

// Solves with opposing rows merged, and polishes the whole problem from there.
void solve_merged(const ReducedProblem& problem, const ConeOptions& options, int edges, ConeMemory& memory, WorkingSet& set,
                  ConeSolution& solution) {
  OpposingRows& rows = memory.opposing;
  if (!merge_opposing_rows(problem, kNoRoom * largest_velocity(problem), rows)) {
    return solve(problem, options, edges, memory, set, solution);
  }
  ConeOptions part = options;
  part.warm_start = false;
  solve(rows.merged, part, edges, memory, set, rows.solution);
  solution.lambda = rows.solution.lambda;
  split_opposing_rows(rows, rows.solution.beta, solution.beta);
  part.warm_start = true;
  part.max_iterations = std::max(0, options.max_iterations - rows.solution.iterations);
  const int spent = rows.solution.iterations;
  solve(problem, part, edges, memory, set, solution);
  solution.iterations += spent;
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

void update_shift(const ReducedProblem& problem, const GrowVector& lambda, ConeMemory& memory) {
  memory.shift = problem.u_free;
  if (problem.defect.size() == 0 || memory.space.on_matrix()) return;
  for (Eigen::Index j = 0; j < lambda.size(); ++j) memory.shift += lambda[j] * problem.defect.col(j);  // a product would allocate
}

void place(const ReducedProblem& problem, ConeMemory& memory) {
  memory.space.gather(memory.lambda, memory.beta, memory.y);
  memory.space.velocities(memory.y, memory.u, memory.w);
  memory.u += memory.shift;
  memory.w += problem.w_free;
}

void hold(ConeMemory& memory) {
  memory.hold_lambda = memory.lambda;
  memory.hold_beta = memory.beta;
  memory.hold_shift = memory.shift;
}

void resume(const ReducedProblem& problem, ConeMemory& memory) {
  memory.lambda = memory.hold_lambda;
  memory.beta = memory.hold_beta;
  memory.shift = memory.hold_shift;
  place(problem, memory);
}

double evaluate(const ReducedProblem& problem, ConeMemory& memory) {
  if (problem.defect.size() > 0) update_shift(problem, memory.lambda, memory);
  place(problem, memory);
  double worst = 0.0, lagged = 0.0;
  const auto take = [&](double value) { worst = value <= worst ? worst : value; };  // a NaN is taken
  for (int i = 0; i < problem.contacts(); ++i) {
    take(contact_natural_map(memory.shape, memory.relaxed, problem.mu[i], problem.offset[i], memory.rho, memory.lambda.segment<3>(3 * i),
                             memory.u.segment<3>(3 * i)));
    if (!memory.lagged) continue;
    const double value = contact_natural_map(memory.shape, true, std::min(problem.mu[i], kInteriorInfinity), memory.offset[i], memory.rho,
                                             memory.lambda.segment<3>(3 * i), memory.u.segment<3>(3 * i));
    lagged = value <= lagged ? lagged : value;
  }
  for (int j = 0; j < problem.bounded_rows(); ++j) {
    take(row_natural_map(problem.lo[j], problem.hi[j], memory.rho, memory.beta[j], memory.w[j]));
  }
  if (worst < memory.best) {
    memory.best = worst;
    memory.best_lambda = memory.lambda;
    memory.best_beta = memory.beta;
  }
  return memory.lagged ? lagged : worst;
}

void solve_whole(const ReducedProblem& problem, const ConeOptions& options, int edges, ConeMemory& memory, ConeSolution& solution) {
  prepare(problem, options, edges, memory);
  const bool warm = take_warm_start(options, solution, memory);
  report(options, memory, search_either_space(problem, options, edges, memory, warm), solution);
}

bool refine(const ReducedProblem& problem, const ConeOptions& options, int edges, ConeMemory& memory, int steps, ConeSolution& solution) {
  prepare(problem, options, edges, memory);
  const bool solved = take_warm_start(options, solution, memory) && polish(problem, memory, steps);
  report(options, memory, solved, solution);
  return solved;
}

void interior_point(const ReducedProblem& problem, const ConeOptions& options, ConeWorkspace& workspace, ConeSolution& solution) {
  if (options.edges < 4) throw InvalidArgument("edges", "4 or more", std::to_string(options.edges));
  solve_merged(problem, options, options.edges, workspace.memory(), workspace.set(), solution);
}

void exact_cone(const ReducedProblem& problem, const ConeOptions& options, ConeWorkspace& workspace, ConeSolution& solution) {
  solve_merged(problem, options, 0, workspace.memory(), workspace.set(), solution);
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
