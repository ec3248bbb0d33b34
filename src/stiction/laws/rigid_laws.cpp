// The rigid laws: cones, and nothing gives way. Those that demand friction of contacts without a load (no_slip, viscous, anitescu) and
// max_dissipation, whose constraints hold on what touches, do so on closed contacts only; Coulomb's friction asks for the load itself.
#include <cmath>
#include <limits>

#include "stiction/laws/lowering.hpp"

namespace stiction {

void lower_frictionless(const ContactState& /*contact*/, ContactTerms& t) { t.mu = 0.0; }

void lower_no_slip(const ContactState& c, ContactTerms& t) {
  t.coulomb = c.family == Family::coulomb;  // in a mixture with Coulomb's law it holds nothing where it bears no load
  t.mu = c.closed || t.coulomb ? std::numeric_limits<double>::infinity() : 0.0;
}

// λ_T = -h η u_T: of the slip after the step a half space with R_T = 1/(h η), of that before it known friction [D14, Eq. 15].
void lower_viscous(const ContactState& c, ContactTerms& t) {
  const double damping = c.closed ? c.dt * c.material->viscosity : 0.0, compliance = 1.0 / damping;
  t.mu = 0.0;
  if (c.viscous_slip == ViscousSlip::before) {
    t.known = -damping * c.u_before.tail<2>();
  } else if (std::isfinite(compliance)) {
    t.mu = std::numeric_limits<double>::infinity();
    t.tangential_compliance = compliance;
  }
}

void lower_coulomb_cone(const ContactState& c, ContactTerms& t) {
  t.coulomb = true;
  t.mu = c.mu;
}

void lower_coulomb_pyramid(const ContactState& c, ContactTerms& t) { lower_coulomb_cone(c, t); }

// Coulomb's law on ξ = u⁺ + ε u⁻, which the scheme has put into the offset.
void lower_moreau(const ContactState& c, ContactTerms& t) { lower_coulomb_cone(c, t); }

void lower_anitescu(const ContactState& c, ContactTerms& t) { t.mu = c.closed ? c.mu : 0.0; }

// Least energy knows no gap: what left the ground a step ago would be held where it is.
void lower_max_dissipation(const ContactState& c, ContactTerms& t) {
  t.bears = t.bears && c.closed && closes(c.gap, c.dt, c.u_before[0]);
  t.mu = c.mu;
}

}  // namespace stiction
