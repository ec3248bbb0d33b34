#include "stiction/forward/contact_springs.hpp"

#include <algorithm>

namespace stiction {

void ContactSprings::load(std::span<const ContactPoint> contacts, ContactProblem& p) const {
  if (p.material.size() != contacts.size() || springs_.empty()) return;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const auto known = std::ranges::lower_bound(springs_, contacts[i].id, {}, &Spring::id);
    if (known == springs_.end() || known->id != contacts[i].id) continue;
    p.material[i].spring = {known->elongation.dot(contacts[i].t1), known->elongation.dot(contacts[i].t2)};
  }
}

void ContactSprings::update(std::span<const ContactPoint> contacts, const ContactProblem& p, Law law,
                            const Eigen::Ref<const Eigen::VectorXd>& v_plus) {
  next_.clear();
  for (std::size_t i = 0; i < contacts.size() && !p.material.empty(); ++i) {
    const LawRow& row = row_of(p.laws.empty() ? law : p.laws[i]);
    if (row.family != Family::constitutive) continue;
    const Eigen::Index k = static_cast<Eigen::Index>(i);
    ContactTerms terms;
    row.lower({.mu = p.mu[k], .gap = p.gap[k], .dt = p.dt, .material = &p.material[i], .family = Family::constitutive}, terms);
    if (terms.constitutive.friction != FrictionForce::spring) continue;
    Eigen::Vector3d u = Eigen::Vector3d::Zero();
    p.J.add_group_product(static_cast<int>(i), v_plus, u);
    const std::array<double, 2> s = next_spring(terms.constitutive, u);
    next_.push_back({contacts[i].id, s[0] * contacts[i].t1 + s[1] * contacts[i].t2});
  }
  std::ranges::sort(next_, {}, &Spring::id);
  std::swap(springs_, next_);
}

}  // namespace stiction
