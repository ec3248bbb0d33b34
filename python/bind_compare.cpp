// compare: every law under every solver on one problem.
#include <nanobind/make_iterator.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/compare/compare.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using MaybeNames = std::optional<std::vector<std::string>>;

/// None: no names, which stand for all.
template <class Name>
auto parsed(const MaybeNames& names, const char* argument, Name from_string) {
  if (names && names->empty()) throw InvalidArgument(argument, "one name or more, or None for all", "an empty list");
  std::vector<decltype(from_string(std::string()))> out;
  for (const std::string& name : names.value_or(std::vector<std::string>{})) out.push_back(from_string(name));
  return out;
}

CompareOptions compare_options(const MaybeNames& laws, const MaybeNames& solvers, double tolerance, int edges, int repetitions,
                               bool baselines) {
  CompareOptions options;
  options.laws = parsed(laws, "laws", law_from_string);
  options.solvers = parsed(solvers, "solvers", solver_from_string);
  options.tolerance = tolerance;
  options.edges = edges;
  options.repetitions = repetitions;
  options.baselines = baselines;
  return options;
}

template <class Problem>
Comparison compare_released(const Problem& problem, const MaybeNames& laws, const MaybeNames& solvers, double tolerance, int edges,
                            int repetitions, bool baselines) {
  CompareOptions options = compare_options(laws, solvers, tolerance, edges, repetitions, baselines);
  options.between_runs = [] {
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  };
  const nb::gil_scoped_release released;
  return compare(problem, options);
}

std::string describe(const CompareRow& row) {
  if (!row.not_applicable.empty()) return "CompareRow(law='" + row.law + "', not_applicable='" + row.not_applicable + "')";
  return "CompareRow(law='" + row.law + "', solver='" + row.solver + "', status='" + std::string(to_string(row.status)) +
         "', worst=" + nb::str(nb::float_(row.certificate.worst())).c_str() +
         ", microseconds=" + nb::str(nb::float_(row.microseconds)).c_str() + ")";
}

void bind_row(nb::module_& m) {
  nb::class_<CompareRow>(m, "CompareRow", "A law under a solver on the problem of a Comparison.")
      .def_ro("law", &CompareRow::law, "Name of the law")
      .def_ro("solver", &CompareRow::solver, "Name of the solver")
      .def_ro("is_default", &CompareRow::is_default, "The solver that 'auto' stands for")
      .def_ro("not_applicable", &CompareRow::not_applicable, "Why the row has no numbers; empty when it has")
      .def_prop_ro(
          "status",
          [](const CompareRow& row) { return std::string(row.not_applicable.empty() ? to_string(row.status) : "not_applicable"); },
          "As of a Solution, or 'not_applicable'")
      .def_ro("certificate", &CompareRow::certificate, "Residuals of the returned point")
      .def_ro("iterations", &CompareRow::iterations, "Pivots or iterations of the solver")
      .def_ro("microseconds", &CompareRow::microseconds, "Median of cold runs")
      .def_ro("difference", &CompareRow::difference,
              "Largest difference of the velocities to those of the exact law; NaN when it was not solved")
      .def_prop_ro(
          "impulses",
          [](nb::pointer_and_handle<CompareRow> self) {
            const Eigen::VectorXd& x = self.p->impulses;
            return view<ConstMatrix>(x.data(), {static_cast<std::size_t>(x.size()) / 3, 3}, self.h);
          },
          "(n, 3) contact impulses N, S, T (N s)")
      .def_prop_ro(
          "velocity",
          [](nb::pointer_and_handle<CompareRow> self) {
            const Eigen::VectorXd& x = self.p->velocity;
            return view<ConstVector>(x.data(), {static_cast<std::size_t>(x.size())}, self.h);
          },
          "(nv,) velocity after the step, or (3 n,) contact velocities of a ReducedProblem")
      .def("__repr__", &describe);
}

void bind_comparison(nb::module_& m) {
  nb::class_<Comparison>(m, "Comparison", "The rows of `compare`, in the order of LAWS; prints as a table.")
      .def_ro("rows", &Comparison::rows, "List of CompareRow")
      .def_ro("contacts", &Comparison::contacts, "n, number of contacts")
      .def_prop_ro(
          "reference", [](const Comparison& c) { return std::string(to_string(c.reference)); },
          "Status of the exact law, to which differences are taken")
      .def("__len__", [](const Comparison& c) { return c.rows.size(); })
      .def(
          "__getitem__",
          [](const Comparison& c, std::ptrdiff_t i) -> const CompareRow& {
            const auto size = static_cast<std::ptrdiff_t>(c.rows.size());
            if (i < -size || i >= size) throw nb::index_error();
            return c.rows[i < 0 ? i + size : i];
          },
          "index"_a, nb::rv_policy::reference_internal)
      .def(
          "__iter__",
          [](const Comparison& c) { return nb::make_iterator(nb::type<Comparison>(), "_RowIterator", c.rows.begin(), c.rows.end()); },
          nb::keep_alive<0, 1>())
      .def("__repr__", &to_text);
}

}  // namespace

void bind_compare(nb::module_& m) {
  bind_row(m);
  bind_comparison(m);
  constexpr const char* doc =
      R"(Every law under every solver on one contact problem: a table of status, residuals, iterations, times and the distance to
the motion of the exact law, coulomb_cone.

laws, solvers: names, None for all; tolerance: largest scaled residual that counts as solved; edges: of the polygonal laws;
repetitions: timed cold runs per row; baselines: also the solvers of other projects that this build has. A law that needs a parameter
that the problem lacks, and a solver that refuses the problem, are rows that say why. Raises ValueError naming the argument.)";
  const CompareOptions d;
  m.def("compare", &compare_released<ContactProblem>, "problem"_a, "laws"_a = nb::none(), "solvers"_a = nb::none(),
        "tolerance"_a = d.tolerance, "edges"_a = d.edges, "repetitions"_a = d.repetitions, "baselines"_a = d.baselines, doc);
  m.def("compare", &compare_released<ReducedProblem>, "problem"_a, "laws"_a = nb::none(), "solvers"_a = nb::none(),
        "tolerance"_a = d.tolerance, "edges"_a = d.edges, "repetitions"_a = d.repetitions, "baselines"_a = d.baselines, doc);
}

}  // namespace stiction::python
