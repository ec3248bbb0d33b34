#include "stiction/inverse/request_proof.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <Eigen/Cholesky>

#include "stiction/base/errors.hpp"
#include "stiction/laws/generators.hpp"
#include "stiction/laws/lowering.hpp"
#include "stiction/problem/inertia_block.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Vector3d;
using Ref = Eigen::Ref<const Eigen::VectorXd>;

constexpr double kRounding = 1e-10;  // of the terms that the gap is made of
constexpr double kUnbounded = 1e4;   // larger impulses, in those of the step, count as without bound
constexpr int kPolygon = 16;         // edges of the polygon around the disc

/// What a law asks of a contact and what it lets it push with.
struct Contact {
  enum class Cone { none, normal, pyramid, all };
  bool separates, sticks;
  Cone cone;
};

Contact contact_of(const LawTerms& law, int i) {
  const ContactTerms& t = law.contacts[i];
  if (!t.bears) return {false, false, Contact::Cone::none};
  const bool free_tangents = std::isinf(t.mu), gives_way = t.has_fixed_friction();
  const Contact::Cone cone = free_tangents || gives_way ? Contact::Cone::all : t.mu > 0.0 ? Contact::Cone::pyramid : Contact::Cone::normal;
  return {true, law.family == Family::associated && free_tangents && !gives_way, cone};
}

double offset_of(const LawTerms& law, int i) { return law.contacts[i].offset[0]; }

/// The demands of the header comment are those of rigid contacts.
bool is_covered(const LawTerms& law) {
  return law.family != Family::constitutive &&
         std::ranges::all_of(law.contacts, [](const ContactTerms& t) { return t.normal_compliance == 0.0; });
}

/// Largest g·λ / λ_N over the cone of unit normal impulse, the tangents' share only.
double reach(const ContactTerms& t, const SectionShape& section, const Vector3d& g) {
  return t.mu * section.slip(-cone_velocity(t, g).tail<2>());
}

double limit(const ProblemView& p, std::span<const double> tau_max, std::size_t k) {
  return tau_max.empty() ? kInfinity : p.dt * tau_max[k];
}

void solve_inertia(const ProblemView& p, GrowVector& x, GrowMatrix& factor) {
  for (int k = 0; k < p.M.blocks(); ++k) {
    factor = p.M.block(k);
    Eigen::Ref<Eigen::MatrixXd> in_place(factor);
    auto part = x.segment(p.M.offset(k), p.M.block_size(k));
    Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(in_place).solveInPlace(part);
  }
}

/// Whether the signs of z are those of the demands of the law.
bool has_right_signs(const ProblemView& p, const LawTerms& law, const RequestProof& z) {
  for (int i = 0; i < p.contacts(); ++i) {
    const Contact c = contact_of(law, i);
    const Vector3d zi = z.contacts.segment<3>(3 * i);
    if (!(zi[0] >= 0.0) || (!c.separates && zi[0] != 0.0) || (!c.sticks && (zi[1] != 0.0 || zi[2] != 0.0))) return false;
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    if (is_bilateral(p, j)) continue;
    if (is_two_sided(p, j) ? z.rows[j] != 0.0 : p.hi[j] == kInfinity ? !(z.rows[j] >= 0.0) : !(z.rows[j] <= 0.0)) return false;
  }
  return z.contacts.allFinite() && z.rows.allFinite() && z.joints.allFinite();
}

/// Upper bound of aᵀ(momentum of all impulses): what boxes give, and what is left over times impulses without bound.
struct Supply {
  double bounded = 0.0, size = 0.0, leftover = 0.0;

  void add_box(double slope, double lo, double hi) {
    const double bound = slope > 0.0 ? hi : lo;
    if (std::isfinite(bound)) {
      bounded += slope * bound;
      size += std::abs(slope * bound);
    } else {
      leftover += std::abs(slope);
    }
  }
};

Supply measure_supply(const ProblemView& p, std::span<const int> joints, std::span<const double> tau_max, const LawTerms& law,
                      RequestProofWorkspace& w) {
  Supply supply;
  w.section.reset(law.edges);
  w.u.setZero(p.J.rows());
  w.row_slopes.setZero(p.bounded_rows());
  p.J.multiply(w.slope, w.u);
  p.J_b.multiply(w.slope, w.row_slopes);
  for (int i = 0; i < p.contacts(); ++i) {
    const Vector3d g = w.u.segment<3>(3 * i);
    switch (contact_of(law, i).cone) {
      case Contact::Cone::none:
        break;
      case Contact::Cone::normal:
        supply.leftover += std::max(0.0, g[0]);
        break;
      case Contact::Cone::pyramid:
        supply.leftover += std::max(0.0, g[0] + reach(law.contacts[i], w.section, g));
        break;
      case Contact::Cone::all:
        supply.leftover += std::max(0.0, g[0]) + std::hypot(g[1], g[2]);
        break;
    }
  }
  for (Index j = 0; j < w.row_slopes.size(); ++j) supply.add_box(w.row_slopes[j], p.lo[j], p.hi[j]);
  for (std::size_t k = 0; k < joints.size(); ++k) supply.add_box(w.slope[joints[k]], -limit(p, tau_max, k), limit(p, tau_max, k));
  return supply;
}

