#include "stiction/inverse/request_proof.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <Eigen/Cholesky>

#include "stiction/base/errors.hpp"
#include "stiction/laws/generators.hpp"
#include "stiction/laws/lowering.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Ref = Eigen::Ref<const VectorXd>;

constexpr double kRounding = 1e-10;  // of the terms that the gap is made of
constexpr double kUnbounded = 1e4;   // impulses this many times the step's are taken for without bound
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
double reach(const LawTerms& law, int i, const Vector3d& g) {
  const ContactTerms& t = law.contacts[i];
  const Vector3d seen = cone_velocity(t, g);
  if (law.disc()) return t.mu * std::hypot(seen[1], seen[2]);
  double best = -kInfinity;
  for (int j = 0; j < law.edges; ++j) {
    best = std::max(best, section_vertex(j, law.edges).dot(seen.tail<2>()));
  }
  return t.mu * best;
}

double limit(const ProblemView& p, std::span<const double> tau_max, std::size_t k) {
  return tau_max.empty() ? kInfinity : p.dt * tau_max[k];
}

VectorXd solve_inertia(const ProblemView& p, const Ref& momentum) {
  VectorXd out = momentum;
  for (int k = 0; k < p.M.blocks(); ++k) {
    auto part = out.segment(p.M.offset(k), p.M.block_size(k));
    part = Eigen::LLT<Eigen::MatrixXd>(p.M.block(k)).solve(part).eval();
  }
  return out;
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
                      const VectorXd& a) {
  Supply supply;
  VectorXd u = VectorXd::Zero(p.J.rows()), w = VectorXd::Zero(p.bounded_rows());
  p.J.multiply(a, u);
  p.J_b.multiply(a, w);
  for (int i = 0; i < p.contacts(); ++i) {
    const Vector3d g = u.segment<3>(3 * i);
    switch (contact_of(law, i).cone) {
      case Contact::Cone::none:
        break;
      case Contact::Cone::normal:
        supply.leftover += std::max(0.0, g[0]);
        break;
      case Contact::Cone::pyramid:
        supply.leftover += std::max(0.0, g[0] + reach(law, i, g));
        break;
      case Contact::Cone::all:
        supply.leftover += std::max(0.0, g[0]) + std::hypot(g[1], g[2]);
        break;
    }
  }
  for (Index j = 0; j < w.size(); ++j) supply.add_box(w[j], p.lo[j], p.hi[j]);
  for (std::size_t k = 0; k < joints.size(); ++k) supply.add_box(a[joints[k]], -limit(p, tau_max, k), limit(p, tau_max, k));
  return supply;
}

