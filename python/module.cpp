// The Python module stiction._core: what Python sees of the engine.
#include <nanobind/nanobind.h>

NB_MODULE(_core, m) {
  m.doc() = "Rigid-contact engine for robots that runs both ways: the compiled part of the package stiction.";
  m.attr("__version__") = STICTION_VERSION;
}
