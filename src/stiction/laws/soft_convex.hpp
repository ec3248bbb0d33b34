// Convex laws as soft cone programs, solved in their primal: anitescu, todorov and sap; frictionless and viscous.
//
//   dual    min over λ ∈ K of ½ λᵀ(G + R) λ + λᵀ(u_free - û)
//   primal  min over v⁺ of ½ |v⁺ - v_free|²_M + ½ |σ|²_{R⁻¹}  subject to  u + σ - û ∈ K*;   λ = R⁻¹ σ, and λ the multiplier where R = 0
// anitescu has R = 0 and û = -c e_N [Anitescu 2006], todorov and sap the R and û of problem/softness. The dual of anitescu over a pyramid
// is what the active set solves in generators (convex.hpp); here y = L Zᵀ(v⁺ - v_free) is the unknown, over a pyramid or, edges = 0, the
// disc. frictionless is K the half line, viscous the half space on closed contacts with R_T = 1/(h η), so that u_T + R_T λ_T = 0 is its
// friction; with the slip before the step that friction is known and the rest frictionless. Both programs have the
// same y and opposite values. Bounded rows are exact in all of them.
#pragma once

#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/reduced.hpp"
#include "stiction/problem/softness.hpp"
#include "stiction/programs/soft_cone/soft_cone.hpp"

namespace stiction {

struct SoftConvexWorkspace {
  std::vector<SoftContact> contacts;
  SoftConeWorkspace program;
  SoftConeSolution solution;
  GrowVector factor, y, u;
  ReducedProblem shifted;  ///< viscous with the slip before the step: the problem with its friction done
  GrowVector known;        ///< 3n, that friction
};

/// The program's contacts for one of these laws (viscous with the slip before the step: without its friction). Throws InvalidArgument when
/// law sap meets a contact without stiffness.
void make_soft_contacts(const ReducedProblem& problem, const SolveOptions& options, std::vector<SoftContact>& contacts);

void solve_by_newton(const ReducedProblem& problem, const SolveOptions& options, SoftConvexWorkspace& workspace, Impulses& impulses);

}  // namespace stiction
