// Last digits of the soft convex laws over the disc, where Newton on their primal ends in the rounding that softness close to zero brings.
//
//   K ∋ λ ⊥ (G + R) λ + u_free - û ∈ K*       is the relaxed program of programs/cone on rows with more columns:
//   G + R = [R_t, R^½][R_t, R^½]ᵀ,             three more columns per soft contact
// whose polish works on λ with the pattern of stick and slip and does not divide by R. Contacts with μ = ∞ are half lines with tangential
// rows. Starts from the point found so far. Cost: that of `exact_cone`, at most kSystems linear systems.
#pragma once

#include <vector>

#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/reduced.hpp"
#include "stiction/programs/cone/cone.hpp"
#include "stiction/programs/soft_cone/soft_cone.hpp"

namespace stiction {

struct SoftPolishWorkspace {
  std::vector<SoftContact> contacts;
  ReducedProblem problem;  ///< with the columns of the softness
  std::vector<int> sizes;  ///< of its blocks of columns
  std::vector<int> held;   ///< contacts with μ = ∞
  ConeWorkspace cone;
  ConeSolution solution;
};

/// True when there is something to try: a soft law, or anitescu, over the disc.
bool can_polish_soft(const ReducedProblem& problem, const SolveOptions& options);

/// Replaces `impulses`, a point of the law found by `solve_by_newton`; the certificate decides which of the two is better.
void polish_soft(const ReducedProblem& problem, const SolveOptions& options, SoftPolishWorkspace& workspace, Impulses& impulses);

}  // namespace stiction
