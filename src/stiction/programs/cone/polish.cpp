// Active-set polish: Newton on the natural map. With the right pattern (open, stick, slip) it ends in a few steps, exactly but for the
// curvature of the disc. The proximal term makes redundant contacts solvable; it changes the solution by nothing, because the right-hand
// side is the exact residual, and it picks, among the impulses with the same motion, those next to where the polish started.
// Velocities of redundant contacts agree to rounding alone (a sole's points are coplanar to 1e-12 m/s, no better), and what they disagree
// by pushes the impulses by `limit` times that in every step: hence the division by the redundancy, and the softer second try.
#include <algorithm>
#include <cmath>

#include "stiction/programs/cone/memory.hpp"

namespace stiction {

namespace {

constexpr double kProximal = 2e6;  // limit of the linearisation, over the redundancy of the contacts
constexpr double kSofter = 1e-2;   // and the limit of a second try, over that of the first

constexpr double kHopeless = 1e3;  // rise of the natural map that no step has come back from

constexpr double kSettleFrom = 1e-3, kSoftest = 1e-2;  // first and least limit of `settle`, the first over that of the polish
constexpr double kRise = 3.0;                          // of the natural map that it takes for a step of the right pattern
constexpr double kLimitRise = 2.0;                     // and with which the limit grows

bool met(const ConeMemory& memory, double now) { return (memory.lagged ? now : memory.best) <= memory.target; }

// One Newton step; false when the linear system has no solution.
bool newton_step(const ReducedProblem& problem, ConeMemory& memory, double limit) {
  linearise(problem, memory, 1.0, limit);
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

double polish_limit(const ReducedProblem& problem) {
  return kProximal / std::max(1.0, 3.0 * problem.contacts() / std::max(1, problem.rank_bound()));
}

// Steps from the current point, whose natural map is `now`.
bool newton(const ReducedProblem& problem, ConeMemory& memory, int steps, double limit, double now) {
  const double first = now;
  int rises = 0;
  for (int k = 0; k < steps && memory.budget > 0 && now > memory.floor; ++k) {
    if (!newton_step(problem, memory, limit)) break;
    const double last = now;
    now = evaluate(problem, memory);
    if (!std::isfinite(now)) break;
    if (now > kHopeless * first) break;
    if (!(now < 0.5 * last) && (met(memory, now) || ++rises > 2)) break;
  }
  return met(memory, now);
}

}  // namespace

bool polish(const ReducedProblem& problem, ConeMemory& memory, int steps) {
  const double now = evaluate(problem, memory);
  if (steps == 0 || now <= memory.floor) return met(memory, now);
  const double limit = polish_limit(problem);
  memory.polish_lambda = memory.lambda;
  memory.polish_beta = memory.beta;
  if (newton(problem, memory, steps, limit, now)) return true;
  memory.lambda = memory.polish_lambda;
  memory.beta = memory.polish_beta;
  place(problem, memory);
  if (newton(problem, memory, steps, kSofter * limit, now)) return true;
  return !memory.lagged && memory.best <= memory.accept;
}

bool settle(const ReducedProblem& problem, ConeMemory& memory, int steps) {
  const double stiffest = polish_limit(problem);
  double limit = kSettleFrom * stiffest, now = evaluate(problem, memory);
  for (int k = 0; k < steps && memory.budget > 0 && limit > kSoftest; ++k) {
    memory.polish_lambda = memory.lambda;
    memory.polish_beta = memory.beta;
    const double last = now;
    now = newton_step(problem, memory, limit) ? evaluate(problem, memory) : kInfinity;
    if (met(memory, now)) return true;
    if (now < kLimitRise * last) limit = std::min(10.0 * limit, stiffest);
    if (now < kRise * last) continue;
    memory.lambda = memory.polish_lambda;
    memory.beta = memory.polish_beta;
    place(problem, memory);
    now = last;
    limit *= 0.1;
  }
  return !memory.lagged && memory.best <= memory.accept;
}

}  // namespace stiction
