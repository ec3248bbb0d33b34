#include "stiction/inverse/stage_two.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Ref = Eigen::Ref<const VectorXd>;

constexpr double kBelow = 1e-2, kFinest = 1e-13;  // tolerance of the program: two digits below the certificate's, no finer than its default

// Friction of contacts whose tangents give way is fixed by the motion: it goes to `fixed`, and their normals alone are left to choose.
void split_off_friction(const LawTerms& law, const GrowVector& lambda, StageTwoWorkspace& w) {
  w.terms.family = law.family;
  w.terms.edges = law.edges;
  w.terms.contacts = law.contacts;
  w.fixed.setZero(lambda.size());
  w.free_part = lambda;
  for (std::size_t i = 0; i < law.contacts.size(); ++i) {
    if (!law.contacts[i].has_fixed_friction()) continue;
    const Index at = 3 * static_cast<Index>(i) + 1;
    w.fixed.segment<2>(at) = lambda.segment<2>(at);
    w.free_part.segment<2>(at).setZero();
    w.terms.contacts[i].mu = w.terms.contacts[i].tangential_compliance = 0.0;
    w.terms.contacts[i].known.setZero();
  }
}

const ContactTerms& term_of(const StageTwoWorkspace& w, const Generators::Variable& g) {
  return w.terms.contacts[w.form.contacts[g.contact]];
}

// c = (M (v⁺ - v) - p - J_bᵀ λ_b)[prescribed], what torques and contacts together must supply; fixed friction is taken off.
void torque_target(const ProblemView& p, const Ref& v_plus, const Ref& lambda_b, StageTwoWorkspace& w) {
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

bool is_polygonal_coulomb(const StandardForm& form) { return form.family == Family::coulomb && !form.disc(); }

// Generators that the law lets push at the velocities ũ: all of the cone of the family energy; with complementarity those of touching
// contacts that rest (convex) or dissipate most (Coulomb).
bool is_admissible(const StandardForm& form, const Generators::Variable& g, const Eigen::Vector3d& u, double tolerance) {
  if (form.family == Family::energy) return true;
  if (form.family == Family::coulomb && u[0] > tolerance) return false;  // no friction, in any direction, on a contact that opens
  return std::abs(is_polygonal_coulomb(form) ? u[0] : g.direction.dot(u)) <= tolerance;
}

void find_admissible(const ProblemView& problem, const ReducedProblem& p, const Ref& v_plus, StageTwoWorkspace& w) {
  w.admissible.clear();
  w.u.resize(problem.J.rows());
  problem.J.multiply(v_plus, w.u);
  const double tolerance = 1e-9 * std::max({1e-300, largest_entry(v_plus), largest_entry(p.u_free), largest_push(p.offset)});
  const Generators& g = w.generators;
  const auto velocity = [&](const Generators::Variable& v) {
    const int i = w.form.contacts[v.contact];
    return law_velocity(w.terms.contacts[i], w.u.segment<3>(3 * i), Eigen::Vector3d::Zero());
  };
  for (int v = 0; v < g.contact_variables; ++v) {
    const Generators::Variable& variable = g.variables[v];
    if (is_admissible(w.form, variable, velocity(variable), tolerance)) w.admissible.push_back(v);
  }
  if (!is_polygonal_coulomb(w.form)) return;
  // A sliding contact keeps the edges that dissipate most.
  std::erase_if(w.admissible, [&](int v) {
    const Generators::Variable& a = g.variables[v];
    const Eigen::Vector3d u = velocity(a);
    const auto slip = [&](const Generators::Variable& b) { return b.direction.tail<2>().dot(u.tail<2>()); };
    double least = slip(a);
    for (int k = v; k >= 0 && g.variables[k].contact == a.contact; --k) least = std::min(least, slip(g.variables[k]));
    for (int k = v; k < g.contact_variables && g.variables[k].contact == a.contact; ++k) {
      least = std::min(least, slip(g.variables[k]));
    }
    return slip(a) > least + tolerance;
  });
}

void gather_rows(const ProblemView& p, const ReducedProblem& reduced, StageTwoWorkspace& w) {
  const Index count = static_cast<Index>(w.admissible.size()), joints = static_cast<Index>(p.prescribed.size()), r = reduced.rank_bound();
  w.joint_rows.assign(count * joints, 0.0);
  w.motion_rows.resize(count * r);
  w.lambda.resize(p.velocities());
  for (Index k = 0; k < count; ++k) {
    const int v = w.admissible[k];
    const Generators::Variable& variable = w.generators.variables[v];
    std::copy_n(w.generators.storage.col(v).data(), r, w.motion_rows.data() + k * r);
    w.lambda.setZero();
    add_contact_row(p.J, w.form.contacts[variable.contact], contact_impulse(term_of(w, variable), variable.direction), w.lambda.data());
    for (Index j = 0; j < joints; ++j) w.joint_rows[k * joints + j] = w.lambda[p.prescribed[j]];
  }
}

}  // namespace

Status stage_two(const ProblemView& p, const Reduction& reduction, const LawTerms& terms, const SolveOptions& options, const Ref& v_plus,
                 const Ref& lambda_b, StageTwoWorkspace& w, GrowVector& lambda) {
  const ReducedProblem& reduced = reduction.reduced;
  if (reduced.contacts() == 0) return Status::solved;
  w.y.setZero(reduced.rank_bound());
  split_off_friction(terms, lambda, w);
  reduced.Rt.add_transposed(w.free_part, w.y);
  make_standard_form(reduced, w.terms, w.form);
  make_generators(w.form.problem, GeneratorKind::cone, terms.disc() ? options.edges : terms.edges, w.generators);
  torque_target(p, v_plus, lambda_b, w);
  find_admissible(p, reduced, v_plus, w);
  gather_rows(p, reduced, w);
  const Index count = static_cast<Index>(w.admissible.size()), r = reduced.rank_bound();
  RangeQp qp;
  qp.W = RowsView(w.joint_rows.data(), count, static_cast<Index>(p.prescribed.size()), static_cast<Index>(p.prescribed.size()));
  qp.t = w.target;
  qp.E = RowsView(w.motion_rows.data(), count, r, r);
  qp.e = w.y;
  w.lo.resize(count);
  for (Index k = 0; k < count; ++k) w.lo[k] = w.generators.lo[w.admissible[k]];
  qp.lo = w.lo;
  w.x0 = w.solution.x;
  w.nu0 = w.solution.nu;
  if (options.warm_start && w.x0.size() == count && w.nu0.size() == r) {
    qp.x0 = w.x0;
    qp.nu0 = w.nu0;
  }
  const Status status =
      range_qp(qp, {.tolerance = std::max(kFinest, kBelow * options.tolerance), .max_pivots = options.max_pivots}, w.qp, w.solution);
  if (status != Status::solved) return status;
  lambda = w.fixed;
  for (Index k = 0; k < count; ++k) {
    const Generators::Variable& v = w.generators.variables[w.admissible[k]];
    lambda.segment<3>(3 * w.form.contacts[v.contact]) += w.solution.x[k] * contact_impulse(term_of(w, v), v.direction);
  }
  return Status::solved;
}

}  // namespace stiction
