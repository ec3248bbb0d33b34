#include "stiction/programs/cone/cone.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/errors.hpp"
#include "stiction/programs/cone/search.hpp"
#include "stiction/programs/cone/workspace.hpp"

namespace stiction {

namespace {

constexpr double kTarget = 0.2;  // of the tolerance: what the solve aims at, for the certificate's parts are up to twice a natural map
// Least Delassus block that the path counts with, of their mean: a contact that next to nothing moves would take impulses out of all
// proportion to stop it alone, and a start of that size is far from the path of all the others.
constexpr double kStiffest = 1.0;
// Proximal term of the path: with products of 1e-22 of the first, impulses that cannot be told apart stay where they are, to rounding.
constexpr double kSoft = 1e-11;

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

// Size of the contact's own Delassus block: sqrt of its mean diagonal (kg^-1/2), floored for a contact that nothing can move. Returns the
// mean diagonal of all (1/kg).
double contact_scales(const ReducedProblem& problem, GrowVector& scale, GrowVector& row_scale) {
  const int n = problem.contacts(), m = problem.bounded_rows();
  scale.resize(n);
  for (int g = 0; g < n; ++g) scale[g] = problem.Rt.group_square(g) / 3.0;
  const double mean = n > 0 ? scale.mean() : 0.0, floor = mean > 0.0 ? 1e-12 * mean : 1.0;
  scale = scale.cwiseMax(floor).cwiseSqrt();
  row_scale.resize(m);
  for (int g = 0; g < m; ++g) {
    const double square = problem.Bt.group_square(g);
    row_scale[g] = std::sqrt(square > 0.0 ? square : floor);
  }
  return mean;
}

double largest_velocity(const ReducedProblem& problem) {
  return std::max({problem.velocity, largest_entry(problem.u_free), largest_entry(problem.w_free)});
}

void prepare(const ReducedProblem& problem, const ConeOptions& options, ConeMemory& memory) {
  const int n = problem.contacts(), m = problem.bounded_rows();
  memory.space.bind(problem, true);
  memory.shape.reset(options.edges);
  memory.relaxed = options.relaxed;
  memory.most = memory.budget = options.max_iterations;
  memory.paths = 0;
  memory.log = options.log;
  const double mean = contact_scales(problem, memory.scale, memory.row_scale);
  memory.rho = mean > 0.0 ? 1.0 / mean : 1.0;
  memory.path_scale = memory.scale.cwiseMax(std::sqrt(kStiffest * mean));
  memory.lambda.setZero(3 * n);
  memory.beta.setZero(m);
  for (GrowVector* v : {&memory.dlambda, &memory.u, &memory.du, &memory.path_lambda, &memory.path_shift, &memory.best_lambda}) {
    v->resize(3 * n);
  }
  for (GrowVector* v : {&memory.dbeta, &memory.w, &memory.dw, &memory.Db, &memory.path_beta, &memory.best_beta}) {
    v->resize(m);
  }
  for (GrowVector* v : {&memory.y, &memory.dy}) v->resize(memory.space.size());
  memory.D.resize(9 * n);
  const double velocity = std::max(largest_velocity(problem), largest_push(problem.offset));
  memory.velocity = velocity;
  memory.floor = 1e-14 * velocity;
  memory.accept = std::max(options.tolerance * std::min(1.0, velocity), memory.floor);
  memory.target = std::max(kTarget * memory.accept, memory.floor);
  memory.acceptable = std::max(options.acceptable * std::min(1.0, velocity), memory.accept);
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

// With μ > 1 the natural map divides the excess of friction by μ², so project onto the cones once more; the result is kept where the
// natural map accepts it.
bool settle_on_cones(const ReducedProblem& problem, ConeMemory& memory, bool solved) {
  const auto is_wide = [](double mu) { return mu > 1.0 && mu != kInfinity; };
  if (std::ranges::none_of(problem.mu, is_wide)) return solved;
  double most = 0.0;
  memory.lambda = memory.best_lambda;
  for (int i = 0; i < problem.contacts(); ++i) {
    const double mu = problem.mu[i];
    if (!is_wide(mu)) continue;
    const Eigen::Vector3d lambda = memory.lambda.segment<3>(3 * i), nearest = memory.shape.project(mu, lambda);
    most = std::max(most, mu * std::abs(nearest[0] - lambda[0]));
    memory.lambda.segment<3>(3 * i) = nearest;
  }
  if (most <= memory.accept * memory.rho) return solved;
  memory.beta = memory.best_beta;
  const double reached = memory.best, now = evaluate(problem, memory);
  if (now > std::max(reached, memory.acceptable)) return solved;
  memory.best = now;
  memory.best_lambda = memory.lambda;
  return now <= memory.accept;
}

void report(const ReducedProblem& problem, const ConeOptions& options, ConeMemory& memory, bool solved, ConeSolution& solution) {
  if (std::isfinite(memory.best)) solved = settle_on_cones(problem, memory, solved);
  solution.iterations = options.max_iterations - memory.budget;
  solution.lambda = memory.best_lambda;
  solution.beta = memory.best_beta;
  solution.natural_map = memory.best;
  solution.paths = memory.paths;
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

// A path that only some problems need is followed without allocation too.
template <class Cones>
void reserve(ConeMemory& memory, const Cones& cones) {
  const Eigen::Index unknowns = cones.unknowns() + memory.boxes.unknowns();
  for (GrowVector* v : {&memory.point, &memory.trial, &memory.kept, &memory.residual, &memory.first_residual, &memory.wanted,
                        &memory.correction, &memory.tangent}) {
    v->reserve(unknowns);
  }
  for (GrowVector& v : memory.last) v.reserve(unknowns);
}

bool search(const ReducedProblem& problem, ConeMemory& memory, bool warm) {
  memory.boxes.bind(problem, memory.row_scale, kSoft);
  const auto search_with = [&](auto& cones) {
    cones.bind(problem, memory.shape, memory.relaxed, memory.path_scale, kSoft);
    reserve(memory, cones);
    return search(problem, memory, cones, warm);
  };
  return memory.shape.disc() ? search_with(memory.discs) : search_with(memory.polygons);
}

void solve(const ReducedProblem& problem, const ConeOptions& options, ConeMemory& memory, WorkingSet& set, ConeSolution& solution) {
  check(problem);
  if (!suits_working_set(problem)) return solve_whole(problem, options, memory, solution);
  prepare(problem, options, memory);
  take_warm_start(options, solution, memory);
  if (solve_on_working_set(problem, options, memory, set)) return report(problem, options, memory, true, solution);
  // The part's best point is a poor start: its active set is what the whole problem did not accept.
  memory.lambda.setZero();
  memory.beta.setZero();
  report(problem, options, memory, search(problem, memory, false), solution);
}

constexpr double kNoRoom = 1e-6;  // of the largest velocity: opposing rows closer than this are one while the active set is sought

// Solves with opposing rows merged, and the whole problem from there.
void solve_merged(const ReducedProblem& problem, const ConeOptions& options, ConeMemory& memory, WorkingSet& set, ConeSolution& solution) {
  OpposingRows& rows = memory.opposing;
  if (!merge_opposing_rows(problem, kNoRoom * largest_velocity(problem), rows)) {
    return solve(problem, options, memory, set, solution);
  }
  ConeOptions part = options;
  part.warm_start = false;
  solve(rows.merged, part, memory, set, rows.solution);
  solution.lambda = rows.solution.lambda;
  split_opposing_rows(rows, rows.solution.beta, solution.beta);
  part.warm_start = true;
  part.max_iterations = std::max(0, options.max_iterations - rows.solution.iterations);
  const int spent = rows.solution.iterations;
  solve(problem, part, memory, set, solution);
  solution.iterations += spent;
}

}  // namespace

void update_shift(const ReducedProblem& problem, ConeMemory& memory) {
  memory.shift = problem.u_free;
  if (problem.defect.size() == 0 || memory.space.on_matrix()) return;
  // A product would allocate.
  for (Eigen::Index j = 0; j < memory.lambda.size(); ++j) memory.shift += memory.lambda[j] * problem.defect.col(j);
}

void place(const ReducedProblem& problem, ConeMemory& memory) {
  memory.space.gather(memory.lambda, memory.beta, memory.y);
  memory.space.velocities(memory.y, memory.u, memory.w);
  memory.u += memory.shift;
  memory.w += problem.w_free;
}

double judge(const ReducedProblem& problem, ConeMemory& memory) {
  double worst = 0.0;
  memory.wide = 0.0;
  const auto raise = [](double& most, double value) { most = value <= most ? most : value; };  // a NaN is taken
  const auto take = [&](double value, double wide) {
    raise(worst, value);
    raise(memory.wide, wide);
  };
  for (int i = 0; i < problem.contacts(); ++i) {
    const double mu = problem.mu[i];
    const auto map = [&](double of) {
      return contact_natural_map(memory.shape, memory.relaxed, of, problem.offset[i], memory.rho, memory.lambda.segment<3>(3 * i),
                                 memory.u.segment<3>(3 * i));
    };
    const double value = map(mu);
    take(value, mu == kInfinity ? map(kInteriorInfinity) : value);
  }
  for (int j = 0; j < problem.bounded_rows(); ++j) {
    const double value = row_natural_map(problem.lo[j], problem.hi[j], memory.rho, memory.beta[j], memory.w[j]);
    take(value, value);
  }
  if (worst < memory.best) {
    memory.best = worst;
    memory.best_lambda = memory.lambda;
    memory.best_beta = memory.beta;
  }
  return worst;
}

double evaluate(const ReducedProblem& problem, ConeMemory& memory) {
  if (problem.defect.size() > 0) update_shift(problem, memory);
  place(problem, memory);
  return judge(problem, memory);
}

void record(ConeMemory& memory, ConePhase phase, double product, double natural_map, double step) {
  if (memory.log != nullptr) memory.log->push_back({memory.most - memory.budget, phase, product, natural_map, step});
}

void solve_whole(const ReducedProblem& problem, const ConeOptions& options, ConeMemory& memory, ConeSolution& solution) {
  prepare(problem, options, memory);
  const bool warm = take_warm_start(options, solution, memory);
  report(problem, options, memory, search(problem, memory, warm), solution);
}

bool refine(const ReducedProblem& problem, const ConeOptions& options, ConeMemory& memory, int steps, ConeSolution& solution) {
  prepare(problem, options, memory);
  const bool solved = take_warm_start(options, solution, memory) && newton(problem, memory, steps);
  report(problem, options, memory, solved, solution);
  return solved;
}

void solve_cone(const ReducedProblem& problem, const ConeOptions& options, ConeWorkspace& workspace, ConeSolution& solution) {
  if (options.edges != 0 && options.edges < 4) throw InvalidArgument("edges", "0 or an integer >= 4", std::to_string(options.edges));
  solve_merged(problem, options, workspace.memory, workspace.set, solution);
}

}  // namespace stiction
