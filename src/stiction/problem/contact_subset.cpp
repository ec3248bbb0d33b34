#include "stiction/problem/contact_subset.hpp"

#include <algorithm>

namespace stiction {

namespace {

void select_blocks(const BlockRows& W, const std::vector<int>& contacts, BlockRows& to) {
  to.reset(3, W.groups() > 0 ? std::span(W.block_sizes()).first(contacts.size()) : std::span<const int>());
  if (W.groups() == 0) return;
  for (const int i : contacts) {
    to.add_group();
    for (int e = W.entry_begin(i); e < W.entry_end(i); ++e) {
      const auto found = std::ranges::lower_bound(contacts, W.entry_block(e));
      if (found == contacts.end() || *found != W.entry_block(e)) continue;
      to.add_entry(static_cast<int>(found - contacts.begin())) = W.entry(e);
    }
  }
}

}  // namespace

void copy_common(const ReducedProblem& p, ReducedProblem& to) {
  to.velocity = p.velocity;
  to.Bt = p.Bt;
  to.w_free = p.w_free;
  to.lo = p.lo;
  to.hi = p.hi;
  to.y_free = p.y_free;
}

void select_delassus(const ReducedProblem& p, const std::vector<int>& contacts, ReducedProblem& to) {
  select_blocks(p.delassus, contacts, to.delassus);
  const Eigen::Index n = p.defect.size() > 0 ? static_cast<Eigen::Index>(contacts.size()) : 0;
  to.defect.resize(3 * n, 3 * n);
  for (Eigen::Index k = 0; k < n; ++k) {
    for (Eigen::Index l = 0; l < n; ++l) {
      to.defect.block<3, 3>(3 * k, 3 * l) = p.defect.block<3, 3>(3 * contacts[k], 3 * contacts[l]);
    }
  }
}

void select_contacts(const ReducedProblem& p, ContactSubset& subset) {
  const std::vector<int>& contacts = subset.contacts;
  ReducedProblem& to = subset.problem;
  const Eigen::Index n = static_cast<Eigen::Index>(contacts.size());
  to.Rt.reset(3, p.Rt.block_sizes());
  for (GrowVector* x : {&to.offset, &to.mu}) x->resize(n);
  to.u_free.resize(3 * n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const int i = contacts[k];
    to.Rt.append_group(p.Rt, i);
    to.u_free.segment<3>(3 * k) = p.u_free.segment<3>(3 * i);
    to.offset[k] = p.offset[i];
    to.mu[k] = p.mu[i];
  }
  select_delassus(p, contacts, to);
  copy_common(p, to);
}

void expand_contacts(const ContactSubset& subset, int contacts, const Eigen::Ref<const Eigen::VectorXd>& part, GrowVector& all) {
  all.setZero(3 * contacts);
  for (std::size_t k = 0; k < subset.contacts.size(); ++k) {
    all.segment<3>(3 * subset.contacts[k]) = part.segment<3>(3 * static_cast<Eigen::Index>(k));
  }
}

}  // namespace stiction
