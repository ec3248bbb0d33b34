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

// M_jj by coordinate.
void inertias(const ContactProblem& p, GrowVector& out) {
  out.resize(p.velocities());
  for (int k = 0; k < p.M.blocks(); ++k) out.segment(p.M.offset(k), p.M.block_size(k)) = p.M.block(k).diagonal();
}

// Velocity of one row per unit of its impulse, by the diagonal of M: Σ_j J_j² / M_jj.
double mobility(const BlockRows& rows, int group, int row, const GrowVector& inertia) {
  double sum = 0.0;
  for (int e = rows.entry_begin(group); e < rows.entry_end(group); ++e) {
    const auto entry = rows.entry(e);
    const Eigen::Index first = rows.col_offset(rows.entry_block(e));
    for (Eigen::Index j = 0; j < entry.cols(); ++j) sum += entry(row, j) * entry(row, j) / inertia[first + j];
  }
  return sum;
}

// Velocity: the largest of v, offsets, targets and what p adds (p_j / M_jj). Impulse: the largest of p, M_jj v_j and what targets take.
Scales measure_scales(const ContactProblem& p, const Ref& offset, const GrowVector& inertia) {
  Scales s{std::max(1e-300, largest_entry(p.impulse)),
           std::max({1e-300, largest_entry(p.v), largest_entry(offset), largest_entry(p.b), largest_entry(p.v_prescribed)})};
  for (int j = 0; j < p.velocities(); ++j) {
    s.velocity = std::max(s.velocity, std::abs(p.impulse[j]) / inertia[j]);
    s.impulse = std::max(s.impulse, inertia[j] * std::abs(p.v[j]));
  }
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) {
    s.impulse = std::max(s.impulse, inertia[p.prescribed[i]] * std::abs(p.v_prescribed[static_cast<Eigen::Index>(i)]));
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    const double moved = p.b[j] != 0.0 ? mobility(p.J_b, j, 0, inertia) : 0.0;
    if (moved > 0.0) s.impulse = std::max(s.impulse, std::abs(p.b[j]) / moved);
  }
  return s;
}

ContactSoftness softness_at(const ContactProblem& p, const LawConditions& law, int i, double offset, const CertificateWorkspace& w) {
  return contact_softness(softness_of(p.laws, law.softness, i), material_of(p.material, i), p.dt, p.gap[i], offset,
                          w.weights.size() > 0 ? w.weights[i] : 0.0);
}

// Contacts that give way push a penetration out: û, and the impulse of their spring at rest.
void add_springs(const ContactProblem& p, const LawConditions& law, const GrowVector& inertia, const CertificateWorkspace& w, Scales& s) {
  for (int i = 0; i < p.contacts(); ++i) {
    if (law.compliant) {
      s.impulse = std::max(s.impulse, largest_entry(compliant_impulse(compliant_contact(p, *law.compliant, i), Vector3d::Zero())));
    } else if (law.softness != Softness::none) {
      const ContactSoftness softness = softness_at(p, law, i, w.offset[i], w);
      const double push = std::max(softness.reference, 0.0), resistance = softness.normal + mobility(p.J, i, 0, inertia);
      s.velocity = std::max(s.velocity, push);
      if (push > 0.0 && resistance > 0.0) s.impulse = std::max(s.impulse, push / resistance);
    }
  }
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

double work(double impulse, double before, double after) { return 0.5 * impulse * (before + after); }

void check_rows(const ContactProblem& p, const LawConditions& law, const Ref& v_plus, const Ref& lambda_b, const Ref& lambda_p,
                const Scales& s, Certificate& c) {
  for (int j = 0; j < p.bounded_rows(); ++j) {
    Eigen::Matrix<double, 1, 1> after(0.0), before(0.0);
    p.J_b.add_group_product(j, v_plus, after);
    p.J_b.add_group_product(j, p.v, before);
    const bool bilateral = p.lo[j] == -kInfinity && p.hi[j] == kInfinity;
    (bilateral ? c.energy.bilateral : c.energy.bounded) += work(lambda_b[j], before[0], after[0]);
    if (bilateral) {
      raise(c.bilateral, std::abs(after[0] - p.b[j]), s.velocity);
    } else {
      check_bounded_row(law, after[0] - p.b[j], lambda_b[j], p.lo[j], p.hi[j], s, c);
    }
  }
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) {
    const int j = p.prescribed[i];
    c.energy.bilateral += work(lambda_p[static_cast<Eigen::Index>(i)], p.v[j], v_plus[j]);
    raise(c.bilateral, std::abs(v_plus[j] - p.v_prescribed[static_cast<Eigen::Index>(i)]), s.velocity);
  }
}

void check_contacts(const ContactProblem& p, const LawConditions& law, const Ref& lambda, const Scales& s, CertificateWorkspace& w,
                    Certificate& c) {
  const LawConditions open = open_contact(law);
  const bool soft = law.softness != Softness::none;
  w.shape.reset(law.edges);
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
    if (soft) softness = softness_at(p, law, i, offset, w);
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
                  const Scales& s, CertificateWorkspace& w, Certificate& c) {
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
  const EnergyBalance& e = c.energy;
  // A sum over the coordinates.
  raise(c.energy_balance, std::abs(e.kinetic - e.known - e.bilateral - e.bounded - e.contacts),
        std::max(1, p.velocities()) * s.impulse * s.velocity);
}

}  // namespace

double Certificate::worst() const {
  if (!finite) return kInfinity;
  return std::max({momentum.scaled, bilateral.scaled, bounds.scaled, penetration.scaled, tension.scaled, normal_complementarity.scaled,
                   cone.scaled, dissipation.scaled, relaxation.scaled, constitutive.scaled, natural_map.scaled, energy_balance.scaled,
                   rounding.scaled});
}

void certify(const ContactProblem& p, const LawConditions& law, const Ref& v_plus, const Ref& lambda, const Ref& lambda_b,
             const Ref& lambda_p, CertificateWorkspace& w, Certificate& c) {
  c = Certificate{};
  c.finite = v_plus.allFinite() && lambda.allFinite() && lambda_b.allFinite() && lambda_p.allFinite();
  if (!c.finite) return;
  normal_offset(p, w.offset);
  find_closed(p, w.closed);
  w.weights.resize(0);
  if (law.softness == Softness::compliant) contact_weights(p, w.factor, w.weights);
  inertias(p, w.difference);
  Scales s = measure_scales(p, w.offset, w.difference);
  add_springs(p, law, w.difference, w, s);
  add_reached_limits(p.lo, p.hi, lambda_b, s);
  take_scales(s, std::max({largest_entry(lambda), largest_entry(lambda_b), largest_entry(lambda_p)}), c);

  w.difference = v_plus - p.v;
  w.momentum.resize(p.velocities());
  p.M.multiply(w.difference, w.momentum);
  w.u.resize(p.J.rows());
  p.J.multiply(v_plus, w.u);
  check_contacts(p, law, lambda, s, w, c);
  check_rows(p, law, v_plus, lambda_b, lambda_p, s, c);

  w.difference.setZero();
  p.J.add_transposed(lambda, w.difference);
  check_energy(p, v_plus, lambda, w.difference, w.momentum, s, w, c);
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
