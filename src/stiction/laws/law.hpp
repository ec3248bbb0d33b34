// The contact laws by name, what each promises, and the programs that solve each.
//
//   frictionless     0 <= λ_N ⊥ u_N + c >= 0, λ_T = 0                                              LCP, symmetric PSD
//   no_slip          the same with u_T = 0, λ_T free (μ = ∞) [ZD15 section 3; D14]                  LCP, symmetric PSD
//   coulomb_pyramid  Signorini and Coulomb with a polygon of k edges [ZD15 section 4; Stewart-Trinkle, Anitescu-Potra]  LCP
//   coulomb_cone     Signorini and Coulomb with the true disc (De Saxce)                            cone complementarity
//   anitescu         convex relaxation: λ ∈ K ⊥ u + c e_N ∈ K* [Anitescu 2006]                       convex QP
//   max_dissipation  min vᵀMv/2 over λ ∈ K with u_N + c >= 0 [ZD15 section 5; Drumwright-Shell]      convex QP
// c is the gap and restitution offset of `normal_offset`; K the friction cone or pyramid. no_slip, anitescu and max_dissipation put
// friction on closed contacts only (`find_closed`). All but max_dissipation are conditions on (λ, J v⁺) alone, which is what makes
// their inverse dynamics exact (docs/laws.md).
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "stiction/problem/certificate.hpp"
#include "stiction/problem/contact_law.hpp"

namespace stiction {

enum class Solver { automatic, ppm, lemke, enumerate, active_set, interior_point };

/// Every solver, in the order of the enumeration.
inline constexpr std::array kSolvers{Solver::automatic, Solver::ppm,        Solver::lemke,
                                     Solver::enumerate, Solver::active_set, Solver::interior_point};

std::string_view to_string(Solver solver);
/// Throws InvalidArgument that lists the names known.
Solver solver_from_string(std::string_view name);
/// Names for help texts, separated by ", ".
std::string solver_names();

struct SolveOptions {
  Law law = Law::coulomb_pyramid;
  Solver solver = Solver::automatic;
  int edges = 4;            ///< k of the polygonal laws, >= 4; edge j points at angle 2πj/k from the first tangent
  double tolerance = 1e-9;  ///< largest scaled residual of the certificate that counts as solved
  bool warm_start = true;   ///< start from the last solution in the workspace when the sizes agree
};

/// True when the law can be solved by this solver.
bool can_solve(Law law, Solver solver);
LawConditions conditions(const SolveOptions& options);

}  // namespace stiction