/// Size of the impulses of the step: M v, p and the desired change of momentum.
double impulse_scale(const ProblemView& p, std::span<const int> joints, const Ref& v_desired) {
  double scale = largest_entry(p.impulse);
  double velocity = largest_entry(p.v);
  if (!joints.empty()) velocity = std::max(velocity, v_desired.cwiseAbs().maxCoeff());
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

void RequestProof::clear() {
  for (GrowVector* v : {&contacts, &rows, &joints}) v->resize(0);
}

bool certifies_infeasibility(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max,
                             const LawModel& model, const RequestProof& z) {
  validate_request(p, joints, v_desired, tau_max);
  const LawTerms law = lowered(p, model);
  if (z.contacts.size() != p.J.rows() || z.rows.size() != p.bounded_rows() || z.joints.size() != static_cast<Index>(joints.size()) ||
      !is_covered(law) || !has_right_signs(p, law, z))
    return false;

  VectorXd xi = VectorXd::Zero(p.velocities());
  p.J.add_transposed(z.contacts, xi);
  p.J_b.add_transposed(z.rows, xi);
  for (std::size_t k = 0; k < joints.size(); ++k) xi[joints[k]] += z.joints[static_cast<Index>(k)];
  const VectorXd v0 = p.v + solve_inertia(p, p.impulse);
  double gap = z.rows.dot(p.b) + z.joints.dot(v_desired) - xi.dot(v0);
  double size = z.rows.cwiseAbs().dot(p.b.cwiseAbs()) + z.joints.cwiseAbs().dot(v_desired.cwiseAbs()) + xi.cwiseAbs().dot(v0.cwiseAbs());
  for (int i = 0; i < p.contacts(); ++i) {
    gap -= z.contacts[3 * i] * offset_of(law, i);
    size += std::abs(z.contacts[3 * i] * offset_of(law, i));
  }
  const Supply supply = measure_supply(p, joints, tau_max, law, solve_inertia(p, xi));
  gap -= supply.bounded;
  size += supply.size;
  return gap > kRounding * size && gap > kUnbounded * impulse_scale(p, joints, v_desired) * supply.leftover;
}

namespace {

/// Rows of the two systems of kinetic_qp, whitened by L of M = L Lᵀ: generators of impulses and demands on velocities look alike.
class Builder {
 public:
  Builder(const ProblemView& p, RequestProofWorkspace& w, Index impulses, Index demands) : p_(p), w_(w) {
    w.generators.setZero(impulses, p.velocities());
    w.constraints.setZero(demands, p.velocities());
    for (GrowVector* v : {&w.lo, &w.hi}) v->setZero(impulses);
    w.d.setZero(demands);
    for (int k = 0; k < p.M.blocks(); ++k) factors_.emplace_back(p.M.block(k));
    w.v0 = p.v + solve_inertia(p, p.impulse);
    w.row.setZero(p.velocities());
  }

  GrowVector& row() { return w_.row; }
  void add_contact(int i, const Vector3d& direction) { p_.J.add_group_transposed(i, direction, w_.row); }
  void add_bounded(int j) { p_.J_b.add_group_transposed(j, Eigen::Matrix<double, 1, 1>(1.0), w_.row); }
  /// The row as a generator with bounds; clears the row.
  void push(double lo, double hi) {
    whiten();
    w_.generators.row(impulses_) = w_.row.transpose();
    w_.lo[impulses_] = lo;
    w_.hi[impulses_++] = hi;
    w_.row.setZero();
  }
  /// The demand row · v⁺ >= target, and its opposite when it is an equation; clears the row.
  void demand(double target, bool equation) {
    const double rest = target - w_.row.dot(w_.v0);
    whiten();
    w_.d[demands_] = rest;
    w_.constraints.row(demands_++) = w_.row.transpose();
    if (equation) {
      w_.d[demands_] = -rest;
      w_.constraints.row(demands_++) = -w_.row.transpose();
    }
    w_.row.setZero();
  }
  Index impulses() const { return impulses_; }
  Index demands() const { return demands_; }

 private:
  void whiten() {
    for (int k = 0; k < p_.M.blocks(); ++k) {
      auto part = w_.row.segment(p_.M.offset(k), p_.M.block_size(k));
      factors_[k].matrixL().solveInPlace(part);
    }
  }

  const ProblemView& p_;
  RequestProofWorkspace& w_;
  std::vector<Eigen::LLT<Eigen::MatrixXd>> factors_;
  Index impulses_ = 0, demands_ = 0;
};

void push_contact(Builder& b, const LawTerms& law, const Contact& contact, int i) {
  if (contact.cone == Contact::Cone::none) return;
  if (contact.cone != Contact::Cone::pyramid) {
    for (int k = 0; k < (contact.cone == Contact::Cone::all ? 3 : 1); ++k) {
      b.add_contact(i, Vector3d::Unit(k));
      b.push(k == 0 ? 0.0 : -kInfinity, kInfinity);
    }
    return;
  }
  const ContactTerms& t = law.contacts[i];
  const int edges = law.disc() ? kPolygon : law.edges;
  const double radius = law.disc() ? t.mu / std::cos(std::numbers::pi / kPolygon) : t.mu;
  for (int j = 0; j < edges; ++j) {
    const Eigen::Vector2d d = radius * section_vertex(j, edges);
    b.add_contact(i, contact_impulse(t, {1.0, d[0], d[1]}));
    b.push(0.0, kInfinity);
  }
}

/// z of the demands in the order in which they were added.
void read_multipliers(const ProblemView& p, std::span<const int> joints, const LawTerms& law, const GrowVector& farkas, RequestProof& z) {
  z.contacts.setZero(p.J.rows());
  z.rows.setZero(p.bounded_rows());
  z.joints.resize(static_cast<Index>(joints.size()));
  Index k = 0;
  const auto equation = [&] {
    k += 2;
    return farkas[k - 2] - farkas[k - 1];
  };
  for (int i = 0; i < p.contacts(); ++i) {
    const Contact c = contact_of(law, i);
    if (c.separates) z.contacts[3 * i] = farkas[k++];
    if (!c.sticks) continue;
    for (int t : {1, 2}) z.contacts[3 * i + t] = equation();
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    if (is_two_sided(p, j)) continue;
    z.rows[j] = is_bilateral(p, j) ? equation() : p.hi[j] == kInfinity ? farkas[k++] : -farkas[k++];
  }
  for (Index j = 0; j < z.joints.size(); ++j) z.joints[j] = equation();
}

}  // namespace

bool find_request_proof(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max,
                        const LawModel& model, RequestProofWorkspace& w, RequestProof& z) {
  z.clear();
  const LawTerms law = lowered(p, model);
  if (!is_covered(law)) return false;
  const Index n = p.contacts(), m = p.bounded_rows(), driven = static_cast<Index>(joints.size());
  Builder b(p, w, n * std::max({3, law.edges, kPolygon}) + m + driven, 5 * n + 2 * m + 2 * driven);
  for (int i = 0; i < p.contacts(); ++i) {
    const Contact c = contact_of(law, i);
    push_contact(b, law, c, i);
    if (c.separates) {
      b.add_contact(i, Vector3d::UnitX());
      b.demand(-offset_of(law, i), false);
    }
    for (int t = 1; t < 3 && c.sticks; ++t) {
      b.add_contact(i, Vector3d::Unit(t));
      b.demand(0.0, true);
    }
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    b.add_bounded(j);
    b.push(p.lo[j], p.hi[j]);
    if (is_two_sided(p, j)) continue;
    const double sign = p.hi[j] == kInfinity ? 1.0 : -1.0;
    b.add_bounded(j);
    b.row() *= sign;
    b.demand(sign * p.b[j], is_bilateral(p, j));
  }
  for (std::size_t k = 0; k < joints.size(); ++k) {
    b.row()[joints[k]] = 1.0;
    b.push(-limit(p, tau_max, k), limit(p, tau_max, k));
    b.row()[joints[k]] = 1.0;
    b.demand(v_desired[static_cast<Index>(k)], true);
  }
  KineticQp qp;
  qp.A = RowsView(w.generators.data(), b.impulses(), p.velocities(), p.velocities());
  qp.C = RowsView(w.constraints.data(), b.demands(), p.velocities(), p.velocities());
  qp.lo = VectorView(w.lo.data(), b.impulses());
  qp.hi = VectorView(w.hi.data(), b.impulses());
  qp.d = VectorView(w.d.data(), b.demands());
  if (kinetic_qp(qp, {}, w.qp, w.solution) != Status::infeasible || w.solution.farkas.size() != b.demands()) return false;
  read_multipliers(p, joints, law, w.solution.farkas, z);
  if (certifies_infeasibility(p, joints, v_desired, tau_max, model, z)) return true;
  z.clear();
  return false;
}

}  // namespace stiction
