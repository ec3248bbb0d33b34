// The compliant laws, λ = f(u) of problem/constitutive.hpp. Beside rigid contacts of Coulomb's law those of linear springs and dampers are
// Coulomb's law with compliance: with a = h (h k + d) along the normal, λ_N = max(0, -h k φ - a u_N) is R_N = 1/a, c_N = h k φ / a; with
// a_T = h (h k_T + d_T), λ_T = -proj(h k_T s + a_T u_T) is R_T = 1/a_T, c_T = h k_T s / a_T (s the spring's elongation before the step).
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/laws/lowering.hpp"

namespace stiction {

namespace {

[[noreturn]] void refuse(const ContactState& c, const char* field, const char* expected, double value) {
  throw InvalidArgument(fmt::format("material[{}].{}", c.index, field), expected, fmt::format("{}", value));
}

void set_force(const ContactState& c, Law law, NormalForce normal, FrictionForce friction, ContactTerms& t) {
  if (!(c.material->stiffness > 0.0)) {
    const std::string name(to_string(law));
    refuse(c, "stiffness", fmt::format("a number > 0 under law {}", name).c_str(), c.material->stiffness);
  }
  t.mu = c.mu;
  t.constitutive = {normal, friction, c.mu, c.gap, c.dt, c.material};
}

void set_compliance(const ContactState& c, double stiffness, double damping, ContactTerms& t) {
  const ContactMaterial& m = *c.material;
  const double normal = c.dt * (c.dt * m.stiffness + (c.gap <= 0.0 ? m.damping : 0.0)), tangent = c.dt * (c.dt * stiffness + damping);
  t.coulomb = true;
  t.normal_compliance = 1.0 / normal;
  t.offset = {c.dt * m.stiffness * c.gap / normal, 0.0, 0.0};
  if (tangent > 0.0) {
    t.tangential_compliance = 1.0 / tangent;
    t.offset.tail<2>() = (c.dt * stiffness / tangent) * Eigen::Vector2d(m.spring[0], m.spring[1]);
  } else {
    t.mu = 0.0;  // nothing that friction could come from
  }
}

// Friction as a share of its limit has no limit to take a share of, and no cone.
void require_limit(const ContactState& c, Law law) {
  if (std::isinf(c.mu))
    throw InvalidArgument(fmt::format("mu[{}]", c.index), fmt::format("a finite number under law {}", to_string(law)), "inf");
}

}  // namespace

void lower_linear_penalty(const ContactState& c, ContactTerms& t) {
  set_force(c, Law::linear_penalty, NormalForce::spring_damper, FrictionForce::damper, t);
  if (c.family == Family::coulomb) set_compliance(c, 0.0, c.material->damping_tangential, t);
}

void lower_stick_slip_spring(const ContactState& c, ContactTerms& t) {
  set_force(c, Law::stick_slip_spring, NormalForce::spring_damper, FrictionForce::spring, t);
  if (c.family == Family::coulomb) set_compliance(c, c.material->stiffness_tangential, c.material->damping_tangential, t);
}

void lower_regularized_stiction(const ContactState& c, ContactTerms& t) {
  require_limit(c, Law::regularized_stiction);
  set_force(c, Law::regularized_stiction, NormalForce::spring_damper, FrictionForce::regularized, t);
}

void lower_hunt_crossley(const ContactState& c, ContactTerms& t) {
  require_limit(c, Law::hunt_crossley);
  set_force(c, Law::hunt_crossley, NormalForce::hunt_crossley, FrictionForce::regularized, t);
}

}  // namespace stiction
