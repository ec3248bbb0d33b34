// solve, inverse, their workspace, indeterminacy.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "law_options.hpp"
#include "solved.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/forward/scheme.hpp"
#include "stiction/problem/indeterminacy.hpp"
#include "workspace_handle.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;

template <class Problem>
Solved solve_problem(const Problem& problem, const SolveOptions& options, SolveWorkspace& workspace) {
  Solved s;
  s.options = options;
  solve(problem, options, workspace, s);
  s.tau = s.prescribed_impulses / problem.dt;
  return s;
}

/// None: no memory.
WorkspaceHandle* read_workspace(const std::optional<WorkspaceObject>& workspace) {
  if (!workspace) return nullptr;
  if (!nb::isinstance<WorkspaceHandle>(*workspace)) throw_type_error("workspace", "a Workspace or None", *workspace);
  return nb::cast<WorkspaceHandle*>(*workspace);
}

template <class Problem>
Solved solve_released(const nb::object& object, SolveOptions options, const std::optional<ArrayLike>& last, WorkspaceHandle* kept) {
  const Problem& problem = nb::cast<const Problem&>(object);
  const Eigen::VectorXd reference = read_last(last, options.choice, problem.contacts(), kept != nullptr);
  refuse_idle(options, problem.laws);
  options.warm_start = kept != nullptr || reference.size() > 0;
  const nb::gil_scoped_release released;
  validate(problem);
  if (kept != nullptr) return kept->run(problem, reference, [&](InverseWorkspace& w) { return solve_problem(problem, options, w.solve); });
  static thread_local SolveWorkspace cold;
  if (reference.size() == 0) return solve_problem(problem, options, cold);
  SolveWorkspace workspace;
  start_from(problem.ids, reference, workspace);
  return solve_problem(problem, options, workspace);
}

Solved solve_object(const AnyProblemObject& problem, const LawArguments& law, const Text& choice, const std::optional<ArrayLike>& last,
                    const std::optional<WorkspaceObject>& workspace) {
  SolveOptions options = read_options(law);
  options.choice = choice_from_string(read_text(choice, "choice"));
  WorkspaceHandle* kept = read_workspace(workspace);
  if (nb::isinstance<ContactProblem>(problem)) return solve_released<ContactProblem>(problem, options, last, kept);
  if (nb::isinstance<ReducedProblem>(problem)) return solve_released<ReducedProblem>(problem, options, last, kept);
  throw_type_error("problem", "a ContactProblem or a ReducedProblem", problem);
}

// A file of an inverse problem prescribes its joints; coordinates that are prescribed beside the joints would be dropped.
void require_free(const ContactProblem& problem, const Request& request) {
  if (problem.prescribed.empty() || problem.prescribed == request.joints) return;
  throw InvalidArgument("problem.prescribed", "none, or the joints", fmt::format("{}", fmt::join(problem.prescribed, ", ")));
}

Solved solve_inverse(const ContactProblem& problem, Request& request, const InverseOptions& options, InverseWorkspace& workspace) {
  Solved s;
  inverse_dynamics(problem, request.joints, request.v_desired, request.limits, options, workspace, s);
  s.options = options.contact;
  s.joints = std::move(request.joints);
  s.limited = !request.limits.empty();
  s.u.resize(3 * problem.contacts());
  problem.J.multiply(s.v, s.u);
  return s;
}

Solved inverse_released(const ContactProblem& problem, Request request, InverseOptions options, const std::optional<ArrayLike>& last,
                        WorkspaceHandle* kept) {
  const Eigen::VectorXd reference = read_last(last, options.choice, problem.contacts(), kept != nullptr);
  refuse_idle(options.contact, problem.laws, options.choice);
  options.contact.warm_start = kept != nullptr || reference.size() > 0;
  const nb::gil_scoped_release released;
  validate(problem);
  require_free(problem, request);
  const auto solve = [&](InverseWorkspace& workspace) { return solve_inverse(problem, request, options, workspace); };
  if (kept != nullptr) return kept->run(problem, reference, solve);
  InverseWorkspace workspace;
  if (reference.size() > 0) start_from(problem.ids, reference, workspace.solve);
  return solve(workspace);
}

Indeterminacy analyse(const ReducedProblem& problem, const Solved& s, const IndeterminacyOptions& options) {
  require_size("solution.impulses", s.impulses.size(), 3 * problem.contacts());
  return indeterminacy(problem, lowered(problem, s.options), s.impulses, s.bounded_impulses, options);
}

