#include "stiction/laws/interior.hpp"

#include <algorithm>

#include "stiction/laws/tangent_rows.hpp"

namespace stiction {

namespace {

// Systems factored for the laws with half lines and half spaces, which take about 20: a request without an answer ends soon.
constexpr int kLinearCones = 200;
// m/s, of their natural map: a polish on flat faces ends in rounding, and tangential rows close to each other ask for it.
constexpr double kLinearTolerance = 1e-12;

constexpr int kPolishSystems = 20;  // of the disc from a point next to its solution

bool has_linear_cones(const SolveOptions& options) { return options.law == Law::frictionless || options.law == Law::no_slip; }

bool keeps_mu(const ReducedProblem& p, const SolveOptions& options) {
  if (has_linear_cones(options)) return false;
  return options.law != Law::anitescu || std::ranges::find(p.closed, 0) == p.closed.end();
}

bool is_closed(const ReducedProblem& p, int i) { return p.closed[static_cast<std::size_t>(i)] != 0; }

const ReducedProblem& in_cones(const ReducedProblem& p, const SolveOptions& options, InteriorWorkspace& w) {
  if (keeps_mu(p, options)) return p;
  w.problem = p;
  w.sticking.clear();
  for (int i = 0; i < p.contacts(); ++i) {
    if (options.law != Law::anitescu || !is_closed(p, i)) w.problem.mu[i] = 0.0;
    if (options.law == Law::no_slip && is_closed(p, i)) w.sticking.push_back(i);
  }
  if (options.law == Law::no_slip) append_tangents(w.sticking, w.problem);
  return w.problem;
}

// Contacts with rows above rounding; true when all have them.
bool list_movable(const ReducedProblem& p, std::vector<int>& movable) {
  constexpr double kRounding = 1e-24;  // of the mean square of a contact's rows
  movable.clear();
  double sum = 0.0;
  const auto square = [&](int i) {
    double out = 0.0;
    for (int e = p.Rt.entry_begin(i); e < p.Rt.entry_end(i); ++e) out += p.Rt.entry(e).squaredNorm();
    return out;
  };
  for (int i = 0; i < p.contacts(); ++i) sum += square(i);
  for (int i = 0; i < p.contacts(); ++i) {
    if (p.contacts() * square(i) > kRounding * sum) movable.push_back(i);
  }
  return static_cast<int>(movable.size()) == p.contacts();
}

// The start among the contacts and rows that are solved for; none is empty.
void take_start(const ReducedProblem& p, const SolveOptions& options, bool all, const Impulses& start, InteriorWorkspace& w) {
  ConeSolution& to = w.solution;
  to.lambda.resize(0);
  to.beta.resize(0);
  if (!is_start(p, options, start)) return;
  to.lambda = start.lambda;
  to.beta = start.beta;
  if (options.law == Law::no_slip) give_tangents(w.sticking, to.lambda, to.beta);
  if (all) return;
  const std::vector<int>& contacts = w.movable.contacts;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    to.lambda.segment<3>(3 * static_cast<Eigen::Index>(k)) = to.lambda.segment<3>(3 * Eigen::Index{contacts[k]}).eval();
  }
  to.lambda.resize(3 * static_cast<Eigen::Index>(contacts.size()));  // keeps its entries
}

void solve_cones(const ReducedProblem& p, const SolveOptions& options, InteriorWorkspace& w) {
  const bool disc = !is_polygonal(options.law) || options.edges == 0;
  ConeOptions cone;
  cone.edges = options.edges;
  cone.relaxed = options.law == Law::anitescu || has_linear_cones(options);
  if (has_linear_cones(options)) {
    cone.max_iterations = kLinearCones;
    cone.tolerance = kLinearTolerance;
  }
  cone.warm_start = w.solution.lambda.size() > 0;
  cone.log = w.log;
  (disc ? exact_cone : interior_point)(p, cone, w.cone, w.solution);
}

}  // namespace

void solve_by_interior_point(const ReducedProblem& p, const SolveOptions& options, InteriorWorkspace& w, Impulses& out) {
  const ReducedProblem& cones = in_cones(p, options, w);
  const bool all = list_movable(cones, w.movable.contacts);
  if (!all) select_contacts(cones, w.movable);
  take_start(p, options, all, out, w);
  solve_cones(all ? cones : w.movable.problem, options, w);
  out.status = w.solution.status;
  out.iterations = w.solution.iterations;
  out.beta = w.solution.beta;
  if (all) {
    out.lambda = w.solution.lambda;
  } else {
    expand_contacts(w.movable, p.contacts(), w.solution.lambda, out.lambda);
  }
  if (options.law == Law::no_slip) take_tangents(w.sticking, out.lambda, out.beta);
}

bool polish_disc(const ReducedProblem& p, const Impulses& start, InteriorWorkspace& w, Impulses& out) {
  w.solution.lambda = start.lambda;
  w.solution.beta = start.beta;
  ConeOptions cone;
  cone.warm_start = true;
  cone.max_iterations = kPolishSystems;
  exact_cone(p, cone, w.cone, w.solution);
  out.iterations += w.solution.iterations;
  const bool solved = w.solution.status == Status::solved;
  if (solved) {
    out.lambda = w.solution.lambda;
    out.beta = w.solution.beta;
    out.status = Status::solved;
  }
  return solved;
}

}  // namespace stiction
