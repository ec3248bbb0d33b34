#include "stiction/problem/contact_problem.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <Eigen/Cholesky>

#include "stiction/base/errors.hpp"
#include "stiction/base/names.hpp"

namespace stiction {

namespace {

constexpr std::array<std::string_view, kRowKinds.size()> kRowKindNames{"equality", "limit", "friction", "motor"};

void require_same_blocks(std::string_view argument, const BlockRows& rows, const BlockDiagonal& M) {
  if (!std::ranges::equal(rows.block_sizes(), M.sizes())) {
    throw InvalidArgument(argument, "the column blocks of M", fmt::format("{} blocks, {} columns", rows.blocks(), rows.cols()));
  }
}

void require_finite_rows(std::string_view argument, const BlockRows& rows) {
  for (int g = 0; g < rows.groups(); ++g) {
    for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) {
      if (!rows.entry(e).allFinite())
        throw InvalidArgument(fmt::format("{} of contact or row {}", argument, g), "finite numbers", "NaN or infinity");
    }
  }
}

void validate_contacts(const ProblemView& p) {
  const int n = p.contacts();
  if (p.J.height() != 3) throw InvalidArgument("J", "rows of height 3, of each contact N, S and T", fmt::format("height {}", p.J.height()));
  require_same_blocks("J", p.J, p.M);
  require_finite_rows("J", p.J);
  require_size("mu", p.mu.size(), n);
  require_nonnegative("mu", p.mu, true);
  require_size("restitution", p.restitution.size(), n);
  for (int i = 0; i < n; ++i) {
    if (!(p.restitution[i] >= 0.0 && p.restitution[i] <= 1.0)) {
      throw InvalidArgument(fmt::format("restitution[{}]", i), "a number in [0, 1]", fmt::format("{}", p.restitution[i]));
    }
  }
  require_size("gap", p.gap.size(), n);
  require_finite("gap", p.gap);
  validate_contact_laws(p.laws, p.material, n);
  validate_ids("ids", p.ids, n);
}

void validate_prescribed(const ProblemView& p) {
  require_size("v_prescribed", p.v_prescribed.size(), static_cast<Eigen::Index>(p.prescribed.size()));
  require_finite("v_prescribed", p.v_prescribed);
  std::vector<char> seen(p.velocities(), 0);
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) {
    const int j = p.prescribed[i];
    if (j < 0 || j >= p.velocities()) {
      throw InvalidArgument(fmt::format("prescribed[{}]", i), fmt::format("an index in [0, {})", p.velocities()), fmt::format("{}", j));
    }
    if (std::exchange(seen[j], 1) != 0) {
      throw InvalidArgument(fmt::format("prescribed[{}]", i), "each coordinate at most once", fmt::format("{} again", j));
    }
  }
}

void validate_bounded_rows(const ProblemView& p) {
  const int m = p.bounded_rows();
  if (p.J_b.height() != 1) throw InvalidArgument("J_b", "one row per group", fmt::format("{}", p.J_b.height()));
  require_same_blocks("J_b", p.J_b, p.M);
  require_finite_rows("J_b", p.J_b);
  require_size("b", p.b.size(), m);
  require_finite("b", p.b);
  validate_row_bounds(p.lo, p.hi, p.row_ids, m);
  if (p.row_compliance.size() > 0) require_size("row_compliance", p.row_compliance.size(), m);
  for (int j = 0; j < m; ++j) {
    const double R = compliance(p, j);
    if (!(R >= 0.0 && R < kInfinity) || (R > 0.0 && !is_two_sided(p, j)))
      throw InvalidArgument(fmt::format("row_compliance[{}]", j), "a finite number >= 0, 0 where a bound is infinite",
                            fmt::format("{}", R));
  }
  if (!p.row_kinds.empty()) require_size("row_kinds", static_cast<Eigen::Index>(p.row_kinds.size()), m);
}

}  // namespace

