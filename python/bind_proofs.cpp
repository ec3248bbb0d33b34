// Proofs that a problem or a request has no answer, and the functions that check them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <fmt/format.h>

#include "bindings.hpp"
#include "law_options.hpp"
#include "stiction/base/errors.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using MaybeArray = std::optional<ArrayLike>;

// (n, 3) as 3n numbers.
Eigen::VectorXd read_triples(const ArrayLike& value, const char* argument) {
  const Numbers triples(value, argument, 2);
  require_size(fmt::format("{}.shape[1]", argument), triples.matrix().cols(), 3);
  return triples.vector();
}

Eigen::VectorXd read_vector(const MaybeArray& value, const char* argument) {
  if (!value) return {};
  return Numbers(*value, argument, 1).vector();
}

void bind_ray(nb::module_& m) {
  nb::class_<InfeasibilityRay>(m, "InfeasibilityRay",
                               R"(Impulses that prove that no motion satisfies a law (Farkas): they may grow without bound,
change no momentum, and yet do the same negative work at every motion, where the law asks for none or positive. `proves_infeasible` checks
that from the problem alone. Arrays are read-only views.)")
      .def(
          "__init__",
          [](InfeasibilityRay* self, const ArrayLike& impulses, const MaybeArray& bounded, const MaybeArray& prescribed) {
            const Eigen::VectorXd nu = read_triples(impulses, "impulses"), beta = read_vector(bounded, "bounded_impulses"),
                                  pi = read_vector(prescribed, "prescribed_impulses");
            new (self) InfeasibilityRay();
            self->impulses = nu;
            self->bounded_impulses = beta;
            self->prescribed_impulses = pi;
          },
          "impulses"_a, "bounded_impulses"_a = nb::none(), "prescribed_impulses"_a = nb::none(),
          "impulses: (n, 3); bounded_impulses: (m,), None: none; prescribed_impulses: one per prescribed coordinate, None: none.")
      .def_prop_ro("impulses", &triples_view<InfeasibilityRay, &InfeasibilityRay::impulses>, "(n, 3) contact impulses N, S, T")
      .def_prop_ro("bounded_impulses", &vector_view<InfeasibilityRay, &InfeasibilityRay::bounded_impulses>,
                   "(m,) impulses of the rows of J_b, after `inverse` those of its torque-limited joints behind them")
      .def_prop_ro("prescribed_impulses", &vector_view<InfeasibilityRay, &InfeasibilityRay::prescribed_impulses>,
                   "Impulses on the prescribed coordinates, after `inverse` on its joints without limit")
      .def_ro("work", &InfeasibilityRay::work, "Work at every motion (J when the impulses are in N s); 0 for a ray made by hand")
      .def_ro("proof", &InfeasibilityRay::proof, "False: where Lemke's path ended, which proves nothing")
      .def("__repr__", [](const InfeasibilityRay& ray) {
        return fmt::format("InfeasibilityRay(contacts={}, work={}, proof={})", ray.impulses.size() / 3, ray.work,
                           ray.proof ? "True" : "False");
      });
}

void bind_request_proof(nb::module_& m) {
  nb::class_<RequestProof>(m, "RequestProof",
                           R"(A proof that no impulses within cones and limits bring the driven joints to their desired velocities: factors
of the demands on the motion whose sum exceeds what any impulses can supply. `certifies_infeasibility` checks that from the problem alone.
Arrays are read-only views.)")
      .def(
          "__init__",
          [](RequestProof* self, const ArrayLike& contacts, const MaybeArray& rows, const MaybeArray& joints) {
            const Eigen::VectorXd c = read_triples(contacts, "contacts"), r = read_vector(rows, "rows"), j = read_vector(joints, "joints");
            new (self) RequestProof();
            self->contacts = c;
            self->rows = r;
            self->joints = j;
          },
          "contacts"_a, "rows"_a = nb::none(), "joints"_a = nb::none(),
          "contacts: (n, 3); rows: (m,), None: none; joints: one per driven joint, None: none.")
      .def_prop_ro("contacts", &triples_view<RequestProof, &RequestProof::contacts>, "(n, 3) factors of the contacts' demands N, S, T")
      .def_prop_ro("rows", &vector_view<RequestProof, &RequestProof::rows>, "(m,) factors of the rows of J_b")
      .def_prop_ro("joints", &vector_view<RequestProof, &RequestProof::joints>, "Factors of the desired velocities, one per driven joint")
      .def("__repr__", [](const RequestProof& proof) {
        return fmt::format("RequestProof(contacts={}, rows={}, joints={})", proof.contacts.size() / 3, proof.rows.size(),
                           proof.joints.size());
      });
}

template <class Problem>
bool check_ray(const Problem& problem, const InfeasibilityRay& ray, const SolveOptions& options) {
  const nb::gil_scoped_release released;
  validate(options, problem.laws);
  validate(problem);
  return proves_infeasible(problem, options, ray);
}

bool check_ray_of(const AnyProblemObject& problem, const InfeasibilityRay& ray, const SolveOptions& options) {
  if (nb::isinstance<ContactProblem>(problem)) return check_ray(nb::cast<const ContactProblem&>(problem), ray, options);
  if (nb::isinstance<ReducedProblem>(problem)) return check_ray(nb::cast<const ReducedProblem&>(problem), ray, options);
  throw_type_error("problem", "a ContactProblem or a ReducedProblem", problem);
}

void bind_checks(nb::module_& m) {
  m.def(
      "proves_infeasible",
      [](const AnyProblemObject& problem, const InfeasibilityRay& ray, const Text& law, const Integer& edges, const Text& variant,
         const Flag& align_edges) { return check_ray_of(problem, ray, read_law(law, edges, variant, align_edges)); },
      "problem"_a, "ray"_a, "law"_a = "coulomb_cone", "edges"_a = 4, "variant"_a = "stewart_trinkle", "align_edges"_a = false,
      R"(True when `ray` proves that no motion satisfies the law on `problem`, beyond rounding; computed from these two alone.

For the ray of an `inverse` without torque limits, the problem is the one with prescribed=joints, v_prescribed=v_desired. Raises ValueError
naming the argument, on sizes that do not fit too.)");
  m.def(
      "certifies_infeasibility",
      [](const ContactProblem& problem, const ArrayLike& joints, const ArrayLike& v_desired, const RequestProof& proof,
         const MaybeArray& torque_limits, const Text& law, const Integer& edges, const Text& variant, const Flag& align_edges) {
        const Request request = read_request(joints, v_desired, torque_limits);
        const SolveOptions options = read_law(law, edges, variant, align_edges);
        const nb::gil_scoped_release released;
        validate(options, problem.laws);
        validate(problem);
        return certifies_infeasibility(problem, request.joints, request.v_desired, request.limits, options, proof);
      },
      "problem"_a, "joints"_a, "v_desired"_a, "proof"_a, "torque_limits"_a = nb::none(), "law"_a = "coulomb_cone", "edges"_a = 4,
      "variant"_a = "stewart_trinkle", "align_edges"_a = false,
      R"(True when `proof` proves that no impulses within the law's cones, the bounds of the rows and the torque limits bring the joints to
v_desired; computed from these arguments alone. They are those of `inverse`. False for laws without such proofs (contacts that give
way), and for a proof whose sizes do not fit. Raises ValueError naming the argument.)");
}

}  // namespace

void bind_proofs(nb::module_& m) {
  bind_ray(m);
  bind_request_proof(m);
  bind_checks(m);
}

}  // namespace stiction::python
