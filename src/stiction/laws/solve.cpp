#include "stiction/laws/solve.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/problem/contact_checks.hpp"
#include "stiction/problem/reduced_certificate.hpp"

namespace stiction {

namespace {

// Above this many free velocities the dense factors of the active set lose against the block-sparse interior point.
constexpr int kActiveSetColumns = 96;
// The same for principal pivoting, and above how many it is too slow even as the last resort.
constexpr int kPivotingColumns = 48;
constexpr int kLastResortColumns = 400;

bool is_prox(Solver solver) { return solver == Solver::jor || solver == Solver::sor; }

const ReducedProblem& reduced_of(const ContactProblem&, const SolveWorkspace& w) { return w.reduction.reduced; }
const ReducedProblem& reduced_of(const ReducedProblem& problem, const SolveWorkspace&) { return problem; }

// Impulses this far beyond the problem's own are those of a set without bound (fingers that squeeze), along which the solver went astray.
constexpr double kFarImpulse = 100.0;

bool runs_off(const Solution& s) {
  const double largest = std::max(largest_entry(s.impulses), largest_entry(s.bounded_impulses));
  return s.certificate.finite && s.ray.impulses.size() == 0 && largest > kFarImpulse * s.certificate.impulse_scale;
}

// Impulses by the rule, certified again; those of the solver stay when the rule's do not pass. What is returned is the next λ_ref. Of a set
// without bound the least norm is the default.
template <class Problem>
void apply_choice(const Problem& problem, SolveOptions options, SolveWorkspace& w, Solution& solution) {
  const bool far = runs_off(solution);
  if (options.choice == Choice::warm_start && !far) return;
  if (options.choice == Choice::warm_start) options.choice = Choice::least_norm;
  const ReducedProblem& p = reduced_of(problem, w);
  const bool turned = is_polygonal(options.law) && p.edge_angle.size() > 0;
  w.solved_impulses = w.impulses.lambda;
  if (turned) {
    turn_to_edges(p, w.impulses.lambda);
    if (w.choice.last.size() == w.impulses.lambda.size()) turn_to_edges(p, w.choice.last);
  }
  const double worst = solution.certificate.worst();
  if ((solution.status == Status::solved || far) &&
      choose_impulses(turned ? w.turned : p, options, w.impulses.lambda, w.impulses.beta, w.impulses.motion, w.choice)) {
    w.impulses.lambda = w.choice.chosen;
    if (turned) turn_from_edges(p, w.impulses.lambda);
    complete(problem, options, w, solution);
    if (solution.status != Status::solved && solution.certificate.worst() > worst) {
      w.impulses.lambda = w.solved_impulses;
      complete(problem, options, w, solution);
    }
  }
  w.choice.last = solution.impulses;
  w.impulses.lambda = solution.impulses;
}

bool has_infinite_mu(const ReducedProblem& p) { return p.mu.size() > 0 && std::isinf(p.mu.maxCoeff()); }

constexpr int kLemkeSize = 400;  // of the LCP, above which its path is too slow as a fall-back

// Lemke's path for the polygon of options.edges into w.fallback, which then has the law's point over it (true).
bool try_lemke(const ReducedProblem& p, SolveOptions options, SolveWorkspace& w, Impulses& out) {
  if (p.contacts() * (options.edges + 2) + 2 * p.bounded_rows() > kLemkeSize) return false;
  options.solver = Solver::lemke;
  for (GrowVector* x : {&w.fallback.ray, &w.fallback.motion, &w.fallback.multipliers}) x->resize(0);
  solve_pyramid_lcp(p, options, w.pyramid, w.fallback);
  out.iterations += w.fallback.iterations;
  return w.fallback.status == Status::solved;
}

void decide_polygon(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  if (!try_lemke(p, options, w, out)) return;
  w.fallback.iterations = out.iterations;
  std::swap(out, w.fallback);
}

// Polygons whose solution may show the disc's pattern of stick and slip.
void decide_disc(const ReducedProblem& p, SolveOptions options, SolveWorkspace& w, Impulses& out) {
  for (const int edges : {8, 12, 16}) {
    options.edges = edges;
    if (try_lemke(p, options, w, out) && polish_disc(p, w.fallback, w.interior, out)) return;
  }
}

// The interior point can stall on degenerate problems, and where friction is infinite.
void solve_coulomb(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  solve_by_interior_point(p, options, w.interior, out);
  if (out.status == Status::solved || options.solver != Solver::automatic) return;
  if (has_infinite_mu(p)) {
    solve_by_holding(p, options, w.held, out);
  } else if (options.law == Law::coulomb_pyramid) {
    decide_polygon(p, options, w, out);
  } else {
    decide_disc(p, options, w, out);
  }
}

// The start of some of the contacts; none stays none.
void select_start(const ReducedProblem& p, const SolveOptions& options, const Impulses& all, const ContactSubset& subset, Impulses& part) {
  part.lambda.resize(0);
  part.beta = all.beta;
  if (!is_start(p, options, all)) return;
  part.lambda.resize(3 * static_cast<Eigen::Index>(subset.contacts.size()));
  for (std::size_t k = 0; k < subset.contacts.size(); ++k) {
    part.lambda.segment<3>(3 * static_cast<Eigen::Index>(k)) = all.lambda.segment<3>(3 * Eigen::Index{subset.contacts[k]});
  }
}

void solve_moreau(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  make_moreau_problem(p, w.moreau);
  select_start(p, options, out, w.moreau.closed, w.moreau.impulses);
  const ReducedProblem& closed = w.moreau.closed.problem;
  if (is_prox(options.solver)) {
    solve_by_prox(closed, options, w.prox, w.moreau.impulses);
  } else {
    solve_coulomb(closed, options, w, w.moreau.impulses);
  }
  expand_moreau(p, w.moreau, out);
}

bool touches(const ReducedProblem& p, int i) { return p.gap.size() == 0 || p.gap[i] <= kTouchGap; }

void gather_touching(const ReducedProblem& p, ContactSubset& subset) {
  subset.contacts.clear();
  for (int i = 0; i < p.contacts(); ++i) {
    if (touches(p, i)) subset.contacts.push_back(i);
  }
  select_contacts(p, subset);
  subset.problem.offset = subset.problem.offset.cwiseMin(0.0);  // restitution stays, what is left of the gap goes
}

bool find_proof(const ContactProblem& p, const SolveOptions& options, SolveWorkspace& w, InfeasibilityRay& ray) {
  return find_infeasibility(p, w.reduction, options, w.infeasibility, ray);
}
bool find_proof(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, InfeasibilityRay& ray) {
  return find_infeasibility(p, options, w.infeasibility, ray);
}

// A point that is no solution comes with a proof that there is none, where one is found, or with Lemke's ray.
template <class Problem>
void explain_failure(const Problem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  InfeasibilityRay& ray = solution.ray;
  ray.clear();
  if (solution.status == Status::solved) return;
  if (find_proof(problem, options, w, ray)) {
    solution.status = Status::infeasible;
    return;
  }
  if (w.impulses.ray.size() > 0) ray.impulses = w.impulses.ray;
  if (solution.status == Status::infeasible) solution.status = Status::inaccurate;  // a solver's word that nobody can check
}

// Velocities this far beyond the problem's own meet contradicting conditions to any relative tolerance.
bool flies_off(const ReducedProblem& p, const Solution& solution) {
  constexpr double kFar = 1e9;
  return solution.status == Status::solved && p.velocity > 0.0 && solution.v.size() > 0 &&
         solution.v.lpNorm<Eigen::Infinity>() > kFar * p.velocity;
}

// No impulses, but those that a row's bounds demand.
void take_rest(const ReducedProblem& p, Impulses& out) {
  out.lambda.setZero(3 * p.contacts());
  out.beta.resize(p.bounded_rows());
  for (Eigen::Index j = 0; j < out.beta.size(); ++j) out.beta[j] = std::clamp(0.0, p.lo[j], p.hi[j]);
  out.motion.resize(0);
  out.multipliers.setZero(out.multipliers.size());
  out.status = Status::inaccurate;
}

void solve_touching(const ReducedProblem& p, SolveOptions options, SolveWorkspace& w, Impulses& out) {
  ContactSubset& subset = w.touching.subset;
  gather_touching(p, subset);
  options.variant = PyramidVariant::stewart_trinkle;
  const Impulses& part = w.touching.impulses;
  select_start(p, options, out, subset, w.touching.impulses);
  solve_reduced(subset.problem, options, w, w.touching.impulses);
  expand_contacts(subset, p.contacts(), part.lambda, out.lambda);
  out.ray.resize(0);
  if (part.ray.size() > 0) expand_contacts(subset, p.contacts(), part.ray, out.ray);
  out.beta = part.beta;
  out.motion = part.motion;
  out.status = part.status;
  out.iterations = part.iterations;
}

// What follows the certificate: the contact velocities it was computed with, the condition that only the law's program can check, status.
void conclude(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  if (solution.certificate.finite) {
    solution.u = w.certificate.u;
  } else {
    solution.u.setZero(3 * p.contacts());
  }
  if (options.law == Law::max_dissipation) {
    solution.certificate.dissipation.scaled = optimality_residual(p, options.edges, w.impulses, solution.certificate.velocity_scale,
                                                                  solution.certificate.impulse_scale, w.max_dissipation);
  }
  solution.status = certified_status(w.impulses.status, solution.certificate, options.tolerance);
}

// ν of the contacts and of all rows of J_b, of which `rows` are those of Bt; nothing for laws without.
void set_multipliers(Law law, const GrowVector& from, int contacts, std::span<const int> rows, int all_rows, GrowVector& to) {
  to.resize(0);
  if (law != Law::max_dissipation) return;
  to.setZero(contacts + all_rows);
  if (from.size() == 0) return;  // nothing was left to solve
  to.head(contacts) = from.head(contacts);
  for (std::size_t j = 0; j < rows.size(); ++j) to[contacts + rows[j]] = from[contacts + static_cast<Eigen::Index>(j)];
}

template <class Problem>
Solution solve_alone(const Problem& problem, const SolveOptions& options) {
  validate(problem);
  SolveWorkspace workspace;
  Solution solution;
  solve(problem, options, workspace, solution);
  return solution;
}

}  // namespace

void validate(const SolveOptions& options) {
  if (!can_solve(options.law, options.solver)) {
    throw InvalidArgument("solver", fmt::format("a solver of law {}", to_string(options.law)),
                          fmt::format("'{}'", to_string(options.solver)));
  }
  if (options.variant != PyramidVariant::stewart_trinkle && options.law != Law::coulomb_pyramid) {
    throw InvalidArgument("variant", "stewart_trinkle for every law but coulomb_pyramid", fmt::format("'{}'", to_string(options.variant)));
  }
  if (options.align_edges && (!is_polygonal(options.law) || options.edges == 0)) {
    throw InvalidArgument("align_edges", "a law with a friction polygon", fmt::format("'{}'", to_string(options.law)));
  }
  const bool disc = options.edges == 0 && options.law == Law::anitescu;
  if ((options.edges < 4 || options.edges > kMostEdges) && !disc)
    throw InvalidArgument("edges", fmt::format("an integer from 4 to {} (law anitescu: 0 for the disc)", kMostEdges),
                          fmt::format("{}", options.edges));
  if (disc && options.solver == Solver::active_set) {
    throw InvalidArgument("solver", "newton or interior_point for the disc of law anitescu", "'active_set'");
  }
  if (options.bilateral_by_prox && !is_prox(options.solver)) {
    throw InvalidArgument("bilateral_by_prox", "solver jor or sor", fmt::format("'{}'", to_string(options.solver)));
  }
  require_positive("tolerance", options.tolerance);
  if (!(options.alpha > 0.0 && options.alpha < 2.0)) throw InvalidArgument("alpha", "a number in (0, 2)", fmt::format("{}", options.alpha));
  if (options.max_sweeps < 1) throw InvalidArgument("max_sweeps", "an integer >= 1", fmt::format("{}", options.max_sweeps));
  if (options.threads < 1) throw InvalidArgument("threads", "an integer >= 1", fmt::format("{}", options.threads));
  if (options.choice == Choice::least_torque) throw InvalidArgument("choice", "warm_start, least_norm or closest_to_last", "least_torque");
}

Solver choose_solver(const ReducedProblem& p, const SolveOptions& options) {
  if (options.solver != Solver::automatic) return options.solver;
  switch (options.law) {
    case Law::frictionless:
    case Law::no_slip:
      if (p.rank_bound() > kPivotingColumns) return Solver::interior_point;
      return p.bounded_rows() == 0 ? Solver::goldfarb_idnani : Solver::active_set;
    case Law::viscous:
      if (p.rank_bound() > kPivotingColumns) return Solver::newton;
      return p.bounded_rows() == 0 ? Solver::goldfarb_idnani : Solver::active_set;
    case Law::todorov:
    case Law::sap:
      return Solver::newton;
    case Law::anitescu:
      if (options.edges == 0) return Solver::newton;
      return p.rank_bound() <= kActiveSetColumns ? Solver::active_set : Solver::interior_point;
    case Law::linear_penalty:
    case Law::stick_slip_spring:
    case Law::regularized_stiction:
    case Law::hunt_crossley:
      return Solver::newton;
    case Law::max_dissipation:
      return p.rank_bound() <= kPivotingColumns ? Solver::active_set : Solver::interior_point;
    default:
      return Solver::interior_point;
  }
}

namespace {

// Where the block-sparse default of a law that has a finite method left a problem open, that method on dense rows has the last word.
bool needs_last_resort(const ReducedProblem& p, const SolveOptions& options, const Impulses& out) {
  if (options.solver != Solver::automatic || out.status == Status::solved) return false;
  if (options.law != Law::frictionless && options.law != Law::no_slip && options.law != Law::viscous && options.law != Law::max_dissipation)
    return false;
  return p.rank_bound() > kPivotingColumns && p.rank_bound() <= kLastResortColumns;
}

double worst_residual(const ReducedProblem& p, const SolveOptions& options, const Impulses& point, SolveWorkspace& w) {
  certify(p, conditions(options), point.lambda, point.beta, w.certificate, w.compared);
  return w.compared.worst();
}

// The first point stays where the second is no better.
void solve_as_last_resort(const ReducedProblem& p, SolveOptions options, SolveWorkspace& w, Impulses& out) {
  const double before = worst_residual(p, options, out, w);
  w.first = out;
  options.solver = p.bounded_rows() == 0 && can_solve(options.law, Solver::goldfarb_idnani) ? Solver::goldfarb_idnani : Solver::active_set;
  options.warm_start = false;
  solve_reduced(p, options, w, out);
  w.first.iterations = out.iterations += w.first.iterations;
  if (!(worst_residual(p, options, out, w) <= before)) std::swap(out, w.first);
}

}  // namespace

void solve_reduced(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  out.multipliers.resize(0);
  out.motion.resize(0);
  out.ray.resize(0);
  if (is_polygonal(options.law) && p.edge_angle.size() > 0) {
    turn_to_edges(p, w.turned);
    if (is_start(p, options, out)) turn_to_edges(p, out.lambda);
    solve_reduced(w.turned, options, w, out);
    turn_from_edges(p, out.lambda);
    if (out.ray.size() > 0) turn_from_edges(p, out.ray);
    return;
  }
  if (options.law == Law::coulomb_pyramid && options.variant == PyramidVariant::anitescu_potra) return solve_touching(p, options, w, out);
  const Solver solver = choose_solver(p, options);
  if (is_pivoting(solver) && p.bounded_rows() > 0)
    throw InvalidArgument("solver", "one that takes bounded rows, such as active_set", std::string(to_string(solver)));
  if (p.contacts() + p.bounded_rows() == 0) {
    out.lambda.resize(0);
    out.beta.resize(0);
    out.status = Status::solved;
    out.iterations = 0;
  } else if (options.law == Law::viscous && solver != Solver::newton) {
    solve_viscous(p, options, solver, w.viscous, out);
  } else if (is_compliant(options.law)) {
    solve_compliant(p, options, w.compliant, out);
  } else if (options.law == Law::moreau) {
    solve_moreau(p, options, w, out);
  } else if (is_prox(solver)) {
    solve_by_prox(p, options, w.prox, out);
  } else if (is_pivoting(solver)) {
    solve_by_pivoting(p, options, w.convex, out);
  } else if (solver == Solver::dantzig || solver == Solver::pgs) {
    solve_by_box_rows(p, options, w.box_rows, out);
  } else if (solver == Solver::newton) {
    solve_by_newton(p, options, w.soft, out);
  } else if (options.law == Law::max_dissipation) {
    solve_max_dissipation(p, options, solver, w.max_dissipation, out);
  } else if (solver == Solver::active_set) {
    solve_by_active_set(p, options, w.convex, out);
  } else if (solver == Solver::lemke || solver == Solver::enumerate) {
    solve_pyramid_lcp(p, options, w.pyramid, out);
  } else if (options.law == Law::coulomb_pyramid || options.law == Law::coulomb_cone) {
    solve_coulomb(p, options, w, out);
  } else {
    solve_by_interior_point(p, options, w.interior, out);
  }
  if (needs_last_resort(p, options, out)) solve_as_last_resort(p, options, w, out);
  if (!out.lambda.allFinite() || !out.beta.allFinite()) {
    out.lambda.setZero(3 * p.contacts());
    out.beta.setZero(p.bounded_rows());
    out.motion.resize(0);
    out.status = Status::numerical_error;
  }
}

namespace {

bool reads_velocity_before(const ContactProblem& p, const SolveOptions& options) {
  const auto reads = [](Law law) { return law == Law::moreau || law == Law::viscous; };
  return reads(options.law) || std::ranges::any_of(p.laws, reads);
}

// Another method for a point that its certificate refused: where impulses cancel, the active set's rows are met to the size of its terms
// alone, and soft contacts close to hard ones end in rounding. False when the law has none.
bool solve_otherwise(const ReducedProblem& p, SolveOptions options, SolveWorkspace& w) {
  if (options.law == Law::max_dissipation && choose_solver(p, options) == Solver::active_set) {
    const int spent = w.impulses.iterations;
    options.solver = Solver::interior_point;
    solve_reduced(p, options, w, w.impulses);
    w.impulses.iterations += spent;
    return true;
  }
  if (!can_polish_soft(p, options) || p.contacts() == 0) return false;
  polish_soft(p, options, w.soft_polish, w.impulses);
  return true;
}

// The first answer stays when the second is no better.
template <class Problem>
void try_otherwise(const Problem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  if (solution.status == Status::solved || solution.ray.proof || options.solver != Solver::automatic) return;
  const double worst = solution.certificate.worst();
  w.fallback = w.impulses;
  if (!solve_otherwise(reduced_of(problem, w), options, w)) return;
  complete(problem, options, w, solution);
  if (solution.certificate.worst() <= worst) return;
  w.fallback.iterations = w.impulses.iterations;
  w.impulses = w.fallback;
  complete(problem, options, w, solution);
}

// What the programs remember of other contacts, or of these in another order, is no start.
template <class Problem>
void check_positions(const Problem& problem, SolveWorkspace& w) {
  if (problem.ids == w.listed && problem.row_ids == w.listed_rows) return;
  forget_positions(w);
  w.listed = problem.ids;
  w.listed_rows = problem.row_ids;
}

void place_start(const WarmStart& start, std::span<const int> bounded, Impulses& out) {
  out.lambda = start.lambda;
  out.beta.resize(start.beta.size() == 0 ? 0 : static_cast<Eigen::Index>(bounded.size()));
  for (Eigen::Index j = 0; j < out.beta.size(); ++j) out.beta[j] = start.beta[bounded[static_cast<std::size_t>(j)]];
}

// The reduction with what the options need of it.
void reduce_for(const ContactProblem& problem, const SolveOptions& options, SolveWorkspace& w) {
  reduce(problem, w.reduction, {.keep_bilateral = options.bilateral_by_prox, .velocity_before = reads_velocity_before(problem, options)});
  if (options.align_edges) edge_angles(problem, w.reduction.reduced.edge_angle);
  w.reduction.reduced.weight.resize(0);
  if (options.law == Law::sap) contact_weights(problem, w.soft.factor, w.reduction.reduced.weight);
  w.reduced_whole = true;
}

void solve_whole(const ContactProblem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  check_positions(problem, w);
  reduce_for(problem, options, w);
  w.pyramid.outcome.clear();
  if (options.solver == Solver::enumerate) map_outcomes(problem, w.reduction, w.pyramid.outcome);
  place_start(w.start, w.reduction.bounded, w.impulses);
  solve_reduced(w.reduction.reduced, options, w, w.impulses);
  complete(problem, options, w, solution);
  try_otherwise(problem, options, w, solution);
  apply_choice(problem, options, w, solution);
}

void solve_uniform(const ContactProblem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  validate(options);
  if (!solve_by_islands(problem, options, w, solution, solve_whole)) solve_whole(problem, options, w, solution);
}

// Most solvers know R_t alone: what the defect adds to u at their solution goes into u_free, and they solve again, while that helps.
void correct_for_defect(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  if (p.defect.size() == 0) return;
  w.without_defect = p;
  w.without_defect.defect.resize(0, 0);
  w.without_defect.delassus.reset(3, {});
  constexpr double kHelps = 0.5;
  while (solution.status == Status::inaccurate) {
    const double before = solution.certificate.worst();
    w.uncorrected = w.impulses;
    w.without_defect.u_free.noalias() = p.defect * solution.impulses;
    w.without_defect.u_free += p.u_free;
    solve_reduced(w.without_defect, options, w, w.impulses);
    w.impulses.iterations += w.uncorrected.iterations;
    complete(p, options, w, solution);
    if (solution.status == Status::solved || solution.certificate.worst() < kHelps * before) continue;
    w.impulses = w.uncorrected;
    return complete(p, options, w, solution);
  }
}

void solve_uniform(const ReducedProblem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  validate(options);
  check_positions(problem, w);
  w.pyramid.outcome.clear();
  w.impulses.lambda = w.start.lambda;
  w.impulses.beta = w.start.beta;
  solve_reduced(problem, options, w, w.impulses);
  complete(problem, options, w, solution);
  correct_for_defect(problem, options, w, solution);
  try_otherwise(problem, options, w, solution);
  apply_choice(problem, options, w, solution);
}

template <class Problem>
void solve_any(const Problem& problem, const SolveOptions& options, SolveWorkspace& w, Problem& unified, Solution& solution) {
  if (options.warm_start) {
    w.start.recall(problem);
  } else {
    w.start.forget();
  }
  if (problem.laws.empty()) {
    solve_uniform(problem, options, w, solution);
  } else {
    SolveOptions one;
    solve_uniform(unify(problem, options, unified, one) ? unified : problem, one, w, solution);
  }
  w.start.keep(problem, solution.impulses, solution.bounded_impulses);
}

}  // namespace

void solve(const ContactProblem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  solve_any(problem, options, w, w.unified, solution);
}

void reduce_whole(const ContactProblem& problem, const SolveOptions& options, const Solution& solution, SolveWorkspace& w) {
  if (w.reduced_whole) return;
  reduce_for(problem, options, w);
  const std::vector<int>& rows = w.reduction.bounded;
  const Eigen::Index n = problem.contacts(), m = static_cast<Eigen::Index>(rows.size());
  Impulses& to = w.impulses;
  to.lambda = solution.impulses;
  to.beta.resize(m);
  for (Eigen::Index j = 0; j < m; ++j) to.beta[j] = solution.bounded_impulses[rows[static_cast<std::size_t>(j)]];
  to.motion.resize(0);
  to.ray.resize(0);
  to.multipliers.resize(solution.multipliers.size() == 0 ? 0 : n + m);
  if (to.multipliers.size() > 0) to.multipliers.head(n) = solution.multipliers.head(n);
  for (Eigen::Index j = n; j < to.multipliers.size(); ++j)
    to.multipliers[j] = solution.multipliers[n + rows[static_cast<std::size_t>(j - n)]];
  to.status = solution.status;
  to.iterations = solution.iterations;
}

void forget_positions(SolveWorkspace& w) {
  w.convex.lcp_solution.active.clear();
  w.viscous.lcp_solution.active.clear();
  for (GrowVector* x : {&w.convex.qp_solution.x, &w.viscous.qp_solution.x, &w.box_rows.solution.x, &w.max_dissipation.solution.x,
                        &w.max_dissipation.solution.mu, &w.choice.solution.lambda}) {
    x->resize(0);
  }
}

void complete(const ContactProblem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  solution.impulses = w.impulses.lambda;
  solution.iterations = w.impulses.iterations;
  if (w.impulses.motion.size() > 0) {
    recover_velocity(w.reduction, w.impulses.motion, solution.v);
  } else {
    recover_velocity(w.reduction, w.impulses.lambda, w.impulses.beta, solution.v);
  }
  expand_bounded(problem, w.reduction, w.impulses.beta, solution.bounded_impulses);
  set_multipliers(options.law, w.impulses.multipliers, problem.contacts(), w.reduction.bounded, problem.bounded_rows(),
                  solution.multipliers);
  recover_bilateral(problem, w.reduction, solution.v, solution.impulses, solution.bounded_impulses, solution.prescribed_impulses);

  certify(problem, conditions(options), solution.v, solution.impulses, solution.bounded_impulses, solution.prescribed_impulses,
          w.certificate, solution.certificate);
  conclude(w.reduction.reduced, options, w, solution);
  if (flies_off(w.reduction.reduced, solution) && find_proof(problem, options, w, solution.ray)) {
    take_rest(w.reduction.reduced, w.impulses);
    return complete(problem, options, w, solution);
  }
  explain_failure(problem, options, w, solution);
}

void solve(const ReducedProblem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  solve_any(problem, options, w, w.unified_reduced, solution);
}

void complete(const ReducedProblem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  solution.v.resize(0);
  solution.impulses = w.impulses.lambda;
  solution.bounded_impulses = w.impulses.beta;
  solution.multipliers = w.impulses.multipliers;
  solution.prescribed_impulses.resize(0);
  solution.iterations = w.impulses.iterations;
  certify(problem, conditions(options), solution.impulses, solution.bounded_impulses, w.certificate, solution.certificate);
  conclude(problem, options, w, solution);
  explain_failure(problem, options, w, solution);
}

Status certified_status(Status solver, const Certificate& certificate, double tolerance) {
  if (certificate.worst() <= tolerance) return Status::solved;
  return solver == Status::solved ? Status::inaccurate : solver;
}

Solution solve(const ContactProblem& problem, const SolveOptions& options) { return solve_alone(problem, options); }
Solution solve(const ReducedProblem& problem, const SolveOptions& options) { return solve_alone(problem, options); }

}  // namespace stiction
