// Softness of a contact under the softened convex laws: R and the reference velocity û of  K ∋ λ ⊥ u + R λ - û ∈ K*.
//
//   regularized  R_n = R_t = material.regularization;  û_N = -c for a gap, -φ/(h + T) for a penetration (T = material.time_constant > 0):
//                φ shrinks by T/(h + T) a step, the implicit Euler step of exponential decay [T-UA; Todorov 2014]
//   compliant    R_n = 1/(h k (h + τ)), û_N = -φ/(h + τ), R_t = material.regularization, or 1e-3 w where that is 0
//                [Castro, Permenter, Han 2022, Eqs. 18-22]: with λ_N > 0 exactly h k (-φ - (h + τ) u_N), a spring k = material.stiffness
//                and Rayleigh damping τ k, τ = material.dissipation_time, both at the end of the step. Restitution plays no part.
// w = trace(J_i M⁻¹ J_iᵀ)/3 (1/kg), taken from the inertia alone, so that forward and inverse dynamics of one state see the same R_t.
// Departs from the source: R_n has no floor β²w/4π² (Eq. 22), so rest depths are exact however stiff the contact.
#pragma once

#include "stiction/problem/reduced.hpp"

namespace stiction {

enum class Softness : char { none, regularized, compliant };

struct ContactSoftness {
  double normal = 0.0, tangential = 0.0;  ///< R_n, R_t (1/kg)
  double reference = 0.0;                 ///< û_N (m/s)
};

/// The softness of contact i where contacts name laws of their own; `kind` when `laws` is empty.
Softness softness_of(const std::vector<Law>& laws, Softness kind, int contact);

/// weight: w above (1/kg), read by `compliant` alone; its material needs stiffness > 0 (otherwise R_n is infinite).
ContactSoftness contact_softness(Softness kind, const ContactMaterial& material, double dt, double gap, double offset, double weight);

/// n weights w of a valid problem; `factor` is scratch. Cost: Σ_k b_k³/3 + 3 n b².
void contact_weights(const ContactProblem& problem, GrowVector& factor, GrowVector& weights);

/// The same for contact i of a reduced problem; w = trace(G_ii)/3 when the problem came without `weight`.
ContactSoftness contact_softness(Softness kind, const ReducedProblem& problem, int contact);

}  // namespace stiction
