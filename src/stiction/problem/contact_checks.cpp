#include "stiction/problem/contact_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {

namespace {

using Eigen::Vector3d;
using Scales = CertificateScales;

double norm_of_tangent(const Vector3d& x) { return std::sqrt(x[1] * x[1] + x[2] * x[2]); }

// Angle between friction and -slip where both are above noise. A polygon turns friction to a vertex: up to π/k is its own doing.
void measure_angle(const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  const double slip = norm_of_tangent(u), friction = norm_of_tangent(lambda);
  if (slip <= 1e-6 * s.velocity || friction <= 1e-6 * s.impulse) return;
  const double cross = std::abs(lambda[1] * u[2] - lambda[2] * u[1]), dot = -(lambda[1] * u[1] + lambda[2] * u[2]);
  c.dissipation_angle = std::max(c.dissipation_angle, std::atan2(cross, dot));
}

// λ_T in μ λ_N section; free where μ = ∞, absent where μ = 0.
void check_cone(const SectionShape& shape, double mu, const Vector3d& lambda, const Scales& s, Certificate& c) {
  if (mu == 0.0) {
    raise(c.cone, norm_of_tangent(lambda), s.impulse);
  } else if (!std::isinf(mu)) {
    raise(c.cone, std::max(0.0, shape.gauge(lambda.tail<2>()) - mu * std::max(lambda[0], 0.0)), s.impulse);
  }
}

void check_signorini(const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  raise(c.penetration, std::max(0.0, -u[0]), s.velocity);
  raise(c.normal_complementarity, std::abs(lambda[0] * u[0]), s.impulse * s.velocity);
}

// Friction that dissipates most, under De Saxcé's term.
void check_dissipation(const SectionShape& shape, double mu, const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  // μ λ_N has a limit, the friction itself, where λ_N vanishes; that asks for touch, and a load for rest.
  const bool infinite = std::isinf(mu);
  const double load = std::max(lambda[0], 0.0), radius = infinite ? shape.gauge(lambda.tail<2>()) : mu * load;
  const double gap = (infinite ? radius + load : radius) * shape.slip(u.tail<2>()) + lambda[1] * u[1] + lambda[2] * u[2];
  const double most = infinite ? std::max(s.impulse, radius) : std::max(1.0, mu) * s.impulse;  // friction may be μ times the load
  if (infinite) raise(c.normal_complementarity, std::abs(radius * u[0]), most * s.velocity);
  raise(c.dissipation, std::abs(gap), most * s.velocity);
  measure_angle(u, lambda, s, c);
}

// The half space of the convex laws: u_T = 0 at any load, or of viscous friction λ_T = -u_T / R_T.
void check_half_space(const ContactTerms& t, const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  const double compliance = t.tangential_compliance;
  raise(c.natural_map, row_natural_map(0.0, kInfinity, s.impulse / s.velocity, lambda[0], u[0]), s.velocity);
  if (compliance > 0.0) {
    raise(c.constitutive, norm_of_tangent(u) / compliance, s.impulse + s.velocity / compliance);
  } else {
    raise(c.natural_map, u.tail<2>().lpNorm<Eigen::Infinity>(), s.velocity);
  }
}

// u in the dual cone { u_N >= μ support(-u_T) }, orthogonal to λ.
void check_dual_cone(const SectionShape& shape, double mu, const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  // As a distance, which a steep cone's normal counts: creep of 1e-12 m/s at μ = 1000 would be 1e-9 m/s else.
  raise(c.relaxation, std::max(0.0, mu * shape.slip(u.tail<2>()) - u[0]), std::max(1.0, mu) * s.velocity);
  raise(c.relaxation, std::abs(lambda.dot(u)) / s.impulse, s.velocity);  // the speed along λ, the impulse scale being its load
  measure_angle(u, lambda, s, c);
}

// |λ - P_K(λ - ρ ũ)| / ρ, ρ = impulse scale / velocity scale.
void check_natural_map(const SectionShape& shape, const ContactTerms& t, const Vector3d& u, const Vector3d& lambda, const Scales& s,
                       Certificate& c) {
  raise(c.natural_map, contact_natural_map(shape, !t.coulomb, t.mu, 0.0, s.impulse / s.velocity, lambda, u), s.velocity);
}

void check_constitutive(const CompliantContact& contact, const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  raise(c.tension, std::max(0.0, -lambda[0]), s.impulse);
  raise(c.constitutive, (lambda - compliant_impulse(contact, u)).lpNorm<Eigen::Infinity>(), s.impulse);
  if (std::isfinite(contact.mu))
    raise(c.cone, std::max(0.0, std::hypot(lambda[1], lambda[2]) - contact.mu * std::max(lambda[0], 0.0)), s.impulse);
}

}  // namespace

