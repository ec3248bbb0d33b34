#include "stiction/problem/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction {

namespace {

using Eigen::Vector3d;
using Ref = Eigen::Ref<const Eigen::VectorXd>;

/// Sizes that raw residuals are divided by; the smallest normal scale keeps 0/0 at 0.
struct Scales {
  double impulse, velocity;
};

double largest(const Ref& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

// Velocity: the largest of v, v⁺, offsets and what p adds (p_j / M_jj). Impulse: the largest of M_jj v_j, p, λ.
Scales measure_scales(const ContactProblem& p, const Ref& offset, const Ref& v_plus, const Ref& lambda, const Ref& lambda_b,
                      const Ref& lambda_p) {
  constexpr double kTiny = 1e-300;
  Scales s{std::max({kTiny, largest(lambda), largest(lambda_b), largest(lambda_p), largest(p.impulse)}),
           std::max({kTiny, largest(p.v), largest(v_plus), largest(offset), largest(p.b)})};
  for (int k = 0; k < p.M.blocks(); ++k) {
    const auto M = p.M.block(k);
    for (int j = 0; j < p.M.block_size(k); ++j) {
      const int row = p.M.offset(k) + j;
      s.velocity = std::max(s.velocity, std::abs(p.impulse[row]) / M(j, j));
      s.impulse = std::max(s.impulse, M(j, j) * std::max(std::abs(p.v[row]), std::abs(v_plus[row])));
    }
  }
  return s;
}

void raise(Residual& r, double raw, double scale) {
  r.raw = std::max(r.raw, raw);
  r.scaled = std::max(r.scaled, raw / scale);
}

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
  if (t <= mu * x[0]) return x;
  if (mu * t <= -x[0]) return Vector3d::Zero();
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
  if (law.edges != 0 || law.no_slip || std::isinf(mu)) return;
  const double friction = law.frictionless ? 0.0 : mu, rho = s.impulse / s.velocity;
  Vector3d shifted = u;
  if (!law.relaxed) shifted[0] += friction * std::hypot(u[1], u[2]);
  raise(c.natural_map, (lambda - project_disc_cone(lambda - rho * shifted, friction)).cwiseAbs().maxCoeff() / rho, s.velocity);
}

void check_contact(const LawConditions& law, double mu, const Vector3d& u, const Vector3d& lambda, const Scales& s, Certificate& c) {
  raise(c.tension, std::max(0.0, -lambda[0]), s.impulse);
  if (law.non_penetration) raise(c.penetration, std::max(0.0, -u[0]), s.velocity);
  if (law.normal_complementarity) raise(c.normal_complementarity, std::abs(lambda[0] * u[0]), s.impulse * s.velocity);
  if (law.relaxed) {
    check_relaxed(law, mu, u, lambda, s, c);
  } else if (law.no_slip) {
    check_no_slip(u, s, c);
  } else {
    check_friction(law, mu, u, lambda, s, c);
  }
  check_natural_map(law, mu, u, lambda, s, c);
}

void check_rows(const ContactProblem& p, const Ref& v_plus, const Ref& lambda_b, const Scales& s, Certificate& c) {
  for (int j = 0; j < p.bounded_rows(); ++j) {
    Eigen::Matrix<double, 1, 1> w(-p.b[j]);
    p.J_b.add_group_product(j, v_plus, w);
    if (p.lo[j] == -kInfinity && p.hi[j] == kInfinity) {
      raise(c.bilateral, std::abs(w[0]), s.velocity);
      continue;
    }
    const double rho = s.impulse / s.velocity;
    raise(c.bounds, std::abs(lambda_b[j] - std::clamp(lambda_b[j] - rho * w[0], p.lo[j], p.hi[j])) / rho, s.velocity);
  }
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) {
    raise(c.bilateral, std::abs(v_plus[p.prescribed[i]] - p.v_prescribed[static_cast<Eigen::Index>(i)]), s.velocity);
  }
}

}  // namespace

double Certificate::worst() const {
  if (!finite) return kInfinity;
  return std::max({momentum.scaled, bilateral.scaled, bounds.scaled, penetration.scaled, tension.scaled, normal_complementarity.scaled,
                   cone.scaled, dissipation.scaled, relaxation.scaled, natural_map.scaled});
}

void certify(const ContactProblem& p, const LawConditions& law, const Ref& v_plus, const Ref& lambda, const Ref& lambda_b,
             const Ref& lambda_p, CertificateWorkspace& w, Certificate& c) {
  c = Certificate{};
  c.finite = v_plus.allFinite() && lambda.allFinite() && lambda_b.allFinite() && lambda_p.allFinite();
  if (!c.finite) return;
  normal_offset(p, w.offset);
  find_closed(p, w.closed);
  LawConditions open_contact = law;
  open_contact.no_slip = open_contact.relaxed = false;
  open_contact.frictionless = open_contact.friction_cone = true;
  open_contact.normal_complementarity = open_contact.non_penetration = law.relaxed || law.normal_complementarity;
  const Scales s = measure_scales(p, w.offset, v_plus, lambda, lambda_b, lambda_p);

  w.difference = v_plus - p.v;
  w.momentum.resize(p.velocities());
  p.M.multiply(w.difference, w.momentum);
  w.momentum -= p.impulse;
  w.difference.setZero();
  p.J.add_transposed(lambda, w.difference);
  p.J_b.add_transposed(lambda_b, w.difference);
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) w.difference[p.prescribed[i]] += lambda_p[static_cast<Eigen::Index>(i)];
  w.momentum -= w.difference;
  raise(c.momentum, largest(w.momentum), s.impulse);

  w.u.resize(p.J.rows());
  p.J.multiply(v_plus, w.u);
  for (int i = 0; i < p.contacts(); ++i) {
    Vector3d u = w.u.segment<3>(3 * i);
    c.energy_change += 0.5 * lambda.segment<3>(3 * i).dot(u);
    u[0] += w.offset[i];
    const bool touches = w.closed[static_cast<std::size_t>(i)] != 0 || !law.friction_needs_contact;
    check_contact(touches ? law : open_contact, p.mu[i], u, lambda.segment<3>(3 * i), s, c);
  }
  p.J.multiply(p.v, w.u);
  c.energy_change += 0.5 * lambda.dot(w.u);
  check_rows(p, v_plus, lambda_b, s, c);
}

Certificate certify(const ContactProblem& p, const LawConditions& law, const Ref& v_plus, const Ref& lambda, const Ref& lambda_b,
                    const Ref& lambda_p) {
  CertificateWorkspace workspace;
  Certificate certificate;
  certify(p, law, v_plus, lambda, lambda_b, lambda_p, workspace, certificate);
  return certificate;
}

}  // namespace stiction
