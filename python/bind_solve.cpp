// solve, inverse, indeterminacy; what they return.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/problem/indeterminacy.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;

/// A solution as Python sees it, forward or inverse, with what is needed to look into it later.
struct Solved : InverseSolution {
  SolveOptions options;
  std::vector<int> joints;  ///< driven by `inverse`
  bool limited = false;     ///< by torque limits
};

/// What only some laws read.
struct LawChoice {
  std::string variant, viscous_slip;
  bool align_edges;
};

SolveOptions solve_options(const std::string& law, const std::string& solver, double tolerance, int edges, const LawChoice& choice) {
  require_positive("tolerance", tolerance);
  SolveOptions options;
  options.law = law_from_string(law);
  options.solver = solver_from_string(solver);
  options.tolerance = tolerance;
  options.edges = edges;
  options.variant = pyramid_variant_from_string(choice.variant);
  options.viscous_slip = viscous_slip_from_string(choice.viscous_slip);
  options.align_edges = choice.align_edges;
  options.warm_start = false;  // the answer depends on the arguments alone
  return options;
}

template <class Problem>
Solved solve_problem(const Problem& problem, const SolveOptions& options) {
  static thread_local SolveWorkspace workspace;
  validate(problem);
  Solved s;
  s.options = options;
  solve(problem, options, workspace, s);
  s.tau = s.prescribed_impulses / problem.dt;
  return s;
}

Solved solve_inverse(const ContactProblem& problem, std::vector<int> joints, const Eigen::VectorXd& v_desired,
                     const std::vector<double>& limits, const InverseOptions& options) {
  Solved s;
  static_cast<InverseSolution&>(s) = inverse_dynamics(problem, joints, v_desired, limits, options);
  s.options = options.contact;
  s.joints = std::move(joints);
  s.limited = !limits.empty();
  s.u.resize(3 * problem.contacts());
  problem.J.multiply(s.v, s.u);
  return s;
}

Indeterminacy analyse(const ReducedProblem& problem, const Solved& s, const IndeterminacyOptions& options) {
  require_size("solution.impulses", s.impulses.size(), 3 * problem.contacts());
  return indeterminacy(problem, conditions(s.options), s.impulses, s.bounded_impulses, options);
}

Indeterminacy analyse(ContactProblem problem, const Solved& s, const IndeterminacyOptions& options) {
  require_size("solution.impulses", s.impulses.size(), 3 * problem.contacts());
  require_size("solution.v", s.v.size(), problem.velocities());
  if (s.limited) throw InvalidArgument("solution", "one without torque limits", "one with them");
  if (!s.joints.empty()) {
    problem.prescribed = s.joints;
    problem.v_prescribed.resize(static_cast<Eigen::Index>(s.joints.size()));
    for (std::size_t i = 0; i < s.joints.size(); ++i) problem.v_prescribed[static_cast<Eigen::Index>(i)] = s.v[s.joints[i]];
  }
  validate(problem);
  Reduction reduction;
  reduce(problem, reduction);
  Eigen::VectorXd beta(reduction.reduced.bounded_rows());
  for (std::size_t j = 0; j < reduction.bounded.size(); ++j) beta[static_cast<Eigen::Index>(j)] = s.bounded_impulses[reduction.bounded[j]];
  return indeterminacy(reduction.reduced, conditions(s.options), s.impulses, beta, options);
}

std::string number(double x) { return nb::str(nb::float_(x)).c_str(); }