Indeterminacy analyse(ContactProblem problem, const Solved& s, const IndeterminacyOptions& options) {
  require_size("solution.impulses", s.impulses.size(), 3 * problem.contacts());
  require_size("solution.v", s.v.size(), problem.velocities());
  require_size("solution.bounded_impulses", s.bounded_impulses.size(), problem.bounded_rows());
  if (s.limited) {  // bounded impulses keep their values, and so do these
    problem.prescribed.clear();
    problem.v_prescribed.resize(0);
    for (std::size_t i = 0; i < s.joints.size(); ++i) problem.impulse[s.joints[i]] += s.prescribed_impulses[static_cast<Eigen::Index>(i)];
  } else if (!s.joints.empty()) {
    problem.prescribed = s.joints;
    problem.v_prescribed.resize(static_cast<Eigen::Index>(s.joints.size()));
    for (std::size_t i = 0; i < s.joints.size(); ++i) problem.v_prescribed[static_cast<Eigen::Index>(i)] = s.v[s.joints[i]];
  }
  validate(problem);
  Reduction reduction;
  reduce(problem, reduction);
  Eigen::VectorXd beta(reduction.reduced.bounded_rows());
  for (std::size_t j = 0; j < reduction.bounded.size(); ++j) beta[static_cast<Eigen::Index>(j)] = s.bounded_impulses[reduction.bounded[j]];
  return indeterminacy(reduction.reduced, lowered(reduction.reduced, s.options), s.impulses, beta, options);
}

