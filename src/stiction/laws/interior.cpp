#include "stiction/laws/interior.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace stiction {

namespace {

// Systems factored for programs of half lines and half spaces, which take about 20: a request without an answer ends soon.
constexpr int kLinearCones = 200;
// m/s, of their natural map and of a convex polish: on flat faces it ends in rounding, and tangential rows close to each other ask for it.
constexpr double kFineTolerance = 1e-12;

// The certificate divides by scales of the problem that the natural map does not know: a point within these shares of what is asked passes
// it.
constexpr double kShareOfTolerance = 0.2;  // at half of it 1.6 % of warm inverse dynamics of 40 contacts missed it
constexpr double kShareOfAcceptable = 0.1;

constexpr int kPolishSystems = 20;  // of the disc from a point next to its solution
constexpr int kConvexPolish = 60;   // of a convex program from the point of another method; most take three

// Tangential rows of half spaces as bilateral rows: u_T = 0 with λ_T free. The solver takes redundant ones too.

// Appends the rows S and T of each of these contacts to the problem's bounded rows, without bounds.
void append_tangents(std::span<const int> contacts, ReducedProblem& p) {
  Eigen::Index j = p.bounded_rows();
  const Eigen::Index m = j + 2 * static_cast<Eigen::Index>(contacts.size());
  if (j == 0) p.Bt.reset(1, p.Rt.block_sizes());
  for (GrowVector* x : {&p.w_free, &p.lo, &p.hi}) x->resize(m);  // keeps its entries
  for (const int i : contacts) {
    for (const int k : {1, 2}) {
      p.Bt.add_group();
      for (int e = p.Rt.entry_begin(i); e < p.Rt.entry_end(i); ++e) p.Bt.add_entry(p.Rt.entry_block(e)) = p.Rt.entry(e).row(k);
      p.w_free[j] = p.u_free[3 * i + k];
      p.lo[j] = -kInfinity;
      p.hi[j++] = kInfinity;
    }
  }
}

// Moves the impulses of those rows, the last of beta, into lambda (3n).
void take_tangents(std::span<const int> contacts, GrowVector& lambda, GrowVector& beta) {
  const Eigen::Index own = beta.size() - 2 * static_cast<Eigen::Index>(contacts.size());
  Eigen::Index j = own;
  for (const int i : contacts) {
    lambda.segment<2>(3 * i + 1) = beta.segment<2>(j);
    j += 2;
  }
  beta.resize(own);  // keeps its entries
}

// The opposite: appends to beta what lambda has along the tangents of the contacts, and sets it to zero there.
void give_tangents(std::span<const int> contacts, GrowVector& lambda, GrowVector& beta) {
  Eigen::Index j = beta.size();
  beta.resize(j + 2 * static_cast<Eigen::Index>(contacts.size()));  // keeps its entries
  for (const int i : contacts) {
    beta.segment<2>(j) = lambda.segment<2>(3 * i + 1);
    lambda.segment<2>(3 * i + 1).setZero();
    j += 2;
  }
}

bool is_half_space(const StandardForm& form, Eigen::Index k) { return form.family == Family::associated && std::isinf(form.problem.mu[k]); }

template <class From, class To>
void copy_impulses(const From& from, To& to) {
  to.lambda = from.lambda;
  to.beta = from.beta;
}

const ReducedProblem& in_cones(const StandardForm& form, InteriorWorkspace& w) {
  w.sticking.clear();
  for (Eigen::Index k = 0; k < form.problem.mu.size(); ++k) {
    if (is_half_space(form, k)) w.sticking.push_back(static_cast<int>(k));
  }
  if (w.sticking.empty() && form.compliance.size() == 0) return form.problem;
  if (form.compliance.size() > 0) {
    widen(form, w.problem, w.sizes);
  } else {
    w.problem = form.problem;
  }
  for (const int k : w.sticking) w.problem.mu[k] = 0.0;
  append_tangents(w.sticking, w.problem);
  return w.problem;
}

// Contacts with rows above rounding; true when all have them.
bool list_movable(const ReducedProblem& p, GrowVector& squares, std::vector<int>& movable) {
  constexpr double kRounding = 1e-24;  // of the mean square of a contact's rows
  movable.clear();
  squares.resize(p.contacts());
  for (int i = 0; i < p.contacts(); ++i) squares[i] = p.Rt.group_square(i);
  const double sum = squares.sum();
  for (int i = 0; i < p.contacts(); ++i) {
    if (p.contacts() * squares[i] > kRounding * sum) movable.push_back(i);
  }
  return static_cast<int>(movable.size()) == p.contacts();
}

// The start among the contacts and rows that are solved for; none is empty.
void take_start(const StandardForm& form, const SolverOptions& options, bool all, const Impulses& start, InteriorWorkspace& w) {
  ConeSolution& to = w.solution;
  to.lambda.resize(0);
  to.beta.resize(0);
  if (!is_start(form.problem, options, start)) return;
  copy_impulses(start, to);
  give_tangents(w.sticking, to.lambda, to.beta);
  if (all) return;
  const std::vector<int>& contacts = w.movable.contacts;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    to.lambda.segment<3>(3 * static_cast<Eigen::Index>(k)) = to.lambda.segment<3>(3 * Eigen::Index{contacts[k]}).eval();
  }
  to.lambda.resize(3 * static_cast<Eigen::Index>(contacts.size()));  // keeps its entries
}