/// Size of the impulses of the step: M v, p and the desired change of momentum.
double impulse_scale(const ProblemView& p, const Ref& v_desired) {
  double scale = largest_entry(p.impulse);
  const double velocity = std::max(largest_entry(p.v), largest_entry(v_desired));
  for (int k = 0; k < p.M.blocks(); ++k) scale = std::max(scale, velocity * p.M.block(k).diagonal().maxCoeff());
  return std::max(scale, 1e-300);
}

}  // namespace

void validate_request(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max) {
  require_size("v_desired", v_desired.size(), static_cast<Index>(joints.size()));
  require_finite("v_desired", v_desired);
  if (!tau_max.empty()) require_size("torque_limits", static_cast<Index>(tau_max.size()), static_cast<Index>(joints.size()));
  for (std::size_t i = 0; i < joints.size(); ++i) {
    if (joints[i] < 0 || joints[i] >= p.velocities()) {
      throw InvalidArgument(fmt::format("joints[{}]", i), fmt::format("an index in [0, {})", p.velocities()), fmt::format("{}", joints[i]));
    }
    if (std::find(joints.begin(), joints.begin() + static_cast<std::ptrdiff_t>(i), joints[i]) !=
        joints.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw InvalidArgument(fmt::format("joints[{}]", i), "each joint once", fmt::format("{} again", joints[i]));
    }
    if (!tau_max.empty() && !(tau_max[i] >= 0.0))
      throw InvalidArgument(fmt::format("torque_limits[{}]", i), "a number >= 0", fmt::format("{}", tau_max[i]));
  }
}

void add_joint_row(const ProblemView& p, int joint, double v_desired, double bound, ProblemRows& rows) {
  const int block = inertia_block(p.M, joint);
  rows.J_b.add_group();
  rows.J_b.add_entry(block)(0, joint - p.M.offset(block)) = 1.0;
  const Index m = rows.b.size();
  for (GrowVector* x : {&rows.b, &rows.lo, &rows.hi}) x->resize(m + 1);  // keeps its entries: storage only grows at the end
  rows.b[m] = v_desired;
  rows.lo[m] = -bound;
  rows.hi[m] = bound;
  if (rows.row_compliance.size() == m) {
    rows.row_compliance.resize(m + 1);
    rows.row_compliance[m] = 0.0;
  }
  if (std::ssize(rows.row_kinds) == m) rows.row_kinds.push_back(RowKind::motor);
  if (std::ssize(rows.row_ids) == m) rows.row_ids.push_back(joint_row_name(joint));
}

void RequestProof::clear() {
  for (GrowVector* v : {&contacts, &rows, &joints}) v->resize(0);
}

bool certifies_infeasibility(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max,
                             const LawTerms& law, const RequestProof& z, RequestProofWorkspace& w) {
  if (z.contacts.size() != p.J.rows() || z.rows.size() != p.bounded_rows() || z.joints.size() != static_cast<Index>(joints.size()) ||
      !is_covered(law) || !has_right_signs(p, law, z))
    return false;

  w.xi.setZero(p.velocities());
  p.J.add_transposed(z.contacts, w.xi);
  p.J_b.add_transposed(z.rows, w.xi);
  for (std::size_t k = 0; k < joints.size(); ++k) w.xi[joints[k]] += z.joints[static_cast<Index>(k)];
  w.before = p.impulse;
  solve_inertia(p, w.before, w.inertia);
  w.before += p.v;
  const auto size_of = [](const auto& a, const auto& b) { return a.cwiseAbs().dot(b.cwiseAbs()); };
  double gap = z.rows.dot(p.b) + z.joints.dot(v_desired) - w.xi.dot(w.before);
  double size = size_of(z.rows, p.b) + size_of(z.joints, v_desired) + size_of(w.xi, w.before);
  for (int i = 0; i < p.contacts(); ++i) {
    gap -= z.contacts[3 * i] * offset_of(law, i);
    size += std::abs(z.contacts[3 * i] * offset_of(law, i));
  }
  w.slope = w.xi;
  solve_inertia(p, w.slope, w.inertia);
  const Supply supply = measure_supply(p, joints, tau_max, law, w);
  gap -= supply.bounded;
  size += supply.size;
  return gap > kRounding * size && gap > kUnbounded * impulse_scale(p, v_desired) * supply.leftover;
}

bool certifies_infeasibility(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max,
                             const LawModel& model, const RequestProof& z) {
  validate_request(p, joints, v_desired, tau_max);
  RequestProofWorkspace workspace;
  return certifies_infeasibility(p, joints, v_desired, tau_max, lowered(p, model), z, workspace);
}