void bind_solvers(nb::module_& m) {
  const SolveOptions d;
  m.def(
      "can_solve",
      [](const Text& law, const Text& solver) {
        return can_solve(law_from_string(read_text(law, "law")), solver_from_string(read_text(solver, "solver")));
      },
      "law"_a, "solver"_a = "auto", "True when the law, one of LAWS, can be solved by the solver, one of SOLVERS; 'auto': by any.");
  m.def(
      "solve",
      [](const AnyProblemObject& problem, const Text& law, const Text& solver, const Real& tolerance, const Integer& edges,
         const Text& variant, const Flag& align_edges, const Text& viscous_slip, const Text& choice, const std::optional<ArrayLike>& last,
         const Real& alpha, const Integer& max_sweeps, const Integer& max_factorizations, const Integer& max_pivots, const Integer& threads,
         const Flag& bilateral_by_prox, const std::optional<WorkspaceObject>& workspace) {
        const LawArguments arguments{law,   solver,     tolerance,          edges,      variant, align_edges,      viscous_slip,
                                     alpha, max_sweeps, max_factorizations, max_pivots, threads, bilateral_by_prox};
        return solve_object(problem, arguments, choice, last, workspace);
      },
      "problem"_a, "law"_a = "coulomb_cone", "solver"_a = "auto", "tolerance"_a = d.tolerance, "edges"_a = d.edges,
      "variant"_a = "stewart_trinkle", "align_edges"_a = false, "viscous_slip"_a = "after", "choice"_a = "warm_start",
      "last"_a = nb::none(), "alpha"_a = d.alpha, "max_sweeps"_a = d.max_sweeps, "max_factorizations"_a = d.max_factorizations,
      "max_pivots"_a = d.max_pivots, "threads"_a = d.threads, "bilateral_by_prox"_a = false, nb::kw_only(), "workspace"_a = nb::none(),
      R"(Solves a contact problem under a law.

law: one of LAWS; contacts with laws of their own keep them.
solver: one of SOLVERS that fits the law (`can_solve`).
tolerance: largest scaled residual that counts as solved.
edges: of the polygonal friction cones, 4 to 1024; law anitescu: 0 is the disc.
variant: 'stewart_trinkle' (every contact, with its gap) or 'anitescu_potra' (touching contacts only).
align_edges: turn each polygon so that a vertex opposes its contact's slip before the step.
viscous_slip: friction of law viscous opposes the slip 'after' or 'before' the step.
choice: what becomes of impulses that the law leaves open: 'warm_start', as the solver reaches them, from the last answer where there is a
    workspace; 'least_norm', the shortest, which share the load evenly; 'closest_to_last', those closest to `last`.
    Solution.choice_met tells whether it was reached.
last: (n, 3) impulses (N s) for 'closest_to_last', as Solution.impulses has them, from which the solve starts too: of several motions that a
    law allows the one that they belong to is found, such as a grip. None: those that the workspace solved last.
alpha: relaxation of the solvers jor and sor, in (0, 2); refused beside others, 'auto' too, which never runs them.
max_sweeps: their iterations at most, and those of pgs; refused beside others.
max_factorizations: linear systems of interior_point and newton at most, fall-backs included.
max_pivots: of the pivoting and active-set solvers at most, those that 'auto' runs or falls back on too; 0: their own bound. Refused beside
    others, unless choice is 'least_torque'.
threads: on which the connected parts of the problem are solved; the answer does not depend on it.
bilateral_by_prox: they iterate on bilateral rows too, instead of eliminating them.
workspace: Workspace, to start from what the last call with it returned. None: starts cold, and the answer depends on the arguments alone.

Raises ValueError naming the argument, TypeError when it has the wrong
type; numerical outcomes are `status`.)");
  m.def(
      "inverse",
      [](const ContactProblemObject& problem, const ArrayLike& joints, const ArrayLike& v_desired, const Text& law,
         const std::optional<ArrayLike>& torque_limits, const Text& solver, const Real& tolerance, const Integer& edges,
         const Text& variant, const Flag& align_edges, const Text& viscous_slip, const Text& choice, const std::optional<ArrayLike>& last,
         const Real& alpha, const Integer& max_sweeps, const Integer& max_factorizations, const Integer& max_pivots, const Integer& threads,
         const Flag& bilateral_by_prox, const Flag& repair_inconsistent, const std::optional<Flag>& prove_infeasible,
         const std::optional<WorkspaceObject>& workspace) {
        if (!nb::isinstance<ContactProblem>(problem)) throw_type_error("problem", "a ContactProblem", problem);
        InverseOptions options;
        options.contact = read_options({law, solver, tolerance, edges, variant, align_edges, viscous_slip, alpha, max_sweeps,
                                        max_factorizations, max_pivots, threads, bilateral_by_prox});
        options.choice = choice_from_string(read_text(choice, "choice"));
        options.repair_inconsistent = read_flag(repair_inconsistent, "repair_inconsistent");
        options.prove_infeasible = prove_infeasible ? read_flag(*prove_infeasible, "prove_infeasible") : !workspace;
        Request request = read_request(joints, v_desired, torque_limits);
        return inverse_released(nb::cast<const ContactProblem&>(problem), std::move(request), options, last, read_workspace(workspace));
      },
      "problem"_a, "joints"_a, "v_desired"_a, "law"_a = "coulomb_cone", "torque_limits"_a = nb::none(), "solver"_a = "auto",
      "tolerance"_a = d.tolerance, "edges"_a = d.edges, "variant"_a = "stewart_trinkle", "align_edges"_a = false,
      "viscous_slip"_a = "after", "choice"_a = "warm_start", "last"_a = nb::none(), "alpha"_a = d.alpha, "max_sweeps"_a = d.max_sweeps,
      "max_factorizations"_a = d.max_factorizations, "max_pivots"_a = d.max_pivots, "threads"_a = d.threads, "bilateral_by_prox"_a = false,
      "repair_inconsistent"_a = true, "prove_infeasible"_a = nb::none(), nb::kw_only(), "workspace"_a = nb::none(),
      R"(Torques and contact impulses that bring the driven joints to v_desired at the end of the step, under a law.

joints: whole-number indices into v.
v_desired: their velocities (rad/s or m/s), or one for all.
torque_limits: largest |tau| per joint (N m or N), infinity allowed, or one for all; all infinite: none.
    A joint that saturates misses its velocity.
choice: as of `solve`, and 'least_torque': of all impulses with this motion those of least |tau|^2, over the disc itself where the law has one,
    from the polygon of `edges` in it on, where a contact slides on it along the ray against its slip (refused beside finite limits).
    Solution.choice_met tells whether they are known to be the least; where not, they take no more torque than what the solver found.
repair_inconsistent: replace velocities that the contacts refuse by the closest that they allow, those that jam under Coulomb's laws by
    the closest in the dual cones, and say so (Solution.repaired). Where
    contacts name their laws, each by its own; laws that need several programs (parts of the problem with other kinds of laws) are not.
prove_infeasible: when the request is missed, search for a proof that it cannot be met (Solution.proof). None: unless there is a
    workspace, for the search may take longer than all the rest of a control loop.
The other arguments are those of `solve`.

The problem's impulse holds everything but these torques; it has no prescribed coordinates, or the joints themselves. For a motion
(q, v, a) that contacts or loops allow, see `World.problem`. Raises ValueError
naming the argument, TypeError when it has the wrong type; numerical outcomes are `status`.)");
}

