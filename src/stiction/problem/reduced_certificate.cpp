#include "stiction/problem/reduced_certificate.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/errors.hpp"
#include "stiction/problem/contact_checks.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;
using Ref = Eigen::Ref<const Eigen::VectorXd>;

// Mean diagonal of R_t R_tᵀ, or of B_t B_tᵀ.
double mean_diagonal(const BlockRows& rows) { return rows.groups() > 0 ? rows.square() / rows.rows() : 0.0; }

CertificateScales measure_scales(const ReducedProblem& p, const LawTerms& law) {
  CertificateScales s;
  s.velocity = std::max({s.velocity, p.velocity, largest_entry(p.u_free), largest_entry(p.w_free), largest_push(p.offset)});
  for (int i = 0; i < p.contacts(); ++i) {
    add_rest_impulse(law, i, s);
    const double push = push_of(law, i, p.offset[i]);
    if (push > 0.0) add_push(law.contacts[i], push, p.Rt.row_square(i, 0), s);
  }
  for (const double delassus : {mean_diagonal(p.Rt), mean_diagonal(p.Bt)}) {
    if (delassus > 0.0) s.impulse = std::max(s.impulse, s.velocity / delassus);
  }
  return s;
}

void require_sizes(const ReducedProblem& p, const Ref& lambda, const Ref& beta) {
  require_size("lambda", lambda.size(), 3 * p.contacts());
  require_size("beta", beta.size(), p.bounded_rows());
}

}  // namespace

void certify(const ReducedProblem& p, const LawTerms& law, const Ref& lambda, const Ref& beta, CertificateWorkspace& w, Certificate& c) {
  require_sizes(p, lambda, beta);
  require_size("terms.contacts", static_cast<Eigen::Index>(law.contacts.size()), p.contacts());
  c = Certificate{};
  c.finite = lambda.allFinite() && beta.allFinite();
  if (!c.finite) return;
  GrowVector& y = w.momentum;
  y.setZero(p.rank_bound());
  p.Rt.add_transposed(lambda, y);
  p.Bt.add_transposed(beta, y);
  w.u.resize(lambda.size());
  p.Rt.multiply(y, w.u);
  if (p.defect.size() > 0) w.u.noalias() += p.defect * lambda;
  w.u += p.u_free;

  CertificateScales s = measure_scales(p, law);
  take_scales(p.lo, p.hi, beta, std::max(largest_entry(lambda), largest_entry(beta)), s, c);
  w.shape.reset(law.edges);
  double gained = 0.0;
  for (int i = 0; i < p.contacts(); ++i) {
    const Vector3d l = lambda.segment<3>(3 * i), u = w.u.segment<3>(3 * i), free = p.u_free.segment<3>(3 * i);
    c.energy.contacts += 0.5 * l.dot(u + free);
    gained += l.dot(u - free);
    check_contact(law, w.shape, i, u, l, s, c);
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    Eigen::Matrix<double, 1, 1> row(p.w_free[j]);
    p.Bt.add_group_product(j, y, row);
    c.energy.bounded += 0.5 * beta[j] * (row[0] + p.w_free[j]);
    gained += beta[j] * (row[0] - p.w_free[j]);
    check_bounded_row(law, row[0], beta[j], p.lo[j], p.hi[j], s, c);
  }
  c.energy.kinetic = c.energy_change = c.energy.contacts + c.energy.bounded;
  // |y|² = λ·(u - u_free) + β·(w - w_free), as far as W is symmetric.
  if (p.defect.size() == 0)  // a sum over r coordinates
    raise(c.energy_balance, std::abs(gained - y.squaredNorm()), energy_scale(s, std::max(1, p.rank_bound())));
}

Certificate certify(const ReducedProblem& p, const LawTerms& law, const Ref& lambda, const Ref& beta) {
  CertificateWorkspace workspace;
  Certificate certificate;
  certify(p, law, lambda, beta, workspace, certificate);
  return certificate;
}

}  // namespace stiction
