// What a solve returns: values, an honest status, and a certificate computed from the returned point alone.
#pragma once

#include <string_view>

#include "stiction/base/grow.hpp"
#include "stiction/problem/certificate.hpp"

namespace stiction {

/// Numerical outcome of a solve. Only `solved` means that the certificate meets the tolerance.
enum class Status {
  solved,
  inaccurate,       ///< a finite point whose certificate misses the tolerance
  ray_termination,  ///< Lemke's ray: no solution was found, and for copositive-plus data none exists
  infeasible,       ///< proved to have no solution
  iteration_limit,
  numerical_error,  ///< factorisation failed or a value overflowed; the returned impulses are zero
};
std::string_view to_string(Status status);

/// Impulses that prove that no motion satisfies the law [Farkas]: a direction in which the law's impulses may grow without bound, which
/// changes no momentum, Jᵀν + J_bᵀβ + E_Pᵀπ = 0, and yet must do negative work at every motion:
///   ν·(J v + c e_N) + β·(J_b v - b) + π·(v_P - v_prescribed) = work < 0  for all v, where the law asks for >= 0.
/// Of a problem known only by its contacts, R_tᵀν + B_tᵀβ = 0 and work = ν·(u_free + c e_N) + β·w_free; of `max_dissipation` also a ray
/// along which its program falls without end. `proves_infeasible` (laws/infeasibility.hpp) checks it from the problem alone.
struct InfeasibilityRay {
  GrowVector impulses;             ///< ν, 3n; empty when there is no ray
  GrowVector bounded_impulses;     ///< β, m
  GrowVector prescribed_impulses;  ///< π, one per prescribed coordinate
  double work = 0.0;               ///< J when impulses are in N s
  bool proof = false;  ///< false: Lemke's ray of a program that is not copositive-plus, which shows where it ended and proves nothing

  void clear();  ///< no ray; memory is kept
};

struct Solution {
  GrowVector v;                    ///< nv, velocity after the step; empty for a problem known only by its contacts
  GrowVector u;                    ///< 3n, contact velocities after the step, N S T per contact (m/s)
  GrowVector impulses;             ///< 3n, contact impulses λ, N S T per contact (N s)
  GrowVector bounded_impulses;     ///< m, impulses of the rows of J_b (N s)
  GrowVector prescribed_impulses;  ///< impulses on the prescribed coordinates (N s); tau = prescribed_impulses / dt
  /// max_dissipation: n + m multipliers (N s) of u_N + c >= 0 at the contacts and of w >= 0 (w <= 0: <= 0) on rows of J_b that are bounded
  /// on one side; with them the law's optimality conditions can be checked (laws/max_dissipation.hpp). Empty for other laws.
  GrowVector multipliers;
  Status status = Status::numerical_error;
  Certificate certificate;
  InfeasibilityRay ray;     ///< set when status is infeasible or ray_termination
  int iterations = 0;       ///< pivots or iterations of the solver
  int fallbacks = 0;        ///< methods tried after the primary one
  bool choice_met = false;  ///< of all impulses with this motion these are those of the choice that was asked for; true for warm_start
};

}  // namespace stiction
