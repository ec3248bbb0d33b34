#include "stiction/laws/infeasibility.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/base/errors.hpp"
#include "stiction/problem/newton_impact.hpp"
#include "stiction/problem/softness.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Vector3d;

/// The impulses that press without bound under a law: none of its contacts (they give way), normals alone, all that sticks, or the friction
/// cone.
enum class RayCone { none, normal, sticking, pyramid };

RayCone ray_cone(Law law) {
  switch (law) {
    case Law::frictionless:
    case Law::viscous:
    case Law::coulomb_pyramid:
    case Law::coulomb_cone:
    case Law::moreau:
    case Law::max_dissipation:
      return RayCone::normal;
    case Law::no_slip:
      return RayCone::sticking;
    case Law::anitescu:
    case Law::todorov:
      return RayCone::pyramid;
    default:
      return RayCone::none;
  }
}

constexpr int kDiscVertices = 16;  // of the disc's, among which a proof is sought

/// Which contacts the law knows, and the offset it gives them.
struct ContactRole {
  bool present, closed;
  double offset;
};

// Contacts of other laws in a mixture that is solved as todorov have their own softness, which is none.
ContactSoftness todorov_softness(const ContactProblem& p, int i, double offset) {
  return contact_softness(softness_of(p.laws, Softness::regularized, i), material_of(p.material, i), p.dt, p.gap[i], offset, 0.0);
}

// After `read_contacts`.
ContactRole role_of(const ContactProblem& p, const SolveOptions& options, const InfeasibilityWorkspace& w, int i) {
  const bool closed = w.closed[static_cast<std::size_t>(i)] != 0;
  const double offset = w.offset[i];
  if (ray_cone(options.law) == RayCone::none) return {false, closed, 0.0};
  if (options.law == Law::max_dissipation || options.law == Law::moreau) return {closed, closed, offset};
  if (options.law == Law::todorov) return {!(todorov_softness(p, i, offset).normal > 0.0), closed, offset};
  if (options.law != Law::coulomb_pyramid || options.variant == PyramidVariant::stewart_trinkle) return {true, closed, offset};
  return {p.gap[i] <= kTouchGap, closed, std::min(offset, 0.0)};
}

// ν_N·c - β·b - π·v_prescribed, and the sum of the terms' sizes.
double work_of(const ContactProblem& p, const SolveOptions& options, const InfeasibilityRay& ray, InfeasibilityWorkspace& w,
               double& terms) {
  read_contacts(p, options, w.closed, w.offset);
  double work = 0.0;
  terms = 0.0;
  const auto add = [&](double x) {
    work += x;
    terms += std::abs(x);
  };
  for (int i = 0; i < p.contacts(); ++i) {
    add(ray.impulses[3 * i] * role_of(p, options, w, i).offset);
  }
  for (Index j = 0; j < p.b.size(); ++j) add(-ray.bounded_impulses[j] * p.b[j]);
  for (Index k = 0; k < ray.prescribed_impulses.size(); ++k) add(-ray.prescribed_impulses[k] * p.v_prescribed[k]);
  return work;
}

// Largest velocity that the problem's own data speak of (m/s).
double velocity_scale(const ContactProblem& p) {
  double scale = 0.0;
  for (const GrowVector* x : {&p.v, &p.b, &p.v_prescribed}) {
    if (x->size() > 0) scale = std::max(scale, x->cwiseAbs().maxCoeff());
  }
  for (int k = 0; k < p.M.blocks(); ++k) {
    for (int j = 0; j < p.M.block_size(k); ++j) scale = std::max(scale, std::abs(p.impulse[p.M.offset(k) + j]) / p.M.block(k)(j, j));
  }
  for (const double gap : p.gap) scale = std::max(scale, gap / p.dt);
  return scale;
}

