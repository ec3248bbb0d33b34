#include "stiction/problem/standard_form.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/problem/contact_subset.hpp"

namespace stiction {

namespace {

using Eigen::Index;

void turn_entries(const BlockRows& from, int group, const ContactTerms& t, BlockRows& to) {
  to.add_group();
  for (int e = from.entry_begin(group); e < from.entry_end(group); ++e) {
    RowMap row = to.add_entry(from.entry_block(e));
    const ConstRowMap entry = from.entry(e);
    row.row(0) = entry.row(0);
    for (int a = 0; a < 2; ++a) row.row(1 + a) = t.axes(0, a) * entry.row(1) + t.axes(1, a) * entry.row(2);
  }
}

// Rows of the contacts that bear, in their laws' axes; `all`: of every contact, none turned.
void collect_rows(const BlockRows& from, const LawTerms& terms, const std::vector<int>& contacts, bool all, BlockRows& to) {
  if (all || from.groups() == 0) {
    to = from;
    return;
  }
  to.reset(3, from.block_sizes());
  for (const int i : contacts) {
    const ContactTerms& t = terms.contacts[i];
    if (t.turned)
      turn_entries(from, i, t, to);
    else
      to.append_group(from, i);
  }
}

void list_contacts(const LawTerms& terms, StandardForm& form) {
  form.contacts.clear();
  form.known.resize(0);
  form.y_known.resize(0);
  bool compliant = false, knows = false;
  for (std::size_t i = 0; i < terms.contacts.size(); ++i) {
    const ContactTerms& t = terms.contacts[i];
    if (!t.bears) continue;
    form.contacts.push_back(static_cast<int>(i));
    compliant = compliant || t.normal_compliance > 0.0 || t.tangential_compliance > 0.0;
    knows = knows || !t.known.isZero(0.0);
  }
  const Index n = static_cast<Index>(terms.contacts.size());
  form.compliance.resize(compliant ? 2 * static_cast<Index>(form.contacts.size()) : 0);
  if (!knows) return;
  form.known.setZero(3 * n);
  for (const int i : form.contacts) form.known.segment<2>(3 * i + 1) = terms.contacts[i].known;
}

}  // namespace

bool StandardForm::has_linear_cones() const {
  return std::ranges::all_of(problem.mu, [](double mu) { return mu == 0.0 || std::isinf(mu); });
}

void make_standard_form(const ReducedProblem& p, const LawTerms& terms, StandardForm& form) {
  list_contacts(terms, form);
  form.family = terms.family;
  form.edges = terms.edges;
  ReducedProblem& out = form.problem;
  const Index n = static_cast<Index>(form.contacts.size());
  const bool turned = std::ranges::any_of(terms.contacts, [](const ContactTerms& t) { return t.turned; });
  form.scratch = p.u_free;
  copy_common(p, out);
  if (form.known.size() > 0) {
    form.y_known.setZero(p.rank_bound());
    p.Rt.add_transposed(form.known, form.y_known);
    for (int i = 0; i < p.contacts(); ++i) p.Rt.add_group_product(i, form.y_known, form.scratch.segment<3>(3 * i));
    for (int j = 0; j < p.bounded_rows(); ++j) p.Bt.add_group_product(j, form.y_known, out.w_free.segment<1>(j));
    if (p.defect.size() > 0) form.scratch.noalias() += p.defect * form.known;
  }
  const bool all = !turned && n == p.contacts();
  collect_rows(p.Rt, terms, form.contacts, all, out.Rt);
  collect_rows(p.Rt_before, terms, form.contacts, all, out.Rt_before);
  out.Bt_before = p.Bt_before;
  out.u_free.resize(3 * n);
  out.offset.resize(n);
  out.mu.resize(n);
  for (Index k = 0; k < n; ++k) {
    const int i = form.contacts[k];
    const ContactTerms& t = terms.contacts[i];
    out.u_free.segment<3>(3 * k) = cone_velocity(t, form.scratch.segment<3>(3 * i));
    out.u_free.segment<2>(3 * k + 1) += t.offset.tail<2>();
    out.offset[k] = t.offset[0];
    out.mu[k] = t.mu;
    if (form.compliance.size() > 0) form.compliance.segment<2>(2 * k) << t.normal_compliance, t.tangential_compliance;
  }
  if (turned) {  // the law's axes are not those of W
    out.delassus.reset(3, {});
    out.defect.resize(0, 0);
  } else {
    select_delassus(p, form.contacts, out);
  }
}

void expand_impulses(const StandardForm& form, const LawTerms& terms, const Eigen::Ref<const Eigen::VectorXd>& cone_impulses,
                     GrowVector& lambda, bool linear) {
  lambda.setZero(3 * static_cast<Index>(terms.contacts.size()));
  for (std::size_t k = 0; k < form.contacts.size(); ++k) {
    const int i = form.contacts[k];
    const ContactTerms& t = terms.contacts[i];
    lambda.segment<3>(3 * i) = contact_impulse(t, cone_impulses.segment<3>(3 * static_cast<Index>(k)));
    if (linear) lambda.segment<2>(3 * i + 1) -= t.known;
  }
}

void collect_impulses(const StandardForm& form, const LawTerms& terms, const Eigen::Ref<const Eigen::VectorXd>& lambda,
                      GrowVector& cone_impulses) {
  cone_impulses.resize(3 * static_cast<Index>(form.contacts.size()));
  for (std::size_t k = 0; k < form.contacts.size(); ++k) {
    const int i = form.contacts[k];
    cone_impulses.segment<3>(3 * static_cast<Index>(k)) = cone_impulse(terms.contacts[i], lambda.segment<3>(3 * i));
  }
}

void widen(const StandardForm& form, ReducedProblem& wide, std::vector<int>& sizes) {
  const ReducedProblem& p = form.problem;
  const int n = p.contacts();
  wide = p;
  wide.delassus.reset(3, {});
  sizes.assign(p.Rt.block_sizes().begin(), p.Rt.block_sizes().end());
  for (int k = 0; k < n; ++k) {
    if (form.gives_way(k)) sizes.push_back(3);
  }
  wide.Rt.reset(3, sizes);
  int column = p.Rt.blocks();
  for (int k = 0; k < n; ++k) {
    wide.Rt.append_group(p.Rt, k);
    if (!form.gives_way(k)) continue;
    RowMap root = wide.Rt.add_entry(column++);
    root.setZero();
    root(0, 0) = std::sqrt(form.compliance[2 * k]);
    root(1, 1) = root(2, 2) = std::sqrt(form.compliance[2 * k + 1]);
  }
  wide.Bt.reset(1, sizes);
  for (int j = 0; j < p.bounded_rows(); ++j) wide.Bt.append_group(p.Bt, j);
  wide.y_free.setZero(wide.Rt.cols());
}

}  // namespace stiction