namespace {

/// The problem with the driven joints among its rows, none of which give way.
ProblemView with_joint_rows(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max,
                            ProblemRows& rows) {
  rows.J_b = p.J_b;
  rows.b = p.b;
  rows.lo = p.lo;
  rows.hi = p.hi;
  rows.row_compliance.resize(0);
  rows.row_kinds.clear();
  rows.row_ids.clear();
  for (std::size_t k = 0; k < joints.size(); ++k) add_joint_row(p, joints[k], v_desired[static_cast<Index>(k)], limit(p, tau_max, k), rows);
  return p.with_rows(rows);
}

/// Demands of the law, of one-sided and bilateral rows and of the joints; an equation is two of opposite sign.
void list_demands(const ProblemView& request, int joint_rows, const LawTerms& law, const StandardForm& form,
                  std::vector<RequestProofWorkspace::Demand>& demands) {
  demands.clear();
  for (int k = 0; k < form.problem.contacts(); ++k) {
    demands.push_back({k, 0, -1, 1.0});
    if (!contact_of(law, form.contacts[k]).sticks) continue;
    for (const int axis : {1, 2}) demands.insert(demands.end(), {{k, axis, -1, 1.0}, {k, axis, -1, -1.0}});
  }
  for (int j = 0; j < request.bounded_rows(); ++j) {
    const bool equation = j >= joint_rows || is_bilateral(request, j);
    if (!equation && is_two_sided(request, j)) continue;
    if (equation || request.hi[j] == kInfinity) demands.push_back({-1, 0, j, 1.0});
    if (equation || request.hi[j] != kInfinity) demands.push_back({-1, 0, j, -1.0});
  }
}

}  // namespace

bool find_request_proof(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max,
                        const LawModel& model, RequestProofWorkspace& w, RequestProof& z) {
  z.clear();
  const LawTerms law = lowered(p, model);
  if (!is_covered(law)) return false;
  const int m = p.bounded_rows();
  const ProblemView request = with_joint_rows(p, joints, v_desired, tau_max, w.rows);
  reduce(request, w.reduction, {.keep_bilateral = true});
  make_standard_form(w.reduction.reduced, law, w.form);
  ReducedProblem& reduced = w.form.problem;
  if (law.disc()) {  // the polygon around the disc
    for (double& mu : reduced.mu) mu /= std::cos(std::numbers::pi / kPolygon);
  }
  make_generators(reduced, GeneratorKind::cone, law.disc() ? kPolygon : law.edges, w.generators);
  list_demands(request, m, law, w.form, w.demands);
  w.place.assign(request.bounded_rows(), -1);
  for (std::size_t row = 0; row < w.reduction.bounded.size(); ++row) w.place[w.reduction.bounded[row]] = static_cast<int>(row);
  const Index r = reduced.rank_bound(), count = static_cast<Index>(w.demands.size());
  w.constraints.setZero(count, r);
  w.d.resize(count);
  for (Index k = 0; k < count; ++k) {
    const RequestProofWorkspace::Demand& demand = w.demands[k];
    w.y.setZero(r);
    if (demand.contact >= 0) {
      reduced.Rt.add_group_transposed(demand.contact, Vector3d(demand.sign * Vector3d::Unit(demand.axis)), w.y);
      const double offset = demand.axis == 0 ? reduced.offset[demand.contact] : 0.0;
      w.d[k] = -demand.sign * (reduced.u_free[3 * demand.contact + demand.axis] + offset);
    } else if (const int row = w.place[demand.row]; row >= 0) {
      reduced.Bt.add_group_transposed(row, Eigen::Matrix<double, 1, 1>(demand.sign), w.y);
      w.d[k] = -demand.sign * reduced.w_free[row];
    } else {
      w.d[k] = demand.sign * request.b[demand.row];  // a row of zeros
    }
    w.constraints.row(k) = w.y.transpose();
  }
  KineticQp qp;
  qp.A = RowsView(w.generators.storage.data(), w.generators.size(), r, r);
  qp.C = w.constraints;
  qp.lo = w.generators.lo;
  qp.hi = w.generators.hi;
  qp.d = w.d;
  if (kinetic_qp(qp, {}, w.qp, w.solution) != Status::infeasible || w.solution.farkas.size() != count) return false;
  w.y.setZero(3 * reduced.contacts());
  z.rows.setZero(m);
  z.joints.setZero(static_cast<Index>(joints.size()));
  for (Index k = 0; k < count; ++k) {
    const RequestProofWorkspace::Demand& demand = w.demands[k];
    double& to = demand.contact >= 0 ? w.y[3 * demand.contact + demand.axis]
                 : demand.row < m    ? z.rows[demand.row]
                                     : z.joints[demand.row - m];
    to += demand.sign * w.solution.farkas[k];
  }
  expand_impulses(w.form, law, w.y, z.contacts, true);
  if (certifies_infeasibility(p, joints, v_desired, tau_max, law, z, w)) return true;
  z.clear();
  return false;
}

}  // namespace stiction
