// The order in which the cone solvers try their methods; every one ends in the exact polish.
#pragma once

#include "stiction/programs/cone/memory.hpp"

namespace stiction {

/// Looks for a point whose natural map meets memory.target: warm start (when (λ, β) of the memory hold one), interior point along
/// several paths, then the fixed point on the slip speed. True when found; the best point is in memory.best_*.
bool search(const ReducedProblem& problem, ConeMemory& memory, DiscCones& cones, bool warm);
bool search(const ReducedProblem& problem, ConeMemory& memory, PolygonCones& cones, bool warm);

}  // namespace stiction
