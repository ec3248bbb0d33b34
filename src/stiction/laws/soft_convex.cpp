#include "stiction/laws/soft_convex.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/laws/viscous.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Vector3d;

void require_stiffness(const ReducedProblem& p, int i) {
  const double stiffness = material_of(p.material, i).stiffness;
  if (stiffness > 0.0) return;
  throw InvalidArgument(fmt::format("material[{}].stiffness", i), "a number > 0 (N/m) under law sap", fmt::format("{}", stiffness));
}

// Cones that are no friction cones: the half line, or under viscous friction the half space with soft tangents.
void set_half_space(const ReducedProblem& p, const SolveOptions& options, int i, SoftContact& c) {
  c.mu = 0.0;
  if (options.law != Law::viscous || options.viscous_slip == ViscousSlip::before) return;
  const double softness = 1.0 / viscous_damping(p, i);
  if (!std::isfinite(softness)) return;
  c.mu = kInfinity;
  c.tangential = softness;
}

// Friction of the slip before the step is known: what it does to the velocities.
const ReducedProblem& with_known_friction(const ReducedProblem& p, SoftConvexWorkspace& w) {
  w.known.setZero(3 * p.contacts());
  if (p.material.empty() || p.u_before.size() == 0) return p;
  for (int i = 0; i < p.contacts(); ++i) w.known.segment<2>(3 * i + 1) = -viscous_damping(p, i) * p.u_before.segment<2>(3 * i + 1);
  w.y.setZero(p.rank_bound());
  p.Rt.add_transposed(w.known, w.y);
  w.shifted = p;
  w.u.resize(3 * p.contacts());
  p.Rt.multiply(w.y, w.u);
  w.shifted.u_free += w.u;
  w.u.resize(p.bounded_rows());
  p.Bt.multiply(w.y, w.u);
  w.shifted.w_free += w.u;
  return w.shifted;
}

}  // namespace

void make_soft_contacts(const ReducedProblem& p, const SolveOptions& options, std::vector<SoftContact>& contacts) {
  const LawConditions law = conditions(options);
  contacts.assign(static_cast<std::size_t>(p.contacts()), {});
  for (int i = 0; i < p.contacts(); ++i) {
    SoftContact& c = contacts[static_cast<std::size_t>(i)];
    const bool rubs = p.closed[static_cast<std::size_t>(i)] != 0 || !law.friction_needs_contact;
    c.mu = rubs ? p.mu[i] : 0.0;
    c.polygon = law.edges > 0;
    if (softness_of(p.laws, law.softness, i) == Softness::compliant) require_stiffness(p, i);
    const ContactSoftness s = contact_softness(law.softness, p, i);
    c.normal = s.normal;
    c.tangential = s.tangential;
    c.reference = {s.reference, 0.0, 0.0};
    if (options.law == Law::frictionless || options.law == Law::viscous) set_half_space(p, options, i, c);
  }
}

void solve_by_newton(const ReducedProblem& p, const SolveOptions& options, SoftConvexWorkspace& w, Impulses& out) {
  make_soft_contacts(p, options, w.contacts);
  SoftConeOptions program;
  if (options.edges > 0) program.edges = options.edges;
  const bool known = options.law == Law::viscous && options.viscous_slip == ViscousSlip::before;
  const ReducedProblem& problem = known ? with_known_friction(p, w) : p;
  program.warm_start = is_start(p, options, out);
  if (program.warm_start) {
    w.solution.lambda = out.lambda;
    if (known) w.solution.lambda -= w.known;
    w.solution.beta = out.beta;
  }
  soft_cone(problem, w.contacts, program, w.program, w.solution);
  out.lambda = w.solution.lambda;
  if (known) out.lambda += w.known;
  out.beta = w.solution.beta;
  out.status = w.solution.status;
  out.iterations = w.solution.iterations;
}

}  // namespace stiction
