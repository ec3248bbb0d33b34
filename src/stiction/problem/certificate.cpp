#include "stiction/problem/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/errors.hpp"
#include "stiction/problem/contact_checks.hpp"

namespace stiction {

namespace {

using Scales = CertificateScales;
using Ref = Eigen::Ref<const Eigen::VectorXd>;

// M_jj by coordinate.
void inertias(const ProblemView& p, GrowVector& out) {
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

// Velocity: the largest of v, offsets that push, targets and what p and rows that always pull add (p_j / M_jj). Impulse: the largest of p,
// M_jj v_j, that pull, and what targets take.
Scales measure_scales(const ProblemView& p, const Ref& offset, const GrowVector& inertia) {
  Scales s;
  s.impulse = std::max(s.impulse, largest_entry(p.impulse));
  s.velocity = std::max({s.velocity, largest_entry(p.v), largest_push(offset), largest_entry(p.b), largest_entry(p.v_prescribed)});
  for (int j = 0; j < p.velocities(); ++j) {
    s.velocity = std::max(s.velocity, std::abs(p.impulse[j]) / inertia[j]);
    s.impulse = std::max(s.impulse, inertia[j] * std::abs(p.v[j]));
  }
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) {
    s.impulse = std::max(s.impulse, inertia[p.prescribed[i]] * std::abs(p.v_prescribed[static_cast<Eigen::Index>(i)]));
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    const double pull = std::clamp(0.0, p.lo[j], p.hi[j]);
    const double moved = p.b[j] != 0.0 || pull != 0.0 ? mobility(p.J_b, j, 0, inertia) + compliance(p, j) : 0.0;
    s.velocity = std::max(s.velocity, std::abs(pull) * moved);
    s.impulse = std::max({s.impulse, std::abs(pull), moved > 0.0 ? std::abs(p.b[j]) / moved : 0.0});
  }
  return s;
}

double work(double impulse, double before, double after) { return 0.5 * impulse * (before + after); }

void check_rows(const ProblemView& p, const LawTerms& law, const Ref& v_plus, const Ref& lambda_b, const Ref& lambda_p, const Scales& s,
                Certificate& c) {
  for (int j = 0; j < p.bounded_rows(); ++j) {
    Eigen::Matrix<double, 1, 1> after(0.0), before(0.0);
    p.J_b.add_group_product(j, v_plus, after);
    p.J_b.add_group_product(j, p.v, before);
    const bool bilateral = is_bilateral(p, j);
    (bilateral ? c.energy.bilateral : c.energy.bounded) += work(lambda_b[j], before[0], after[0]);
    if (bilateral) {
      raise(c.bilateral, std::abs(after[0] - p.b[j]), s.velocity);
    } else {
      check_bounded_row(law, after[0] + compliance(p, j) * lambda_b[j] - p.b[j], lambda_b[j], p.lo[j], p.hi[j], s, c);
    }
  }
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) {
    const int j = p.prescribed[i];
    c.energy.bilateral += work(lambda_p[static_cast<Eigen::Index>(i)], p.v[j], v_plus[j]);
    raise(c.bilateral, std::abs(v_plus[j] - p.v_prescribed[static_cast<Eigen::Index>(i)]), s.velocity);
  }
}

void check_contacts(const LawTerms& law, const Ref& lambda, const Scales& s, CertificateWorkspace& w, Certificate& c) {
  w.shape.reset(law.edges);
  for (int i = 0; i < static_cast<int>(law.contacts.size()); ++i)
    check_contact(law, w.shape, i, w.u.segment<3>(3 * i), lambda.segment<3>(3 * i), s, c);
}

// Kinetic energies through M v⁺, contacts through J v⁺ and Jᵀ λ: nothing here is the momentum residual again.
void check_energy(const ProblemView& p, const Ref& v_plus, const Ref& lambda, const Ref& from_contacts, const Ref& momentum_change,
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
        energy_scale(s, std::max(1, p.velocities())));
}

}  // namespace

double Certificate::worst() const {
  if (!finite) return kInfinity;
  return std::max({momentum.scaled, bilateral.scaled, bounds.scaled, penetration.scaled, tension.scaled, normal_complementarity.scaled,
                   cone.scaled, dissipation.scaled, relaxation.scaled, constitutive.scaled, natural_map.scaled, energy_balance.scaled,
                   rounding.scaled});
}

void certify(const ProblemView& p, const LawTerms& law, const Ref& v_plus, const Ref& lambda, const Ref& lambda_b, const Ref& lambda_p,
             CertificateWorkspace& w, Certificate& c) {
  require_size("terms.contacts", static_cast<Eigen::Index>(law.contacts.size()), p.contacts());
  c = Certificate{};
  c.finite = v_plus.allFinite() && lambda.allFinite() && lambda_b.allFinite() && lambda_p.allFinite();
  if (!c.finite) return;
  normal_offset(p, w.offset);
  inertias(p, w.difference);
  Scales s = measure_scales(p, w.offset, w.difference);
  for (int i = 0; i < p.contacts(); ++i) {
    add_rest_impulse(law, i, s);
    const double push = push_of(law, i, w.offset[i]);
    if (push > 0.0) add_push(law.contacts[i], push, mobility(p.J, i, 0, w.difference), s);
  }
  const double largest = std::max({largest_entry(lambda), largest_entry(lambda_b), largest_entry(lambda_p)});
  take_scales(p.lo, p.hi, lambda_b, largest, s, c);

  w.difference = v_plus - p.v;
  w.momentum.resize(p.velocities());
  p.M.multiply(w.difference, w.momentum);
  w.u.resize(p.J.rows());
  p.J.multiply(v_plus, w.u);
  check_contacts(law, lambda, s, w, c);
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

Certificate certify(const ProblemView& p, const LawTerms& law, const Ref& v_plus, const Ref& lambda, const Ref& lambda_b,
                    const Ref& lambda_p) {
  CertificateWorkspace workspace;
  Certificate certificate;
  certify(p, law, v_plus, lambda, lambda_b, lambda_p, workspace, certificate);
  return certificate;
}

}  // namespace stiction
