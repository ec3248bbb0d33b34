// A shape as Python holds it, and shapes placed on a body.
#pragma once

#include <vector>

#include "bindings.hpp"
#include "stiction/model/world.hpp"

namespace stiction::python {

struct ShapeHandle {
  Shape shape;
};

/// Shape | list[Shape | tuple[Shape, position] | tuple[Shape, position, orientation]]
class ShapesObject : public nb::object {
  NB_OBJECT(ShapesObject, nb::object,
            "Shape | collections.abc.Sequence[Shape | tuple[Shape, numpy.typing.ArrayLike] | "
            "tuple[Shape, numpy.typing.ArrayLike, numpy.typing.ArrayLike]]",
            is_anything)
};

/// Throws InvalidArgument naming the argument and the item; every shape gets `friction`.
std::vector<BodyShape> read_shapes(const ShapesObject& value, const char* argument, std::optional<double> friction);
/// Position (3,) and unit quaternion [x y z w], each absent for none.
Eigen::Isometry3d read_pose(const std::optional<ArrayLike>& position, const std::optional<ArrayLike>& orientation,
                            const std::string& argument = "");

}  // namespace stiction::python