void raise(Residual& r, double raw, double scale) {
  r.raw = std::max(r.raw, raw);
  r.scaled = std::max(r.scaled, raw / scale);
}

double energy_scale(const Scales& s, double terms) { return terms * s.impulse * s.velocity; }

void take_scales(const Eigen::Ref<const Eigen::VectorXd>& lo, const Eigen::Ref<const Eigen::VectorXd>& hi,
                 const Eigen::Ref<const Eigen::VectorXd>& beta, double largest_impulse, Scales& s, Certificate& c) {
  constexpr double kReached = 1e-6;  // of the limit: solvers end a hair inside
  raise(c.rounding, std::numeric_limits<double>::epsilon() * largest_impulse, s.impulse);
  for (Eigen::Index j = 0; j < beta.size(); ++j) {
    for (const double limit : {lo[j], hi[j]}) {
      if (std::isfinite(limit) && std::abs(beta[j] - limit) <= kReached * std::abs(limit)) s.impulse = std::max(s.impulse, std::abs(limit));
    }
  }
  c.velocity_scale = s.velocity;
  c.impulse_scale = s.impulse;
}

double push_of(const LawTerms& law, int i, double offset) {
  const ContactTerms& t = law.contacts[i];
  const double push = -t.offset[0];
  return law.family != Family::constitutive && t.bears && push > std::max(0.0, -offset) ? push : 0.0;
}

void add_push(const ContactTerms& t, double push, double mobility, Scales& s) {
  s.velocity = std::max(s.velocity, push);
  const double resistance = t.normal_compliance + mobility;
  if (resistance > 0.0) s.impulse = std::max(s.impulse, push / resistance);
}

void add_rest_impulse(const LawTerms& law, int i, Scales& s) {
  if (law.family != Family::constitutive) return;
  s.impulse = std::max(s.impulse, largest_entry(compliant_impulse(law.contacts[i].constitutive, Vector3d::Zero())));
}

void check_contact(const LawTerms& law, const SectionShape& shape, int i, const Vector3d& u_contact, const Vector3d& impulse,
                   const Scales& s, Certificate& c) {
  const ContactTerms& t = law.contacts[i];
  if (law.family == Family::constitutive) return check_constitutive(t.constitutive, u_contact, impulse, s, c);
  if (!t.bears) return raise(c.cone, impulse.lpNorm<Eigen::Infinity>(), s.impulse);
  const Vector3d lambda = cone_impulse(t, impulse), u = law_velocity(t, u_contact, lambda);
  raise(c.tension, std::max(0.0, -lambda[0]), s.impulse);
  check_cone(shape, t.mu, lambda, s, c);
  if (law.family == Family::energy) return raise(c.penetration, std::max(0.0, -u[0]), s.velocity);
  const bool half_line = t.mu == 0.0, dual = !t.coulomb && !half_line && !std::isinf(t.mu);
  if (dual) {
    check_dual_cone(shape, t.mu, u, lambda, s, c);
    if (t.normal_compliance == 0.0) raise(c.penetration, std::max(0.0, -u[0]), s.velocity);
  } else {
    check_signorini(u, lambda, s, c);
  }
  if (t.is_half_space()) return check_half_space(t, u, lambda, s, c);
  if (t.coulomb && !half_line) check_dissipation(shape, t.mu, u, lambda, s, c);
  check_natural_map(shape, t, u, lambda, s, c);
}

void check_bounded_row(const LawTerms& law, double w, double beta, double lo, double hi, const Scales& s, Certificate& c) {
  const double rho = s.impulse / s.velocity;
  if (law.family == Family::energy) {
    const double demanded = hi == kInfinity ? -w : lo == -kInfinity ? w : 0.0;  // rows with two bounds may give way
    const double violation = std::max({0.0, demanded, (lo - beta) / rho, (beta - hi) / rho});
    return raise(c.bounds, violation, s.velocity);
  }
  const double map = row_natural_map(lo, hi, rho, beta, w);
  raise(c.bounds, map, s.velocity);
  raise(c.natural_map, map, s.velocity);
}

}  // namespace stiction
