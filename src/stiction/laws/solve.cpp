#include "stiction/laws/solve.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/problem/contact_checks.hpp"
#include "stiction/problem/contact_weights.hpp"
#include "stiction/problem/reduced_certificate.hpp"

namespace stiction {

namespace {

// Above this many free velocities the dense factors of the active set lose against the block-sparse interior point.
constexpr int kActiveSetColumns = 96;
// The same for principal pivoting, and above how many it is too slow even as the fall-back.
constexpr int kPivotingColumns = 48;
constexpr int kFallBackColumns = 400;

bool is_prox(Solver solver) { return solver == Solver::jor || solver == Solver::sor; }

const ReducedProblem& reduced_of(const ProblemView&, const SolveWorkspace& w) { return w.reduction.reduced; }
const ReducedProblem& reduced_of(const ReducedProblem& problem, const SolveWorkspace&) { return problem; }

// Half spaces whose tangents give way beside half lines: friction can be eliminated.
bool is_viscous(const StandardForm& form) {
  if (form.compliance.size() == 0 || !form.has_linear_cones()) return false;
  for (Eigen::Index k = 0; k < form.problem.mu.size(); ++k) {
    if (form.compliance[2 * k] > 0.0 || (std::isinf(form.problem.mu[k]) && form.compliance[2 * k + 1] == 0.0)) return false;
  }
  return true;
}

Solver choose_convex(const StandardForm& form) {
  const int r = form.problem.rank_bound();
  const bool linear = form.has_linear_cones(), rigid = form.compliance.size() == 0;
  if (is_viscous(form) || (linear && rigid)) {
    if (r > kPivotingColumns) return rigid ? Solver::interior_point : Solver::newton;
    return form.problem.bounded_rows() == 0 ? Solver::goldfarb_idnani : Solver::active_set;
  }
  if (!rigid || form.disc()) return Solver::newton;
  return r <= kActiveSetColumns ? Solver::active_set : Solver::interior_point;
}

}  // namespace

Solver choose_solver(const StandardForm& form, Solver solver) {
  if (solver != Solver::automatic) return solver;
  switch (form.family) {
    case Family::associated:
      return choose_convex(form);
    case Family::energy:
      return form.problem.rank_bound() <= kPivotingColumns ? Solver::active_set : Solver::interior_point;
    case Family::constitutive:
      return Solver::newton;
    case Family::coulomb:
      break;
  }
  return Solver::interior_point;
}

Solver choose_solver(const ReducedProblem& p, const SolveOptions& options) {
  StandardForm form;
  make_standard_form(p, lowered(p, options), form);
  return choose_solver(form, options.solver);
}

namespace {

bool has_infinite_mu(const ReducedProblem& p) { return p.mu.size() > 0 && std::isinf(p.mu.maxCoeff()); }

constexpr int kLemkeSize = 400;  // of the LCP, above which its path is too slow as a fall-back

// Lemke's path for the polygon of this many edges into w.fallback, which then has the law's point over it (true).
bool try_lemke(StandardForm& form, int edges, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  const ReducedProblem& p = form.problem;
  if (p.contacts() * (edges + 2) + 2 * p.bounded_rows() > kLemkeSize) return false;
  SolverOptions lemke = options;
  lemke.solver = Solver::lemke;
  for (GrowVector* x : {&w.fallback.ray, &w.fallback.motion, &w.fallback.multipliers}) x->resize(0);
  const int own = form.edges;
  form.edges = edges;
  solve_pyramid_lcp(form, lemke, w.pyramid, w.fallback);
  form.edges = own;
  out.iterations += w.fallback.iterations;
  return w.fallback.status == Status::solved;
}

void decide_polygon(StandardForm& form, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  if (!try_lemke(form, form.edges, options, w, out)) return;
  w.fallback.iterations = out.iterations;
  std::swap(out, w.fallback);
}

// Polygons whose solution may show the disc's active set of stick and slip.
void decide_disc(StandardForm& form, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  for (const int edges : {8, 12, 16}) {
    if (try_lemke(form, edges, options, w, out) && polish_disc(form.problem, w.fallback, w.interior, out)) return;
  }
}

// The interior point can stall on degenerate problems, and where friction is infinite.
void solve_coulomb(StandardForm& form, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  solve_by_interior_point(form, options, w.interior, out);
  if (out.status == Status::solved || options.solver != Solver::automatic || form.compliance.size() > 0) return;
  if (out.iterations >= options.max_factorizations) return;
  ++out.fallbacks;
  if (has_infinite_mu(form.problem)) {
    solve_by_holding(form, options, w.held, out);
  } else if (form.disc()) {
    decide_disc(form, options, w, out);
  } else {
    decide_polygon(form, options, w, out);
  }
}

void require_rigid(const StandardForm& form, Solver solver) {
  if (form.compliance.size() == 0) return;
  throw InvalidArgument("solver", "interior_point, or auto, where contacts that give way stand beside Coulomb's",
                        std::string(to_string(solver)));
}

void solve_convex(const StandardForm& form, const SolveOptions& options, Solver solver, SolveWorkspace& w, Impulses& out) {
  if (is_viscous(form) && (is_pivoting(solver) || solver == Solver::active_set))
    return solve_viscous(form, options, solver, w.viscous, out);
  if (form.compliance.size() > 0 && solver != Solver::newton)
    throw InvalidArgument("solver", "newton, or auto, for contacts that give way", std::string(to_string(solver)));
  if (is_prox(solver)) return solve_by_prox(form, options, w.prox, out);
  if (is_pivoting(solver)) return solve_by_pivoting(form.problem, options, w.convex, out);
  if (solver == Solver::dantzig || solver == Solver::pgs) return solve_by_box_rows(form, options, w.box_rows, out);
  if (solver == Solver::newton) return solve_by_newton(form, options, w.soft, out);
  if (solver == Solver::active_set) return solve_by_active_set(form, options, w.convex, out);
  solve_by_interior_point(form, options, w.interior, out);
}

// The program of the family by this solver.
void solve_program(const ReducedProblem& p, StandardForm& form, const SolveOptions& options, Solver solver, SolveWorkspace& w,
                   Impulses& out) {
  if (is_pivoting(solver) && p.bounded_rows() > 0)
    throw InvalidArgument("solver", "one that takes bounded rows, such as active_set", std::string(to_string(solver)));
  switch (form.family) {
    case Family::constitutive:
      return solve_compliant(p, w.terms, options, w.compliant, out);
    case Family::energy:
      return solve_max_dissipation(form, options, solver, w.max_dissipation, out);
    case Family::associated:
      return solve_convex(form, options, solver, w, out);
    case Family::coulomb:
      break;
  }
  if (solver != Solver::interior_point) require_rigid(form, solver);
  if (is_prox(solver)) return solve_by_prox(form, options, w.prox, out);
  if (solver == Solver::dantzig || solver == Solver::pgs) return solve_by_box_rows(form, options, w.box_rows, out);
  if (solver == Solver::lemke || solver == Solver::enumerate) return solve_pyramid_lcp(form, options, w.pyramid, out);
  solve_coulomb(form, options, w, out);
}

// Back to the contacts of the problem.
void expand(const ReducedProblem& p, const SolveWorkspace& w, const Impulses& cone, Impulses& out) {
  const StandardForm& form = w.form;
  expand_impulses(form, w.terms, cone.lambda, out.lambda);
  out.beta = cone.beta;
  out.motion = cone.motion;
  if (cone.motion.size() > 0 && form.y_known.size() > 0) out.motion += form.y_known;
  out.ray.resize(0);
  if (cone.ray.size() > 0) expand_impulses(form, w.terms, cone.ray, out.ray, true);
  out.multipliers.resize(0);
  if (cone.multipliers.size() > 0) {
    out.multipliers.setZero(p.contacts() + p.bounded_rows());
    for (std::size_t k = 0; k < form.contacts.size(); ++k)
      out.multipliers[form.contacts[k]] = cone.multipliers[static_cast<Eigen::Index>(k)];
    out.multipliers.tail(p.bounded_rows()) = cone.multipliers.tail(p.bounded_rows());
  }
  out.status = cone.status;
  out.iterations = cone.iterations;
  out.fallbacks = cone.fallbacks;
}

// The start that `out` holds, in the coordinates of the cones.
void take_start(const ReducedProblem& p, const SolverOptions& options, SolveWorkspace& w, const Impulses& out) {
  w.cone.lambda.resize(0);
  w.cone.beta.resize(0);
  if (!is_start(p, options, out)) return;
  collect_impulses(w.form, w.terms, out.lambda, w.cone.lambda);
  w.cone.beta = out.beta;
}

// w.form and w.terms are the problem's; `out` holds the start.
void solve_in_form(const ReducedProblem& p, const SolveOptions& options, Solver solver, SolveWorkspace& w, Impulses& out) {
  Impulses& cone = w.cone;
  for (GrowVector* x : {&cone.multipliers, &cone.motion, &cone.ray}) x->resize(0);
  cone.fallbacks = cone.iterations = 0;
  take_start(p, options, w, out);
  const int n = w.form.problem.contacts();
  if (n + p.bounded_rows() == 0) {
    cone.lambda.resize(0);
    cone.beta.resize(0);
    cone.status = Status::solved;
  } else {
    solve_program(p, w.form, options, solver, w, cone);
  }
  if (!cone.lambda.allFinite() || !cone.beta.allFinite()) {
    cone.lambda.setZero(3 * n);
    cone.beta.setZero(p.bounded_rows());
    cone.motion.resize(0);
    cone.status = Status::numerical_error;
  }
  expand(p, w, cone, out);
}

// Where the block-sparse default of a program that has a finite method left a problem open, that method on dense rows is the fall-back.
bool has_dense_fallback(const StandardForm& form, const SolveOptions& options, const Impulses& out) {
  if (options.solver != Solver::automatic || out.status == Status::solved) return false;
  const bool finite = form.family == Family::energy ||
                      (form.family == Family::associated && form.has_linear_cones() && (form.compliance.size() == 0 || is_viscous(form)));
  const int r = form.problem.rank_bound();
  return finite && r > kPivotingColumns && r <= kFallBackColumns;
}

double worst_residual(const ReducedProblem& p, const Impulses& point, SolveWorkspace& w) {
  certify(p, w.terms, point.lambda, point.beta, w.certificate, w.compared);
  return w.compared.worst();
}

// The first point stays where the second is no better.
void solve_by_dense_fallback(const ReducedProblem& p, SolveOptions options, SolveWorkspace& w, Impulses& out) {
  const double before = worst_residual(p, out, w);
  w.first = out;
  const Solver solver = p.bounded_rows() == 0 && w.form.family == Family::associated ? Solver::goldfarb_idnani : Solver::active_set;
  options.warm_start = false;
  solve_in_form(p, options, solver, w, out);
  w.first.iterations = out.iterations += w.first.iterations;
  w.first.fallbacks = out.fallbacks = 1;
  if (!(worst_residual(p, out, w) <= before)) std::swap(out, w.first);
}

// Terms and standard form.
void prepare(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w) {
  lower(p, options, w.terms);
  make_standard_form(p, w.terms, w.form);
}

void solve_prepared(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  solve_in_form(p, options, choose_solver(w.form, options.solver), w, out);
  if (has_dense_fallback(w.form, options, out)) solve_by_dense_fallback(p, options, w, out);
}

// Impulses this far beyond the problem's own are those of a set without bound (fingers that squeeze), along which the solver went astray.
constexpr double kFarImpulse = 100.0;

bool runs_off(const Solution& s) {
  const double largest = std::max(largest_entry(s.impulses), largest_entry(s.bounded_impulses));
  return s.certificate.finite && s.ray.impulses.size() == 0 && largest > kFarImpulse * s.certificate.impulse_scale;
}

// The solver's point and that of the last step, where the rule asks for it, in the coordinates of the cones.
bool choose_in_form(const SolveOptions& options, SolveWorkspace& w) {
  ChoiceWorkspace& c = w.choice;
  collect_impulses(w.form, w.terms, w.impulses.lambda, w.cone.lambda);
  c.reference.resize(0);
  if (options.choice == Choice::closest_to_last && c.last.size() == w.impulses.lambda.size())
    collect_impulses(w.form, w.terms, c.last, c.reference);
  w.cone.motion.resize(0);
  if (w.form.y_known.size() == 0) w.cone.motion = w.impulses.motion;
  return choose_impulses(w.form, w.cone.lambda, w.impulses.beta, w.cone.motion, c);
}

// Impulses by the rule, certified again; those of the solver stay when the rule's do not pass. What is returned is the next λ_ref. Of a set
// without bound the least norm is the default.
template <class Problem>
void apply_choice(const Problem& problem, SolveOptions options, SolveWorkspace& w, Solution& solution) {
  const bool far = runs_off(solution) && !is_pivoting(choose_solver(w.form, options.solver));  // a vertex is where its set begins
  if (options.choice == Choice::warm_start && !far) return;
  if (options.choice == Choice::warm_start) options.choice = Choice::least_norm;
  w.solved_impulses = w.impulses.lambda;
  const double worst = solution.certificate.worst();
  const bool rigid = w.form.family != Family::constitutive;
  if (rigid && (solution.status == Status::solved || far) && choose_in_form(options, w)) {
    expand_impulses(w.form, w.terms, w.choice.chosen, w.impulses.lambda);
    complete(problem, options, w, solution);
    if (solution.status != Status::solved && solution.certificate.worst() > worst) {
      w.impulses.lambda = w.solved_impulses;
      complete(problem, options, w, solution);
    }
  }
  w.choice.last = solution.impulses;
  w.impulses.lambda = solution.impulses;
}

// The solver's own ray first.
bool find_proof(const ProblemView& p, SolveWorkspace& w, InfeasibilityRay& ray) {
  if (w.impulses.ray.size() > 0 && complete_proof(p, w.reduction, w.terms, w.impulses.ray, w.infeasibility, ray)) return true;
  return find_infeasibility(p, w.reduction, w.terms, w.infeasibility, ray);
}
bool find_proof(const ReducedProblem& p, SolveWorkspace& w, InfeasibilityRay& ray) {
  if (w.impulses.ray.size() > 0 && complete_proof(p, w.terms, w.impulses.ray, w.infeasibility, ray)) return true;
  return find_infeasibility(p, w.terms, w.infeasibility, ray);
}

// A point that is no solution comes with a proof that there is none, where one is found, or with Lemke's ray.
template <class Problem>
void explain_failure(const Problem& problem, SolveWorkspace& w, Solution& solution) {
  InfeasibilityRay& ray = solution.ray;
  ray.clear();
  if (solution.status == Status::solved) return;
  if (find_proof(problem, w, ray)) {
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

// The optimality conditions of the energy's program, which only it can check.
double energy_residual(const ReducedProblem& p, SolveWorkspace& w, const Certificate& certificate) {
  Impulses& cone = w.cone;
  collect_impulses(w.form, w.terms, w.impulses.lambda, cone.lambda);
  cone.beta = w.impulses.beta;
  const Eigen::Index k = static_cast<Eigen::Index>(w.form.contacts.size()), m = p.bounded_rows();
  cone.multipliers.setZero(k + m);
  if (w.impulses.multipliers.size() > 0) {
    for (Eigen::Index j = 0; j < k; ++j) cone.multipliers[j] = w.impulses.multipliers[w.form.contacts[static_cast<std::size_t>(j)]];
    cone.multipliers.tail(m) = w.impulses.multipliers.tail(m);
  }
  return optimality_residual(w.form, cone, certificate.velocity_scale, certificate.impulse_scale, w.max_dissipation);
}

// What follows the certificate: the contact velocities it was computed with, the conditions that only the program can check, status.
void conclude(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  if (solution.certificate.finite) {
    solution.u = w.certificate.u;
  } else {
    solution.u.setZero(3 * p.contacts());
  }
  if (w.terms.family == Family::energy) solution.certificate.dissipation.scaled = energy_residual(p, w, solution.certificate);
  solution.iterations = w.impulses.iterations;
  solution.fallbacks = w.impulses.fallbacks;
  solution.status = certified_status(w.impulses.status, solution.certificate, options.tolerance);
}

// ν of the contacts and of all rows of J_b, of which `rows` are those of Bt; nothing for programs without.
void set_multipliers(Family family, const GrowVector& from, int contacts, std::span<const int> rows, int all_rows, GrowVector& to) {
  to.resize(0);
  if (family != Family::energy) return;
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

// A second method for a point that its certificate refused: where impulses cancel, the active set's rows are met to the size of its terms
// alone, and contacts that hardly give way beside rigid ones end in rounding. False when the program has none.
bool solve_otherwise(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w) {
  const int spent = w.impulses.iterations, fallbacks = w.impulses.fallbacks + 1;
  if (w.form.family == Family::energy && choose_solver(w.form, options.solver) == Solver::active_set) {
    solve_in_form(p, options, Solver::interior_point, w, w.impulses);
  } else if (can_polish_convex(w.form) && w.form.problem.contacts() > 0 && spent < options.max_factorizations) {
    collect_impulses(w.form, w.terms, w.impulses.lambda, w.cone.lambda);
    w.cone.beta = w.impulses.beta;
    w.cone.motion.resize(0);
    w.cone.iterations = 0;
    polish_convex(w.form, options.max_factorizations - spent, w.interior, w.cone);
    expand(p, w, w.cone, w.impulses);
  } else {
    return false;
  }
  w.impulses.iterations += spent;
  w.impulses.fallbacks = fallbacks;
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
    make_standard_form(w.without_defect, w.terms, w.form);
    solve_prepared(w.without_defect, options, w, w.impulses);
    make_standard_form(p, w.terms, w.form);
    w.impulses.iterations += w.uncorrected.iterations;
    complete(p, options, w, solution);
    if (solution.status == Status::solved || solution.certificate.worst() < kHelps * before) continue;
    w.impulses = w.uncorrected;
    return complete(p, options, w, solution);
  }
}

void require_solver(const LawMix& law, const SolveOptions& options) {
  if (can_solve(law, options.solver)) return;
  throw InvalidArgument("solver", "one that takes all the laws of the mixture", fmt::format("'{}'", to_string(options.solver)));
}

}  // namespace

void validate(const SolveOptions& options) {
  if (!can_solve(options.law, options.solver)) {
    throw InvalidArgument("solver", fmt::format("a solver of law {}", to_string(options.law)),
                          fmt::format("'{}'", to_string(options.solver)));
  }
  const Section section = row_of(options.law).section;
  const bool disc = options.edges == 0 && section == Section::either;
  if (options.variant != PyramidVariant::stewart_trinkle && options.law == Law::moreau)
    throw InvalidArgument("variant", "stewart_trinkle for moreau, which is a scheme of its own",
                          fmt::format("'{}'", to_string(options.variant)));
  if (options.align_edges && (!is_polygonal(options.law) || options.edges == 0)) {
    throw InvalidArgument("align_edges", "a law with a friction polygon", fmt::format("'{}'", to_string(options.law)));
  }
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
  if (!(options.acceptable >= 0.0)) throw InvalidArgument("acceptable", "a number >= 0", fmt::format("{}", options.acceptable));
  if (!(options.alpha > 0.0 && options.alpha < 2.0)) throw InvalidArgument("alpha", "a number in (0, 2)", fmt::format("{}", options.alpha));
  for (const auto& [name, limit] : {std::pair("max_sweeps", options.max_sweeps),
                                    std::pair("max_factorizations", options.max_factorizations), std::pair("threads", options.threads)}) {
    if (limit < 1) throw InvalidArgument(name, "an integer >= 1", fmt::format("{}", limit));
  }
  if (options.max_pivots < 0) throw InvalidArgument("max_pivots", "an integer >= 0", fmt::format("{}", options.max_pivots));
  if (options.choice == Choice::least_torque) throw InvalidArgument("choice", "warm_start, least_norm or closest_to_last", "least_torque");
}

void solve_reduced(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  prepare(p, options, w);
  solve_prepared(p, options, w, out);
}

namespace {

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

template <class Problem>
void recall_start(const Problem& problem, const SolverOptions& options, SolveWorkspace& w) {
  if (options.warm_start) {
    w.start.recall(problem);
    return;
  }
  w.start.forget();
  forget_positions(w);
  for (SolveWorkspace& worker : w.workers) forget_positions(worker);
}

// The reduction with what the law reads of it.
void reduce_for(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& w) {
  reduce(problem, w.reduction,
         {.keep_bilateral = options.bilateral_by_prox, .velocity_before = reads(problem, options, Reads::velocity_before)});
  ReducedProblem& reduced = w.reduction.reduced;
  if (options.align_edges) edge_angles(problem, reduced.edge_angle);
  reduced.weight.resize(0);
  if (reads(problem, options, Reads::weight)) contact_weights(problem, w.weights_factor, reduced.weight);
  w.reduced_whole = true;
}

void solve_whole(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  require_solver(mix(problem.laws, options), options);
  check_positions(problem, w);
  reduce_for(problem, options, w);
  prepare(w.reduction.reduced, options, w);
  w.pyramid.outcome.clear();
  if (options.solver == Solver::enumerate) map_outcomes(problem, w.reduction, w.form, w.terms, w.pyramid.outcome);
  place_start(w.start, w.reduction.bounded, w.impulses);
  solve_prepared(w.reduction.reduced, options, w, w.impulses);
  complete(problem, options, w, solution);
  try_otherwise(problem, options, w, solution);
  apply_choice(problem, options, w, solution);
}

}  // namespace

void solve(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  if (problem.laws.empty()) validate(options);
  recall_start(problem, options, w);
  if (!solve_by_islands(problem, options, w, solution, solve_whole)) solve_whole(problem, options, w, solution);
  w.start.keep(problem, solution.impulses, solution.bounded_impulses);
}

void reduce_whole(const ProblemView& problem, const SolveOptions& options, const Solution& solution, SolveWorkspace& w) {
  if (w.reduced_whole) return;
  reduce_for(problem, options, w);
  if (have_one_program(problem.laws, options)) prepare(w.reduction.reduced, options, w);
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
  to.fallbacks = solution.fallbacks;
}

void forget_positions(SolveWorkspace& w) {
  w.convex.lcp_solution.active.clear();
  w.viscous.lcp_solution.active.clear();
  for (GrowVector* x : {&w.convex.qp_solution.x, &w.viscous.qp_solution.x, &w.box_rows.solution.x, &w.max_dissipation.solution.x,
                        &w.max_dissipation.solution.mu, &w.choice.solution.lambda}) {
    x->resize(0);
  }
}

void complete(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  solution.impulses = w.impulses.lambda;
  if (w.impulses.motion.size() > 0) {
    recover_velocity(w.reduction, w.impulses.motion, solution.v);
  } else {
    recover_velocity(w.reduction, w.impulses.lambda, w.impulses.beta, solution.v);
  }
  expand_bounded(problem, w.reduction, w.impulses.beta, solution.bounded_impulses);
  set_multipliers(w.terms.family, w.impulses.multipliers, problem.contacts(), w.reduction.bounded, problem.bounded_rows(),
                  solution.multipliers);
  recover_bilateral(problem, w.reduction, solution.v, solution.impulses, solution.bounded_impulses, solution.prescribed_impulses);

  certify(problem, w.terms, solution.v, solution.impulses, solution.bounded_impulses, solution.prescribed_impulses, w.certificate,
          solution.certificate);
  conclude(w.reduction.reduced, options, w, solution);
  if (flies_off(w.reduction.reduced, solution) && find_proof(problem, w, solution.ray)) {
    take_rest(w.reduction.reduced, w.impulses);
    return complete(problem, options, w, solution);
  }
  explain_failure(problem, w, solution);
}

void solve(const ReducedProblem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  if (problem.laws.empty()) validate(options);
  require_solver(mix(problem.laws, options), options);
  recall_start(problem, options, w);
  check_positions(problem, w);
  prepare(problem, options, w);
  w.pyramid.outcome.clear();
  w.impulses.lambda = w.start.lambda;
  w.impulses.beta = w.start.beta;
  solve_prepared(problem, options, w, w.impulses);
  complete(problem, options, w, solution);
  correct_for_defect(problem, options, w, solution);
  try_otherwise(problem, options, w, solution);
  apply_choice(problem, options, w, solution);
  w.start.keep(problem, solution.impulses, solution.bounded_impulses);
}

void complete(const ReducedProblem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  solution.v.resize(0);
  solution.impulses = w.impulses.lambda;
  solution.bounded_impulses = w.impulses.beta;
  solution.multipliers = w.impulses.multipliers;
  solution.prescribed_impulses.resize(0);
  certify(problem, w.terms, solution.impulses, solution.bounded_impulses, w.certificate, solution.certificate);
  conclude(problem, options, w, solution);
  explain_failure(problem, w, solution);
}

Status certified_status(Status solver, const Certificate& certificate, double tolerance) {
  if (certificate.worst() <= tolerance) return Status::solved;
  return solver == Status::solved ? Status::inaccurate : solver;
}

Solution solve(const ProblemView& problem, const SolveOptions& options) { return solve_alone(problem, options); }
Solution solve(const ReducedProblem& problem, const SolveOptions& options) { return solve_alone(problem, options); }

}  // namespace stiction
