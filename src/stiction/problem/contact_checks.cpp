#include "stiction/problem/contact_checks.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction {

namespace {

using Eigen::Vector3d;
using Scales = CertificateScales;

// Support function of the friction section of unit radius: max d·t over the section's vertices (polygon) or the disc.
double support(const LawConditions& law, double s, double t) {
  if (law.edges == 0) return std::hypot(s, t);
  double best = -kInfinity;
  for (int j = 0; j < law.edges; ++j) {
    const double angle = 2.0 * std::numbers::pi * j / law.edges;
    best = std::max(best, std::cos(angle) * s + std::sin(angle) * t);
  }
  return best;
}

// Gauge of the section: the smallest radius that contains (s, t). Polygon: largest over its edges' normals.
double gauge(const LawConditions& law, double s, double t) {
  if (law.edges == 0) return std::hypot(s, t);
  const double half = std::numbers::pi / law.edges;
  double best = 0.0;
  for (int j = 0; j < law.edges; ++j) {
    const double angle = 2.0 * std::numbers::pi * j / law.edges + half;
    best = std::max(best, (std::cos(angle) * s + std::sin(angle) * t) / std::cos(half));
  }
  return best;
}

Vector3d project_disc_cone(const Vector3d& x, double mu) {
  const double t = std::hypot(x[1], x[2]);
  if (mu * t <= -x[0]) return Vector3d::Zero();  // first: with mu = 0 the next test is true of (-1, 0, 0) too
  if (t <= mu * x[0]) return x;
  const double normal = (x[0] + mu * t) / (1.0 + mu * mu);
  return {normal, mu * normal * x[1] / t, mu * normal * x[2] / t};
}

void check_no_slip(const Vector3d& u, const Scales& s, Certificate& c) { raise(c.dissipation, std::hypot(u[1], u[2]), s.velocity); }

void check_friction(const LawConditions& law, double mu, const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  if (law.frictionless || mu == 0.0) {
    raise(c.cone, std::hypot(lambda[1], lambda[2]), s.impulse);
    return;
  }
  if (std::isinf(mu)) {
    if (law.dissipation && lambda[0] > 0.0) check_no_slip(u, s, c);
    return;
  }
  const double radius = mu * std::max(lambda[0], 0.0);
  if (law.friction_cone) raise(c.cone, std::max(0.0, gauge(law, lambda[1], lambda[2]) - radius), s.impulse);
  if (!law.dissipation) return;
  const double gap = radius * support(law, -u[1], -u[2]) + lambda[1] * u[1] + lambda[2] * u[2];
  raise(c.dissipation, std::abs(gap), s.impulse * s.velocity);
  const double slip = std::hypot(u[1], u[2]), friction = std::hypot(lambda[1], lambda[2]);
  if (law.edges == 0 && slip > 1e-6 * s.velocity && friction > 1e-6 * s.impulse) {
    const double cross = std::abs(lambda[1] * u[2] - lambda[2] * u[1]), dot = -(lambda[1] * u[1] + lambda[2] * u[2]);
    c.dissipation_angle = std::max(c.dissipation_angle, std::atan2(cross, dot));
  }
}

// u + c e_N in the dual cone { u_N >= μ support(-u_T) }, orthogonal to λ.
void check_relaxed(const LawConditions& law, double mu, const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  if (std::isinf(mu)) {
    check_no_slip(u, s, c);
    raise(c.relaxation, std::max(0.0, -u[0]), s.velocity);
  } else {
    raise(c.cone, std::max(0.0, gauge(law, lambda[1], lambda[2]) - mu * std::max(lambda[0], 0.0)), s.impulse);
    raise(c.relaxation, std::max(0.0, mu * support(law, -u[1], -u[2]) - u[0]), s.velocity);
  }
  c.relaxation.scaled = std::max(c.relaxation.scaled, std::abs(lambda.dot(u)) / (s.impulse * s.velocity));
}

// |λ - P_K(λ - ρ ũ)| / ρ with the disc cone, ρ = impulse scale / velocity scale.
void check_natural_map(const LawConditions& law, double mu, const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  if (law.edges != 0 || law.no_slip || law.viscous || std::isinf(mu)) return;
  const double friction = law.frictionless ? 0.0 : mu, rho = s.impulse / s.velocity;
  Vector3d shifted = u;
  if (!law.relaxed) shifted[0] += friction * std::hypot(u[1], u[2]);
  raise(c.natural_map, (lambda - project_disc_cone(lambda - rho * shifted, friction)).cwiseAbs().maxCoeff() / rho, s.velocity);
}

}  // namespace

double largest_entry(const Eigen::Ref<const Eigen::VectorXd>& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

void raise(Residual& r, double raw, double scale) {
  r.raw = std::max(r.raw, raw);
  r.scaled = std::max(r.scaled, raw / scale);
}

LawConditions open_contact(const LawConditions& law) {
  LawConditions open = law;
  open.no_slip = open.relaxed = open.viscous = false;
  open.frictionless = open.friction_cone = true;
  open.normal_complementarity = open.non_penetration = law.relaxed || law.normal_complementarity;
  return open;
}

void check_contact(const LawConditions& law, double mu, const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  raise(c.tension, std::max(0.0, -lambda[0]), s.impulse);
  if (law.non_penetration) raise(c.penetration, std::max(0.0, -u[0]), s.velocity);
  if (law.normal_complementarity) raise(c.normal_complementarity, std::abs(lambda[0] * u[0]), s.impulse * s.velocity);
  if (law.relaxed) {
    check_relaxed(law, mu, u, lambda, s, c);
  } else if (law.no_slip) {
    check_no_slip(u, s, c);
  } else if (!law.viscous) {
    check_friction(law, mu, u, lambda, s, c);
  }
  check_natural_map(law, mu, u, lambda, s, c);
}

void check_viscous(double damping, const Eigen::Vector2d& slip, const Vector3d& lambda, const Scales& s, Certificate& c) {
  raise(c.constitutive, std::hypot(lambda[1] + damping * slip[0], lambda[2] + damping * slip[1]), s.impulse + damping * s.velocity);
}

void check_absent(const Vector3d& lambda, const Scales& s, Certificate& c) { raise(c.cone, lambda.lpNorm<Eigen::Infinity>(), s.impulse); }

Vector3d turned_back(const Vector3d& x, double angle) {
  const double cosine = std::cos(angle), sine = std::sin(angle);
  return {x[0], cosine * x[1] + sine * x[2], cosine * x[2] - sine * x[1]};
}

void check_impact(const LawConditions& law, bool closed, double mu, const Vector3d& xi, const Vector3d& lambda, const Scales& s,
                  Certificate& c) {
  if (closed) return check_contact(law, mu, xi, lambda, s, c);
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
  raise(c.bounds, std::abs(beta - std::clamp(beta - rho * w, lo, hi)) / rho, s.velocity);
}

}  // namespace stiction