void solve_cones(const ReducedProblem& p, const StandardForm& form, const SolverOptions& options, InteriorWorkspace& w) {
  ConeOptions cone;
  cone.edges = form.edges;
  cone.relaxed = form.family == Family::associated;
  cone.tolerance = kShareOfTolerance * options.tolerance;
  cone.acceptable = kShareOfAcceptable * options.acceptable;
  cone.max_iterations = std::min(cone.max_iterations, options.max_factorizations);
  cone.log = w.log;
  if (cone.relaxed && form.has_linear_cones()) {
    cone.max_iterations = std::min(kLinearCones, options.max_factorizations);
    cone.tolerance = kFineTolerance;
  }
  cone.warm_start = w.solution.lambda.size() > 0;
  solve_cone(p, cone, w.cone, w.solution);
}

// From the impulses in `w.solution`; true when solved.
bool polish(const ReducedProblem& p, ConeOptions cone, int max_iterations, InteriorWorkspace& w, Impulses& out) {
  cone.warm_start = true;
  cone.max_iterations = max_iterations;
  solve_cone(p, cone, w.cone, w.solution);
  out.iterations += w.solution.iterations;
  return w.solution.status == Status::solved;
}

}  // namespace

void solve_by_interior_point(const StandardForm& form, const SolverOptions& options, InteriorWorkspace& w, Impulses& out) {
  const ReducedProblem& cones = in_cones(form, w);
  const bool all = list_movable(cones, w.squares, w.movable.contacts);
  if (!all) select_contacts(cones, w.movable);
  take_start(form, options, all, out, w);
  solve_cones(all ? cones : w.movable.problem, form, options, w);
  out.status = w.solution.status;
  out.iterations = w.solution.iterations;
  if (w.solution.paths > 1) ++out.fallbacks;
  out.beta = w.solution.beta;
  if (all) {
    out.lambda = w.solution.lambda;
  } else {
    expand_contacts(w.movable, cones.contacts(), w.solution.lambda, out.lambda);
  }
  take_tangents(w.sticking, out.lambda, out.beta);
}

bool polish_disc(const ReducedProblem& p, const Impulses& start, int max_factorizations, InteriorWorkspace& w, Impulses& out) {
  if (max_factorizations <= 0) return false;
  copy_impulses(start, w.solution);
  if (!polish(p, {}, std::min(kPolishSystems, max_factorizations), w, out)) return false;
  copy_impulses(w.solution, out);
  out.status = Status::solved;
  return true;
}

bool can_polish_convex(const StandardForm& form) {
  const bool cones = !form.has_linear_cones() || form.compliance.size() > 0;
  return form.family == Family::associated && form.disc() && cones && form.problem.defect.size() == 0;
}

void polish_convex(const StandardForm& form, int max_factorizations, InteriorWorkspace& w, Impulses& out) {
  const ReducedProblem& cones = in_cones(form, w);
  copy_impulses(out, w.solution);
  give_tangents(w.sticking, w.solution.lambda, w.solution.beta);
  ConeOptions cone;
  cone.relaxed = true;
  cone.tolerance = kFineTolerance;
  // inaccurate, not iteration_limit: the polish has a small budget of its own.
  out.status = polish(cones, cone, std::min(kConvexPolish, max_factorizations), w, out) ? Status::solved : Status::inaccurate;
  take_tangents(w.sticking, w.solution.lambda, w.solution.beta);
  copy_impulses(w.solution, out);
}

}  // namespace stiction