void validate_ids(std::string_view argument, std::span<const std::uint64_t> ids, Eigen::Index size) {
  if (ids.empty()) return;
  require_size(argument, static_cast<Eigen::Index>(ids.size()), size);
  std::vector<std::uint64_t> sorted(ids.begin(), ids.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return;
  const auto second = std::find(std::ranges::find(ids, *twice) + 1, ids.end(), *twice);
  throw InvalidArgument(fmt::format("{}[{}]", argument, second - ids.begin()), "a name that nothing before it has",
                        fmt::format("{}", *twice));
}

void validate_row_bounds(const GrowVector& lo, const GrowVector& hi, std::span<const std::uint64_t> row_ids, Eigen::Index size) {
  require_size("lo", lo.size(), size);
  require_size("hi", hi.size(), size);
  validate_ids("row_ids", row_ids, size);
  for (Eigen::Index j = 0; j < size; ++j) {
    if (!(lo[j] <= hi[j]) || lo[j] == kInfinity || hi[j] == -kInfinity)
      throw InvalidArgument(fmt::format("lo[{}], hi[{}]", j, j), "lo <= hi, lo < inf, hi > -inf", fmt::format("{}, {}", lo[j], hi[j]));
  }
}

void validate(const ProblemView& p) {
  require_positive("dt", p.dt);
  for (int k = 0; k < p.M.blocks(); ++k) require_spd(p.M.blocks() == 1 ? std::string("M") : fmt::format("M block {}", k), p.M.block(k));
  require_size("v", p.v.size(), p.velocities());
  require_finite("v", p.v);
  require_size("impulse", p.impulse.size(), p.velocities());
  require_finite("impulse", p.impulse);
  validate_contacts(p);
  validate_prescribed(p);
  validate_bounded_rows(p);
}

ContactProblem make_contact_problem(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& v,
                                    const Eigen::Ref<const Eigen::MatrixXd>& J, const Eigen::Ref<const Eigen::VectorXd>& mu, double dt) {
  require_spd("M", M);
  const int nv = static_cast<int>(M.rows());
  require_size("J.cols", J.cols(), nv);
  require_size("J.rows", J.rows(), 3 * mu.size());
  ContactProblem p;
  p.dt = dt;
  p.M = BlockDiagonal::dense(M);
  p.v = v;
  p.impulse.setZero(nv);
  p.J = BlockRows::from_dense(3, J, p.M.sizes());
  p.mu = mu;
  p.restitution.setZero(mu.size());
  p.gap.setZero(mu.size());
  p.J_b.reset(1, p.M.sizes());
  validate(p);
  return p;
}

std::string_view to_string(RowKind kind) { return kRowKindNames[static_cast<std::size_t>(kind)]; }

std::optional<RowKind> find_row_kind(std::string_view name) {
  const auto found = std::ranges::find(kRowKindNames, name);
  return found != kRowKindNames.end() ? std::optional(static_cast<RowKind>(found - kRowKindNames.begin())) : std::nullopt;
}

RowKind row_kind_from_string(std::string_view name) { return value_named<RowKind>("row_kind", kRowKindNames, name); }

bool is_bilateral(const ProblemView& p, int j) { return p.lo[j] == -kInfinity && p.hi[j] == kInfinity; }

bool is_two_sided(const ProblemView& p, int j) { return std::isfinite(p.lo[j]) && std::isfinite(p.hi[j]); }

RowKind row_kind(const ProblemView& p, int j) {
  if (!p.row_kinds.empty()) return p.row_kinds[j];
  return is_bilateral(p, j) ? RowKind::equality : is_two_sided(p, j) ? RowKind::motor : RowKind::limit;
}

double rest_gap(double dt) {
  constexpr double kMost = 1e-7, kFall = 0.1;  // m; m/s², a hundredth of gravity's
  return std::min(kMost, kFall * dt * dt);
}

void normal_offset(const ProblemView& p, GrowVector& offset) {
  offset.resize(p.contacts());
  for (int i = 0; i < p.contacts(); ++i) {
    offset[i] = p.gap[i] > rest_gap(p.dt) ? p.gap[i] / p.dt : 0.0;
    if (p.restitution[i] > 0.0) {
      Eigen::Vector3d u = Eigen::Vector3d::Zero();
      p.J.add_group_product(i, p.v, u);
      if (u[0] < 0.0 && p.gap[i] + p.dt * u[0] <= 0.0) offset[i] = p.restitution[i] * u[0];
    }
  }
}

double largest_push(const Eigen::Ref<const Eigen::VectorXd>& offset) { return offset.size() > 0 ? std::max(0.0, -offset.minCoeff()) : 0.0; }

void edge_angles(const ProblemView& p, GrowVector& angles) {
  angles.resize(p.contacts());
  for (int i = 0; i < p.contacts(); ++i) {
    Eigen::Vector3d u = Eigen::Vector3d::Zero();
    p.J.add_group_product(i, p.v, u);
    angles[i] = std::hypot(u[1], u[2]) > kSlipSpeed ? std::atan2(-u[2], -u[1]) : 0.0;
  }
}

void find_closed(const ProblemView& p, std::vector<char>& closed) {
  constexpr double kFall = 10.0;  // m/s²: what rises at less than kFall h, a fall brings back
  closed.resize(p.contacts());
  for (int i = 0; i < p.contacts(); ++i) {
    Eigen::Vector3d u = Eigen::Vector3d::Zero();
    if (p.gap[i] > kTouchGap) p.J.add_group_product(i, p.v, u);
    const bool touched = p.gap[i] - p.dt * u[0] <= kTouchGap;
    closed[i] = closes(p.gap[i], p.dt, u[0]) || (touched && u[0] <= kFall * p.dt);
  }
}

}  // namespace stiction
