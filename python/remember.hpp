// What an object was made with, which a copy or a pickle says again (stiction/copying.py).
#pragma once

#include <nanobind/nanobind.h>

namespace stiction::python {

/// Arguments that nobody else can change.
inline nanobind::dict kept(const nanobind::dict& arguments) {
  return nanobind::borrow<nanobind::dict>(nanobind::module_::import_("stiction.copying").attr("kept")(arguments));
}

/// As the attribute `_start`: a dictionary of arguments.
inline void remember_start(nanobind::handle self, const nanobind::dict& arguments) { self.attr("_start") = kept(arguments); }

/// Of a stepper: its arguments, and its world as it is now, which may be added to later (`_said` is what was said of a world).
inline void remember_world(nanobind::handle self, nanobind::handle world, const nanobind::dict& arguments) {
  self.attr("_start") = arguments;
  self.attr("_world") = world;
  self.attr("_world_said") = nanobind::hasattr(world, "_said") ? nanobind::len(nanobind::object(world.attr("_said"))) : std::size_t{1};
}

}  // namespace stiction::python