void bind_certificate(nb::module_& m) {
  nb::class_<Residual>(m, "Residual", "A residual in its own unit, and scaled by the size of the terms that it compares.")
      .def_ro("raw", &Residual::raw, "Largest violation over contacts or rows, in the residual's unit")
      .def_ro("scaled", &Residual::scaled, "The same, dimensionless")
      .def("__repr__", [](const Residual& r) { return "Residual(raw=" + number(r.raw) + ", scaled=" + number(r.scaled) + ")"; });
  auto certificate = nb::class_<Certificate>(
      m, "Certificate", "Residuals of a returned point, computed from the point alone. Conditions that the law does not promise are zero.");
  for (const NamedResidual& r : kResiduals) certificate.def_ro(r.name, r.member, fmt::format("{}: {}", r.unit, r.meaning).c_str());
  certificate
      .def_ro("dissipation_angle", &Certificate::dissipation_angle,
              "rad: largest angle between friction and -slip; polygons turn it by up to pi / edges")
      .def_ro("energy_change", &Certificate::energy_change, "J: work of the contacts over the step")
      .def_ro("finite", &Certificate::finite, "No NaN and no infinity in the point")
      .def_prop_ro("worst", &Certificate::worst, "Largest scaled residual, infinity when not finite")
      .def("__repr__", [](const Certificate& c) {
        std::string out = "Certificate(worst=" + number(c.worst());
        for (const NamedResidual& r : kResiduals) out += std::string(", ") + r.name + "=" + number((c.*r.member).scaled);
        return out + ")";
      });
}

template <auto member>
ConstVector solved_view(nb::pointer_and_handle<Solved> self) {
  const auto& x = self.p->*member;
  return view<ConstVector>(x.data(), {static_cast<std::size_t>(x.size())}, self.h);
}

template <auto member>
ConstMatrix triples_view(nb::pointer_and_handle<Solved> self) {
  const auto& x = self.p->*member;
  return view<ConstMatrix>(x.data(), {static_cast<std::size_t>(x.size()) / 3, 3}, self.h);
}

void bind_solution(nb::module_& m) {
  nb::class_<Solved>(m, "Solution", "What a solve returns: values, an honest status and a certificate. Arrays are read-only views of it.")
      .def_prop_ro("v", &solved_view<&Solved::v>, "(nv,) velocity after the step; empty for a ReducedProblem")
      .def_prop_ro("impulses", &triples_view<&Solved::impulses>, "(n, 3) contact impulses N, S, T in the contact frames, on body A (N s)")
      .def_prop_ro("contact_velocities", &triples_view<&Solved::u>, "(n, 3) contact velocities N, S, T after the step (m/s)")
      .def_prop_ro("bounded_impulses", &solved_view<&Solved::bounded_impulses>, "(m,) impulses of the rows of J_b (N s)")
      .def_prop_ro("tau", &solved_view<&Solved::tau>,
                   "Torque of every driven joint, in the order of `joints`, mean over the step (N m or N); empty when none is driven")
      .def_prop_ro(
          "status", [](const Solved& s) { return std::string(to_string(s.status)); },
          "'solved' only when the certificate is within the tolerance")
      .def_ro("certificate", &Solved::certificate, "Residuals of this point")
      .def_ro("iterations", &Solved::iterations, "Pivots or iterations of the solver")
      .def_prop_ro(
          "ray",
          [](nb::pointer_and_handle<Solved> self) {
            const GrowVector& x = self.p->ray.impulses;
            return view<ConstMatrix>(x.data(), {static_cast<std::size_t>(x.size()) / 3, 3}, self.h);
          },
          "(n, 3) contact impulses of the proof when status is 'infeasible' and `ray_proof`; of the ray where Lemke ended; else empty")
      .def_prop_ro(
          "ray_proof", [](const Solved& s) { return s.ray.proof; },
          "The ray proves that no motion satisfies the law: it changes no momentum and does negative work at every motion")
      .def_prop_ro(
          "ray_work", [](const Solved& s) { return s.ray.work; }, "That work (J when the ray is in N s)")
      .def_ro("repaired", &Solved::repaired, "inverse: v_desired contradicted the contacts and was replaced by the nearest that does not")
      .def_ro("shortfall", &Solved::shortfall, "inverse: largest |v - v_desired| over the joints")
      .def_ro("least_torque", &Solved::least_torque, "inverse: the impulses are those of least torque")
      .def("__repr__", [](const Solved& s) {
        return "Solution(status='" + std::string(to_string(s.status)) + "', contacts=" + std::to_string(s.impulses.size() / 3) +
               ", iterations=" + std::to_string(s.iterations) + ", worst residual=" + number(s.certificate.worst()) + ")";
      });
}

template <class Problem>
Solved solve_released(const Problem& problem, const std::string& law, const std::string& solver, double tolerance, int edges,
                      const std::string& variant, bool align_edges, const std::string& viscous_slip) {
  const SolveOptions options = solve_options(law, solver, tolerance, edges, {variant, viscous_slip, align_edges});
  const nb::gil_scoped_release released;
  return solve_problem(problem, options);
}

