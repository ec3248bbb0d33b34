// Active-set polish: Newton on the natural map. With the right pattern (open, stick, slip) it ends in a few steps, exactly but for the
// curvature of the disc. The proximal term makes redundant contacts solvable; it changes the solution by nothing, because the right-hand
// side is the exact residual, and it picks, among the impulses with the same motion, those next to where the polish started.
#include <cmath>

#include "stiction/programs/cone/memory.hpp"

namespace stiction {

namespace {

constexpr double kProximal = 1e7;  // limit of the linearisation

}  // namespace

bool polish(const ReducedProblem& problem, ConeMemory& memory, int steps) {
  double now = evaluate(problem, memory);
  const auto met = [&] { return (memory.lagged ? now : memory.best) <= memory.target; };
  int rises = 0;
  for (int k = 0; k < steps && memory.budget > 0 && now > memory.floor; ++k) {
    linearise(problem, memory, 1.0, kProximal);
    --memory.budget;
    if (!memory.space.factor(memory.D, memory.Db)) break;
    memory.space.gather(memory.dlambda, memory.dbeta, memory.dy);
    memory.space.solve(memory.dy);
    memory.space.velocities(memory.dy, memory.du, memory.dw);
    for (int i = 0; i < problem.contacts(); ++i) {
      const Eigen::Map<const Matrix3Row> D(memory.D.data() + 9 * i);
      memory.lambda.segment<3>(3 * i) += memory.dlambda.segment<3>(3 * i) - D * memory.du.segment<3>(3 * i);
    }
    for (int j = 0; j < problem.bounded_rows(); ++j) memory.beta[j] += memory.dbeta[j] - memory.Db[j] * memory.dw[j];
    const double last = now;
    now = evaluate(problem, memory);
    if (!std::isfinite(now)) break;
    if (!(now < 0.5 * last) && (met() || ++rises > 2)) break;
  }
  return met();
}

}  // namespace stiction
