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

// What torques, contacts and rows that are left to choose together must supply: the rest is taken off.
void torque_target(const ProblemView& p, const Ref& v_plus, StageTwoWorkspace& w) {
  w.lambda = v_plus - p.v;
  w.residual.resize(p.velocities());
  p.M.multiply(w.lambda, w.residual);
  w.residual -= p.impulse;
  w.lambda.setZero(p.velocities());
  p.J_b.add_transposed(w.fixed_rows, w.lambda);
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

// Speed (m/s) that counts as none.
double still(const ReducedProblem& p, const Ref& v_plus) {
  return 1e-9 * std::max({1e-300, largest_entry(v_plus), largest_entry(p.u_free), largest_push(p.offset)});
}

// Rows whose impulse the motion leaves open within their bounds: rigid ones at their target. The others keep theirs.
void find_open_rows(const ProblemView& problem, const ReducedProblem& p, const Ref& v_plus, const Ref& lambda_b, StageTwoWorkspace& w) {
  w.open_rows.clear();
  w.fixed_rows = lambda_b;
  w.u.resize(problem.bounded_rows());
  problem.J_b.multiply(v_plus, w.u);
  const double tolerance = still(p, v_plus);
  for (int j = 0; j < problem.bounded_rows(); ++j) {
    const bool at_target = compliance(problem, j) == 0.0 && std::abs(w.u[j] - problem.b[j]) <= tolerance;
    if (!is_bilateral(problem, j) && !at_target) continue;
    w.open_rows.push_back(j);
    w.fixed_rows[j] = 0.0;
  }
}

void find_admissible(const ProblemView& problem, const ReducedProblem& p, const Ref& v_plus, StageTwoWorkspace& w) {
  w.admissible.clear();
  w.u.resize(problem.J.rows());
  problem.J.multiply(v_plus, w.u);
  const double tolerance = still(p, v_plus);
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

// One variable after the other: what its unit does to the driven joints and to all other coordinates.
void append_momentum(const ProblemView& p, StageTwoWorkspace& w) {
  for (const int j : p.prescribed) w.joint_rows.push_back(w.lambda[j]);
  if (p.bounded_rows() == 0) return;
  for (const int j : w.free) w.motion_rows.push_back(w.lambda[j]);
}

// W and E of the programme (range_qp.hpp). With rows of J_b the motion is that of the coordinates themselves, for the reduced ones do not
// see what bilateral rows do.
void gather_rows(const ProblemView& p, const ReducedProblem& reduced, StageTwoWorkspace& w) {
  w.joint_rows.clear();
  w.motion_rows.clear();
  for (const int v : w.admissible) {
    const Generators::Variable& variable = w.generators.variables[v];
    w.lambda.setZero(p.velocities());
    const Eigen::Vector3d impulse = contact_impulse(term_of(w, variable), variable.direction);
    p.J.add_group_transposed(w.form.contacts[variable.contact], impulse, w.lambda);
    append_momentum(p, w);
    const auto column = w.generators.storage.col(v);
    if (p.bounded_rows() == 0) w.motion_rows.insert(w.motion_rows.end(), column.data(), column.data() + reduced.rank_bound());
  }
  for (const int j : w.open_rows) {
    w.lambda.setZero(p.velocities());
    p.J_b.add_group_transposed(j, Eigen::Matrix<double, 1, 1>(1.0), w.lambda);
    append_momentum(p, w);
  }
}

// e of the programme: the motion that stage I's impulses make, those that are left to choose.
void motion_target(const ProblemView& p, const ReducedProblem& reduced, const Ref& lambda_b, StageTwoWorkspace& w) {
  if (p.bounded_rows() == 0) {
    w.y.setZero(reduced.rank_bound());
    reduced.Rt.add_transposed(w.free_part, w.y);
    return;
  }
  w.residual = lambda_b - w.fixed_rows;
  w.lambda.setZero(p.velocities());
  p.J.add_transposed(w.free_part, w.lambda);
  p.J_b.add_transposed(w.residual, w.lambda);
  w.y.resize(static_cast<Index>(w.free.size()));
  for (std::size_t k = 0; k < w.free.size(); ++k) w.y[static_cast<Index>(k)] = w.lambda[w.free[k]];
}

void find_free(const ProblemView& p, StageTwoWorkspace& w) {
  w.is_driven.assign(p.velocities(), 0);
  for (const int j : p.prescribed) w.is_driven[j] = 1;
  w.free.clear();
  for (int j = 0; j < p.velocities(); ++j) {
    if (!w.is_driven[j]) w.free.push_back(j);
  }
}

void set_bounds(const ProblemView& p, StageTwoWorkspace& w) {
  const Index contacts = static_cast<Index>(w.admissible.size()), rows = static_cast<Index>(w.open_rows.size());
  w.lo.resize(contacts + rows);
  w.hi.resize(contacts + rows);
  for (Index k = 0; k < contacts; ++k) {
    w.lo[k] = w.generators.lo[w.admissible[k]];
    w.hi[k] = w.generators.hi[w.admissible[k]];
  }
  for (Index k = 0; k < rows; ++k) {
    w.lo[contacts + k] = p.lo[w.open_rows[k]];
    w.hi[contacts + k] = p.hi[w.open_rows[k]];
  }
}

void take_chosen(const StageTwoWorkspace& w, StageTwoImpulses& to) {
  const Index contacts = static_cast<Index>(w.admissible.size());
  to.contacts = w.fixed;
  for (Index k = 0; k < contacts; ++k) {
    const Generators::Variable& v = w.generators.variables[w.admissible[k]];
    to.contacts.segment<3>(3 * w.form.contacts[v.contact]) += w.solution.x[k] * contact_impulse(term_of(w, v), v.direction);
  }
  to.rows = w.fixed_rows;
  for (std::size_t k = 0; k < w.open_rows.size(); ++k) to.rows[w.open_rows[k]] = w.solution.x[contacts + static_cast<Index>(k)];
  to.joints = w.target - w.solution.y;
}

}  // namespace

Status stage_two(const ProblemView& p, const Reduction& reduction, const LawTerms& terms, const SolveOptions& options, const Ref& v_plus,
                 StageTwoWorkspace& w, StageTwoImpulses& impulses) {
  const ReducedProblem& reduced = reduction.reduced;
  find_open_rows(p, reduced, v_plus, impulses.rows, w);
  if (reduced.contacts() == 0 && w.open_rows.empty()) return Status::solved;
  split_off_friction(terms, impulses.contacts, w);
  make_standard_form(reduced, w.terms, w.form);
  make_generators(w.form.problem, GeneratorKind::cone, terms.disc() ? options.edges : terms.edges, w.generators);
  torque_target(p, v_plus, w);
  find_admissible(p, reduced, v_plus, w);
  find_free(p, w);
  gather_rows(p, reduced, w);
  motion_target(p, reduced, impulses.rows, w);
  set_bounds(p, w);
  const Index count = w.lo.size(), driven = static_cast<Index>(p.prescribed.size()), r = w.y.size();
  RangeQp qp;
  qp.W = RowsView(w.joint_rows.data(), count, driven, driven);
  qp.t = w.target;
  qp.E = RowsView(w.motion_rows.data(), count, r, r);
  qp.e = w.y;
  qp.lo = w.lo;
  qp.hi = w.hi;
  w.x0 = w.solution.x;
  w.nu0 = w.solution.nu;
  if (options.warm_start && w.x0.size() == count && w.nu0.size() == r) {
    qp.x0 = w.x0;
    qp.nu0 = w.nu0;
  }
  const Status status =
      range_qp(qp, {.tolerance = std::max(kFinest, kBelow * options.tolerance), .max_pivots = options.max_pivots}, w.qp, w.solution);
  if (status == Status::solved) take_chosen(w, impulses);
  return status;
}

}  // namespace stiction
