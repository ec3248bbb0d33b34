// Many contacts on few freedoms: the law solved on a small set of contacts that grows.
//
//   repeat   solve the law on the contacts of the set; y = Σ R_i λ_i
//            add contacts outside whose condition at λ_i = 0 the motion violates: to none three, the worst and those whose normal rows
//            differ most from the rows already added, for a body stands on three; then the worst alone, where there is one body
// A contact outside carries nothing, so an answer that no contact outside violates is one of the whole problem: it is checked there,
// as every other answer is. Which of the many ways to share the load comes out differs from the interior point's: few contacts, not all.
// r freedoms need about r contacts to hold them; cost: rounds (n r + small solves), rounds seldom above 6.
#pragma once

#include <vector>

#include "stiction/programs/cone/memory.hpp"

namespace stiction {

struct WorkingSet {
  ReducedProblem part;             ///< the contacts of the set
  ConeMemory memory;               ///< of the solves of `part`
  ConeSolution solution;           ///< of `part`
  std::vector<int> members;        ///< contact of each contact of `part`
  std::vector<char> inside;        ///< n, is a member
  GrowVector violation;            ///< n, natural map at λ_i = 0 of the contacts outside (m/s)
  int grown = 0, grown_edges = 0;  ///< what the memory is sized for
  GrowVector row, added;           ///< r, and r times the contacts added in one round: their normal rows, orthonormal
};

/// True when the contacts are so many, and on one block of columns, that a part of them is tried first.
bool suits_working_set(const ReducedProblem& problem);

/// `memory` is prepared for `problem`, its λ a warm start or zero. True when its best point is a solution.
bool solve_on_working_set(const ReducedProblem& problem, const ConeOptions& options, ConeMemory& memory, WorkingSet& set);

}  // namespace stiction
