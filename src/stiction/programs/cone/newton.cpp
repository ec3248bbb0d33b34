// Semismooth Newton on the natural map. With the right active set (open, stick, slip) it ends in a few steps, exactly but for the
// curvature of the disc. The proximal term makes redundant contacts solvable; it changes the solution by nothing, because the right-hand
// side is the exact residual, and it picks, among the impulses with the same motion, those next to where it started.
// Velocities of redundant contacts agree to rounding alone (a sole's points are coplanar to 1e-12 m/s, no better), and what they disagree
// by pushes the impulses by `limit` times that in every step: hence the division by the redundancy.
#include <algorithm>
#include <cmath>

#include "stiction/programs/cone/memory.hpp"

namespace stiction {

namespace {

constexpr double kProximal = 2e6;  // limit of the linearisation, over the redundancy of the contacts
// Near the solution the term gives way as the natural map falls, which keeps convergence quadratic without regularity [Yamashita and
// Fukushima 2001]: friction of contacts that creep turns by next to no velocity, and at a fixed limit it takes thousands of steps.
constexpr double kGivesWay = 1e-2;  // limit, times the natural map over the largest velocity: impulses are pushed by this part at most
constexpr double kSharpest = 1e2;   // and the largest, over the first: products of it and rounding stay below 1e-7
constexpr double kHopeless = 1e3;   // rise of the natural map that no step has come back from, beyond the largest velocity
constexpr double kFine =
    1e-3;                  // of the target: a solution further from rounding than this is worth one step more, for steps add up to creep
constexpr int kRises = 2;  // steps that may fail to halve it: a change of the active set costs one

// False when the linear system has no solution.
bool newton_step(const ReducedProblem& problem, ConeMemory& memory, double limit) {
  linearise(problem, memory, limit);
  --memory.budget;
  if (!memory.space.factor(memory.D, memory.Db)) return false;
  memory.space.gather(memory.dlambda, memory.dbeta, memory.dy);
  memory.space.solve(memory.dy);
  memory.space.velocities(memory.dy, memory.du, memory.dw);
  for (int i = 0; i < problem.contacts(); ++i) {
    const Eigen::Map<const Matrix3Row> D(memory.D.data() + 9 * i);
    memory.lambda.segment<3>(3 * i) += memory.dlambda.segment<3>(3 * i) - D * memory.du.segment<3>(3 * i);
  }
  for (int j = 0; j < problem.bounded_rows(); ++j) memory.beta[j] += memory.dbeta[j] - memory.Db[j] * memory.dw[j];
  return true;
}

double proximal_limit(const ReducedProblem& problem) {
  return kProximal / std::max(1.0, 3.0 * problem.contacts() / std::max(1, problem.rank_bound()));
}

}  // namespace

void refine(const ReducedProblem& problem, ConeMemory& memory) {
  if (memory.best <= kFine * memory.target || memory.best <= memory.floor || memory.budget <= 0) return;
  if (memory.lambda != memory.best_lambda || memory.beta != memory.best_beta) {
    memory.lambda = memory.best_lambda;
    memory.beta = memory.best_beta;
    evaluate(problem, memory);
  }
  if (newton_step(problem, memory, proximal_limit(problem))) record(memory, ConePhase::newton, 0.0, evaluate(problem, memory), 1.0);
}

bool newton(const ReducedProblem& problem, ConeMemory& memory, int steps, double sharper) {
  double now = evaluate(problem, memory);
  if (memory.best <= memory.target || now <= memory.floor) return memory.best <= memory.target;
  const double limit = sharper * proximal_limit(problem), first = now, sharpest = kSharpest * limit;
  // What an acceptable point lacks is one more change of the active set, at differences of 1e-10: neither the steps nor the rises that led
  // there end it.
  const auto acceptable = [&] { return memory.best <= memory.accept; };
  int rises = 0, rises_at_end = 0;
  for (int k = 0; (k < steps || (acceptable() && memory.best > memory.target)) && memory.budget > 0 && now > memory.floor; ++k) {
    if (!newton_step(problem, memory, std::max(limit, std::min(kGivesWay * memory.velocity / now, sharpest)))) break;
    const double last = now;
    now = evaluate(problem, memory);
    record(memory, ConePhase::newton, 0.0, now, 1.0);
    if (!std::isfinite(now) || now > std::max(kHopeless * first, memory.velocity)) break;
    if (now < 0.5 * last) continue;
    if (memory.best <= memory.target || ++(acceptable() ? rises_at_end : rises) > kRises) break;
  }
  return acceptable();
}

}  // namespace stiction
