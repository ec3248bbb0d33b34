// What every law's solve returns on the reduced problem; and where it starts, when it is asked for a warm start and finds the λ and β of a
// problem of this size.
#pragma once

#include "stiction/base/grow.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/reduced.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction {

struct Impulses {
  GrowVector lambda;  ///< 3n, N S T per contact (N s)
  GrowVector beta;    ///< bounded rows (N s)
  GrowVector motion;  ///< r, y of the solution where the solver knows it better than R λ + Bᵀ β, whose terms may cancel; else empty
  GrowVector multipliers;  ///< max_dissipation: n + m multipliers, of u_N + c >= 0 and of the rows; empty otherwise
  GrowVector ray;          ///< 3n when Lemke ended on a ray: its direction in impulses; or a Farkas vector of the contacts; else empty
  Status status = Status::numerical_error;
  int iterations = 0;
  int fallbacks = 0;  ///< methods tried after the primary one
};

inline bool is_start(const ReducedProblem& problem, const SolverOptions& options, const Impulses& impulses) {
  return options.warm_start && impulses.lambda.size() == 3 * problem.contacts() && impulses.beta.size() == problem.bounded_rows();
}

}  // namespace stiction
