#include "stiction/problem/contact_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {

namespace {

using Eigen::Vector3d;
using Scales = CertificateScales;

double norm_of_tangent(const Vector3d& x) { return std::sqrt(x[1] * x[1] + x[2] * x[2]); }

// Gauge of the unit section at λ_T: the smallest radius that contains it.
double gauge(const SectionShape& shape, const Vector3d& lambda) {
  if (shape.disc()) return norm_of_tangent(lambda);
  return shape.sector(lambda.tail<2>()).normal.dot(lambda.tail<2>()) / shape.cos_half();
}

void check_no_slip(const Vector3d& u, const Scales& s, Certificate& c) { raise(c.dissipation, norm_of_tangent(u), s.velocity); }

// Angle between friction and -slip where both are above noise. A polygon turns friction to a vertex: up to π/k is its own doing.
void measure_angle(const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  const double slip = norm_of_tangent(u), friction = norm_of_tangent(lambda);
  if (slip <= 1e-6 * s.velocity || friction <= 1e-6 * s.impulse) return;
  const double cross = std::abs(lambda[1] * u[2] - lambda[2] * u[1]), dot = -(lambda[1] * u[1] + lambda[2] * u[2]);
  c.dissipation_angle = std::max(c.dissipation_angle, std::atan2(cross, dot));
}

void check_friction(const LawConditions& law, const SectionShape& shape, double mu, const Vector3d& u, const Vector3d& lambda,
                    const Scales& s, Certificate& c) {
  if (law.frictionless || mu == 0.0) {
    raise(c.cone, norm_of_tangent(lambda), s.impulse);
    return;
  }
  if (std::isinf(mu)) {
    if (law.dissipation && lambda[0] > 0.0) check_no_slip(u, s, c);
    return;
  }
  const double radius = mu * std::max(lambda[0], 0.0);
  if (law.friction_cone) raise(c.cone, std::max(0.0, gauge(shape, lambda) - radius), s.impulse);
  if (!law.dissipation) return;
  const double gap = radius * shape.slip(u.tail<2>()) + lambda[1] * u[1] + lambda[2] * u[2];
  raise(c.dissipation, std::abs(gap), std::max(1.0, mu) * s.impulse * s.velocity);  // friction may be μ times the load
  measure_angle(u, lambda, s, c);
}

// u in the dual cone { u_N >= μ support(-u_T) }, orthogonal to λ.
void check_relaxed(const SectionShape& shape, double mu, const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  if (std::isinf(mu)) {
    check_no_slip(u, s, c);
    raise(c.relaxation, std::max(0.0, -u[0]), s.velocity);
  } else {
    raise(c.cone, std::max(0.0, gauge(shape, lambda) - mu * std::max(lambda[0], 0.0)), s.impulse);
    raise(c.relaxation, std::max(0.0, mu * shape.slip(u.tail<2>()) - u[0]), s.velocity);
    measure_angle(u, lambda, s, c);
  }
  c.relaxation.scaled = std::max(c.relaxation.scaled, std::abs(lambda.dot(u)) / (s.impulse * s.velocity));
}

// |λ - P_K(λ - ρ ũ)| / ρ, ρ = impulse scale / velocity scale. K: the cone, a half line without friction, a half space without slip.
// ũ: u for relaxed laws and no slip, De Saxcé's u + μ s(u_T) e_N otherwise. Laws without complementarity have no such inclusion in u.
void check_natural_map(const LawConditions& law, const SectionShape& shape, double mu, const Vector3d& u, const Vector3d& lambda,
                       const Scales& s, Certificate& c) {
  if (!law.normal_complementarity && !law.relaxed) return;
  if (law.viscous) {  // friction has its own equation; the inclusion is that of the normals
    raise(c.natural_map, row_natural_map(0.0, kInfinity, s.impulse / s.velocity, lambda[0], u[0]), s.velocity);
    return;
  }
  const double friction = law.frictionless ? 0.0 : (law.no_slip ? kInfinity : mu);
  raise(c.natural_map, contact_natural_map(shape, law.relaxed || law.no_slip, friction, 0.0, s.impulse / s.velocity, lambda, u),
        s.velocity);
}

}  // namespace

