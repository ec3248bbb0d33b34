// The convex laws that give way, K ∋ λ ⊥ u + R λ + c ∈ K* with the disc:
//
//   todorov   R = material.regularization; c of the scheme, or φ/(h + T) of a penetration (T = material.time_constant > 0): φ shrinks to
//             T/(h + T) of itself a step, the implicit Euler step of exponential decay [T-UA; Todorov 2014]
//   sap       R_N = 1/(h k (h + τ)), c_N = φ/(h + τ), R_T = material.regularization, or 1e-3 w where that is 0
//             [Castro, Permenter, Han 2022, Eqs. 18-22]: with λ_N > 0 exactly h k (-φ - (h + τ) u_N), a spring k = material.stiffness and
//             Rayleigh damping τ k, τ = material.dissipation_time, both at the end of the step. Restitution plays no part. w is the
//             contact's weight (problem/contact_weights.hpp). Departs from the source: R_N has no floor β²w/4π² (Eq. 22), so rest depths
//             are exact however stiff the contact; and an open gap has c_N = φ/h, as the source has contacts that touch alone. A damper
//             acts from the touch on, the share 1 + φ/(h u_N) of the step: τ u_N times that is τ φ⁺/h, and λ_N = k (h + τ) max(0, -φ⁺).
#include <algorithm>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/laws/lowering.hpp"

namespace stiction {

void lower_todorov(const ContactState& c, ContactTerms& t) {
  const ContactMaterial& m = *c.material;
  t.mu = c.mu;
  t.normal_compliance = t.tangential_compliance = m.regularization;
  if (c.gap < 0.0 && m.time_constant > 0.0) t.offset[0] = std::min(t.offset[0], c.gap / (c.dt + m.time_constant));
}

void lower_sap(const ContactState& c, ContactTerms& t) {
  constexpr double kTangentialShare = 1e-3;  // σ of the source
  const ContactMaterial& m = *c.material;
  if (!(m.stiffness > 0.0))
    throw InvalidArgument(fmt::format("material[{}].stiffness", c.index), "a number > 0 (N/m) under law sap",
                          fmt::format("{}", m.stiffness));
  const double time = c.dt + m.dissipation_time;
  t.mu = c.mu;
  t.normal_compliance = 1.0 / (c.dt * m.stiffness * time);
  t.tangential_compliance = m.regularization > 0.0 ? m.regularization : kTangentialShare * c.weight;
  t.offset = {c.gap / (c.gap > 0.0 ? c.dt : time), 0.0, 0.0};
}

}  // namespace stiction
