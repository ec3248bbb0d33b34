#include "stiction/laws/solve.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/ranges.hpp"
#include "stiction/laws/program.hpp"
#include "stiction/laws/solve_memory.hpp"
#include "stiction/problem/contact_checks.hpp"
#include "stiction/problem/contact_weights.hpp"
#include "stiction/problem/reduced_certificate.hpp"

namespace stiction {

namespace {

const ReducedProblem& reduced_of(const ProblemView&, const SolveWorkspace& w) { return w.reduction.reduced; }
const ReducedProblem& reduced_of(const ReducedProblem& problem, const SolveWorkspace&) { return problem; }

// Impulses this far beyond those of the start, in the problem's own, are those of a set without bound (fingers that squeeze), along which
// the solver went astray. A firm grip on what is light is a start.
constexpr double kFarImpulse = 100.0;

bool runs_off(const Solution& s, const WarmStart& start) {
  const double largest = std::max(largest_entry(s.impulses), largest_entry(s.bounded_impulses));
  const double held = std::max(largest_entry(start.lambda), largest_entry(start.beta));
  return s.certificate.finite && s.ray.impulses.size() == 0 && largest > held + kFarImpulse * s.certificate.impulse_scale;
}

// The solver's point and that of the last step, where the rule asks for it, in the coordinates of the cones.
bool choose_in_form(const SolveOptions& options, SolveWorkspace& w, GrowVector& rows) {
  ChoiceWorkspace& c = w.choice;
  collect_impulses(w.form, w.terms, w.impulses.lambda, w.cone.lambda);
  c.reference.resize(0);
  if (options.choice == Choice::closest_to_last && c.last.size() == w.impulses.lambda.size())
    collect_impulses(w.form, w.terms, c.last, c.reference);
  w.cone.motion.resize(0);
  if (w.form.y_known.size() == 0) w.cone.motion = w.impulses.motion;
  return choose_impulses(w.form, w.cone.lambda, w.impulses.beta, w.cone.motion, c, rows);
}

// Impulses by the rule, certified again; those of the solver stay when the rule's do not pass. What is returned is the next λ_ref. Of a set
// without bound the least norm is the default.
template <class Problem>
void apply_choice(const Problem& problem, SolveOptions options, SolveWorkspace& w, Solution& solution) {
  const bool far = runs_off(solution, w.start) && !is_pivoting(choose_solver(w.form, options.solver));  // a vertex is where its set begins
  const bool rigid = w.form.family != Family::constitutive;
  // What gives way leaves no choice.
  solution.choice_met = options.choice == Choice::warm_start || !rigid;
  if (options.choice == Choice::warm_start && !far) return;
  if (options.choice == Choice::warm_start) options.choice = Choice::least_norm;
  if (!solution.choice_met) {
    w.found = solution.impulses;
    w.found_rows = solution.bounded_impulses;
  }
  w.solved_impulses = w.impulses.lambda;
  GrowVector& rows = w.choice.rows;  // those of the rule, then the solver's
  const double worst = solution.certificate.worst();
  if (rigid && (solution.status == Status::solved || far) && choose_in_form(options, w, rows)) {
    expand_impulses(w.form, w.terms, w.choice.chosen, w.impulses.lambda);
    std::swap(w.impulses.beta, rows);
    complete(problem, options, w, solution);
    const bool kept = solution.status == Status::solved || solution.certificate.worst() <= worst;
    solution.choice_met = solution.choice_met || kept;
    if (!kept) {
      w.impulses.lambda = w.solved_impulses;
      std::swap(w.impulses.beta, rows);
      complete(problem, options, w, solution);
    }
  }
  w.choice.last = solution.impulses;
  w.impulses.lambda = solution.impulses;
}

template <class Problem>
Solution solve_alone(const Problem& problem, const SolveOptions& options) {
  validate(problem);
  SolveWorkspace workspace;
  Solution solution;
  solve(problem, options, workspace, solution);
  return solution;
}

// A second method for a point that its certificate refused: what pushes against each other at a vertex the interior point leaves small, and
// contacts that hardly give way beside rigid ones end in rounding. False when the program has none.
bool solve_otherwise(const ReducedProblem& p, SolveOptions options, SolveWorkspace& w) {
  const int spent = w.impulses.iterations, fallbacks = w.impulses.fallbacks + 1;
  if (!take_spent(spent, options)) return false;
  const bool rigid = w.form.family == Family::energy || w.form.compliance.size() == 0;
  if (rigid && choose_solver(w.form, options.solver) == Solver::active_set) {
    options.acceptable = 0.0;  // less than the vertex has is of no use, nor are its impulses a start
    options.warm_start = false;
    solve_in_form(p, options, Solver::interior_point, w, w.impulses);
  } else if (can_polish_convex(w.form) && w.form.problem.contacts() > 0) {
    collect_impulses(w.form, w.terms, w.impulses.lambda, w.cone.lambda);
    w.cone.beta = w.impulses.beta;
    w.cone.motion.resize(0);
    w.cone.iterations = 0;
    polish_convex(w.form, options.max_factorizations, w.interior, w.cone);
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
    SolveOptions left = options;
    if (!take_spent(w.impulses.iterations, left)) return;
    w.uncorrected = w.impulses;
    w.without_defect.u_free.noalias() = p.defect * solution.impulses;
    w.without_defect.u_free += p.u_free;
    make_standard_form(w.without_defect, w.terms, w.form);
    solve_prepared(w.without_defect, left, w, w.impulses);
    make_standard_form(p, w.terms, w.form);
    w.impulses.iterations += w.uncorrected.iterations;
    complete(p, options, w, solution);
    if (solution.status == Status::solved || solution.certificate.worst() < kHelps * before) continue;
    w.impulses = w.uncorrected;
    return complete(p, options, w, solution);
  }
}

void require_listed_all(const SolveOptions& options) {
  require_law("law", options.law);
  require_listed("solver", options.solver, kSolvers.back());
  require_listed("choice", options.choice, Choice::least_torque);
  require_listed("variant", options.variant, PyramidVariant::anitescu_potra);
  require_listed("viscous_slip", options.viscous_slip, ViscousSlip::before);
}

void require_solver(const LawMix& law, const SolveOptions& options) {
  if (can_solve(law, options.solver)) return;
  throw InvalidArgument("solver", "one that takes all the laws of the mixture", fmt::format("'{}'", to_string(options.solver)));
}

// All but whether the solver takes the laws together: parts of the problem with other laws are solved apart, and each asks that itself.
void validate_for(std::span<const Law> laws, const SolveOptions& options) {
  const auto any = [&](auto has) { return std::ranges::any_of(laws, has); };
  const auto any_section = [&](Section section) { return any([&](Law law) { return row_of(law).section == section; }); };
  const bool disc = options.edges == 0 && any_section(Section::either) && !any_section(Section::polygon);
  const auto own = std::ranges::find_if(laws, [](Law law) { return row_of(law).gaps == Gaps::midpoint; });
  if (options.variant != PyramidVariant::stewart_trinkle && own != laws.end())
    throw InvalidArgument("variant", fmt::format("stewart_trinkle for {}, which is a scheme of its own", to_string(*own)),
                          fmt::format("'{}'", to_string(options.variant)));
  if (options.align_edges && (!any(is_polygonal) || options.edges == 0)) {
    throw InvalidArgument("align_edges", "a law with a friction polygon", fmt::format("'{}'", to_string(laws[0])));
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

}  // namespace

void validate(const SolveOptions& options) {
  require_listed_all(options);
  if (!can_solve(options.law, options.solver)) {
    throw InvalidArgument("solver", fmt::format("a solver of law {}", to_string(options.law)),
                          fmt::format("'{}'", to_string(options.solver)));
  }
  validate_for(std::span(&options.law, 1), options);
}

void validate(const SolveOptions& options, const std::vector<Law>& laws) {
  if (laws.empty()) return validate(options);
  require_listed_all(options);
  validate_for(laws, options);
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
  for (Eigen::Index j = 0; j < out.beta.size(); ++j) out.beta[j] = start.beta[bounded[j]];
}

template <class Problem>
void recall_start(const Problem& problem, const SolverOptions& options, SolveWorkspace& w) {
  w.found.resize(0);
  if (options.warm_start) {
    w.start.recall(problem);
    return;
  }
  w.start.forget();
  forget_positions(w);
  for (SolveWorkspace& worker : w.workers) forget_positions(worker);
}

template <class Problem>
void keep_start(const Problem& problem, const Solution& solution, SolveWorkspace& w) {
  const bool chosen = w.found.size() > 0;
  w.start.keep(problem, chosen ? w.found : solution.impulses, chosen ? w.found_rows : solution.bounded_impulses);
}

// The reduction with what the law reads of it.
void reduce_for(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& w) {
  reduce(problem, w.reduction,
         {.keep_bilateral = options.bilateral_by_prox,
          .velocity_before = reads(problem, options, Reads::velocity_before),
          .rows_before = is_prox(options.solver)});
  ReducedProblem& reduced = w.reduction.reduced;
  if (options.align_edges) edge_angles(problem, reduced.edge_angle);
  reduced.weight.resize(0);
  if (reads(problem, options, Reads::weight)) contact_weights(problem, w.weights, reduced.weight);
  w.reduced_whole = true;
  forget_rows(w.convex);
}

// `w.reduction` is the problem's.
void solve_from_reduction(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  prepare(w.reduction.reduced, options, w);
  if (gives_up(problem, w, solution)) return;
  w.pyramid.outcome.clear();
  if (options.solver == Solver::enumerate) map_outcomes(problem, w.reduction, w.form, w.terms, w.pyramid.outcome);
  place_start(w.start, w.reduction.bounded, w.impulses);
  solve_prepared(w.reduction.reduced, options, w, w.impulses);
  complete(problem, options, w, solution);
  try_otherwise(problem, options, w, solution);
  apply_choice(problem, options, w, solution);
}

void solve_whole(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  require_solver(mix(problem.laws, options), options);
  check_positions(problem, w);
  reduce_for(problem, options, w);
  solve_from_reduction(problem, options, w, solution);
}

// For as long as it lives, also where a solve throws: tangents kept for other rows would be a wrong answer.
struct SameRows {
  explicit SameRows(ConvexWorkspace& w) : w_(w) { w_.same_rows = true; }
  ~SameRows() { w_.same_rows = false; }
  SameRows(const SameRows&) = delete;
  SameRows& operator=(const SameRows&) = delete;

 private:
  ConvexWorkspace& w_;
};

}  // namespace

void solve_again(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  if (!change_prescribed(problem, w.reduction)) return solve(problem, options, w, solution);
  recall_start(problem, options, w);
  const SameRows same_rows(w.convex);
  solve_from_reduction(problem, options, w, solution);
  keep_start(problem, solution, w);
}

void solve(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  validate(options, problem.laws);
  recall_start(problem, options, w);
  if (!solve_by_islands(problem, options, w, solution, solve_whole)) solve_whole(problem, options, w, solution);
  keep_start(problem, solution, w);
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
  for (Eigen::Index j = 0; j < m; ++j) to.beta[j] = solution.bounded_impulses[rows[j]];
  to.motion.resize(0);
  to.ray.resize(0);
  to.multipliers.resize(solution.multipliers.size() == 0 ? 0 : n + m);
  if (to.multipliers.size() > 0) to.multipliers.head(n) = solution.multipliers.head(n);
  for (Eigen::Index j = n; j < to.multipliers.size(); ++j) to.multipliers[j] = solution.multipliers[n + rows[j - n]];
  to.status = solution.status;
  to.iterations = solution.iterations;
  to.fallbacks = solution.fallbacks;
}

void start_from(std::span<const std::uint64_t> ids, const GrowVector& impulses, SolveWorkspace& w) {
  w.start.contacts.keep(ids, impulses);
  w.choice.last = impulses;
}

void forget_positions(SolveWorkspace& w) {
  for (std::vector<int>* basis : remembered_bases(w)) basis->clear();
  for (GrowVector* point : remembered_points(w)) point->resize(0);
}

void solve(const ReducedProblem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  validate(options, problem.laws);
  require_solver(mix(problem.laws, options), options);
  recall_start(problem, options, w);
  check_positions(problem, w);
  prepare(problem, options, w);
  if (gives_up(problem, w, solution)) return;
  w.pyramid.outcome.clear();
  w.impulses.lambda = w.start.lambda;
  w.impulses.beta = w.start.beta;
  solve_prepared(problem, options, w, w.impulses);
  complete(problem, options, w, solution);
  correct_for_defect(problem, options, w, solution);
  try_otherwise(problem, options, w, solution);
  apply_choice(problem, options, w, solution);
  keep_start(problem, solution, w);
}

Solution solve(const ProblemView& problem, const SolveOptions& options) { return solve_alone(problem, options); }
Solution solve(const ReducedProblem& problem, const SolveOptions& options) { return solve_alone(problem, options); }

}  // namespace stiction
