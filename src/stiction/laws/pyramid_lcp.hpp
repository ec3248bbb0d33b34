// Coulomb friction with a pyramid of k edges as one dense LCP [ZD15, Eq. 58; Stewart-Trinkle, Anitescu-Potra], for Lemke and for
// enumeration; the default solver of the law is the interior point of programs/cone.
//
//   variables z = (f_N n, f_F nk, λ n, x m, s m)    impulses along normals and edges, slip speeds, bounded rows and their slacks
//   [ N G Nᵀ   N G Fᵀ   0 ]       rows: 0 <= N v⁺ + c,  0 <= F v⁺ + E λ,  0 <= μ f_N - Eᵀ f_F
//   [ F G Nᵀ   F G Fᵀ   E ]       bounded rows: β = lo + x, 0 <= w + s ⊥ x, 0 <= hi - lo - x ⊥ s  (mirrored when lo = -inf)
//   [ μ        -Eᵀ      0 ]
// Edge j of a contact points at angle 2πj/k from its first tangent. μ = ∞ is refused with InvalidArgument. Size (k + 2) n + 2 m.
#pragma once

#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/lcp/enumerate.hpp"
#include "stiction/programs/lcp/lemke.hpp"

namespace stiction {

/// What MINDIFF keeps close to its last value, x = contacts λ + rows β + constant: (v⁺, tau) of a problem with velocities [ZD15, Alg. 3].
struct OutcomeMap {
  GrowMatrix contacts;  ///< x 3k, of the contacts in standard form; empty: x = y, the motion of a problem known only by its contacts
  GrowMatrix rows;      ///< x m
  GrowVector constant;
  GrowVector v, cone, lambda, lambda_b, beta, lambda_prescribed;  ///< scratch

  void clear() { contacts.resize(0, 0); }
};
/// (v⁺, tau) of the problem that `reduction` belongs to, in its units (m/s, rad/s, N, N m).
void map_outcomes(const ProblemView& problem, Reduction& reduction, const StandardForm& form, const LawTerms& terms, OutcomeMap& map);

struct PyramidLcpWorkspace {
  GrowMatrix M, directions, rows;  ///< LCP matrix; R Dᵀ (r x variables)
  GrowVector q, base;
  LemkeWorkspace lemke;
  EnumerateWorkspace enumerate;
  LcpSolution solution;
  OutcomeMap outcome;
  GrowMatrix T;  ///< the same in the variables of the LCP, x = T z + c
  GrowVector c, last_outcome;
};

/// The LCP itself, for tests and for `stiction solve --solver enumerate`.
void build_pyramid_lcp(const ReducedProblem& problem, int edges, PyramidLcpWorkspace& workspace);
/// Solver lemke or enumerate (MINDIFF against the last outcome [ZD15, Alg. 3], at first that of no impulses; at most 20 variables).
void solve_pyramid_lcp(const StandardForm& form, const SolverOptions& options, PyramidLcpWorkspace& workspace, Impulses& impulses);

}  // namespace stiction
