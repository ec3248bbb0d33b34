#include "stiction/problem/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/problem/contact_checks.hpp"
#include "stiction/problem/newton_impact.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;
using Scales = CertificateScales;
using Ref = Eigen::Ref<const Eigen::VectorXd>;

// Velocity: the largest of v, v⁺, offsets and what p adds (p_j / M_jj). Impulse: the largest of M_jj v_j, p, λ.
Scales measure_scales(const ContactProblem& p, const Ref& offset, const Ref& v_plus, const Ref& lambda, const Ref& lambda_b,
                      const Ref& lambda_p) {
  Scales s{std::max({1e-300, largest_entry(lambda), largest_entry(lambda_b), largest_entry(lambda_p), largest_entry(p.impulse)}),
           std::max({1e-300, largest_entry(p.v), largest_entry(v_plus), largest_entry(offset), largest_entry(p.b)})};
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

void check_friction_law(const ContactProblem& p, const LawConditions& law, int i, const Vector3d& u, const Vector3d& lambda,
                        const Scales& s, Certificate& c) {
  Vector3d slip = u;
  if (law.slip_before) {
    slip.setZero();
    p.J.add_group_product(i, p.v, slip);
  }
  const double viscosity = p.material.empty() ? 0.0 : p.material[static_cast<std::size_t>(i)].viscosity;
  check_viscous(p.dt * viscosity, slip.tail<2>(), lambda, s, c);
}

void check_newton_impact(const ContactProblem& p, const LawConditions& law, int i, const Vector3d& u, const Vector3d& lambda,
                         const Scales& s, Certificate& c) {
  Vector3d before = Vector3d::Zero();
  p.J.add_group_product(i, p.v, before);
  const ContactMaterial* material = p.material.empty() ? nullptr : &p.material[static_cast<std::size_t>(i)];
  const Vector3d xi = u + impact_shift(p.restitution[i], material, before);
  check_impact(law, closed_at_midpoint(p.gap[i], p.dt, before[0]), p.mu[i], xi, lambda, s, c);
}

void check_rows(const ContactProblem& p, const LawConditions& law, const Ref& v_plus, const Ref& lambda_b, const Scales& s,
                Certificate& c) {
  for (int j = 0; j < p.bounded_rows(); ++j) {
    Eigen::Matrix<double, 1, 1> w(-p.b[j]);
    p.J_b.add_group_product(j, v_plus, w);
    if (p.lo[j] == -kInfinity && p.hi[j] == kInfinity) {
      raise(c.bilateral, std::abs(w[0]), s.velocity);
      continue;
    }
    check_bounded_row(law, w[0], lambda_b[j], p.lo[j], p.hi[j], s, c);
  }
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) {
    raise(c.bilateral, std::abs(v_plus[p.prescribed[i]] - p.v_prescribed[static_cast<Eigen::Index>(i)]), s.velocity);
  }
}

}  // namespace

double Certificate::worst() const {
  if (!finite) return kInfinity;
  return std::max({momentum.scaled, bilateral.scaled, bounds.scaled, penetration.scaled, tension.scaled, normal_complementarity.scaled,
                   cone.scaled, dissipation.scaled, relaxation.scaled, constitutive.scaled, natural_map.scaled});
}

void certify(const ContactProblem& p, const LawConditions& law, const Ref& v_plus, const Ref& lambda, const Ref& lambda_b,
             const Ref& lambda_p, CertificateWorkspace& w, Certificate& c) {
  c = Certificate{};
  c.finite = v_plus.allFinite() && lambda.allFinite() && lambda_b.allFinite() && lambda_p.allFinite();
  if (!c.finite) return;
  normal_offset(p, w.offset);
  find_closed(p, w.closed);
  const LawConditions open = open_contact(law);
  const Scales s = measure_scales(p, w.offset, v_plus, lambda, lambda_b, lambda_p);

  w.difference = v_plus - p.v;
  w.momentum.resize(p.velocities());
  p.M.multiply(w.difference, w.momentum);
  w.momentum -= p.impulse;
  w.difference.setZero();
  p.J.add_transposed(lambda, w.difference);
  c.energy_change = 0.5 * (w.difference.dot(p.v) + w.difference.dot(v_plus));
  p.J_b.add_transposed(lambda_b, w.difference);
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) w.difference[p.prescribed[i]] += lambda_p[static_cast<Eigen::Index>(i)];
  w.momentum -= w.difference;
  raise(c.momentum, largest_entry(w.momentum), s.impulse);

  w.u.resize(p.J.rows());
  p.J.multiply(v_plus, w.u);
  if (law.aligned) edge_angles(p, w.angle);
  for (int i = 0; i < p.contacts(); ++i) {
    Vector3d u = w.u.segment<3>(3 * i), push = lambda.segment<3>(3 * i);
    if (law.compliant) {
      check_compliant(compliant_contact(p, *law.compliant, i), u, push, s, c);
      continue;
    }
    if (law.newton_impact) {
      check_newton_impact(p, law, i, u, push, s, c);
      continue;
    }
    if (law.touching_only && p.gap[i] > kTouchGap) {
      check_absent(push, s, c);
      continue;
    }
    u[0] += law.touching_only ? std::min(w.offset[i], 0.0) : w.offset[i];
    if (law.aligned) {
      u = turned_back(u, w.angle[i]);
      push = turned_back(push, w.angle[i]);
    }
    const bool touches = w.closed[static_cast<std::size_t>(i)] != 0 || !law.friction_needs_contact;
    check_contact(touches ? law : open, p.mu[i], u, push, s, c);
    if (law.viscous && touches) check_friction_law(p, law, i, u, push, s, c);
  }
  check_rows(p, law, v_plus, lambda_b, s, c);
}

Certificate certify(const ContactProblem& p, const LawConditions& law, const Ref& v_plus, const Ref& lambda, const Ref& lambda_b,
                    const Ref& lambda_p) {
  CertificateWorkspace workspace;
  Certificate certificate;
  certify(p, law, v_plus, lambda, lambda_b, lambda_p, workspace, certificate);
  return certificate;
}

}  // namespace stiction
