#include "stiction/forward/waiting_contacts.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/laws/lowering.hpp"

namespace stiction {

namespace {

bool takes_part(double gap, double approach, double dt, double gravity) {
  const double way = dt * approach, still = gravity * dt * dt + rest_gap(dt);
  const bool closes = gap + way <= 0.0, rests = std::abs(way) <= still && gap <= still;
  return closes || rests;
}

}  // namespace

bool is_reversed(const ContactPoint& c, const AssembleOptions& options) {
  double restitution = c.restitution;
  Law law = options.law;
  for (const PairMaterial& pair : options.pairs) {
    if (!pair.fits(c.body_a, c.body_b)) continue;
    restitution = pair.restitution.value_or(restitution);
    law = pair.law.value_or(law);
  }
  const LawRow& row = row_of(law);
  return restitution > 0.0 && row.gaps == Gaps::given && row.contact == ContactKind::rigid;
}

bool leave_to_next_step(const ContactProblem& p, const AssembleOptions& options, double gravity, std::vector<ContactPoint>& contacts,
                        std::vector<ContactPoint>& waiting) {
  std::size_t kept = 0;
  for (int i = 0; i < p.contacts(); ++i) {
    const ContactPoint& c = contacts[static_cast<std::size_t>(i)];
    if (is_reversed(c, options)) {
      Eigen::Vector3d u = Eigen::Vector3d::Zero();
      p.J.add_group_product(i, p.v, u);
      if (!takes_part(p.gap[i], u[0], p.dt, gravity)) {
        waiting.push_back(c);
        continue;
      }
    }
    contacts[kept++] = c;
  }
  const bool any = kept < contacts.size();
  contacts.resize(kept);
  return any;
}

bool is_through(const ContactPoint& c, std::span<const ContactPoint> later) {
  return std::ranges::none_of(
      later, [&](const ContactPoint& x) { return x.geometry_a == c.geometry_a && x.geometry_b == c.geometry_b && x.n.dot(c.n) > 0.0; });
}

void let_slide_past(double reach, Law law, ContactProblem& p) {
  for (int i = 0; i < p.contacts(); ++i) {
    const LawRow& row = row_of(p.laws.empty() ? law : p.laws[static_cast<std::size_t>(i)]);
    if (p.gap[i] <= reach || row.family != Family::associated || row.contact != ContactKind::soft) continue;
    Eigen::Vector3d u = Eigen::Vector3d::Zero();
    p.J.add_group_product(i, p.v, u);
    if (p.gap[i] + 2.0 * p.dt * u[0] > reach) p.mu[i] = 0.0;
  }
}

}  // namespace stiction
