#include "stiction/forward/waiting_contacts.hpp"

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

bool leave_to_next_step(const ContactProblem& p, Law law, double gravity, std::vector<ContactPoint>& contacts) {
  std::size_t kept = 0;
  for (int i = 0; i < p.contacts(); ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    const LawRow& row = row_of(p.laws.empty() ? law : p.laws[k]);
    if (p.restitution[i] > 0.0 && row.gaps == Gaps::given && row.contact == ContactKind::rigid) {
      Eigen::Vector3d u = Eigen::Vector3d::Zero();
      p.J.add_group_product(i, p.v, u);
      if (!takes_part(p.gap[i], u[0], p.dt, gravity)) continue;
    }
    contacts[kept++] = contacts[k];
  }
  const bool any = kept < contacts.size();
  contacts.resize(kept);
  return any;
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
