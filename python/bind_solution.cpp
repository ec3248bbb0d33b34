// What solve and inverse return: Solution, Certificate.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <fmt/format.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "solved.hpp"

namespace stiction::python {

namespace {

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
      .def_ro("velocity_scale", &Certificate::velocity_scale, "m/s, of the problem, never of the answer: what residuals are scaled by")
      .def_ro("impulse_scale", &Certificate::impulse_scale, "N s, of the problem")
      .def_prop_ro("worst", &Certificate::worst, "Largest scaled residual, infinity when not finite")
      .def("__repr__", [](const Certificate& c) {
        std::string out = "Certificate(worst=" + number(c.worst());
        for (const NamedResidual& r : kResiduals) out += std::string(", ") + r.name + "=" + number((c.*r.member).scaled);
        return out + ")";
      });
}

void bind_solved(nb::module_& m) {
  nb::class_<Solved>(m, "Solution", "What a solve returns: values, an honest status and a certificate. Arrays are read-only views of it.")
      .def_prop_ro("v", &vector_view<Solved, &Solved::v>,
                   "(nv,) velocity after the step, of free bodies in their axes before it; empty for a ReducedProblem")
      .def_prop_ro("impulses", &triples_view<Solved, &Solved::impulses>,
                   "(n, 3) contact impulses N, S, T in the contact frames, on body A (N s)")
      .def_prop_ro("contact_velocities", &triples_view<Solved, &Solved::u>, "(n, 3) contact velocities N, S, T after the step (m/s)")
      .def_prop_ro("bounded_impulses", &vector_view<Solved, &Solved::bounded_impulses>, "(m,) impulses of the rows of J_b (N s)")
      .def_prop_ro(
          "multipliers", &vector_view<Solved, &Solved::multipliers>,
          "law max_dissipation: (n + m,) multipliers (N s) of non-penetration and of the rows of J_b that are bounded on one side; "
          "else empty")
      .def_prop_ro("prescribed_impulses", &vector_view<Solved, &Solved::prescribed_impulses>,
                   "Impulses on the prescribed coordinates, or on the driven joints of `inverse` (N s)")
      .def_prop_ro("tau", &vector_view<Solved, &Solved::tau>,
                   "Torque of every driven joint, in the order of `joints`, mean over the step (N m or N); empty when none is driven")
      .def_prop_ro(
          "status", [](const Solved& s) { return std::string(to_string(s.status)); },
          "'solved' only when the certificate is within the tolerance; else 'inaccurate', 'infeasible' (proved), 'ray_termination', "
          "'iteration_limit' or 'numerical_error'")
      .def_ro("certificate", &Solved::certificate, "Residuals of this point")
      .def_ro("iterations", &Solved::iterations, "Pivots or iterations of the solver")
      .def_ro("fallbacks", &Solved::fallbacks, "Methods tried after the primary one, which left the problem open")
      .def_prop_ro(
          "ray",
          [](Solved& s) {
            return s.ray.impulses.size() + s.ray.bounded_impulses.size() + s.ray.prescribed_impulses.size() > 0 ? &s.ray : nullptr;
          },
          nb::rv_policy::reference_internal, nb::sig("def ray(self) -> InfeasibilityRay | None"),
          "InfeasibilityRay, the proof when status is 'infeasible' and where Lemke's path ended when it is 'ray_termination'; else None. "
          "Of inverse without torque limits: of v_desired as asked,"
          " also where it was replaced")
      .def_prop_ro(
          "proof", [](Solved& s) { return s.proof.empty() ? nullptr : &s.proof; }, nb::rv_policy::reference_internal,
          nb::sig("def proof(self) -> RequestProof | None"),
          "inverse: RequestProof that v_desired cannot be met; None when it is met or no proof was found")
      .def_ro("repaired", &Solved::repaired,
              "inverse: v_desired was replaced: the contacts refuse it, or Coulomb's law has no answer to it")
      .def_ro("shortfall", &Solved::shortfall, "inverse: largest |v - v_desired| over the joints")
      .def_ro(
          "choice_met", &Solved::choice_met,
          "These impulses are those of the `choice` that was asked for, of all with this motion; False where it was not reached and they "
          "are the solver's. Always True of 'warm_start', unless there is no finite point")
      .def("__repr__", [](const Solved& s) {
        return "Solution(status='" + std::string(to_string(s.status)) + "', contacts=" + std::to_string(s.impulses.size() / 3) +
               ", iterations=" + std::to_string(s.iterations) + ", worst residual=" + number(s.certificate.worst()) + ")";
      });
}

}  // namespace

void bind_solution(nb::module_& m) {
  bind_certificate(m);
  bind_solved(m);
}

}  // namespace stiction::python
