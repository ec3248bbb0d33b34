// Compliant contact laws: the impulse of one contact as a function of its velocity u after the step, evaluated implicitly.
//
//   normal      λ_N = h max(0, -k (φ + h u_N) - d u_N [φ <= 0])                linear_penalty, stick_slip_spring, regularized_stiction
//               λ_N = h k x^p max(0, 1 - χ u_N),  x = max(0, -φ - h u_N)       hunt_crossley [Hunt & Crossley 1975]
//   friction    λ_T = -proj(h d_T u_T)                                          linear_penalty
//               λ_T = -proj(h c_T (s + h u_T) + h d_T u_T)                      stick_slip_spring [G14, Alg. 1]
//               λ_T = -μ λ_N min(1, |u_T|/v_s) u_T/|u_T|                        regularized_stiction, hunt_crossley
// proj is the projection on the disc of radius μ λ_N, λ_N that of the same step; s the spring's elongation before the step, x the
// penetration at its end. Every λ_N falls with u_N and every λ_T opposes a growing slip, so stiff contacts are stable at any h.
// [T-UA] (section on compliant models) asks for friction as "a continuous function" of the slip in the stead of Coulomb's law: v_s is the
// slip at which it reaches its limit. Departures from [G14, Alg. 1]: forces are taken at the end of the step; a slipping spring is
// dragged along at the limit (`next_spring`) instead of being reset when slip ends, so the force has no jump; the damper acts on
// contacts that were closed before the step, the spring on the gap at its end.
#pragma once

#include <array>

#include <Eigen/Core>

#include "stiction/problem/contact_law.hpp"

namespace stiction {

enum class NormalForce : char { spring_damper, hunt_crossley };
enum class FrictionForce : char { damper, spring, regularized };

/// Everything but the velocity that a compliant law reads of a contact. `material` outlives the use.
struct CompliantContact {
  NormalForce normal = NormalForce::spring_damper;
  FrictionForce friction = FrictionForce::damper;
  double mu = 0.0;   ///< friction coefficient
  double gap = 0.0;  ///< φ before the step (m)
  double dt = 1.0;   ///< h (s)
  const ContactMaterial* material = nullptr;
};

/// Impulse N S T (N s) at velocity u (m/s).
Eigen::Vector3d compliant_impulse(const CompliantContact& contact, const Eigen::Vector3d& u);

/// The same, and slope = -dλ/du (kg): a generalised derivative where the law has a kink. `frozen_normal` >= 0 takes the friction limit
/// μ `frozen_normal` in place of μ λ_N, which makes the slope symmetric and positive semidefinite.
Eigen::Vector3d compliant_impulse(const CompliantContact& contact, const Eigen::Vector3d& u, double frozen_normal, Eigen::Matrix3d& slope);

/// Elongation (m, S and T) of the tangential spring after a step with velocity u: s + h u_T while it sticks, that of the limit when it
/// slips, zero when the contact bears nothing.
std::array<double, 2> next_spring(const CompliantContact& contact, const Eigen::Vector3d& u);

}  // namespace stiction
