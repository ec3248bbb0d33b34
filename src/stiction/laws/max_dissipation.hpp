// Maximal dissipation without normal complementarity [ZD15 section 5, Eqs. 63-72; Drumwright & Shell 2010]:
//
//   minimise |R λ + B β + y_free|²/2   subject to  λ ∈ pyramid, β >= 0,  u_N + c >= 0 on closed contacts,  w >= 0
// The objective is the kinetic energy of v⁺. For inverse dynamics this is the paper's flop-reduced form: only the free rows of the
// base enter y [ZD15, Eq. 92]. Its multipliers ν >= 0 (n, one per contact) come back for the certificate.
// Bounded rows must be one-sided with a zero bound (joint limits); two-sided ones are refused with InvalidArgument.
#pragma once

#include "stiction/laws/generators.hpp"
#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/programs/qp/kinetic_qp.hpp"

namespace stiction {

struct MaxDissipationWorkspace {
  Generators generators, normals;
  KineticQpWorkspace qp;
  KineticQpSolution solution;
  GrowVector rhs, x0, mu0, gradient, y;
};

void solve_max_dissipation(const ReducedProblem& problem, const SolveOptions& options, MaxDissipationWorkspace& workspace,
                           Impulses& impulses);

/// Scaled violation of the optimality conditions by (λ, ν) of this law: g = R_t (R λ + B β + y_free - R_N ν) in the dual cone of every
/// closed contact and orthogonal to λ, ν >= 0 orthogonal to u_N + c.
double optimality_residual(const ReducedProblem& problem, int edges, const Impulses& impulses, MaxDissipationWorkspace& workspace);

}  // namespace stiction
