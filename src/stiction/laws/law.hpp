// The contact laws by name, what each promises, and the programs that solve each.
//
//   frictionless     0 <= λ_N ⊥ u_N + c >= 0, λ_T = 0                                              LCP, symmetric PSD
//   no_slip          the same with u_T = 0, λ_T free (μ = ∞) [ZD15 section 3; D14]                  LCP, symmetric PSD
//   viscous          0 <= λ_N ⊥ u_N + c >= 0, λ_T = -h η u_T on closed contacts [D14]                  LCP, symmetric PSD
//   coulomb_pyramid  Signorini and Coulomb with a polygon of k edges [ZD15 section 4; Stewart-Trinkle, Anitescu-Potra]  LCP
//   coulomb_cone     Signorini and Coulomb with the true disc (De Saxce)                            cone complementarity
//   coulomb_ellipse  the same with an ellipse: laws/coulomb_ellipse.cpp [Goyal, Ruina, Papadopoulos 1991]  cone complementarity
//   moreau           Signorini and Coulomb with the disc on ξ = u⁺ + ε u⁻ of every closed contact [G14, Eqs. 5-9]  cone complementarity
//   anitescu         convex relaxation: λ ∈ K ⊥ u + c e_N ∈ K* [Anitescu 2006]                       convex QP
//   todorov          the same with softness: λ ∈ K ⊥ u + R λ - û ∈ K* over the disc [T-UA; Todorov 2014]  strictly convex cone program
//   sap              the same, R and û from stiffness and dissipation time [Castro et al. 2022] strictly convex cone program
//   max_dissipation  min vᵀMv/2 over λ ∈ K with u_N + c >= 0 [ZD15 section 5; Drumwright-Shell]      convex QP
//   linear_penalty, stick_slip_spring [G14, Alg. 1], regularized_stiction [T-UA], hunt_crossley
//                    λ = f(u⁺), compliant: problem/constitutive.hpp                              Newton in the r-space
// μ = ∞ under Coulomb's laws: docs/laws.md#infinite-friction. c is the gap and restitution offset of `normal_offset`, η the contact's
// viscosity (N s/m), K the friction cone or pyramid. no_slip, viscous, anitescu and max_dissipation put friction on closed
// contacts only (`find_closed`). Bounded rows are variables of every program. All but max_dissipation are conditions on (λ, J v⁺) alone,
// which is what makes their inverse dynamics exact (docs/laws.md).
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "stiction/problem/contact_law.hpp"

namespace stiction {

enum class Solver { automatic, goldfarb_idnani, ppm, lemke, enumerate, active_set, interior_point, dantzig, pgs, jor, sor, newton };

/// Every solver, in the order of the enumeration.
inline constexpr std::array kSolvers{Solver::automatic,  Solver::goldfarb_idnani, Solver::ppm,     Solver::lemke, Solver::enumerate,
                                     Solver::active_set, Solver::interior_point,  Solver::dantzig, Solver::pgs,   Solver::jor,
                                     Solver::sor,        Solver::newton};

/// Those of the LCP in the normals, which know no bounded rows.
constexpr bool is_pivoting(Solver s) { return s == Solver::goldfarb_idnani || s == Solver::ppm; }
std::string_view to_string(Solver solver);
/// Throws InvalidArgument that lists the names known.
Solver solver_from_string(std::string_view name);
/// Names for help texts, separated by ", ".
std::string solver_names();

/// How a law treats contacts that are apart. stewart_trinkle: every contact, the gap in the normal complementarity,
/// 0 <= λ_N ⊥ N v⁺ + φ/h >= 0 [Stewart & Trinkle 1996]. anitescu_potra: velocity level, 0 <= λ_N ⊥ N v⁺ >= 0 on contacts that touch
/// (φ <= kTouchGap) and nothing on the others [Anitescu & Potra 1997; ZD15, Eqs. 48-58].
enum class PyramidVariant { stewart_trinkle, anitescu_potra };
std::string_view to_string(PyramidVariant variant);
PyramidVariant pyramid_variant_from_string(std::string_view name);

/// Whose slip viscous friction opposes: that after the step, or that of the state before it (acceleration level of [D14]).
enum class ViscousSlip { after, before };
std::string_view to_string(ViscousSlip slip);
ViscousSlip viscous_slip_from_string(std::string_view name);

/// What becomes of impulses that the law leaves open: as the solver reaches them from its last answer; by one of the rules of
/// laws/choice.hpp; or least |tau|, for inverse dynamics alone (inverse/stage_two.hpp).
enum class Choice { warm_start, least_norm, closest_to_last, least_torque };
std::string_view to_string(Choice choice);
Choice choice_from_string(std::string_view name);

/// Edges of a polygon at most: its friction is then within (π / 1024)² / 2 = 5e-6 of the disc's.
inline constexpr int kMostEdges = 1024;

/// What is asked of the contacts: a law, its section and the scheme that fills its gaps.
struct LawModel {
  Law law = Law::coulomb_cone;
  /// k of the polygonal laws, in [4, kMostEdges]; edge j points at angle 2πj/k from the first tangent. anitescu: 0 is the disc.
  int edges = 4;
  /// Turn each contact's polygon so that a vertex opposes its slip before the step (edge_angles). The disc has nothing to turn.
  bool align_edges = false;
  PyramidVariant variant = PyramidVariant::stewart_trinkle;  ///< of every law but moreau, which has a scheme of its own
  ViscousSlip viscous_slip = ViscousSlip::after;             ///< viscous
};

/// How it is sought, to what tolerance and at what cost. A bound of work holds for all of a connected part of the problem (islands.hpp),
/// fall-backs included, each of which has what the iterations before it, of whichever kind, have left of its own; every part has the whole
/// bound, so that the answer does not depend on the threads. The best point found within it comes back with its residual.
struct SolverOptions {
  Solver solver = Solver::automatic;
  Choice choice = Choice::warm_start;  ///< least_torque is refused here
  double tolerance = 1e-9;             ///< largest scaled residual of the certificate that counts as solved
  double acceptable = 0.0;  ///< residual with which the solve may end where `tolerance` is a long way off; 0: none (interior_point)
  int max_factorizations =
      20000;               ///< of interior_point and newton: linear systems factored; programs have bounds of their own, 120 to 2000
  int max_pivots = 0;      ///< of goldfarb_idnani, ppm, lemke, active_set and dantzig; 0: their own, some 20 times their size
  int max_sweeps = 20000;  ///< of jor, sor and pgs
  double alpha = 0.6;      ///< relaxation of jor and sor, in (0, 2)
  bool bilateral_by_prox = false;  ///< jor and sor: iterate on bilateral rows too [G14, Eq. 19] instead of eliminating them [G14, Eq. 20]
  bool warm_start = true;          ///< start from the last impulses in the workspace, by the names of contacts and rows (warm_start.hpp)
  bool well_apart = false;  ///< goldfarb_idnani and ppm: tangents of half spaces within 1e-3 of the span of others stay out (convex.hpp)
  int threads = 1;          ///< on which the connected parts of a problem are solved (islands.hpp); the answer does not depend on it
};

/// Both, for functions that take a problem to its certified solution. Those that need only one take only one.
struct SolveOptions : LawModel, SolverOptions {};

/// True when the law can be solved by this solver; `automatic`: by any.
bool can_solve(Law law, Solver solver);
/// True for the laws whose friction section is a polygon of `edges` edges.
bool is_polygonal(Law law);

}  // namespace stiction
