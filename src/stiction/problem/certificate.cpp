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
  check_viscous(p.dt * material_of(p.material, i).viscosity, slip.tail<2>(), lambda, s, c);
}

void check_newton_impact(const ContactProblem& p, const LawConditions& law, const SectionShape& shape, int i, const Vector3d& u,
                         const Vector3d& lambda, const Scales& s, Certificate& c) {
  Vector3d before = Vector3d::Zero();
  p.J.add_group_product(i, p.v, before);
  const Vector3d xi = u + impact_shift(p.restitution[i], material_of(p.material, i), before);
  check_impact(law, shape, closed_at_midpoint(p.gap[i], p.dt, before[0]), p.mu[i], xi, lambda, s, c);
}

// Half of impulse times the sum of velocities; `size` gathers the magnitudes that rounding is measured by.
double work(double impulse, double before, double after, double& size) {
  size += 0.5 * std::abs(impulse) * (std::abs(before) + std::abs(after));
  return 0.5 * impulse * (before + after);
}

void check_rows(const ContactProblem& p, const LawConditions& law, const Ref& v_plus, const Ref& lambda_b, const Ref& lambda_p,
                const Scales& s, double& size, Certificate& c) {
  for (int j = 0; j < p.bounded_rows(); ++j) {
    Eigen::Matrix<double, 1, 1> after(0.0), before(0.0);
    p.J_b.add_group_product(j, v_plus, after);
    p.J_b.add_group_product(j, p.v, before);
    const bool bilateral = p.lo[j] == -kInfinity && p.hi[j] == kInfinity;
    (bilateral ? c.energy.bilateral : c.energy.bounded) += work(lambda_b[j], before[0], after[0], size);
    if (bilateral) {
      raise(c.bilateral, std::abs(after[0] - p.b[j]), s.velocity);
    } else {
      check_bounded_row(law, after[0] - p.b[j], lambda_b[j], p.lo[j], p.hi[j], s, c);
    }
  }
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) {
    const int j = p.prescribed[i];
    c.energy.bilateral += work(lambda_p[static_cast<Eigen::Index>(i)], p.v[j], v_plus[j], size);
    raise(c.bilateral, std::abs(v_plus[j] - p.v_prescribed[static_cast<Eigen::Index>(i)]), s.velocity);
  }
}

void check_contacts(const ContactProblem& p, const LawConditions& law, const Ref& lambda, const Scales& s, CertificateWorkspace& w,
                    Certificate& c) {
  const LawConditions open = open_contact(law);
  const bool soft = law.softness != Softness::none;
  w.shape.reset(law.edges);
  if (law.softness == Softness::compliant) contact_weights(p, w.factor, w.weights);
  if (law.aligned) edge_angles(p, w.angle);
  for (int i = 0; i < p.contacts(); ++i) {
    Vector3d l = lambda.segment<3>(3 * i);
    if (law.compliant) {
      check_compliant(compliant_contact(p, *law.compliant, i), w.u.segment<3>(3 * i), l, s, c);
      continue;
    }
    if (law.newton_impact) {
      check_newton_impact(p, law, w.shape, i, w.u.segment<3>(3 * i), l, s, c);
      continue;
    }
    if (law.touching_only && p.gap[i] > kTouchGap) {
      check_absent(l, s, c);
      continue;
    }
    const double offset = law.touching_only ? std::min(w.offset[i], 0.0) : w.offset[i];
    ContactSoftness softness;
    if (soft) {
      const ContactMaterial& material = material_of(p.material, i);
      softness = contact_softness(softness_of(p.laws, law.softness, i), material, p.dt, p.gap[i], offset,
                                  w.weights.size() > 0 ? w.weights[i] : 0.0);
    }
    Vector3d u = law_velocity(soft ? &softness : nullptr, offset, w.u.segment<3>(3 * i), l);
    if (law.aligned) {
      u = turned_back(u, w.angle[i]);
      l = turned_back(l, w.angle[i]);
    }
    const bool touches = w.closed[static_cast<std::size_t>(i)] != 0 || !law.friction_needs_contact;
    check_contact(touches ? law : open, w.shape, p.mu[i], u, l, s, c);
    if (law.viscous && touches) check_friction_law(p, law, i, u, l, s, c);
  }
}