void bind_workspace(nb::module_& m) {
  nb::class_<WorkspaceHandle>(m, "Workspace",
                              R"(What `solve` and `inverse` remember from one call for the next: one for each control loop, and each thread.

Kept are impulses, by the names of contacts and rows (ContactProblem.ids, row_ids; where there are none, by position while their number
stays), the sets of contacts and rows that pivoting and active-set solvers end at, (v, tau) of solver 'enumerate', and memory, which need
not be asked for again. A new contact starts from zero, and after a call that was not solved all is forgotten but the impulses of the last
that was, for choice 'closest_to_last'. Where the law determines motion and impulses they are those of a cold start within the tolerance;
what it leaves open may depend on the calls before. Law, solver and problem may differ from call to call.
Copies and pickles (for the same version) start from the same. ValueError while a call of another thread is using it.)")
      .def(nb::init<>())
      .def("forget", &WorkspaceHandle::forget, "The next call starts cold.")
      .def(
          "copy", [](const WorkspaceHandle& w) { return new WorkspaceHandle(w); }, "Another one that starts from the same.")
      .def("__copy__", [](const WorkspaceHandle& w) { return new WorkspaceHandle(w); })
      .def("__deepcopy__", [](const WorkspaceHandle& w, nb::handle) { return new WorkspaceHandle(w); })
      .def("__getstate__",
           [](WorkspaceHandle& w) {
             const std::string bytes = w.memory();
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("__setstate__", [](WorkspaceHandle& w, const nb::bytes& bytes) {
        WorkspaceHandle read;
        read.remember({bytes.c_str(), bytes.size()});
        new (&w) WorkspaceHandle(read);
      });
}

void bind_indeterminacy(nb::module_& m) {
  nb::class_<Indeterminacy>(m, "Indeterminacy", "How far the contact impulses are determined: the set of impulses with the same motion.")
      .def_ro("dimension", &Indeterminacy::dimension, "Of that set; 0: the impulses are unique")
      .def_ro("face_dimension", &Indeterminacy::face_dimension, "Per contact, dimension of what its impulse spans in the set: 0 to 3")
      .def_ro("complete", &Indeterminacy::complete,
              "False when a program ran into its bound of 2000 pivots or lost its point to rounding, or when an interval leaves out the "
              "solution's own impulse: nothing here is sure then")
      .def_prop_ro(
          "normal_min",
          [](nb::pointer_and_handle<Indeterminacy> self) {
            const GrowVector& x = self.p->normal_min;
            return view<ConstVector>(x.data(), {static_cast<std::size_t>(x.size())}, self.h);
          },
          "(n,) least normal impulses over the set (N s), empty unless asked for")
      .def_prop_ro(
          "normal_max",
          [](nb::pointer_and_handle<Indeterminacy> self) {
            const GrowVector& x = self.p->normal_max;
            return view<ConstVector>(x.data(), {static_cast<std::size_t>(x.size())}, self.h);
          },
          "(n,) largest normal impulses over the set (N s), infinity when unbounded");
  constexpr const char* doc = R"(Indeterminacy of the impulses of a solution of `problem`, as solve or inverse returned it.

intervals: also the least and largest normal impulse of every contact. After `inverse` the torques may vary with the impulses; with
torque limits they keep their values, as impulses of bounded rows do.)";
  const auto which = [](bool intervals) {
    IndeterminacyOptions options;
    options.normal_intervals = intervals;
    return options;
  };
  m.def(
      "indeterminacy",
      [which](const ContactProblem& problem, const Solved& solution, bool intervals) {
        const nb::gil_scoped_release released;
        return analyse(problem, solution, which(intervals));
      },
      "problem"_a, "solution"_a, "intervals"_a = false, doc);
  m.def(
      "indeterminacy",
      [which](const ReducedProblem& problem, const Solved& solution, bool intervals) {
        const nb::gil_scoped_release released;
        return analyse(problem, solution, which(intervals));
      },
      "problem"_a, "solution"_a, "intervals"_a = false, doc);
}

nb::tuple split_names(const std::string& names) { return nb::tuple(nb::str(names.c_str()).attr("split")(", ")); }

}  // namespace

void bind_solve(nb::module_& m) {
  m.attr("LAWS") = split_names(law_names());
  m.attr("SOLVERS") = split_names(solver_names());
  m.attr("SCHEMES") = split_names(scheme_names());
  bind_workspace(m);
  bind_solvers(m);
  bind_indeterminacy(m);
}

}  // namespace stiction::python
