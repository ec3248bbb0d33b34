#include "stiction/inverse/stage_two.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Ref = Eigen::Ref<const VectorXd>;

constexpr double kBelow = 1e-2, kFinest = 1e-13;  // tolerance of the program: two digits below the certificate's, no finer than its default
constexpr double kEnough = 1e-9;  // of an edge's slope beside its terms: what range_qp accepts where edges are nearly parallel
constexpr int kRounds = 50;       // of further edges: about ten are tried as a rule
constexpr int kFewest = 4;        // edges of a disc at first: `edges` 0 is the disc where a law may have a polygon

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
// contacts that rest (convex) or dissipate most (Coulomb). Round cones: `face_of`.
bool is_admissible(const StandardForm& form, const Generators::Variable& g, const Eigen::Vector3d& u, double tolerance) {
  if (form.family == Family::energy) return true;
  if (form.family == Family::coulomb && u[0] > tolerance) return false;  // no friction, in any direction, on a contact that opens
  return std::abs(is_polygonal_coulomb(form) ? u[0] : g.direction.dot(u)) <= tolerance;
}

bool is_round(const StandardForm& form, int k) {
  const double mu = form.problem.mu[k];
  return form.disc() && mu > 0.0 && !std::isinf(mu);
}

// What the law lets a round cone push with at ũ: nothing where it opens, all of it at rest, the ray against its slip.
enum class Face { apex, cone, ray };

Face face_of(Family family, double mu, const Eigen::Vector3d& u, double tolerance) {
  if (family == Family::energy) return Face::cone;
  const double slip = u.tail<2>().norm(), lift = family == Family::associated ? u[0] - mu * slip : u[0];
  if (lift > tolerance * (1.0 + mu)) return Face::apex;
  return slip > tolerance ? Face::ray : Face::cone;
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
  w.discs.clear();
  w.sliding.clear();
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
    const int k = variable.contact;
    const Eigen::Vector3d u = velocity(variable);
    if (!is_round(w.form, k)) {
      if (is_admissible(w.form, variable, u, tolerance)) w.admissible.push_back(v);
      continue;
    }
    if (term_of(w, variable).normal_compliance > 0.0) continue;  // the motion fixes its load
    const Face face = face_of(w.form.family, w.form.problem.mu[k], u, tolerance);
    if (face == Face::cone) w.admissible.push_back(v);
    if (v > 0 && g.variables[v - 1].contact == k) continue;
    if (face == Face::cone) w.discs.push_back(k);
    if (face == Face::ray) w.sliding.push_back({k, -u.tail<2>()});
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

// The edge of a disc's cone whose friction points along `friction`, as one more variable.
void add_edge(const ProblemView& p, const ReducedProblem& reduced, int contact, const Eigen::Vector2d& friction, StageTwoWorkspace& w) {
  const double mu = w.form.problem.mu[contact], size = std::max(1.0, mu);
  const Eigen::Vector2d tangent = mu / size * friction.normalized();
  const Generators::Variable edge{contact, -1, {1.0 / size, tangent[0], tangent[1]}};
  w.edges.push_back(edge);
  w.lambda.setZero(p.velocities());
  p.J.add_group_transposed(w.form.contacts[contact], contact_impulse(term_of(w, edge), edge.direction), w.lambda);
  append_momentum(p, w);
  if (p.bounded_rows() > 0) return;
  w.residual.setZero(reduced.rank_bound());
  w.form.problem.Rt.add_group_transposed(contact, edge.direction, w.residual);
  w.motion_rows.insert(w.motion_rows.end(), w.residual.begin(), w.residual.end());
}

// The rays of discs that slide, and of the others the edges that stage I pushes along: what it found is then among what is searched.
void add_first_edges(const ProblemView& p, const ReducedProblem& reduced, StageTwoWorkspace& w) {
  for (const SlidingDisc& disc : w.sliding) add_edge(p, reduced, disc.contact, disc.friction, w);
  for (const int k : w.discs) {
    const int i = w.form.contacts[k];
    const Eigen::Vector2d friction = cone_impulse(w.terms.contacts[i], w.free_part.segment<3>(3 * i)).tail<2>();
    if (!friction.isZero(0.0)) add_edge(p, reduced, k, friction, w);
  }
}

// Of every disc the edge of steepest descent of the Lagrangian, where it descends. False when none does: then the optimum over the edges is
// that over the discs.
bool add_descending_edges(const ProblemView& p, const ReducedProblem& reduced, StageTwoWorkspace& w) {
  const std::size_t before = w.edges.size();
  const bool by_rows = p.bounded_rows() > 0;
  w.slopes.resize(p.velocities());  // W (Wᵀx - t) - E ν is J of this, less R ν where the motion is the reduced one
  w.slopes.setZero();
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) {
    const Index k = static_cast<Index>(i);
    w.slopes[p.prescribed[i]] = w.solution.y[k] - w.target[k];
  }
  for (std::size_t k = 0; by_rows && k < w.free.size(); ++k) w.slopes[w.free[k]] = -w.solution.nu[static_cast<Index>(k)];
  w.u.resize(p.J.rows());
  p.J.multiply(w.slopes, w.u);
  const BlockRows& R = w.form.problem.Rt;
  for (const int k : w.discs) {
    const int i = w.form.contacts[k];
    const double mu = w.form.problem.mu[k];
    Eigen::Vector3d slope = cone_velocity(w.terms.contacts[i], w.u.segment<3>(3 * i)), moved = Eigen::Vector3d::Zero();
    double terms = std::sqrt(p.J.group_square(i)) * (w.slopes.norm() + w.target.norm());
    if (!by_rows) {
      R.add_group_product(k, w.solution.nu, moved);
      slope -= moved;
      terms += std::sqrt(R.group_square(k)) * w.solution.nu.norm();
    }
    const double friction = slope.tail<2>().norm();
    if (slope[0] - mu * friction < -kEnough * (1.0 + mu) * terms) add_edge(p, reduced, k, -slope.tail<2>(), w);
  }
  return w.edges.size() > before;
}

