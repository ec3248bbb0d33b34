// NumPy arrays in and out. What comes in is read where it lies when it is a C-contiguous float64 array and converted otherwise; what
// goes out is a view of the engine's memory that keeps its owner alive.
#pragma once

#include <optional>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <Eigen/Core>

#include "stiction/base/blocks.hpp"

namespace stiction::python {

namespace nb = nanobind;

inline bool is_anything(PyObject*) { return true; }

/// Whatever numpy.asarray takes.
class ArrayLike : public nb::object {
  NB_OBJECT(ArrayLike, nb::object, "numpy.typing.ArrayLike", is_anything)
};

using Vector = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Matrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
using ConstVector = nb::ndarray<nb::numpy, const double, nb::ndim<1>>;
using ConstMatrix = nb::ndarray<nb::numpy, const double, nb::ndim<2>>;
using Indices = nb::ndarray<nb::numpy, const int, nb::ndim<1>>;

/// An array that was passed in, kept alive while it is read.
class Numbers {
 public:
  /// Throws InvalidArgument naming `argument` when the value is not an array of real numbers with this many dimensions.
  Numbers(const ArrayLike& value, const char* argument, std::size_t dimensions);
  Eigen::Map<const Eigen::VectorXd> vector() const { return {array_.data(), static_cast<Eigen::Index>(array_.size())}; }
  std::size_t size(std::size_t dimension) const { return array_.shape(dimension); }
  /// Throws InvalidArgument that names the first entry which is not finite, `argument`[i, j, ...].
  void require_finite(const char* argument) const;
  ConstRowMap matrix() const {
    return {array_.data(), static_cast<Eigen::Index>(array_.shape(0)), static_cast<Eigen::Index>(array_.shape(1))};
  }

 private:
  nb::ndarray<const double, nb::c_contig, nb::device::cpu> array_;
};

/// Throws InvalidArgument naming `argument` when NumPy makes no array of the value.
std::size_t dimensions_of(const ArrayLike& value, const char* argument);
/// One number for all of `size` items, or an array of any size (checked by whom it is for); absent: `fallback`.
Eigen::VectorXd per_item(const std::optional<ArrayLike>& value, const char* argument, Eigen::Index size, double fallback);
/// One number for all of `size` items, or one each; absent: `fallback`. Throws InvalidArgument on another size.
Eigen::VectorXd for_each_item(const std::optional<ArrayLike>& value, const char* argument, Eigen::Index size, double fallback);
/// The state or force vector of a world: absent, `fallback`, whose size it must have; finite.
Eigen::VectorXd read_coordinates(const std::optional<ArrayLike>& value, const char* argument, const Eigen::VectorXd& fallback);
Eigen::Vector3d read_vector3(const ArrayLike& value, const char* argument);
/// The argument `point` (m), within reach.
Eigen::Vector3d read_point(const ArrayLike& point);
std::vector<int> read_indices(const ArrayLike& value, const char* argument);

/// View of n numbers owned by `owner`. Never a null pointer, which NumPy would not take for an empty array.
template <class Array, class Scalar>
Array view(Scalar* data, std::initializer_list<std::size_t> shape, nb::handle owner, std::initializer_list<std::int64_t> strides = {}) {
  static std::remove_const_t<Scalar> nothing{};
  return Array(data != nullptr ? data : &nothing, shape, owner, strides);
}

/// Arrays that own what is handed over.
Matrix own_matrix(RowMatrix matrix);
Vector own_vector(Eigen::VectorXd vector);
/// Copies of what an object has, for its properties: read-only, as writing into them would not change the object.
ConstMatrix copied_matrix(RowMatrix matrix);
ConstVector copied_vector(Eigen::VectorXd vector);

/// Views of a member's numbers, and of its triples as rows; for properties.
template <class T, auto member>
ConstVector vector_view(nb::pointer_and_handle<T> self) {
  const auto& x = self.p->*member;
  return view<ConstVector>(x.data(), {static_cast<std::size_t>(x.size())}, self.h);
}
template <class T, auto member>
ConstMatrix triples_view(nb::pointer_and_handle<T> self) {
  const auto& x = self.p->*member;
  return view<ConstMatrix>(x.data(), {static_cast<std::size_t>(x.size()) / 3, 3}, self.h);
}

}  // namespace stiction::python
