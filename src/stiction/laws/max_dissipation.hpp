// Maximal dissipation without normal complementarity [ZD15 section 5, Eqs. 63-72; Drumwright & Shell 2010]:
//
//   minimise |R λ + B β + y_free|²/2 + cᵀβ   subject to  λ ∈ pyramid, lo <= β <= hi,  u_N + c_N >= 0 on closed contacts,
//                                                        w >= 0 (<= 0) on rows without an upper (lower) bound
// The objective is the kinetic energy of v⁺ [ZD15, Eq. 92 for inverse dynamics: only the free rows of the base enter y], and bounded rows
// are variables of the same programme: joint limits, dry joint friction |β| <= h τ_f [Drumwright & Shell 2010], motors and limited
// torques. c = w_free - B y_free makes a row's derivative of the objective its velocity error w: zero in forward dynamics with targets
// at rest, so the objective is the kinetic energy itself, and the row's target where it has one. With multipliers ν >= 0 of the constraints
//   g = y - R_Nᵀ ν - B_1ᵀ ν_1:   R (g + y_free) in the dual pyramid, orthogonal to λ;   B g + w_free = 0 inside the bounds, >= 0 at lo,
//   <= 0 at hi
// so a row obeys its own conditions (w = 0 inside, ...) unless a constraint is active against the wish of the objective (ν > 0).
#pragma once

#include "stiction/laws/generators.hpp"
#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/sections.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/qp/kinetic_qp.hpp"
#include "stiction/programs/sparse_qp/sparse_kinetic_qp.hpp"

namespace stiction {

struct MaxDissipationWorkspace {
  struct Constraint {
    int contact, row;  ///< one of them, the other -1
    double sign;
  };
  Generators generators;
  std::vector<Constraint> constraints;
  GrowMatrix constraint_rows;  ///< r x constraints, Cᵀ
  KineticQpWorkspace qp;
  KineticQpSolution solution;
  GrowVector cost, rhs, x0, mu0, gradient, w, y;
  SparseKineticQp sparse;
  SparseKineticQpWorkspace interior;
  SparseKineticQpSolution interior_solution;
  SectionShape section;
};

/// Solver active_set (dense rows, warm start) or interior_point (block-sparse, for many bodies; no proof when nothing is feasible).
/// `impulses.multipliers` has k + m entries: ν of the contacts in standard form, ν_1 of the bounded rows (<= 0 where w <= 0 is demanded).
void solve_max_dissipation(const StandardForm& form, const SolverOptions& options, Solver solver, MaxDissipationWorkspace& workspace,
                           Impulses& impulses);

/// Violation of the optimality conditions above by (λ, β, ν), scaled by the problem's velocity (m/s; at least that of R y_free) and impulse
/// (N s) as in problem/certificate.hpp.
double optimality_residual(const StandardForm& form, const Impulses& impulses, double velocity, double impulse,
                           MaxDissipationWorkspace& workspace);

}  // namespace stiction