void set_bounds(const ProblemView& p, StageTwoWorkspace& w) {
  const Index contacts = static_cast<Index>(w.admissible.size()), rows = static_cast<Index>(w.open_rows.size());
  const Index edges = static_cast<Index>(w.edges.size());
  w.lo.resize(contacts + rows + edges);
  w.hi.resize(contacts + rows + edges);
  w.lo.tail(edges).setZero();
  w.hi.tail(edges).setConstant(kInfinity);
  for (Index k = 0; k < contacts; ++k) {
    w.lo[k] = w.generators.lo[w.admissible[k]];
    w.hi[k] = w.generators.hi[w.admissible[k]];
  }
  for (Index k = 0; k < rows; ++k) {
    w.lo[contacts + k] = p.lo[w.open_rows[k]];
    w.hi[contacts + k] = p.hi[w.open_rows[k]];
  }
}

// The program over all variables so far, from the last solution: that of the last call where it fits, then that of the round before, which
// lacks the edges that came since.
Status search(Index driven, const SolveOptions& options, bool first, StageTwoWorkspace& w) {
  const Index count = w.lo.size(), r = w.y.size(), last = w.solution.x.size();
  RangeQp qp;
  qp.W = RowsView(w.joint_rows.data(), count, driven, driven);
  qp.t = w.target;
  qp.E = RowsView(w.motion_rows.data(), count, r, r);
  qp.e = w.y;
  qp.lo = w.lo;
  qp.hi = w.hi;
  if (w.solution.nu.size() == r && (first ? options.warm_start && last == count : last < count)) {
    w.x0.setZero(count);
    w.x0.head(last) = w.solution.x;
    w.nu0 = w.solution.nu;
    qp.x0 = w.x0;
    qp.nu0 = w.nu0;
  }
  range_qp(qp, {.tolerance = std::max(kFinest, kBelow * options.tolerance), .max_pivots = options.max_pivots}, w.qp, w.solution);
  w.keeps_motion =
      w.solution.status == Status::solved || qp_residual(qp, w.solution.x, w.solution.nu, w.qp.residual).primal <= options.tolerance;
  return w.solution.status;
}

void take_chosen(const StageTwoWorkspace& w, StageTwoImpulses& to) {
  const Index contacts = static_cast<Index>(w.admissible.size()), rows = static_cast<Index>(w.open_rows.size());
  to.contacts = w.fixed;
  const auto push = [&](const Generators::Variable& v, double x) {
    to.contacts.segment<3>(3 * w.form.contacts[v.contact]) += x * contact_impulse(term_of(w, v), v.direction);
  };
  for (Index k = 0; k < contacts; ++k) push(w.generators.variables[w.admissible[k]], w.solution.x[k]);
  for (std::size_t k = 0; k < w.edges.size(); ++k) push(w.edges[k], w.solution.x[contacts + rows + static_cast<Index>(k)]);
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
  const int edges = terms.disc() ? std::max(options.edges, kFewest) : terms.edges;
  make_generators(w.form.problem, GeneratorKind::cone, edges, w.generators);
  torque_target(p, v_plus, w);
  find_admissible(p, reduced, v_plus, w);
  find_free(p, w);
  gather_rows(p, reduced, w);
  motion_target(p, reduced, impulses.rows, w);
  w.edges.clear();
  add_first_edges(p, reduced, w);
  for (int round = 0; round < kRounds; ++round) {
    set_bounds(p, w);
    const Status status = search(static_cast<Index>(p.prescribed.size()), options, round == 0, w);
    const bool less = w.keeps_motion && (w.target - w.solution.y).squaredNorm() < impulses.joints.squaredNorm();
    if (less || status == Status::solved) take_chosen(w, impulses);
    if (status != Status::solved) return status;
    const bool moved = round == 0 || w.solution.pivots > 0;  // else the edges that came descend by rounding alone
    if (!moved || !add_descending_edges(p, reduced, w)) return status;
  }
  return Status::iteration_limit;
}

}  // namespace stiction