double largest_entry(const Eigen::Ref<const Eigen::VectorXd>& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

void raise(Residual& r, double raw, double scale) {
  r.raw = std::max(r.raw, raw);
  r.scaled = std::max(r.scaled, raw / scale);
}

void add_reached_limits(const Eigen::Ref<const Eigen::VectorXd>& lo, const Eigen::Ref<const Eigen::VectorXd>& hi,
                        const Eigen::Ref<const Eigen::VectorXd>& beta, Scales& s) {
  constexpr double kReached = 1e-6;  // of the limit: solvers end a hair inside
  for (Eigen::Index j = 0; j < beta.size(); ++j) {
    for (const double limit : {lo[j], hi[j]}) {
      if (std::isfinite(limit) && std::abs(beta[j] - limit) <= kReached * std::abs(limit)) s.impulse = std::max(s.impulse, std::abs(limit));
    }
  }
}

void take_scales(const Scales& s, double largest_impulse, Certificate& c) {
  c.velocity_scale = s.velocity;
  c.impulse_scale = s.impulse;
  raise(c.rounding, std::numeric_limits<double>::epsilon() * largest_impulse, s.impulse);
}

LawConditions open_contact(const LawConditions& law) {
  LawConditions open = law;
  open.no_slip = open.relaxed = open.viscous = false;
  open.frictionless = open.friction_cone = true;
  open.normal_complementarity = open.non_penetration = law.relaxed || law.normal_complementarity;
  return open;
}

Vector3d law_velocity(const ContactSoftness* softness, double offset, const Vector3d& u, const Vector3d& lambda) {
  if (softness == nullptr) return {u[0] + offset, u[1], u[2]};
  return {u[0] + softness->normal * lambda[0] - softness->reference, u[1] + softness->tangential * lambda[1],
          u[2] + softness->tangential * lambda[2]};
}

void check_contact(const LawConditions& law, const SectionShape& shape, double mu, const Vector3d& u, const Vector3d& lambda,
                   const Scales& s, Certificate& c) {
  raise(c.tension, std::max(0.0, -lambda[0]), s.impulse);
  if (law.non_penetration) raise(c.penetration, std::max(0.0, -u[0]), s.velocity);
  if (law.normal_complementarity) raise(c.normal_complementarity, std::abs(lambda[0] * u[0]), s.impulse * s.velocity);
  if (law.relaxed) {
    check_relaxed(shape, mu, u, lambda, s, c);
  } else if (law.no_slip) {
    check_no_slip(u, s, c);
  } else if (!law.viscous) {
    check_friction(law, shape, mu, u, lambda, s, c);
  }
  check_natural_map(law, shape, mu, u, lambda, s, c);
}

void check_viscous(double damping, const Eigen::Vector2d& slip, const Vector3d& lambda, const Scales& s, Certificate& c) {
  raise(c.constitutive, std::hypot(lambda[1] + damping * slip[0], lambda[2] + damping * slip[1]), s.impulse + damping * s.velocity);
}

void check_absent(const Vector3d& lambda, const Scales& s, Certificate& c) { raise(c.cone, lambda.lpNorm<Eigen::Infinity>(), s.impulse); }

Vector3d turned_back(const Vector3d& x, double angle) {
  const double cosine = std::cos(angle), sine = std::sin(angle);
  return {x[0], cosine * x[1] + sine * x[2], cosine * x[2] - sine * x[1]};
}

void check_impact(const LawConditions& law, const SectionShape& shape, bool closed, double mu, const Vector3d& xi, const Vector3d& lambda,
                  const Scales& s, Certificate& c) {
  if (closed) return check_contact(law, shape, mu, xi, lambda, s, c);
  raise(c.tension, lambda.lpNorm<Eigen::Infinity>(), s.impulse);
}

void check_compliant(const CompliantContact& contact, const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  raise(c.tension, std::max(0.0, -lambda[0]), s.impulse);
  raise(c.constitutive, (lambda - compliant_impulse(contact, u)).lpNorm<Eigen::Infinity>(), s.impulse);
  if (std::isfinite(contact.mu))
    raise(c.cone, std::max(0.0, std::hypot(lambda[1], lambda[2]) - contact.mu * std::max(lambda[0], 0.0)), s.impulse);
}

void check_bounded_row(const LawConditions& law, double w, double beta, double lo, double hi, const Scales& s, Certificate& c) {
  const double rho = s.impulse / s.velocity;
  if (!law.bound_complementarity) {
    const double demanded = hi == kInfinity ? -w : lo == -kInfinity ? w : 0.0;  // rows with two bounds may give way
    const double violation = std::max({0.0, demanded, (lo - beta) / rho, (beta - hi) / rho});
    return raise(c.bounds, violation, s.velocity);
  }
  const double map = row_natural_map(lo, hi, rho, beta, w);
  raise(c.bounds, map, s.velocity);
  raise(c.natural_map, map, s.velocity);
}

}  // namespace stiction
