// Ctrl-C in loops that run without the interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>

namespace stiction::python {

/// Throws what a signal's handler raised; takes the interpreter's lock. Only the main thread has signals.
inline void check_interrupt() {
  const nanobind::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace stiction::python
