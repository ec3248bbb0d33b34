#include "arrays.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/ranges.h>
#include <nanobind/stl/string.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/world.hpp"

namespace stiction::python {

namespace {

/// What NumPy refuses is an error that names the argument.
template <class Function>
nb::object named(const char* argument, Function&& function) {
  try {
    return function();
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    throw InvalidArgument(argument, "an array of numbers", nb::str(error.value()).c_str());
  }
}

// What is masked has no number; NumPy would give the one that lies under the mask.
void refuse_masked(const ArrayLike& value, const char* argument) {
  if (!nb::hasattr(value, "mask")) return;
  if (nb::cast<bool>(nb::module_::import_("numpy.ma").attr("is_masked")(value)))
    throw InvalidArgument(argument, "an array without masked entries", "a masked array");
}

nb::object as_given(const ArrayLike& value, const char* argument) {
  refuse_masked(value, argument);
  return named(argument, [&] { return nb::object(nb::module_::import_("numpy").attr("asarray")(value)); });
}

/// numpy.asarray(value) as a C-contiguous array of `type`, without a copy where it is one.
nb::object as_array(const ArrayLike& value, const char* argument, const char* type) {
  using namespace nb::literals;
  const nb::object array = as_given(value, argument);
  return named(argument, [&] {
    if (nb::cast<std::size_t>(array.attr("size")) == 0) return nb::object(array.attr("astype")(type));  // an empty list has that of floats
    return nb::object(array.attr("astype")(type, "order"_a = "C", "casting"_a = "same_kind", "copy"_a = false));
  });
}

// What nanobind may look into. Of the rest it takes the buffer, and reads the strides that those of NumPy's dates do not have.
bool is_array(const ArrayLike& value) { return nb::hasattr(value.type(), "__dlpack__"); }

}  // namespace

Numbers::Numbers(const ArrayLike& value, const char* argument, std::size_t dimensions) {
  refuse_masked(value, argument);
  if (is_array(value) && nb::try_cast(value, array_, false) && array_.ndim() == dimensions) return;  // it lies as it shall
  const nb::object array = as_array(value, argument, "float64");
  array_ = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(array);
  if (array_.ndim() != dimensions) {
    const nb::object shape = array.attr("shape");
    throw InvalidArgument(argument, "an array of " + std::to_string(dimensions) + (dimensions == 1 ? " dimension" : " dimensions"),
                          std::string("shape ") + nb::str(shape).c_str());
  }
}

void Numbers::require_finite(const char* argument) const {
  for (std::size_t k = 0; k < array_.size(); ++k) {
    if (std::isfinite(array_.data()[k])) continue;
    std::vector<std::size_t> place(array_.ndim());
    std::size_t rest = k;
    for (std::size_t d = array_.ndim(); d-- > 0; rest /= array_.shape(d)) place[d] = rest % array_.shape(d);
    throw InvalidArgument(fmt::format("{}[{}]", argument, fmt::join(place, ", ")), "a finite number", fmt::format("{}", array_.data()[k]));
  }
}

std::size_t dimensions_of(const ArrayLike& value, const char* argument) {
  return nb::cast<std::size_t>(as_given(value, argument).attr("ndim"));
}

Eigen::VectorXd per_item(const std::optional<ArrayLike>& value, const char* argument, Eigen::Index size, double fallback) {
  if (!value) return Eigen::VectorXd::Constant(size, fallback);
  const bool scalar = dimensions_of(*value, argument) == 0;
  const Numbers numbers(*value, argument, scalar ? 0 : 1);
  if (scalar) return Eigen::VectorXd::Constant(size, numbers.vector()[0]);
  return numbers.vector();
}

Eigen::VectorXd for_each_item(const std::optional<ArrayLike>& value, const char* argument, Eigen::Index size, double fallback) {
  Eigen::VectorXd out = per_item(value, argument, size, fallback);
  require_size(argument, out.size(), size);
  return out;
}

Eigen::VectorXd read_coordinates(const std::optional<ArrayLike>& value, const char* argument, const Eigen::VectorXd& fallback) {
  if (!value) return fallback;
  const Numbers numbers(*value, argument, 1);
  require_size(argument, numbers.vector().size(), fallback.size());
  numbers.require_finite(argument);
  return numbers.vector();
}

Eigen::Vector3d read_vector3(const ArrayLike& value, const char* argument) {
  const Numbers numbers(value, argument, 1);
  require_size(argument, numbers.vector().size(), 3);
  numbers.require_finite(argument);
  return numbers.vector();
}

Eigen::Vector3d read_point(const ArrayLike& point) {
  const Eigen::Vector3d p = read_vector3(point, "point");
  require_within_reach("point", p);
  return p;
}

namespace {

// Of what NumPy would not take as integers the first entry is told; an empty list has the type of floats.
void require_whole(const nb::object& array, const char* argument) {
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind == "i" || kind == "u" || nb::cast<std::size_t>(array.attr("size")) == 0) return;
  throw InvalidArgument(argument, "whole-number indices", nb::repr(array.attr("item")(0)).c_str());
}

}  // namespace

std::vector<int> read_indices(const ArrayLike& value, const char* argument) {
  const nb::object given = as_given(value, argument);
  if (nb::cast<std::string>(given.attr("dtype").attr("kind")) == "b")
    throw InvalidArgument(argument, "indices (numpy.flatnonzero makes them of a mask)", "a boolean mask");
  require_whole(given, argument);
  const auto array = nb::cast<nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>>(as_array(value, argument, "int64"));
  if (array.ndim() != 1) throw InvalidArgument(argument, "an array of 1 dimension", std::to_string(array.ndim()) + " dimensions");
  std::vector<int> out;
  for (std::size_t i = 0; i < array.size(); ++i) {
    const std::int64_t index = array.data()[i];
    if (index < 0 || index > std::numeric_limits<int>::max()) {
      throw InvalidArgument(std::string(argument) + "[" + std::to_string(i) + "]", "an index >= 0", std::to_string(index));
    }
    out.push_back(static_cast<int>(index));
  }
  return out;
}

namespace {

// `Array`, read-only where its numbers are const, of what it then owns.
template <class Array, class Dense>
Array owning(Dense numbers, std::initializer_list<std::size_t> shape) {
  auto owned = std::make_unique<Dense>(std::move(numbers));
  const nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<Dense*>(p); });
  return view<Array>(owned.release()->data(), shape, owner);
}

template <class Array>
Array owning_matrix(RowMatrix matrix) {
  const auto rows = static_cast<std::size_t>(matrix.rows()), cols = static_cast<std::size_t>(matrix.cols());
  return owning<Array>(std::move(matrix), {rows, cols});
}

template <class Array>
Array owning_vector(Eigen::VectorXd vector) {
  const auto size = static_cast<std::size_t>(vector.size());
  return owning<Array>(std::move(vector), {size});
}

}  // namespace

Matrix own_matrix(RowMatrix matrix) { return owning_matrix<Matrix>(std::move(matrix)); }
Vector own_vector(Eigen::VectorXd vector) { return owning_vector<Vector>(std::move(vector)); }
ConstMatrix copied_matrix(RowMatrix matrix) { return owning_matrix<ConstMatrix>(std::move(matrix)); }
ConstVector copied_vector(Eigen::VectorXd vector) { return owning_vector<ConstVector>(std::move(vector)); }

}  // namespace stiction::python
