#include "arguments.hpp"

#include <algorithm>
#include <limits>
#include <thread>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction::python {

void throw_type_error(const char* argument, const char* expected, nb::handle value) {
  constexpr std::size_t kLongest = 60;
  std::string text = nb::repr(value).c_str();
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  throw nb::type_error(fmt::format("{}: expected {}, got {} ({})", argument, expected, text, nb::type_name(value.type()).c_str()).c_str());
}

std::string read_text(const Text& value, const char* argument) {
  if (!nb::isinstance<nb::str>(value)) throw_type_error(argument, "a str", value);
  return nb::borrow<nb::str>(value).c_str();
}

double read_real(const Real& value, const char* argument) {
  const double x = PyFloat_AsDouble(value.ptr());
  if (x != -1.0 || PyErr_Occurred() == nullptr) return x;
  PyErr_Clear();
  throw_type_error(argument, "a number", value);
}

int read_integer(const Integer& value, const char* argument) {
  if (PyIndex_Check(value.ptr()) == 0 || PyBool_Check(value.ptr()) != 0) throw_type_error(argument, "an int", value);
  int overflow = 0;
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    throw_type_error(argument, "an int", value);
  }
  const long x = PyLong_AsLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0 || x < std::numeric_limits<int>::min() || x > std::numeric_limits<int>::max())
    throw InvalidArgument(argument, "an integer of 32 bits", nb::str(index).c_str());
  return static_cast<int>(x);
}

bool read_flag(const Flag& value, const char* argument) {
  if (PyBool_Check(value.ptr()) != 0) return value.ptr() == Py_True;
  const nb::object type = nb::module_::import_("numpy").attr("bool_");
  if (PyObject_IsInstance(value.ptr(), type.ptr()) != 1) throw_type_error(argument, "a bool", value);
  return PyObject_IsTrue(value.ptr()) == 1;
}

int read_threads(const std::optional<Integer>& threads) {
  if (!threads) return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return read_integer(*threads, "threads");
}

}  // namespace stiction::python
