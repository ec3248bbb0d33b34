// Arguments that are no arrays, taken as they come and read by name: the wrong type is a TypeError and the wrong value a ValueError that
// says which argument it was.
#pragma once

#include <optional>
#include <string>

#include "arrays.hpp"

namespace stiction::python {

class Text : public nb::object {
  NB_OBJECT(Text, nb::object, "str", is_anything)
};
class Real : public nb::object {
  NB_OBJECT(Real, nb::object, "float", is_anything)
};
class Integer : public nb::object {
  NB_OBJECT(Integer, nb::object, "int", is_anything)
};
class Flag : public nb::object {
  NB_OBJECT(Flag, nb::object, "bool", is_anything)
};
class ContactProblemObject : public nb::object {
  NB_OBJECT(ContactProblemObject, nb::object, "ContactProblem", is_anything)
};
class AnyProblemObject : public nb::object {
  NB_OBJECT(AnyProblemObject, nb::object, "ContactProblem | ReducedProblem", is_anything)
};
class WorkspaceObject : public nb::object {
  NB_OBJECT(WorkspaceObject, nb::object, "Workspace", is_anything)
};

std::string read_text(const Text& value, const char* argument);
/// Whatever has a float value; NaN and infinity pass.
double read_real(const Real& value, const char* argument);
/// Whatever Python takes for an index, in the range of int.
int read_integer(const Integer& value, const char* argument);
/// A number of threads; absent: as many as there are cores.
int read_threads(const std::optional<Integer>& threads);
/// True or False, NumPy's too.
bool read_flag(const Flag& value, const char* argument);

/// "argument: expected ..., got value (type)".
[[noreturn]] void throw_type_error(const char* argument, const char* expected, nb::handle value);

}  // namespace stiction::python