// Contradicting bilateral rows: what is left of their least squares is orthogonal to their range in the coordinates that are free.
bool blame_bilateral_rows(const ContactProblem& p, const Reduction& reduction, InfeasibilityWorkspace& w, InfeasibilityRay& ray) {
  for (const int row : reduction.bilateral) {
    Eigen::Matrix<double, 1, 1> left(-p.b[row]);
    p.J_b.add_group_product(row, reduction.v_free, left);
    ray.bounded_impulses[row] = -left[0];
  }
  w.beta.setZero(p.velocities());
  p.J_b.add_transposed(ray.bounded_impulses, w.beta);
  for (std::size_t k = 0; k < p.prescribed.size(); ++k) ray.prescribed_impulses[static_cast<Index>(k)] = -w.beta[p.prescribed[k]];
  return !reduction.bilateral.empty();
}

// Multipliers of the bilateral rows and of the prescribed coordinates that take up what ν and β leave of momentum.
void close_momentum(const ContactProblem& p, Reduction& reduction, InfeasibilityWorkspace& w, InfeasibilityRay& ray) {
  w.still = p;
  w.still.impulse.setZero();
  recover_bilateral(w.still, reduction, p.v, ray.impulses, ray.bounded_impulses, ray.prescribed_impulses);
}

// A one-sided row whose velocity is prescribed on the wrong side.
bool blame_fixed_row(const ContactProblem& p, Reduction& reduction, InfeasibilityWorkspace& w, InfeasibilityRay& ray) {
  for (const int row : reduction.fixed) {
    Eigen::Matrix<double, 1, 1> velocity(-p.b[row]);
    p.J_b.add_group_product(row, reduction.v_free, velocity);
    if (velocity[0] < 0.0 && p.hi[row] == kInfinity) ray.bounded_impulses[row] = 1.0;
    if (velocity[0] > 0.0 && p.lo[row] == -kInfinity) ray.bounded_impulses[row] = -1.0;
    if (ray.bounded_impulses[row] == 0.0) continue;
    close_momentum(p, reduction, w, ray);
    return true;
  }
  return false;
}

bool blame_contacts(const ContactProblem& p, Reduction& reduction, const SolveOptions& options, InfeasibilityWorkspace& w,
                    InfeasibilityRay& ray) {
  const ReducedProblem& r = reduction.reduced;
  const RayCone cone = ray_cone(options.law);
  const Friction friction = cone == RayCone::sticking ? Friction::no_slip : (cone == RayCone::pyramid ? Friction::pyramid : Friction::none);
  make_generators(r, friction, options.edges == 0 ? kDiscVertices : options.edges, false, w.generators);
  Generators& g = w.generators;
  if (g.size() == 0) return false;
  read_contacts(p, options, w.closed, w.offset);
  for (int v = 0; v < g.contact_variables; ++v) {
    const Generators::Variable& variable = g.variables[static_cast<std::size_t>(v)];
    const int i = variable.contact;
    const ContactRole role = role_of(p, options, w, i);
    g.c[v] += variable.direction[0] * (role.offset - r.offset[i]);
    if (!role.present) g.lo[v] = g.hi[v] = 0.0;
  }
  BoundedQp qp;
  qp.A = RowsView(g.storage.data(), g.size(), r.rank_bound(), r.rank_bound());
  qp.c = g.c;
  qp.lo = g.lo;
  qp.hi = g.hi;
  if (bounded_qp(qp, {}, w.qp, w.solution) != Status::infeasible) return false;
  expand(r, g, w.solution.direction, ray.impulses, w.beta);
  for (std::size_t j = 0; j < reduction.bounded.size(); ++j) ray.bounded_impulses[reduction.bounded[j]] = w.beta[static_cast<Index>(j)];
  close_momentum(p, reduction, w, ray);
  return true;
}