// Kinetic energies through M v⁺, contacts through J v⁺ and Jᵀ λ: nothing here is the momentum residual again.
void check_energy(const ContactProblem& p, const Ref& v_plus, const Ref& lambda, const Ref& from_contacts, const Ref& momentum_change,
                  const Scales& s, double size, CertificateWorkspace& w, Certificate& c) {
  GrowVector& after = w.offset;  // no longer needed
  after.resize(p.velocities());
  p.M.multiply(v_plus, after);
  const double energy_after = 0.5 * v_plus.dot(after);
  after -= momentum_change;
  const double energy_before = 0.5 * p.v.dot(after);
  c.energy.kinetic = energy_after - energy_before;
  c.energy.known = 0.5 * (p.impulse.dot(p.v) + p.impulse.dot(v_plus));
  c.energy.contacts = 0.5 * (lambda.dot(w.u) + from_contacts.dot(p.v));
  c.energy_change = c.energy.contacts;
  size += std::max(energy_after, energy_before) +
          0.5 * (lambda.cwiseAbs().dot(w.u.cwiseAbs()) + from_contacts.cwiseAbs().dot(p.v.cwiseAbs())) +
          0.5 * p.impulse.cwiseAbs().dot(p.v.cwiseAbs() + v_plus.cwiseAbs());
  const EnergyBalance& e = c.energy;
  raise(c.energy_balance, std::abs(e.kinetic - e.known - e.bilateral - e.bounded - e.contacts),
        std::max(size, s.impulse * s.velocity));  // large impulses may cancel
}

}  // namespace

double Certificate::worst() const {
  if (!finite) return kInfinity;
  return std::max({momentum.scaled, bilateral.scaled, bounds.scaled, penetration.scaled, tension.scaled, normal_complementarity.scaled,
                   cone.scaled, dissipation.scaled, relaxation.scaled, constitutive.scaled, natural_map.scaled, energy_balance.scaled});
}

void certify(const ContactProblem& p, const LawConditions& law, const Ref& v_plus, const Ref& lambda, const Ref& lambda_b,
             const Ref& lambda_p, CertificateWorkspace& w, Certificate& c) {
  c = Certificate{};
  c.finite = v_plus.allFinite() && lambda.allFinite() && lambda_b.allFinite() && lambda_p.allFinite();
  if (!c.finite) return;
  normal_offset(p, w.offset);
  find_closed(p, w.closed);
  const Scales s = measure_scales(p, w.offset, v_plus, lambda, lambda_b, lambda_p);

  w.difference = v_plus - p.v;
  w.momentum.resize(p.velocities());
  p.M.multiply(w.difference, w.momentum);
  w.u.resize(p.J.rows());
  p.J.multiply(v_plus, w.u);
  check_contacts(p, law, lambda, s, w, c);
  double size = 0.0;
  check_rows(p, law, v_plus, lambda_b, lambda_p, s, size, c);

  w.difference.setZero();
  p.J.add_transposed(lambda, w.difference);
  check_energy(p, v_plus, lambda, w.difference, w.momentum, s, size, w, c);
  w.momentum -= p.impulse + w.difference;
  w.difference.setZero();
  p.J_b.add_transposed(lambda_b, w.difference);
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) w.difference[p.prescribed[i]] += lambda_p[static_cast<Eigen::Index>(i)];
  w.momentum -= w.difference;
  raise(c.momentum, largest_entry(w.momentum), s.impulse);
}

Certificate certify(const ContactProblem& p, const LawConditions& law, const Ref& v_plus, const Ref& lambda, const Ref& lambda_b,
                    const Ref& lambda_p) {
  CertificateWorkspace workspace;
  Certificate certificate;
  certify(p, law, v_plus, lambda, lambda_b, lambda_p, workspace, certificate);
  return certificate;
}

}  // namespace stiction
