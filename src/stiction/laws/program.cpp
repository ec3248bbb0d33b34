#include "stiction/laws/program.hpp"

#include <cmath>
#include <utility>

#include "stiction/base/errors.hpp"
#include "stiction/problem/reduced_certificate.hpp"

namespace stiction {

namespace {

// Above this many free velocities the dense factors of the active set lose against the block-sparse interior point.
constexpr int kActiveSetColumns = 96;
// The same for principal pivoting, and above how many it is too slow even as the fall-back.
constexpr int kPivotingColumns = 48;
constexpr int kFallBackColumns = 400;

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

bool take_spent(int iterations, SolverOptions& options) {
  options.max_factorizations -= iterations;
  options.max_sweeps -= iterations;
  const bool own = options.max_pivots == 0;  // the program's bound, which is no one's for the whole solve
  if (!own) options.max_pivots -= iterations;
  return options.max_factorizations > 0 && options.max_sweeps > 0 && (own || options.max_pivots > 0);
}

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
  if (!take_spent(out.iterations, lemke)) return false;
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

// The solution over a polygon may show the disc's active set of stick and slip.
void decide_disc(StandardForm& form, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  constexpr int kEdges = 8;  // 12 and 16 show no more: of 1500 random problems under each of three laws the same are solved by any of them
  if (!try_lemke(form, kEdges, options, w, out)) return;
  polish_disc(form.problem, w.fallback, options.max_factorizations - out.iterations, w.interior, out);
}

// The interior point can stall on degenerate problems. Lemke's path knows no infinite friction.
void solve_coulomb(StandardForm& form, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  solve_by_interior_point(form, options, w.interior, out);
  if (out.status == Status::solved || options.solver != Solver::automatic || form.compliance.size() > 0) return;
  if (out.iterations >= options.max_factorizations || has_infinite_mu(form.problem)) return;
  ++out.fallbacks;
  if (form.disc()) {
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
  if (solver == Solver::lemke) return solve_normals_by_lemke(form, options, w.viscous, w.pyramid, out);
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
  const bool normals_alone = is_pivoting(solver) || (solver == Solver::lemke && form.family == Family::associated);
  if (normals_alone && p.bounded_rows() > 0)
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

}  // namespace

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

namespace {

// The start that `out` holds, in the coordinates of the cones.
void take_start(const ReducedProblem& p, const SolverOptions& options, SolveWorkspace& w, const Impulses& out) {
  w.cone.lambda.resize(0);
  w.cone.beta.resize(0);
  if (!is_start(p, options, out)) return;
  collect_impulses(w.form, w.terms, out.lambda, w.cone.lambda);
  w.cone.beta = out.beta;
}

}  // namespace

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

namespace {

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
  if (!take_spent(out.iterations, options)) return;
  solve_in_form(p, options, solver, w, out);
  w.first.iterations = out.iterations += w.first.iterations;
  w.first.fallbacks = out.fallbacks = 1;
  if (!(worst_residual(p, out, w) <= before)) std::swap(out, w.first);
}

}  // namespace

void prepare(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w) {
  lower(p, options, w.terms);
  make_standard_form(p, w.terms, w.form);
}

void solve_prepared(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, Impulses& out) {
  solve_in_form(p, options, choose_solver(w.form, options.solver), w, out);
  if (has_dense_fallback(w.form, options, out)) solve_by_dense_fallback(p, options, w, out);
}

}  // namespace stiction
