// What an object was made with, which a copy or a pickle says again (stiction/copying.py).
#pragma once

#include <nanobind/nanobind.h>

namespace stiction::python {

/// As the attribute `_start`: a dictionary of arguments, which nobody else can change.
inline void remember_start(nanobind::handle self, const nanobind::dict& arguments) {
  self.attr("_start") = nanobind::module_::import_("copy").attr("deepcopy")(arguments);
}

}  // namespace stiction::python