void bind_solvers(nb::module_& m) {
  constexpr const char* solve_doc = R"(Solves a contact problem under a law.

law: one of LAWS; solver: one of SOLVERS that fits the law; tolerance: largest scaled residual that counts as solved;
edges: of the polygonal friction cones; align_edges: turn each so that a vertex opposes the slip before the step; variant: of coulomb_pyramid,
'stewart_trinkle' or 'anitescu_potra'; viscous_slip: friction of law viscous opposes the slip 'after' or 'before' the step. Raises ValueError naming the argument; numerical outcomes are `status`.)";
  m.def("solve", &solve_released<ContactProblem>, "problem"_a, "law"_a = "coulomb_pyramid", "solver"_a = "auto", "tolerance"_a = 1e-9,
        "edges"_a = 4, "variant"_a = "stewart_trinkle", "align_edges"_a = false, "viscous_slip"_a = "after", solve_doc);
  m.def("solve", &solve_released<ReducedProblem>, "problem"_a, "law"_a = "coulomb_pyramid", "solver"_a = "auto", "tolerance"_a = 1e-9,
        "edges"_a = 4, "variant"_a = "stewart_trinkle", "align_edges"_a = false, "viscous_slip"_a = "after", solve_doc);
  m.def(
      "inverse",
      [](const ContactProblem& problem, const ArrayLike& joints, const ArrayLike& v_desired, const std::string& law,
         const std::optional<ArrayLike>& torque_limits, const std::string& solver, double tolerance, int edges, bool least_torque,
         const std::string& variant, bool align_edges, const std::string& viscous_slip) {
        InverseOptions options;
        options.contact = solve_options(law, solver, tolerance, edges, {variant, viscous_slip, align_edges});
        if (least_torque) options.choice = Choice::least_torque;
        std::vector<int> indices = read_indices(joints, "joints");
        const Eigen::Index n = static_cast<Eigen::Index>(indices.size());
        const Eigen::VectorXd desired = per_item(v_desired, "v_desired", n, 0.0);
        std::vector<double> limits;
        if (torque_limits) {
          const Eigen::VectorXd values = per_item(torque_limits, "torque_limits", n, kInfinity);
          require_size("torque_limits", values.size(), n);
          limits.assign(values.begin(), values.end());
        }
        const nb::gil_scoped_release released;
        return solve_inverse(problem, std::move(indices), desired, limits, options);
      },
      "problem"_a, "joints"_a, "v_desired"_a, "law"_a = "coulomb_pyramid", "torque_limits"_a = nb::none(), "solver"_a = "auto",
      "tolerance"_a = 1e-9, "edges"_a = 4, "least_torque"_a = false, "variant"_a = "stewart_trinkle", "align_edges"_a = false,
      "viscous_slip"_a = "after",
      R"(Torques and contact impulses that bring the driven joints to v_desired at the end of the step, under a law.

joints: indices into v; v_desired: their velocities (rad/s or m/s), or one for all; torque_limits: largest |tau| per joint
(N m or N), infinity allowed, or one for all. With limits, a joint that saturates misses its velocity. The problem's impulse
holds everything but these torques. least_torque: of all impulses with this motion, those of least |tau|^2 (without limits).)");
}

void bind_indeterminacy(nb::module_& m) {
  nb::class_<Indeterminacy>(m, "Indeterminacy", "How far the contact impulses are determined: the set of impulses with the same motion.")
      .def_ro("dimension", &Indeterminacy::dimension, "Of that set; 0: the impulses are unique")
      .def_ro("face_dimension", &Indeterminacy::face_dimension, "Per contact, dimension of what its impulse spans in the set: 0 to 3")
      .def_ro("complete", &Indeterminacy::complete, "False when the dimension is only a lower bound")
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

intervals: also the least and largest normal impulse of every contact. After `inverse` the torques may vary with the impulses.)";
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
  bind_certificate(m);
  bind_solution(m);
  bind_solvers(m);
  bind_indeterminacy(m);
}

}  // namespace stiction::python
