#include "stiction/inverse/stage_two.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Ref = Eigen::Ref<const VectorXd>;

Friction friction_of(Law law) {
  if (law == Law::frictionless || law == Law::viscous) return Friction::none;
  return law == Law::no_slip ? Friction::no_slip : Friction::pyramid;
}

// Viscous friction is fixed by the motion: only the normals are free, and what they meet is what friction leaves.
void split_off_friction(Law law, const GrowVector& lambda, StageTwoWorkspace& w) {
  w.fixed.setZero(lambda.size());
  w.free_part = lambda;
  if (law != Law::viscous) return;
  for (Index i = 0; i < lambda.size(); i += 3) {
    w.fixed.segment<2>(i + 1) = lambda.segment<2>(i + 1);
    w.free_part.segment<2>(i + 1).setZero();
  }
}

// c = (M (v⁺ - v) - p - J_bᵀ λ_b)[prescribed], what torques and contacts together must supply; fixed friction is taken off.
void torque_target(const ContactProblem& p, const Ref& v_plus, const Ref& lambda_b, StageTwoWorkspace& w) {
  w.lambda = v_plus - p.v;
  w.residual.resize(p.velocities());
  p.M.multiply(w.lambda, w.residual);
  w.residual -= p.impulse;
  w.lambda.setZero(p.velocities());
  p.J_b.add_transposed(lambda_b, w.lambda);
  p.J.add_transposed(w.fixed, w.lambda);
  w.target.resize(static_cast<Index>(p.prescribed.size()));
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) {
    w.target[static_cast<Index>(i)] = w.residual[p.prescribed[i]] - w.lambda[p.prescribed[i]];
  }
}

// Generators that the law lets push at the contact velocities u: all of the pyramid for max_dissipation; with complementarity those
// of touching contacts that rest (convex laws) or dissipate most (Coulomb).
bool is_admissible(const ReducedProblem& p, Law law, const Generators::Variable& g, const Eigen::Vector3d& u, double tolerance) {
  if (law == Law::max_dissipation) return true;
  const double normal = u[0] + p.offset[g.contact], velocity = g.direction.dot(u) + g.direction[0] * p.offset[g.contact];
  if (law != Law::coulomb_pyramid) return std::abs(velocity) <= tolerance;
  return std::abs(normal) <= tolerance;
}

void find_admissible(const ContactProblem& problem, const ReducedProblem& p, Law law, const Ref& v_plus, StageTwoWorkspace& w) {
  w.admissible.clear();
  w.u.resize(problem.J.rows());
  problem.J.multiply(v_plus, w.u);
  const double tolerance = 1e-9 * std::max({1e-300, v_plus.cwiseAbs().maxCoeff(), p.u_free.cwiseAbs().maxCoeff(), p.offset.maxCoeff()});
  const Generators& g = w.generators;
  for (int v = 0; v < g.contact_variables; ++v) {
    const Generators::Variable& variable = g.variables[static_cast<std::size_t>(v)];
    if (is_admissible(p, law, variable, w.u.segment<3>(3 * variable.contact), tolerance)) w.admissible.push_back(v);
  }
  if (law != Law::coulomb_pyramid) return;
  // A sliding contact keeps the edges that dissipate most.
  std::erase_if(w.admissible, [&](int v) {
    const Generators::Variable& a = g.variables[static_cast<std::size_t>(v)];
    const auto slip = [&](const Generators::Variable& b) { return b.direction.tail<2>().dot(w.u.segment<2>(3 * b.contact + 1)); };
    double least = slip(a);
    for (int k = v; k >= 0 && g.variables[static_cast<std::size_t>(k)].contact == a.contact; --k)
      least = std::min(least, slip(g.variables[static_cast<std::size_t>(k)]));
    for (int k = v; k < g.contact_variables && g.variables[static_cast<std::size_t>(k)].contact == a.contact; ++k) {
      least = std::min(least, slip(g.variables[static_cast<std::size_t>(k)]));
    }
    return slip(a) > least + tolerance;
  });
}

void gather_rows(const ContactProblem& p, const ReducedProblem& reduced, StageTwoWorkspace& w) {
  const Index count = static_cast<Index>(w.admissible.size()), joints = static_cast<Index>(p.prescribed.size()), r = reduced.rank_bound();
  w.joint_rows.assign(static_cast<std::size_t>(count * joints), 0.0);
  w.motion_rows.resize(static_cast<std::size_t>(count * r));
  w.lambda.resize(p.velocities());
  for (Index k = 0; k < count; ++k) {
    const int v = w.admissible[static_cast<std::size_t>(k)];
    const Generators::Variable& variable = w.generators.variables[static_cast<std::size_t>(v)];
    std::copy_n(w.generators.storage.row(v).data(), r, w.motion_rows.data() + k * r);
    w.lambda.setZero();
    add_contact_row(p.J, variable.contact, variable.direction, w.lambda.data());
    for (Index j = 0; j < joints; ++j)
      w.joint_rows[static_cast<std::size_t>(k * joints + j)] = w.lambda[p.prescribed[static_cast<std::size_t>(j)]];
  }
}

}  // namespace

Status stage_two(const ContactProblem& p, const Reduction& reduction, const SolveOptions& options, const Ref& v_plus, const Ref& lambda_b,
                 StageTwoWorkspace& w, GrowVector& lambda) {
  const ReducedProblem& reduced = reduction.reduced;
  if (reduced.contacts() == 0) return Status::solved;
  w.y.setZero(reduced.rank_bound());
  split_off_friction(options.law, lambda, w);
  reduced.Rt.add_transposed(w.free_part, w.y);
  make_generators(reduced, friction_of(options.law), options.edges, options.law == Law::max_dissipation, w.generators);
  torque_target(p, v_plus, lambda_b, w);
  find_admissible(p, reduced, options.law, v_plus, w);
  gather_rows(p, reduced, w);
  const Index count = static_cast<Index>(w.admissible.size()), r = reduced.rank_bound();
  RangeQp qp;
  qp.W = RowsView(w.joint_rows.data(), count, static_cast<Index>(p.prescribed.size()), static_cast<Index>(p.prescribed.size()));
  qp.t = w.target;
  qp.E = RowsView(w.motion_rows.data(), count, r, r);
  qp.e = w.y;
  w.lo.resize(count);
  for (Index k = 0; k < count; ++k) w.lo[k] = w.generators.lo[w.admissible[static_cast<std::size_t>(k)]];
  qp.lo = w.lo;
  w.x0 = w.solution.x;
  w.nu0 = w.solution.nu;
  if (options.warm_start && w.x0.size() == count && w.nu0.size() == r) {
    qp.x0 = w.x0;
    qp.nu0 = w.nu0;
  }
  const Status status = range_qp(qp, {}, w.qp, w.solution);
  if (status != Status::solved) return status;
  lambda = w.fixed;
  for (Index k = 0; k < count; ++k) {
    const Generators::Variable& v = w.generators.variables[static_cast<std::size_t>(w.admissible[static_cast<std::size_t>(k)])];
    lambda.segment<3>(3 * v.contact) += w.solution.x[k] * v.direction;
  }
  return Status::solved;
}

}  // namespace stiction
