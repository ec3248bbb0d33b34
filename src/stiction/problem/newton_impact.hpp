// Newton's impact law on every closed contact, normal and tangential [G14, Eqs. 5-9]:
//
//   ξ_N = u_N⁺ + ε_N u_N⁻,  ξ_T = u_T⁺ + ε_T u_T⁻          the contact conditions hold on ξ in place of u⁺
//   closed: the gap half a step ahead is not positive, φ + h u_N⁻ / 2 <= kTouchGap     [G14, below Eq. 8], q^M linearised
// An open contact bears no impulse. Which contacts are closed depends on φ, u⁻ and h alone, so forward and inverse dynamics of one state
// see the same ones.
#pragma once

#include "stiction/problem/reduced.hpp"

namespace stiction {

/// ξ - u⁺ (m/s) of one contact.
Eigen::Vector3d impact_shift(double restitution, const ContactMaterial& material, const Eigen::Vector3d& u_before);

/// gap φ (m), h (s), u_N⁻ (m/s).
bool closed_at_midpoint(double gap, double dt, double normal_velocity_before);

/// The same of contact i of a reduced problem.
Eigen::Vector3d impact_shift(const ReducedProblem& problem, int i);
bool closed_at_midpoint(const ReducedProblem& problem, int i);

/// What the law asks of the normals of a problem: n flags of closed_at_midpoint, and ε_N u_N⁻ of the closed contacts (m/s), 0 of the
/// others.
void find_closed_at_midpoint(const ContactProblem& problem, std::vector<char>& closed, GrowVector& shift);

}  // namespace stiction
