// The one loop of the cone solvers: residuals, stop or not, factorisation, step.
//
//   1  semismooth Newton on the natural map from the start given, where the contacts are few
//   2  smoothing Newton from a warm start (smoothing_newton.hpp)
//   3  the central path from its beginning (central_path.hpp)
//   4  the declared fall-back: paths from other starts, followed more closely
// In 2 to 4 Newton on the natural map ends the search, tried whenever that has fallen tenfold near its end.
#pragma once

#include "stiction/programs/cone/memory.hpp"

namespace stiction {

/// Looks for a point whose natural map meets memory.target, from the (λ, β) of the memory where it holds a warm start. True when found, or
/// when a last Newton came within memory.accept; the best point is in memory.best_*.
bool search(const ReducedProblem& problem, ConeMemory& memory, DiscCones& cones, bool warm);
bool search(const ReducedProblem& problem, ConeMemory& memory, PolygonCones& cones, bool warm);

}  // namespace stiction