bool in_cone(const ContactProblem& p, const SolveOptions& options, const InfeasibilityRay& ray, InfeasibilityWorkspace& w) {
  read_contacts(p, options, w.closed, w.offset);
  w.angle.setZero(p.contacts());
  if (options.align_edges) edge_angles(p, w.angle);
  const RayCone cone = ray_cone(options.law);
  constexpr double kRounding = 1e-14;
  for (int i = 0; i < p.contacts(); ++i) {
    const Vector3d nu = ray.impulses.segment<3>(3 * i);
    const ContactRole role = role_of(p, options, w, i);
    if (!role.present && !nu.isZero(0.0)) return false;
    if (!(nu[0] >= 0.0)) return false;
    const bool sticks = role.closed && (cone == RayCone::sticking || (cone == RayCone::pyramid && std::isinf(p.mu[i])));
    if (sticks) continue;
    const double reach = cone == RayCone::pyramid && role.closed ? p.mu[i] * nu[0] : 0.0;
    if (options.edges == 0) {
      if (std::hypot(nu[1], nu[2]) > reach * (1.0 + kRounding)) return false;
      continue;
    }
    const double half = std::numbers::pi / options.edges;
    for (int j = 0; j < options.edges; ++j) {
      const double normal = (2 * j + 1) * half + w.angle[i];
      if (std::cos(normal) * nu[1] + std::sin(normal) * nu[2] > std::cos(half) * reach * (1.0 + kRounding) + kRounding * nu[0])
        return false;
    }
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    if (ray.bounded_impulses[j] > 0.0 && p.hi[j] != kInfinity) return false;
    if (ray.bounded_impulses[j] < 0.0 && p.lo[j] != -kInfinity) return false;
  }
  return true;
}

}  // namespace

void read_contacts(const ContactProblem& p, const SolveOptions& options, std::vector<char>& closed, GrowVector& offset) {
  if (options.law == Law::moreau) return find_closed_at_midpoint(p, closed, offset);
  normal_offset(p, offset);
  find_closed(p, closed);
  for (int i = 0; i < p.contacts() && options.law == Law::todorov; ++i) offset[i] = -todorov_softness(p, i, offset[i]).reference;
}

bool proves_infeasible(const ContactProblem& p, const SolveOptions& options, const InfeasibilityRay& ray, InfeasibilityWorkspace& w) {
  constexpr double kRounding = 1e-13, kFarBeyond = 1e6;
  require_size("ray.impulses", ray.impulses.size(), 3 * p.contacts());
  require_size("ray.bounded_impulses", ray.bounded_impulses.size(), p.bounded_rows());
  require_size("ray.prescribed_impulses", ray.prescribed_impulses.size(), static_cast<Index>(p.prescribed.size()));
  if (!ray.impulses.allFinite() || !ray.bounded_impulses.allFinite() || !ray.prescribed_impulses.allFinite() ||
      !in_cone(p, options, ray, w)) {
    return false;
  }
  double terms = 0.0;
  const double work = work_of(p, options, ray, w, terms);
  GrowVector& left = w.left;
  left.setZero(p.velocities());
  p.J.add_transposed(ray.impulses, left);
  p.J_b.add_transposed(ray.bounded_impulses, left);
  for (std::size_t k = 0; k < p.prescribed.size(); ++k) left[p.prescribed[k]] += ray.prescribed_impulses[static_cast<Index>(k)];
  return -work > kRounding * terms && left.lpNorm<1>() * kFarBeyond * velocity_scale(p) <= -work;
}

bool proves_infeasible(const ContactProblem& p, const SolveOptions& options, const InfeasibilityRay& ray) {
  InfeasibilityWorkspace workspace;
  return proves_infeasible(p, options, ray, workspace);
}

bool find_infeasibility(const ContactProblem& p, Reduction& reduction, const SolveOptions& options, InfeasibilityWorkspace& w,
                        InfeasibilityRay& ray) {
  ray.clear();
  const auto attempt = [&](auto blame) {
    ray.impulses.setZero(3 * p.contacts());
    ray.bounded_impulses.setZero(p.bounded_rows());
    ray.prescribed_impulses.setZero(static_cast<Index>(p.prescribed.size()));
    ray.proof = blame() && proves_infeasible(p, options, ray, w);
    return ray.proof;
  };
  const bool found = attempt([&] { return blame_contacts(p, reduction, options, w, ray); }) ||
                     attempt([&] { return blame_fixed_row(p, reduction, w, ray); });
  if (!found && !attempt([&] { return blame_bilateral_rows(p, reduction, w, ray); })) {
    ray.clear();
    return false;
  }
  double terms = 0.0;
  ray.work = work_of(p, options, ray, w, terms);
  return true;
}

}  // namespace stiction
