// The Python module stiction._core: what Python sees of the engine.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>

#include "bindings.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/base/files.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  m.doc() = "Rigid-contact engine for robots that runs both ways: the compiled part of the package stiction.";
  m.attr("__version__") = STICTION_VERSION;
  nb::exception<stiction::FileError>(m, "FileError", PyExc_OSError).doc() =
      "A file that could not be read or written; the message names file, place and reason.";
  m.def("_require_writable", [](const std::filesystem::path& file) { stiction::require_writable(file.string()); });
  stiction::python::bind_problem(m);
  stiction::python::bind_proofs(m);
  stiction::python::bind_solution(m);
  stiction::python::bind_solve(m);
  stiction::python::bind_compare(m);
  stiction::python::bind_shapes(m);
  stiction::python::bind_terrain(m);
  stiction::python::bind_world(m);
  stiction::python::bind_drawn_shapes(m);
  stiction::python::bind_simulate(m);
  stiction::python::bind_stepper(m);
  stiction::python::bind_rollout(m);
  stiction::python::bind_batch(m);
  stiction::python::bind_motion(m);
}
