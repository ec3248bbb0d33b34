#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/problem/reduced.hpp"

namespace stiction {

namespace {

void validate_contacts(const ReducedProblem& p) {
  const Eigen::Index n = p.contacts();
  if (p.Rt.height() != 3)
    throw InvalidArgument("Rt", "rows of height 3, of each contact N, S and T", fmt::format("height {}", p.Rt.height()));
  require_size("u_free", p.u_free.size(), 3 * n);
  require_finite("u_free", p.u_free);
  require_size("offset", p.offset.size(), n);
  require_finite("offset", p.offset);
  require_size("mu", p.mu.size(), n);
  require_nonnegative("mu", p.mu, true);
  require_size("closed", static_cast<Eigen::Index>(p.closed.size()), n);
  require_positive("dt", p.dt);
  if (p.gap.size() > 0) require_size("gap", p.gap.size(), n);
  require_finite("gap", p.gap);
  if (p.u_before.size() > 0) require_size("u_before", p.u_before.size(), 3 * n);
  require_finite("u_before", p.u_before);
  if (p.restitution.size() > 0) require_size("restitution", p.restitution.size(), n);
  require_finite("restitution", p.restitution);
  if (p.edge_angle.size() > 0) require_size("edge_angle", p.edge_angle.size(), n);
  require_finite("edge_angle", p.edge_angle);
  if (p.weight.size() > 0) require_size("weight", p.weight.size(), n);
  require_nonnegative("weight", p.weight, false);
  if (!(p.velocity >= 0.0 && p.velocity < kInfinity))
    throw InvalidArgument("velocity", "a finite number >= 0", fmt::format("{}", p.velocity));
  validate_contact_laws(p.laws, p.material, n);
  validate_ids("ids", p.ids, n);
}

void validate_bounded_rows(const ReducedProblem& p) {
  const Eigen::Index m = p.bounded_rows();
  if (p.Bt.height() != 1) throw InvalidArgument("Bt", "one row per group", fmt::format("{}", p.Bt.height()));
  require_size("Bt.cols", p.Bt.cols(), p.Rt.cols());
  require_size("w_free", p.w_free.size(), m);
  require_finite("w_free", p.w_free);
  validate_row_bounds(p.lo, p.hi, p.row_ids, m);
}

}  // namespace

void validate(const ReducedProblem& p) {
  validate_contacts(p);
  validate_bounded_rows(p);
  for (const BlockRows* rows : {&p.Rt, &p.Bt}) {
    for (int e = 0; e < rows->entry_end(rows->groups() - 1); ++e) require_finite(rows == &p.Rt ? "Rt" : "Bt", rows->entry(e));
  }
  require_size("y_free", p.y_free.size(), p.Rt.cols());
  require_finite("y_free", p.y_free);
  if (p.Rt_before.cols() > 0) {
    require_size("Rt_before.rows", p.Rt_before.rows(), p.Rt.rows());
    require_size("Bt_before.rows", p.Bt_before.rows(), p.Bt.rows());
    require_size("Bt_before.cols", p.Bt_before.cols(), p.Rt_before.cols());
  }
  if (p.delassus.groups() > 0) {
    require_size("delassus.rows", p.delassus.rows(), 3 * static_cast<Eigen::Index>(p.contacts()));
    require_size("delassus.cols", p.delassus.cols(), p.delassus.rows());
    for (int e = 0; e < p.delassus.entry_end(p.contacts() - 1); ++e) require_finite("delassus", p.delassus.entry(e));
  }
  if (p.defect.size() == 0) return;
  require_size("defect.rows", p.defect.rows(), 3 * static_cast<Eigen::Index>(p.contacts()));
  require_size("defect.cols", p.defect.cols(), 3 * static_cast<Eigen::Index>(p.contacts()));
  require_finite("defect", p.defect);
}

}  // namespace stiction
